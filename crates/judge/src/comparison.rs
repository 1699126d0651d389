//! The result of a comparison with the base, and what its error can detect.

use crate::{ENOUGH_BLOCKS, Margin, Verdict, Warning, sign_flip_p, t_quantile};

/// Default confidence of an interval: 95%.
pub const CONFIDENCE: f64 = 0.95;

/// Accepted share of false verdicts among all regressions and improvements: 5%.
pub const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// Power at which a difference counts as detectable: 80%, the usual choice since J. Cohen,
/// *Statistical Power Analysis for the Behavioral Sciences*, 1988, §2.4.
pub const POWER: f64 = 0.8;

/// How the values of two variants were paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Trials that had the machine to themselves, paired by block.
    Blocks,
    /// Slices of a fraction of a second between servers that were up together, paired by round.
    Slices,
}

impl Method {
    /// Its name in plans, tables and exports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Slices => "slices",
        }
    }
}

/// A variant compared with the base over `blocks` paired trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// How the values were paired.
    pub method: Method,
    /// Number of paired blocks, k; with [`Method::Slices`] the number of restarts of the servers.
    pub blocks: usize,
    /// exp(mean d): throughput of the variant as a fraction of the base's.
    pub ratio: f64,
    /// Confidence of the interval, as a fraction: 0.95 unless several looks share the error (see
    /// [`crate::Looks`]).
    pub confidence: f64,
    /// Lower end of the interval of the ratio; `None` with one block or restart.
    pub low: Option<f64>,
    /// Upper end of the interval of the ratio; `None` with one block or restart.
    pub high: Option<f64>,
    /// Two-sided p value of the exact sign-flip test of no difference at all.
    pub sign_flip_p: Option<f64>,
    /// Two-sided p value of the t test that there is no difference at all: at most 1 - confidence
    /// exactly where the interval excludes 1.
    pub difference_p: Option<f64>,
    /// [`Self::difference_p`] among all comparisons of the experiment, after Benjamini and
    /// Hochberg; `None` before [`crate::control_false_discoveries`] has seen them.
    pub adjusted_p: Option<f64>,
    /// Two-sided p value of the t test that the difference is not larger than margin and noise
    /// floor: at most 1 - confidence exactly where the interval lies wholly outside both. The input
    /// of [`crate::control_false_discoveries`].
    pub margin_p: Option<f64>,
    /// The resulting verdict.
    pub verdict: Verdict,
    /// Estimated number of further blocks until the verdict is decided, which needs at least
    /// [`ENOUGH_BLOCKS`] in all. 0 if it is decided; `None` if the number is unknown (one block),
    /// larger than [`crate::MAX_FURTHER_BLOCKS`], or if two estimates of the same difference don't
    /// agree, which more blocks would not change.
    pub further_blocks: Option<u32>,
    /// Minimum detectable effect: the smallest true slowdown, as a fraction of the base's
    /// throughput, that the same number of new blocks would confirm with a power of 80%, if all
    /// else were equal. Among many comparisons it is larger; [`crate::control_false_discoveries`]
    /// takes their number into account. `None` with fewer than 5 blocks.
    pub detectable: Option<f64>,
    /// The margin that it was judged by.
    pub margin: Margin,
    /// Mean of the log ratios d.
    pub mean_log: f64,
    /// Sample deviation (n - 1) of the log ratios d; `None` with one block.
    pub sd_log: Option<f64>,
    /// Standard error of [`Self::mean_log`]; `None` with one block.
    pub error_log: Option<f64>,
    /// Degrees of freedom of [`Self::error_log`]: k - 1 for blocks; 0 with one block.
    pub freedom: f64,
    /// Warnings about it.
    pub warnings: Vec<Warning>,
}

impl Comparison {
    /// True if the interval by itself excludes 1.
    pub fn excludes_one(&self) -> bool {
        self.low.is_some_and(|low| low > 1.0) || self.high.is_some_and(|high| high < 1.0)
    }

    /// True if there is certainly a difference, larger or smaller than the margin: the interval
    /// excludes 1, [`crate::control_false_discoveries`] has confirmed that among all comparisons of
    /// the experiment, and identical variants don't differ by as much. True of every regression and
    /// every improvement.
    pub fn confirmed(&self) -> bool {
        // The hair of tolerance is that of `control_false_discoveries`.
        let limit = FALSE_DISCOVERY_RATE * (1.0 + 1e-9);
        self.excludes_one()
            && self.adjusted_p.is_none_or(|p| p <= limit)
            && self.mean_log.abs() > self.margin.noise_floor.ln_1p()
    }

    /// The warning that parts of the slices certainly have different ratios, by their length or by
    /// the number of servers.
    pub fn disagreement(&self) -> Option<&Warning> {
        self.warnings.iter().find(|warning| {
            matches!(
                warning,
                Warning::LengthsDisagree { .. }
                    | Warning::SlicesTooShort { .. }
                    | Warning::ServersDisagree { .. }
            )
        })
    }

    /// Sets [`Self::detectable`] for one of `comparisons` comparisons. A slowdown in only one of
    /// them is confirmed if its p value is at most `α/comparisons`, where α is 1 - confidence:
    /// Benjamini and Hochberg's procedure requires that of the smallest p value, and less of the
    /// others.
    pub(crate) fn detect_among(&mut self, comparisons: usize) {
        let level = (1.0 - self.confidence) / comparisons.max(1) as f64;
        self.detectable = self
            .error_log
            .filter(|_| self.blocks > LEAST_DETECTING_FREEDOM as usize)
            .and_then(|error| detectable_effect(error, self.freedom, level));
    }

