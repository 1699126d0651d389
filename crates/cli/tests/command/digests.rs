//! Digests, and a log, as a mix of scripts on real servers.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::database::Database;
use crate::own_server::OwnServer;
use crate::place::{Ended, Place};

/// A file of the repository.
fn file(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    root.canonicalize().unwrap().display().to_string()
}

/// The scripts and weights in the command that `trace` printed.
fn scripts(traced: &Ended) -> String {
    let (_, rest) = traced.stderr.split_once("steelyard run script --file ").unwrap();
    rest.split(' ').next().unwrap().trim_matches('\'').to_owned()
}

/// Runs scripts for a second without warming up.
fn run(place: &Place, scripts: &str, data: [&str; 4]) {
    let short = ["script", "--file", scripts, "--seconds", "1", "--blocks", "1", "--write-plan"];
    let written = place.run(&[&short[..], &data].concat());
    written.expect(0, &[]);
    let cold = written.stdout.replace("warm_seconds = 5", "warm_seconds = 0");
    assert_ne!(cold, written.stdout);
    place.run(&[&place.plan(&cold)]).expect(0, &["transactions/s"]);
    let rates = Database::of(&place.results()).metrics("script", "o/s");
    assert!(!rates.is_empty() && rates.iter().all(|rate| *rate > 0.0), "{rates:?}");
}

/// Fills in the values of a script, and returns its text.
fn fill_in(place: &Place, script: &str, value: &str) -> String {
    let path = place.path().join(script);
    let text = fs::read_to_string(&path).unwrap().replace("FILL_IN", value);
    fs::write(&path, &text).unwrap();
    text
}

/// What `\copy` of the view writes, after 60 and 20 statements.
fn counted(server: &OwnServer) -> String {
    let mut client = server.client();
    let setup = fs::read_to_string(file("plans/replay/setup.sql")).unwrap();
    client.batch_execute(&setup).unwrap();
    client.batch_execute("CREATE EXTENSION pg_stat_statements").unwrap();
    client.simple_query("SELECT pg_stat_statements_reset()").unwrap();
    for at in 1..=60 {
        let asked = client.simple_query(&format!("SELECT name FROM customers WHERE id = {at}"));
        asked.unwrap();
        if at % 3 == 0 {
            let update = format!("UPDATE customers SET city = city WHERE id = {at}");
            client.batch_execute(&format!("BEGIN; {update}; COMMIT")).unwrap();
        }
    }
    let mut table = String::new();
    let copy = "COPY (SELECT * FROM pg_stat_statements) TO STDOUT CSV HEADER";
    client.copy_out(copy).unwrap().read_to_string(&mut table).unwrap();
    table
}

#[test]
fn digests_of_postgres_are_filled_in_and_run() {
    let place = Place::new();
    let server = OwnServer::with("shared_preload_libraries = 'pg_stat_statements'\n");
    let table = place.file("digests.csv", &counted(&server));
    let shown = place.steelyard(&["trace", &table, "--json"]);
    shown.expect(0, &[]);
    let document: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(
        (&document["format"], &document["damaged"]),
        (&"postgres-digests".into(), &0.into())
    );
    let forms = document["forms"].as_array().unwrap();
    let times = |form: &str| {
        forms.iter().find(|it| it["form"] == form).unwrap()["statements"].as_u64().unwrap()
    };
    assert_eq!(times("select name from customers where id = ?"), 60);
    assert_eq!(times("update customers set city = city where id = ?"), 20);
    for (option, value) in [("--skip", "1h"), ("--take", "1h"), ("-o", "x.jsonl")] {
        place.steelyard(&["trace", &table, option, value]).expect(2, &["is for logs", "--scripts"]);
    }
    let replayed = place.run(&["replay", &table, "-v", "postgres@18.1"]);
    replayed.expect(2, &["can't be sent again as a log; `steelyard trace FILE --scripts DIR`"]);
    let traced = place.steelyard(&["trace", &table, "--scripts", "mix"]);
    traced.expect(0, &["wrote 3 scripts to mix: ", "a mix sends no `COMMIT`", "fill in FILL_IN"]);
    let mut scripts = scripts(&traced);
    assert!(scripts.contains("@60") && scripts.contains("@20"), "{scripts}");
    let url = server.socket_url();
    let here = ["-v", &url, "--init", ""];
    let refused = place.run(&[&["script", "--file", &scripts], &here[..]].concat());
    refused.expect(2, &["mix/q", ".sql:5:9: expected a number", "found FILL_IN"]);
    for script in scripts.clone().split(',') {
        let text = fill_in(&place, script.split('@').next().unwrap(), "random(1, 2000)");
        // The one that reset the counters.
        if text.contains("pg_stat_statements_reset") {
            scripts = scripts.replace(script, "").replace(",,", ",").trim_matches(',').to_owned();
        }
    }
    run(&place, &scripts, here);
    place.steelyard(&["trace", &table, "--scripts", "mix"]).expect(2, &["is not empty"]);
    place.steelyard(&["trace", &table, "--scripts", "a,b"]).expect(2, &["without one"]);
    place.assert_nothing_left();
}

#[test]
fn a_log_is_sent_as_a_mix() {
    let place = Place::new();
    let log = file("plans/replay/shop.jsonl");
    place.steelyard(&["trace", &log, "--scripts", "mix"]).expect(2, &["give --syntax"]);
    let traced = place.steelyard(&["trace", &log, "--syntax", "dollars", "--scripts", "mix"]);
    traced
        .expect(0, &["wrote 5 scripts to mix: 71.4% of all statements", "a mix sends no `BEGIN`"]);
    let setup = file("plans/replay/setup.sql");
    run(&place, &scripts(&traced), ["-v", "postgres@18.1", "--setup-file", &setup]);
    place.assert_nothing_left();
}

/// The table that the statements of the exported digests are about.
const ITEMS: &str = "CREATE TABLE items (id int PRIMARY KEY, name varchar(200), price decimal(10,2));\n\
    INSERT INTO items VALUES (1, 'it''s', 1.5), (2, 'x', 2), (3, NULL, NULL);\n";

#[test]
fn samples_of_mysql_are_run() {
    let place = Place::new();
    let setup = place.file("setup.sql", ITEMS);
    let table = fs::read_to_string(file("crates/trace/tests/fixtures/mysql-8.0-digests.tsv"));
    // What succeeds on this table, and more than once.
    let fails = ["\tINSERT", "\tUPDATE", "`nothing`", "`shop`"];
    let again = |line: &&str| !fails.iter().any(|part| line.contains(part));
    let table = table.unwrap();
    let table: Vec<&str> = table.lines().filter(again).collect();
    let table = place.file("digests.tsv", &(table.join("\n") + "\n"));
    let traced = place.steelyard(&["trace", &table, "--scripts", "mix"]);
    // Of one, only the sample was cut.
    let missing = "fill in FILL_IN before you run them: ";
    traced.expect(0, &["a mix sends no `CREATE`", "its text is cut", missing]);
    let name = traced.stderr.split_once(missing).unwrap().1.lines().next().unwrap();
    fill_in(&place, &format!("mix/{name}.sql"), "17");
    run(&place, &scripts(&traced), ["-v", "mysql@8.0.31", "--setup-file", &setup]);
    place.assert_nothing_left();
}
