//! The gates of `compare` and their exit codes, over results whose verdict is known.

use std::collections::BTreeMap;

use store::{NewExperiment, NewTrial, NewVariant, Purpose, StepRecord, Store};

use crate::place::{Ended, Place};

const PLAN: &str = "name = \"gate\"\nbase = \"a\"\n[variants.a]\ndbms = \"postgres@13.7\"\n\
                    [variants.b]\ndbms = \"postgres@14.3\"\n[workload.insert]\nsteps = [\"l.i0\", \"l.x\"]\n";
/// The results of six blocks of one variant, in rows per second.
type Blocks = [f64; 6];
const BASE: Blocks = [100_000.0, 100_300.0, 99_800.0, 100_100.0, 99_900.0, 100_200.0];
/// Surely slower by 7%.
const SLOWER: Blocks = [93_000.0, 93_400.0, 92_700.0, 93_200.0, 92_800.0, 93_100.0];
/// Somewhere between a loss and a gain.
const SCATTERED: Blocks = [91_000.0, 108_000.0, 95_000.0, 103_000.0, 99_000.0, 110_000.0];

/// Stores an experiment of variants a and b; `None`: the step of b has no result in any block.
fn store(place: &Place, load: Option<Blocks>, index: Option<Blocks>) {
    let store = Store::open(&place.results()).unwrap();
    let experiment = store
        .begin_experiment(&NewExperiment {
            purpose: Purpose::Run,
            name: "gate".to_owned(),
            workload: "insert".to_owned(),
            base: "a".to_owned(),
            seed: 1,
            blocks: 6,
            margin: 0.02,
            plan: PLAN.to_owned(),
            steelyard: "0.1.0".to_owned(),
            created_ms: 1_656_432_000_000,
        })
        .unwrap();
    for (name, steps) in [("a", [Some(BASE), Some(BASE)]), ("b", [load, index])] {
        let variant = store
            .add_variant(
                experiment,
                &NewVariant {
                    name: name.to_owned(),
                    dbms: "postgres@13.7".to_owned(),
                    source: "archive".to_owned(),
                    version: "PostgreSQL 13.7".to_owned(),
                    build: BTreeMap::new(),
                    config: BTreeMap::new(),
                },
            )
            .unwrap();
        for block in 1..=6u32 {
            let trial = store
                .begin_trial(&NewTrial {
                    experiment,
                    variant,
                    block,
                    position: 1,
                    sequence: 1,
                    started_ms: 1_656_432_000_000,
                })
                .unwrap();
            for (ordinal, (step, values)) in (0..).zip(["l.i0", "l.x"].into_iter().zip(steps)) {
                let Some(values) = values else { continue };
                let mut record = StepRecord::new(ordinal, step, 1);
                record.seconds = 1.0;
                record.metrics.push(("o/s".to_owned(), values[block as usize - 1]));
                store.record_step(trial, &record).unwrap();
            }
            store.finish_trial(trial).unwrap();
        }
    }
    store.finish_experiment(experiment).unwrap();
}

fn gated(load: Option<Blocks>, index: Option<Blocks>, gate: &str) -> Ended {
    let place = Place::new();
    store(&place, load, index);
    place.steelyard(&["compare", gate])
}

#[test]
fn a_confirmed_regression_fails_both_gates() {
    for gate in ["--gate", "--gate-inconclusive"] {
        let ended = gated(Some(SLOWER), Some(BASE), gate);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains("the gate failed"), "{}", ended.stderr);
        assert!(ended.stderr.contains("l.i0: b is 7.0% slower than a"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("l.x"), "l.x is as fast: {}", ended.stderr);
        assert!(ended.stdout.contains("Throughput"), "the tables are printed all the same");
    }
}

#[test]
fn an_undecided_step_fails_the_strict_gate_only() {
    let plain = gated(Some(SCATTERED), Some(BASE), "--gate");
    assert_eq!((plain.code, plain.stderr.as_str()), (Some(0), ""));
    let strict = gated(Some(SCATTERED), Some(BASE), "--gate-inconclusive");
    assert_eq!(strict.code, Some(1), "{}", strict.stderr);
    assert!(strict.stderr.contains("l.i0: ") && strict.stderr.contains("inconclusive"));
}

#[test]
fn a_step_without_results_fails_both_gates() {
    for gate in ["--gate", "--gate-inconclusive"] {
        let ended = gated(Some(BASE), None, gate);
        let said = "l.x: b has no result: no finished trial has this step";
        ended.expect(1, &["the gate failed", said]);
        assert!(ended.stdout.contains("no finished trial has this step: inconclusive"));
    }
}

#[test]
fn a_variant_that_did_nothing_fails_both_gates() {
    for gate in ["--gate", "--gate-inconclusive"] {
        let mut once = BASE;
        once[2] = 0.0;
        let ended = gated(Some(once), Some(BASE), gate);
        let said = "b did nothing in 1 of 6 blocks (3), but a did: inconclusive";
        ended.expect(1, &["l.i0: ", said]);
        assert!(ended.stdout.contains(said), "{}", ended.stdout);
        assert!(!ended.stderr.contains("l.x"), "{}", ended.stderr);
        let ended = gated(Some([0.0; 6]), Some(BASE), gate);
        ended.expect(1, &["l.i0: b did nothing in all 6 blocks, but a did: regression"]);
    }
}

