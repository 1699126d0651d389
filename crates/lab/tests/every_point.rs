//! Runs that end at any point whatever: what is finished is kept, nothing is left running, and
//! `--resume` brings the experiment to the same end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lab::{Error, Event};
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
    let steps = "rows = 5000\nsteps = [\"l.i0\", \"l.x\"]";
    Site::plan(&["a", "b"], "blocks = 1\npairing = \"slices\"\nslice_ms = 4", steps)
}

/// The block, variant and steps of each trial, sorted, whichever attempt it was.
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

/// Trouble to cause in a run.
struct Case {
    what: String,
    /// True if it is not an interrupt.
    fails: bool,
    /// True if it happens while a server is about to start, which is not called off.
    starting: bool,
}

/// Runs a plan until it ends or the trouble happens, then resumes it. `whole`: how it ends.
fn ends_well(mut site: Site, plan: &Plan, whole: &Site, case: &Case) {
    let Case { what, fails, starting } = case;
    let (fails, starting) = (*fails, *starting);
    let wanted = essence(&whole.finished());
    let result = site.run(plan);
    let late = site.world.late();
    let begins = ["start", "copy"].iter().any(|call| late.contains(call));
    assert!(starting || !begins, "{what}, and a server was started: {late:?}");
    let kept = if site.path().join("results").exists() { site.finished() } else { Vec::new() };
    for trial in essence(&kept) {
        assert!(wanted.contains(&trial), "{what}: {trial:?}");
    }
    match result {
        Ok(()) => {
            assert!(!fails, "{what} went unnoticed");
            // It came when all was done: servers only had to be stopped.
            assert!(late.iter().all(|call| *call == "stop"), "{what} was ignored: {late:?}");
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

/// Causes the trouble at every call.
fn at_every_call(plan: &Plan, fault: Fault, calls: &[&str]) {
    let whole = undisturbed(plan);
    let counts = whole.world.counts().into_iter();
    let wanted = counts.filter(|(call, _)| calls.is_empty() || calls.contains(call));
    let each = |(call, count)| (1..=count).map(move |number| (call, number));
    let points: Vec<(&str, usize)> = wanted.flat_map(each).collect();
    let next = AtomicUsize::new(0);
    // They wait most of the time.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some((call, number)) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let site = site();
                    site.world.at(call, *number, fault);
                    let what = format!("{fault:?} at {call} {number}");
                    let fails = fault != Fault::Interrupt;
                    let starting = ["start", "copy"].contains(call);
                    ends_well(site, plan, &whole, &Case { what, fails, starting });
                }
            });
        }
    });
}

fn interrupt_at_every_event(plan: &Plan) {
    let whole = undisturbed(plan);
    for number in 1..=whole.events.len() {
        let mut site = site();
        site.interrupt_at = Some(number);
        let event = &whole.events[number - 1];
        let starting = match event {
            Event::TrialBegan { .. } | Event::LoadBegan { .. } => true,
            Event::StepBegan { name, .. } => name == "restore",
            _ => false,
        };
        let what = format!("interrupt at {event:?}");
        ends_well(site, plan, &whole, &Case { what, fails: false, starting });
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
    // In a slice: `a_server_that_dies_in_a_slice_ends_the_block_of_all`.
    at_every_call(&joint(), Fault::Die, &["connect", "flush", "counters", "footprint"]);
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
