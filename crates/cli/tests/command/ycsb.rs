//! The workloads derived from YCSB on real systems.

use serde_json::Value;

use crate::count::{can_count, per_statement};
use crate::place::Place;

/// The metrics of an experiment, after a run of all steps.
fn metrics(options: &[&str]) -> Vec<Value> {
    let place = Place::new();
    let small = ["--records", "1050", "--dop", "2", "--seconds", "1", "--blocks", "1"];
    place.run(&[&["ycsb"][..], options, &small].concat()).expect(0, &["load"]);
    let asked = ["compare", "--format", "json", "--metric", "o/s,read.p99,update.p99,scan.p99"];
    let compare = place.steelyard(&asked);
    compare.expect(0, &[]);
    place.assert_nothing_left();
    let document: Value = serde_json::from_str(&compare.stdout).unwrap();
    document["metrics"].as_array().unwrap().clone()
}

/// The steps that have a ratio.
fn steps(metric: &Value) -> Vec<&str> {
    let comparisons = metric["comparisons"].as_array().unwrap().iter();
    let mut steps: Vec<&str> = comparisons.map(|it| it["step"].as_str().unwrap()).collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

#[test]
fn each_kind_of_operation_has_its_own_times() {
    let metrics = metrics(&["-v", "pg=postgres@14.3", "-v", "my=mysql@8.0.31"]);
    let of: Vec<Vec<&str>> = metrics.iter().map(steps).collect();
    assert_eq!(of[0], ["a", "b", "c", "d", "e", "f", "load"]);
    assert_eq!(of[1..], [vec!["a", "b", "c", "d", "f"], vec!["a", "b"], vec!["e"]]);
}

#[test]
fn records_are_also_values_by_key() {
    let metrics = metrics(&["-v", "a=rocksdb@7.4.5", "-v", "b=rocksdb@10.10.1"]);
    assert_eq!(steps(&metrics[0]).len(), 7);
}

#[test]
fn operations_are_counted() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let plan = "name = \"counted\"\n[variants.a]\ndbms = \"postgres@14.3\"\n\
                [workload.ycsb]\n[count]\nrows = 1000\nstatements = 6\nprotocols = [\"prepared\"]\n";
    let document = place.counted(plan);
    let kinds = ["read", "update", "insert", "scan-50"];
    let [read, update, insert, scan] =
        kinds.map(|kind| per_statement(&document, kind, "prepared", "a"));
    assert!(scan > 5.0 * read && insert > read && update > read, "{read} {update} {insert} {scan}");
    place.assert_nothing_left();
}
