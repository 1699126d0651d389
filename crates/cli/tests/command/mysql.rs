//! MySQL and MariaDB, beside PostgreSQL, through the whole command.

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
    // Settling is one, too.
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
