//! What was recorded under one condition, to draw experiments from.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use judge::RestartRatio;
use report::Which;
use store::{Purpose, Scope, Store, TrialState};

use super::live::Run;
use super::{AGAIN, BUILDS, Build, Condition};

/// A build beside a base, each in one trial of the same block: rows per second, by second.
#[derive(Debug, Clone)]
pub struct Trials {
    pub base: Vec<f64>,
    pub variant: Vec<f64>,
}

/// A build beside one of the two bases, over all that was recorded, in order of time.
#[derive(Debug, Clone, Default)]
pub struct Pair {
    pub restarts: Vec<RestartRatio>,
    pub trials: Vec<Trials>,
}

/// All of it.
#[derive(Debug, Clone)]
pub struct Recording {
    pub condition: Condition,
    /// By build, beside the base and beside its second copy.
    pub pairs: Vec<[Pair; 2]>,
    /// What a restart of two servers takes, in seconds: the mean over the live runs.
    pub restart: f64,
    /// What a trial takes beside its load, in seconds: the median.
    pub fixed: f64,
    /// How long every load lasted at least, in whole seconds.
    pub seconds: usize,
}

/// Base and variant of both pairs of a build.
fn names(build: &Build) -> [(&'static str, &'static str); 2] {
    if build.slower == 0 {
        [("same", AGAIN), (AGAIN, "same")]
    } else {
        [("same", build.name), (AGAIN, build.name)]
    }
}

/// Reads what there is of a condition; `None` where nothing was recorded.
pub fn read(directory: &Path, condition: Condition, live: &[Run]) -> Result<Option<Recording>> {
    let stores = ["slices", "trials"].map(|what| directory.join(format!("{condition}-{what}")));
    if !stores.iter().all(|store| store.exists()) {
        return Ok(None);
    }
    let runs = || live.iter().filter(|run| run.condition == condition);
    let restarts: u32 = runs().map(|run| run.restarts).sum();
    ensure!(restarts > 0, "what a restart takes is known from live runs: bench race live");
    let restart = runs().map(|run| run.call.seconds).sum::<f64>() / f64::from(restarts);
    let mut recording = Recording {
        condition,
        pairs: vec![Default::default(); BUILDS.len()],
        restart,
        fixed: 0.0,
        seconds: 0,
    };
    recording.read_restarts(&Store::open_read_only(&stores[0])?)?;
    recording.read_trials(&Store::open_read_only(&stores[1])?)?;
    let trials = recording.pairs.iter().flatten().flat_map(|pair| &pair.trials);
    let lengths = trials.flat_map(|it| [it.base.len(), it.variant.len()]);
    recording.seconds = lengths.min().context("no block of trials is finished")?;
    let all = recording.pairs.iter().flatten();
    ensure!(all.into_iter().all(|pair| !pair.restarts.is_empty()), "no restart is finished");
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
    fn read_restarts(&mut self, store: &Store) -> Result<()> {
        for results in experiments(store)? {
            let step = results.steps.first().context("a recording without steps")?;
            let of = |name| step.variant(results.variant_named(name)?);
            for (build, pairs) in BUILDS.iter().zip(&mut self.pairs) {
                for ((base, variant), pair) in names(build).into_iter().zip(pairs) {
                    let Some((base, variant)) = of(base).zip(of(variant)) else { continue };
                    pair.restarts.extend(report::restarts(base, variant));
                }
            }
        }
        Ok(())
    }

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
                for (build, pairs) in BUILDS.iter().zip(&mut self.pairs) {
                    for ((base, variant), pair) in names(build).into_iter().zip(pairs) {
                        let of = |name| rates.get(&(name, block)).cloned();
                        let Some((base, variant)) = of(base).zip(of(variant)) else { continue };
                        pair.trials.push(Trials { base, variant });
                    }
                }
            }
        }
        self.fixed = judge::median(&fixed).context("no trial is finished")?;
        Ok(())
    }
}
