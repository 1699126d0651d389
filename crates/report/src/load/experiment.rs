//! Loads a store's experiment into [`Results`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use hdrhistogram::serialization::Deserializer;
use plan::StepKey;
use store::{
    Experiment, ExperimentId, Failure, Purpose, Scope, Step, StepKind, Store, Trial, TrialState,
    Warning,
};

use super::answers::Answers;
use super::found;
use super::latency::Pooled;
use super::machine;
use super::model::{
    CounterFigure, FailedTrial, Noted, Results, Sample, StepResults, VariantResults, VariantStep,
};
use super::notes;
use super::pairing::settle_pairing;
use super::plans;
use super::slices::Slices;
use super::starts::differing;
use super::used::looks;
use super::wrong;
use crate::ReportError;
use crate::output::table::place_of;

/// With more steps than this in one experiment, only throughput, rates and costs are read, and a
/// warning says so. Reading response times, sizes and counters of more steps would take seconds.
const DETAILED_STEPS: usize = 20_000;

/// Which experiment of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Which<'a> {
    /// The newest run with results; if none has any, the newest.
    #[default]
    Latest,
    /// The newest run, with results or without: for a gate, which an older run must not pass in its
    /// place.
    Newest,
    /// The same or, if there is no run, the newest count: results without steps, for a page
    /// that shows counts.
    LatestOrCount,
    /// The one with this id.
    Id(ExperimentId),
    /// The one with this id, also if it is a count, as with [`Which::LatestOrCount`].
    RunOrCount(ExperimentId),
    /// The newest with this name; if no experiment has it and the name is a number, the one with
    /// that id.
    Named(&'a str),
}

/// Reads an experiment: the finished steps of its finished trials.
///
/// # Errors
/// When the experiment does not exist, the store cannot be read, or a histogram is damaged.
pub fn load(store: &Store, which: Which<'_>) -> Result<Results, ReportError> {
    read(store, which, true)
}

/// The same without response times, sizes, counters and plans of statements: enough to judge, in a
/// tenth of the time.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_figures(store: &Store, which: Which<'_>) -> Result<Results, ReportError> {
    read(store, which, false)
}

fn read(store: &Store, which: Which<'_>, details: bool) -> Result<Results, ReportError> {
    let mut experiment = find(store, which)?;
    let trials = store.trials(experiment.id)?;
    let variants = store.variants(experiment.id)?;
    let places: HashMap<_, _> =
        variants.iter().enumerate().map(|(place, variant)| (variant.id, place)).collect();
    // Without a plan that this steelyard can read, there are still the figures.
    let plan = match experiment.purpose {
        Purpose::Run => plan::Plan::parse(&experiment.plan, None, "the stored plan").ok(),
        // A count runs no steps of the plan.
        Purpose::Count => None,
    };
    let twins = twins(plan.as_ref(), &variants);
    let variants = variants
        .into_iter()
        .zip(twins)
        .map(|(variant, twin_of)| {
            let settings = store.variant_settings(variant.id)?;
            Ok(VariantResults { settings, variant, twin_of })
        })
        .collect::<Result<Vec<_>, ReportError>>()?;
    let mut loader = Loader {
        store,
        places,
        steps: planned(plan.as_ref(), variants.len()),
        warnings: Vec::new(),
        reader: Deserializer::new(),
    };
    loader.read(experiment.id, details)?;
    let warnings = loader.noted(experiment.id, &trials)?;
    let failed = failed(&trials, &loader.places);
    if plan.as_ref().is_some_and(plan::Plan::designs_itself) {
        // Nobody planned them; those that there are count.
        experiment.blocks = trials.iter().map(|trial| trial.block).max().unwrap_or(0);
    }
    let lengthens = plan.as_ref().is_some_and(plan::Plan::designs_itself);
    let open = |plan: &plan::Plan| plan.budget.is_some() || plan.designs_itself();
    let open = plan.as_ref().is_some_and(open);
    let mut results = Results {
        least_blocks: if open { 0 } else { experiment.blocks },
        host: store.host_facts(experiment.id)?,
        variants,
        steps: loader.steps,
        looks: plan.map_or_else(|| judge::Looks::new(&[]), |plan| looks(&plan, &trials)),
        warnings,
        failed,
        machines: BTreeMap::new(),
        experiment,
    };
    let hosts = store.trial_hosts(results.experiment.id)?;
    results.machines = machine::of_blocks(&hosts, &trials);
    let machines = || results.machines.values();
    let lengthens = lengthens && machines().next().is_none_or(|one| machines().all(|it| it == one));
    let variants = results.steps.iter_mut().flat_map(|step| &mut step.variants);
    variants.for_each(|variant| variant.lengthens = lengthens);
    let changed = machine::changed(&hosts, &trials);
    let whole = |warning| Noted { step: None, variant: None, block: None, warning };
    results.warnings.extend(changed.map(whole));
    results.warnings.extend(differing(&results));
    results.warnings.extend(plans::warnings(&results));
    results.warnings.extend(wrong::warnings(&results));
    results.warnings.extend(found::warnings(&results));
    results.warnings.extend(notes::noted(store, &results)?);
    Ok(results)
}

