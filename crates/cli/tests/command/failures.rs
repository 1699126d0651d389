//! Runs that fail on the way: their messages, and the files that are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::{Signal, kill};

use crate::database::Database;
use crate::place::Place;
use crate::plans::{ONE, plan};

/// A small filesystem, unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`, with the reason printed, where nothing can be mounted.
    fn mount(at: &Path, options: &str) -> Option<SmallDisk> {
        fs::create_dir(at).unwrap();
        let options = format!("mode=755,{options}");
        let done =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(at).output();
        if done.is_ok_and(|output| output.status.success()) {
            return Some(SmallDisk(at.to_owned()));
        }
        testing::skip("no file system can be mounted");
        None
    }

    fn used_kb(&self) -> u64 {
        let output =
            Command::new("df").args(["-k", "--output=used"]).arg(&self.0).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        told.split_whitespace().last().unwrap().parse().unwrap()
    }

    fn resize(&self, size: &str) {
        let options = format!("remount,size={size}");
        assert!(
            Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap().success()
        );
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let done = Command::new("umount").arg(&self.0).status();
        if !done.is_ok_and(|status| status.success()) {
            // After a failed test something may still use it, and is ended next.
            let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        }
    }
}

/// Names and states of the steps of the first trial.
fn first_trial(database: &Database) -> Vec<(String, String)> {
    database.steps(database.trials()[0].id)
}

fn step(name: &str, state: &str) -> (String, String) {
    (name.to_owned(), state.to_owned())
}

#[test]
fn a_statement_that_fails_is_told_with_its_sqlstate() {
    let place = Place::new();
    // The sort of l.x needs more temporary space than it may have.
    let config =
        "config = { fsync = \"off\", maintenance_work_mem = \"1MB\", temp_file_limit = \"64kB\" }";
    let file =
        place.plan(&plan(ONE, config, "rows = 60000\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]"));
    let ended = place.run(&[&file]);
    ended.expect(
        3,
        &[
            "variant `pg13.7`",
            "block 1",
            "step l.x",
            "53400",
            "temp_file_limit",
            "CREATE INDEX",
            "--resume",
        ],
    );
    let database = Database::of(&place.results());
    assert_eq!(first_trial(&database), [step("l.i0", "finished"), step("l.x", "failed")]);
    let trial = &database.trials()[0];
    assert_eq!(trial.state, "failed");
    assert!(trial.error.as_ref().unwrap().contains("53400"));
    assert_eq!(database.texts("SELECT code FROM failure"), ["53400"]);
    // A step that failed has no result.
    let json = place.steelyard(&["compare", "--format", "json"]);
    json.expect(0, &[]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(document["finished"], false);
    let index =
        document["steps"].as_array().unwrap().iter().find(|step| step["name"] == "l.x").unwrap();
    assert!(index["variants"][0]["absolute"]["o/s"]["mean"].is_null(), "{index}");
}

#[test]
fn a_server_that_dies_shows_its_last_log_lines() {
    let place = Place::new();
    let file = place.plan(&plan(
        ONE,
        "",
        "read_write_seconds = 60\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]",
    ));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 1/1", "  l.x");
    kill(place.wait_for_load("pg13.7"), Signal::SIGKILL).unwrap();
    run.end().expect(
        3,
        &[
            "variant `pg13.7`",
            "step qr100",
            "the server died",
            "signal: 9",
            "last lines",
            "ready to accept connections",
            "the whole log: ",
            "artifacts/logs/pg13.7.b1.",
            "--resume",
        ],
    );
    let database = Database::of(&place.results());
    assert_eq!(
        first_trial(&database),
        [
            step("l.i0", "finished"),
            step("l.x", "finished"),
            step("settle", "finished"),
            step("qr100", "failed")
        ]
    );
    // The log is kept with the results.
    let logs = place.results().join("artifacts/logs");
    let log = fs::read_dir(logs).unwrap().next().unwrap().unwrap().path();
    assert!(fs::read_to_string(log).unwrap().contains("ready to accept connections"));
}

#[test]
fn a_full_disk_under_the_data_is_named() {
    let place = Place::new();
    let Some(_disk) = SmallDisk::mount(&place.data(), "size=75m") else { return };
    let file = place.plan(&plan(ONE, "", "rows = 2000000\nsteps = [\"l.i0\"]"));
    place.run(&[&file]).expect(
        3,
        &["variant `pg13.7`", "step l.i0", "No space left on device", "is full", "--data-dir"],
    );
    assert_eq!(first_trial(&Database::of(&place.results())), [step("l.i0", "failed")]);
    place.assert_nothing_left();
}

#[test]
fn a_full_disk_under_the_results_loses_no_finished_step() {
    let place = Place::new();
    let Some(disk) = SmallDisk::mount(&place.results(), "size=20m") else { return };
    let file =
        place.plan(&plan(ONE, "blocks = 12", "rows = 2000\nsteps = [\"l.i0\", \"l.x\", \"l.i1\"]"));
    let mut run = place.start_run(&[&file]);
    // On a slow machine there is more to store of a trial.
    run.wait_for("trial 2/12", "l.i0");
    disk.resize(&format!("{}k", disk.used_kb() + 64));
    let ended = run.end();
    ended.expect(3, &["no space left for results", "free some space", "--resume"]);
    disk.resize("20m");
    let database = Database::of(&place.results());
    database.assert_sound();
    let kept = database.finished();
    drop(database);
    place.assert_nothing_left();
    place.run(&["--resume"]).expect(0, &["trial 12/12"]);
    let database = Database::of(&place.results());
    database.assert_sound();
    let finished = database.finished();
    assert_eq!(finished.len(), 12);
    assert!(!kept.is_empty() && kept.iter().all(|trial| finished.contains(trial)), "{kept:?}");
    drop(database);
}

#[test]
fn a_second_run_on_the_machine_is_refused() {
    let place = Place::new();
    let file = place.plan(&plan(
        ONE,
        "",
        "read_write_seconds = 20\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]",
    ));
    // Others may measure on this machine, too, which this one permits.
    let mut first = place.start_run(&[&file]);
    first.wait_for("trial 1/1", "");
    let data = place.data();
    let second = place.steelyard(&["run", "--data-dir", data.to_str().unwrap(), &file]);
    second.expect(2, &["another run is measuring", "(pid ", "--allow-concurrent"]);
    first.signal(Signal::SIGINT);
    first.end().expect(3, &["interrupted"]);
}

#[test]
fn a_memory_limit_that_is_too_low_is_named() {
    if !nix::unistd::geteuid().is_root() {
        return testing::skip("not root, so no control group can be made");
    }
    let place = Place::new();
    // Sorting 300,000 rows takes more memory than there is, page cache aside.
    let config = "config = { fsync = \"off\", shared_buffers = \"16MB\", maintenance_work_mem = \"256MB\", max_parallel_maintenance_workers = 0 }\nmemory_limit = \"40MB\"";
    let file =
        place.plan(&plan(ONE, config, "rows = 300000\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]"));
    let ended = place.run(&[&file]);
    ended
        .expect(3, &["variant `pg13.7`", "step l.", "because of the memory limit", "memory_limit"]);
}
