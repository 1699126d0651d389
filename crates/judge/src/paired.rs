//! The paired comparison of a variant with the base over blocks.

use std::fmt;

use crate::{ENOUGH_BLOCKS, Margin, Verdict, Warning, quantile, sign_flip_p, t_cdf, t_quantile};

/// Confidence of every interval: 95%.
pub const CONFIDENCE: f64 = 0.95;

/// The upper tail point belonging to [`CONFIDENCE`].
const UPPER: f64 = 0.5 + 0.5 * CONFIDENCE;

/// Which of two compared variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The variant all others are compared with.
    Base,
    /// The one compared with it.
    Variant,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "base",
            Self::Variant => "variant",
        })
    }
}

/// Why values cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum JudgeError {
    /// No block has a value on both sides.
    #[error(
        "expected at least one block with a value of base and variant, found none; finish a block first"
    )]
    NoBlocks,
    /// The two slices do not pair up.
    #[error(
        "expected one value of the variant for each of {base} blocks of the base, found {variant}; pair them by block"
    )]
    Unpaired {
        /// Number of values of the base.
        base: usize,
        /// Number of values of the variant.
        variant: usize,
    },
    /// A value whose logarithm does not exist.
    #[error(
        "expected a positive finite value, found {value} for the {side} in block {block}; leave failed steps out"
    )]
    NotPositive {
        /// Whose value.
        side: Side,
        /// Place in the slices, from 1.
        block: usize,
        /// The value.
        value: f64,
    },
}

/// A variant compared with the base over `blocks` paired trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Number of paired blocks, k.
    pub blocks: usize,
    /// exp(mean d): throughput of the variant as a fraction of the base's.
    pub ratio: f64,
    /// Lower end of the 95% interval of the ratio; `None` with one block.
    pub low: Option<f64>,
    /// Upper end of the 95% interval of the ratio; `None` with one block.
    pub high: Option<f64>,
    /// Two-sided p value of the exact sign-flip test that there is no difference at all.
    pub sign_flip_p: Option<f64>,
    /// Two-sided p value of the t test that the difference is not larger than the margin: at most 0.05 exactly where
    /// the interval lies wholly outside the margin. What [`crate::control_false_discoveries`] works on.
    pub margin_p: Option<f64>,
    /// What that means.
    pub verdict: Verdict,
    /// Estimated number of further blocks until the verdict is decided: 0 when it is, `None` when it is not known (one
    /// block) or over [`crate::MAX_FURTHER_BLOCKS`].
    pub further_blocks: Option<u32>,
    /// The margin δ in force, as a fraction.
    pub margin: f64,
    /// Mean of the log ratios d.
    pub mean_log: f64,
    /// Sample deviation (n - 1) of the log ratios d; `None` with one block.
    pub sd_log: Option<f64>,
    /// What to know beside it.
    pub warnings: Vec<Warning>,
}

