//! kill -9 of the program that started a server: the server ends, and the next sweep removes what it left.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Place, processes_in, variant};
use dbms::Ledger;

/// In a process of its own: starts a server and waits to be killed.
fn drive(directory: &Path) {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let ledger = Ledger::open(directory.join("ledger")).unwrap();
    let trial = directory.join("trial");
    let mut server =
        dbms::start(dbms::ServerSpec { ledger: &ledger, ..place.spec(&variant, &trial) }).unwrap();
    server.sql().unwrap().execute("create table t as select generate_series(1, 1000) a").unwrap();
    // The line the other half waits for; the harness may have written before it on the same line.
    println!("\nup {}", server.root_pid().unwrap());
    // Place's own directory would be left by the kill.
    drop(place);
    std::thread::sleep(Duration::from_secs(120));
}

#[test]
fn killing_the_driver_leaves_nothing() {
    if let Some(directory) = testing::given() {
        return drive(&directory);
    }
    let place = Place::new();
    let mut driver = testing::again(&[], place.path()).stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(driver.stdout.take().unwrap());
    let up = output
        .lines()
        .map(Result::unwrap)
        .find(|line| line.starts_with("up "))
        .expect("a started server");
    let pid: u32 = up.strip_prefix("up ").unwrap().parse().unwrap();
    assert!(processes_in(place.path()).contains(&pid));
    assert!(place.ledger.sweep(&|_| ()).unwrap().is_empty(), "its owner still lives");

    driver.kill().unwrap(); // SIGKILL
    driver.wait().unwrap();
    // The kernel tells the server by itself.
    let begin = Instant::now();
    while !processes_in(place.path()).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the server outlives its driver");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(place.trial().exists());
    let swept = place.ledger.sweep(&|_| ()).unwrap();
    assert_eq!(swept.len(), 1);
    assert_eq!(swept[0].name, "postgres@13.7");
    assert_eq!(swept[0].removed, [place.trial()]);
    assert!(swept[0].problems.is_empty(), "{swept:?}");
    place.assert_clean();
}