fn find(store: &Store, which: Which<'_>) -> Result<Experiment, ReportError> {
    match which {
        Which::Latest => latest(store)?.ok_or(ReportError::NoExperiment),
        Which::Newest => store.latest()?.ok_or(ReportError::NoExperiment),
        Which::LatestOrCount => latest_or_count(store)?.ok_or(ReportError::NoExperiment),
        Which::RunOrCount(id) => Ok(store.experiment(id)?),
        Which::Id(id) => {
            let experiment = store.experiment(id)?;
            match experiment.purpose {
                Purpose::Run => Ok(experiment),
                Purpose::Count => Err(ReportError::NotARun(experiment.name)),
            }
        }
        Which::Named(name) => {
            if let Some(experiment) = store.experiment_named(name)? {
                return Ok(experiment);
            }
            let all = store.all_experiments()?;
            let id = name.parse().ok().map(ExperimentId);
            let is = |purpose: Purpose| move |e: &&Experiment| e.purpose == purpose;
            if let Some(run) = all.iter().filter(is(Purpose::Run)).find(|e| Some(e.id) == id) {
                return Ok(run.clone());
            }
            let mut counts = all.iter().filter(is(Purpose::Count));
            if let Some(count) = counts.find(|e| e.name == name || Some(e.id) == id) {
                return Err(ReportError::NotARun(count.name.clone()));
            }
            let known = all.iter().filter(is(Purpose::Run)).map(|e| e.name.clone());
            Err(unknown_experiment(name, known))
        }
    }
}

/// The latest run with results or, if there is no run, the newest count.
///
/// # Errors
/// When the store cannot be read.
pub fn latest_or_count(store: &Store) -> Result<Option<Experiment>, ReportError> {
    match latest(store)? {
        Some(run) => Ok(Some(run)),
        None => Ok(store.latest_count()?),
    }
}

/// The newest run with a finished trial, because one that was interrupted before has nothing to
/// show; without any, the newest.
fn latest(store: &Store) -> Result<Option<Experiment>, ReportError> {
    let Some(newest) = store.latest()? else { return Ok(None) };
    if store.finished_trials(newest.id)?.is_empty() {
        for older in store.experiments()? {
            if !store.finished_trials(older.id)?.is_empty() {
                return Ok(Some(older));
            }
        }
    }
    Ok(Some(newest))
}

/// The error for an unknown experiment.
pub(crate) fn unknown_experiment(asked: &str, known: impl Iterator<Item = String>) -> ReportError {
    let known = known.collect::<BTreeSet<_>>().into_iter().collect();
    ReportError::UnknownExperiment { asked: asked.to_owned(), known }
}

