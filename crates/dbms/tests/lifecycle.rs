//! Real servers from start to stop.

#![allow(clippy::unwrap_used)] // a test fails by it

mod common;

use std::os::unix::fs::MetadataExt;

use common::{Place, processes_in, socket_directory, variant};
use dbms::{Ending, ProcessId, ServerUser};

fn start_and_stop(text: &str) {
    let Some(variant) = variant(text) else { return };
    let place = Place::new();
    let mut server = place.start(&variant, &[]).unwrap();
    let user = ServerUser::choose(None).unwrap();
    assert!(server.alive());
    assert_eq!(server.died(), None);
    let shown = server.query_rows("show server_version").unwrap();
    assert!(shown[0][0].as_ref().unwrap().starts_with(&variant.installation.version));

    // Under the unprivileged user, in a private socket directory, listening nowhere else.
    let pid = server.root_pid().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let uids = status.lines().find(|line| line.starts_with("Uid:")).unwrap();
    assert!(uids.split_ascii_whitespace().skip(1).all(|uid| uid == user.uid.to_string()), "{uids}");
    assert_ne!(user.uid, 0);
    let sockets = std::fs::metadata(socket_directory(server.as_ref())).unwrap();
    assert_eq!(sockets.mode() & 0o777, 0o700);
    assert_eq!(sockets.uid(), user.uid);
    assert_eq!(server.query_rows("show listen_addresses").unwrap()[0][0].as_deref(), Some(""));
    assert_eq!(std::fs::metadata(place.trial().join("data")).unwrap().mode() & 0o777, 0o700);

    // The entry names it, and a sweep by others leaves it alone.
    let record = place.ledger.records().unwrap().remove(0);
    assert_eq!(record.process, ProcessId::of(pid));
    assert!(place.ledger.sweep(&|_| ()).unwrap().is_empty());

    server.execute("create table t (a int); insert into t select generate_series(1, 100)").unwrap();
    assert_eq!(server.query_i64("select count(*) from t").unwrap(), 100);
    let stopped = server.stop().unwrap();
    assert_eq!(stopped.ending, Ending::Graceful);
    let log = std::fs::read_to_string(stopped.log.as_ref().unwrap()).unwrap();
    assert!(log.contains("database system is shut down"), "{log}");
    assert!(processes_in(place.path()).is_empty());
    stopped.discard().unwrap();
    place.assert_clean();
}

#[test]
fn starts_and_stops_13_7() {
    start_and_stop("postgres@13.7");
}

#[test]
fn starts_and_stops_an_installation() {
    start_and_stop("path:/usr/lib/postgresql/15");
}

#[test]
fn a_dropped_server_leaves_nothing() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let mut server = place.start(&variant, &[]).unwrap();
    server.execute("create table t (a int)").unwrap();
    drop(server);
    assert!(processes_in(place.path()).is_empty());
    place.assert_clean();
}
