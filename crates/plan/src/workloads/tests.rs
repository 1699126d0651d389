//! A workload through the general doors, shown with the toy.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::path::Path;

use super::toy::ToyPlan;
use crate::{Layer, Plan, WorkloadPlan};

const PLAN: &str = "restore_after = \"fill\"\n[variants.a]\ndbms = \"postgres@14.3\"\n\
    [variants.b]\ndbms = \"postgres@15.1\"\n[workload.toy]\ndop = [1, 8]\n";

/// Keys that are all alike say nothing about clients.
#[test]
fn the_clients_of_a_sequence_are_those_of_its_steps() {
    let clients = |workload: &str, keys: &str| {
        let text =
            format!("[variants.a]\ndbms = \"postgres@14.3\"\n[workload.{workload}]\n{keys}\n");
        let sequences = Plan::parse(&text, None, "test").unwrap().workload.sequences();
        sequences.iter().map(|sequence| sequence.clients().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(clients("sysbench", "tables = 16\ndop = 16\nload_dop = 16"), ["dop 16"]);
    assert_eq!(clients("sysbench", "dop = 16\nload_dop = 2"), ["dop 2 to 16"]);
    assert_eq!(clients("select", "clients = 16"), ["dop 1 to 16"]);
    assert_eq!(clients("kv", "dop = 16\nsteps = [\"fillseq\", \"readrandom\"]"), ["dop 1 to 16"]);
    assert_eq!(clients("storage", "dop = 16"), ["dop 16"]);
    assert_eq!(clients("insert", "dop = [1, 16]"), ["dop 1", "dop 16"]);
    assert_eq!(clients("script", "builtin = \"tpcb-like\"\nclients = [16]"), ["dop 1 to 16"]);
}

#[test]
fn what_named_steps_need_is_added() {
    for (workload, keys, added, all) in [
        ("insert", "steps = ['qr100']", &["l.i0", "l.x"][..], &["l.i0", "l.x", "qr100"][..]),
        ("insert", "steps = ['l.i0', 'qr100']", &["l.x"], &["l.i0", "l.x", "qr100"]),
        ("insert", "steps = ['l.x', 'qp100']", &["l.i0"], &["l.i0", "l.x", "qp100"]),
        ("insert", "steps = ['qp100']", &["l.i0"], &["l.i0", "qp100"]),
        ("insert", "secondary_indexes = 0\nsteps = ['qr100']", &["l.i0"], &["l.i0", "qr100"]),
        ("sysbench", "steps = ['load', 'scan']", &["index"], &["load", "index", "scan"]),
        ("kv", "steps = ['readrandom']", &["fillseq"], &["fillseq", "readrandom"]),
        ("kv", "steps = ['fillseq.2', 'readrandom']", &[], &["fillseq.2", "readrandom"]),
        ("storage", "steps = ['randread.4k']", &[], &["randread.4k"]),
    ] {
        let text = format!("[variants.a]\ndbms = 'postgres@14.3'\n[workload.{workload}]\n{keys}\n");
        let plan = Plan::parse(&text, None, "test").unwrap();
        assert_eq!(plan.added, added, "{keys}");
        let sequence = plan.workload.sequences().remove(0);
        let names: Vec<_> = sequence.steps.iter().map(|step| step.key.name.as_str()).collect();
        assert_eq!(names, all, "{keys}");
    }
}

#[test]
fn a_plan_is_read_written_and_scheduled() {
    let plan = Plan::parse(PLAN, None, "test").unwrap();
    assert_eq!((plan.name.as_str(), plan.workload.name()), ("toy", "toy"));
    let toy = ToyPlan { dop: vec![1, 8], ..ToyPlan::default() };
    assert_eq!(plan.workload, WorkloadPlan::Toy(toy));
    let written = Plan::parse(&plan.to_toml(), Some(Path::new(".")), "written").unwrap();
    assert_eq!(written, Plan { text: plan.to_toml(), given: written.given, ..plan.clone() });
    let [sequence] = &plan.workload.sequences()[..] else { panic!("a server for each dop") };
    assert_eq!((plan.loaded_steps(sequence), sequence.steps.len()), (1, 5));
    for (place, step) in sequence.steps.iter().enumerate() {
        assert_eq!(sequence.place(&step.key), Some(place));
        assert_eq!(step.timed, place > 0);
    }
    assert_eq!(sequence.clients().to_string(), "dop 1 to 8");
    for block in plan.schedule(1) {
        let mut trials: Vec<_> =
            block.trials.iter().map(|t| (t.variant, t.sequence.number())).collect();
        trials.sort_unstable();
        assert_eq!(trials, [(0, 1), (1, 1)], "once through all steps");
    }
}

#[test]
fn mistakes_are_told_with_their_places() {
    for (good, bad, message) in [
        ("[1, 8]", "[1, 3]", "test:7:1: `dop`: three is a crowd"),
        ("dop =", "dops =", "test:7:1: unknown key `dops` in [workload.toy]; did you mean `dop`?"),
        ("[1, 8]", "0", "test:7:7: `dop` in [workload.toy]: expected a whole number from 1"),
        (
            "fill",
            "read",
            "test:1:1: `restore_after` is `read`, a timed step; name the last step of the load, such as fill",
        ),
        (
            "\"fill\"",
            "\"feed\"",
            "test:1:1: `restore_after` is `feed`, which is not a step of this plan; its steps are fill, read",
        ),
        (
            ".toy]\n",
            ".insert]\n[workload.toy]\n",
            "test:7:11: the workload is `insert` already; remove one of them",
        ),
    ] {
        let error = Plan::parse(&PLAN.replace(good, bad), None, "test").unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn lengths_and_rows_can_be_changed_from_outside() {
    let mut plan = Plan::parse(PLAN, None, "test").unwrap();
    plan.workload.set_rows(|rows| 3 * rows);
    plan.workload.set_seconds(60);
    assert_eq!((plan.workload.rows(), plan.workload.seconds()), (vec![3000], Some(60)));
    let other = Plan::parse(&PLAN.replace("[1, 8]", "2"), None, "test").unwrap().workload;
    let mut same = plan.workload.clone();
    assert_ne!(same.without_steps(), other.without_steps());
    same.set_rows(|_| 1000);
    same.set_seconds(1);
    assert_eq!(same.without_steps(), other.without_steps(), "but for the steps");
}

#[test]
fn the_short_form_has_its_options() {
    let toy = WorkloadPlan::named("toy").unwrap();
    let mut layer = Layer::default();
    layer.set("-v", &["variants", "a", "dbms"], &"postgres@14.3");
    layer.option("seconds", "7");
    let plan = Plan::short(&toy, &layer).unwrap();
    assert_eq!((plan.workload.name(), plan.workload.seconds()), ("toy", Some(7)));
    layer.option("rows", "7");
    let error = Plan::short(&toy, &layer).unwrap_err().to_string();
    assert_eq!(error, "the short form: `--rows` is not an option of `toy`");
}