/// Compares a variant with the base: `base[i]` and `variant[i]` are the values of one metric in the same block, more
/// being better (a throughput). Units cancel out.
///
/// # Errors
/// When there is no pair, the counts differ, or a value is not positive and finite.
pub fn compare(base: &[f64], variant: &[f64], margin: Margin) -> Result<Comparison, JudgeError> {
    let differences = log_ratios(base, variant)?;
    let blocks = differences.len();
    let mean = sum(&differences) / blocks as f64;
    let mut warnings = Vec::new();
    if margin.used() > margin.asked {
        warnings.push(Warning::MarginRaised { asked: margin.asked, used: margin.used() });
    }
    let mut outcome = Comparison {
        blocks,
        ratio: mean.exp(),
        low: None,
        high: None,
        sign_flip_p: None,
        margin_p: None,
        verdict: Verdict::Inconclusive,
        further_blocks: None,
        margin: margin.used(),
        mean_log: mean,
        sd_log: None,
        warnings,
    };
    if blocks == 1 {
        outcome.warnings.push(Warning::OneBlock);
        return Ok(outcome);
    }
    if blocks < ENOUGH_BLOCKS {
        outcome.warnings.push(Warning::TooFewBlocks { blocks });
    }
    let squares: Vec<f64> = differences.iter().map(|d| (d - mean) * (d - mean)).collect();
    let sd = (sum(&squares) / (blocks - 1) as f64).sqrt();
    let error = sd / (blocks as f64).sqrt();
    let half = t_quantile(UPPER, (blocks - 1) as f64) * error;
    let (low, high) = (mean - half, mean + half);
    outcome.low = Some(low.exp());
    outcome.high = Some(high.exp());
    outcome.sd_log = Some(sd);
    outcome.verdict = margin.verdict(low, high);
    outcome.further_blocks = margin.further_blocks(mean, sd, blocks, UPPER);
    outcome.margin_p = Some(margin_p(mean, error, blocks, margin));
    outcome.sign_flip_p = sign_flip_p(&differences);
    if let Some(p) = outcome.sign_flip_p
        && blocks >= ENOUGH_BLOCKS
        && p > 1.0 - CONFIDENCE
        && (low > 0.0 || high < 0.0)
    {
        outcome.warnings.push(Warning::SignFlipDisagrees { p });
    }
    Ok(outcome)
}

/// The noise floor of an A/A experiment: the 99th percentile of |ratio - 1| over pairs of identical variants, where
/// `ratios` are their [`Comparison::ratio`]s. `None` without ratios.
pub fn noise_floor(ratios: &[f64]) -> Option<f64> {
    let effects: Vec<f64> = ratios.iter().map(|ratio| (ratio - 1.0).abs()).collect();
    quantile(&effects, 0.99)
}

fn log_ratios(base: &[f64], variant: &[f64]) -> Result<Vec<f64>, JudgeError> {
    if base.len() != variant.len() {
        return Err(JudgeError::Unpaired { base: base.len(), variant: variant.len() });
    }
    if base.is_empty() {
        return Err(JudgeError::NoBlocks);
    }
    let checked = |side, place: usize, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(value)
        } else {
            Err(JudgeError::NotPositive { side, block: place + 1, value })
        }
    };
    base.iter()
        .zip(variant)
        .enumerate()
        .map(|(place, (b, v))| {
            Ok((checked(Side::Variant, place, *v)? / checked(Side::Base, place, *b)?).ln())
        })
        .collect()
}

/// A sum that does not depend on the order of the blocks.
fn sum(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.iter().sum()
}

