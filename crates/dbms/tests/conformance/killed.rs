//! kill -9 of the system, and of the program that started it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::subjects::{first, subjects};
use crate::common::{Place, ipc_exists, names, processes_in, wait_for};
use dbms::{Ending, Error, Ledger, ProcessId, ServerSpec};

#[test]
fn a_killed_system_is_noticed_and_leaves_nothing() {
    for subject in subjects() {
        let place = Place::new();
        let mut system = subject.start(&place);
        let record = place.ledger.records().unwrap().remove(0);
        ProcessId::of(system.root_pid().unwrap()).unwrap().signal(libc::SIGKILL).unwrap();
        wait_for("its end", || !system.alive());
        assert!(system.died().unwrap().contains('9'), "{:?}", system.died());
        assert!(system.log_tail(5).contains(subject.facts.says.0), "{}", system.log_tail(5));
        assert!(system.counters(&[]).is_err());
        let stopped = system.stop().unwrap();
        let died = matches!(&stopped.ending, Ending::Died(how) if how.contains('9'));
        assert!(died, "{:?}", stopped.ending);
        // Those that are just ending have lost their program before their directory.
        wait_for("the end of its processes", || processes_in(place.path()).is_empty());
        assert!(!ipc_exists(&record.ipc));
        // Its data would have to be recovered at every start.
        let error = stopped.keep(&false.into()).err().unwrap();
        assert!(matches!(error, Error::NotKept { .. }), "{error}");
        place.assert_clean();
    }
}

#[test]
fn a_sweep_ends_systems_whose_owner_is_gone() {
    for subject in first() {
        let place = Place::new();
        let mut system = subject.start(&place);
        // As if another steelyard had started it and were gone: another start time means another
        // process.
        let record = place.ledger.records().unwrap().remove(0);
        let path = place.ledger.path().join(format!("{}.json", record.id));
        let text = fs::read_to_string(&path).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["owner"]["start_time"] = 1.into();
        fs::write(&path, json.to_string()).unwrap();
        let pid = system.root_pid().unwrap();
        // That left it frozen.
        let mut freezer = system.freezer().unwrap();
        freezer.freeze().unwrap();
        std::mem::forget(freezer);
        let swept = place.ledger.sweep(&|_| ()).unwrap();
        assert_eq!(swept.len(), 1);
        assert!(swept[0].ended.contains(&pid), "{swept:?}");
        assert_eq!(swept[0].problems, names(&[]));
        assert_eq!(swept[0].removed, [place.trial()]);
        assert!(!system.alive());
        assert!(processes_in(place.path()).is_empty());
        assert!(!ipc_exists(&record.ipc));
        place.assert_clean();
    }
}

/// In its own process: starts each system and waits to be killed.
fn drive(directory: &Path) {
    let place = Place::new();
    let ledger = Ledger::open(directory.join("ledger")).unwrap();
    let subjects = first();
    let systems: Vec<_> = subjects
        .iter()
        .enumerate()
        .map(|(i, subject)| {
            let trial = directory.join(format!("trial{i}"));
            let spec = ServerSpec { ledger: &ledger, ..subject.spec(&place, &trial) };
            let mut system = dbms::start(spec).unwrap();
            (subject.facts.fill)(system.as_mut(), 1000);
            system
        })
        .collect();
    // Place's own directory would be left by the kill.
    drop(place);
    // The line the other half waits for; the harness may have written before it on the same line.
    println!("\nup {}", systems.len());
    std::thread::sleep(Duration::from_secs(120));
}

#[test]
fn killing_the_starter_leaves_nothing() {
    if let Some(directory) = testing::given() {
        return drive(&directory);
    }
    let place = Place::new();
    let mut driver = testing::again(&[], place.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map(Result::unwrap);
    let up = lines.find(|line| line.starts_with("up ")).expect("started systems");
    let count: usize = up.strip_prefix("up ").unwrap().parse().unwrap();
    assert!(processes_in(place.path()).len() >= count);
    assert!(place.ledger.sweep(&|_| ()).unwrap().is_empty(), "their owner still lives");

    driver.kill().unwrap(); // SIGKILL
    driver.wait().unwrap();
    // The kernel signals them.
    wait_for("the end of what it started", || processes_in(place.path()).is_empty());
    assert!(place.path().join("trial0").exists());
    let swept = place.ledger.sweep(&|_| ()).unwrap();
    assert_eq!(swept.len(), count);
    for swept in swept {
        assert_eq!(swept.removed.len(), 1, "{swept:?}");
        assert!(swept.problems.is_empty(), "{swept:?}");
    }
    place.assert_clean();
}

/// In its own process: starts one system. Killed meanwhile, it never gets there.
fn drive_one(path: &Path) {
    let (directory, index) = (path.parent().unwrap(), path.file_name().unwrap().to_string_lossy());
    let place = Place::new();
    let ledger = Ledger::open(directory.join("ledger")).unwrap();
    let subject = first().into_iter().nth(index.parse().unwrap()).unwrap();
    let trial = directory.join("trial");
    let spec = ServerSpec { ledger: &ledger, ..subject.spec(&place, &trial) };
    let _system = dbms::start(spec).unwrap();
    drop(place);
    std::thread::sleep(Duration::from_secs(120));
}

/// A server that is starting may block the signals that end it later.
#[test]
fn killing_the_starter_of_a_starting_system_leaves_nothing() {
    if let Some(path) = testing::given() {
        return drive_one(&path);
    }
    for i in 0..first().len() {
        let place = Place::new();
        let path = place.path().join(i.to_string());
        let mut driver = testing::again(&[], &path);
        // It leaves its own directory there.
        let aside = Place::new();
        driver.env("TMPDIR", aside.path()).stdout(Stdio::null());
        let mut driver = driver.spawn().unwrap();
        let data = place.path().join("trial/data");
        wait_for("its server", || !processes_in(&data).is_empty());
        driver.kill().unwrap(); // SIGKILL
        driver.wait().unwrap();
        wait_for("the end of what it started", || processes_in(place.path()).is_empty());
        let swept = place.ledger.sweep(&|_| ()).unwrap();
        assert!(swept.iter().all(|swept| swept.problems.is_empty()), "{swept:?}");
        place.assert_clean();
    }
}
