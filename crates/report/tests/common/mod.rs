//! Synthetic experiments in a real store.

pub mod counts;
pub mod documented;
pub mod many;
pub mod sweeps;

use std::collections::BTreeMap;

use hdrhistogram::serialization::{Serializer, V2Serializer};
use store::{
    Counter, ExperimentId, Failure, Histogram, HostFact, NewExperiment, NewTrial, NewVariant,
    Purpose, Series, Setting, Size, StepRecord, Store, VariantId, Warning,
};

/// 2022-06-28 16:00 UTC.
pub const START: i64 = 1_656_432_000_000;

pub struct Lab {
    pub store: Store,
    pub experiment: ExperimentId,
    pub variants: Vec<VariantId>,
    _directory: tempfile::TempDir,
}

/// Returns a step's metrics, and anything else that a test adds.
pub type Measure<'a> = dyn Fn(&str, usize, u32) -> StepRecord + 'a;

/// A plan of the insert benchmark with these variants and steps.
pub fn plan(variants: &[&str], steps: &[&str], blocks: u32, dops: &[u32]) -> String {
    let mut text = format!("name = \"load-regression\"\nblocks = {blocks}\n");
    for name in variants {
        text.push_str(&format!("[variants.\"{name}\"]\ndbms = \"postgres@{name}\"\n"));
    }
    let indexed = steps.contains(&"l.x");
    let steps: Vec<String> = steps.iter().map(|s| format!("\"{s}\"")).collect();
    text.push_str(&format!("[workload.insert]\nsteps = [{}]\ndop = {dops:?}\n", steps.join(", ")));
    if !indexed {
        text.push_str("secondary_indexes = 0\n");
    }
    plan::Plan::parse(&text, None, "test").expect("a valid plan");
    text
}

impl Lab {
    pub fn new(variants: &[&str], plan: &str, blocks: u32) -> Lab {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let (experiment, variants) = begin(&store, variants, plan, blocks);
        Lab { store, experiment, variants, _directory: directory }
    }

    /// Begins another experiment in the same store, which is the lab's from then on.
    pub fn begin_another(&mut self, variants: &[&str], plan: &str, blocks: u32) {
        (self.experiment, self.variants) = begin(&self.store, variants, plan, blocks);
    }
    /// Runs every variant through the steps in every block; `measure` returns the figures.
    pub fn run(&self, steps: &[&str], blocks: u32, dop: u32, measure: &Measure<'_>) {
        for block in 1..=blocks {
            for place in 0..self.variants.len() {
                let trial = self.begin(place, block, dop);
                let setting = Setting {
                    name: "shared_buffers".to_owned(),
                    value: "131072".to_owned(),
                    unit: "8kB".to_owned(),
                    source: "configuration file".to_owned(),
                    boot_value: "1024".to_owned(),
                };
                self.store.record_settings(trial, &[setting]).unwrap();
                for (ordinal, name) in steps.iter().enumerate() {
                    let mut record = measure(name, place, block);
                    record.ordinal = ordinal as u32;
                    record.started_ms = START + 60_000 * i64::from(block);
                    record.key.dop = dop;
                    self.store.record_step(trial, &record).unwrap();
                }
                self.store.finish_trial(trial).unwrap();
            }
        }
    }

    pub fn begin(&self, place: usize, block: u32, dop: u32) -> store::TrialId {
        let new = NewTrial {
            experiment: self.experiment,
            variant: self.variants[place],
            block,
            position: place as u32 + 1,
            sequence: dop,
            started_ms: START,
        };
        self.store.begin_trial(&new).unwrap()
    }

    pub fn results(&self) -> report::Results {
        report::load(&self.store, report::Which::Latest).unwrap()
    }

    pub fn compare(&self) -> report::Comparison {
        report::compare(&self.results(), &report::CompareOptions::default()).unwrap()
    }
}

fn begin(
    store: &Store,
    variants: &[&str],
    plan: &str,
    blocks: u32,
) -> (ExperimentId, Vec<VariantId>) {
    let experiment = store
        .begin_experiment(&NewExperiment {
            purpose: Purpose::Run,
            name: "load-regression".to_owned(),
            workload: "insert".to_owned(),
            base: variants[0].to_owned(),
            seed: 42,
            blocks,
            margin: 0.02,
            plan: plan.to_owned(),
            steelyard: "0.1.0".to_owned(),
            created_ms: START,
        })
        .unwrap();
    let fact = |group: &str, name: &str, value: &str| HostFact {
        group: group.to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
    };
    store
        .record_host(
            experiment,
            &[fact("cpu", "model", "Example <CPU> 8"), fact("cpu", "cores", "2")],
        )
        .unwrap();
    let variants = variants
        .iter()
        .map(|name| {
            let new = NewVariant {
                name: (*name).to_owned(),
                dbms: format!("postgres@{}", name.trim_start_matches("pg")),
                source: "archive".to_owned(),
                version: format!("PostgreSQL {name}"),
                build: BTreeMap::from([("compiler".to_owned(), "gcc 12".to_owned())]),
                config: BTreeMap::from([("shared_buffers".to_owned(), "1GB".to_owned())]),
            };
            store.add_variant(experiment, &new).unwrap()
        })
        .collect();
    (experiment, variants)
}

/// A step with this throughput and nothing else.
pub fn record(name: &str, ops: f64) -> StepRecord {
    let mut record = StepRecord::new(0, name, 1);
    let (class, unit) = match name {
        "l.x" => ("define", "rows"),
        _ if name.starts_with('q') => ("query", "queries"),
        _ => ("insert", "rows"),
    };
    record.measure = store::Measure {
        class: class.to_owned(),
        unit: unit.to_owned(),
        timed: class == "query",
        ..store::Measure::default()
    };
    record.seconds = 10.0;
    record.operations = (ops * 10.0) as u64;
    record.metrics.push(("o/s".to_owned(), ops));
    record
}

