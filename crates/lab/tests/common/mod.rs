//! A place for an experiment: its results, its ledger, and what happened in it.

pub mod engine;
pub mod world;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use dbms::Ledger;
use lab::{Event, Options, Resume};
use plan::Plan;
use store::{Scope, Store, TrialState};
use tempfile::TempDir;

use world::World;

/// A place for one experiment.
pub struct Site {
    directory: TempDir,
    pub world: World,
    pub events: Vec<Event>,
    /// The event (by its number, from 1) at which the user ends the run.
    pub interrupt_at: Option<usize>,
}

/// A trial as it is in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    pub id: i64,
    pub block: u32,
    pub variant: String,
    pub state: TrialState,
    /// Names of its steps; those that failed with a `!` behind.
    pub steps: Vec<String>,
}

impl Site {
    pub fn new() -> Site {
        let directory = tempfile::tempdir().unwrap();
        let world = World::new(directory.path());
        Site { directory, world, events: Vec::new(), interrupt_at: None }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A plan of variants of one version, with lines before them and of its workload.
    pub fn plan(variants: &[&str], whole: &str, workload: &str) -> Box<Plan> {
        let variants: String = variants
            .iter()
            .map(|name| format!("[variants.{name}]\ndbms = \"postgres@14.3\"\n"))
            .collect();
        let text = format!(
            "name = \"fake\"\nseed = 3\nbase = \"a\"\nsettle_seconds_scale = 0\nsteal_limit = 1\n\
             {whole}\n{variants}[workload.insert]\n{workload}\n"
        );
        Box::new(Plan::parse(&text, None, "test").unwrap())
    }

    pub fn run(&mut self, plan: &Plan) -> Result<(), lab::Error> {
        self.conduct(Resume::New(Box::new(plan.clone())))
    }

    pub fn resume(&mut self) -> Result<(), lab::Error> {
        self.world.restart();
        self.interrupt_at = None;
        self.conduct(lab::latest_unfinished(&self.path().join("results"), None)?)
    }

    fn conduct(&mut self, resume: Resume) -> Result<(), lab::Error> {
        let mut options = Options::new(self.path().join("results"), "test");
        options.data_dir = self.path().join("data");
        options.allow_concurrent = true;
        options.writeback_limit = Duration::ZERO;
        options.answer_limit = Duration::from_secs(3);
        let ledger = Ledger::open(self.path().join("ledger")).unwrap();
        let interrupted = self.world.interrupted();
        let (events, at) = (&mut self.events, self.interrupt_at);
        events.clear();
        let result = lab::run(resume, &options, &self.world, &ledger, &interrupted, &mut |event| {
            if !matches!(event, Event::Progress { .. }) {
                events.push(event);
                if at == Some(events.len()) {
                    interrupted.store(true, std::sync::atomic::Ordering::Relaxed);
                }
            }
        });
        self.assert_nothing_left(&ledger);
        result.map(|_| ())
    }

    /// Everything that was started was stopped, and has left nothing on disk.
    fn assert_nothing_left(&self, ledger: &Ledger) {
        assert_eq!(self.world.up(), Vec::<String>::new(), "{:?}", self.world.calls());
        assert_eq!(ledger.records().unwrap().len(), 0, "{:?}", self.world.calls());
        assert!(!self.path().join("data").exists(), "{:?}", self.world.calls());
    }

    pub fn store(&self) -> Store {
        Store::open_read_only(&self.path().join("results")).unwrap()
    }

    /// All trials of the only experiment, in their order.
    pub fn trials(&self) -> Vec<Trial> {
        let store = self.store();
        let Some(experiment) = store.latest().unwrap() else { return Vec::new() };
        let names: BTreeMap<_, _> = store
            .variants(experiment.id)
            .unwrap()
            .into_iter()
            .map(|variant| (variant.id, variant.name))
            .collect();
        let steps = store.steps(experiment.id, Scope::All).unwrap();
        let of = |trial| {
            let named = steps.iter().filter(|step| step.trial == trial).map(|step| {
                let failed = if step.state == store::StepState::Finished { "" } else { "!" };
                format!("{}{failed}", step.key.name)
            });
            named.collect::<Vec<_>>()
        };
        store
            .trials(experiment.id)
            .unwrap()
            .into_iter()
            .map(|trial| Trial {
                id: trial.id.0,
                block: trial.block,
                variant: names[&trial.variant].clone(),
                state: trial.state,
                steps: of(trial.id),
            })
            .collect()
    }

    /// All trials so far ran where this fact of the system, or of the processor (`cpu model`), was
    /// another; with `None`, where it was not recorded.
    pub fn ran_elsewhere(&self, fact: &str, value: Option<&str>) {
        let of = |group: &'static str| Some((group, fact.strip_prefix(group)?.trim_start()));
        let (group, name) = of("cpu").or_else(|| of("storage")).unwrap_or(("system", fact));
        let database =
            rusqlite::Connection::open(self.path().join("results/steelyard.db")).unwrap();
        let changed = match value {
            Some(value) => database.execute(
                "UPDATE host_fact SET value = ?3 WHERE grp = ?1 AND name = ?2",
                [group, name, value],
            ),
            None => database
                .execute("DELETE FROM host_fact WHERE grp = ?1 AND name = ?2", [group, name]),
        };
        assert_eq!(changed.unwrap(), 1, "{fact}");
    }

    pub fn finished(&self) -> Vec<Trial> {
        let mut trials = self.trials();
        trials.retain(|trial| trial.state == TrialState::Finished);
        trials
    }

    /// Codes of the warnings about the whole experiment.
    pub fn warnings(&self) -> Vec<String> {
        let store = self.store();
        let experiment = store.latest().unwrap().unwrap();
        let warnings = store.warnings(experiment.id).unwrap().into_iter();
        warnings.filter(|w| w.trial.is_none()).map(|w| w.warning.code).collect()
    }

    fn step(&self, trial: &Trial, name: &str) -> Option<store::Step> {
        let store = self.store();
        let experiment = store.latest().unwrap().unwrap();
        let mut steps = store.steps(experiment.id, Scope::All).unwrap().into_iter();
        steps.find(|step| step.trial.0 == trial.id && step.key.name == name)
    }

    /// A metric of a step of a trial.
    pub fn metric(&self, trial: &Trial, step: &str, metric: &str) -> Option<f64> {
        self.store().metrics(self.step(trial, step)?.id).unwrap().get(metric).copied()
    }

    /// A series of a step of a trial.
    pub fn series(&self, trial: &Trial, step: &str, name: &str) -> Vec<f64> {
        let found = self.store().series(self.step(trial, step).unwrap().id).unwrap();
        found.into_iter().find(|series| series.name == name).unwrap().values
    }

    /// The notes of a step of a trial.
    pub fn notes(&self, trial: &Trial, step: &str) -> String {
        self.step(trial, step).unwrap().notes.join("\n")
    }

    /// The notes that were reported.
    pub fn told(&self) -> String {
        let text = |event: &Event| match event {
            Event::Note(text) => Some(text.clone()),
            _ => None,
        };
        self.events.iter().filter_map(text).collect::<Vec<_>>().join("\n")
    }
}
