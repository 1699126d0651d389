//! Logs that are sent again, on real servers, and what `steelyard trace` says of them.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trace::{Options, Statement};

use crate::place::Place;

/// The statements of a log.
fn read(path: &Path) -> Vec<Statement> {
    let log = fs::read(path).unwrap();
    let format = trace::detect(&String::from_utf8_lossy(&log)).unwrap();
    let mut found = Vec::new();
    let each = &mut |statement| {
        found.push(statement);
        ControlFlow::Continue(())
    };
    trace::read(format, &Options::default(), &mut &log[..], each).unwrap();
    found
}

/// A statement as it was sent: its text, its values if they were apart, and whether it had a name.
type Sent = (String, Option<(Vec<Option<String>>, bool)>);

/// The statements of each session that did not fail, in their order; the sessions are sorted.
fn sessions(statements: Vec<Statement>) -> Vec<Vec<Sent>> {
    let mut sessions: BTreeMap<u32, Vec<Sent>> = BTreeMap::new();
    for statement in statements.into_iter().filter(|it| !it.failed) {
        let bound = statement.bound.map(|bound| (bound.values, bound.named));
        sessions.entry(statement.session).or_default().push((statement.text, bound));
    }
    let mut sessions: Vec<Vec<Sent>> = sessions.into_values().collect();
    sessions.sort();
    sessions
}

/// A file of plans/replay.
fn example(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/replay").join(name);
    root.canonicalize().unwrap().display().to_string()
}

/// Asserts that the logs of so many servers have the sessions of a log, and returns them.
fn assert_arrived(place: &Place, log: &str, servers: usize) -> Vec<String> {
    let known = sessions(read(Path::new(log)));
    let all = fs::read_dir(place.results().join("artifacts/logs")).unwrap();
    // A trial that the hypervisor disturbed is run again: one for each variant.
    let logs: BTreeMap<String, PathBuf> = all
        .map(|it| it.unwrap().path())
        .filter_map(|it| Some((it.to_str()?.split_once(".b1.")?.0.to_owned(), it)))
        .collect();
    let logs: Vec<PathBuf> = logs.into_values().collect();
    assert_eq!(logs.len(), servers, "{logs:?}");
    for log in &logs {
        let mut found = sessions(read(log));
        // Those of steelyard itself have other statements.
        found.retain(|session| known.contains(session));
        assert_eq!(found, known, "{}", log.display());
    }
    logs.iter().map(|log| fs::read_to_string(log).unwrap()).collect()
}

