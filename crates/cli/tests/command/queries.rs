//! Directories of queries on real servers: what differs between two of them is found, and nothing
//! else.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::database::Database;
use crate::place::Place;

/// Writes a directory of queries and returns its path.
fn directory(place: &Place, files: &[(&str, &str)]) -> String {
    fs::create_dir_all(place.path().join("q")).unwrap();
    for (name, text) in files {
        place.file(&format!("q/{name}"), text);
    }
    place.path().join("q").display().to_string()
}

/// What is planted: by settings that only variant b has.
const PLANTED: [(&str, &str); 10] = [
    (
        "setup.sql",
        "CREATE TABLE t AS SELECT g AS id, g % 100 AS k, 0.1::float8 * g AS f\n\
         FROM generate_series(1, 3000) g;\nCREATE TABLE u AS SELECT * FROM t; -- the same;\n\
         CREATE INDEX t_id ON t (id)",
    ),
    ("same.sql", "SELECT id, k, f FROM t WHERE id = {id}"),
    ("same.csv", "id\n7\n8\n9999\n"),
    ("dates.sql", "SELECT date '2020-01-02' + k FROM t WHERE id < 10"),
    ("joined.sql", "SELECT k, sum(f), count(*) FROM t JOIN u USING (k, f) GROUP BY k"),
    ("random.sql", "SELECT random() FROM t"),
    ("short.sql", "SELECT pg_sleep(0.02)"),
    ("long.sql", "SELECT pg_sleep(0.4)"),
    (
        "slow.sql",
        "SELECT pg_sleep(CASE current_setting('enable_hashjoin') WHEN 'on' THEN 0 ELSE 60 END)",
    ),
    ("tax.sql", "SELECT sum(f * current_setting('shop.tax')::float8) FROM t"),
];

