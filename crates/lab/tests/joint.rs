//! Joint blocks: the servers of all variants are up together.

use std::time::Duration;

use store::TrialState;

use crate::common::world::Fault;
use crate::common::{Site, Trial};

const SLICES: &str = "blocks = 1\npairing = \"slices\"\nslice_ms = 5";
const STEPS: &str = "rows = 20000\nsteps = [\"l.i0\", \"l.x\"]";

fn site() -> Site {
    let site = Site::new();
    site.world.set_delay(|_, _| Duration::from_micros(500));
    site
}

#[test]
fn a_load_moves_between_servers_that_are_up_together() {
    let mut site = site();
    // A busy machine makes statements of half a millisecond ten times as long.
    let (slices, steps) = (SLICES.replace("= 5", "= 40"), STEPS.replace("20000", "100000"));
    site.run(&Site::plan(&["a", "b"], &slices, &steps)).unwrap();
    let mut calls = site.world.calls_of(&["start", "stop"]);
    calls[..2].sort();
    calls[2..].sort();
    assert_eq!(calls, ["start a", "start b", "stop a", "stop b"]);
    let trials = site.finished();
    assert_eq!(trials.len(), 2);
    let metric = |trial: &Trial, name: &str| site.metric(trial, "l.i0", name);
    for trial in &trials {
        assert!(metric(trial, "slice.rounds").is_some_and(|rounds| rounds > 3.0));
        assert!(metric(trial, "slice.ms").is_some_and(|ms| (ms - 40.0).abs() < 1e-9));
        assert!(site.notes(trial, "l.i0").contains("in slices with all variants"));
        assert!(site.notes(trial, "l.x").contains("in turns"));
        assert_eq!(site.metric(trial, "l.x", "slice.rounds"), None);
    }
    assert_eq!(metric(&trials[0], "slice.rounds"), metric(&trials[1], "slice.rounds"));
}

/// It remained the one to resume, although it failed every time.
#[test]
fn a_step_too_short_for_its_slices_is_not_resumed() {
    let mut site = site();
    let slices = "blocks = 1\npairing = \"slices\"\nslice_ms = 10000";
    let plan = Site::plan(&["a", "b"], slices, "rows = 300\nsteps = [\"l.i0\"]");
    let Err(error) = site.run(&plan) else { panic!("it was measured") };
    assert!(error.is_lasting() && error.to_string().contains("no slice was measured"), "{error}");
    assert!(error.to_string().contains("set shorter slices (slice_ms in the plan)"), "{error}");
    let Err(error) = site.resume() else { panic!("it was resumed") };
    assert!(error.to_string().contains("would fail again"), "{error}");
}

#[test]
fn what_the_first_block_found_holds_after_an_interruption() {
    let mut site = site();
    let plan = Site::plan(&["a", "b"], "blocks = 2\npairing = \"auto\"", STEPS);
    site.world.at("start", 4, Fault::Interrupt);
    assert!(site.run(&plan).is_err());
    let kept = site.finished();
    assert_eq!(kept.len(), 2);
    let found = |name: &str| site.metric(&kept[0], "l.i0", name).unwrap();
    let (ms, settled) = (found("slice.ms"), found("slice.settled") > 0.0);
    // The chosen length and its double, or further ones where none was long enough.
    let expected = if settled { vec![ms, 2.0 * ms] } else { vec![ms, 2.0 * ms, 4.0 * ms] };
    site.resume().unwrap();
    assert_eq!(site.world.count("start"), 2);
    let finished = site.finished();
    assert_eq!((finished.len(), &finished[..2]), (4, &kept[..]));
    for trial in &finished[2..] {
        let lengths = site.series(trial, "l.i0", "slice.length");
        assert!(!lengths.is_empty() && lengths.iter().all(|l| expected.contains(l)), "{lengths:?}");
    }
}

#[test]
fn one_running_server_can_not_be_two_variants_at_once() {
    let text = "blocks = 1\npairing = \"slices\"\n[variants.one]\ndbms = \"postgres://me@here/db\"\n\
                [variants.other]\ndbms = \"postgres://me@here/db\"\n[workload.insert]\nrows = 300\n";
    let mut site = Site::new();
    let Err(error) = site.run(&plan::Plan::parse(text, None, "test").unwrap()) else {
        panic!("no error")
    };
    assert!(matches!(error, lab::Error::SameServer { .. }) && error.is_request(), "{error}");
    assert!(site.trials().iter().all(|trial| trial.state == TrialState::Failed));
}

#[test]
fn a_server_that_dies_in_a_slice_ends_the_block_of_all() {
    let mut site = site();
    site.world.at("request", 100, Fault::Die);
    let Err(error) = site.run(&Site::plan(&["a", "b"], SLICES, STEPS)) else { panic!("no error") };
    assert!(error.to_string().contains("step l.i0: the server died (signal: 9)"), "{error}");
    for trial in site.trials() {
        assert_eq!((trial.state, trial.steps), (TrialState::Failed, vec!["l.i0!".to_owned()]));
    }
    assert_eq!(site.world.count("stop"), 2);
}

#[test]
fn servers_that_are_up_together_begin_on_copies_too() {
    let mut site = site();
    let whole = format!("{SLICES}\nrestore_after = \"l.i0\"");
    let steps = "rows = 300\nindexed_rows = 20000\nsecondary_indexes = 0\n\
                 delete_per_insert = false\nsteps = [\"l.i0\", \"l.i1\"]";
    site.run(&Site::plan(&["a", "b"], &whole, steps)).unwrap();
    let trials = site.finished();
    let (loads, trials) = trials.split_at(2);
    assert!(loads.iter().all(|load| load.steps == ["l.i0", "keep"]), "{loads:?}");
    for trial in trials {
        assert_eq!(trial.steps, ["restore", "l.i1"]);
        assert!(site.notes(trial, "l.i1").contains("in slices with all variants"));
    }
    assert_eq!((site.world.count("start"), site.world.count("copy")), (2, 2));
}

