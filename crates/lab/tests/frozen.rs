//! Joint blocks in which all servers are frozen but the one that has the load.

use std::time::Duration;

use crate::common::Site;
use crate::common::world::Fault;

const FROZEN: &str = "blocks = 1\npairing = \"frozen\"\nslice_ms = 5";
const STEPS: &str = "rows = 20000\nindexed_rows = 20000\n\
                     delete_per_insert = true\nsteps = [\"l.i0\", \"l.x\", \"l.i1\"]";

fn site() -> Site {
    let site = Site::new();
    site.world.set_delay(|_, _| Duration::from_micros(500));
    site
}

#[test]
fn steps_that_change_rows_share_the_load_too() {
    let mut site = site();
    site.run(&Site::plan(&["a", "b"], FROZEN, STEPS)).unwrap();
    assert!(site.world.count("freeze") > 10);
    let trials = site.finished();
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        // Of the indexed rows, l.i1 inserts four of five.
        for (step, rows, clients) in [("l.i0", 20_000.0, 1), ("l.i1", 16_000.0, 2)] {
            let metric = |name: &str| site.metric(trial, step, name);
            assert!(metric("slice.rounds").is_some_and(|rounds| rounds > 3.0), "{step}");
            assert!(metric("slice.ms").is_some_and(|ms| (ms - 5.0).abs() < 1e-9));
            assert!(metric("slice.switch_ms").is_some_and(|ms| ms > 0.0));
            assert_eq!(metric("slice.watching"), None, "there was nothing to watch");
            let notes = site.notes(trial, step);
            assert!(notes.contains("in frozen slices with all variants"), "{notes}");
            assert!(notes.contains("checkpoint_timeout = 600s"), "{notes}");
            let pairs = probe::Topology::here().unwrap().free_until(probe::Pinning::Random);
            let apart = notes.contains("CPUs of clients and their servers");
            assert_eq!(apart, pairs >= clients, "{notes}");
            // Its slices are everything it did, in a time of its own.
            let (rate, seconds) = (metric("o/s").unwrap(), metric("seconds").unwrap());
            assert!((rate * seconds / rows - 1.0).abs() < 1e-3, "{step}: {rate} {seconds}");
        }
        assert!(site.notes(trial, "l.x").contains("in turns"));
        assert_eq!(site.metric(trial, "l.x", "slice.rounds"), None);
    }
}

#[test]
fn auto_freezes_servers_only_in_steps_that_change_rows() {
    let mut site = site();
    site.run(&Site::plan(&["a", "b"], &FROZEN.replace("frozen", "auto"), STEPS)).unwrap();
    for trial in &site.finished() {
        let switches = |step| site.metric(trial, step, "slice.switch_ms");
        assert!(switches("l.i1").is_some() && switches("l.i0").is_none());
        let notes = site.notes(trial, "l.i1");
        assert!(notes.contains("in frozen slices with all variants: it changes rows"), "{notes}");
        assert!(notes.contains("checkpoint_timeout = 600s"), "{notes}");
    }
}

#[test]
fn a_server_of_others_is_not_frozen() {
    let text = "blocks = 1\npairing = \"frozen\"\n[variants.one]\ndbms = \"postgres://me@here/db\"\n\
                [variants.other]\ndbms = \"postgres@14.3\"\n[workload.insert]\nrows = 300\n";
    let mut site = Site::new();
    let plan = plan::Plan::parse(text, None, "test").unwrap();
    let Err(error) = site.run(&plan) else { panic!("no error") };
    let said = error.to_string();
    assert!(error.is_request() && said.contains("have steelyard start it"), "{said}");
    assert_eq!(site.world.count("start"), 0);
}

#[test]
fn whatever_ends_a_run_thaws_its_servers() {
    for (call, number, fault, says) in [
        ("freeze", 1, Fault::Fail, "it can't be frozen"),
        ("freeze", 9, Fault::Fail, "it can't be frozen"),
        ("request", 100, Fault::Fail, "refused"),
        ("request", 100, Fault::Die, "the server died"),
        ("request", 100, Fault::Interrupt, "interrupted"),
        ("request", 100, Fault::Hang, ""),
    ] {
        let mut site = site();
        site.world.at(call, number, fault);
        if fault == Fault::Hang {
            // It hangs until the user ends the run.
            site.world.at("freeze", 20, Fault::Interrupt);
        }
        let Err(error) = site.run(&Site::plan(&["a", "b"], FROZEN, STEPS)) else {
            panic!("{fault:?} at {call} {number} does not matter")
        };
        assert!(error.to_string().contains(says), "{error}");
        // A fake checks that it is not stopped while it is frozen.
        assert_eq!(site.world.count("stop"), 2, "{error}");
    }
}