    /// Adds the sign-flip test if there are several log ratios, and a warning if there are enough
    /// of them and the test contradicts their interval.
    pub(crate) fn flip_signs(&mut self, logs: &[f64]) {
        self.sign_flip_p = sign_flip_p(logs).filter(|_| logs.len() > 1);
        if let Some(p) = self.sign_flip_p
            && logs.len() >= ENOUGH_BLOCKS
            && p > 1.0 - CONFIDENCE
            && self.excludes_one()
        {
            self.warnings.push(Warning::SignFlipDisagrees { p });
        }
    }

    /// Takes another estimate of the same difference in: the interval becomes that of both
    /// together, and a verdict stands only if the other shares it. The number of further blocks is
    /// that of the other.
    pub fn take_in(&mut self, other: &Self) {
        if self.verdict != other.verdict {
            self.verdict = Verdict::Inconclusive;
        }
        self.low = self.low.zip(other.low).map(|(own, other)| own.min(other));
        self.high = self.high.zip(other.high).map(|(own, other)| own.max(other));
        // Where the other alone is decided, nobody knows how many blocks bring them together.
        let open = self.verdict == Verdict::Inconclusive;
        self.further_blocks = other.further_blocks.filter(|blocks| !open || *blocks > 0);
        (self.sd_log, self.error_log) = (other.sd_log, other.error_log);
        (self.freedom, self.detectable) = (other.freedom, other.detectable);
        self.difference_p = match self.excludes_one() {
            true => self.difference_p.zip(other.difference_p).map(|(own, other)| own.max(other)),
            false => Some(1.0),
        };
        self.margin_p = self.margin_p.zip(other.margin_p).map(|(own, other)| own.max(other));
    }

    /// Half the width of the interval as a fraction of the base's throughput: 0.02 is ±2%. `None`
    /// with one block.
    pub fn half_width(&self) -> Option<f64> {
        Some(0.5 * (self.high? - self.low?))
    }
}

/// Fewest degrees of freedom for which a detectable effect is given: those of 5 blocks. With fewer,
/// the spread is known so poorly that the result would be misleading.
pub const LEAST_DETECTING_FREEDOM: u32 = 4;

/// The minimum detectable effect as a fraction: the smallest true slowdown that an experiment
/// confirms with a probability of [`POWER`], if the standard error of the log ratio was estimated
/// as `error` with `freedom` degrees of freedom, and the experiment will estimate its own equally
/// well. Confirmed means that the two-sided p value of the t test is at most `level`. `None` with
/// fewer than [`LEAST_DETECTING_FREEDOM`].
///
/// The experiment's t exceeds its critical value `t` where `Z + δ·S₁ > t·S₂`: Z is standard normal,
/// `S₁` and `S₂` are the estimated error divided by the true one, here and in the experiment. Each
/// S is nearly normal with mean `g = 1 - 1/4ν` and variance `1/2ν` (Abramowitz and Stegun,
/// 26.7.10), so the power is `Φ((δ - t)·g / √(1 + (t² + δ²)/2ν))`, which is solved for δ. If the
/// error were known exactly, δ would be a little smaller.
pub fn detectable_effect(error: f64, freedom: f64, level: f64) -> Option<f64> {
    if !(freedom >= f64::from(LEAST_DETECTING_FREEDOM) && level > 0.0) {
        return None;
    }
    let t = t_quantile(1.0 - 0.5 * level, freedom);
    // Squares: of g, and of z(POWER) over 2ν.
    let g = (1.0 - 0.25 / freedom).powi(2);
    let z = t_quantile(POWER, 1e9).powi(2);
    let own = 0.5 * z / freedom;
    let a = g - own;
    let c = g * t * t - z - own * t * t;
    let multiplier = (g * t + (g * g * t * t - a * c).max(0.0).sqrt()) / a;
    Some(-(-multiplier * error).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal_cdf;

    /// Power of the two-sided t test at `level` when the true difference is `shift` times a
    /// standard error that was itself estimated: by numerical integration over the distributions of
    /// both deviations, s/σ = √(χ²(ν)/ν).
    fn power(shift: f64, freedom: f64, level: f64) -> f64 {
        let critical = t_quantile(1.0 - 0.5 * level, freedom);
        let steps: Vec<(f64, f64)> = (1..400)
            .map(|step| {
                let s = f64::from(step) * 0.01;
                // Density of s/σ up to a constant: s^(ν-1) exp(-ν s²/2).
                (s, ((freedom - 1.0) * s.ln() - 0.5 * freedom * (s * s - 1.0)).exp())
            })
            .collect();
        let whole: f64 = steps.iter().map(|(_, density)| density).sum();
        let mut found = 0.0;
        for (seen, weight) in &steps {
            for (own, density) in &steps {
                found += weight * density * normal_cdf(shift * seen - critical * own);
            }
        }
        found / (whole * whole)
    }

    #[test]
    fn the_detectable_effect_has_the_power_it_says() {
        for comparisons in [1.0, 6.0, 30.0] {
            for freedom in [4.0, 5.0, 7.0, 9.0, 19.0, 100.0] {
                let (error, level) = (1e-5, 0.05 / comparisons);
                let shift = detectable_effect(error, freedom, level).unwrap() / error;
                let found = power(shift, freedom, level);
                assert!(
                    (0.795..0.81).contains(&found),
                    "{comparisons} comparisons, {freedom} degrees: {found}"
                );
            }
        }
        assert_eq!(detectable_effect(0.01, 3.9, 0.05), None);
        assert_eq!(detectable_effect(0.01, 7.0, 0.0), None);
    }
}
