//! Every step of every variant, judged against the base.

use judge::{Margin, Verdict};

use crate::ReportError;
use crate::figures::paired;
use crate::metrics::OPS;
use crate::model::Results;

/// The comparisons of an experiment.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Place of the base in [`Results::variants`].
    pub base: usize,
    /// δ as asked for.
    pub margin: f64,
    /// Per step, per variant; `None` for the base and where there is nothing to compare.
    pub steps: Vec<Vec<Option<judge::Comparison>>>,
}

impl Judged {
    /// The comparison of a variant in a step.
    pub fn of(&self, step: usize, variant: usize) -> Option<&judge::Comparison> {
        self.steps.get(step)?.get(variant)?.as_ref()
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
/// `base` and `margin` are those of the plan when not given.
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
    let mut steps: Vec<Vec<Option<judge::Comparison>>> = results
        .steps
        .iter()
        .map(|step| {
            let against = step.variant(base);
            step.variants
                .iter()
                .enumerate()
                .map(|(place, variant)| {
                    let (of_base, of_variant) = paired(against?, variant, OPS);
                    if place == base {
                        return None;
                    }
                    // Without a pair, or with a throughput of zero, there is nothing to say.
                    judge::compare(&of_base, &of_variant, Margin::of(margin)).ok()
                })
                .collect()
        })
        .collect();
    judge::control_false_discoveries(steps.iter_mut().flatten().flatten());
    Ok(Judged { base, margin, steps })
}
