//! Runs that are ended from outside, and those that go on from there.

use std::time::Duration;

use nix::sys::signal::Signal;

use crate::database::{Database, Trial};
use crate::place::Place;
use crate::plans::{BOTH, ONE, plan};

/// A load that lasts this long and leaves other tests the CPUs: its transactions come at a rate.
fn unhurried(variants: &[(&str, &str)], whole: &str, seconds: u32) -> String {
    let insert = plan(variants, whole, "");
    let (head, _) = insert.split_once("[workload.insert]").unwrap();
    format!(
        "{head}[workload.script]\nbuiltin = \"tpcb-like\"\nscale = 1\nrate = 300\n\
         steps = [\"load\", \"script\"]\n\
         warm_seconds = 0\nseconds = {seconds}\n"
    )
}

const STEPS: &str = "rows = 3000\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]";

/// After the results are complete: `kept` unchanged, one finished attempt for each trial.
fn assert_complete(place: &Place, trials: usize, kept: &[Trial]) {
    let database = Database::of(&place.results());
    database.assert_sound();
    let finished = database.finished();
    assert_eq!(finished.len(), trials, "{:?}", database.trials());
    for trial in kept {
        assert!(finished.contains(trial), "{trial:?} is not among {finished:?}");
    }
    let mut places: Vec<_> = finished.iter().map(|t| (t.block, t.variant.clone(), t.dop)).collect();
    places.sort();
    places.dedup();
    assert_eq!(places.len(), trials, "{finished:?}");
    assert_eq!(database.texts("SELECT state FROM experiment"), ["finished"]);
    assert_eq!(database.number("SELECT count(*) FROM trial WHERE state = 'running'"), 0);
}

#[test]
fn ctrl_c_in_a_step_keeps_what_is_finished() {
    let place = Place::new();
    let file = place.plan(&unhurried(BOTH, "", 8));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 2/2", "  settle");
    place.wait_for_load(&place.ledger().records().unwrap()[0].name);
    run.signal(Signal::SIGINT);
    run.end().expect(3, &["interrupted", "finished trials are kept", "steelyard run --resume"]);
    place.assert_nothing_left();
    let database = Database::of(&place.results());
    let kept = database.finished();
    assert_eq!(kept.len(), 1);
    assert_eq!(database.texts("SELECT state FROM experiment"), ["interrupted"]);
    let broken = database.steps(2);
    assert_eq!(broken.last(), Some(&("script".to_owned(), "failed".to_owned())), "{broken:?}");
    drop(database);
    // Another plan does not match the interrupted run.
    let other = place.file("other.toml", &unhurried(BOTH, "blocks = 2", 8));
    place
        .run(&["--resume", &other])
        .expect(2, &["no unfinished experiment of this plan", "`small`", "without --resume"]);
    let resumed = place.run(&["--resume", &file]);
    resumed.expect(0, &["1 kept", "trial 2/2"]);
    let first = resumed.stderr.lines().next().unwrap();
    assert_eq!(first, "resuming experiment 1 `small` (pg13.7, pg14.3; 1 block)");
    assert_complete(&place, 2, &kept);
    place.run(&["--resume"]).expect(2, &["no unfinished experiment", "name a plan"]);
}

/// The hint forgot where the results are.
#[test]
fn the_told_command_continues_the_run() {
    let place = Place::new();
    let results = place.path().join("my results");
    let file = place.plan(&unhurried(ONE, "", 4));
    let mut run = place.start_run(&[&file, "--results", results.to_str().unwrap()]);
    run.wait_for("trial 1/1", "  primary-keys");
    run.signal(Signal::SIGINT);
    let ended = run.end();
    ended.expect(3, &["interrupted", "No trial has finished yet"]);
    let told = ended.stderr.split('`').find(|part| part.starts_with("steelyard run")).unwrap();
    let words = shlex::split(told).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    place.steelyard(&words[1..]).expect(0, &["trial 1/1"]);
    assert_eq!(Database::of(&results).texts("SELECT state FROM experiment"), ["finished"]);
}

#[test]
fn sigterm_in_the_rest_after_settling_ends_at_once() {
    let place = Place::new();
    // Nothing is loaded, but the rest lasts as long as after two billion rows: 20 minutes.
    let file = place.plan(
        "name = \"rest\"\nblocks = 1\nsteal_limit = 1\nsettle_seconds_scale = 1.0\n\
         config = { shared_buffers = \"16MB\", fsync = \"off\" }\n\
         [variants.\"pg13.7\"]\ndbms = \"postgres@13.7\"\n\
         [workload.script]\nbuiltin = \"select-only\"\ninit = \"tp\"\nscale = 20000\n\
         steps = [\"primary-keys\", \"script\"]\n",
    );
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 1/1", "  primary-keys");
    std::thread::sleep(Duration::from_millis(1500));
    run.signal(Signal::SIGTERM);
    // This gives up before the rest is over.
    run.end().expect(3, &["interrupted", "--resume"]);
    let steps = Database::of(&place.results()).steps(1);
    assert!(steps.iter().all(|(name, _)| !name.starts_with("script")), "{steps:?}");
    place.assert_nothing_left();
}

