//! From an interval to a verdict, and how many more blocks a verdict needs.

use std::fmt;

use crate::student::t_quantile;

/// Default for the largest difference that counts as small: 2%.
pub const DEFAULT_MARGIN: f64 = 0.02;

/// The largest number of further blocks that is proposed. If more are needed, the difference is at
/// the edge of the margin.
pub const MAX_FURTHER_BLOCKS: u32 = 1000;

/// The verdict on the throughput of a variant compared with the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Slower by more than the margin and the noise floor: the whole interval lies below 1-δ.
    Regression,
    /// Faster by more than the margin and the noise floor: the whole interval lies above 1+δ.
    Improvement,
    /// The whole interval lies within the margin that was asked, whether or not it contains 1.
    Equivalent,
    /// Anything else, no interval, or fewer than [`crate::ENOUGH_BLOCKS`] blocks.
    Inconclusive,
}

impl Verdict {
    /// The word for it in tables and exports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Improvement => "improvement",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The margin δ as a fraction of the base's throughput, and the noise floor. The floor only makes
/// verdicts more careful: a regression or an improvement has to exceed it, too. Equivalent means
/// within the margin, however large the noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    /// The largest difference that counts as small, as a fraction: 0.02 is 2%.
    pub asked: f64,
    /// The 99th percentile of |ratio - 1| between identical variants (see [`crate::noise_floor`]);
    /// 0 when not known.
    pub noise_floor: f64,
}

impl Default for Margin {
    fn default() -> Self {
        Self::of(DEFAULT_MARGIN)
    }
}

impl Margin {
    /// A margin without a known noise floor.
    pub fn of(asked: f64) -> Self {
        Self { asked, noise_floor: 0.0 }
    }

    /// The ratios between which the whole interval of an equivalent variant lies: `1-δ` and `1+δ`.
    /// The lower one is 0 from a margin of 100% on.
    pub fn edges(&self) -> (f64, f64) {
        let (below, above) = self.log_edges();
        (below.exp(), above.exp())
    }

    /// The whole interval of a regression or an improvement lies outside these ratios: those of the
    /// margin, or those of the noise floor F, `1/(1+F)` and `1+F`, if they are further out.
    pub fn outer_edges(&self) -> (f64, f64) {
        let (below, above) = self.outer_log_edges();
        (below.exp(), above.exp())
    }

    /// True if the noise floor lies outside the margin.
    pub fn is_below_noise(&self) -> bool {
        self.outer_log_edges() != self.log_edges()
    }

    /// `ln(1-δ)` and `ln(1+δ)`. With a margin of 100% or more, the lower edge is infinitely far
    /// away, because nothing is slower by more than that.
    pub(crate) fn log_edges(&self) -> (f64, f64) {
        let below = if self.asked < 1.0 { (-self.asked).ln_1p() } else { f64::NEG_INFINITY };
        (below, self.asked.ln_1p())
    }

    /// Identical variants differ by the factor `1+F` in either direction.
    pub(crate) fn outer_log_edges(&self) -> (f64, f64) {
        let ((below, above), floor) = (self.log_edges(), self.noise_floor.ln_1p());
        (below.min(-floor), above.max(floor))
    }

    /// The verdict for an interval of log ratios. With a margin or a noise floor of 100% or more,
    /// nothing is called equivalent: if identical variants differ by a factor of two, nothing can
    /// show that two are the same.
    pub(crate) fn verdict(&self, low: f64, high: f64) -> Verdict {
        let ((below, above), (slower, faster)) = (self.log_edges(), self.outer_log_edges());
        if high < slower {
            Verdict::Regression
        } else if low > faster {
            Verdict::Improvement
        } else if low >= below && high <= above && self.asked.max(self.noise_floor) < 1.0 {
            Verdict::Equivalent
        } else {
            Verdict::Inconclusive
        }
    }

    /// The number of blocks in addition to `blocks` that the interval needs to decide, if mean and
    /// deviation of the log ratios stay the same: the smallest n with a decided `mean ± t(n-1) ·
    /// sd/√n`. As the mean will move, about half of all experiments need more. `None` above
    /// [`MAX_FURTHER_BLOCKS`].
    pub(crate) fn further_blocks(&self, mean: f64, sd: f64, blocks: usize, p: f64) -> Option<u32> {
        let decided = |further: u32| {
            let n = blocks as f64 + f64::from(further);
            let half = t_quantile(p, n - 1.0) * sd / n.sqrt();
            self.verdict(mean - half, mean + half) != Verdict::Inconclusive
        };
        // The interval shrinks with every block around the same mean: once decided, always decided.
        let enough = fewest(0, MAX_FURTHER_BLOCKS + 1, decided);
        (enough <= MAX_FURTHER_BLOCKS).then_some(enough)
    }
}

