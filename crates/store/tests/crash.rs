//! Killed, or out of space: finished steps stay.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{begin, begin_trial, full_step, latest_unfinished};
use store::{Scope, Series, Store, StoreError};

fn big_step(ordinal: u32) -> store::StepRecord {
    let mut record = full_step(ordinal, "l.i0");
    let values: Vec<f64> = (0..3000).map(|i| f64::from(i) + 0.1).collect();
    record.series = (0..20)
        .map(|i| Series {
            name: format!("s{i}"),
            label: String::new(),
            unit: String::new(),
            group: String::new(),
            values: values.clone(),
        })
        .collect();
    record
}

fn integrity(folder: &Path) -> String {
    let connection = rusqlite::Connection::open(folder.join("steelyard.db")).unwrap();
    connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
}

#[test]
fn kill_in_the_middle_of_writing_loses_no_finished_step() {
    if let Some(folder) = testing::given() {
        let store = Store::open(&folder).unwrap();
        let (experiment, [variant, _]) = begin(&store);
        let trial = begin_trial(&store, experiment, variant, 1);
        for ordinal in 1.. {
            store.record_step(trial, &big_step(ordinal)).unwrap();
            println!("stored {ordinal}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    for round in 0..5u64 {
        let mut child = testing::again(&[], folder.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut stored: Vec<u32> = Vec::new();
        // The harness first prints lines of its own.
        let number =
            |line: String| line.split_once("stored ").map(|(_, n)| n.parse::<u32>().unwrap());
        while stored.len() < 4 {
            let line = lines.next().expect("the child ended early").unwrap();
            stored.extend(number(line));
        }
        // Somewhere inside the next transactions.
        std::thread::sleep(std::time::Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        stored.extend(lines.map_while(Result::ok).filter_map(number));

        let store = Store::open(folder.path()).unwrap();
        let experiment = latest_unfinished(&store).unwrap().unwrap().id;
        let steps = store.steps(experiment, Scope::All).unwrap();
        let ordinals: Vec<u32> = steps.iter().map(|s| s.ordinal).collect();
        // Everything reported, and at most one more, whose report was cut off.
        assert!(ordinals.starts_with(&stored), "{ordinals:?} {stored:?}");
        assert!(ordinals.len() <= stored.len() + 1);
        for step in &steps {
            let series = store.series(step.id).unwrap();
            assert_eq!(series.len(), 20);
            assert_eq!(series.last().unwrap().values, big_step(1).series.last().unwrap().values);
            assert_eq!(store.counters(step.id).unwrap().len(), 3);
        }
        assert_eq!(store.abandon_running(experiment).unwrap(), 1);
        store.finish_experiment(experiment).unwrap();
        assert_eq!(integrity(folder.path()), "ok");
    }
}

/// Runs on a file system of 2 MB, in a mount namespace that ends with the process.
#[test]
fn a_full_disk_keeps_stored_steps() {
    if let Some(folder) = testing::given() {
        let folder = folder.as_path();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
            .arg(folder)
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            println!("SKIP: no right to mount");
            return;
        }
        let store = Store::open(folder).unwrap();
        let (experiment, [variant, _]) = begin(&store);
        let trial = begin_trial(&store, experiment, variant, 1);
        let mut stored = 0;
        let error = loop {
            match store.record_step(trial, &big_step(stored + 1)) {
                Ok(_) => stored += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, StoreError::Full(_)), "{error}");
        assert!(error.to_string().contains("free some space"), "{error}");
        assert!((1..8).contains(&stored), "{stored}");
        let steps = |store: &Store| store.steps(experiment, Scope::All).unwrap().len();
        assert_eq!(steps(&store), stored as usize);
        drop(store);
        // The next start finds the same, and continues as far as there is space.
        let store = Store::open(folder).unwrap();
        assert_eq!(steps(&store), stored as usize);
        let last = store.steps(experiment, Scope::All).unwrap().pop().unwrap();
        assert_eq!(store.series(last.id).unwrap(), big_step(1).series);
        drop(store);
        assert_eq!(integrity(folder), "ok");
        println!("DONE");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let child = testing::again(&["unshare", "--mount", "--"], folder.path()).output();
    let Ok(output) = child else {
        return testing::skip("`unshare` is not installed");
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    if text.contains("SKIP") || errors.contains("unshare failed") {
        return testing::skip("no file system can be mounted");
    }
    assert!(output.status.success() && text.contains("DONE"), "{text}{errors}");
}
