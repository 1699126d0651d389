//! pgbench scripts as the load of real servers.

use std::fs;

use crate::database::Database;
use crate::place::Place;

const DEPOSIT: &str = "\\set aid random(1, 100000 * :scale)\n\\set delta random(-5000, 5000)\n\
    BEGIN;\nUPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
    SELECT abalance FROM pgbench_accounts WHERE aid = :aid \\gset\n\
    \\if :abalance > 1000000\nSELECT 1;\n\\endif\nEND;\n";

#[test]
fn a_file_is_enough_to_compare_two_versions() {
    let place = Place::new();
    place.file("deposit.sql", DEPOSIT);
    let arguments = [
        "deposit.sql",
        "-v",
        "postgres@13.7",
        "-v",
        "postgres@18.1",
        "--scale",
        "1",
        "--clients",
        "2",
        "--seconds",
        "2",
        "--blocks",
        "1",
        // Both warm up for five seconds, in which the machine has other tests to run.
        "--rate",
        "300",
    ];
    let ended = place.run(&arguments);
    ended.expect(0, &["load", "primary-keys", "script.warm", "transactions/s"]);
    let database = Database::of(&place.results());
    database.assert_sound();
    for metric in ["o/s", "dbms.cpu/o", "client.cpu/o", "transaction.p95"] {
        let found = database.metrics("script", metric);
        assert!(found.len() == 2 && found.iter().all(|value| *value > 0.0), "{metric}: {found:?}");
    }
    assert_eq!(database.metrics("script", "transaction.failed"), [0.0, 0.0]);
    // The stored plan is enough to run it again.
    fs::remove_file(place.path().join("deposit.sql")).unwrap();
    let plan = database.texts("SELECT plan FROM experiment");
    let shorter = plan[0].replace("warm_seconds = 5", "warm_seconds = 1");
    assert_ne!(shorter, plan[0]);
    let file = place.plan(&shorter);
    place.run(&[&file]).expect(0, &["script"]);
    place.assert_nothing_left();
}

/// Counts what it has done, so that nothing may get lost.
const COUNTING: &str = "\\set id random(1, 3)\nBEGIN;\n\
    SELECT n, name FROM counters WHERE id = :id FOR UPDATE \\gset\n\
    \\set next :n + 1\nUPDATE counters SET n = :next WHERE id = :id;\n\
    INSERT INTO done (counter) VALUES (:id);\nCOMMIT;\n";

#[test]
fn scripts_run_on_mysql_with_tables_of_their_own() {
    let place = Place::new();
    place.file("counting.sql", COUNTING);
    place.file(
        "tables.sql",
        "CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL, name varchar(9));\n\
         INSERT INTO counters VALUES (1, 0, 'a;b'), (2, 0, 'c'), (3, 0, NULL);\n\
         CREATE TABLE done (id int AUTO_INCREMENT PRIMARY KEY, counter int);\n",
    );
    let variants = ["-v", "my=mysql@8.0.31", "-v", "ma=mariadb@11.4.5"];
    let rest = ["--setup-file", "tables.sql", "--clients", "2", "--seconds", "1", "--blocks", "1"];
    let both = [&["counting.sql"][..], &variants, &rest].concat();
    place.run(&both).expect(0, &["script.warm", "transactions/s"]);
    let database = Database::of(&place.results());
    let found = database.metrics("script", "o/s");
    assert!(found.len() == 2 && found.iter().all(|rate| *rate > 0.0), "{found:?}");
    let refused = place.run(&[&["counting.sql"][..], &variants, &["--blocks", "1"]].concat());
    refused.expect(2, &["pgbench's tables (`setup_file` names others"]);
    place.assert_nothing_left();
}

#[test]
fn what_prepares_for_a_script_is_judged_only_where_it_is_named() {
    let place = Place::new();
    let file = place.plan(
        "name = \"named\"\nblocks = 1\nsteal_limit = 1\nsettle_seconds_scale = 0\n\
         pairing = \"slices\"\nslice_ms = 20\n\
         [variants.old]\ndbms = \"postgres@13.7\"\n[variants.new]\ndbms = \"postgres@18.1\"\n\
         [workload.script]\nbuiltin = \"select-only\"\nscale = 1\nseconds = 1\nwarm_seconds = 0\n",
    );
    let judged = || -> Vec<(String, bool)> {
        let compare = place.steelyard(&["compare", "--format", "json"]);
        compare.expect(0, &[]);
        let document: serde_json::Value = serde_json::from_str(&compare.stdout).unwrap();
        let steps = document["steps"].as_array().unwrap().iter();
        let of = |step: &serde_json::Value| {
            let once = step["loaded_once"].as_bool().unwrap();
            (step["name"].as_str().unwrap().to_owned(), !once)
        };
        steps.map(of).collect()
    };
    let told = "added for the others, loaded once per variant: load, vacuum, primary-keys";
    place.run(&[&file]).expect(0, &[told]);
    let of = |judged: [(&str, bool); 4]| judged.map(|(name, it)| (name.to_owned(), it)).to_vec();
    let prepared = [("load", false), ("vacuum", false), ("primary-keys", false), ("script", true)];
    assert_eq!(judged(), of(prepared));
    let loads = Database::of(&place.results()).texts(
        "SELECT CAST(t.block AS TEXT) FROM step s JOIN trial t ON t.id = s.trial_id \
         JOIN name n ON n.id = s.name_id WHERE n.text = 'load'",
    );
    assert_eq!(loads, ["0", "0"], "once for each version");
    place.run(&[&file, "--steps", "load,script"]).expect(0, &["script"]);
    assert_eq!(judged(), of(prepared.map(|(name, _)| (name, true))));
    place.assert_nothing_left();
}

