//! Judges the steps of an experiment.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use judge::{MachineBlocks, Margin, Method, Verdict};
use metrics::{Better, LATENCIES, Metric, OPS, judgeable};

use super::figures::paired;
use super::judged::{Gap, Judged, Outcome, PREVIOUS, Twin, metric_of, ratios};
use super::unjudged::Unjudged;
use super::{by_cpu, sliced};
use crate::ReportError;
use crate::load::model::{Results, StepResults, VariantStep};

/// Judges the throughput of all steps, paired by block, and controls false discoveries over all
/// steps.
///
/// `base` and `margin` default to those of the plan. Every interval has the confidence of the look
/// that its number of blocks has reached: if the plan looks several times, the 5% of error are
/// split over its looks.
///
/// # Errors
/// When `base` is not a variant or `margin` is not a fraction.
pub fn judge_results(
    results: &Results,
    base: Option<&str>,
    margin: Option<f64>,
) -> Result<Judged, ReportError> {
    judge_metric(results, OPS.name, base, margin)
}

/// Like [`judge_results`], by any metric that has a better direction. For a cost, an increase by
/// more than the margin is a regression. False discoveries are controlled within the metric, so
/// that a verdict does not depend on what other metrics were requested.
///
/// # Errors
/// Also when the metric does not exist.
pub fn judge_metric(
    results: &Results,
    metric: &str,
    base: Option<&str>,
    margin: Option<f64>,
) -> Result<Judged, ReportError> {
    let mut judged = [alone(results, metric, base, margin)?];
    control_false_discoveries(&mut judged);
    let [judged] = judged;
    Ok(judged)
}

/// Judges a response time, such as `mean` or `p99`, of each class of statements in steps that have
/// several: the transactions of a mix, the forms of a log. False discoveries are controlled over
/// all of them.
///
/// # Errors
/// As [`judge_metric`]; also if `time` is not a response time, or no step has several classes.
pub(crate) fn judge_classes(
    results: &Results,
    time: &str,
    base: Option<&str>,
    margin: Option<f64>,
) -> Result<Vec<Judged>, ReportError> {
    let Some(family) = LATENCIES.into_iter().find(|family| family.short() == time) else {
        let known = LATENCIES.map(|family| family.short().to_owned()).to_vec();
        return Err(ReportError::NotJudgeable { asked: time.to_owned(), nearest: None, known });
    };
    let parts: Vec<BTreeSet<&str>> = results.steps.iter().map(|it| it.parts(family)).collect();
    let classes: BTreeSet<&str> = parts.iter().flatten().copied().collect();
    if classes.is_empty() {
        return Err(ReportError::OneClass(results.experiment.name.clone()));
    }
    let judged = classes.into_iter().map(|class| {
        let mut judged = alone(results, &family.of(class), base, margin)?;
        let is_part = |step: usize| parts.get(step).is_some_and(|it| it.contains(class));
        for (step, outcomes) in judged.steps.iter_mut().enumerate() {
            if !is_part(step) {
                outcomes.fill(Outcome::Aside);
            }
        }
        judged.gaps.retain(|gap| is_part(gap.step));
        judged.twins.retain(|twin| is_part(twin.step));
        judged.over_machines.retain(|(step, _), _| is_part(*step));
        Ok(judged)
    });
    let mut judged = judged.collect::<Result<Vec<Judged>, ReportError>>()?;
    control_false_discoveries(&mut judged);
    Ok(judged)
}

fn control_false_discoveries(judged: &mut [Judged]) {
    let outcomes = judged.iter_mut().flat_map(|judged| judged.steps.iter_mut().flatten());
    judge::control_false_discoveries(outcomes.filter_map(|outcome| match outcome {
        Outcome::Compared(comparison) => Some(&mut **comparison),
        Outcome::Aside | Outcome::Unjudged(_) => None,
    }));
}

/// Judges a metric for itself.
fn alone(
    results: &Results,
    metric: &str,
    base: Option<&str>,
    margin: Option<f64>,
) -> Result<Judged, ReportError> {
    let known: Vec<String> = judgeable(&results.classes()).collect();
    if !known.iter().any(|known| known == metric) {
        let nearest = plan::nearest(metric, known.iter().map(String::as_str));
        let (asked, nearest) = (metric.to_owned(), nearest.map(str::to_owned));
        let known = known.into_iter().filter(|name| results.has(name)).collect();
        return Err(ReportError::NotJudgeable { asked, nearest, known });
    }
    let bases = bases(results, base.unwrap_or(&results.experiment.base))?;
    let base = bases.first().copied().unwrap_or(0);
    let margin = margin.unwrap_or(results.experiment.margin);
    fraction(margin).map_err(ReportError::BadMargin)?;
    let judge = Judge { results, metric };
    let twins = judge.twins(margin);
    let noise_floors: Vec<Option<f64>> = (0..results.steps.len())
        .map(|step| {
            let of_step = twins.iter().filter(|twin| twin.step == step);
            let comparisons: Vec<_> = of_step.map(|twin| twin.comparison.clone()).collect();
            judge::noise_floor(&comparisons)
        })
        .collect();
    let (mut gaps, mut over_machines) = (Vec::new(), BTreeMap::new());
    let mut steps: Vec<Vec<Outcome>> = Vec::new();
    for (number, (step, floor)) in results.steps.iter().zip(&noise_floors).enumerate() {
        let margin = Margin { asked: margin, noise_floor: floor.unwrap_or_default() };
        let outcome = |variant: usize| {
            let base = bases.get(variant).copied().unwrap_or(base);
            if variant == base || results.twin_of(variant).is_some() {
                return Outcome::Aside;
            }
            let mut outcome = judge.outcome(step, base, variant, margin);
            if let Outcome::Compared(comparison) = &mut outcome
                && let Some(found) = judge.over_machines(step, base, variant, comparison)
            {
                over_machines.insert((number, variant), found);
            }
            let gap = judge.gap(step, base, variant, &outcome);
            gaps.extend(gap.map(|text| Gap { step: number, variant, text }));
            outcome
        };
        steps.push((0..step.variants.len()).map(outcome).collect());
    }
    let metric = metric.to_owned();
    Ok(Judged { metric, base, bases, margin, steps, twins, noise_floors, gaps, over_machines })
}

