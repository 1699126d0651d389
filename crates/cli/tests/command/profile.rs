//! Profiles of real servers: taken during the measurement, kept and explained, with nothing left
//! behind.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::database::Database;
use crate::place::Place;
use crate::plans::{BOTH, ONE, plan};

/// True if this user can use perf here; otherwise says that perf is not available.
pub fn perf() -> bool {
    match probe::perf::Perf::find() {
        Ok(_) => true,
        Err(error) => {
            testing::skip(error);
            false
        }
    }
}

/// All files below a directory.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()))
        } else {
            found.push(entry.path())
        }
    }
    found.sort();
    found
}

/// This many samples show every phase of a statement.
const ENOUGH_SAMPLES: u64 = 500;

#[test]
fn both_versions_are_profiled_beside_what_is_measured() {
    let profiled = |seconds: &str| {
        let place = Place::new();
        let workload =
            "rows = 60000\nread_write_seconds = 2\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]";
        let file = place.plan(&plan(BOTH, "", workload));
        let ran = place.run(&["--profile", "--profile-seconds", seconds, &file]);
        (place, ran)
    };
    if !perf() {
        return;
    }
    let (mut place, mut ran) = profiled("3");
    // On a busy machine, perf takes long to attach, and a server hardly runs in that time.
    let counted = || Database::of(&place.results()).metric("qr100", "perf.task-clock/o");
    if fewest_samples(&place) < 50 || counted().is_none() {
        (place, ran) = profiled("60");
    }
    ran.expect(0, &["trial 2/2"]);
    let database = Database::of(&place.results());
    let directory = place.results().join("artifacts/profiles/1/qr100.dop1");
    let names: Vec<String> = files(&directory)
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let folded = |variant: &str| {
        names.iter().any(|n| n.starts_with(&format!("{variant}.b1.t")) && n.ends_with(".folded"))
    };
    assert!(folded("pg13.7") && folded("pg14.3"), "{names:?}");
    for drawn in ["pg13.7.svg", "pg14.3.svg", "pg13.7-pg14.3.diff.svg"] {
        assert!(names.iter().any(|name| name == drawn), "{names:?}");
    }
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(files(&place.results()).iter().all(|path| !path.ends_with("perf.data")));

    // The measured part has its planned length.
    assert!((database.metric("qr100", "seconds").unwrap() - 2.0).abs() < 1e-6);
    let notes = database.notes_of("l.i0");
    assert!(notes.iter().all(|notes| notes.contains("no profile")), "too short: {notes:?}");
    for event in ["task-clock", "context-switches", "page-faults"] {
        let cost = database.metric("qr100", &format!("perf.{event}/o"));
        let notes = database.notes_of("qr100");
        assert!(cost.is_some_and(|cost| cost >= 0.0), "{event}: {cost:?}, {notes:?}");
    }
    let metric = |name: &str| database.metric("qr100", name).unwrap();
    check_times(metric("perf.task-clock/o"), metric("dbms.cpu/o"));
    check_explanation(&place);
    let compared = place.steelyard(&["compare", "--tables", "hardware"]);
    assert!(compared.stdout.contains("Events per operation: qr100"), "{}", compared.stdout);
    if report::has_page() {
        let page = place.path().join("r.html");
        place.steelyard(&["report", "-o", page.to_str().unwrap()]).expect(0, &[]);
        let html = std::fs::read_to_string(page).unwrap();
        assert!(html.contains("\"profiles\":[{\"step\":\"qr100\""));
    }
}