/// The smallest number from `low` on that is enough, or `high` if none below it is. If a number is
/// enough, all larger ones are, too.
pub(crate) fn fewest(mut low: u32, mut high: u32, enough: impl Fn(u32) -> bool) -> u32 {
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(low: f64, high: f64) -> Verdict {
        Margin::default().verdict(f64::ln(low), f64::ln(high))
    }

    #[test]
    fn intervals_and_their_verdicts() {
        assert_eq!(verdict(0.90, 0.97), Verdict::Regression);
        assert_eq!(verdict(0.90, 0.985), Verdict::Inconclusive);
        assert_eq!(verdict(0.985, 0.995), Verdict::Equivalent, "sure but small");
        assert_eq!(verdict(0.985, 1.015), Verdict::Equivalent);
        assert_eq!(verdict(0.97, 1.03), Verdict::Inconclusive);
        assert_eq!(verdict(1.01, 1.05), Verdict::Inconclusive);
        assert_eq!(verdict(1.021, 1.05), Verdict::Improvement);
    }

    #[test]
    fn a_noise_floor_only_makes_verdicts_more_careful() {
        let verdict = |noise_floor, low, high| {
            Margin { asked: 0.02, noise_floor }.verdict(f64::ln(low), f64::ln(high))
        };
        assert_eq!(verdict(0.25, 0.82, 0.90), Verdict::Inconclusive, "18% is not within 2%");
        assert_eq!(verdict(0.25, 0.70, 0.79), Verdict::Regression);
        assert_eq!(verdict(0.25, 0.985, 1.015), Verdict::Equivalent);
        let ratios = || (60..150).map(|percent| f64::from(percent) / 100.0);
        for (low, high) in ratios().flat_map(|low| ratios().map(move |high| (low, high))) {
            let (without, with) = (verdict(0.0, low, high), verdict(0.25, low, high));
            let careful = with == without || with == Verdict::Inconclusive;
            assert!(careful || low > high, "{low} to {high}");
        }
        assert!(!Margin { asked: 0.02, noise_floor: 0.001 }.is_below_noise());
    }

    #[test]
    fn edges_are_ratios() {
        let close = |margin: Margin, low: f64, high: f64| {
            let (below, above) = margin.edges();
            assert!((below - low).abs() < 1e-12 && (above - high).abs() < 1e-12, "{margin:?}");
        };
        close(Margin::of(0.02), 0.98, 1.02);
        let noisy = Margin { asked: 0.02, noise_floor: 0.25 };
        close(noisy, 0.98, 1.02);
        let (slower, faster) = noisy.outer_edges();
        assert!((slower - 0.8).abs() < 1e-12 && (faster - 1.25).abs() < 1e-12);
        close(Margin::of(1.0), 0.0, 2.0);
    }

    #[test]
    fn a_noise_floor_of_a_factor_has_edges_on_both_sides() {
        for noise_floor in [0.999, 1.0, 1.7, 30.0, f64::INFINITY] {
            let margin = Margin { asked: 0.02, noise_floor };
            let (below, above) = margin.outer_log_edges();
            assert!(
                below < 0.0 && above > 0.0 && (below + above).abs() < 1e-12 || above.is_infinite()
            );
        }
        let margin = Margin { asked: 0.02, noise_floor: 1.7 };
        let verdict = |low, high| margin.verdict(f64::ln(low), f64::ln(high));
        assert_eq!(verdict(0.30, 0.36), Verdict::Regression, "below 1/2.7");
        assert_eq!(verdict(0.30, 0.38), Verdict::Inconclusive);
        assert_eq!(verdict(2.71, 2.8), Verdict::Improvement);
        assert_eq!(verdict(0.9, 1.1), Verdict::Inconclusive, "not the same for that");
        assert_eq!(margin.further_blocks(0.0, 0.1, 6, 0.975), None);
        for margin in [Margin::of(1.0), Margin::of(3.0)] {
            assert_eq!(margin.verdict(-20.0, -19.0), Verdict::Inconclusive);
        }
        for (low, high) in [(f64::NAN, f64::NAN), (f64::NEG_INFINITY, f64::INFINITY)] {
            assert_eq!(Margin::default().verdict(low, high), Verdict::Inconclusive);
        }
    }

    #[test]
    fn further_blocks_are_just_enough() {
        let margin = Margin::default();
        let (mean, sd) = (f64::ln(0.97), 0.02);
        let further = margin.further_blocks(mean, sd, 6, 0.975).unwrap();
        let decided = |n: u32| {
            let half = t_quantile(0.975, f64::from(n - 1)) * sd / f64::from(n).sqrt();
            margin.verdict(mean - half, mean + half) != Verdict::Inconclusive
        };
        assert!(further > 0);
        assert!(decided(6 + further));
        assert!(!decided(6 + further - 1));
        assert_eq!(
            margin.further_blocks((-0.02_f64).ln_1p(), 0.01, 6, 0.975),
            None,
            "on the very edge"
        );
    }
}