/// For each variant, the index of the one that the plan calls the same system.
fn twins(plan: Option<&plan::Plan>, variants: &[store::Variant]) -> Vec<Option<usize>> {
    let twin = |variant: &store::Variant| {
        let planned = plan?.variants.iter().find(|planned| planned.name == variant.name)?;
        let original = planned.twin_of.as_ref()?;
        variants.iter().position(|other| other.name == *original)
    };
    variants.iter().map(twin).collect()
}

/// The steps of the plan, without figures; without a plan, the stored steps.
fn planned(plan: Option<&plan::Plan>, variants: usize) -> Vec<StepResults> {
    let Some(plan) = plan else { return Vec::new() };
    let of = |sequence: plan::Sequence| {
        let loaded = plan.loaded_steps(&sequence);
        let result = |(place, step): (usize, &plan::PlannedStep)| StepResults {
            key: step.key.clone(),
            sequence: Some(sequence.key.number()),
            loaded_once: place < loaded,
            warm_up: step.warm_up,
            prepares: plan.only_prepares(&sequence, place),
            group: step.group.to_owned(),
            variants: vec![VariantStep::default(); variants],
            ..StepResults::default()
        };
        sequence.steps.iter().enumerate().map(result).collect::<Vec<_>>()
    };
    let mut steps: Vec<StepResults> = Vec::new();
    for step in plan.workload.sequences().into_iter().flat_map(of) {
        // Several sequences may prepare in the same way.
        if steps.iter().all(|known| known.key != step.key) {
            steps.push(step);
        }
    }
    steps
}

/// Figures collected per step and variant until all blocks are there, because medians need all.
#[derive(Default)]
struct Gathered {
    sizes: BTreeMap<String, Vec<f64>>,
    counters: BTreeMap<(String, String), Vec<f64>>,
}

struct Loader<'a> {
    store: &'a Store,
    places: HashMap<store::VariantId, usize>,
    steps: Vec<StepResults>,
    warnings: Vec<Noted>,
    reader: Deserializer,
}