/// The variant that each is compared with.
fn bases(results: &Results, asked: &str) -> Result<Vec<usize>, ReportError> {
    let all = results.variants.len();
    if let Some(base) = results.variant_named(asked) {
        return Ok(vec![base; all]);
    }
    if asked == PREVIOUS {
        let before = |variant: usize| {
            (0..variant).rev().find(|other| results.twin_of(*other).is_none()).unwrap_or(variant)
        };
        return Ok((0..all).map(before).collect());
    }
    let known = results.variants.iter().map(|v| v.variant.name.clone()).collect();
    Err(ReportError::UnknownBase { asked: asked.to_owned(), known })
}

/// Returns the value as the error if it is not between 0 and 1.
pub(crate) fn fraction(asked: f64) -> Result<(), f64> {
    if asked > 0.0 && asked < 1.0 { Ok(()) } else { Err(asked) }
}

/// The results to judge, and the metric.
#[derive(Clone, Copy)]
struct Judge<'a> {
    results: &'a Results,
    metric: &'a str,
}

impl Judge<'_> {
    /// All steps of all pairs of identical variants, each judged by itself.
    fn twins(&self, margin: f64) -> Vec<Twin> {
        let variants = self.results.variants.iter().enumerate();
        let pairs: Vec<(usize, usize)> =
            variants.filter_map(|(twin, variant)| Some((variant.twin_of?, twin))).collect();
        let of_step = |(step, figures)| {
            pairs.iter().filter_map(move |(original, twin)| {
                let (original, twin) = (*original, *twin);
                match self.outcome(figures, original, twin, Margin::of(margin)) {
                    Outcome::Compared(comparison) => {
                        Some(Twin { step, original, twin, comparison: *comparison })
                    }
                    Outcome::Aside | Outcome::Unjudged(_) => None,
                }
            })
        };
        self.results.steps.iter().enumerate().flat_map(of_step).collect()
    }

    /// Compares one variant in a step with another: throughput by slices if the step ran in slices,
    /// everything else by blocks.
    fn outcome(&self, step: &StepResults, base: usize, variant: usize, margin: Margin) -> Outcome {
        let results = self.results;
        if let Some(found) = Unjudged::across(results, step, base, variant) {
            let measured = |v: &VariantStep, metric: &Metric| !v.values(metric.name).is_empty();
            let aside = step.prepares || step.warm_up;
            let applies = metric_of(self.metric, step).is_some_and(|metric| {
                metric.everywhere || step.variants.iter().any(|it| measured(it, metric))
            });
            return if aside || !applies { Outcome::Aside } else { Outcome::Unjudged(found) };
        }
        if let Some(found) = Unjudged::by_answers(results, step, base, variant) {
            return Outcome::Unjudged(found);
        }
        if let Some(lacking) = Unjudged::without_results(results, step, base, variant) {
            return Outcome::Unjudged(lacking);
        }
        let (Some(of_base), Some(of_variant), Some(metric)) =
            (step.variant(base), step.variant(variant), metric_of(self.metric, step))
        else {
            return Outcome::Aside;
        };
        let known = |v: &VariantStep| !v.values(metric.name).is_empty();
        let aside = step.prepares || step.warm_up;
        if aside || !(metric.everywhere || step.variants.iter().any(known)) {
            return Outcome::Aside;
        }
        let pairs = paired(of_base, of_variant, metric.name);
        if pairs.blocks.is_empty() {
            let without = Unjudged::without_pairs(results, step, metric, base, variant);
            return Outcome::Unjudged(without);
        }
        let confidence = results.looks.confidence_at(pairs.blocks.len() as u32);
        let names = (results.variant_name(base), results.variant_name(variant));
        if let Some(unjudged) = Unjudged::by_values(names, metric, &pairs, confidence) {
            return Outcome::Unjudged(unjudged);
        }
        if metric.name == OPS.name
            && let Some(sliced) = sliced::compare(of_base, of_variant, margin, &results.looks)
        {
            return match sliced {
                Ok(comparison) => Outcome::Compared(Box::new(turned(comparison, metric))),
                Err((block, error)) => Outcome::Unjudged(Unjudged::by_slices(names, block, error)),
            };
        }
        let by_cpu = if metric.name == OPS.name {
            by_cpu::pairs(of_base, of_variant, &pairs.blocks, (margin, confidence))
        } else {
            None
        };
        let (pairs, stolen) = by_cpu.map_or((pairs, None), |(pairs, most)| (pairs, Some(most)));
        match judge::compare_at(&pairs.base, &pairs.variant, margin, confidence) {
            Ok(mut comparison) => {
                let warning = stolen.map(|stolen| judge::Warning::ByCpu { stolen });
                comparison.warnings.extend(warning);
                Outcome::Compared(Box::new(turned(comparison, metric)))
            }
            Err(error) => Outcome::Unjudged(Unjudged::open(error.to_string())),
        }
    }

    /// Compares over machines, if the blocks are of several: `comparison`, which takes all blocks
    /// for equal, becomes the one of these machines.
    fn over_machines(
        &self,
        step: &StepResults,
        base: usize,
        variant: usize,
        comparison: &mut judge::Comparison,
    ) -> Option<judge::OverMachines> {
        let metric = metric_of(self.metric, step)?;
        let (of_base, of_variant) = (step.variant(base)?, step.variant(variant)?);
        let mut machines: Vec<MachineBlocks> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (block, ratio) in ratios(metric, comparison, (of_base, of_variant)) {
            let (machine, kind) = self.results.machines.get(&block)?;
            let place = *places.entry(machine).or_insert_with(|| {
                let (machine, kind) = (machine.clone(), kind.clone());
                machines.push(MachineBlocks { machine, kind, logs: Vec::new() });
                machines.len() - 1
            });
            machines[place].logs.push(ratio.ln());
        }
        let (margin, confidence) = (comparison.margin, comparison.confidence);
        let found = judge::over_machines(&machines, margin, confidence).ok()?;
        let mut fleet = turned(found.fleet.clone(), metric);
        fleet.method = comparison.method;
        // All operations must be equivalent, too, which the mean of typical slices doesn't show.
        if fleet.verdict == Verdict::Equivalent && comparison.method == Method::Slices {
            fleet.verdict = match comparison.verdict {
                Verdict::Equivalent => Verdict::Equivalent,
                _ => Verdict::Inconclusive,
            };
        }
        // What the slices leave open, more machines leave open, too.
        if comparison.disagreement().is_some() {
            fleet.take_in(comparison);
        }
        // Those about the number of blocks, and about their signs, are its own.
        let own = [
            "one-block",
            "too-few-blocks",
            "one-restart",
            "too-few-restarts",
            "sign-flip-disagrees",
        ];
        let others = comparison.warnings.drain(..);
        fleet.warnings.extend(others.filter(|it| !own.contains(&it.code())));
        *comparison = fleet;
        Some(found)
    }

    /// The gaps in a comparison: blocks in which both should have run, and figures of blocks in
    /// which both did.
    fn gap(
        &self,
        step: &StepResults,
        base: usize,
        variant: usize,
        outcome: &Outcome,
    ) -> Option<String> {
        let Outcome::Compared(comparison) = outcome else { return None };
        let blocks = |place: usize| step.variant(place).map(|v| v.samples.iter().map(|s| s.block));
        let of_base: Vec<u32> = blocks(base)?.collect();
        let both = blocks(variant)?.filter(|block| of_base.contains(block)).count();
        // For an unfinished experiment, this is reported once, for all of it.
        let planned =
            if self.results.is_finished() { self.results.least_blocks as usize } else { 0 };
        let name = self.results.variant_name(variant);
        let used = comparison.blocks;
        let (both, why) = match comparison.method {
            _ if used >= both => (both, ""),
            Method::Slices => {
                let (too_short, why) =
                    sliced::left_out(step.variant(base)?, step.variant(variant)?);
                (both.saturating_sub(too_short), why)
            }
            Method::Blocks => (both, "the others lack the metric for one of the two"),
        };
        if used < both {
            return Some(format!(
                "{name} could be compared in only {used} of the {both} blocks it has in common with {}: {why}",
                self.results.variant_name(base)
            ));
        }
        (both < planned).then(|| {
            format!(
                "{name} has only {both} of the {planned} blocks in the plan: no trial of the others has a result"
            )
        })
    }
}

/// `judge` treats more as better; for a cost, more is worse.
fn turned(mut comparison: judge::Comparison, metric: &Metric) -> judge::Comparison {
    if metric.better == Better::Less {
        comparison.verdict = match comparison.verdict {
            Verdict::Regression => Verdict::Improvement,
            Verdict::Improvement => Verdict::Regression,
            same => same,
        };
        // The same distance upward in logarithms: 1 / (1 - effect) - 1.
        comparison.detectable = comparison.detectable.map(|effect| effect / (1.0 - effect));
    }
    comparison
}