/// The codes of warnings about a query, each with query and variant.
fn found(document: &Value) -> BTreeSet<(String, String, String)> {
    let about =
        ["wrong-result", "query-failed", "results-vary", "results-by-count", "plans-differ"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let warnings = document["warnings"].as_array().unwrap().iter();
    let all = warnings.map(|it| (text(&it["code"]), text(&it["step"]), text(&it["variant"])));
    all.filter(|(code, ..)| about.contains(&code.as_str())).collect()
}

#[test]
fn each_difference_is_found_alone() {
    let place = Place::new();
    let directory = directory(&place, &PLANTED);
    let compared = |more: &[&str]| -> Value {
        let arguments = [
            "queries",
            &directory,
            "-v",
            "a=postgres@18.1",
            "-v",
            "b=postgres@18.1",
            "-c",
            "a.shop.tax=0.2",
            "-c",
            "b.enable_hashjoin=off",
            "-c",
            "b.DateStyle=German",
            "--seconds",
            "1",
            "--timeout",
            "3s",
            "--blocks",
            "1",
        ];
        let ran = place.run(&[&arguments[..], more].concat());
        ran.expect(0, &["slow failed on b", "statement timeout", "tax failed on b"]);
        let compare = place.steelyard(&["compare", "--format", "json"]);
        compare.expect(0, &[]);
        serde_json::from_str(&compare.stdout).unwrap()
    };
    let planted = [
        ("wrong-result", "dates", "b"),
        ("plans-differ", "joined", "b"),
        ("query-failed", "slow", "b"),
        ("query-failed", "tax", "b"),
        ("results-vary", "random", "a"),
        ("results-vary", "random", "b"),
    ];
    let planted =
        planted.map(|(code, step, variant)| (code.to_owned(), step.to_owned(), variant.to_owned()));
    for more in [&["--pairing", "slices"][..], &[]] {
        let document = compared(more);
        assert_eq!(found(&document), planted.iter().cloned().collect(), "{more:?}");
        let comparison = |step: &str| {
            let all = document["metrics"][0]["comparisons"].as_array().unwrap();
            all.iter().find(|it| it["step"] == step).unwrap().clone()
        };
        let sentence = |step: &str| comparison(step)["sentence"].as_str().unwrap().to_owned();
        let wrong = "wrong result: b gives other rows than a (both 9 rows)";
        assert!(sentence("dates").starts_with(wrong), "{}", sentence("dates"));
        assert!(sentence("tax").contains("unrecognized configuration parameter"));
        assert!(sentence("slow").starts_with("the query fails on b: "));
        for (step, most) in [("same", 1e9), ("joined", 1e9), ("short", 50.0), ("long", 2.5)] {
            let mean = comparison(step)["mean"].as_f64().unwrap();
            assert!(mean > 0.0 && mean <= most, "{step}: {mean}");
        }
    }
    let gate = place.steelyard(&["compare", "--gate"]);
    gate.expect(1, &[]);
    assert!(gate.stderr.contains("dates: wrong result"), "{}", gate.stderr);
    let history = place.steelyard(&["history", "--by", "date"]);
    history.expect(0, &[]);
    for left_out in ["dates of b in experiment 2: wrong result", "tax of b in experiment 1"] {
        let said = history.stdout.contains(&format!("left out: {left_out}"));
        assert!(said, "{left_out}: {}", history.stdout);
    }
    let database = Database::of(&place.results());
    database.assert_sound();
    let number = |sql: &str| database.number(sql);
    assert_eq!(number("SELECT count(*) FROM trial WHERE state <> 'finished'"), 0);
    // Once per variant and run.
    let setups =
        "SELECT count(*) FROM step s JOIN name n ON n.id = s.name_id WHERE n.text = 'setup'";
    assert_eq!(number(setups), 4);
    place.assert_nothing_left();
}

/// MySQL cuts what group_concat gives at 1024 bytes, MariaDB at a million.
#[test]
fn the_example_shows_what_mariadb_does_otherwise_than_mysql() {
    let place = Place::new();
    let queries = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/queries");
    let variants = ["-v", "my=mysql@8.0.31", "-v", "ma=mariadb@10.11.5", "-v", "pg=postgres@13.7"];
    let more = ["--seconds", "1", "--blocks", "1", "--steps", "order,weights,countries"];
    let ran = place.run(&[&["queries", queries], &variants[..], &more[..]].concat());
    ran.expect(0, &["load of my", "countries"]);
    let compare = place.steelyard(&["compare", "--format", "json"]);
    let mut found = found(&serde_json::from_str(&compare.stdout).unwrap());
    found.retain(|(code, ..)| code != "plans-differ");
    let wrong = ("wrong-result".to_owned(), "countries".to_owned(), "ma".to_owned());
    let by_count = ("results-by-count".to_owned(), String::new(), String::new());
    assert_eq!(found, BTreeSet::from([wrong, by_count]));
    place.assert_nothing_left();
}

#[test]
fn what_can_not_be_measured_is_refused() {
    let place = Place::new();
    let path = directory(&place, &[("a.sql", "DELETE FROM t")]);
    let refused = |path: &str, message: &str| {
        let ran = place.run(&["queries", path, "-v", "postgres@18.1"]);
        ran.expect(2, &[message]);
    };
    refused(&path, "a.sql:1: expected a query that begins with SELECT, WITH, VALUES or TABLE");
    directory(&place, &[("a.sql", "SELECT 1"), ("b.mysql.sql", "SELECT 2")]);
    refused(&path, "the query `b` has no text for postgres; add b.postgres.sql, or b.sql");
    let ran = place.run(&["insert", &path, "-v", "postgres@18.1"]);
    ran.expect(2, &["`insert` takes nothing after it"]);
    let help = place.steelyard(&["run", "queries", "--help"]);
    help.expect(0, &[]);
    let own = ["Options of queries", "--timeout <TIME>"].iter().all(|it| help.stdout.contains(it));
    assert!(own && !help.stdout.contains("--delete-per-insert"), "{}", help.stdout);
    place.assert_nothing_left();
}

/// As `pg_dump` writes it, with rows that a client of its own has to send.
const DUMP: &str = "SET client_encoding = 'UTF8';\n\
    SELECT pg_catalog.set_config('search_path', '', false);\n\
    CREATE TABLE public.t (id integer NOT NULL, name text);\n\
    COPY public.t (id, name) FROM stdin;\n1\tone\n2\t\\N\n3\tthree\n\\.\n\n\
    ALTER TABLE ONLY public.t ADD CONSTRAINT t_pkey PRIMARY KEY (id);\n";

#[test]
fn a_dump_is_the_data() {
    let place = Place::new();
    place.file("shop.sql", DUMP);
    let directory = directory(
        &place,
        &[("all.sql", "SELECT 1 / (CASE count(*) WHEN 3 THEN 1 ELSE 0 END) FROM t")],
    );
    let dump = place.path().join("shop.sql").display().to_string();
    let run = |init: &str| {
        place.run(
            &[
                &["queries", &directory, "-v", "a=postgres@13.7", "-v", "b=postgres@14.3"][..],
                &["--init", init, "--seconds", "1", "--blocks", "2"],
            ]
            .concat(),
        )
    };
    run(&format!("psql -X -q -o /dev/null -v ON_ERROR_STOP=1 -f {dump}")).expect(0, &["all"]);
    let compared = place.steelyard(&["compare", "--format", "json"]);
    let document: Value = serde_json::from_str(&compared.stdout).unwrap();
    assert_eq!(found(&document), BTreeSet::new(), "each has the three rows");
    let failed = run("psql -X -q -v ON_ERROR_STOP=1 -f /nowhere/shop.sql");
    failed.expect(3, &["init", "/nowhere/shop.sql"]);
}

/// Each query finds nothing in memory that an earlier one has read: neither in the server's nor in
/// the kernel's.
#[test]
fn a_cold_query_reads_everything_again() {
    let place = Place::new();
    let table = "SELECT i AS id, repeat('x', 500) AS filler FROM numbers";
    let ten = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL \
               SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL \
               SELECT 8 UNION ALL SELECT 9)";
    let numbers = format!(
        "SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS i FROM {ten} a, {ten} b, {ten} c, {ten} e"
    );
    let setup =
        format!("CREATE TABLE t AS {};", table.replace("numbers", &format!("({numbers}) n")));
    let all = "SELECT sum(length(filler)) FROM t WHERE id >= {id}";
    let files = [
        ("setup.sql", setup.as_str()),
        ("a.sql", all),
        ("a.csv", "id\n0\n9\n"),
        ("b.sql", "SELECT count(*), max(filler) FROM t"),
    ];
    let directory = directory(&place, &files);
    let run = |pairing: &str| {
        let variants = ["-v", "pg=postgres@18.1", "-v", "my=mysql@8.0.31"];
        let more = ["--cold", "--blocks", "1", "--pairing", pairing];
        place.run(&[&["queries", &directory], &variants[..], &more[..]].concat())
    };
    run("blocks").expect(0, &["a{cache=cold}"]);
    run("slices").expect(0, &["b{cache=cold} my"]);
    let database = Database::of(&place.results());
    database.assert_sound();
    let measured = "FROM step s JOIN trial t ON t.id = s.trial_id JOIN name n ON n.id = s.name_id \
                    WHERE n.text IN ('a', 'b') AND t.block > 0 AND s.operations = 1";
    assert_eq!(database.number(&format!("SELECT count(*) {measured}")), 8);
    // 5 MB are more than 600 pages of 8 KB, or 300 of 16 KB.
    let read = "SELECT count(*) FROM counter c JOIN name k ON k.id = c.name_id \
                WHERE k.text IN ('blks_read', 'Innodb_pages_read') AND c.value >= 300 \
                AND c.step_id IN (SELECT s.id";
    assert_eq!(database.number(&format!("{read} {measured})")), 8);
    // In megabytes from the disk, if there is one. Beside other tests, the server has time to read
    // some before the query.
    let disk = "SELECT count(*) FROM metric m JOIN name k ON k.id = m.name_id \
                WHERE k.text = 'rKB/o' AND m.step_id IN (SELECT s.id";
    let all = database.number(&format!("{disk} {measured})"));
    let large = database.number(&format!("{disk} {measured}) AND m.value >= 3000"));
    assert!(all == 0 || large > 0, "read from the page cache");
    // The results of a query are compared as ever.
    let compared = place.steelyard(&["compare", "--format", "json"]);
    let document: Value = serde_json::from_str(&compared.stdout).unwrap();
    let mut found = found(&document);
    found.retain(|(code, ..)| code != "plans-differ");
    let by_count = ("results-by-count".to_owned(), String::new(), String::new());
    assert_eq!(found, BTreeSet::from([by_count]));
    place.assert_nothing_left();
}
