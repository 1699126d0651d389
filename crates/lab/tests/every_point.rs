//! Runs that end at any point whatever: what is finished is kept, nothing is left running, and
//! `--resume` brings the experiment to the same end.

use std::time::Duration;

use lab::Error;
use plan::Plan;
use store::{ExperimentState, TrialState};

use crate::common::world::Fault;
use crate::common::{Site, Trial};

const STEPS: &str = "rows = 200\nsteps = [\"l.i0\", \"l.x\"]";

fn blocks() -> Box<Plan> {
    Site::plan(&["a", "b"], "blocks = 1", STEPS)
}

fn settling() -> Box<Plan> {
    let steps = "rows = 200\nindexed_rows = 100\nsecondary_indexes = 0\n\
                 steps = [\"l.i0\", \"l.i1\", \"l.i2\"]";
    Site::plan(&["a"], "blocks = 1", steps)
}

fn restored() -> Box<Plan> {
    Site::plan(&["a", "b"], "blocks = 1\nrestore_after = \"l.i0\"", STEPS)
}

fn joint() -> Box<Plan> {
    let steps = "rows = 4000\nsteps = [\"l.i0\", \"l.x\"]";
    Site::plan(&["a", "b"], "blocks = 1\npairing = \"slices\"\nslice_ms = 2", steps)
}

/// What a trial is, whichever attempt it was.
fn essence(trials: &[Trial]) -> Vec<(u32, String, Vec<String>)> {
    let mut all: Vec<_> =
        trials.iter().map(|t| (t.block, t.variant.clone(), t.steps.clone())).collect();
    all.sort();
    all
}

fn site() -> Site {
    let site = Site::new();
    // In joint blocks slices have to be shorter than their step.
    site.world.set_delay(|_, _| Duration::from_micros(500));
    site
}

/// A run without any trouble.
fn undisturbed(plan: &Plan) -> Site {
    let mut site = site();
    site.run(plan).unwrap();
    site
}

/// Runs a plan to its end or to what is to happen, and on from there. `whole`: how it ends.
fn ends_well(mut site: Site, plan: &Plan, whole: &Site, fails: bool, what: &str) {
    let wanted = essence(&whole.finished());
    let result = site.run(plan);
    let kept = if site.path().join("results").exists() { site.finished() } else { Vec::new() };
    for trial in essence(&kept) {
        assert!(wanted.contains(&trial), "{what}: {trial:?}");
    }
    match result {
        Ok(()) => {
            assert!(!fails, "{what} went unnoticed");
            assert_eq!(essence(&kept), wanted, "{what}");
            return;
        }
        Err(Error::Interrupted) => assert!(!fails, "{what}"),
        Err(_) => assert!(fails, "{what}: {result:?}"),
    }
    let state = |site: &Site| site.store().latest().unwrap().unwrap().state;
    assert_eq!(state(&site), ExperimentState::Interrupted, "{what}");
    let unfinished = site.trials().into_iter().filter(|t| t.state == TrialState::Running).count();
    assert_eq!(unfinished, 0, "{what}");
    site.resume().unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(state(&site), ExperimentState::Finished, "{what}");
    let finished = site.finished();
    assert!(kept.iter().all(|trial| finished.contains(trial)), "{what}: {kept:?} {finished:?}");
    assert_eq!(essence(&finished), wanted, "{what}");
}

/// Has it happen at the first and at the last call of each kind, and at one between them.
fn at_every_call(plan: &Plan, fault: Fault, calls: &[&str]) {
    let whole = undisturbed(plan);
    for (call, count) in whole.world.counts() {
        if !calls.is_empty() && !calls.contains(&call) {
            continue;
        }
        let mut numbers = vec![1, count.div_ceil(2), count];
        numbers.dedup();
        for number in numbers {
            let site = site();
            site.world.at(call, number, fault);
            let what = format!("{fault:?} at {call} {number}");
            ends_well(site, plan, &whole, fault != Fault::Interrupt, &what);
        }
    }
}

fn interrupt_at_every_event(plan: &Plan) {
    let whole = undisturbed(plan);
    for number in 1..=whole.events.len() {
        let mut site = site();
        site.interrupt_at = Some(number);
        let what = format!("interrupt at {:?}", whole.events[number - 1]);
        ends_well(site, plan, &whole, false, &what);
    }
}

#[test]
fn failures_in_blocks() {
    at_every_call(&blocks(), Fault::Fail, &[]);
}

#[test]
fn failures_with_settling() {
    at_every_call(&settling(), Fault::Fail, &["settle"]);
}

#[test]
fn failures_of_loads_and_copies() {
    at_every_call(&restored(), Fault::Fail, &[]);
}

#[test]
fn failures_in_joint_blocks() {
    at_every_call(&joint(), Fault::Fail, &[]);
}

#[test]
fn deaths() {
    let calls = ["execute", "settings", "connect", "request", "counters", "footprint", "settle"];
    at_every_call(&settling(), Fault::Die, &calls);
}

#[test]
fn deaths_in_joint_blocks() {
    at_every_call(&joint(), Fault::Die, &["request", "flush", "counters"]);
}

#[test]
fn interrupts_in_blocks() {
    interrupt_at_every_event(&blocks());
    at_every_call(&blocks(), Fault::Interrupt, &[]);
}

#[test]
fn interrupts_with_settling() {
    at_every_call(&settling(), Fault::Interrupt, &["settle"]);
}

#[test]
fn interrupts_of_loads_and_copies() {
    interrupt_at_every_event(&restored());
    at_every_call(&restored(), Fault::Interrupt, &["start", "copy", "request", "stop"]);
}

#[test]
fn interrupts_in_joint_blocks() {
    interrupt_at_every_event(&joint());
    at_every_call(&joint(), Fault::Interrupt, &["start", "request", "flush", "stop"]);
}