impl Loader<'_> {
    fn read(&mut self, experiment: ExperimentId, details: bool) -> Result<(), ReportError> {
        let described: HashMap<_, _> = self
            .store
            .steps(experiment, Scope::Results)?
            .into_iter()
            .map(|step| (step.id, step))
            .collect();
        let mut names = self.store.names()?;
        names.retain(|name| metrics::find(name).is_some());
        names.sort_unstable();
        let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        let values = self.store.step_values(experiment, &wanted, Scope::Results)?;
        let names: Arc<[String]> = names.into();
        let detailed = details && self.shows_details(values.len());
        let planned = self.steps.len();
        let places = self.steps.iter().enumerate();
        let mut index: HashMap<_, usize> =
            places.map(|(place, step)| (Arc::new(step.key.clone()), place)).collect();
        let mut gathered: BTreeMap<(usize, usize), Gathered> = BTreeMap::new();
        for row in values {
            let (Some(variant), Some(step)) =
                (self.places.get(&row.variant).copied(), described.get(&row.step))
            else {
                continue;
            };
            if row.kind != StepKind::Measured {
                continue;
            }
            let place = *index.entry(row.key).or_insert_with_key(|key| {
                self.steps.push(StepResults {
                    key: StepKey::clone(key),
                    variants: vec![VariantStep::default(); self.places.len()],
                    ..StepResults::default()
                });
                self.steps.len() - 1
            });
            let Some(target) = self.steps.get_mut(place) else { continue };
            if target.unit.is_empty() {
                target.unit.clone_from(&step.measure.unit);
                target.class.clone_from(&step.measure.class);
                target.better = step.measure.better;
            }
            let Some(figures) = target.variants.get_mut(variant) else { continue };
            let mut sample = Sample {
                block: row.block,
                trial: row.trial,
                step: row.step,
                started_ms: step.started_ms,
                values: row.values,
                slices: None,
            };
            figures.metrics = Arc::clone(&names);
            if let Some(length_ms) = figures.value(&sample, metrics::SLICE_MS.name) {
                sample.slices = Slices::read(self.store, row.step, length_ms)?;
            }
            if figures.value(&sample, metrics::ANSWERS.name).is_some() {
                figures.answers.insert(row.block, Answers::read(self.store, row.step)?);
            }
            figures.samples.push(sample);
            figures.absent.extend(step.absent.iter().cloned());
            figures.notes.extend(step.notes.iter().cloned());
            if detailed {
                let gathered = gathered.entry((place, variant)).or_default();
                detail(self.store, &mut self.reader, step, figures, gathered)?;
            }
        }
        self.refused(experiment, &index)?;
        for ((step, variant), gathered) in gathered {
            settle(&mut self.steps[step].variants[variant], gathered);
        }
        self.steps.iter_mut().for_each(settle_pairing);
        order(&mut self.steps[planned..]);
        Ok(())
    }

    /// True if this many steps are few enough to show all of each; otherwise a warning says so.
    fn shows_details(&mut self, steps: usize) -> bool {
        let few = steps <= DETAILED_STEPS;
        if !few {
            let text = format!(
                "the experiment has {steps} steps: response times, sizes and counters are shown only up to {DETAILED_STEPS} steps"
            );
            let warning = Warning { code: "details-left-out".to_owned(), text };
            self.warnings.push(Noted { step: None, variant: None, block: None, warning });
        }
        few
    }

    /// Reads why steps of trials that are results failed; `index` has the places of steps.
    fn refused(
        &mut self,
        experiment: ExperimentId,
        index: &HashMap<Arc<StepKey>, usize>,
    ) -> Result<(), ReportError> {
        for step in self.store.steps(experiment, Scope::Failed)? {
            let variant = self.places.get(&step.variant).copied();
            let target = index.get(&step.key).and_then(|place| self.steps.get_mut(*place));
            let figures = target.zip(variant).and_then(|(it, place)| it.variants.get_mut(place));
            let Some(figures) = figures else { continue };
            let failures = self.store.failures(step.id)?;
            let fatal = failures.into_iter().find(|failure| !failure.retried);
            figures.refused.insert(step.block, fatal.map_or(String::new(), |it| it.message));
        }
        Ok(())
    }

    /// The warnings of the experiment and of trials that are results.
    fn noted(
        &mut self,
        experiment: ExperimentId,
        trials: &[Trial],
    ) -> Result<Vec<Noted>, ReportError> {
        let trials: HashMap<_, _> = trials.iter().map(|trial| (trial.id, trial)).collect();
        let mut steps = HashMap::new();
        for step in &self.steps {
            for sample in step.variants.iter().flat_map(|variant| &variant.samples) {
                steps.insert(sample.step, step.key.clone());
            }
        }
        let mut noted = std::mem::take(&mut self.warnings);
        for stored in self.store.warnings(experiment)? {
            let trial = stored.trial.and_then(|id| trials.get(&id));
            if trial.is_some_and(|trial| trial.state != TrialState::Finished) {
                continue;
            }
            if stored.warning.code == store::NOTED {
                continue;
            }
            noted.push(Noted {
                step: stored.step.and_then(|id| steps.get(&id).cloned()),
                variant: trial.and_then(|trial| self.places.get(&trial.variant).copied()),
                block: trial.map(|trial| trial.block),
                warning: stored.warning,
            });
        }
        Ok(noted)
    }
}

/// Puts steps that nobody planned in order: those of one name at the place of the first of them, by
/// their number of clients.
fn order(steps: &mut [StepResults]) {
    let mut first = HashMap::new();
    for (place, step) in steps.iter().enumerate() {
        first.entry(step.key.name.clone()).or_insert(place);
    }
    steps.sort_by_key(|step| (first.get(&step.key.name).copied(), step.key.dop));
}

