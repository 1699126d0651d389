//! Expected results if the same budget is spent in slices, in a run that designs itself.

use std::collections::BTreeMap;

use judge::{Looks, StepNoise, USUAL_BETWEEN, design, t_quantile};
use plan::{Plan, StepKey};
use store::Store;

use super::evidence::{Evidence, KnownStep};
use crate::ReportError;
use crate::judging::sliced::{Scatter, scatter};
use crate::load::chosen::Source;
use crate::load::experiment::{Which, load};

/// Assumed deviation of the log ratio within a restart for one second of load on each server, if
/// none is stored: about the deviation of PostgreSQL (VALIDATION.md, "On real servers").
const USUAL_WITHIN: f64 = 0.008;

/// Expected results for steps in slices.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InSlices {
    /// Half width of the interval of a ratio, for each of [`Evidence::steps`]; `None` where the
    /// step is part of the load.
    pub(super) half_widths: Vec<Option<f64>>,
    /// Restarts within the budget.
    pub(super) restarts: u32,
    /// True if this comes from stored slices rather than usual values.
    pub(super) measured: bool,
}

/// Estimates what slices would achieve; `None` if there is nothing to compare or no restart fits.
pub(super) fn expect(
    sources: &[Source<'_>],
    plan: &Plan,
    evidence: &Evidence,
    budget: f64,
) -> Result<Option<InSlices>, ReportError> {
    let servers = plan.variants.len() as f64;
    if servers < 2.0 {
        return Ok(None);
    }
    let mut known: BTreeMap<StepKey, Vec<Scatter>> = BTreeMap::new();
    for source in sources {
        gather(source.store, plan, &mut known)?;
    }
    let measured = !known.is_empty();
    let noise = |step: &KnownStep| {
        let of = known.get(&step.key);
        let mean = |of_one: fn(&Scatter) -> f64| {
            let found: Vec<f64> = of.into_iter().flatten().map(of_one).collect();
            judge::mean(&found)
        };
        let within = mean(|one| one.within * one.seconds).unwrap_or(USUAL_WITHIN.powi(2));
        let between = mean(|one| (one.all - one.within).max(0.0));
        let between = between.unwrap_or(USUAL_BETWEEN.powi(2));
        let noise = if step.timed {
            StepNoise::timed(between, within, servers)
        } else {
            StepNoise::by_work(between + within / step.seconds.unwrap_or(1.0))
        };
        StepNoise { wanted: (!step.load).then_some(plan.margin), ..noise }
    };
    let steps: Vec<StepNoise> = evidence.steps.iter().map(noise).collect();
    let work = evidence.steps.iter().filter(|step| !step.timed && !step.load);
    let work: f64 = work.filter_map(|step| step.seconds).sum();
    let cost = evidence.overhead.values().sum::<f64>() + servers * work;
    let Some(found) = design(&steps, 0, cost, budget, Looks::last_confidence()) else {
        return Ok(None);
    };
    let freedom = f64::from(found.restarts.max(2) - 1);
    let quantile = t_quantile(0.5 + 0.5 * Looks::last_confidence(), freedom);
    // Only stored slices show that a step that ends by work can run in slices.
    let fit = |step: &KnownStep| !step.load && (step.timed || known.contains_key(&step.key));
    let half_widths = evidence
        .steps
        .iter()
        .zip(&found.errors)
        .map(|(step, error)| (fit(step) && found.restarts > 1).then_some(quantile * error));
    Ok(Some(InSlices { half_widths: half_widths.collect(), restarts: found.restarts, measured }))
}

/// How much steps of the plan's workload varied in slices.
fn gather(
    store: &Store,
    plan: &Plan,
    known: &mut BTreeMap<StepKey, Vec<Scatter>>,
) -> Result<(), ReportError> {
    for experiment in store.experiments()? {
        if experiment.workload != plan.workload.name() {
            continue;
        }
        let results = load(store, Which::Id(experiment.id))?;
        let Some(base) = results.variant_named(&experiment.base) else { continue };
        for step in &results.steps {
            let Some(of_base) = step.variant(base) else { continue };
            let others = (0..step.variants.len()).filter(|place| *place != base);
            let found = others.filter_map(|place| scatter(of_base, step.variant(place)?, None));
            let several = found.filter(|scatter| scatter.restarts > 2);
            let all: Vec<Scatter> = several.collect();
            if !all.is_empty() {
                known.entry(step.key.clone()).or_default().extend(all);
            }
        }
    }
    Ok(())
}