pub fn histogram(class: &str, values: &[(u64, u64)]) -> Histogram {
    let mut histogram =
        hdrhistogram::Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3).unwrap();
    for (value, count) in values {
        histogram.record_n(*value, *count).unwrap();
    }
    let mut hdr = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut hdr).unwrap();
    Histogram { class: class.to_owned(), count: histogram.len(), hdr }
}

/// Rates of 300 rounds of 40 ms, every fourth of 80 ms, around `level`.
pub fn sliced(name: &str, level: f64, seed: u64) -> StepRecord {
    let mut step = record(name, level);
    let mut state = seed;
    let mut chance = || {
        // Knuth's MMIX generator: enough to look like noise.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24) - 0.5
    };
    let of_slices = |name: &str, unit: &str, values: Vec<f64>| Series {
        unit: unit.to_owned(),
        ..series(name, "slices", values)
    };
    let mut rates: Vec<f64> = (0..300).map(|_| level * (1.0 + 0.1 * chance())).collect();
    let mut reasons = vec![0.0; 300];
    for round in (0..300).step_by(20) {
        rates[round] = f64::NAN;
        reasons[round] = 1.0;
    }
    let lengths = (0..300).map(|round| if round % 4 == 3 { 80.0 } else { 40.0 }).collect();
    step.metrics.push(("slice.ms".to_owned(), 40.0));
    step.series.push(of_slices("slice.o/s", "o/s", rates));
    step.series.push(of_slices("slice.length", "ms", lengths));
    step.series.push(of_slices("slice.reason", "", reasons));
    step
}

pub fn series(name: &str, group: &str, values: Vec<f64>) -> Series {
    Series {
        name: name.to_owned(),
        label: name.to_owned(),
        unit: "/s".to_owned(),
        group: group.to_owned(),
        values,
    }
}

pub fn counter(view: &str, object: &str, name: &str, value: f64) -> Counter {
    Counter { view: view.to_owned(), object: object.to_owned(), name: name.to_owned(), value }
}

/// Everything a real step brings: three variants, the second slower, the third not holding its
/// insert rate and without hardware figures.
pub fn rich(name: &str, place: usize, block: u32) -> StepRecord {
    let level = [1.0, 0.934, 0.856][place];
    let wobble = 1.0 + 0.002 * f64::from((block * 7 + place as u32 * 3) % 5) - 0.004;
    let queries = name.starts_with('q');
    let ops = if queries { 9_000.0 } else { 120_000.0 } * level * wobble;
    let mut step = record(name, ops);
    let mut metric = |name: &str, value: f64| step.metrics.push((name.to_owned(), value));
    if place < 2 {
        metric("cpu/o", 0.000_78 / level);
        metric("cs/o", 5.017);
        metric("r/o", 0.0);
        metric("rKB/o", 0.0);
        metric("wKB/o", 24.2 * wobble);
        metric("dbms.cpu/o", 8.5 / level);
        metric("client.cpu/o", 0.42);
    }
    metric("stall.count", if place == 1 && name == "l.i0" { 1.0 } else { 0.0 });
    metric("stall.share", if place == 1 && name == "l.i0" { 0.1 } else { 0.0 });
    if queries {
        let lost = place == 2;
        metric("insert.target", 100.0);
        metric("insert.rate", if lost { 88.0 } else { 99.9 });
        metric("insert.held", if lost { 0.0 } else { 1.0 });
        step.histograms
            .push(histogram("query", &[(90_000, 99_000), (300_000, 990), (20_000_000, 10)]));
        step.series.push(series("tp.query", "throughput", vec![ops; 10]));
    }
    step.histograms.push(histogram("insert", &[(2_000_000, 100), (400_000_000, 1)]));
    let mut seconds = vec![ops; 10];
    if place == 1 {
        seconds[4] = 10.0;
    }
    step.series.push(series("tp.insert", "throughput", seconds));
    step.series.push(series("cpu.us", "cpu", vec![41.237; 10]));
    step.counters.push(counter("pg_stat_bgwriter", "", "buffers_alloc", 19_970_817.0));
    if place > 0 {
        step.counters.push(counter("pg_stat_wal", "", "wal_records", 1_040_000_000.0));
        step.counters.push(counter("pg_stat_wal", "", "wal_buffers_full", 0.0));
    } else {
        step.absent.push("pg_stat_wal".to_owned());
    }
    for table in ["pi1", "pi2"] {
        let mb = |mb: u64| mb * 1_048_576 / 2;
        for (name, size) in [("index", 428), ("rel", 1531), ("total", 12_300)] {
            let (object, name) = (table.to_owned(), name.to_owned());
            step.sizes.push(Size { object, name, bytes: mb(size) });
        }
    }
    if place == 2 && queries {
        let text = "88.0 of 100 inserts/s: the rate was not held".to_owned();
        step.warnings.push(Warning { code: "rate-not-held".to_owned(), text });
        step.failures.push(Failure {
            class: "insert".to_owned(),
            code: "40P01".to_owned(),
            message: "deadlock detected".to_owned(),
            count: 3,
            retried: true,
        });
    }
    step
}

/// Compares with a file under `tests/golden`; `GOLDEN=update` writes it.
pub fn golden(name: &str, found: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "update") {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == found,
        "{} differs; look at it and run again with GOLDEN=update if it is right. Found:\n{found}",
        path.display()
    );
}
