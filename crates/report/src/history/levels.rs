//! The levels by which runs are compared, and the steps that are not.

use std::collections::{HashMap, HashSet};

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
use crate::load::pairing::Way;
use crate::load::trials::{Trials, Value};
use crate::load::wrong;

/// Compares the values of an experiment as `compare` does, and returns notes on what was left out.
///
/// Leaves out the steps of a variant whose query failed, or whose answers differ from the base's.
/// Sets [`crate::load::trials::Value::level`] so that variants have the ratios to the base that
/// `compare` gives. With slices, these are free of disturbances that hit neighboring slices alike;
/// where a hypervisor took much CPU, they are those of the DBMS's own CPU time. The levels of
/// metrics other than throughput stay as they are.
///
/// # Errors
/// When a store cannot be read.
pub(super) fn as_judged(
    trials: &mut Trials,
    sources: &[Source<'_>],
) -> Result<Vec<String>, ReportError> {
    let mut notes = Vec::new();
    let mut wrong: HashSet<(usize, StepId)> = HashSet::new();
    let throughput = trials.metric == OPS.name;
    let steps = &trials.steps;
    for values in trials.values.chunk_by_mut(|one, other| one.experiment == other.experiment) {
        let place = values[0].experiment;
        let conducted = &trials.experiments[place];
        let answered = values.iter().any(|value| value.answered);
        let shared = |value: &Value| steps[value.step].way != Way::Whole || value.disturbed;
        let leveled = throughput && values.iter().any(shared);
        if !answered && !leveled {
            continue;
        }
        let store = sources[conducted.source].store;
        let results = load_figures(store, Which::Id(conducted.experiment.id))?;
        let levels = if leveled { levels(&results) } else { HashMap::new() };
        for value in values {
            value.level = levels.get(&value.id).copied().unwrap_or(value.level);
        }
        if answered {
            wrong.extend(wrong_answers(&results, &mut notes).map(|step| (place, step)));
        }
    }
    trials.values.retain(|value| !wrong.contains(&(value.experiment, value.id)));
    Ok(notes)
}

/// The steps of variants whose queries failed or gave other results than the base's, with notes.
fn wrong_answers(results: &Results, notes: &mut Vec<String>) -> impl Iterator<Item = StepId> {
    let mut found = Vec::new();
    let base = results.variant_named(&results.experiment.base);
    for step in &results.steps {
        for (place, variant) in step.variants.iter().enumerate() {
            let differs =
                || wrong::wrong(results, step, base.filter(|base| *base != place)?, place);
            let Some(why) = wrong::refused(results, step, [place; 2]).or_else(differs) else {
                continue;
            };
            notes.push(format!(
                "left out: {} of {} in experiment {}: {why}",
                step.key.label(false),
                results.variant_name(place),
                results.experiment.id,
            ));
            found.extend(variant.samples.iter().map(|sample| sample.step));
        }
    }
    found.into_iter()
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
