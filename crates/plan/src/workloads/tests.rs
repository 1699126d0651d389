//! A workload for tests: what it takes to add one. A sweep over numbers of clients whose server is
//! not restarted between them, because reads leave the data as they are.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::collections::BTreeMap;
use std::path::Path;

use crate::family::{Family, PlannedStep, Sequence};
use crate::key::{CommandOption, Form, Key, Keyed, dops};
use crate::problem::Problems;
use crate::{Plan, ShortForm, WorkloadPlan};

/// `[workload.toy]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToyPlan {
    rows: u64,
    dop: Vec<u32>,
    seconds: u32,
}

impl Default for ToyPlan {
    fn default() -> Self {
        ToyPlan { rows: 1000, dop: vec![1, 2, 4], seconds: 5 }
    }
}

impl Keyed for ToyPlan {
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::whole("rows", &mut self.rows, 1..1_000_001).note("in the table"),
            Key::new("dop", &mut self.dop, dops).note("clients, one step each"),
            Key::whole("seconds", &mut self.seconds, 1..1001),
        ]
    }
}

impl Family for ToyPlan {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn options(&self) -> &'static [CommandOption] {
        &[CommandOption {
            key: "seconds",
            name: "seconds",
            value: "S",
            form: Form::Count,
            help: "Seconds of each step",
        }]
    }

    fn check(&self, problems: &mut Problems) {
        if self.dop.contains(&3) {
            problems.of("workload.toy.dop", "`dop`: three is a crowd");
        }
    }

    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &str, dop: u32, timed| PlannedStep {
            name: name.to_owned(),
            dop,
            labels: BTreeMap::new(),
            timed,
        };
        let reads = self.dop.iter().map(|dop| step("read", *dop, true));
        vec![Sequence {
            key: 0,
            steps: [step("fill", 1, false)].into_iter().chain(reads).collect(),
        }]
    }

    fn clear_steps(&mut self) {
        self.dop.clear();
    }

    fn rows(&mut self) -> Vec<&mut u64> {
        vec![&mut self.rows]
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.seconds]
    }

    fn rows_of(&self, _: &str) -> u64 {
        self.rows
    }
}

const PLAN: &str = "restore_after = \"fill\"\n[variants.a]\ndbms = \"postgres@14.3\"\n\
    [variants.b]\ndbms = \"postgres@15.1\"\n[workload.toy]\ndop = [1, 8]\n";

#[test]
fn a_plan_is_read_written_and_scheduled() {
    let plan = Plan::parse(PLAN, None, "test").unwrap();
    assert_eq!((plan.name.as_str(), plan.workload.name()), ("toy", "toy"));
    let toy = ToyPlan { dop: vec![1, 8], ..ToyPlan::default() };
    assert_eq!(plan.workload, WorkloadPlan::Toy(toy));
    let written = Plan::parse(&plan.to_toml(), Some(Path::new(".")), "written").unwrap();
    assert_eq!(written, Plan { text: plan.to_toml(), ..plan.clone() });
    let [sequence] = &plan.workload.sequences()[..] else { panic!("a server for each dop") };
    assert_eq!((plan.loaded_steps(sequence), sequence.place("read", 8)), (1, Some(2)));
    assert_eq!((sequence.place("read", 2), sequence.steps[2].timed), (None, true));
    for block in plan.schedule(1) {
        let mut trials: Vec<_> = block.trials.iter().map(|t| (t.variant, t.sequence)).collect();
        trials.sort_unstable();
        assert_eq!(trials, [(0, 0), (1, 0)], "once through all steps");
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
            "test:1:1: `restore_after` is `feed`, which is no step of this plan; its steps are fill, read",
        ),
        (
            ".toy]\n",
            ".insert]\n[workload.toy]\n",
            "test:7:11: the workload is `insert` already; remove one",
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
    same.set_seconds(5);
    assert_eq!(same.without_steps(), other.without_steps(), "but for the steps");
}

#[test]
fn the_short_form_has_its_options() {
    let short = ShortForm {
        workload: WorkloadPlan::named("toy").unwrap(),
        variants: vec![("a".to_owned(), "postgres@14.3".to_owned())],
        config: vec![],
        options: vec![("seconds".to_owned(), "7".to_owned())],
    };
    let plan = Plan::short(&short).unwrap();
    assert_eq!((plan.workload.name(), plan.workload.seconds()), ("toy", Some(7)));
    let rows = ShortForm { options: vec![("rows".to_owned(), "7".to_owned())], ..short };
    let error = Plan::short(&rows).unwrap_err().to_string();
    assert_eq!(error, "the short form: `--rows` is no option of `toy`");
}