/// Twice the smaller one-sided p value against the edges of the margin.
fn margin_p(mean: f64, error: f64, blocks: usize, margin: Margin) -> f64 {
    let (below, above) = margin.log_edges();
    let outside = (below - mean).max(mean - above);
    if error == 0.0 {
        return if outside > 0.0 { 0.0 } else { 1.0 };
    }
    (2.0 * t_cdf(-outside / error, (blocks - 1) as f64)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's own data (Biometrika 6, 1908): extra hours of sleep of 10 patients under two drugs. As differences of
    /// logarithms they must give the published mean 1.58, deviation 1.23, t = 4.06 and interval 0.70 to 2.46.
    #[test]
    fn students_sleep_data() {
        let first = [0.7_f64, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0].map(f64::exp);
        let second = [1.9_f64, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4].map(f64::exp);
        let outcome = compare(&first, &second, Margin::default()).unwrap();
        assert!((outcome.mean_log - 1.58).abs() < 1e-12);
        assert!((outcome.sd_log.unwrap() - 1.229_995).abs() < 1e-6);
        assert!((outcome.low.unwrap().ln() - 0.700_114).abs() < 1e-6);
        assert!((outcome.high.unwrap().ln() - 2.459_886).abs() < 1e-6);
        assert_eq!(outcome.verdict, Verdict::Improvement);
        let p = compare(&first, &second, Margin::of(0.0)).unwrap().margin_p.unwrap();
        assert!((p - 0.002_833).abs() < 1e-6, "published p value 0.002833, found {p}");
    }

    #[test]
    fn one_block_decides_nothing() {
        let outcome = compare(&[100.0], &[50.0], Margin::default()).unwrap();
        assert_eq!(outcome.verdict, Verdict::Inconclusive);
        assert_eq!((outcome.low, outcome.high, outcome.sign_flip_p), (None, None, None));
        assert_eq!(outcome.further_blocks, None);
        assert_eq!(outcome.warnings, [Warning::OneBlock]);
        assert!(outcome.warnings[0].to_string().contains("too few blocks: 1"));
    }

    #[test]
    fn few_blocks_are_said() {
        let few = compare(&[100.0; 5], &[90.0, 91.0, 90.5, 89.0, 90.0], Margin::default()).unwrap();
        assert_eq!(few.verdict, Verdict::Regression);
        assert_eq!(few.warnings, [Warning::TooFewBlocks { blocks: 5 }]);
        let six =
            compare(&[100.0; 6], &[90.0, 91.0, 90.5, 89.0, 90.0, 90.0], Margin::default()).unwrap();
        assert_eq!(six.warnings, []);
    }

    #[test]
    fn sure_but_small_is_equivalent_with_its_size() {
        let outcome =
            compare(&[100.0; 6], &[99.0, 99.1, 98.9, 99.0, 99.05, 98.95], Margin::default())
                .unwrap();
        assert_eq!(outcome.verdict, Verdict::Equivalent);
        assert!(outcome.high.unwrap() < 1.0, "the interval excludes 1");
        assert!((outcome.ratio - 0.99).abs() < 1e-4);
        assert_eq!(outcome.further_blocks, Some(0));
    }

    #[test]
    fn no_spread_at_all() {
        let same = compare(&[100.0; 3], &[100.0; 3], Margin::default()).unwrap();
        assert_eq!((same.verdict, same.margin_p), (Verdict::Equivalent, Some(1.0)));
        let half = compare(&[100.0; 3], &[50.0; 3], Margin::default()).unwrap();
        assert_eq!((half.verdict, half.margin_p), (Verdict::Regression, Some(0.0)));
    }

    #[test]
    fn the_two_tests_can_disagree() {
        // Darwin's maize (see the sign-flip test) as log ratios: t says 0.050, sign-flip 0.053.
        let d = [
            49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0,
            -48.0,
        ];
        let variant = d.map(|d: f64| (d / 1000.0).exp());
        let outcome = compare(&[1.0; 15], &variant, Margin::default()).unwrap();
        assert!(outcome.low.unwrap() > 1.0);
        assert!(matches!(outcome.warnings[..], [Warning::SignFlipDisagrees { .. }]));
    }

    #[test]
    fn what_cannot_be_compared() {
        assert_eq!(compare(&[], &[], Margin::default()), Err(JudgeError::NoBlocks));
        assert_eq!(
            compare(&[1.0], &[], Margin::default()),
            Err(JudgeError::Unpaired { base: 1, variant: 0 })
        );
        for value in [0.0, -1.0, f64::INFINITY] {
            let error = compare(&[1.0, value], &[1.0, 1.0], Margin::default()).unwrap_err();
            assert_eq!(error, JudgeError::NotPositive { side: Side::Base, block: 2, value });
        }
        assert!(compare(&[1.0], &[f64::NAN], Margin::default()).is_err());
    }

    #[test]
    fn noise_floor_is_a_high_percentile() {
        let ratios: Vec<f64> = (0..=100).map(|i| 1.0 + f64::from(i) / 1000.0).collect();
        assert!((noise_floor(&ratios).unwrap() - 0.099).abs() < 1e-12);
        assert_eq!(noise_floor(&[]), None);
        let outcome =
            compare(&[1.0; 6], &[0.97; 6], Margin { asked: 0.02, noise_floor: 0.04 }).unwrap();
        assert_eq!(outcome.verdict, Verdict::Equivalent);
        assert!(matches!(outcome.warnings[..], [Warning::MarginRaised { .. }]));
    }
}
