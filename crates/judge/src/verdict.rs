//! From an interval to a verdict, and how many more blocks a verdict needs.

use std::fmt;

use crate::student::t_quantile;

/// Default for the largest difference that counts as small: 2%.
pub const DEFAULT_MARGIN: f64 = 0.02;

/// Never proposes more further blocks than this: the difference is on the edge of the margin.
pub const MAX_FURTHER_BLOCKS: u32 = 1000;

/// What a comparison with the base says about the throughput of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Slower by more than the margin: the whole interval lies below 1-δ.
    Regression,
    /// Faster by more than the margin: the whole interval lies above 1+δ.
    Improvement,
    /// The whole interval lies within the margin, whether or not it contains 1.
    Equivalent,
    /// The interval crosses an edge of the margin, or there is none.
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

/// The margin δ as a fraction of the base's throughput, and the noise floor, which is its lower
/// limit.
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

    /// The margin in force: the requested one, but not less than the noise floor.
    pub fn used(&self) -> f64 {
        self.asked.max(self.noise_floor)
    }

    /// The ratios between which the whole interval of what is equivalent lies: `1-δ` and `1+δ`,
    /// wider where the noise floor is larger. The lower one is 0 from a margin of 100% on.
    pub fn edges(&self) -> (f64, f64) {
        let (below, above) = self.log_edges();
        (below.exp(), above.exp())
    }

    /// The edges `ln(1-δ)` and `ln(1+δ)` of what was asked for, or, where they lie further out,
    /// those of the noise floor F, `-ln(1+F)` and `ln(1+F)`: identical variants differ by that
    /// factor in either direction. Of a margin of 100% or more the lower edge is infinitely far
    /// away: nothing is slower by more than that.
    pub(crate) fn log_edges(&self) -> (f64, f64) {
        let below = if self.asked < 1.0 { (-self.asked).ln_1p() } else { f64::NEG_INFINITY };
        (below.min(-self.noise_floor.ln_1p()), self.used().ln_1p())
    }

    /// The verdict for an interval of log ratios. Where the margin in force is 100% or more nothing
    /// is called equivalent: that identical variants differ by a factor of two makes none the same
    /// as another.
    pub(crate) fn verdict(&self, low: f64, high: f64) -> Verdict {
        let (below, above) = self.log_edges();
        if high < below {
            Verdict::Regression
        } else if low > above {
            Verdict::Improvement
        } else if low >= below && high <= above && self.used() < 1.0 {
            Verdict::Equivalent
        } else {
            Verdict::Inconclusive
        }
    }

    /// How many blocks beyond `blocks` it takes until the interval decides, if mean and deviation
    /// of the log ratios stay what they are: the smallest n with a decided `mean ± t(n-1) · sd/√n`.
    /// As the mean will move, about half of all experiments need more. `None` above
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

/// The least number from `low` on that is enough, if one below `high` is, else `high`; with one
/// that is enough all larger are.
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
    fn noise_floor_widens_the_margin() {
        let margin = Margin { asked: 0.02, noise_floor: 0.05 };
        assert_eq!(margin.verdict(f64::ln(0.955), f64::ln(0.97)), Verdict::Equivalent);
        let quiet = Margin { asked: 0.02, noise_floor: 0.001 };
        assert!((quiet.used() - 0.02).abs() < f64::EPSILON);
    }

    #[test]
    fn edges_are_ratios() {
        let close = |margin: Margin, low: f64, high: f64| {
            let (below, above) = margin.edges();
            assert!((below - low).abs() < 1e-12 && (above - high).abs() < 1e-12, "{margin:?}");
        };
        close(Margin::of(0.02), 0.98, 1.02);
        close(Margin { asked: 0.02, noise_floor: 0.25 }, 0.8, 1.25);
        close(Margin::of(1.0), 0.0, 2.0);
    }

    #[test]
    fn a_noise_floor_of_a_factor_has_edges_on_both_sides() {
        for noise_floor in [0.999, 1.0, 1.7, 30.0, f64::INFINITY] {
            let margin = Margin { asked: 0.02, noise_floor };
            let (below, above) = margin.log_edges();
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
