//! Blocks whose servers are frozen but for the one that has the load.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::database::Database;
use crate::place::Place;

/// Transactions of pgbench on the same version twice.
fn updates(seconds: u32) -> String {
    format!(
        "name = \"frozen\"\nbase = \"a\"\nblocks = 1\nsteal_limit = 1.0\nsettle_seconds_scale = 0.0\n\
         pairing = \"frozen\"\nslice_ms = 30\nconfig = {{ shared_buffers = \"16MB\", \
         bgwriter_delay = \"50ms\" }}\n\
         [variants.a]\ndbms = \"postgres@14.3\"\n[variants.b]\ndbms = \"postgres@14.3\"\n\
         [workload.script]\nbuiltin = \"tpcb-like\"\nscale = 1\nwarm_seconds = 0\n\
         seconds = {seconds}\n"
    )
}

/// True if the kernel has frozen a control group of this run, or stopped a process.
fn is_frozen(place: &Place) -> bool {
    let frozen = |group: &std::path::PathBuf| {
        let events = fs::read_to_string(group.join("cgroup.events")).unwrap_or_default();
        let state = fs::read_to_string(group.join("freezer.state")).unwrap_or_default();
        events.contains("frozen 1") || state.contains("FROZEN")
    };
    let stopped = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    };
    let records = place.ledger().records().unwrap();
    records.iter().any(|record| {
        record.cgroups.iter().any(frozen)
            || record.process.as_ref().is_some_and(|process| stopped(process.pid))
    })
}

/// Waits until the server of a variant is started, and then until it has the load.
fn wait_for_load(place: &Place, variant: &str) {
    let begin = Instant::now();
    let started = || {
        let records = place.ledger().records().unwrap();
        records.iter().any(|record| record.name == variant && record.process.is_some())
    };
    while !started() {
        assert!(begin.elapsed() < Duration::from_secs(900), "{variant} is not started");
        std::thread::sleep(Duration::from_millis(20));
    }
    place.wait_for_load(variant);
}

#[test]
fn transactions_in_frozen_slices() {
    let place = Place::new();
    let file = place.plan(&updates(2));
    let ran = place.run(&[&file]);
    ran.expect(0, &["trial 1/2", "trial 2/2"]);
    assert!(ran.stdout.contains("Pairing by slices"), "{}", ran.stdout);
    let database = Database::of(&place.results());
    database.assert_sound();
    // Two have loaded what the others begin on.
    let trials = database.finished();
    let (loads, trials) = trials.split_at(2);
    assert_eq!((loads.len(), trials.len()), (2, 2));
    for trial in trials {
        let metric = |what: &str| database.metric_of(trial.id, "script", what);
        for what in ["o/s", "dbms.cpu/o", "cpu.share", "slice.switch_ms"] {
            assert!(metric(what).is_some_and(|value| value > 0.0), "{what}");
        }
        let seconds = metric("seconds").unwrap();
        assert!(seconds >= 1.8, "{seconds} s of its own");
        let notes = database.notes(trial.id, "script");
        assert!(notes.contains("in frozen slices with all variants"), "{notes}");
        // Twice as long by the clock, except for what the plan sets.
        assert!(notes.contains("checkpoint_timeout = 600s, wal_writer_delay = 400ms"), "{notes}");
    }
}

#[test]
fn ctrl_c_thaws_what_is_frozen() {
    let place = Place::new();
    let file = place.plan(&updates(60));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 2/2", "  restore");
    wait_for_load(&place, "b");
    run.signal(Signal::SIGINT);
    run.end().expect(3, &["interrupted"]);
    place.assert_nothing_left();
}

#[test]
fn a_killed_run_leaves_nothing_frozen_after_the_next_start() {
    let place = Place::new();
    let file = place.plan(&updates(600));
    // It sweeps before it finds that nothing is there.
    let next = place.file("next.toml", &updates(1).replace("postgres@14.3", "path:/nowhere"));
    for moment in [0, 37, 113] {
        let mut run = place.start_run(&[&file]);
        run.wait_for("trial 2/2", "  restore");
        wait_for_load(&place, "a");
        std::thread::sleep(Duration::from_millis(moment));
        run.signal(Signal::SIGKILL);
        assert_eq!(run.end().code, None, "killed");
        // One is frozen before the other goes on.
        assert!(is_frozen(&place), "nothing to thaw");
        place.run(&[&next]).expect(2, &["cleaned up what a killed run left of"]);
        place.assert_nothing_left();
    }
}
