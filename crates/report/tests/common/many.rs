//! Many experiments in one store, as histories are made of.

use std::collections::BTreeMap;

use store::{
    ExperimentId, HostFact, NewExperiment, NewTrial, NewVariant, Purpose, StepRecord, Store,
};

use super::{START, record, series};

/// A variant: name, version, `shared_buffers`.
pub type System<'a> = (&'a str, &'a str, &'a str);

/// The experiment to run.
pub struct Request<'a> {
    pub name: &'a str,
    /// Days after the first.
    pub day: i64,
    pub systems: &'a [System<'a>],
    pub steps: &'a [&'a str],
    pub dops: &'a [u32],
    pub blocks: u32,
    pub rows: u64,
    /// Further keys of the plan: of the whole, of the workload.
    pub keys: (&'a str, &'a str),
    pub processor: &'a str,
    /// A hash of the machine's id; empty if it was not recorded.
    pub machine: &'a str,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Self {
            name: "nightly",
            day: 0,
            systems: &[("pg13.7", "13.7", "1GB")],
            steps: &["l.i0", "l.x", "qr100"],
            dops: &[1],
            blocks: 3,
            rows: 100_000,
            keys: ("", ""),
            processor: "Example 8",
            machine: "",
        }
    }
}

pub struct Many {
    pub store: Store,
    database: rusqlite::Connection,
    _directory: tempfile::TempDir,
}

/// Place of the system, step, dop, block: throughput.
pub type Throughput<'a> = dyn Fn(usize, &str, u32, u32) -> f64 + 'a;

impl Many {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let database = rusqlite::Connection::open(store.database()).unwrap();
        Self { store, database, _directory: directory }
    }

    /// Sets when a trial ended: the store writes the present time, which is years after these
    /// trials began.
    fn ended(&self, trial: store::TrialId, ended_ms: i64) {
        let sql = "UPDATE trial SET ended_ms = ?2 WHERE id = ?1";
        self.database.execute(sql, [trial.0, ended_ms]).unwrap();
    }

    pub fn sources(&self) -> Vec<report::Source<'_>> {
        vec![report::Source { store: &self.store, directory: "results".to_owned(), machine: None }]
    }

    /// An experiment was resumed after this block on a machine with that id.
    pub fn resumed(&self, experiment: ExperimentId, after: u32, machine: &str) {
        let mut facts = self.store.host_facts(experiment).unwrap();
        facts.retain(|fact| fact.name != "machine id");
        facts.push(machine_id(machine));
        self.store.record_host(experiment, &facts).unwrap();
        let sql = "UPDATE trial SET host_set_id = (SELECT host_set_id FROM experiment WHERE id = ?1) \
                   WHERE experiment_id = ?1 AND block > ?2";
        assert!(self.database.execute(sql, [experiment.0, i64::from(after)]).unwrap() > 0);
    }

    /// Runs an experiment to its end; blocks of trials in the order of the plan.
    pub fn run(&self, request: &Request<'_>, throughput: &Throughput<'_>) -> ExperimentId {
        let plan = plan(request);
        let begin = START + 86_400_000 * request.day;
        let experiment = self
            .store
            .begin_experiment(&NewExperiment {
                purpose: Purpose::Run,
                name: request.name.to_owned(),
                workload: "insert".to_owned(),
                base: request.systems[0].0.to_owned(),
                seed: 42,
                blocks: request.blocks,
                margin: 0.02,
                plan,
                steelyard: "0.1.0".to_owned(),
                created_ms: begin,
            })
            .unwrap();
        let fact = |name: &str, value: &str| HostFact {
            group: "cpu".to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let mut facts = vec![fact("model", request.processor), fact("cores", "8")];
        if !request.machine.is_empty() {
            facts.push(machine_id(request.machine));
        }
        self.store.record_host(experiment, &facts).unwrap();
        let mut clock = begin;
        let variants: Vec<_> = request
            .systems
            .iter()
            .map(|(name, version, buffers)| {
                let new = NewVariant {
                    name: (*name).to_owned(),
                    dbms: format!("postgres@{version}"),
                    source: format!("postgres@{version}"),
                    version: (*version).to_owned(),
                    build: BTreeMap::new(),
                    config: BTreeMap::from([("shared_buffers".to_owned(), (*buffers).to_owned())]),
                };
                self.store.add_variant(experiment, &new).unwrap()
            })
            .collect();
        for dop in request.dops {
            for block in 1..=request.blocks {
                for (place, variant) in variants.iter().enumerate() {
                    let trial = NewTrial {
                        experiment,
                        variant: *variant,
                        block,
                        position: place as u32 + 1,
                        sequence: *dop,
                        started_ms: clock,
                    };
                    let trial = self.store.begin_trial(&trial).unwrap();
                    for (ordinal, name) in request.steps.iter().enumerate() {
                        let rate = throughput(place, name, *dop, block);
                        let mut step = measured(name, rate, u64::from(block) + 10 * place as u64);
                        step.ordinal = ordinal as u32;
                        step.key.dop = *dop;
                        step.started_ms = clock;
                        self.store.record_step(trial, &step).unwrap();
                    }
                    self.store.finish_trial(trial).unwrap();
                    clock += 60_000;
                    self.ended(trial, clock);
                }
            }
        }
        self.store.finish_experiment(experiment).unwrap();
        experiment
    }
}

fn machine_id(id: &str) -> HostFact {
    let [group, name, value] = ["system", "machine id", id].map(str::to_owned);
    HostFact { group, name, value }
}

/// A step of ten seconds that wobble around its rate; `l.x` is one statement, without seconds.
fn measured(name: &str, rate: f64, seed: u64) -> StepRecord {
    let mut step = record(name, rate);
    step.metrics.push(("cpu/o".to_owned(), 100.0 / rate));
    step.seconds = 12.0;
    if name != "l.x" {
        let wobble = |second: u64| (((second * 7 + seed * 3) % 12) as f64 - 5.5) / 550.0;
        let seconds = (0..12).map(|second| rate * (1.0 + wobble(second))).collect();
        let class = if name.starts_with('q') { "tp.query" } else { "tp.insert" };
        step.series.push(series(class, "throughput", seconds));
    }
    step
}

/// The plan that a request stands for.
pub fn plan(request: &Request<'_>) -> String {
    let mut text =
        format!("name = \"{}\"\nblocks = {}\n{}\n", request.name, request.blocks, request.keys.0);
    for (name, version, buffers) in request.systems {
        text.push_str(&format!("[variants.\"{name}\"]\ndbms = \"postgres@{version}\"\n"));
        if let Some(twin) = name.strip_suffix(".aa") {
            text.push_str(&format!("twin_of = \"{twin}\"\n"));
        }
        text.push_str(&format!("config = {{ shared_buffers = \"{buffers}\" }}\n"));
    }
    let steps: Vec<String> = request.steps.iter().map(|s| format!("\"{s}\"")).collect();
    text.push_str(&format!(
        "[workload.insert]\nrows = {}\nsteps = [{}]\ndop = {:?}\n{}\n",
        request.rows,
        steps.join(", "),
        request.dops,
        request.keys.1
    ));
    plan::Plan::parse(&text, None, "test").expect("a valid plan");
    text
}
