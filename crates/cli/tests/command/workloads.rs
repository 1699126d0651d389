//! Options of the workload: they run, and the results say so.

use crate::database::Database;
use crate::place::Place;
use crate::plans::{ONE, plan};

fn ran(workload: &str) -> (Place, Database) {
    let place = Place::new();
    let file = place.plan(&plan(ONE, "", workload));
    place.run(&[&file]).expect(0, &[]);
    let database = Database::of(&place.results());
    assert_eq!(database.finished().len(), 1, "{:?}", database.trials());
    (place, database)
}

/// Operations of a step.
fn operations(database: &Database, step: &str) -> i64 {
    database.number(&format!(
        "SELECT operations FROM step s JOIN name n ON n.id = s.name_id WHERE n.text = '{step}'"
    ))
}

fn tables(database: &Database, step: &str) -> Vec<String> {
    database.texts(&format!(
        "SELECT t.text FROM size z JOIN name t ON t.id = z.object_id JOIN step s ON s.id = z.step_id \
         JOIN name n ON n.id = s.name_id WHERE n.text = '{step}' AND z.name = 'total' \
         ORDER BY z.ordinal"
    ))
}

#[test]
fn two_clients_with_a_table_each() {
    let (_place, database) = ran("dop = [2]\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]");
    assert_eq!(tables(&database, "l.i0"), ["pi1", "pi2"]);
    assert_eq!(operations(&database, "l.i0"), 5000);
    assert_eq!(database.trials()[0].dop, 2);
    // 100 rows/s for each client.
    assert_eq!(database.metric("qr100", "insert.target"), Some(200.0));
}

#[test]
fn two_clients_and_one_table() {
    let (_place, database) =
        ran("dop = [2]\ntables = \"shared\"\nsteps = [\"l.i0\", \"l.x\", \"l.i1\", \"qp100\"]");
    assert_eq!(tables(&database, "qp100"), ["pi1"]);
    assert!(database.counter("l.i1", "n_tup_ins") >= 800.0);
}

#[test]
fn deletes_follow_the_inserts_and_inserts_are_prepared() {
    let (_place, database) =
        ran("delete_per_insert = true\nprepared_inserts = true\nprepared_queries = false\n\
         steps = [\"l.i0\", \"l.x\", \"l.i1\", \"l.i2\", \"qr1000\"]");
    let inserted = database.counter("qr1000", "n_tup_ins");
    let deleted = database.counter("qr1000", "n_tup_del");
    // 50 rows in each of twenty statements; one may be under way at the end.
    let [done, due] =
        ["insert.done", "insert.due"].map(|name| database.metric("qr1000", name).unwrap());
    assert!((19.0..=20.0).contains(&due) && done <= due, "{done} of {due}");
    let more = inserted - 50.0 * done;
    assert!((0.0..=50.0).contains(&more), "{inserted} rows in {done} statements");
    // They have a schedule of their own, which a busy machine may be behind by some statements.
    assert!(deleted > 0.0 && deleted <= inserted + 100.0, "{inserted} {deleted}");
    assert!(database.metric("qr1000", "delete.rate").unwrap() > 0.0);
    // Settled once, after l.i2.
    let steps: Vec<_> = database.steps(1).into_iter().map(|(name, _)| name).collect();
    assert_eq!(steps, ["l.i0", "l.x", "l.i1", "l.i2", "settle", "qr1000"]);
    let plan = database.texts("SELECT plan FROM experiment").remove(0);
    assert!(plan.contains("prepared_inserts = true"), "{plan}");
}

#[test]
fn partitions_and_a_held_transaction() {
    let (_place, database) =
        ran("partitions = 4\nhold_transaction_seconds = 1\nread_write_seconds = 2\n\
         steps = [\"l.i0\", \"l.x\", \"l.i1\", \"qr100\"]");
    assert_eq!(operations(&database, "l.i1"), 800);
    assert_eq!(tables(&database, "l.i1"), ["pi1"], "the partitions are summed");
    assert!(database.counter("l.i1", "n_tup_ins") >= 800.0);
    let plan = database.texts("SELECT plan FROM experiment").remove(0);
    assert!(plan.contains("partitions = 4") && plan.contains("hold_transaction_seconds = 1"));
}

#[test]
fn no_secondary_index() {
    let (_place, database) = ran("secondary_indexes = 0\nsteps = [\"l.i0\", \"qp100\"]");
    assert!(database.metric("qp100", "o/s").unwrap() > 0.0);
}

#[test]
fn an_installation_and_more_than_one_dop() {
    let path = "/usr/lib/postgresql/15";
    if !std::path::Path::new(path).join("bin/postgres").exists() {
        return testing::skip(format_args!("{path} is not installed"));
    }
    let place = Place::new();
    let reference = format!("path:{path}");
    let file = place.plan(&plan(
        &[("pg15", &reference)],
        "",
        "dop = [1, 2]\nrows = 2000\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]",
    ));
    place.run(&[&file]).expect(0, &["trial 2/2"]);
    let database = Database::of(&place.results());
    let mut dops: Vec<_> = database.finished().iter().map(|trial| trial.dop).collect();
    dops.sort_unstable();
    assert_eq!(dops, [1, 2]);
    let json = place.steelyard(&["compare", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(document["steps"].as_array().unwrap().len(), 6);
}
