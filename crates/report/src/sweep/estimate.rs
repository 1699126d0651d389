//! The mean of a point and its interval.

use crate::judging::figures::mean;

/// With fewer blocks than this, Student's t intervals are so wide that they would fill a plot: one
/// of two blocks is 13 times as wide as their range.
const FEWEST_WITH_INTERVAL: usize = judge::ENOUGH_BLOCKS;

/// A figure over blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    /// The mean over the blocks, geometric unless a value is 0.
    pub(crate) mean: f64,
    /// Its 95% interval by Student's t over the blocks, of the logarithms where the mean is
    /// geometric; not below 0 if no value is. `None` with one block.
    pub(crate) interval: Option<(f64, f64)>,
    /// The range drawn around the mean: the interval, or with fewer than 6 blocks their range.
    /// `None` with one block.
    pub(crate) drawn: Option<(f64, f64)>,
}

impl Estimate {
    /// Half the width of the interval as a fraction of the mean; `None` if it isn't drawn.
    pub(crate) fn half_width(&self) -> Option<f64> {
        let (low, high) = self.interval.filter(|interval| self.drawn == Some(*interval))?;
        Some(0.5 * (high - low) / self.mean.abs()).filter(|half| *half > 0.0)
    }
}

/// Estimates a figure from its values, one per block; `None` without values.
pub(crate) fn estimate(values: &[f64]) -> Option<Estimate> {
    let shown = mean(values)?;
    let logarithmic = values.iter().all(|value| *value > 0.0);
    let scaled: Vec<f64> = match logarithmic {
        true => values.iter().map(|value| value.ln()).collect(),
        false => values.to_vec(),
    };
    let count = values.len() as f64;
    let interval =
        judge::mean(&scaled).zip(judge::sd_sample(&scaled)).map(|(middle, deviation)| {
            let tail = (1.0 - judge::CONFIDENCE) / 2.0;
            let half = judge::t_quantile(1.0 - tail, count - 1.0) * deviation / count.sqrt();
            match logarithmic {
                true => ((middle - half).exp(), (middle + half).exp()),
                false if values.iter().all(|value| *value >= 0.0) => {
                    ((middle - half).max(0.0), middle + half)
                }
                false => (middle - half, middle + half),
            }
        });
    let interval = interval.filter(|(low, high)| low.is_finite() && high.is_finite());
    let range = || {
        let ends = values.iter().copied();
        Some((ends.clone().min_by(f64::total_cmp)?, ends.max_by(f64::total_cmp)?))
    };
    let drawn = match values.len() {
        1 => None,
        2..FEWEST_WITH_INTERVAL => range(),
        _ => interval,
    };
    Some(Estimate { mean: shown, interval, drawn })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_students_t() {
        // t(0.975, 2) = 4.302653; the deviation of −0.1, 0, 0.1 is 0.1.
        let found = estimate(&[(-0.1_f64).exp(), 1.0, 0.1_f64.exp()]).unwrap();
        let half = 4.302_653 * 0.1 / 3.0_f64.sqrt();
        let (low, high) = found.interval.unwrap();
        assert!((found.mean - 1.0).abs() < 1e-12);
        assert!((low - (-half).exp()).abs() < 1e-6 && (high - half.exp()).abs() < 1e-6);
    }

    #[test]
    fn zeros_have_an_arithmetic_mean() {
        let found = estimate(&[0.0, 1.0, 2.0]).unwrap();
        assert_eq!(found.interval.map(|(low, _)| low), Some(0.0), "nobody reads less than nothing");
        let found = estimate(&[0.0, -1.0, 4.0]).unwrap();
        let half = 4.302_653 * 7.0_f64.sqrt() / 3.0_f64.sqrt();
        assert!((found.mean - 1.0).abs() < 1e-12);
        assert!((found.interval.unwrap().0 - (1.0 - half)).abs() < 1e-6);
        assert_eq!(estimate(&[0.0, 0.0]).unwrap().interval, Some((0.0, 0.0)));
    }

    #[test]
    fn one_block_has_no_interval() {
        let one = estimate(&[5.0]).unwrap();
        assert_eq!((one.interval, one.drawn), (None, None));
        assert_eq!(estimate(&[]), None);
    }

    #[test]
    fn few_blocks_are_drawn_with_their_range() {
        let two = estimate(&[104.0, 96.0]).unwrap();
        assert_eq!(two.drawn, Some((96.0, 104.0)));
        let (low, high) = two.interval.unwrap();
        assert!(low < 70.0 && high > 150.0, "what would be drawn otherwise");
        assert_eq!(two.half_width(), None);
        let six = estimate(&[104.0, 96.0, 100.0, 99.0, 101.0, 100.0]).unwrap();
        assert_eq!(six.drawn, six.interval);
        assert!(six.half_width().unwrap() < 0.05);
    }
}