/// Prepared statements: parsed once, parsed each time, after an error, and after the server has
/// forgotten them. The second session has a new connection in place of the first.
#[test]
fn prepared_statements_arrive_as_such() {
    let place = Place::new();
    let lines = [
        (0, r#""text":"CREATE TABLE t (a int, b text)""#),
        (0, r#""text":"INSERT INTO t VALUES ($1, $2)","values":["5","it's"],"named":true"#),
        (0, r#""text":"INSERT INTO t VALUES ($1, $2)","values":["6",null],"named":true"#),
        (0, r#""text":"SELECT b FROM t WHERE a = $1","values":["5"]"#),
        (0, r#""text":"SELECT 30 / a FROM t WHERE a = $1","values":["5"],"named":true"#),
        (0, r#""text":"SELECT 30 / $1::int","values":["0"],"named":true,"failed":true"#),
        (0, r#""text":"SELECT 30 / $1::int","values":["3"],"named":true"#),
        (0, r#""text":"DISCARD ALL""#),
        (0, r#""text":"SELECT 30 / $1::int","values":["4"],"named":true"#),
        (1, r#""text":"SELECT 30 / $1::int","values":["5"],"named":true"#),
        (1, r#""text":"SELECT 'text'""#),
    ];
    let lines = lines.into_iter().enumerate();
    let lines = lines.map(|(at, (session, rest))| {
        format!("{{\"at_us\":{},\"session\":{session},{rest}}}\n", 1_000 * at)
    });
    let log = place.file("log.jsonl", &lines.collect::<String>());
    let logging = "log_min_duration_statement=0";
    place
        .run(&["replay", &log, "-v", "postgres@18.1", "-c", logging, "--blocks", "1"])
        .expect(0, &["replay"]);
    let logs = assert_arrived(&place, &log, 1);
    let parsed = |text: &str| logs[0].matches(text).count();
    assert_eq!(parsed("parse g1: INSERT INTO t"), 1, "{}", logs[0]);
    assert!(parsed("parse <unnamed>: SELECT b FROM t") > 0, "{}", logs[0]);
    // The server can't tell the type of this value, so it is sent as text.
    let line = r#"{"at_us":0,"session":0,"text":"SELECT $1 IS NULL","values":["5"],"named":true}"#;
    // Nor does it know that a client had named a type for this one; it would be an integer.
    let divided = |value: &str| {
        let text = "SELECT 1 / ($1 / generate_series(5, 6))";
        format!("{{\"at_us\":1,\"session\":0,\"text\":\"{text}\",\"values\":[\"{value}\"]}}")
    };
    let lines = [line, &divided("1"), &divided("2.5"), ""].join("\n");
    let untyped = place.file("untyped.jsonl", &lines);
    place.run(&["replay", &untyped, "-v", "postgres@18.1", "--blocks", "1"]).expect(0, &["replay"]);
    place
        .run(&["replay", &untyped, "-v", "mysql@8.0.31", "--blocks", "1"])
        .expect(2, &["which only PostgreSQL accepts"]);
    let compare = place.steelyard(&["compare", "--full"]);
    assert!(!compare.stdout.contains("statements-failed"), "{}", compare.stdout);
    place.assert_nothing_left();
}

#[test]
fn forms_that_find_other_numbers_of_rows_are_named() {
    let place = Place::new();
    let major = "current_setting('server_version_num')::int / 10000";
    let lines = [format!("SELECT generate_series(1, {major})"), "SELECT 1".to_owned()];
    let lines = lines.into_iter().enumerate();
    let lines = lines.map(|(at, text)| {
        format!("{{\"at_us\":{at},\"session\":0,\"text\":\"{text}\",\"took_us\":{}}}\n", 9 - at)
    });
    let log = place.file("log.jsonl", &lines.collect::<String>());
    let [old, new] = ["-v=old=postgres@14.3", "-v=new=postgres@18.1"];
    place.run(&["replay", &log, old, new, "--blocks", "2"]).expect(0, &["replay"]);
    let compare = place.steelyard(&["compare", "--full"]).stdout;
    let said = "row counts differ from old: q1 finds 18 rows instead of 14\n";
    assert!(compare.contains("rows-differ") && compare.contains(said), "{compare}");
    place.assert_nothing_left();
}

#[test]
fn the_same_statements_arrive_in_the_same_order() {
    let place = Place::new();
    let (log, setup) = (example("shop.jsonl"), example("setup.sql"));
    let run = [
        "replay",
        &log,
        "--setup-file",
        &setup,
        "-v",
        "a=postgres@14.3",
        "-v",
        "b=postgres@18.1",
        "-c",
        "log_min_duration_statement=0",
        "--blocks",
        "1",
    ];
    place.run(&run).expect(0, &["replay.4"]);
    assert_arrived(&place, &log, 2);
    let asked = ["compare", "--format", "json", "--metric", "o/s,q1.mean,q2.p99,statement.failed"];
    let compare = place.steelyard(&asked);
    compare.expect(0, &[]);
    let document: Value = serde_json::from_str(&compare.stdout).unwrap();
    for (metric, least) in [(0, 1.0), (1, 1.0), (2, 1.0)] {
        let found = &document["metrics"][metric]["comparisons"];
        let replay = found.as_array().unwrap().iter().find(|it| it["step"] == "replay").unwrap();
        assert!(replay["ratio"].as_f64().unwrap() > 0.0, "{replay}");
        assert!(replay["mean"].as_f64().is_none_or(|mean| mean > least / 1e3), "{replay}");
    }
    let by_class = place.steelyard(&["compare", "--by", "class"]);
    by_class.expect(0, &[]);
    for part in ["Response time by class, mean: replay", "\nq1 ", "\nq2 ", "select "] {
        assert!(by_class.stdout.contains(part), "{part}: {}", by_class.stdout);
    }
    assert!(!by_class.stdout.contains("\nstatement "), "all of them: {}", by_class.stdout);
    let codes = document["warnings"].as_array().unwrap().iter().map(|it| it["code"].clone());
    assert!(!codes.into_iter().any(|code| code == "statements-failed"), "{}", compare.stdout);
    place.assert_nothing_left();
}

/// A session that waits for the server before it commits each row, and one that has found the row
/// at once.
#[test]
fn a_transaction_waits_for_those_whose_rows_it_found() {
    let place = Place::new();
    let mut lines = Vec::new();
    let mut at = 0;
    let mut add = |session: u32, text: String, took: u32| {
        at += 1_000;
        lines.push(format!(
            "{{\"at_us\":{at},\"session\":{session},\"text\":\"{text}\",\"took_us\":{took}}}\n"
        ));
    };
    for row in 0..20 {
        add(0, "BEGIN".to_owned(), 10);
        add(0, format!("INSERT INTO t VALUES ({row})"), 10);
        add(0, "SELECT pg_sleep(0.01)".to_owned(), 10);
        add(0, "COMMIT".to_owned(), 10);
        add(1, format!("SELECT 1 / count(*) FROM public.t WHERE a = {row}"), 10);
    }
    let log = place.file("log.jsonl", &lines.concat());
    let setup = place.file("setup.sql", "CREATE TABLE t (a int);");
    let run = |more: &[&str]| {
        let run = ["replay", &log, "--setup-file", &setup, "-v", "postgres@18.1", "--blocks", "1"];
        place.run(&[&run[..], more].concat())
    };
    let kept = run(&[]);
    kept.expect(0, &["replay.2"]);
    assert!(!kept.stderr.contains("in the log"), "{}", kept.stderr);
    run(&["--order", "sessions"]).expect(3, &["of 100 statements failed that had not in the"]);
    // Frozen, each server has its own order.
    let run = ["replay", &log, "--setup-file", &setup, "--pairing", "frozen", "--blocks", "1"];
    let frozen =
        place.run(&[&run[..], &["-v", "a=postgres@14.3", "-v", "b=postgres@18.1"]].concat());
    frozen.expect(0, &["replay.2"]);
    assert!(!frozen.stderr.contains("in the log"), "{}", frozen.stderr);
    place.assert_nothing_left();
}

/// A log of one session; `wrong` of its statements are refused, and the log knows of `known`.
fn log(wrong: usize, known: usize) -> String {
    let line = |place: usize| {
        let text = if place < wrong { "SELECT * FROM nothing" } else { "SELECT 1" };
        let failed = if place < known { ",\"failed\":true" } else { "" };
        format!("{{\"at_us\":{},\"session\":7,\"text\":\"{text}\"{failed}}}\n", place * 100)
    };
    (0..400).map(line).collect()
}

#[test]
fn statements_that_fail_are_no_result() {
    let place = Place::new();
    let run = |name: &str, text: &str, more: &[&str]| {
        let log = place.file(name, text);
        place.run(&[&["replay", &log, "-v", "mysql@8.0.31", "--blocks", "1"][..], more].concat())
    };
    let same = run("same.jsonl", &log(40, 40), &[]);
    same.expect(0, &[]);
    assert!(!same.stderr.contains("in the log"), "{}", same.stderr);
    let few = run("few.jsonl", &log(3, 0), &[]);
    few.expect(0, &["warning: replay: 3 of 400 statements failed that had not in the log"]);
    let many = run("many.jsonl", &log(40, 2), &[]);
    many.expect(3, &["38 of 400 statements failed that had not in the log", "may_fail"]);
    // As many fail, but others.
    let others = log(40, 0).replace("SELECT 1\"", "SELECT 1\",\"failed\":true");
    let others: String = others.lines().take(80).map(|line| format!("{line}\n")).collect();
    run("others.jsonl", &others, &[]).expect(3, &["80 of 80 statements failed that had not"]);
    // At the times of the log, which lasts 40 ms: at a twentieth of its speed, 0.8 s.
    let slow = run("slow.jsonl", &log(0, 0), &["--speed", "0.05"]);
    slow.expect(0, &["replay"]);
    let rate = slow.stderr.split(" statements/s").next().unwrap().split_whitespace().last();
    let rate: f64 = rate.unwrap().parse().unwrap();
    assert!(rate > 0.0 && rate < 510.0, "400 statements in 0.8 s or more: {rate}");
    // Due every 5 ms, and each takes 20 ms: the last of 40 waits for 0.58 s or longer.
    let waiting = |at: usize| {
        format!("{{\"at_us\":{},\"session\":7,\"text\":\"SELECT SLEEP(0.02)\"}}\n", 5_000 * at)
    };
    let waiting: String = (0..40).map(waiting).collect();
    run("waiting.jsonl", &waiting, &["--speed", "1"]).expect(0, &["replay"]);
    let lag = place.steelyard(&["compare", "--tables", "rates", "--format", "csv"]);
    let of_server = |line: &&str| line.starts_with("lag,") && line.contains(",server,");
    let line = lag.stdout.lines().find(of_server).unwrap();
    let server: f64 = line.rsplit(',').next().unwrap().parse().unwrap();
    assert!(server > 500_000.0, "{}", lag.stdout);
    let asked = ["compare", "-e", "2", "--format", "csv", "--metric", "q1.failed"];
    let compare = place.steelyard(&asked);
    assert_eq!(compare.code, Some(0), "{}{}", compare.stdout, compare.stderr);
    place.assert_nothing_left();
}

#[test]
fn a_log_of_another_system_or_one_that_changes_is_refused() {
    let place = Place::new();
    let general = "2026-11-28T20:09:59.988839Z\t    2 Query\tSELECT 1\n";
    let log = place.file("general.log", general);
    let refused = place.run(&["replay", &log, "-v", "postgres@14.3"]);
    refused.expect(2, &[]);
    let said = "the log is mysql-general, but its statements would go to postgres";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    let written = place.run(&["replay", &log, "-v", "mysql@8.0.31", "--write-plan"]);
    written.expect(0, &[]);
    let plan = place.plan(&written.stdout);
    fs::write(&log, general.repeat(2)).unwrap();
    let changed = place.run(&[&plan]);
    assert!(changed.stderr.contains("has changed since the plan was read"), "{}", changed.stderr);
    assert_ne!(changed.code, Some(0));
    for (text, message) in [("", "no format"), ("x\ny\n", "no format that is known")] {
        fs::write(&log, text).unwrap();
        let refused = place.run(&["replay", &log, "-v", "mysql@8.0.31"]);
        refused.expect(2, &[]);
        assert!(refused.stderr.contains(message), "{text}: {}", refused.stderr);
    }
    place.assert_nothing_left();
}

#[test]
fn a_log_is_shown_cut_and_made_anonymous() {
    let place = Place::new();
    let log = example("shop.jsonl");
    let shown = place.steelyard(&["trace", &log, "--forms", "2"]);
    shown.expect(0, &[]);
    assert!(shown.stdout.contains("336 statements of 4 sessions"), "{}", shown.stdout);
    assert!(shown.stdout.contains("and 5 more forms"), "{}", shown.stdout);
    let key = place.file("key", "0123456789abcdef");
    let anonymous = place.path().join("anonymous.jsonl").display().to_string();
    let made = place.steelyard(&[
        "trace",
        &log,
        "--syntax",
        "dollars",
        "--key-file",
        &key,
        "-o",
        &anonymous,
        "--json",
    ]);
    made.expect(0, &[]);
    let document: Value = serde_json::from_str(&made.stdout).unwrap();
    assert_eq!(document["forms"].as_array().unwrap().len(), 7);
    let (own, other) = (read(Path::new(&log)), read(Path::new(&anonymous)));
    assert_eq!(own.len(), other.len());
    assert!(!fs::read_to_string(&anonymous).unwrap().contains("'city 7'"));
    let forms = |statements: &[Statement]| -> Vec<String> {
        let form = |it: &Statement| trace::normal_form(&it.text, trace::Syntax::Dollars);
        statements.iter().map(form).collect()
    };
    assert_eq!(forms(&own), forms(&other));
    let short = place.file("short", "0123");
    let refused = place.steelyard(&["trace", &log, "--key-file", &short, "-o", &anonymous]);
    refused.expect(2, &[]);
    assert!(refused.stderr.contains("at least 16 bytes"), "{}", refused.stderr);
    let unsaid = place.steelyard(&["trace", &log, "--key-file", &key, "-o", &anonymous]);
    unsaid.expect(2, &[]);
    assert!(unsaid.stderr.contains("give --syntax"), "{}", unsaid.stderr);
    // A log may be written over itself.
    fs::copy(&log, place.path().join("own.jsonl")).unwrap();
    let own = place.path().join("own.jsonl").display().to_string();
    place.steelyard(&["trace", &own, "-o", &own]).expect(0, &[]);
    assert_eq!(sessions(read(Path::new(&own))), sessions(read(Path::new(&log))));
    let skipped = place.steelyard(&["trace", &log, "--skip", "1h"]);
    assert!(skipped.stdout.contains("0 statements"), "{}", skipped.stdout);
}

#[test]
fn what_a_log_has_besides_statements_to_send_is_told() {
    let place = Place::new();
    let line = |rest: &str| format!("2026-12-01 11:20:41.490 UTC [7] {rest}\n");
    let several = [
        line("shop@shop LOG:  duration: 1.500 ms  statement: SELECT 1"),
        line("shop@shop ERROR:  no"),
        line("shop@shop STATEMENT:  SELECT f($1)"),
        line("shop@blog LOG:  duration: 0.500 ms  statement: SELECT a FROM b"),
    ];
    let log = place.file("server.log", &several.concat());
    let traced = place.steelyard(&["trace", &log]);
    traced.expect(0, &[]);
    for said in [
        "1 failed statements lack their values, and can't be sent; log_parameter_max_length",
        "\nblog               1\nshop               1\n",
    ] {
        assert!(traced.stdout.contains(said), "{}", traced.stdout);
    }
    let one = place.steelyard(&["trace", &log, "--only-database", "blog", "--json"]);
    one.expect(0, &[]);
    let document: Value = serde_json::from_str(&one.stdout).unwrap();
    assert_eq!((&document["statements"], &document["without_values"]), (&1.into(), &1.into()));
    assert_eq!(document["databases"], serde_json::json!({"blog": 1}));
    let general = place.file("general.log", "2026-11-28T20:09:59.9Z\t    2 Query\tSELECT 1\n");
    let untimed = place.steelyard(&["trace", &general]);
    untimed.expect(0, &[]);
    for said in
        ["doesn't say how long", "\nq1             1       0  -         -        select ?\n"]
    {
        assert!(untimed.stdout.contains(said), "{}", untimed.stdout);
    }
    let none = place.steelyard(&["trace", &log, "--only-database", "b"]);
    none.expect(2, &["no statements of the database b, but those of blog (1 statement), shop (1"]);
    let replayed = place.run(&["replay", &log, "-v", "postgres@18.1"]);
    replayed.expect(2, &["several databases: blog (1 statement), shop (1 statement); name one"]);
}

#[test]
fn the_queries_of_a_log_can_be_run() {
    let place = Place::new();
    let log = example("shop.jsonl");
    let queries = place.path().join("queries").display().to_string();
    let written = place.steelyard(&["trace", &log, "--queries", &queries, "--syntax", "dollars"]);
    written.expect(0, &[]);
    let left = "left out, as they write, failed, or lack values: ";
    assert!(written.stderr.contains(left), "{}", written.stderr);
    let names = fs::read_dir(&queries).unwrap().map(|it| it.unwrap().file_name());
    let names: Vec<String> = names.map(|it| it.into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.ends_with(".csv")), "{names:?}");
    place.steelyard(&["trace", &log, "--queries", &queries]).expect(2, &["give --syntax"]);
    let again = place.steelyard(&["trace", &log, "--queries", &queries, "--syntax", "dollars"]);
    again.expect(2, &[]);
    assert!(again.stderr.contains("is not empty"), "{}", again.stderr);
    // With the data of the log.
    fs::copy(example("setup.sql"), Path::new(&queries).join("setup.sql")).unwrap();
    let variants = ["-v", "a=postgres@13.7", "-v", "b=postgres@18.1"];
    let more = ["--seconds", "1", "--blocks", "1"];
    place.run(&[&["queries", &queries], &variants[..], &more[..]].concat()).expect(0, &["q1"]);
    place.assert_nothing_left();
}