#[test]
fn an_interrupt_in_a_long_statement_ends_it() {
    let place = Place::new();
    let file = place.plan(&plan(ONE, "", "rows = 600000\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]"));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 1/1", "  l.i0");
    std::thread::sleep(Duration::from_millis(150));
    run.signal(Signal::SIGINT);
    run.end().expect(3, &["interrupted"]);
}

#[test]
fn a_killed_run_leaves_no_server_and_can_go_on() {
    let place = Place::new();
    let file = place.plan(&unhurried(BOTH, "", 6));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 2/2", "  primary-keys");
    std::thread::sleep(Duration::from_millis(500));
    let state = |word| {
        let list = place.steelyard(&["list"]).stdout;
        assert!(list.contains(&format!("\t{word}\t1\t")), "{list}");
    };
    state("running");
    run.signal(Signal::SIGKILL);
    assert_eq!(run.end().code, None, "killed");
    state("interrupted");
    let address = format!("file://{}", place.path().join("pushed").display());
    place.steelyard(&["push", "1", &address]).expect(0, &["marked as running"]);
    let there = place.steelyard(&["list", "--results", &address]).stdout;
    assert!(there.contains("\tinterrupted\t1\t"), "{there}");
    // The kernel tells the server that its parent is gone.
    place.wait_until_gone();
    assert_eq!(place.ledger().records().unwrap().len(), 1, "what was started is written down");
    let database = Database::of(&place.results());
    database.assert_sound();
    let kept = database.finished();
    assert_eq!(kept.len(), 1);
    assert_eq!(database.trials()[1].state, "running");
    drop(database);
    // Looking does not change anything.
    place.steelyard(&["compare"]).expect(0, &[]);
    place
        .run(&["--resume"])
        .expect(0, &["cleaned up what a killed run left", "1 kept", "trial 2/2"]);
    assert_complete(&place, 2, &kept);
    let trials = Database::of(&place.results()).trials();
    assert_eq!(trials[1].state, "abandoned");
    assert_eq!((&trials[2].variant, trials[2].block), (&trials[1].variant, trials[1].block));
    assert_eq!(trials[2].attempt, 2);
    let list = place.steelyard(&["list"]);
    assert!(list.stdout.contains("\tfinished\t2\t"), "{}", list.stdout);
}

#[test]
fn nobody_goes_on_with_what_another_process_runs() {
    let place = Place::new();
    let file = place.plan(&plan(ONE, "", &STEPS.replace("3000", "3000\nread_write_seconds = 60")));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 1/1", "  l.x");
    let process = format!("process {}", run.pid());
    for refused in [place.run(&["--resume"]), place.steelyard(&["rm", "1", "--yes"])] {
        refused.expect(2, &["experiment 1 is being run by", &process, "wait for it"]);
    }
    let trials = Database::of(&place.results()).trials();
    assert_eq!((trials.len(), trials[0].state.as_str()), (1, "running"));
    run.signal(Signal::SIGHUP);
    run.end().expect(3, &["interrupted"]);
}

#[test]
fn a_run_to_which_nobody_listens_any_more_is_finished() {
    let place = Place::new();
    let file = place.plan(&plan(ONE, "", STEPS));
    let mut run = place.start_deaf_run(&[&file]);
    assert!(run.wait().unwrap().success());
    assert_complete(&place, 1, &[]);
}

#[test]
fn a_second_signal_ends_the_run_without_ceremony() {
    let place = Place::new();
    let file = place.plan(&plan(ONE, "", &STEPS.replace("3000", "3000\nread_write_seconds = 60")));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 1/1", "  l.x");
    std::thread::sleep(Duration::from_millis(300));
    run.signal(Signal::SIGINT);
    run.signal(Signal::SIGTERM);
    let ended = run.end();
    // The first may have been enough by then.
    assert!(matches!(ended.code, Some(130 | 3)), "{:?}", ended.code);
    // The next start, whatever it is for, sweeps up.
    let quick = place.file("quick.toml", &plan(ONE, "", "rows = 2000\nsteps = [\"l.i0\"]"));
    place.run(&[&quick]).expect(0, &[]);
}