#[test]
fn versions_in_slices_are_profiled_at_the_same_time() {
    if !perf() {
        return;
    }
    let whole = "pairing = \"slices\"\nslice_ms = 40\nprofile_seconds = 3";
    let workload = "rows = 60000\nread_write_seconds = 2\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]";
    let runs = (0..3).map(|_| {
        let place = Place::new();
        let file = place.plan(&plan(BOTH, whole, workload));
        place.run(&["--profile", &file]).expect(0, &["trial 2/2"]);
        place
    });
    // Where other programs have all CPUs, perf may not begin in time.
    let starved = "expected samples of the processes, found none";
    let sampled = |place: &Place| {
        !Database::of(&place.results()).notes_of("qr100").iter().any(|it| it.contains(starved))
    };
    let place = runs.into_iter().find(sampled).expect("samples in one of three runs");
    let database = Database::of(&place.results());
    for trial in database.finished() {
        let notes = |step: &str| database.notes(trial.id, step);
        assert!(notes("qr100").contains("in slices with all variants"), "{}", notes("qr100"));
        assert!(!notes("qr100").contains("no profile"), "{}", notes("qr100"));
        assert!(notes("l.i0").contains("no profile: of what runs in slices"), "{}", notes("l.i0"));
        // Of what was measured, there is no more than two seconds.
        let rounds = database.series(trial.id, "qr100", "slice.o/s").len();
        assert!((1..=50).contains(&rounds), "{rounds}");
        let metric = |name: &str| database.metric_of(trial.id, "qr100", name).unwrap();
        assert!(metric("seconds") <= 2.1, "{} s", metric("seconds"));
        check_times(metric("perf.task-clock/o"), metric("dbms.cpu/o"));
    }
    assert!(fewest_samples(&place) > 0);
    assert_eq!(files(&place.results().join("artifacts/profiles/1/qr100.dop1")).len(), 5);
}

#[test]
fn a_profile_that_was_asked_for_and_not_taken_is_told() {
    let place = Place::new();
    let short = "rows = 10\nsteps = [\"l.i0\"]";
    let file = place.plan(&plan(ONE, "", short));
    let can = perf();
    if can {
        let ran = place.run(&["--profile", &file]);
        ran.expect(3, &["--profile: no step was profiled (", "everything else was measured"]);
        assert!(ran.stdout.contains("Results are in"), "{}", ran.stdout);
    }
    // Whatever is installed here, there is no perf in that directory.
    let mut without = place.command(&["run", "--allow-concurrent", "--profile", &file]);
    without.env("PATH", place.path());
    let refused = place.spawn(without).end();
    refused.expect(2, &["--profile: expected the program perf in PATH, found none"]);
    assert!(!refused.stderr.contains("l.i0"), "it has begun: {}", refused.stderr);
    let file = place.plan(&plan(ONE, "profile = true", short));
    place.run(&[&file]).expect(0, &["warning: no step was profiled ("]);
    if !can {
        let database = Database::of(&place.results());
        let said = database.texts("SELECT text FROM warning WHERE code = 'no-perf'");
        assert_eq!(said.len(), 1, "said once");
        place.steelyard(&["explain"]).expect(2, &["--profile"]);
    }
}

/// perf and the kernel count about the same CPU time. They do so in different seconds of a step,
/// one of which a neighbor may have disturbed; a wrong unit or a missing process would be off by an
/// order of magnitude.
fn check_times(clock_ms: f64, cpu_us: f64) {
    let clock_us = clock_ms * 1000.0;
    assert!((0.2..5.0).contains(&(clock_us / cpu_us)), "{clock_us} and {cpu_us} us per query");
}

/// The smaller number of samples of the two versions.
fn fewest_samples(place: &Place) -> u64 {
    let explained = place.steelyard(&["explain", "qr100", "--format", "json"]);
    let document: Value = serde_json::from_str(&explained.stdout).unwrap_or_default();
    let samples = |at: usize| document["steps"][0]["variants"][at]["samples"].as_u64();
    samples(0).unwrap_or(0).min(samples(1).unwrap_or(0))
}

