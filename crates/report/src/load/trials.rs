//! The finished trials of several experiments, with one metric each, for `variance`, `history` and
//! `advise` to group in their own ways.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use metrics::{ANSWERS, LATENCIES, SLICE_MS, SLICE_SWITCH_MS, STEAL};
use plan::{Plan, Sequence, StepKey};
use store::{Experiment, Measure, Scope, StepId, StepKind, TrialId, TrialState};

use super::chosen::{Chosen, Shape, Source, Workload, experiments};
use super::machine::{self, Machine};
use super::pairing::Way;
use crate::ReportError;
use crate::output::table::{distinct, place_of};

/// Trials of experiments, with one metric for each of their steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trials {
    /// Name of the metric.
    pub(crate) metric: String,
    /// In the order in which they began.
    pub(crate) experiments: Vec<Conducted>,
    /// The distinct workloads that they ran.
    pub(crate) workloads: Vec<Workload>,
    /// Names of the machines that they ran on; of two trials on one machine, the same.
    pub(crate) machines: Vec<String>,
    /// Their names in addresses.
    keys: Vec<String>,
    /// Steps in the order in which they first ran.
    pub(crate) steps: Vec<WorkloadStep>,
    /// A value per step of each finished trial, if the metric is known.
    pub(crate) values: Vec<Value>,
}

/// An experiment.
#[derive(Debug, Clone)]
pub(crate) struct Conducted {
    /// Index of its results directory.
    pub(crate) source: usize,
    pub(crate) experiment: Experiment,
    /// Place in [`Trials::workloads`].
    pub(crate) workload: usize,
    pub(crate) systems: Vec<System>,
    /// Begin and end of the finished trials, milliseconds since 1970.
    pub(crate) durations: HashMap<TrialId, (i64, i64)>,
}

/// Where trials ran, while they are read.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RanOn {
    /// The user named it.
    Named(String),
    /// Recorded with the trial.
    Recorded(Box<Machine>),
}

/// A system under test.
#[derive(Debug, Clone)]
pub(crate) struct System {
    /// Name; for a twin, that of the variant it duplicates.
    pub(crate) name: String,
    /// From the plan, such as `postgres@13.7`.
    pub(crate) dbms: String,
    /// As the DBMS reports it, such as `13.7`.
    pub(crate) version: String,
    /// Facts of the build.
    pub(crate) build: BTreeMap<String, String>,
    pub(crate) configuration: Configuration,
}

/// The settings of a system, whatever its version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Configuration {
    /// Which DBMS: `postgres`.
    pub(crate) family: String,
    pub(crate) config: BTreeMap<String, String>,
    config_text: Option<String>,
    initdb: Vec<String>,
    memory_limit: Option<u64>,
    engine: Option<String>,
    durability: Option<plan::Durability>,
}

/// Which step of which workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkloadStep {
    pub(crate) workload: usize,
    pub(crate) key: StepKey,
    /// The operations that are counted.
    pub(crate) measure: Arc<Measure>,
    /// The steps before it in the plan, because they create its data.
    before: Vec<String>,
    pub(crate) way: Way,
}

/// One step of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Value {
    /// Place in [`Trials::experiments`].
    pub(crate) experiment: usize,
    /// Place in [`Trials::machines`].
    machine: usize,
    /// Place in [`Conducted::systems`].
    pub(crate) system: usize,
    /// Place in [`Trials::steps`].
    pub(crate) step: usize,
    pub(crate) block: u32,
    pub(crate) trial: TrialId,
    pub(crate) id: StepId,
    /// The metric.
    pub(crate) value: f64,
    /// The value by which runs are compared: the metric, or throughput that has the ratio to the
    /// base's that `compare` gives.
    pub(crate) level: f64,
    /// True if a hypervisor took more CPU than a plan allows by default.
    pub(crate) disturbed: bool,
    /// True if its answers were recorded.
    pub(crate) answered: bool,
    /// Duration of the step.
    pub(crate) seconds: f64,
}

