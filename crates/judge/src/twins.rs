//! A/A comparisons: the same system under two names. Any difference is noise.

use crate::beta::beta_quantile;
use crate::{CONFIDENCE, Comparison, quantile, t_quantile};

/// The percentile of |effect| between identical variants that makes the noise floor: the 99th.
pub const NOISE_PERCENTILE: f64 = 0.99;

/// The noise floor of one step: the size, as a fraction, that the estimated difference between
/// identical variants exceeds once in a hundred comparisons. `twins` are the A/A comparisons of
/// that step; `None` without any.
///
/// With a few pairs of twins, the empirical 99th percentile is just the largest effect seen, which
/// with 3 pairs is below the true percentile in 97 of 100 experiments. So it is also estimated from
/// the spread: identical variants have a true log ratio of 0, so each comparison with standard
/// error `e` and `f` degrees of freedom gives `f·e² + mean²` with `f + 1` degrees (for k blocks:
/// Σd²/k with k degrees), and the pooled `E² = Σ(f·e² + mean²) / Σ(f + 1)` predicts the next one:
/// `mean / E` follows Student's t with `Σ(f + 1)` degrees of freedom, so the 99th percentile
/// of |mean| is `t(0.995) · E`. The result is the larger of the two: the first shows heavy tails
/// once there are many pairs, the second holds even with a single pair.
///
/// The comparisons should have the same number of blocks; the floor applies to comparisons with
/// that number.
pub fn noise_floor(twins: &[Comparison]) -> Option<f64> {
    let effects: Vec<f64> = twins.iter().map(|twin| twin.mean_log.abs()).collect();
    let seen = quantile(&effects, NOISE_PERCENTILE)?;
    let (squares, freedom) = twins.iter().fold((0.0, 0.0), |(squares, freedom), twin| {
        let error = twin.error_log.unwrap_or_default();
        let own = twin.freedom * error * error + twin.mean_log * twin.mean_log;
        (squares + own, freedom + twin.freedom + 1.0)
    });
    let expected = t_quantile(0.5 + 0.5 * NOISE_PERCENTILE, freedom) * (squares / freedom).sqrt();
    Some(seen.max(expected).exp_m1())
}

/// How often identical variants were reported to differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FalseAlarms {
    /// Comparisons of identical variants that have an interval.
    pub comparisons: usize,
    /// How many of their intervals exclude 1.
    pub alarms: usize,
    /// `alarms / comparisons`, which should be about 1 - confidence (5%).
    pub rate: f64,
    /// Lower end of the 95% interval of the true rate.
    pub low: f64,
    /// Upper end of the 95% interval of the true rate.
    pub high: f64,
}

/// The false-alarm rate of an experiment from its A/A comparisons, with the exact binomial interval
/// of C. J. Clopper and E. S. Pearson (*Biometrika* 26, 1934) at 95%. `None` when none of them has
/// an interval.
///
/// Each counts by its own interval, not corrected for their number. Steps of one trial share a
/// server, so their comparisons are not quite independent and the true uncertainty is a little
/// larger.
pub fn false_alarm_rate(twins: &[Comparison]) -> Option<FalseAlarms> {
    let comparisons = twins.iter().filter(|twin| twin.low.is_some()).count();
    if comparisons == 0 {
        return None;
    }
    let alarms = twins.iter().filter(|twin| twin.excludes_one()).count();
    let (low, high) = binomial_interval(alarms, comparisons, CONFIDENCE);
    let rate = alarms as f64 / comparisons as f64;
    Some(FalseAlarms { comparisons, alarms, rate, low, high })
}

