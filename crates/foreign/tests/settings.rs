//! The settings of tests that outputs state.

use crate::fixtures::{format_of, text};

/// Settings of the last test of an output; empty for those it does not name.
fn said(name: &str, keys: &[&str]) -> Vec<String> {
    let reading = format_of(name).read(&text(name)).unwrap();
    let settings = &reading.tests.last().unwrap().settings;
    keys.iter().map(|key| settings.get(*key).cloned().unwrap_or_default()).collect()
}

#[test]
fn pgbench() {
    let keys = ["scaling factor", "query mode", "number of threads", "duration"];
    let found = said("pgbench-15-select-progress.txt", &keys);
    assert_eq!(found, ["1", "prepared", "2", "3 s"]);
    let keys = ["transaction type", "duration", "number of transactions per client"];
    let found = said("pgbench-15-transactions.txt", &keys);
    assert_eq!(found, ["TPC-B (sort of)", "", "200"]);
}

#[test]
fn sysbench() {
    assert_eq!(said("sysbench-rate.txt", &["target transaction rate"]), ["100/sec"]);
    assert_eq!(said("sysbench-1.1-warmup-intervals.txt", &["warmup time"]), ["2s"]);
    let found = said("sysbench-memory.txt", &["block size", "operation", "scope"]);
    assert_eq!(found, ["1KiB", "write", "global"]);
    let keys = ["block size", "total file size", "IO mode", "test"];
    let found = said("sysbench-1.1-fileio.txt", &keys);
    assert_eq!(found, ["16KiB", "16MiB", "synchronous I/O mode", "random r/w test"]);
    // How often it reports changes nothing.
    let name = "sysbench-point-select-intervals.txt";
    let reading = format_of(name).read(&text(name)).unwrap();
    assert!(reading.tests[0].settings.is_empty(), "{reading:?}");
}

#[test]
fn fio() {
    // Options of the job and of all jobs, but not where its files are.
    let found = said("fio-3.33-eta.json", &["rw", "bs", "iodepth", "size", "directory", "name"]);
    assert_eq!(found, ["randread", "4k", "4", "8M", "", ""]);
}

#[test]
fn others() {
    let found = said("db_bench-7-three.txt", &["keys", "values", "entries", "compression"]);
    assert_eq!(found, ["16 bytes each", "100 bytes each", "20000", "Snappy"]);
    assert_eq!(said("hyperfine-1.15-parameters.json", &["n"]), ["2"]);
}
