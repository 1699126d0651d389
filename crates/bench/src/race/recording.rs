//! Trials that were recorded under one condition, to cut experiments from.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use report::Which;
use store::{Purpose, Scope, Store, TrialState};

use super::builds::{BUILDS, Condition, variant_of};

/// A build and the base, each in one trial of the same block: rows per second, by second.
#[derive(Debug, Clone)]
pub struct Trials {
    pub base: Vec<f64>,
    pub variant: Vec<f64>,
}

/// All trials.
#[derive(Debug, Clone)]
pub struct Recording {
    pub condition: Condition,
    /// By build, in order of time.
    pub pairs: Vec<Vec<Trials>>,
    /// The time of a trial in addition to its load, in seconds: the median.
    pub fixed: f64,
    /// How long every load lasted at least, in whole seconds.
    pub seconds: usize,
}

/// Where the trials of a condition are.
pub fn results(directory: &Path, condition: Condition) -> std::path::PathBuf {
    directory.join(format!("{condition}-trials"))
}

/// Reads what there is of a condition; `None` where nothing was recorded.
pub fn read(directory: &Path, condition: Condition) -> Result<Option<Recording>> {
    let directory = results(directory, condition);
    if !directory.exists() {
        return Ok(None);
    }
    let pairs = vec![Vec::new(); BUILDS.len()];
    let mut recording = Recording { condition, pairs, fixed: 0.0, seconds: 0 };
    recording.read_trials(&Store::open_read_only(&directory)?)?;
    let trials = recording.pairs.iter().flatten();
    let lengths = trials.flat_map(|it| [it.base.len(), it.variant.len()]);
    recording.seconds = lengths.min().context("no block of trials is finished")?;
    Ok(Some(recording))
}

/// How many blocks of all builds a store has.
pub fn blocks(directory: &Path) -> Result<u32> {
    if !directory.exists() {
        return Ok(0);
    }
    let store = Store::open_read_only(directory)?;
    let mut all = 0;
    for experiment in store.all_experiments()? {
        let trials = store.trials(experiment.id)?;
        let finished = trials.iter().filter(|trial| trial.state == TrialState::Finished);
        all += finished.count() / (BUILDS.len() + 1);
    }
    Ok(u32::try_from(all)?)
}

/// The runs of a store, oldest first: a recording may have been made in several parts.
fn experiments(store: &Store) -> Result<Vec<report::Results>> {
    let mut all = store.all_experiments()?;
    all.retain(|experiment| experiment.purpose == Purpose::Run);
    all.sort_by_key(|experiment| experiment.id.0);
    let load = |experiment: &store::Experiment| report::load(store, Which::Id(experiment.id));
    Ok(all.iter().map(load).collect::<Result<_, _>>()?)
}

impl Recording {
    fn read_trials(&mut self, store: &Store) -> Result<()> {
        let mut fixed = Vec::new();
        for results in experiments(store)? {
            let experiment = results.experiment.id;
            let took: HashMap<_, _> = store
                .trials(experiment)?
                .into_iter()
                .filter_map(|it| Some((it.id, (it.ended_ms? - it.started_ms) as f64 / 1000.0)))
                .collect();
            let steps = store.steps(experiment, Scope::Results)?;
            let beside = |step: &store::Step| Some(took.get(&step.trial)? - step.seconds);
            fixed.extend(steps.iter().filter_map(beside));
            let step = results.steps.first().context("a recording without steps")?;
            let series = metrics::throughput_of(&step.class);
            let mut rates = HashMap::new();
            for (place, variant) in step.variants.iter().enumerate() {
                for sample in &variant.samples {
                    let found = store.series_of_group(sample.step, metrics::THROUGHPUT)?;
                    let own = found.into_iter().find(|it| it.name == series);
                    let own = own.context("a trial without rows per second")?.values;
                    rates.insert((results.variant_name(place), sample.block), own);
                }
            }
            for block in 1..=results.experiment.blocks {
                for (build, trials) in BUILDS.iter().zip(&mut self.pairs) {
                    let of = |name| rates.get(&(name, block)).cloned();
                    let Some((base, variant)) = of("same").zip(of(variant_of(build))) else {
                        continue;
                    };
                    trials.push(Trials { base, variant });
                }
            }
        }
        self.fixed = judge::median(&fixed).context("no trial is finished")?;
        Ok(())
    }
}
