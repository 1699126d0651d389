//! The queries derived from TPC-H on real servers.

use serde_json::Value;

use crate::count::{can_count, per_statement};
use crate::place::Place;

#[test]
fn systems_give_the_same_answers() {
    let place = Place::new();
    let ran = place.run(
        &[
            &["tpch", "-v", "old=postgres@13.7", "-v", "new=postgres@14.3"][..],
            &["-v", "my=mysql@8.0.31"],
            &["--scale", "0.01", "--substitutions", "2", "--clients", "2"],
            &["--steps", "q1,q6,q7,q8,q9,q13,rf1,rf2,power,throughput"],
            &["--seconds", "1", "--blocks", "1"],
        ]
        .concat(),
    );
    ran.expect(0, &["load", "index"]);
    let compare = place.steelyard(&["compare", "--format", "json"]);
    compare.expect(0, &[]);
    let document: Value = serde_json::from_str(&compare.stdout).unwrap();
    let warnings = document["warnings"].as_array().unwrap();
    let wrong = |it: &&Value| it["code"] == "wrong-result" || it["code"] == "query-failed";
    assert_eq!(warnings.iter().find(wrong), None);
    let comparisons = document["metrics"][0]["comparisons"].as_array().unwrap();
    let mut steps: Vec<&str> = comparisons.iter().map(|it| it["step"].as_str().unwrap()).collect();
    steps.sort_unstable();
    steps.dedup();
    let wanted = ["power", "q1", "q13", "q6", "q7", "q8", "q9", "rf1", "rf2", "throughput"];
    assert_eq!(steps, wanted);
    for (metric, step) in [("power.geomean", "power"), ("query.geomean", "throughput")] {
        let compare = place.steelyard(&["compare", "--metric", metric, "--format", "json"]);
        compare.expect(0, &[]);
        let document: Value = serde_json::from_str(&compare.stdout).unwrap();
        let found = document["metrics"][0]["comparisons"].as_array().unwrap();
        let ratio = |it: &&Value| it["step"] == step && it["ratio"].as_f64().is_some();
        assert!(found.iter().any(|it| ratio(&it)), "{metric}: {found:?}");
    }
    place.assert_nothing_left();
}

#[test]
fn a_test_with_other_answers_has_no_verdict() {
    let place = Place::new();
    let ran = place.run(&[
        "tpch",
        "-v",
        "one=postgres@14.3",
        "-v",
        "german=postgres@14.3",
        "-c",
        "german.DateStyle=German",
        "--scale",
        "0.01",
        "--steps",
        "power,throughput",
        "--blocks",
        "1",
    ]);
    ran.expect(0, &[]);
    let compare = place.steelyard(&["compare", "--format", "json"]);
    compare.expect(0, &[]);
    let document: Value = serde_json::from_str(&compare.stdout).unwrap();
    let warnings = document["warnings"].as_array().unwrap();
    for step in ["power", "throughput"] {
        let wrong = |it: &&Value| {
            it["code"] == "wrong-result" && it["step"] == step && it["variant"] == "german"
        };
        assert!(warnings.iter().any(|it| wrong(&it)), "{step}: {warnings:?}");
    }
    let comparisons = document["metrics"][0]["comparisons"].as_array().unwrap();
    let ratio = comparisons.iter().find(|it| it["ratio"].as_f64().is_some());
    assert_eq!(ratio, None);
    place.assert_nothing_left();
}

#[test]
fn queries_are_counted() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let plan = "name = \"counted\"\n[variants.a]\ndbms = \"postgres@14.3\"\n\
                [workload.tpch]\nscale = 0.01\nsteps = [\"q1\", \"q6\"]\n\
                [count]\nstatements = 6\nprotocols = [\"simple\"]\n";
    let document = place.counted(plan);
    let [all, revenue] = ["q1", "q6"].map(|kind| per_statement(&document, kind, "simple", "a"));
    // Both read the 60,175 lines; the first makes eight sums of most of them.
    assert!(revenue > 60_175.0 && all > 2.0 * revenue, "{all}, {revenue}");
    place.assert_nothing_left();
}
