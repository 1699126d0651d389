//! Blocks whose servers are frozen but for the one that has the load.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::database::{Database, Trial};
use crate::place::{Place, Running};

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

/// Steps on the same version of RocksDB twice, in whose processes the clients are.
fn keys(seconds: u32) -> String {
    format!(
        "name = \"frozen\"\nbase = \"a\"\nblocks = 1\nsteal_limit = 1.0\nsettle_seconds_scale = 0.0\n\
         pairing = \"frozen\"\nslice_ms = 30\nconfig = {{ write_buffer_size = \"1MB\" }}\n\
         [variants.a]\ndbms = \"rocksdb@7.4.5\"\n[variants.b]\ndbms = \"rocksdb@7.4.5\"\n\
         [workload.kv]\nkeys = {KEYS}\nsteps = [\"fillseq\", \"overwrite\", \"readrandom\"]\n\
         seconds = {seconds}\n"
    )
}
const KEYS: u32 = 50_000;

/// True if the kernel has frozen a control group of this run, or stopped a process.
fn is_frozen(place: &Place) -> bool {
    !frozen(place).is_empty()
}

/// What is frozen of this run.
fn frozen(place: &Place) -> BTreeSet<String> {
    let frozen = |group: &std::path::PathBuf| {
        let events = fs::read_to_string(group.join("cgroup.events")).unwrap_or_default();
        let state = fs::read_to_string(group.join("freezer.state")).unwrap_or_default();
        events.contains("frozen 1") || state.contains("FROZEN")
    };
    let stopped = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    };
    let mut records = place.ledger().records().unwrap();
    records.retain(|record| {
        record.cgroups.iter().any(frozen)
            || record.process.as_ref().is_some_and(|process| stopped(process.pid))
    });
    records.into_iter().map(|record| record.name).collect()
}

fn wait_until_frozen(place: &Place) {
    let begin = Instant::now();
    while !is_frozen(place) {
        assert!(begin.elapsed() < Duration::from_secs(900), "nothing is frozen");
        std::thread::sleep(Duration::from_millis(5));
    }
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
    let mut cpus = Vec::new();
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
        cpus.push(cpus_of_clients(&notes));
    }
    // The same for all variants, if there are two cores.
    let topology = probe::Topology::here().unwrap();
    assert!(cpus.iter().all(|pair| *pair == cpus[0]), "{cpus:?}");
    assert_eq!(cpus[0].is_some(), topology.free_until(probe::Pinning::Random) > 0);
    assert!(cpus[0].is_none_or(|(client, server)| client != server), "{cpus:?}");
}

/// The CPU of a client and that of the process that serves it, according to the notes of a step.
fn cpus_of_clients(notes: &str) -> Option<(u32, u32)> {
    let (_, pair) = notes.split_once("CPUs of clients and their servers, if possible: ")?;
    let (client, rest) = pair.split_once('+').unwrap();
    let server: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((client.parse().unwrap(), server.parse().unwrap()))
}

#[test]
fn engines_with_their_clients_in_frozen_slices() {
    let place = Place::new();
    let file = place.plan(&keys(2));
    place.run(&[&file]).expect(0, &["trial 1/2", "trial 2/2", "  readrandom"]);
    place.assert_nothing_left();
    let database = Database::of(&place.results());
    database.assert_sound();
    let trials = database.finished();
    let [a, b] = &trials[..] else { panic!("{} trials", trials.len()) };
    let metric = |trial: &Trial, step: &str, what: &str| {
        let value = database.metric_of(trial.id, step, what);
        value.unwrap_or_else(|| panic!("{what} of {step} is not known"))
    };
    for trial in [a, b] {
        for step in ["fillseq", "overwrite", "readrandom"] {
            for what in ["o/s", "dbms.cpu/o", "slice.rounds", "slice.switch_ms"] {
                assert!(metric(trial, step, what) > 0.0, "{what} of {step}");
            }
            let notes = database.notes(trial.id, step);
            assert!(notes.contains("in frozen slices with all variants"), "{notes}");
            assert!(notes.contains("delayed_write_rate = 8388608"), "{notes}");
        }
        // Its slices are everything it did, in its own time.
        let done = metric(trial, "fillseq", "o/s") * metric(trial, "fillseq", "seconds");
        assert!((done / f64::from(KEYS) - 1.0).abs() < 1e-3, "{done} keys");
        for step in ["overwrite", "readrandom"] {
            let seconds = metric(trial, step, "seconds");
            assert!(seconds >= 1.8, "{seconds} s of its own");
        }
    }
    // Memory was flushed beside them.
    assert!(database.counter("overwrite", "flush_bytes_written") > 60_000.0);
    for step in ["overwrite", "readrandom"] {
        let [of_a, of_b] = [a, b].map(|trial| database.series(trial.id, step, "slice.o/s").len());
        assert!(of_a == of_b && of_a > 3, "{of_a} and {of_b} slices of {step}");
    }
}

/// A run of two engines, one of which is frozen.
fn frozen_engines(place: &Place) -> Running {
    let mut run = place.start_run(&[&place.plan(&keys(600))]);
    // Printed when it ends; what follows lasts. One of them can still be frozen from it.
    run.wait_for("trial 2/2", "  fillseq");
    let (begin, mut seen) = (Instant::now(), BTreeSet::new());
    while seen.len() < 2 {
        assert!(begin.elapsed() < Duration::from_secs(900), "only {seen:?} were frozen");
        seen.append(&mut frozen(place));
        std::thread::sleep(Duration::from_millis(5));
    }
    wait_until_frozen(place);
    run
}

#[test]
fn engines_that_a_killed_run_left_frozen_are_ended_by_the_next() {
    let place = Place::new();
    let next = place.file("next.toml", &updates(1).replace("postgres@14.3", "path:/nowhere"));
    let run = frozen_engines(&place);
    std::thread::sleep(Duration::from_millis(200));
    run.signal(Signal::SIGKILL);
    assert_eq!(run.end().code, None, "killed");
    assert!(is_frozen(&place), "nothing to thaw");
    place.run(&[&next]).expect(2, &["cleaned up what a killed run left of"]);
    place.assert_nothing_left();
}

#[test]
fn an_engine_that_dies_in_frozen_slices_fails_the_step() {
    let place = Place::new();
    let run = frozen_engines(&place);
    let records = place.ledger().records().unwrap();
    let process = records.iter().find_map(|record| record.process.clone()).unwrap();
    kill(Pid::from_raw(process.pid as i32), Signal::SIGKILL).unwrap();
    run.end().expect(3, &["step overwrite", "the server died", "signal: 9"]);
    place.assert_nothing_left();
}

#[test]
fn ctrl_c_thaws_engines_with_their_clients() {
    let place = Place::new();
    let run = frozen_engines(&place);
    run.signal(Signal::SIGINT);
    run.end().expect(3, &["interrupted"]);
    place.assert_nothing_left();
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
        // From the first slice on: one is frozen before the other goes on.
        wait_until_frozen(&place);
        std::thread::sleep(Duration::from_millis(moment));
        run.signal(Signal::SIGKILL);
        assert_eq!(run.end().code, None, "killed");
        assert!(is_frozen(&place), "nothing to thaw");
        place.run(&[&next]).expect(2, &["cleaned up what a killed run left of"]);
        place.assert_nothing_left();
    }
}