#[test]
fn an_older_run_passes_no_gate_in_place_of_one_without_results() {
    let place = Place::new();
    store(&place, Some(BASE), Some(BASE));
    place.steelyard(&["compare", "--gate-inconclusive"]).expect(0, &[]);
    store(&place, None, None);
    let database = rusqlite::Connection::open(place.results().join("steelyard.db")).unwrap();
    let abandon = "UPDATE trial SET state = 'abandoned' WHERE experiment_id = 2";
    assert_eq!(database.execute(abandon, []).unwrap(), 12);
    place.steelyard(&["compare"]).expect(0, &["experiment 1 `gate`, the latest run with results"]);
    let newest = place.steelyard(&["compare", "-e", "gate"]).stderr;
    assert!(newest.contains("experiment 2, the newest of 2 called `gate`"), "{newest}");
    assert!(!place.steelyard(&["compare", "-e", "1"]).stderr.contains("newest"));
    place.steelyard(&["compare", "-e", "99"]).expect(2, &["no experiment `99` in", "list"]);
    for gate in ["--gate", "--gate-inconclusive"] {
        let said = ["the gate failed", "experiment 2 `gate`, the latest run;"];
        place.steelyard(&["compare", gate]).expect(1, &said);
    }
}

#[test]
fn an_unfinished_run_fails_both_gates_and_names_what_failed() {
    for gate in ["--gate", "--gate-inconclusive"] {
        let place = Place::new();
        store(&place, Some(BASE), Some(BASE));
        let results = Store::open(&place.results()).unwrap();
        let experiment = results.latest().unwrap().unwrap().id;
        results.resume_experiment(experiment).unwrap();
        place.steelyard(&["compare", gate]).expect(1, &["the experiment is not finished"]);
        results.interrupt_experiment(experiment).unwrap();
        place.steelyard(&["compare", gate]).expect(1, &["the experiment is not finished"]);
        assert_eq!(place.steelyard(&["compare"]).code, Some(0));
    }
}

#[test]
fn the_gate_is_about_the_metrics_that_are_named() {
    let place = Place::new();
    store(&place, Some(SLOWER), Some(BASE));
    // Only o/s is stored: a metric without measurements does not pass.
    let cpu = place.steelyard(&["compare", "--metric", "dbms.cpu/o", "--gate"]);
    cpu.expect(1, &["l.i0: dbms.cpu/o was not measured for a and b", "l.x: "]);
    let both = place.steelyard(&["compare", "--metric", "dbms.cpu/o", "--metric", "o/s", "--gate"]);
    both.expect(1, &["l.i0: b is 7.0% slower than a", "l.i0: dbms.cpu/o was not measured"]);
    let unknown = place.steelyard(&["compare", "--metric", "dbms.cpu", "--gate"]);
    unknown.expect(2, &["found dbms.cpu (did you mean dbms.cpu/o?); available are o/s"]);
    place.steelyard(&["compare", "--metric", "seconds"]).expect(2, &["that can be judged"]);
}

#[test]
fn an_improvement_and_no_difference_pass_both() {
    for gate in ["--gate", "--gate-inconclusive"] {
        let faster = SLOWER.map(|rate| rate * 1.2);
        let ended = gated(Some(BASE), Some(faster), gate);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    }
}

#[test]
fn without_a_gate_a_regression_is_no_failure_and_without_results_the_request_is_wrong() {
    let place = Place::new();
    for gate in ["--gate", "--gate-inconclusive"] {
        assert_eq!(place.steelyard(&["compare", gate]).code, Some(2), "nothing to compare");
    }
    store(&place, Some(SLOWER), Some(SLOWER));
    assert_eq!(place.steelyard(&["compare"]).code, Some(0));
    let unknown = place.steelyard(&["compare", "--gate", "--base", "c"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
}

/// An unfinished count in the same directory as a finished run.
#[test]
fn a_count_is_not_taken_for_a_run() {
    let place = Place::new();
    store(&place, Some(BASE), Some(BASE));
    let results = Store::open(&place.results()).unwrap();
    results
        .begin_experiment(&NewExperiment {
            purpose: Purpose::Count,
            name: "counted".to_owned(),
            workload: "insert".to_owned(),
            base: "a".to_owned(),
            seed: 1,
            blocks: 1,
            margin: 0.02,
            plan: PLAN.to_owned(),
            steelyard: "0.1.0".to_owned(),
            created_ms: 1_656_432_000_001,
        })
        .unwrap();
    drop(results);
    let list = place.steelyard(&["list"]);
    list.expect(0, &[]);
    assert!(
        list.stdout.contains("2\tcounted\tinsert\tinterrupted\t0\t\tcount\t"),
        "{}",
        list.stdout
    );
    assert!(list.stdout.contains("1\tgate\tinsert\tfinished\t12\ta b\trun\t"), "{}", list.stdout);
    let compare = place.steelyard(&["compare"]);
    compare.expect(0, &[]);
    assert!(compare.stdout.contains("Throughput"), "{}", compare.stdout);
    for which in ["counted", "2"] {
        place.steelyard(&["compare", "-e", which]).expect(2, &["expected a run", "counted"]);
    }
    place.run(&["--resume"]).expect(2, &["no unfinished experiment"]);
}
