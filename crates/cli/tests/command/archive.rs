//! An experiment as a file: its copy is the same, and a failure leaves nothing behind.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use nix::sys::signal::Signal;
use store::{ExperimentId, NewExperiment, NewTrial, NewVariant, Purpose, StepRecord, Store};

use crate::place::{Ended, Place, names};
use crate::plans::{BOTH, plan};

/// An address in object storage.
pub const BUCKET: &str = "s3://bucket/some/prefix";

/// Adds an experiment of two variants and three blocks, as a run stores it, with a log of `log`
/// bytes that don't compress.
pub fn add(results: &Path, name: &str, created_ms: i64, log: usize) -> ExperimentId {
    let store = Store::open(results).unwrap();
    let experiment = store
        .begin_experiment(&NewExperiment {
            purpose: Purpose::Run,
            name: name.to_owned(),
            workload: "insert".to_owned(),
            base: "pg13.7".to_owned(),
            seed: 7,
            blocks: 3,
            margin: 0.02,
            plan: plan(BOTH, "blocks = 3", "steps = [\"l.i0\"]"),
            steelyard: "0.1.0".to_owned(),
            created_ms,
        })
        .unwrap();
    for (place, (name, dbms)) in (0..).zip(BOTH) {
        let new = NewVariant {
            name: (*name).to_owned(),
            dbms: (*dbms).to_owned(),
            source: "archive".to_owned(),
            version: name.trim_start_matches("pg").to_owned(),
            build: BTreeMap::new(),
            config: BTreeMap::new(),
        };
        let variant = store.add_variant(experiment, &new).unwrap();
        for block in 1..=3 {
            let started_ms = created_ms + i64::from(block);
            let new = NewTrial { experiment, variant, block, position: 1, sequence: 1, started_ms };
            let trial = store.begin_trial(&new).unwrap();
            let mut step = StepRecord::new(0, "l.i0", 1);
            step.seconds = 2.5;
            step.operations = 1000;
            step.measure.unit = "rows".to_owned();
            let rate = 400.0 + f64::from(block) - 50.0 * f64::from(place);
            step.metrics.push(("o/s".to_owned(), rate));
            step.metrics.push(("cpu/o".to_owned(), 1e6 / rate));
            store.record_step(trial, &step).unwrap();
            store.finish_trial(trial).unwrap();
            let logs = store.artifacts().join("logs");
            fs::create_dir_all(&logs).unwrap();
            let log = if (place, block) == (0, 1) { testing::noise(log) } else { Vec::new() };
            fs::write(logs.join(format!("{name}.b{block}.dop1.t{trial}.log")), log).unwrap();
        }
    }
    store.finish_experiment(experiment).unwrap();
    experiment
}

/// A command of steelyard with its own cache.
pub fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env("STEELYARD_CACHE", place.path().join("cache"));
    for name in ["AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"] {
        command.env_remove(name);
    }
    command.env("HOME", place.path());
    command
}

/// The output of commands for a results directory or address.
pub fn printed(ask: impl Fn(&[&str]) -> Ended, results: &str) -> Vec<String> {
    let commands: [&[&str]; 5] = [
        &["list"],
        &["compare"],
        &["compare", "--format", "json"],
        &["explain", "l.i0"],
        &["history", "--format", "json"],
    ];
    let print = |command: &&[&str]| {
        let ended = ask(&[command, &["--results", results][..]].concat());
        ended.expect(0, &[]);
        ended.stdout.replace(results, "RESULTS")
    };
    commands.iter().map(print).collect()
}

