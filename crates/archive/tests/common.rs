//! Results for tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use store::{
    ExperimentId, NewExperiment, NewTrial, NewVariant, Purpose, Series, StepRecord, Store,
    VariantId,
};

/// Adds an experiment of one variant that has no trial yet.
pub fn begin(store: &Store, name: &str, created_ms: i64, dbms: &str) -> (ExperimentId, VariantId) {
    let experiment = store
        .begin_experiment(&NewExperiment {
            purpose: Purpose::Run,
            name: name.to_owned(),
            workload: "insert".to_owned(),
            base: "pg13.7".to_owned(),
            seed: 7,
            blocks: 1,
            margin: 0.02,
            plan: "name = \"x\"\n".to_owned(),
            steelyard: "0.1.0".to_owned(),
            created_ms,
        })
        .unwrap();
    let variant = store
        .add_variant(
            experiment,
            &NewVariant {
                name: "pg13.7".to_owned(),
                dbms: dbms.to_owned(),
                source: "archive".to_owned(),
                version: "13.7".to_owned(),
                build: BTreeMap::new(),
                config: BTreeMap::new(),
            },
        )
        .unwrap();
    (experiment, variant)
}

/// Adds a finished experiment of one variant and one trial, with a log of `log` bytes that don't
/// compress.
pub fn add(store: &Store, name: &str, created_ms: i64, log: usize) -> ExperimentId {
    let (experiment, variant) = begin(store, name, created_ms, "postgres@13.7");
    let trial = NewTrial { experiment, variant, block: 1, position: 1, sequence: 1, started_ms: 5 };
    let trial = store.begin_trial(&trial).unwrap();
    let mut step = StepRecord::new(0, "l.i0", 1);
    step.seconds = 2.5;
    step.operations = 1000;
    step.metrics.push(("o/s".to_owned(), 400.0));
    step.series.push(Series {
        name: "cpu.us".to_owned(),
        label: "user".to_owned(),
        unit: "%".to_owned(),
        group: "cpu".to_owned(),
        values: vec![1.5, 2.5],
    });
    store.record_step(trial, &step).unwrap();
    store.finish_trial(trial).unwrap();
    store.finish_experiment(experiment).unwrap();
    let logs = store.artifacts().join("logs");
    fs::create_dir_all(&logs).unwrap();
    fs::write(logs.join(format!("pg13.7.b1.dop1.t{trial}.log")), testing::noise(log)).unwrap();
    experiment
}

/// A results directory with one experiment.
pub fn results(folder: &Path, name: &str, log: usize) -> Store {
    let store = Store::open(&folder.join("results")).unwrap();
    add(&store, name, 1_700_000_000_000, log);
    store
}