fn check_explanation(place: &Place) {
    let explained = place.steelyard(&["explain", "qr100", "--format", "json"]);
    explained.expect(0, &[]);
    let document: Value = serde_json::from_str(&explained.stdout).unwrap();
    let step = &document["steps"][0];
    assert_eq!((&step["name"], &step["dop"]), (&"qr100".into(), &1.into()));
    for (at, name) in ["pg13.7", "pg14.3"].into_iter().enumerate() {
        let variant = &step["variants"][at];
        assert_eq!(variant["name"], name);
        let samples = variant["samples"].as_u64().unwrap();
        assert!(samples > 20, "{name} has {samples} samples");
        let inside = variant["in_parent"].as_f64().unwrap();
        assert!(inside > 0.5, "{inside} of the samples of {name} are in PostgresMain");
        let phases = variant["phases"].as_object().unwrap();
        let sum: f64 = phases.values().map(|share| share.as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{phases:?}");
        let children = step["children"].as_array().unwrap();
        let share = |child: &Value| child["shares"][at].as_f64().unwrap();
        let sum: f64 = children.iter().map(share).sum();
        assert!(sum <= 1.0 + 1e-9, "{sum}");
        let run = children.iter().find(|child| child["function"] == "PortalRun").unwrap();
        assert!(share(run) > 0.05, "PortalRun has {} of {name}", share(run));
    }
    assert!(!step["moved"]["pg14.3"].as_array().unwrap().is_empty());
    let text = place.steelyard(&["explain"]);
    text.expect(0, &[]);
    for part in [
        "Percentage of samples for children of PostgresMain: qr100",
        "Functions that moved from pg13.7 to pg14.3: qr100",
        "analyze",
        "Hardware per operation: qr100",
    ] {
        assert!(text.stdout.contains(part), "`{part}` is missing in:\n{}", text.stdout);
    }
    let unprofiled = place.steelyard(&["explain", "l.x"]);
    unprofiled.expect(0, &[]);
    let why = "no part of this step can be left out";
    assert!(unprofiled.stdout.contains(why), "{}", unprofiled.stdout);
    let other = place.steelyard(&["explain", "--parent", "PortalRun", "--format", "markdown"]);
    assert!(other.stdout.contains("children of PortalRun"), "{}", other.stdout);
}

#[test]
fn a_step_that_ends_by_its_work_has_a_window() {
    let place = Place::new();
    // Enough rows to take over 6 s here; on a much faster machine the note says that they did not.
    let workload = "rows = 900000\nsteps = [\"l.i0\", \"l.x\"]";
    let file = place.plan(&plan(ONE, "profile = true\nprofile_seconds = 1", workload));
    place.run(&[&file]).expect(0, &[]);
    let database = Database::of(&place.results());
    if !perf() {
        return;
    }
    let notes = database.notes_of("l.i0");
    let folded = files(&place.results().join("artifacts/profiles/1/l.i0.dop1"));
    if notes[0].contains("no profile") {
        assert!(folded.is_empty(), "{notes:?}");
        return;
    }
    assert_eq!(folded.len(), 2, "stacks and a flamegraph: {folded:?}");
    // Two seconds are left out: the throughput is that of the rest.
    let metric = |name: &str| database.metric("l.i0", name).unwrap();
    let counted = metric("o/s") * metric("seconds");
    assert!(counted < 880_000.0, "{counted} rows in what is measured");
    let explained = place.steelyard(&["explain", "l.i0", "--format", "json"]);
    let document: Value = serde_json::from_str(&explained.stdout).unwrap();
    let samples = document["steps"][0]["variants"][0]["samples"].as_u64().unwrap();
    assert!(samples > 0, "{samples}");
    let phases = &document["steps"][0]["variants"][0]["phases"];
    let share = |phase: &str| phases[phase].as_f64().unwrap();
    let all = ["plan", "parse", "analyze", "execute", "other"];
    assert!((all.into_iter().map(share).sum::<f64>() - 1.0).abs() < 0.01, "{phases}");
    // On a busy machine there are few samples, and not of every phase.
    let seen = |phase: &&str| samples < ENOUGH_SAMPLES || share(phase) > 0.005;
    assert!(all[..4].iter().all(seen), "{samples} samples: {phases}");
}

#[test]
fn a_run_killed_while_it_profiles_leaves_nothing() {
    if !perf() {
        return;
    }
    let place = Place::new();
    let workload = "rows = 3000\nread_write_seconds = 1\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]";
    let file = place.plan(&plan(ONE, "profile = true\nprofile_seconds = 60", workload));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 1/1", "  l.x");
    let begin = Instant::now();
    while !files(&place.data()).iter().any(|path| path.ends_with("perf.data")) {
        assert!(begin.elapsed() < Duration::from_secs(120), "perf does not begin");
        std::thread::sleep(Duration::from_millis(50));
    }
    run.signal(Signal::SIGKILL);
    assert_eq!(run.end().code, None, "killed");
    place.wait_until_gone();
    place.run(&[&place.plan(&plan(ONE, "", workload))]).expect(0, &["cleaned up", "-perf"]);
    place.assert_nothing_left();
}
