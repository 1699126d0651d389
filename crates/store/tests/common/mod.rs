//! Stores and records for tests.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use plan::StepKey;
use store::{
    Better, CountFunction, CountPhase, CountRecord, Counter, Experiment, ExperimentId,
    ExperimentState, Failure, Histogram, LogEvent, Measure, NewExperiment, NewTrial, NewVariant,
    Purpose, QueryPlan, Series, Size, StepRecord, Store, TrialId, VariantId, Warning,
};

pub fn new_experiment(name: &str) -> NewExperiment {
    NewExperiment {
        purpose: Purpose::Run,
        name: name.to_owned(),
        workload: "insert".to_owned(),
        base: "pg13.7".to_owned(),
        seed: u64::MAX - 1,
        blocks: 6,
        margin: 0.02,
        plan: "name = \"x\"\n".to_owned(),
        steelyard: "0.1.0".to_owned(),
        created_ms: 1_700_000_000_123,
    }
}

pub fn new_variant(name: &str) -> NewVariant {
    let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    NewVariant {
        name: name.to_owned(),
        dbms: name.replace("pg", "postgres@"),
        source: "archive".to_owned(),
        version: "13.7".to_owned(),
        build: map(&[("compiler", "gcc \"10\""), ("sha256", "00ff")]),
        config: map(&[("shared_buffers", "1GB")]),
    }
}

/// The newest run that is not finished.
pub fn latest_unfinished(store: &Store) -> store::Result<Option<Experiment>> {
    let unfinished = |run: &Experiment| run.state != ExperimentState::Finished;
    Ok(store.experiments()?.into_iter().find(unfinished))
}

/// An experiment with the variants pg13.7 and pg14.3.
pub fn begin(store: &Store) -> (ExperimentId, [VariantId; 2]) {
    let experiment = store.begin_experiment(&new_experiment("load")).unwrap();
    let variants =
        ["pg13.7", "pg14.3"].map(|v| store.add_variant(experiment, &new_variant(v)).unwrap());
    (experiment, variants)
}

pub fn begin_trial(
    store: &Store,
    experiment: ExperimentId,
    variant: VariantId,
    block: u32,
) -> TrialId {
    let trial = NewTrial { experiment, variant, block, position: 1, sequence: 1, started_ms: 5 };
    store.begin_trial(&trial).unwrap()
}

/// A step with some of everything.
pub fn full_step(ordinal: u32, name: &str) -> StepRecord {
    let text = |s: &str| s.to_owned();
    let series = |name: &str, values: Vec<f64>| Series {
        name: text(name),
        label: text("user"),
        unit: text("%"),
        group: text("cpu"),
        values,
    };
    let counter = |object: &str, value| Counter {
        view: text("pg_stat_all_tables"),
        object: text(object),
        name: text("n_tup_ins"),
        value,
    };
    StepRecord {
        ordinal,
        key: StepKey { name: text(name), dop: 1, labels: [(text("pinning"), text("none"))].into() },
        started_ms: 1_700_000_000_456,
        seconds: 12.25,
        operations: 40_000,
        measure: Measure {
            class: text("insert"),
            unit: text("rows"),
            better: Better::Less,
            timed: true,
        },
        metrics: vec![(text("o/s"), 3265.3061), (text("cpu/o"), 0.001), (text("r/o"), f64::MAX)],
        series: vec![
            series("cpu.us", vec![1.0, 2.5, -0.1]),
            series("dev.r", vec![]),
            series("tp", vec![3.0, 4.0]),
        ],
        histograms: vec![
            Histogram { class: text("query"), count: 3, hdr: vec![0, 255, 7] },
            Histogram { class: text("insert"), count: u64::from(u32::MAX) * 8, hdr: vec![] },
        ],
        counters: vec![counter("pi2", 7.0), counter("pi1", 1e12), counter("pi1", 2.0)],
        absent: vec![text("pg_stat_io")],
        sizes: [("index", 1), ("total", 3 << 40)]
            .map(|(name, bytes)| Size { object: text("pi1"), name: text(name), bytes })
            .into(),
        plans: ["Index Scan", "Seq Scan"]
            .map(|plan| QueryPlan { statement: text("SELECT 1"), plan: text(plan) })
            .into(),
        events: vec![LogEvent { at_ms: 7, kind: text("checkpoint"), text: text("complete") }],
        warnings: vec![Warning { code: text("steal"), text: text("3% steal") }],
        failures: vec![Failure {
            class: text("insert"),
            code: text("40001"),
            message: text("could not serialize"),
            count: 2,
            retried: true,
        }],
        notes: vec![text("a \"quoted\" line"), text("")],
        ..StepRecord::default()
    }
}

/// A count of `statements` statements with `functions` functions, whose figures follow from their
/// positions.
pub fn count_of(kind: &str, statements: u64, functions: u64) -> CountRecord {
    let functions: Vec<CountFunction> = (0..functions)
        .map(|n| CountFunction {
            name: format!("Function{n}"),
            object: if n % 3 == 0 { "libc.so.6" } else { "postgres" }.to_owned(),
            own: n * statements + 1,
            inclusive: (n + 7) * statements,
            calls: n % 5,
        })
        .collect();
    let own: u64 = functions.iter().map(|function| function.own).sum();
    let phase = |name: &str, total| CountPhase { name: name.to_owned(), total };
    CountRecord {
        kind: kind.to_owned(),
        protocol: "simple".to_owned(),
        place: "backend".to_owned(),
        event: store::INSTRUCTIONS.to_owned(),
        statements,
        rows: 100 * statements,
        total: own,
        counts: vec![own + 3, own],
        phases: vec![phase("parse", own / 4), phase("other", own - own / 4)],
        functions,
    }
}

/// Runs the same test again, with `given` and with paths that have these modes, as a user who is
/// not root. `folder` is a directory for it.
pub fn as_nobody(folder: &Path, given: &Path, modes: &[(&PathBuf, u32)]) {
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    // A copy, because another user may not be able to reach the directory where tests are built.
    let exe = folder.join("test");
    fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    mode(folder, 0o755);
    let before = modes.iter().map(|(path, _)| fs::metadata(path).unwrap().permissions().mode());
    let before: Vec<u32> = before.collect();
    modes.iter().for_each(|(path, closed)| mode(path, *closed));
    let same = testing::again(&[], given);
    let mut child = Command::new(&exe);
    child.args(same.get_args()).current_dir("/");
    child.envs(same.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // Root can read and write everything, so become nobody.
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        child.uid(65534).gid(65534);
    }
    let output = child.output().unwrap();
    for ((path, _), open) in modes.iter().zip(before).rev() {
        mode(path, open);
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