impl Trials {
    /// Reads the finished trials of the chosen experiments.
    ///
    /// # Errors
    /// When a store cannot be read, a requested experiment is in none of them, no step has the
    /// metric, or there is no finished trial.
    pub(crate) fn read(
        sources: &[Source<'_>],
        chosen: &Chosen,
        metric: &str,
    ) -> Result<Self, ReportError> {
        let mut trials = Self { metric: metric.to_owned(), ..Self::default() };
        let mut places = Vec::new();
        for (source, experiment, plan) in experiments(sources, chosen)? {
            trials.add(sources, source, experiment, plan.as_ref(), &mut places)?;
        }
        if trials.experiments.is_empty() {
            return Err(ReportError::NoExperiment);
        }
        if trials.values.is_empty() {
            return Err(trials.without_values(sources)?);
        }
        trials.machines = names(&places);
        trials.keys = places.iter().map(RanOn::key).collect();
        trials.name_workloads();
        Ok(trials)
    }

    fn add(
        &mut self,
        sources: &[Source<'_>],
        source: usize,
        experiment: Experiment,
        plan: Option<&Plan>,
        machines: &mut Vec<RanOn>,
    ) -> Result<(), ReportError> {
        let Source { store, machine, .. } = &sources[source];
        let mut ran_on: HashMap<TrialId, usize> = HashMap::new();
        for (facts, trials) in store.trial_hosts(experiment.id)? {
            let machine = match machine {
                Some(name) => RanOn::Named(name.clone()),
                None => RanOn::Recorded(Box::new(Machine::of(&facts))),
            };
            let machine = place_of(machines, machine, RanOn::eq);
            ran_on.extend(trials.into_iter().map(|trial| (trial, machine)));
        }
        let workload = self.workload(&experiment, plan);
        let variants = store.variants(experiment.id)?;
        let places: HashMap<_, _> =
            variants.iter().enumerate().map(|(place, variant)| (variant.id, place)).collect();
        let durations = store
            .trials(experiment.id)?
            .into_iter()
            .filter(|trial| trial.state == TrialState::Finished)
            .filter_map(|trial| Some((trial.id, (trial.started_ms, trial.ended_ms?))))
            .collect();
        let place = self.experiments.len();
        // The rows of an experiment share few steps.
        let mut places_of_steps = HashMap::new();
        let sequences = plan.map(|plan| plan.workload.sequences()).unwrap_or_default();
        for row in store.step_values(
            experiment.id,
            &[&self.metric, SLICE_MS.name, SLICE_SWITCH_MS.name, STEAL.name, ANSWERS.name],
            Scope::Results,
        )? {
            let (Some(system), [value, slice, switch, stolen, answers]) =
                (places.get(&row.variant), &row.values[..])
            else {
                continue;
            };
            let Some(machine) = ran_on.get(&row.trial) else { continue };
            if row.kind != StepKind::Measured || value.is_nan() {
                continue;
            }
            let way = Way::of(*slice, *switch);
            let known = (Arc::as_ptr(&row.key), Arc::as_ptr(&row.measure), way);
            let step = match places_of_steps.get(&known) {
                Some(place) => *place,
                None => {
                    let step = WorkloadStep {
                        workload,
                        before: before(&sequences, &row.key),
                        key: StepKey::clone(&row.key),
                        measure: row.measure,
                        way,
                    };
                    let place = place_of(&mut self.steps, step, WorkloadStep::eq);
                    places_of_steps.insert(known, place);
                    place
                }
            };
            self.values.push(Value {
                experiment: place,
                machine: *machine,
                system: *system,
                step,
                block: row.block,
                trial: row.trial,
                id: row.step,
                value: *value,
                level: *value,
                disturbed: *stolen > plan::DEFAULT_STEAL_LIMIT,
                answered: !answers.is_nan(),
                seconds: row.seconds,
            });
        }
        let systems = variants.into_iter().map(|v| System::of(v, plan)).collect();
        self.experiments.push(Conducted { source, experiment, workload, systems, durations });
        Ok(())
    }

    fn workload(&mut self, experiment: &Experiment, plan: Option<&Plan>) -> usize {
        let shape = Shape::of(experiment, plan);
        let workload = Workload { label: shape.label(experiment), shape };
        place_of(&mut self.workloads, workload, |known, new| known.shape == new.shape)
    }

    fn without_values(&self, sources: &[Source<'_>]) -> Result<ReportError, ReportError> {
        let mut known = BTreeSet::new();
        for conducted in &self.experiments {
            known.extend(sources[conducted.source].store.metric_names(conducted.experiment.id)?);
        }
        Ok(if known.is_empty() || known.contains(&self.metric) {
            ReportError::NoTrials
        } else {
            let asked = self.metric.clone();
            let nearest = nearest(&asked, &known);
            ReportError::UnknownMetric { asked, nearest, known: known.into_iter().collect() }
        })
    }

    /// Appends the names of their experiments to the labels of different workloads with the same
    /// label.
    fn name_workloads(&mut self) {
        let labels: Vec<String> = self.workloads.iter().map(|w| w.label.clone()).collect();
        for (place, workload) in self.workloads.iter_mut().enumerate() {
            if labels.iter().filter(|label| **label == workload.label).count() > 1 {
                let of = self.experiments.iter().filter(|conducted| conducted.workload == place);
                let names: Vec<String> = of.map(Conducted::name).collect();
                workload.label = format!("{} ({})", workload.label, names.join(", "));
            }
        }
    }

    /// Leaves only the steps of these names; all if there are none.
    ///
    /// # Errors
    /// When one is not among them.
    pub(crate) fn only(&mut self, names: &[String]) -> Result<(), ReportError> {
        if names.is_empty() {
            return Ok(());
        }
        for asked in names {
            if !self.steps.iter().any(|step| step.key.name == *asked) {
                let known = distinct(self.steps.iter().map(|step| step.key.name.clone()));
                return Err(ReportError::UnknownStep { asked: asked.clone(), known });
            }
        }
        let Self { steps, values, .. } = self;
        values.retain(|value| names.contains(&steps[value.step].key.name));
        Ok(())
    }

    /// Leaves only what ran on the machine with this key.
    pub(crate) fn only_on(&mut self, machine: &str) {
        let Self { keys, values, .. } = self;
        values.retain(|value| keys[value.machine] == machine);
    }

    /// The experiment of a value.
    pub(crate) fn conducted(&self, value: &Value) -> &Conducted {
        &self.experiments[value.experiment]
    }

    /// The name of the machine of a value.
    pub(crate) fn machine(&self, value: &Value) -> &str {
        &self.machines[value.machine]
    }

    /// The system of a value.
    pub(crate) fn system(&self, value: &Value) -> &System {
        &self.experiments[value.experiment].systems[value.system]
    }

    /// The step of a value.
    pub(crate) fn step(&self, value: &Value) -> &WorkloadStep {
        &self.steps[value.step]
    }

    /// Throughput in the whole seconds of a value's step; empty if it was not recorded, as for the
    /// creation of an index.
    pub(crate) fn seconds(
        &self,
        sources: &[Source<'_>],
        value: &Value,
    ) -> Result<Vec<f64>, ReportError> {
        let name = metrics::throughput_of(&self.step(value).measure.class);
        let store = sources[self.conducted(value).source].store;
        let series = store.series(value.id)?.into_iter().find(|series| series.name == name);
        let mut values = series.map(|series| series.values).unwrap_or_default();
        values.truncate(value.seconds.floor().max(0.0) as usize);
        Ok(values)
    }

    /// True if there are trials of more than one machine.
    pub(crate) fn has_machines(&self) -> bool {
        self.values.windows(2).any(|pair| self.machine(&pair[0]) != self.machine(&pair[1]))
    }
}

impl RanOn {
    fn key(&self) -> String {
        match self {
            RanOn::Named(name) => name.clone(),
            RanOn::Recorded(machine) => machine.key(),
        }
    }
}

/// The names of machines in tables.
fn names(places: &[RanOn]) -> Vec<String> {
    let recorded = places.iter().filter_map(|place| match place {
        RanOn::Recorded(machine) => Some(Machine::clone(machine)),
        RanOn::Named(_) => None,
    });
    let recorded: Vec<Machine> = recorded.collect();
    let mut names = machine::names(&recorded).into_iter();
    let name = |place: &RanOn| match place {
        RanOn::Named(name) => name.clone(),
        RanOn::Recorded(_) => names.next().unwrap_or_default(),
    };
    places.iter().map(name).collect()
}

/// The steps before one in a plan.
pub(crate) fn before(sequences: &[Sequence], key: &StepKey) -> Vec<String> {
    let steps = |sequence: &Sequence| Some(sequence.steps[..sequence.place(key)?].to_vec());
    let steps = sequences.iter().find_map(steps).unwrap_or_default();
    steps.into_iter().map(|step| step.key.name).collect()
}

/// The names of experiments in legends.
pub(crate) fn named(experiments: &[String]) -> String {
    match experiments {
        [one] => format!("experiment {one}"),
        several => format!("experiments {}", several.join(", ")),
    }
}

impl Conducted {
    /// Number and name of the experiment.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.experiment.id, self.experiment.name)
    }
}

impl System {
    fn of(variant: store::Variant, plan: Option<&Plan>) -> Self {
        let planned = plan.and_then(|plan| plan.variant(&variant.name));
        let family = family(&variant.dbms);
        Self {
            name: planned
                .and_then(|planned| planned.twin_of.clone())
                .unwrap_or_else(|| variant.name.clone()),
            configuration: Configuration {
                family,
                config: variant.config,
                config_text: planned.and_then(|planned| planned.config_text.clone()),
                initdb: planned.map(|planned| planned.initdb.clone()).unwrap_or_default(),
                memory_limit: planned.and_then(|planned| planned.memory_limit),
                engine: planned.and_then(|planned| planned.engine.clone()),
                durability: planned.and_then(|planned| planned.durability),
            },
            dbms: variant.dbms,
            version: variant.version,
            build: variant.build,
        }
    }

    /// True if both are the same in every setting.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.name == other.name
            && self.dbms == other.dbms
            && self.version == other.version
            && self.configuration == other.configuration
    }
}

/// Known metrics that probably were meant: for `p99` those of all classes.
fn nearest(asked: &str, known: &BTreeSet<String>) -> Vec<String> {
    let families = || LATENCIES.into_iter().filter(|family| family.short() == asked);
    let of_class = known.iter().filter(|name| families().any(|it| it.member_in(name).is_some()));
    let found: Vec<String> = of_class.cloned().collect();
    if !found.is_empty() {
        return found;
    }
    plan::nearest(asked, known.iter().map(String::as_str)).map(str::to_owned).into_iter().collect()
}

/// Which DBMS a reference from a plan means: `postgres@13.7` and `postgres://…` say it; `path:…`
/// does not and stands for the only supported one.
pub(crate) fn family(dbms: &str) -> String {
    match dbms.parse::<reference::Reference>() {
        Ok(named) => named.system,
        // `imported:sysbench`.
        Err(_) => dbms.split(':').next().unwrap_or_default().to_owned(),
    }
}

impl WorkloadStep {
    /// Its name in tables if all have the same number of clients.
    pub(crate) fn label(&self) -> String {
        format!("{}{}", self.key.label(false), self.way.suffix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_percentile_means_that_of_a_class() {
        let known = ["insert.p99", "o/s", "query.p99", "query.p999"].map(str::to_owned);
        let found = |asked: &str| nearest(asked, &BTreeSet::from(known.clone()));
        assert_eq!(found("p99"), ["insert.p99", "query.p99"]);
        assert_eq!(found("o/z"), ["o/s"]);
        assert!(found("something").is_empty());
    }
}