/// The interval of Clopper and Pearson for a probability, after `hits` in `tries`: the
/// probabilities that would have given as many hits or more, or as many or fewer, with `(1 -
/// confidence) / 2` each.
///
/// The ends are quantiles of beta distributions (NIST/SEMATECH e-Handbook, 7.2.4.1; Abramowitz and
/// Stegun, 26.5.24).
pub fn binomial_interval(hits: usize, tries: usize, confidence: f64) -> (f64, f64) {
    let tail = 0.5 - 0.5 * confidence;
    let (hits_f, misses_f) = (hits as f64, tries.saturating_sub(hits) as f64);
    let low = if hits == 0 { 0.0 } else { beta_quantile(tail, hits_f, misses_f + 1.0) };
    let high = if hits >= tries { 1.0 } else { beta_quantile(1.0 - tail, hits_f + 1.0, misses_f) };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Margin, Verdict, compare};

    #[test]
    fn one_pair_of_twins_is_the_t_point_of_its_own_spread() {
        // Σd² = 8 · 0.01², so E = 0.01/√8 with 8 degrees of freedom: t(0.995, 8) = 3.355387.
        let variant: Vec<f64> = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]
            .iter()
            .map(|sign: &f64| (0.01 * sign).exp())
            .collect();
        let twin = compare(&[1.0; 8], &variant, Margin::default()).unwrap();
        let expected = (3.355_387 * 0.01 / 8.0_f64.sqrt()).exp_m1();
        assert!((noise_floor(&[twin]).unwrap() - expected).abs() < 1e-8);
        assert_eq!(noise_floor(&[]), None);
    }

    /// Two blocks of twins 60% apart put the floor over 100%. Edges and p values are numbers in any
    /// comparison with it.
    #[test]
    fn a_floor_over_one_hundred_percent_decides_nothing_wrong() {
        let twin = compare(&[1.0, 1.0], &[1.6, 1.0 / 1.6], Margin::default()).unwrap();
        let floor = noise_floor(&[twin]).unwrap();
        assert!(floor > 1.0, "{floor}");
        let margin = Margin { asked: 0.02, noise_floor: floor };
        for (ratio, verdict) in [
            (0.001, Verdict::Regression),
            (0.5, Verdict::Inconclusive),
            (1.0, Verdict::Inconclusive),
            (1000.0, Verdict::Improvement),
        ] {
            let variant: Vec<f64> =
                [0.99, 1.0, 1.01, 1.0, 0.99, 1.01].iter().map(|noise| noise * ratio).collect();
            let found = compare(&[1.0; 6], &variant, margin).unwrap();
            assert_eq!(found.verdict, verdict, "{ratio} with a floor of {floor}");
            assert!(found.margin_p.is_some_and(|p| (0.0..=1.0).contains(&p)), "{found:?}");
            assert_eq!(found.margin_p < Some(0.05), verdict != Verdict::Inconclusive);
        }
    }

    #[test]
    fn an_effect_that_was_seen_is_never_above_the_floor() {
        let quiet = compare(&[1.0; 6], &[1.001, 0.999, 1.0, 1.0, 1.001, 0.999], Margin::default());
        let loud = compare(&[1.0; 6], &[1.08; 6], Margin::default());
        let mut twins = vec![quiet.unwrap(); 20];
        twins.push(loud.unwrap());
        let floor = noise_floor(&twins).unwrap();
        assert!(floor > 0.06, "{floor}");
    }

    #[test]
    fn single_blocks_give_a_floor_too() {
        let twins: Vec<Comparison> = [0.01_f64, -0.02, 0.015]
            .iter()
            .map(|d| compare(&[1.0], &[d.exp()], Margin::default()).unwrap())
            .collect();
        assert!(noise_floor(&twins).unwrap() > 0.02);
        assert_eq!(false_alarm_rate(&twins), None, "no interval, no alarm");
    }

    #[test]
    fn clopper_and_pearson() {
        // 0 in n has the closed form 1 - (α/2)^(1/n); the others are published values.
        let (low, high) = binomial_interval(0, 40, 0.95);
        assert!(low <= 0.0);
        assert!((high - (1.0 - 0.025_f64.powf(1.0 / 40.0))).abs() < 1e-12);
        let (low, high) = binomial_interval(4, 20, 0.90);
        assert!((low - 0.071_354).abs() < 1e-6 && (high - 0.401_029).abs() < 1e-6, "{low} {high}");
        let (low, high) = binomial_interval(10, 10, 0.95);
        assert!((low - 0.025_f64.powf(0.1)).abs() < 1e-12);
        assert!(high >= 1.0);
    }

    #[test]
    fn alarms_are_counted() {
        let same = compare(&[1.0; 6], &[1.01, 0.99, 1.0, 1.005, 0.995, 1.0], Margin::default());
        let other = compare(&[1.0; 6], &[0.99, 0.991, 0.989, 0.99, 0.99, 0.99], Margin::default());
        let found =
            false_alarm_rate(&[same.clone().unwrap(), other.unwrap(), same.unwrap()]).unwrap();
        assert_eq!((found.alarms, found.comparisons), (1, 3));
        assert!(found.low < found.rate && found.rate < found.high);
    }
}