/// Point queries in slices for which the plan sets no length.
fn queries(seconds: u32) -> plan::Plan {
    plan::Plan::parse(&queries_text(seconds), None, "test").unwrap()
}

fn queries_text(seconds: u32) -> String {
    format!(
        "seed = 3\nbase = \"a\"\nsettle_seconds_scale = 0\nsteal_limit = 1\nblocks = 1\n\
         pairing = \"slices\"\n[variants.a]\ndbms = \"postgres@14.3\"\n[variants.b]\n\
         dbms = \"postgres@14.3\"\n[workload.sysbench]\ntables = 1\nrows = 1\nload_dop = 1\n\
         steps = [\"point-query\"]\nread_seconds = {seconds}\n"
    )
}

/// Queries of 0.2 s in slices of at most 0.16 s, unless they become longer.
#[test]
fn queries_longer_than_their_slices_get_longer_ones() {
    let mut site = Site::new();
    site.world.set_delay(|_, _| Duration::from_millis(200));
    site.run(&queries(3)).unwrap();
    let told = site.told();
    assert!(told.contains("point-query: operations don't fit into slices"), "{told}");
    let measured: Vec<Trial> = site.finished();
    let rounds = |trial: &Trial| site.metric(trial, "point-query", "slice.rounds");
    let rounds: Vec<f64> = measured.iter().filter_map(rounds).collect();
    assert!(rounds.len() == 2 && rounds.iter().all(|rounds| *rounds >= 1.0), "{rounds:?} {told}");
    let last = measured.last().unwrap();
    assert!(site.notes(last, "point-query").contains("run again in longer slices"));
}

/// Queries of 30 ms in slices of 40 ms, as the plan wants: few slices have a rate, and those are no
/// fair sample.
#[test]
fn slices_that_are_too_short_do_not_count() {
    let mut site = Site::new();
    site.world.set_delay(|_, _| Duration::from_millis(30));
    let text = queries_text(3).replace("pairing", "slice_ms = 40\npairing");
    site.run(&plan::Plan::parse(&text, None, "test").unwrap()).unwrap();
    // The first two load.
    let trials = site.finished();
    assert_eq!(trials.len(), 4);
    for trial in &trials[2..] {
        let found = |name: &str| site.metric(trial, "point-query", name);
        assert_eq!(found("slice.settled"), Some(0.0));
        assert_eq!((found("o/s"), found("slice.rounds")), (None, None), "{}", site.told());
    }
    let store = site.store();
    let experiment = store.latest().unwrap().unwrap();
    let text = format!("{:?}", store.warnings(experiment.id).unwrap());
    assert_eq!(text.matches("set a larger slice_ms in the plan").count(), 2, "{text}");
}

/// Inserts that take longer than the longest slices of the first block, which can't run again.
#[test]
fn a_step_that_writes_gets_longer_slices_in_the_next_block() {
    let mut site = Site::new();
    site.world.set_delay(|_, _| Duration::from_millis(170));
    let steps = "rows = 2000\nsteps = [\"l.i0\"]";
    site.run(&Site::plan(&["a", "b"], "blocks = 2\npairing = \"slices\"", steps)).unwrap();
    let trials = site.finished();
    let (first, second) = trials.split_at(2);
    for trial in first {
        let found = |name: &str| site.metric(trial, "l.i0", name);
        assert_eq!((found("o/s"), found("slice.rounds")), (None, None));
        assert_eq!((found("slice.ms"), found("slice.settled")), (Some(160.0), Some(0.0)));
    }
    for trial in second {
        assert!(site.metric(trial, "l.i0", "o/s").is_some_and(|rate| rate > 0.0));
        let lengths = site.series(trial, "l.i0", "slice.length");
        assert!(lengths.iter().all(|ms| [160.0, 320.0, 640.0].contains(ms)), "{lengths:?}");
    }
}

/// The second start of `b` is that of its trial: one query takes longer than the step.
#[test]
fn a_server_that_stands_still_is_not_measured_again() {
    let mut site = Site::new();
    site.world.set_delay(|name, start| match (name, start) {
        ("b", 2) => Duration::from_millis(2500),
        _ => Duration::from_micros(500),
    });
    let _ = site.run(&queries(1));
    let told = site.told();
    assert!(!told.contains("operations don't fit into slices"), "{told}");
    let rate = |trial: &Trial| site.metric(trial, "point-query", "o/s");
    let rates: Vec<f64> = site.finished().iter().filter_map(rate).collect();
    assert!(rates.len() == 2 && rates.contains(&0.0), "{rates:?}");
}

/// The trial of `b` has pauses far longer than its slices, so many of those of `a` have no rate.
/// That is what it is like, not a reason for another try.
#[test]
fn a_server_that_pauses_is_not_measured_again() {
    let mut site = Site::new();
    site.world.set_delay(|_, _| Duration::from_micros(500));
    site.world.set_pause(|name, start| {
        if (name, start) == ("b", 2) { Duration::from_millis(300) } else { Duration::ZERO }
    });
    let _ = site.run(&queries(2));
    let told = site.told();
    assert!(!told.contains("operations don't fit into slices"), "{told}");
    assert!(!site.finished().is_empty(), "{told}");
}
