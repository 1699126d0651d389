//! Nothing is left of the ways to reach a server that ended, failed or was killed.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use dbms::{Ledger, ServerSpec, Transport};

use super::{Guest, exists, link, start, tcp, within};
use crate::common::{Place, processes_in, variant, wait_for};

#[test]
fn a_transport_that_is_dropped_or_fails_to_start_leaves_no_interface() {
    if !tcp().contains(&Transport::Veth) {
        return;
    }
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let server = start(&place, &variant, &[Transport::Veth], &[]).unwrap();
    let name = link(&place.ledger.records().unwrap()[0]);
    assert!(exists(&name));
    drop(server);
    assert!(!exists(&name));
    place.assert_clean();
    // Refused when the configuration is checked, and only when the server really starts.
    for (setting, value) in [("work_mem", "banana"), ("wal_level", "minimal")] {
        let seen = std::thread::scope(|scope| {
            let looking = scope.spawn(|| {
                let mut seen = String::new();
                wait_for("an interface", || {
                    let records = place.ledger.records().unwrap();
                    let found = records.iter().find_map(|record| record.link.clone());
                    seen = found.map(|link| link.name).unwrap_or_default();
                    exists(&seen)
                });
                seen
            });
            let error = start(&place, &variant, &[Transport::Veth], &[(setting, value)]);
            assert!(error.err().unwrap().to_string().contains("variant"));
            looking.join().unwrap()
        });
        assert!(!exists(&seen), "{seen}");
        place.assert_clean();
    }
}

/// In its own process: starts a server, says where it is, and waits to be killed.
fn drive(directory: &Path) {
    let place = Place::new();
    let ledger = Ledger::open(directory.join("ledger")).unwrap();
    let variant = variant("postgres@13.7").unwrap();
    let trial = directory.join("trial");
    let transports = [Transport::Veth];
    let spec = place.spec(&variant, &trial);
    let server =
        dbms::start(ServerSpec { ledger: &ledger, transports: &transports, ..spec }).unwrap();
    // The kill would leave it.
    drop(place);
    println!("\nup {}", server.root_pid().unwrap());
    std::thread::sleep(std::time::Duration::from_secs(120));
}

#[test]
fn killing_the_starter_leaves_no_transport() {
    if let Some(directory) = testing::given() {
        return drive(&directory);
    }
    if !tcp().contains(&Transport::Veth) {
        return;
    }
    for held in [false, true] {
        let place = Place::new();
        let mut driver = testing::again(&[], place.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map(Result::unwrap);
        let up = lines.find(|line| line.starts_with("up ")).expect("a started server");
        let pid: u32 = up.strip_prefix("up ").unwrap().parse().unwrap();
        let name = link(&place.ledger.records().unwrap()[0]);
        assert!(exists(&name));
        let namespace = File::open(format!("/proc/{pid}/ns/net")).unwrap();
        let mut guest = held.then(|| Guest::of(pid));
        drop(namespace);
        assert!(place.ledger.sweep(&|_| ()).unwrap().is_empty(), "their owner still lives");

        driver.kill().unwrap(); // SIGKILL
        driver.wait().unwrap();
        wait_for("the end of the server", || processes_in(place.path()).is_empty());
        match &guest {
            // The namespace, and the pair with it, went with the last process in it.
            None => wait_for("the end of the interface", || !exists(&name)),
            Some(guest) => assert!(exists(&name), "{} keeps it", guest.0.id()),
        }
        let swept = place.ledger.sweep(&|_| ()).unwrap();
        assert_eq!(swept.len(), 1);
        assert!(swept[0].problems.is_empty(), "{swept:?}");
        assert!(!exists(&name));
        if let Some(guest) = &mut guest {
            assert!(guest.0.try_wait().unwrap().is_none(), "it is not ours to end");
            assert_eq!(within(guest.0.id(), &["ip", "-4", "route"]).unwrap(), "");
        }
        place.assert_clean();
    }
}
