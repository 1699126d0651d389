//! The trimmed mean, and its uncertainty when neighboring values are correlated.

use crate::autocorrelation::{persistence, variance_inflation};

/// Fewest values in a batch, if there are enough values.
const SMALLEST_BATCH: usize = 3;
/// Bounds of the number of batches. t(29) is within 5% of the normal, so more would hardly narrow
/// an interval; with fewer than 8, the variance itself is known too poorly.
const BATCHES: (usize, usize) = (8, 30);
/// Length of a batch in integrated autocorrelation times, so neighboring batches are nearly
/// independent.
const TIMES_PER_BATCH: f64 = 6.0;
/// The upper limit for the correlation between batches: the estimate from a few batches is poor.
const MOST_BETWEEN_BATCHES: f64 = 0.6;

/// The mean of the middle values, and the influence of each value on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trimmed {
    pub(crate) mean: f64,
    low: f64,
    high: f64,
    kept: f64,
}

impl Trimmed {
    /// Cuts the share `cut` (under one half) off both ends, rounded down to whole values. `None`
    /// without values or when those kept are not all finite.
    pub(crate) fn of(values: &[f64], cut: f64) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let each = (cut * sorted.len() as f64).floor() as usize;
        let middle = sorted.get(each..sorted.len().checked_sub(each)?)?;
        let (low, high) = (*middle.first()?, *middle.last()?);
        (low.is_finite() && high.is_finite()).then(|| Self {
            mean: middle.iter().sum::<f64>() / middle.len() as f64,
            low,
            high,
            kept: middle.len() as f64 / sorted.len() as f64,
        })
    }

    /// The influence of each value on the trimmed mean (P. J. Huber, *Robust Statistics*, 1981,
    /// §3.3): the values winsorised (those cut off pulled in to the nearest that is not), less
    /// their mean, divided by the share kept. They add up to 0, and the variance of their mean is
    /// that of the trimmed mean (J. W. Tukey and D. H. McLaughlin, *Sankhyā* A 25, 1963). NaN stay
    /// NaN.
    pub(crate) fn influence(&self, values: &[f64]) -> Vec<f64> {
        let pulled_in: Vec<f64> = values.iter().map(|v| v.clamp(self.low, self.high)).collect();
        let known = || pulled_in.iter().filter(|value| !value.is_nan());
        let level = known().sum::<f64>() / known().count().max(1) as f64;
        pulled_in.iter().map(|value| (value - level) / self.kept).collect()
    }
}

/// The number of batches of neighbors that `values` are cut into: one for every six integrated
/// autocorrelation times, between 8 and 30, and each of at least three values.
pub(crate) fn number_of_batches(values: &[f64]) -> usize {
    let count = values.len() as f64;
    let rho = persistence(values).unwrap_or(0.0).max(0.0);
    let fitting = (count / (TIMES_PER_BATCH * variance_inflation(rho, count))) as usize;
    fitting.clamp(BATCHES.0, BATCHES.1).min(values.len() / SMALLEST_BATCH).max(2)
}

/// `values` in `count` batches of neighbors, whose lengths differ by at most one.
pub(crate) fn batches<T>(values: &[T], count: usize) -> impl Iterator<Item = &[T]> {
    let bound = move |batch: usize| batch * values.len() / count;
    (0..count).filter_map(move |batch| values.get(bound(batch)..bound(batch + 1)))
}

/// Variance of the mean from the means of batches (A. M. Law, *Simulation Modeling and Analysis*,
/// 5th ed., §9.5.3). Correlation left between neighboring batches widens it by `(1 + ρ) / (1 -
/// ρ)`. 0 with fewer than two.
pub(crate) fn variance_of_mean(means: &[f64]) -> f64 {
    let Some(sd) = crate::sd_sample(means) else { return 0.0 };
    let rho = persistence(means).unwrap_or(0.0).clamp(0.0, MOST_BETWEEN_BATCHES);
    sd * sd / means.len() as f64 * (1.0 + rho) / (1.0 - rho)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_values() {
        // 25% of 8 are 2 at either end.
        let values = [1.0, 100.0, 3.0, 4.0, 5.0, 6.0, -50.0, 8.0];
        let trimmed = Trimmed::of(&values, 0.25).unwrap();
        assert_eq!(trimmed.mean.to_bits(), 4.5_f64.to_bits());
        let influence = trimmed.influence(&values);
        assert_eq!(influence, [-3.0, 3.0, -3.0, -1.0, 1.0, 3.0, -3.0, 3.0]);
        // Pulled in to 1 1 1 2 2 with mean 1.4; three of five are kept.
        let skewed = [0.0, 1.0, 1.0, 2.0, 9.0];
        let influence = Trimmed::of(&skewed, 0.25).unwrap().influence(&skewed);
        assert!(influence.iter().sum::<f64>().abs() < 1e-12, "{influence:?}");
        assert!((influence[0] + 0.4 / 0.6).abs() < 1e-12, "{influence:?}");
        assert_eq!(Trimmed::of(&[], 0.25), None);
    }

    #[test]
    fn what_is_cut_off_may_be_infinite() {
        let few = [f64::NEG_INFINITY, 1.0, 2.0, 3.0];
        assert!((Trimmed::of(&few, 0.25).unwrap().mean - 1.5).abs() < 1e-15);
        let many = [f64::NEG_INFINITY, f64::NEG_INFINITY, 2.0, 3.0];
        assert_eq!(Trimmed::of(&many, 0.25), None);
    }

    #[test]
    fn batches_hold_every_value_once() {
        for (values, count) in [(30, 10), (31, 8), (100, 30), (7, 2)] {
            let all: Vec<usize> = (0..values).collect();
            let cut: Vec<&[usize]> = batches(&all, count).collect();
            assert_eq!(cut.len(), count);
            assert_eq!(cut.concat(), all);
        }
    }

    #[test]
    fn alike_neighbors_make_longer_batches() {
        let mut random = crate::random::Random::new(5);
        assert_eq!(number_of_batches(&random.autoregression(3000, 0.0)), 30);
        assert!((8..14).contains(&number_of_batches(&random.autoregression(600, 0.8))));
        assert_eq!(number_of_batches(&[0.5; 12]), 4);
    }
}
