//! Servers that run already: measured, but neither configured nor stopped.

use std::time::Duration;

use nix::sys::signal::Signal;

use crate::database::Database;
use crate::own_server::{OwnServer, PASSWORD};
use crate::place::Place;
use crate::plans::plan;
use crate::secrets::assert_absent;

const STEPS: &str = "rows = 3000\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]";

/// A plan of one attached server, without a configuration of its own.
fn plan_for(url: &str, workload: &str) -> String {
    plan(&[("theirs", url)], "config = {}", workload)
}

#[test]
fn a_running_server_is_measured_and_left_as_it_was() {
    let place = Place::new();
    let mut server = OwnServer::start();
    server
        .client()
        .batch_execute("CREATE TABLE precious AS SELECT generate_series(1, 1000) AS x")
        .unwrap();
    let file = place.plan(&plan_for(&server.socket_url(), STEPS));
    place.run(&[&file]).expect(0, &["trial 1/1"]);
    server.assert_running();
    assert_eq!(server.tables(), ["precious"], "its own table, and none of ours");
    let rows: i64 = server.client().query_one("SELECT count(*) FROM precious", &[]).unwrap().get(0);
    assert_eq!(rows, 1000);
    let database = Database::of(&place.results());
    assert_eq!(database.texts("SELECT version FROM variant"), ["14.3"]);
    // It is on this machine, so its CPU can be told.
    assert!(database.metric("qr100", "dbms.cpu/o").is_some_and(|value| value > 0.0));
}

#[test]
fn a_table_of_somebody_else_is_not_touched() {
    let place = Place::new();
    let mut server = OwnServer::start();
    server.client().batch_execute("CREATE TABLE pi1 AS SELECT 1 AS x").unwrap();
    let file = place.plan(&plan_for(&server.socket_url(), STEPS));
    place
        .run(&[&file])
        .expect(2, &["variant `theirs`", "`pi1`", "did not create", "drop the table yourself"]);
    assert_eq!(server.tables(), ["pi1"]);
    let x: i32 = server.client().query_one("SELECT x FROM pi1", &[]).unwrap().get(0);
    assert_eq!(x, 1);
    server.assert_running();
}

#[test]
fn settings_for_a_running_server_are_refused() {
    let place = Place::new();
    let url = "postgres://me@127.0.0.1:1/d";
    let variants = ["insert", "-v", url, "-v", "path:/usr/lib/postgresql/15"];
    let told = "is a running server, whose settings steelyard does not change";
    place.run(&[&variants[..], &["-c", "shared_buffers=1GB"]].concat()).expect(2, &[told]);
}

#[test]
fn an_interrupt_or_a_kill_leaves_no_table_for_long() {
    let place = Place::new();
    let mut server = OwnServer::start();
    let steps = STEPS.replace("3000", "3000\nread_write_seconds = 60");
    let file = place.plan(&plan_for(&server.socket_url(), &steps));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 1/1", "  l.x");
    std::thread::sleep(Duration::from_millis(300));
    run.signal(Signal::SIGINT);
    run.end().expect(3, &["interrupted"]);
    assert_eq!(server.tables(), Vec::<String>::new());
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 1/1", "  l.x");
    run.signal(Signal::SIGKILL);
    run.end();
    assert_eq!(server.tables(), ["pi1"], "nobody was left to drop it");
    let quick = place
        .file("quick.toml", &plan_for(&server.socket_url(), "rows = 2000\nsteps = [\"l.i0\"]"));
    place.run(&[&quick]).expect(0, &[]);
    assert_eq!(server.tables(), Vec::<String>::new());
    server.assert_running();
}

#[test]
fn a_password_stays_out_of_the_results() {
    let place = Place::new();
    let mut server = OwnServer::start();
    let file = place.plan(&plan_for(&server.tcp_url(PASSWORD), STEPS));
    let ended = place.run(&[&file]);
    ended.expect(0, &["trial 1/1"]);
    let written = place.run(&[&file, "--write-plan"]);
    written.expect(0, &["passwords are not written"]);
    let compared = place.steelyard(&["compare", "--format", "json"]);
    let report = place.path().join("results/r.html");
    place.steelyard(&["report", "-o", report.to_str().unwrap()]);
    // A wrong password and a server that is not there must not tell it either.
    let wrong = place.file("wrong.toml", &plan_for(&server.tcp_url("wr0ng-passw0rd"), STEPS));
    let refused = place.run(&[&wrong]);
    refused.expect(2, &["variant `theirs`", "127.0.0.1", "password"]);
    let gone = server.tcp_url(PASSWORD).replace(&format!(":{}", server.port), ":1");
    let gone = place.file("gone.toml", &plan_for(&gone, STEPS));
    let unreachable = place.run(&[&gone]);
    unreachable.expect(2, &["variant `theirs`", "127.0.0.1:1"]);
    for ended in [&ended, &written, &compared, &refused, &unreachable] {
        for text in [&ended.stdout, &ended.stderr] {
            assert!(!text.contains(PASSWORD) && !text.contains("wr0ng-passw0rd"), "{text}");
        }
    }
    assert_absent(&place.results(), PASSWORD);
    assert_eq!(Database::of(&place.results()).finished().len(), 1);
    assert_eq!(server.tables(), Vec::<String>::new());
    server.assert_running();
}

#[test]
fn a_run_against_a_server_with_a_password_can_go_on() {
    let place = Place::new();
    let mut server = OwnServer::start();
    let text = plan(&[("theirs", &server.tcp_url(PASSWORD))], "blocks = 2\nconfig = {}", STEPS);
    let file = place.plan(&text);
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 2/2", "  l.x");
    run.signal(Signal::SIGTERM);
    run.end().expect(3, &["interrupted"]);
    // The stored plan has no password; the plan's own text has.
    place.run(&["--resume"]).expect(2, &["resuming experiment 1", "Passwords are not stored"]);
    let resumed = place.run(&["--resume", &file]);
    resumed.expect(0, &["1 kept", "trial 2/2"]);
    let first = resumed.stderr.lines().next().unwrap();
    assert_eq!(first, "resuming experiment 1 `small` (theirs; 2 blocks)");
    assert_eq!(Database::of(&place.results()).finished().len(), 2);
    assert_absent(&place.results(), PASSWORD);
    server.assert_running();
}
