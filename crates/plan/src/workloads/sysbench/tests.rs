#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use super::*;
use crate::{Plan, WorkloadPlan};

fn parsed(section: &str) -> Result<Plan, crate::PlanError> {
    let text = format!("[variants.a]\ndbms = \"postgres@15.1\"\n[workload.sysbench]\n{section}");
    Plan::parse(&text, None, "test")
}

fn steps(section: &str) -> Vec<String> {
    let plan = parsed(section).unwrap();
    let WorkloadPlan::Sysbench(sysbench) = &plan.workload else { panic!("{plan:?}") };
    // A written plan says the same without the order that it was made from.
    let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
    assert_eq!(written.workload, plan.workload);
    sysbench.steps.clone()
}

#[test]
fn steps_are_dropped_moved_and_repeated() {
    let small = steps("");
    assert_eq!(small, SysbenchOrder::Small.steps());
    assert_eq!(steps("drop = [\"update-one\"]").len(), small.len() - 1);
    let place = |steps: &[String], name: &str| steps.iter().position(|step| step == name).unwrap();
    let moved = steps(
        "[workload.sysbench.before]\n\"update-one\" = [\"write-only\", \"read-write range=10\"]\n\
         [workload.sysbench.after]\nscan = [\"scan.2\"]",
    );
    assert_eq!(moved.len(), small.len() + 1);
    let one = place(&moved, "update-one");
    assert_eq!(moved[one - 2..one], ["write-only_range=10000", "read-write_range=10"]);
    assert_eq!(place(&moved, "scan.2"), place(&moved, "scan") + 1);
    assert_eq!(steps("sequence = \"full\"").len(), 60);
}

#[test]
fn a_subset_is_loaded_first() {
    assert_eq!(steps("steps = [\"update-zipf\"]"), ["load", "index", "update-zipf"]);
    assert_eq!(steps("steps = [\"load\", \"scan\"]"), ["load", "index", "scan"]);
}

#[test]
fn tests_run_with_all_numbers_of_clients() {
    let section = "steps = [\"scan.warm\", \"settle\", \"delete\"]\ndop = [1, 4]\nload_dop = 8\n\
                   read_seconds = 7";
    let plan = parsed(section).unwrap();
    let [sequence] = &plan.workload.sequences()[..] else { panic!("one system for all") };
    let of = |step: &PlannedStep| (step.key.name.clone(), step.key.dop, step.timed, step.warm_up);
    let step = |name: &str, dop, timed, warm_up| (name.to_owned(), dop, timed, warm_up);
    assert_eq!(
        sequence.steps.iter().map(of).collect::<Vec<_>>(),
        [
            step("load", 2, false, false),
            step("index", 2, false, false),
            step("scan.warm", 1, true, true),
            step("scan.warm", 4, true, true),
            step("delete", 1, true, false),
            step("delete", 4, true, false),
        ]
    );
    let WorkloadPlan::Sysbench(sysbench) = &plan.workload else { panic!("{plan:?}") };
    assert_eq!(sysbench.seconds_of("scan.warm"), Some(7));
    assert_eq!(sysbench.seconds_of("insert"), Some(5));
    assert_eq!(sysbench.seconds_of("load"), None);
}

#[test]
fn mistakes_are_told() {
    for (section, message) in [
        ("steps = [\"scan\", \"scan\"]", "to run it again, name it `scan.2`"),
        ("steps = [\"update-zip\"]", "did you mean `update-zipf`?"),
        ("drop = [\"update-zip\"]", "did you mean `update-zipf`?"),
        ("drop = [\"scan.2\"]", "`scan.2` is in `drop`, `before` or `after`"),
        ("before = [\"scan\"]", "expected a table such as"),
        ("steps = [\"scan\", \"load\", \"index\"]", "`load` comes after `scan`"),
        ("steps = [\"load\", \"index\", \"load.2\"]", "`load.2` would load twice"),
        ("distribution = \"even\"", "expected \"uniform\", \"zipfian\" or \"special\""),
    ] {
        let error = parsed(section).unwrap_err().to_string();
        assert!(error.contains(message), "{section}: {error}");
    }
}
