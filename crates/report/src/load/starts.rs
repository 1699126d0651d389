//! Trials whose step began with a different page cache than the others, which shows only in the
//! comparison of several trials.

use store::Warning;

use super::model::{Noted, Results, StepResults, VariantStep};
use metrics::{START_CACHED, START_DIRTY, START_WRITEBACK};

/// A difference from the median of a step's trials is reported from this factor …
const FACTOR: f64 = 2.0;
/// … if it is at least this many KB. Most storage today writes 64 MB in a fraction of a second, and
/// a few seconds of load leave as much behind; anything less is soon gone.
const KB: f64 = 64.0 * 1024.0;

/// One warning for each trial and step that began with a page cache far from the median of all
/// trials of that step, over all variants.
pub(crate) fn differing(results: &Results) -> Vec<Noted> {
    results.steps.iter().flat_map(of_step).collect()
}

fn of_step(step: &StepResults) -> Vec<Noted> {
    let kinds = [
        (&START_DIRTY, "waiting to be written"),
        (&START_WRITEBACK, "being written"),
        (&START_CACHED, "of page cache"),
    ];
    let mut found: Vec<Noted> = Vec::new();
    for (metric, what) in kinds {
        let of = |(place, variant): (usize, &VariantStep)| {
            let values = variant.values(metric.name).into_iter();
            values.map(move |(block, kb)| (place, block, kb))
        };
        let values: Vec<_> = step.variants.iter().enumerate().flat_map(of).collect();
        let all: Vec<f64> = values.iter().map(|(.., kb)| *kb).collect();
        let Some(middle) = judge::median(&all) else { continue };
        for (variant, block, kb) in values {
            let known =
                |noted: &Noted| (noted.variant, noted.block) == (Some(variant), Some(block));
            // One warning per trial: dirty pages matter more than the amount cached.
            if !differs(kb, middle) || found.iter().any(known) {
                continue;
            }
            found.push(Noted {
                step: Some(step.key.clone()),
                variant: Some(variant),
                block: Some(block),
                warning: Warning {
                    code: "start-differs".to_owned(),
                    text: format!(
                        "the step began with {} {what}; the median of its trials is {}",
                        megabytes(kb),
                        megabytes(middle)
                    ),
                },
            });
        }
    }
    found
}

fn differs(kb: f64, middle: f64) -> bool {
    (kb - middle).abs() > KB && (kb > FACTOR * middle || kb < middle / FACTOR)
}

/// As the kernel counts: 1 MB is 1024 KB.
fn megabytes(kb: f64) -> String {
    format!("{:.0} MB", kb / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::model::{Sample, VariantStep};
    use plan::StepKey;
    use store::{StepId, TrialId};

    fn key() -> StepKey {
        StepKey::new("l.i1", 1)
    }

    /// Two variants with these dirty and cached MB at the start of their blocks.
    fn step(variants: [&[(f64, f64)]; 2]) -> StepResults {
        let sample = |block: u32, (dirty, cached): (f64, f64)| {
            let id = i64::from(block);
            Sample {
                block,
                trial: TrialId(id),
                step: StepId(id),
                started_ms: 0,
                values: vec![cached * 1024.0, dirty * 1024.0],
                slices: None,
            }
        };
        let variant = |blocks: &[(f64, f64)]| VariantStep {
            metrics: [&START_CACHED, &START_DIRTY].map(|metric| metric.name.to_owned()).into(),
            samples: (1..).zip(blocks).map(|(block, values)| sample(block, *values)).collect(),
            ..VariantStep::default()
        };
        StepResults {
            key: key(),
            variants: variants.map(variant).to_vec(),
            ..StepResults::default()
        }
    }

    #[test]
    fn a_trial_that_began_on_dirty_pages_is_told_once() {
        let found = of_step(&step([
            &[(1.0, 5000.0), (300.0, 50.0), (2.0, 5100.0)],
            &[(3.0, 5000.0), (40.0, 4000.0), (1.0, 5000.0)],
        ]));
        assert_eq!(found.len(), 1, "{found:?}");
        let noted = &found[0];
        assert_eq!((noted.variant, noted.block), (Some(0), Some(2)));
        assert_eq!(noted.step, Some(key()));
        assert_eq!(noted.warning.code, "start-differs");
        assert_eq!(
            noted.warning.text,
            "the step began with 300 MB waiting to be written; the median of its trials is 2 MB"
        );
    }

    #[test]
    fn a_colder_cache_is_told_and_trials_without_figures_are_not() {
        let found =
            of_step(&step([&[(f64::NAN, 5000.0); 3], &[(f64::NAN, 1000.0), (0.0, 4000.0)]]));
        let told: Vec<_> = found.iter().map(|noted| (noted.variant, noted.block)).collect();
        assert_eq!(told, [(Some(1), Some(1))]);
        assert!(found[0].warning.text.contains("1000 MB of page cache"));
        assert_eq!(of_step(&step([&[], &[]])), []);
    }
}
