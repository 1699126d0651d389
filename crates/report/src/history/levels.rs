//! The levels by which runs are compared.

use std::collections::HashMap;

use metrics::OPS;
use store::StepId;

use crate::load::{Which, load};
use crate::model::{Results, StepResults};
use crate::trials::{Source, Trials};
use crate::{ReportError, sliced};

/// Where the load moved between servers in slices, sets [`crate::trials::Value::level`] so that
/// variants of an experiment have the ratios to its base that `compare` gives: what disturbed both
/// of two neighboring slices is in neither. Does nothing for other metrics.
///
/// # Errors
/// When a store cannot be read.
pub(super) fn by_slices(trials: &mut Trials, sources: &[Source<'_>]) -> Result<(), ReportError> {
    if trials.metric != OPS.name {
        return Ok(());
    }
    for (place, conducted) in trials.experiments.iter().enumerate() {
        let steps = &trials.steps;
        let mut values: Vec<_> =
            trials.values.iter_mut().filter(|value| value.experiment == place).collect();
        if !values.iter().any(|value| steps[value.step].sliced) {
            continue;
        }
        let store = sources[conducted.source].store;
        let levels = levels(&load(store, Which::Id(conducted.experiment.id))?);
        for value in &mut values {
            value.level = levels.get(&value.id).copied().unwrap_or(value.level);
        }
    }
    Ok(())
}

fn levels(results: &Results) -> HashMap<StepId, f64> {
    let Some(base) = results.variant_named(&results.experiment.base) else {
        return HashMap::new();
    };
    results.steps.iter().flat_map(|step| of_step(step, base)).collect()
}

fn of_step(step: &StepResults, base: usize) -> Vec<(StepId, f64)> {
    let Some(of_base) = step.variant(base) else { return Vec::new() };
    let known: HashMap<u32, f64> = of_base.values(OPS.name).into_iter().collect();
    let others = step.variants.iter().enumerate().filter(|(place, _)| *place != base);
    let of = |(_, variant)| {
        let ratios: HashMap<u32, f64> = sliced::ratios(of_base, variant).into_iter().collect();
        let level = |sample: &crate::model::Sample| {
            Some((sample.step, known.get(&sample.block)? * ratios.get(&sample.block)?))
        };
        variant.samples.iter().filter_map(level).collect::<Vec<_>>()
    };
    others.flat_map(of).collect()
}
