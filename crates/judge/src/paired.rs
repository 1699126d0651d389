//! The paired comparison of a variant with the base over blocks.

use crate::estimate::Estimate;
use crate::{CONFIDENCE, Comparison, ENOUGH_BLOCKS, JudgeError, Margin, Method, Side, Warning};

/// Compares a variant with the base at a confidence of 95%. `base[i]` and `variant[i]` are the
/// values of one metric in the same block; more is better (a throughput). Units cancel out.
///
/// # Errors
/// If a pair is missing, the counts differ, or a value is not positive and finite.
pub fn compare(base: &[f64], variant: &[f64], margin: Margin) -> Result<Comparison, JudgeError> {
    compare_at(base, variant, margin, CONFIDENCE)
}

/// Like [`compare`], with an interval of the given `confidence`, a fraction between 0 and 1.
///
/// # Errors
/// As for [`compare`], and when the confidence is not between 0 and 1.
pub fn compare_at(
    base: &[f64],
    variant: &[f64],
    margin: Margin,
    confidence: f64,
) -> Result<Comparison, JudgeError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(JudgeError::Confidence { confidence });
    }
    Ok(compare_logs(&log_ratios(base, variant)?, margin, confidence))
}

/// Compares by the log ratios of the blocks.
pub(crate) fn compare_logs(logs: &[f64], margin: Margin, confidence: f64) -> Comparison {
    let blocks = logs.len();
    let mean_log = sum(logs) / blocks as f64;
    let sd_log = (blocks > 1).then(|| {
        let squares: Vec<f64> = logs.iter().map(|d| (d - mean_log) * (d - mean_log)).collect();
        (sum(&squares) / (blocks - 1) as f64).sqrt()
    });
    let error = sd_log.map(|sd| (sd / (blocks as f64).sqrt(), (blocks - 1) as f64));
    let estimate = Estimate { method: Method::Blocks, blocks, mean_log, sd_log, error };
    judge_blocks(estimate, logs, margin, confidence)
}

/// The comparison that follows from an estimate by these blocks.
pub(crate) fn judge_blocks(
    estimate: Estimate,
    logs: &[f64],
    margin: Margin,
    confidence: f64,
) -> Comparison {
    let mut outcome = estimate.judge(margin, confidence);
    match logs.len() {
        1 => outcome.warnings.push(Warning::OneBlock),
        blocks @ 2..ENOUGH_BLOCKS => outcome.warnings.push(Warning::TooFewBlocks { blocks }),
        _ => {}
    }
    outcome.flip_signs(logs);
    outcome
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

/// A sum that does not depend on the order of the values.
pub(crate) fn sum(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Verdict, t_quantile};

    /// Student's own data (Biometrika 6, 1908): extra hours of sleep of 10 patients under two
    /// drugs. As differences of logarithms they must give the published mean 1.58, deviation 1.23,
    /// t = 4.06 and interval 0.70 to 2.46.
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
        assert_eq!((few.verdict, few.further_blocks), (Verdict::Inconclusive, Some(1)));
        assert!(few.high.unwrap() < 0.98);
        assert_eq!(few.warnings, [Warning::TooFewBlocks { blocks: 5 }]);
        let six =
            compare(&[100.0; 6], &[90.0, 91.0, 90.5, 89.0, 90.0, 90.0], Margin::default()).unwrap();
        assert_eq!((six.verdict, &six.warnings[..]), (Verdict::Regression, &[][..]));
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
        let same = compare(&[100.0; 6], &[100.0; 6], Margin::default()).unwrap();
        assert_eq!((same.verdict, same.margin_p), (Verdict::Equivalent, Some(1.0)));
        let half = compare(&[100.0; 6], &[50.0; 6], Margin::default()).unwrap();
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
    fn more_confidence_is_a_wider_interval() {
        let base = [100.0; 6];
        let variant = [94.0, 95.0, 95.5, 96.0, 95.2, 94.8];
        let usual = compare(&base, &variant, Margin::default()).unwrap();
        let sure = compare_at(&base, &variant, Margin::default(), 0.99).unwrap();
        assert!(sure.low.unwrap() < usual.low.unwrap() && sure.high.unwrap() > usual.high.unwrap());
        assert!((sure.confidence - 0.99).abs() < 1e-15);
        assert!(sure.detectable.unwrap() > usual.detectable.unwrap());
        let expected = t_quantile(0.995, 5.0) / t_quantile(0.975, 5.0);
        let half = |c: &Comparison| (c.high.unwrap() / c.low.unwrap()).ln();
        assert!((half(&sure) / half(&usual) - expected).abs() < 1e-12);
        for confidence in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(matches!(
                compare_at(&base, &variant, Margin::default(), confidence),
                Err(JudgeError::Confidence { .. })
            ));
        }
    }

    #[test]
    fn a_margin_below_the_noise_is_said() {
        let outcome =
            compare(&[1.0; 6], &[0.97; 6], Margin { asked: 0.02, noise_floor: 0.04 }).unwrap();
        assert_eq!(outcome.verdict, Verdict::Inconclusive, "neither within 2% nor beyond 4%");
        assert_eq!(outcome.further_blocks, None);
        assert!(matches!(outcome.warnings[..], [Warning::BelowNoise { .. }]));
    }
}
