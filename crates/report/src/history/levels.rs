//! The levels by which runs are compared.

use std::collections::HashMap;

use metrics::OPS;
use store::StepId;

use crate::ReportError;
use crate::judging::figures::paired;
use crate::judging::judged::Judged;
use crate::judging::steps::judge_results;
use crate::judging::{by_cpu, sliced};
use crate::load::chosen::Source;
use crate::load::experiment::{Which, load_figures};
use crate::load::model::{Results, Sample, StepResults, VariantStep};
use crate::load::trials::Trials;

/// Sets [`crate::load::trials::Value::level`] so that variants of an experiment have the ratios to
/// its base that `compare` gives. With slices, these are free of disturbances that hit neighboring
/// slices alike; where a hypervisor took much CPU, they are those of the DBMS's own CPU time. Does
/// nothing for metrics other than throughput.
///
/// # Errors
/// When a store cannot be read.
pub(super) fn as_judged(trials: &mut Trials, sources: &[Source<'_>]) -> Result<(), ReportError> {
    if trials.metric != OPS.name {
        return Ok(());
    }
    for (place, conducted) in trials.experiments.iter().enumerate() {
        let steps = &trials.steps;
        let mut values: Vec<_> =
            trials.values.iter_mut().filter(|value| value.experiment == place).collect();
        if !values.iter().any(|value| steps[value.step].sliced || value.disturbed) {
            continue;
        }
        let store = sources[conducted.source].store;
        let levels = levels(&load_figures(store, Which::Id(conducted.experiment.id))?);
        for value in &mut values {
            value.level = levels.get(&value.id).copied().unwrap_or(value.level);
        }
    }
    Ok(())
}

fn levels(results: &Results) -> HashMap<StepId, f64> {
    let Ok(judged) = judge_results(results, None, None) else { return HashMap::new() };
    let of_step = |(number, step): (usize, &StepResults)| {
        let of_base = step.variant(judged.base)?;
        let others = step.variants.iter().enumerate().filter(|(place, _)| *place != judged.base);
        let of = |(place, variant)| {
            let ratios = ratios(results, &judged, (number, place), [of_base, variant]);
            levels_of([of_base, variant], &ratios)
        };
        Some(others.flat_map(of).collect::<Vec<_>>())
    };
    results.steps.iter().enumerate().filter_map(of_step).flatten().collect()
}

/// The ratios in the blocks of a step by which `compare` judges a variant, if they differ from
/// those of throughput.
fn ratios(
    results: &Results,
    judged: &Judged,
    (step, place): (usize, usize),
    [base, variant]: [&VariantStep; 2],
) -> HashMap<u32, f64> {
    let by_cpu = |warning: &judge::Warning| matches!(warning, judge::Warning::ByCpu { .. });
    let found = judged.of(step, place).filter(|_| judged.base_of(place) == judged.base);
    if !found.is_some_and(|found| found.warnings.iter().any(by_cpu)) {
        return sliced::ratios(base, variant).into_iter().collect();
    }
    let blocks = paired(base, variant, OPS.name).blocks;
    let confidence = results.looks.confidence_at(blocks.len() as u32);
    let judged_by = (judged.margin_in(step), confidence);
    let Some((rates, _)) = by_cpu::pairs(base, variant, &blocks, judged_by) else {
        return HashMap::new();
    };
    let ratios = rates.variant.iter().zip(&rates.base).map(|(variant, base)| variant / base);
    rates.blocks.into_iter().zip(ratios).collect()
}

fn levels_of([base, variant]: [&VariantStep; 2], ratios: &HashMap<u32, f64>) -> Vec<(StepId, f64)> {
    let known: HashMap<u32, f64> = base.values(OPS.name).into_iter().collect();
    let level = |sample: &Sample| {
        Some((sample.step, known.get(&sample.block)? * ratios.get(&sample.block)?))
    };
    variant.samples.iter().filter_map(level).collect()
}
