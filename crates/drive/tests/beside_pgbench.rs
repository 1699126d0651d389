//! Comparison with pgbench: a server logs the same statements in the same order of kinds.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use drive::Address;
use workload::Sent;

use crate::common::TestServer;
use crate::scripts::{run, scripts};

const TRANSACTIONS: u64 = 40;

/// Scripts that use every construct; true if the statements of a transaction are drawn at random.
const OWN: [(&str, bool); 5] = [
    (include_str!("../../bench/src/scripts/branches.sql"), true),
    (include_str!("../../bench/src/scripts/expressions.sql"), false),
    (include_str!("../../bench/src/scripts/kept.sql"), false),
    (include_str!("../../bench/src/scripts/pipeline.sql"), false),
    (include_str!("../../bench/src/scripts/ranges.sql"), false),
];

/// Debian's pgbench.
fn pgbench() -> Option<PathBuf> {
    let found = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    found.map(|version| version.path().join("bin/pgbench")).find(|path| path.exists())
}

/// A statement without its values and line breaks.
fn kind(statement: &str) -> String {
    let mut kind = String::new();
    let mut number = false;
    for letter in statement.chars() {
        let continues = letter.is_ascii_digit() || (number && letter == '.');
        if continues && !number {
            if kind.ends_with(" -") {
                kind.pop();
            }
            kind.push('N');
        } else if letter.is_whitespace() {
            kind.truncate(kind.trim_end().len());
            kind.push(' ');
        } else if !continues {
            kind.push(letter);
        }
        number = continues;
    }
    kind.trim_end().trim_end_matches(';').to_owned()
}

/// The kinds of statements that clients sent since the log was `since` bytes long.
fn logged(server: &TestServer, since: usize) -> Vec<String> {
    let log = server.log();
    let entries = log[since..].split("\n@ ").map(|entry| entry.trim_start_matches("@ "));
    let statement = |entry: &str| {
        let text = entry.strip_prefix("LOG:  ")?;
        let text = match text.strip_prefix("statement: ") {
            Some(text) => text,
            None => text.strip_prefix("execute ")?.split_once(": ")?.1,
        };
        // The queries that pgbench sends before it begins are in lower case.
        (!text.starts_with("select ")).then(|| kind(text))
    };
    entries.filter_map(statement).collect()
}

#[test]
fn the_same_statements_arrive_in_the_same_order() {
    let Some(pgbench) = pgbench() else { return testing::skip("there is no pgbench") };
    let mut server = TestServer::of("postgres@15.15");
    let place = server.postgres();
    let Address::Unix(socket) = &place.address else { panic!("no socket") };
    let folder = tempfile::tempdir().unwrap();
    let theirs = |arguments: &[&str]| {
        let done = Command::new(&pgbench)
            .args(arguments)
            .args(["-h", socket.parent().unwrap().to_str().unwrap()])
            .args(["-p", socket.extension().unwrap().to_str().unwrap()])
            .args(["-U", &place.user, &place.database])
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    theirs(&["-i", "-q"]);
    server.set("log_statement", "all");
    server.set("log_line_prefix", "@ ");
    let built_in = ["tpcb-like", "simple-update", "select-only"];
    let built_in = built_in.map(|name| (script::built_in(name).unwrap().text, false));
    let mut compared = 0;
    for (text, chance) in built_in.into_iter().chain(OWN) {
        let file = folder.path().join("script.sql");
        std::fs::write(&file, text).unwrap();
        for (sent, protocol) in
            [(Sent::Text, "simple"), (Sent::Extended, "extended"), (Sent::Described, "prepared")]
        {
            if sent == Sent::Text && text.contains("pipeline") {
                continue;
            }
            let transactions = TRANSACTIONS.to_string();
            let begin = server.log().len();
            let file = file.to_str().unwrap();
            theirs(&["-n", "-t", &transactions, "-M", protocol, "-s", "1", "-f", file]);
            let expected = logged(&server, begin);
            let begin = server.log().len();
            let outcome = run(&server, scripts(&[(text, 1)], sent), TRANSACTIONS);
            assert_eq!((outcome.fatal, outcome.operations), (None, TRANSACTIONS));
            let found = logged(&server, begin);
            assert!(expected.len() as u64 >= TRANSACTIONS, "{protocol}: {text}: {expected:?}");
            if chance {
                let kinds = |all: Vec<String>| all.into_iter().collect::<BTreeSet<_>>();
                assert_eq!(kinds(found), kinds(expected), "{protocol}: {text}");
            } else {
                assert_eq!(found, expected, "{protocol}: {text}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 23);
}