#[test]
fn a_run_exported_and_imported_prints_the_same() {
    let place = Place::new();
    let file = place.plan(&plan(BOTH, "blocks = 2", "steps = [\"l.i0\", \"l.x\"]"));
    place.run(&[&file]).expect(0, &[]);
    place.steelyard(&["export", "-o", "small.steelyard"]).expect(0, &[]);
    let renamed = place.steelyard(&["import", "--name", "other", "small.steelyard"]);
    renamed.expect(2, &["--name other", "keep their own names"]);
    let elsewhere = place.path().join("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    place.steelyard(&["import", "small.steelyard", "--results", elsewhere]).expect(0, &[]);
    let results = place.results();
    let results = results.to_str().unwrap();
    let ask = |arguments: &[&str]| place.steelyard(arguments);
    assert_eq!(printed(ask, results), printed(ask, elsewhere));
    assert_eq!(names(&Path::new(elsewhere).join("artifacts/logs")).len(), 4);
    let page = |results: &str| {
        place.steelyard(&["report", "--results", results, "-o", "r.html"]).expect(0, &[]);
        let page = fs::read_to_string(place.path().join("r.html")).unwrap();
        let (before, after) = page.split_once("\"generated\":\"").unwrap();
        // All but when it was written.
        format!("{before}{}", after.split_once('"').unwrap().1)
    };
    if report::has_page() {
        assert!(page(results) == page(elsewhere), "the pages differ");
    } else {
        testing::skip("built without the page; make build builds it");
    }
    let again = place.steelyard(&["import", "small.steelyard"]);
    again.expect(0, &[]);
    assert!(again.stdout.contains("already there: experiment 1"), "{}", again.stdout);
    assert!(names(place.path()).iter().all(|name| !name.starts_with('.')));
}

#[test]
fn an_exported_experiment_is_a_plan() {
    let place = Place::new();
    let results = place.results();
    let id = add(&results, "shared", 1_000, 0);
    let stored = Store::open(&results).unwrap().all_experiments().unwrap().remove(0).plan;
    let file = place.path().join("shared.steelyard");
    let file = file.to_str().unwrap();
    place.steelyard(&["export", &id.to_string(), "-o", file]).expect(0, &[]);
    let again = place.steelyard(&["run", file, "--write-plan"]);
    again.expect(0, &[]);
    assert_eq!(again.stdout, stored);
    let other = place.steelyard(&["run", file, "--margin", "3%", "--write-plan"]);
    other.expect(0, &[]);
    assert!(other.stdout.contains("margin = 0.03"), "{}", other.stdout);
    place.steelyard(&["run", file, "-v", "postgres@14.3"]).expect(2, &["change the plan"]);
    // One that is cut off leaves nothing behind.
    let whole = fs::read(file).unwrap();
    fs::write(file, &whole[..whole.len() / 2]).unwrap();
    place.steelyard(&["run", file]).expect(2, &["shared.steelyard"]);
}

#[test]
fn requests_about_files_are_checked() {
    let place = Place::new();
    add(&place.results(), "load", 1, 10);
    place.steelyard(&["export", "none", "-o", "x"]).expect(2, &["no experiment `none`", "list"]);
    place.steelyard(&["export", "-o", "no/x"]).expect(2, &["no"]);
    place.steelyard(&["export", "load", "-o", "x"]).expect(0, &[]);
    let other = place.file("other", "{}");
    place
        .steelyard(&["import", &other])
        .expect(2, &["expected output of a known program", "found"]);
    let to_bucket = ["import", "x", "--results", BUCKET];
    place.steelyard(&to_bucket).expect(2, &["written into a directory", "push"]);
    place.steelyard(&["run", "insert", "--results", BUCKET]).expect(2, &[]);
    place.steelyard(&["push", "1"]).expect(2, &["`1` is an experiment", "name an address last"]);
    place.steelyard(&["push", BUCKET, "1"]).expect(2, &["the address comes last"]);
    place.steelyard(&["push", "1", "s3:/bucket/x"]).expect(2, &["expected s3://BUCKET/PREFIX"]);
    assert!(!place.path().join("1").exists() && !place.path().join("s3:").exists());
}

#[test]
fn what_unpacks_to_more_than_was_allowed_leaves_nothing() {
    let place = Place::new();
    add(&place.results(), "load", 1, 3 << 20);
    place.steelyard(&["export", "load", "-o", "x"]).expect(0, &[]);
    let elsewhere = place.path().join("elsewhere");
    let import = |gigabytes: &str| {
        let arguments = ["import", "x", "--results", elsewhere.to_str().unwrap()];
        let mut command = command(&place, &arguments);
        command.env("STEELYARD_LARGEST_IMPORT", gigabytes);
        place.spawn(command).end()
    };
    import("0.002").expect(2, &["x unpacks to more than 0.002 GB", "STEELYARD_LARGEST_IMPORT"]);
    import("a lot").expect(2, &["expected a number of GB", "STEELYARD_LARGEST_IMPORT", "`a lot`"]);
    assert!(!elsewhere.exists());
    import("0.1").expect(0, &[]);
}

#[test]
fn figures_are_exported_for_other_programs() {
    let place = Place::new();
    add(&place.results(), "load", 1_000, 10);
    let export = |format: &str| {
        place.steelyard(&["export", "--format", format, "-o", "x"]).expect(0, &[]);
        fs::read_to_string(place.path().join("x")).unwrap()
    };
    let csv = export("csv");
    let mut lines = csv.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let line = lines.find(|line| line.contains(",o/s,")).unwrap();
    let fields: BTreeMap<&str, &str> = columns.iter().copied().zip(line.split(',')).collect();
    for (column, value) in [
        ("name", "load"),
        ("variant", "pg13.7"),
        ("block", "1"),
        ("step", "l.i0"),
        ("kind", "measured"),
        ("unit", "rows/s"),
        ("better", "more"),
        ("value", "401"),
    ] {
        assert_eq!(fields[column], value, "{line}");
    }
    // Two metrics of one step in six trials.
    assert_eq!(csv.lines().count(), 13);

    let go = export("benchstat");
    assert!(go.contains("Unit rows/s better=higher\n"), "{go}");
    assert!(go.contains("Unit cpu/o-%·s better=lower\n"), "{go}");
    let line = "BenchmarkStep/step=l.i0/dop=1/variant=pg14.3 1 ";
    assert_eq!(go.matches(line).count(), 3, "{go}");
    assert!(go.contains(" 1 351 rows/s "), "{go}");

    let bmf: serde_json::Value = serde_json::from_str(&export("bmf")).unwrap();
    let throughput = &bmf["pg13.7/l.i0.1"]["throughput"];
    let expected = serde_json::json!({"value": 402.0, "lower_value": 401.0, "upper_value": 403.0});
    assert_eq!(*throughput, expected);
    place.steelyard(&["export", "--format", "csv", "-o", "no/x"]).expect(2, &["no"]);
}

#[test]
fn an_import_that_is_killed_leaves_nothing_or_all() {
    let place = Place::new();
    add(&place.results(), "load", 1, 4 << 20);
    place.steelyard(&["export", "-o", "x"]).expect(0, &[]);
    let results = place.path().join("elsewhere");
    let arguments = ["import", "x", "--results", results.to_str().unwrap()];
    let begin = Instant::now();
    place.steelyard(&arguments).expect(0, &[]);
    let whole = begin.elapsed();
    for part in 1..12u32 {
        fs::remove_dir_all(&results).unwrap();
        add(&results, "other", 2, 10);
        let running = place.start(&arguments);
        std::thread::sleep(whole * part / 12);
        running.signal(Signal::SIGKILL);
        running.end();
        // Opening it for writing removes the remains.
        let store = Store::open(&results).unwrap();
        let there = store.all_experiments().unwrap().len();
        let logs = names(&store.artifacts().join("logs")).len();
        assert_eq!(logs, 6 * there, "after {part}/12");
        let left = names(&results);
        assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
    }
}
