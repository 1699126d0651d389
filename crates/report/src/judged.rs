//! Every step of every variant, judged against the base.

use judge::{Margin, Verdict};

use crate::figures::paired;
use crate::metrics::OPS;
use crate::model::{Results, StepResults};
use crate::{ReportError, sliced};

/// The comparisons of an experiment.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Place of the base in [`Results::variants`].
    pub base: usize,
    /// δ as asked for.
    pub margin: f64,
    /// Per step, per variant; `None` for the base, for twins, and where there is nothing to compare.
    pub steps: Vec<Vec<Option<judge::Comparison>>>,
    /// Every twin compared with the variant that it is the same system as.
    pub twins: Vec<Twin>,
    /// Per step the noise floor that its twins show, as a fraction; `None` without twins.
    pub noise_floors: Vec<Option<f64>>,
}

/// One step of one pair of identical variants.
#[derive(Debug, Clone)]
pub struct Twin {
    /// Place of the step in [`Results::steps`].
    pub step: usize,
    /// Place of the variant that came first.
    pub original: usize,
    /// Place of the same under its second name.
    pub twin: usize,
    /// The second compared with the first. Whatever differs is noise.
    pub comparison: judge::Comparison,
}

impl Judged {
    /// The comparison of a variant in a step.
    pub fn of(&self, step: usize, variant: usize) -> Option<&judge::Comparison> {
        self.steps.get(step)?.get(variant)?.as_ref()
    }

    /// How often twins were said to differ; `None` without twins that have an interval.
    pub fn false_alarms(&self) -> Option<judge::FalseAlarms> {
        let comparisons: Vec<_> = self.twins.iter().map(|twin| twin.comparison.clone()).collect();
        judge::false_alarm_rate(&comparisons)
    }

    /// How many comparisons ended with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.steps.iter().flatten().flatten().filter(|c| c.verdict == verdict).count()
    }

    /// The warnings of the comparisons, each once; with its step and variant (places) when it is about one comparison
    /// only, else with neither.
    pub(crate) fn warnings(&self) -> Vec<(Option<(usize, usize)>, judge::Warning)> {
        let mut found: Vec<(Option<(usize, usize)>, judge::Warning)> = Vec::new();
        for (step, variants) in self.steps.iter().enumerate() {
            for (variant, comparison) in variants.iter().enumerate() {
                for warning in comparison.iter().flat_map(|comparison| &comparison.warnings) {
                    match found.iter_mut().find(|(_, known)| known == warning) {
                        Some((about, _)) => *about = None,
                        None => found.push((Some((step, variant)), *warning)),
                    }
                }
            }
        }
        found
    }

    /// Places of the variants in the order of rows: the base, then the others as in the plan.
    pub fn order(&self, results: &Results) -> Vec<usize> {
        let others = (0..results.variants.len()).filter(|v| *v != self.base);
        std::iter::once(self.base).chain(others).collect()
    }
}

/// Judges the throughput of all steps, paired by block, and controls false discoveries over all of them.
///
/// `base` and `margin` are those of the plan when not given. Every interval has the confidence of the look that its
/// number of blocks has reached: where the plan looks several times, 5% of error are split over its looks.
///
/// # Errors
/// When `base` names no variant or `margin` is no fraction.
pub fn judge_results(
    results: &Results,
    base: Option<&str>,
    margin: Option<f64>,
) -> Result<Judged, ReportError> {
    let asked = base.unwrap_or(&results.experiment.base);
    let base = results.variant_named(asked).ok_or_else(|| ReportError::UnknownBase {
        asked: asked.to_owned(),
        known: results.variants.iter().map(|v| v.variant.name.clone()).collect(),
    })?;
    let margin = margin.unwrap_or(results.experiment.margin);
    if !(margin > 0.0 && margin < 1.0) {
        return Err(ReportError::BadMargin { asked: margin });
    }
    let twins = compare_twins(results, margin);
    let noise_floors: Vec<Option<f64>> = (0..results.steps.len())
        .map(|step| {
            let of_step = twins.iter().filter(|twin| twin.step == step);
            let comparisons: Vec<_> = of_step.map(|twin| twin.comparison.clone()).collect();
            judge::noise_floor(&comparisons)
        })
        .collect();
    let mut steps: Vec<Vec<Option<judge::Comparison>>> = results
        .steps
        .iter()
        .zip(&noise_floors)
        .map(|(step, floor)| {
            let margin = Margin { asked: margin, noise_floor: floor.unwrap_or_default() };
            (0..step.variants.len())
                .map(|place| {
                    let twin = results.variants.get(place).is_some_and(|v| v.twin_of.is_some());
                    if place == base || twin {
                        return None;
                    }
                    compare(results, step, base, place, margin)
                })
                .collect()
        })
        .collect();
    judge::control_false_discoveries(steps.iter_mut().flatten().flatten());
    Ok(Judged { base, margin, steps, twins, noise_floors })
}

/// All steps of all pairs of identical variants, each judged by itself.
fn compare_twins(results: &Results, margin: f64) -> Vec<Twin> {
    let pairs: Vec<(usize, usize)> = results
        .variants
        .iter()
        .enumerate()
        .filter_map(|(twin, variant)| Some((variant.twin_of?, twin)))
        .collect();
    let of_step = |(step, figures)| {
        pairs.iter().filter_map(move |(original, twin)| {
            let (original, twin) = (*original, *twin);
            let comparison = compare(results, figures, original, twin, Margin::of(margin))?;
            Some(Twin { step, original, twin, comparison })
        })
    };
    results.steps.iter().enumerate().flat_map(of_step).collect()
}

/// The throughput of one variant in a step compared with another's, by slices where the step ran in slices, by blocks
/// elsewhere; `None` without a pair, with a throughput of zero, and for a load that ran once.
fn compare(
    results: &Results,
    step: &StepResults,
    base: usize,
    variant: usize,
    margin: Margin,
) -> Option<judge::Comparison> {
    if step.loaded_once {
        return None;
    }
    let (base, variant) = (step.variant(base)?, step.variant(variant)?);
    if let Some(sliced) = sliced::compare(base, variant, margin, &results.looks) {
        return Some(sliced);
    }
    let (of_base, of_variant) = paired(base, variant, OPS);
    let confidence = results.looks.confidence_at(of_base.len() as u32);
    judge::compare_at(&of_base, &of_variant, margin, confidence).ok()
}