/// Reads everything stored with a single step.
fn detail(
    store: &Store,
    reader: &mut Deserializer,
    step: &Step,
    figures: &mut VariantStep,
    gathered: &mut Gathered,
) -> Result<(), ReportError> {
    let texts = store.labels(step.id, metrics::THROUGHPUT)?;
    for histogram in store.histograms(step.id)? {
        if histogram.count == 0 {
            continue;
        }
        let mut pooled = Pooled::read(&histogram.class, &histogram.hdr, &step.key.name, reader)?;
        pooled.text =
            texts.get(&metrics::throughput_of(&pooled.class)).cloned().unwrap_or_default();
        match figures.latency.iter_mut().find(|known| known.class == pooled.class) {
            Some(known) => known.add(&pooled, &step.key.name)?,
            None => figures.latency.push(pooled),
        }
    }
    let sizes = store.sizes(step.id)?.into_iter();
    gather(&mut gathered.sizes, sizes.map(|size| (size.name, size.bytes as f64)));
    let counters = store.counters(step.id)?.into_iter();
    gather(&mut gathered.counters, counters.map(|it| ((it.view, it.name), it.value)));
    for chosen in store.plans(step.id)? {
        figures.plans.entry(chosen.statement).or_default().insert(chosen.plan);
    }
    for failure in store.failures(step.id)? {
        let (count, new) = (failure.count, Failure { count: 0, ..failure });
        let place = place_of(&mut figures.failures, new, |known, new| {
            known.class == new.class && known.code == new.code && known.retried == new.retried
        });
        figures.failures[place].count += count;
    }
    Ok(())
}

/// Adds up the step's values of each, over all objects.
fn gather<K: Ord>(all: &mut BTreeMap<K, Vec<f64>>, figures: impl Iterator<Item = (K, f64)>) {
    let mut sums: BTreeMap<K, f64> = BTreeMap::new();
    figures.for_each(|(key, figure)| *sums.entry(key).or_default() += figure);
    for (key, sum) in sums {
        all.entry(key).or_default().push(sum);
    }
}

fn settle(figures: &mut VariantStep, gathered: Gathered) {
    let median = |(name, values): (String, Vec<f64>)| {
        judge::median(&values).map(|bytes| (name, bytes.round() as u64))
    };
    figures.sizes = gathered.sizes.into_iter().filter_map(median).collect();
    figures.counters = gathered
        .counters
        .into_iter()
        .filter_map(|((view, name), values)| {
            judge::median(&values).map(|value| CounterFigure { view, name, value })
        })
        .collect();
}

fn failed(trials: &[Trial], places: &HashMap<store::VariantId, usize>) -> Vec<FailedTrial> {
    trials
        .iter()
        .filter(|trial| trial.state != TrialState::Finished)
        .filter_map(|trial| {
            Some(FailedTrial {
                variant: *places.get(&trial.variant)?,
                block: trial.block,
                sequence: trial.sequence,
                state: trial.state.as_str(),
                error: trial.error.clone().unwrap_or_default(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_nobody_planned_are_in_order_of_their_clients() {
        let step =
            |(name, dop)| StepResults { key: StepKey::new(name, dop), ..StepResults::default() };
        let found = [("b", 1), ("b", 16), ("a", 2), ("b", 4), ("a", 1)];
        let mut steps = found.map(step);
        order(&mut steps);
        let ordered = steps.map(|step| (step.key.name, step.key.dop));
        let expected = [("b", 1), ("b", 4), ("b", 16), ("a", 1), ("a", 2)];
        assert_eq!(ordered, expected.map(|(name, dop)| (name.to_owned(), dop)));
    }

    #[test]
    fn what_several_sequences_prepare_alike_is_one_step() {
        let text = "[variants.a]\ndbms = \"postgres@14.3\"\n[variants.b]\ndbms = \"postgres@17\"\n\
                    [workload.script]\nbuiltin = \"tpcb-like\"\nclients = [1, 8]\n";
        let plan = plan::Plan::parse(text, None, "a test").unwrap();
        let steps = planned(Some(&plan), 2);
        let keys: Vec<&StepKey> = steps.iter().map(|step| &step.key).collect();
        let unique: BTreeSet<&StepKey> = keys.iter().copied().collect();
        assert_eq!(unique.len(), keys.len(), "{keys:?}");
        assert_eq!(
            steps.iter().filter(|step| !step.prepares && !step.warm_up).count(),
            2,
            "{keys:?}"
        );
    }
}