#[test]
fn the_instructions_of_a_script_are_counted() {
    let place = Place::new();
    place.file("deposit.sql", DEPOSIT);
    let file = place.plan(
        "[variants.pg16]\ndbms = \"postgres@16\"\n\
         [workload.script]\nfile = \"deposit.sql\"\nscale = 1\n[count]\nstatements = 10\n",
    );
    place.steelyard(&["count", "--allow-concurrent", &file]).expect(0, &["deposit.sql"]);
    let database = Database::of(&place.results());
    let counts = database.texts("SELECT CAST(total / statements AS TEXT) FROM count");
    let counts: Vec<f64> = counts.iter().map(|text| text.parse().unwrap()).collect();
    // Four statements in each transaction, simple and prepared.
    assert!(counts.len() == 2 && counts.iter().all(|count| *count > 100_000.0), "{counts:?}");
    place.file("deposit.sql", "\\startpipeline\nSELECT 1;\n\\endpipeline\n");
    place
        .steelyard(&["count", "--allow-concurrent", &file])
        .expect(2, &["deposit.sql:1", "no pipelines"]);
    place.assert_nothing_left();
}

#[test]
fn scripts_of_a_plan_are_mixed_and_make_their_own_tables() {
    let place = Place::new();
    place.file(
        "own.sql",
        "CREATE TABLE own (id int PRIMARY KEY, n int);\n\
        INSERT INTO own SELECT i, 0 FROM generate_series(1, 100) i;\n",
    );
    place.file("a.sql", "\\set id random(1, :most)\nUPDATE own SET n = n + 1 WHERE id = :id;\n");
    place.file(
        "b.sql",
        "\\startpipeline\nSELECT n FROM own WHERE id = 1;\n\
        SELECT n FROM own WHERE id = 2;\n\\endpipeline\n",
    );
    let file = place.plan(
        "name = \"own\"\nblocks = 1\nsteal_limit = 1\nsettle_seconds_scale = 0\n\
         [variants.pg16]\ndbms = \"postgres@16\"\n\
         [workload.script]\nfile = [\"a.sql@3\", \"b.sql\"]\nsetup_file = \"own.sql\"\n\
         define = { most = 100 }\nseconds = 1\nwarm_seconds = 0\nrate = 500\n\
         latency_limit = 100\nmax_tries = 3\nprotocol = [\"extended\", \"prepared\"]\n",
    );
    place.run(&[&file]).expect(0, &["script{protocol=extended}", "script{protocol=prepared}"]);
    // At most the rate of the schedule. What was due is done or failed, is skipped because it was
    // late, or waited in vain; all but the skipped have a response time. Random times of 500 per
    // second scatter by 22.
    let database = Database::of(&place.results());
    let [done, failed, skipped] = ["o/s", "transaction.failed", "transaction.skipped"]
        .map(|name| database.metrics("script", name));
    let timed = database.texts(
        "SELECT CAST(h.count AS TEXT) FROM histogram h JOIN step s ON s.id = h.step_id \
         JOIN name n ON n.id = s.name_id WHERE h.class = 'transaction' AND n.text = 'script'",
    );
    assert_eq!((done.len(), timed.len()), (2, 2));
    for (at, timed) in timed.iter().enumerate() {
        let timed: f64 = timed.parse().unwrap();
        let due = timed + failed[at] + skipped[at];
        assert!((380.0..620.0).contains(&due), "{timed} timed, {failed:?}, {skipped:?}");
        assert!(done[at] > 0.0 && done[at] <= timed, "{done:?} done, {timed} timed");
    }
}

#[test]
fn mistakes_are_told_with_their_place_before_anything_starts() {
    let place = Place::new();
    for (text, parts) in [
        ("SELECT 1;\n\\set x randm(1, 2)\n", &["bad.sql:2:8:", "did you mean random?"][..]),
        ("SELECT :nothing;\n", &["bad.sql:1:8:", "nothing sets the variable :nothing"]),
        ("\\if 1\nSELECT 1;\n", &["bad.sql:1:1:", "\\if"]),
        ("\\shell ls\n", &["bad.sql:1:1:", "\\shell is not supported"]),
    ] {
        place.file("bad.sql", text);
        place.run(&["bad.sql", "-v", "postgres@16"]).expect(2, parts);
    }
    place
        .run(&["none.sql", "-v", "postgres@16"])
        .expect(2, &["none.sql", "cannot read", "relative to the current directory"]);
    assert!(!place.results().exists() && !place.data().exists(), "nothing is begun");
    // An error that shows only while it runs ends the run, and is not a result.
    place.file("late.sql", "SELECT 1 / (:client_id::int - :client_id::int);\n");
    let late = ["late.sql", "-v", "postgres@16", "--scale", "1", "--seconds", "1", "--blocks", "1"];
    place.run(&late).expect(3, &["division by zero", "can't change that"]);
    // Nor would it ever be one.
    place.run(&["--resume"]).expect(2, &["would fail again", "division by zero"]);
    let list = place.steelyard(&["list"]).stdout;
    assert!(list.contains("\tfailed\t0\t"), "{list}");
    assert!(Database::of(&place.results()).metrics("script", "o/s").is_empty());
}
