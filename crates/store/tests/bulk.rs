//! `compare` reads 100,000 step results; the budget for all of it is a second (BENCHMARKS.md).

use std::time::{Duration, Instant};

use crate::common::begin;
use store::{Scope, Store};

const METRICS: [&str; 12] = [
    "o/s",
    "cpu/o",
    "dbms.cpu/o",
    "client.cpu/o",
    "cs/o",
    "r/o",
    "rKB/o",
    "wKB/o",
    "query.p50",
    "query.p99",
    "query.max",
    "seconds",
];

/// Trials of ten steps with all metrics and two more each. Half of the trials belong to another
/// experiment.
fn fill(folder: &std::path::Path, steps: usize) -> store::ExperimentId {
    let store = Store::open(folder).unwrap();
    let (experiment, [variant, _]) = begin(&store);
    let (other, [other_variant, _]) = begin(&store);
    let connection = rusqlite::Connection::open(folder.join("steelyard.db")).unwrap();
    // Written directly, because the store would wait for the disk at every step.
    connection
        .execute_batch(
            "BEGIN; INSERT INTO name (id, text) VALUES (1000, 'l.i0');
             INSERT INTO measure VALUES (1, 'insert', 'rows/s', 'more', 1, '{}')",
        )
        .unwrap();
    let metrics = METRICS.iter().copied().chain(["more", "and more"]);
    for (name, id) in metrics.clone().zip(1i64..) {
        connection
            .execute("INSERT INTO name (id, text) VALUES (?1, ?2)", rusqlite::params![id, name])
            .unwrap();
    }
    let mut trial = connection
        .prepare("INSERT INTO trial VALUES (?1, ?2, ?3, ?4, 1, 1, 1, 'finished', 0, 1, NULL, NULL, NULL)")
        .unwrap();
    let mut step = connection
        .prepare("INSERT INTO step VALUES (?1, ?2, ?3, 1000, 1, 'measured', 'finished', 0, 1.5, 7, 1, '[]', '[]')")
        .unwrap();
    let mut metric = connection.prepare("INSERT INTO metric VALUES (?1, ?2, ?3)").unwrap();
    for i in 0..(steps as i64 * 2) {
        let t = i / 10 + 1;
        let (e, v) = if t % 2 == 1 { (experiment, variant) } else { (other, other_variant) };
        if i % 10 == 0 {
            trial.execute([t, e.0, v.0, t]).unwrap();
        }
        step.execute([i + 1, t, i % 10]).unwrap();
        for (_, m) in metrics.clone().zip(1i64..) {
            metric.execute(rusqlite::params![i + 1, m, (i * 100 + m) as f64 + 0.5]).unwrap();
        }
    }
    connection.execute_batch("COMMIT").unwrap();
    experiment
}

fn read(steps: usize) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let experiment = fill(folder.path(), steps);
    let begin = Instant::now();
    let store = Store::open_read_only(folder.path()).unwrap();
    let rows = store.step_values(experiment, &METRICS, Scope::Results).unwrap();
    let time = begin.elapsed();
    println!("{steps} steps with {} metrics: {time:?}", METRICS.len());
    assert_eq!(rows.len(), steps);
    for row in rows {
        let expected = (0..12).map(|m| ((row.step.0 - 1) * 100 + m + 1) as f64 + 0.5);
        assert!(row.values.iter().copied().eq(expected), "{row:?}");
    }
    time
}

#[test]
fn thousands_of_steps_are_read_as_they_are() {
    read(2_000);
}

#[test]
#[ignore = "a bound: make bench"]
fn a_hundred_thousand_steps_are_read_within_a_second() {
    assert!(read(100_000) < Duration::from_secs(1));
}
