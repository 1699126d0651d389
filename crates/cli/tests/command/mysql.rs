//! MySQL and MariaDB, together with PostgreSQL, through the whole command.

use crate::database::Database;
use crate::place::Place;

/// A plan with these variants.
fn plan(top: &str, variants: &str) -> String {
    format!(
        "name = \"engines\"\nblocks = 1\nsteal_limit = 1\nsettle_seconds_scale = 0\n{top}\n{variants}\n\
         [workload.insert]\nrows = 3_000\nindexed_rows = 1_000\n\
         steps = [\"l.i0\", \"l.x\", \"l.i1\", \"l.i2\", \"qr100\", \"qp100\"]\nread_write_seconds = 1\n"
    )
}

#[test]
fn three_systems_run_the_same_benchmark_with_the_same_durability() {
    let place = Place::new();
    let variants = "[variants.pg]\ndbms = \"postgres@17\"\n\
        [variants.my]\ndbms = \"mysql@5.6.24\"\nconfig = { innodb_buffer_pool_size = \"64MB\" }\n\
        [variants.ma]\ndbms = \"mariadb@10.11.5\"\n";
    let file = place.plan(&plan("durability = \"relaxed\"", variants));
    let ran = place.run(&[&file]);
    ran.expect(0, &["l.x", "settle", "qp100"]);
    assert!(ran.stdout.contains("! systems-differ: these are"), "{}", ran.stdout);
    let database = Database::of(&place.results());
    database.assert_sound();
    let count = |sql: &str| database.texts(&format!("SELECT CAST(count(*) AS TEXT) FROM {sql}"));
    // Settling is a step, too.
    assert_eq!(count("step"), ["21"]);
    let warned = database.texts("SELECT code FROM warning WHERE trial_id IS NULL");
    assert!(warned.contains(&"systems-differ".to_owned()), "{warned:?}");
    let config = database.texts("SELECT config FROM variant").join("\n");
    for set in ["innodb_flush_log_at_trx_commit", "synchronous_commit"] {
        assert!(config.contains(set), "{config}");
    }
    drop(database);
    let compared = place.steelyard(&["compare"]);
    compared.expect(0, &[]);
    assert!(compared.stdout.contains("these are different systems"), "{}", compared.stdout);
    let sizes = place.steelyard(&["compare", "--tables", "size"]).stdout;
    assert!(["pg", "my", "ma", "total"].iter().all(|part| sizes.contains(part)), "{sizes}");
    place.assert_nothing_left();
}

/// Within a budget only the requested steps are judged; the steps they need run once per variant.
#[test]
fn a_budget_goes_to_the_named_step() {
    let place = Place::new();
    let variants = ["-v", "my=mysql@5.6.24", "-v", "ma=mariadb@10.11.5"];
    let steps = ["--steps", "point-query", "--rows", "2000", "--budget", "20s"];
    let ran = place.run(&[&["sysbench"][..], &variants[..], &steps[..]].concat());
    let added = "added for the others, loaded once per variant: load, index";
    ran.expect(0, &[added, "load of my", "load of ma"]);
    let database = Database::of(&place.results());
    database.assert_sound();
    let ran_in = |name: &str, blocks: &str| {
        database.number(&format!(
            "SELECT count(*) FROM step s JOIN name n ON n.id = s.name_id \
             JOIN trial t ON t.id = s.trial_id \
             WHERE t.state = 'finished' AND n.text = '{name}' AND t.block {blocks}"
        ))
    };
    for preparation in ["load", "index"] {
        let counts = [ran_in(preparation, "= 0"), ran_in(preparation, "> 0")];
        assert_eq!(counts, [2, 0], "{preparation}");
    }
    let restarts = ran_in("point-query", "> 0");
    assert!(restarts >= 2 && restarts % 2 == 0, "{restarts}");
    assert_eq!(ran_in("point-query", "= 0"), 0);
    assert_eq!(ran_in("restore", "> 0"), restarts, "each begins on a copy of the load");
    drop(database);
    let json = place.steelyard(&["compare", "--format", "json"]);
    json.expect(0, &[]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let comparisons = document["metrics"][0]["comparisons"].as_array().unwrap();
    assert!(comparisons.iter().any(|found| found["step"] == "point-query"), "{document}");
    let verdicts = ["regression", "improvement", "equivalent"];
    for found in comparisons.iter().filter(|found| found["step"] != "point-query") {
        assert!(!verdicts.iter().any(|verdict| found["verdict"] == *verdict), "{found}");
    }
    place.assert_nothing_left();
}

#[test]
fn what_a_system_cannot_do_is_refused_before_anything_starts() {
    let place = Place::new();
    let variant = |more: &str| format!("[variants.a]\ndbms = \"mysql@5.6.24\"\n{more}\n");
    let relaxed = "durability = \"relaxed\"";
    for (top, more, exit, message) in [
        ("", "engine = \"aria\"", 2, "choose one of innodb, myrocks"),
        ("", "config = { port = 3306 }", 2, "port"),
        (relaxed, "config = { innodb_flush_log_at_trx_commit = 1 }", 2, "remove one of the two"),
        (relaxed, "config = { Innodb-flush-log-at-trx-commit = 1 }", 2, "remove one of the two"),
    ] {
        let file = place.plan(&plan(top, &variant(more)));
        place.run(&[&file]).expect(exit, &["a", message]);
    }
    place.assert_nothing_left();
}

/// A step whose statements differ runs in turns, on each system with its own.
#[test]
fn each_system_gets_its_own_statements_in_turns() {
    let place = Place::new();
    let variants =
        "[variants.my]\ndbms = \"mysql@5.6.24\"\n[variants.pg]\ndbms = \"postgres@17\"\n";
    let text = plan("pairing = \"slices\"\nslice_ms = 40\nbase = \"my\"", variants);
    // Long enough for slices on both.
    let (text, _) = text.split_once("steps = ").unwrap();
    let text = text.replace("rows = 3_000", "rows = 40_000");
    let file = place.plan(&format!("{text}steps = [\"l.i0\", \"l.x\"]\n"));
    place.run(&[&file]).expect(0, &["l.x"]);
    let database = Database::of(&place.results());
    database.assert_sound();
    let notes = database
        .texts("SELECT notes FROM step s JOIN name n ON n.id = s.name_id WHERE n.text = 'l.x'");
    assert_eq!(notes.len(), 2);
    assert!(
        notes.iter().all(|it| it.contains("its statements differ between the variants")),
        "{notes:?}"
    );
}
