//! How much the true effects of machines differ.

use super::means::{Mean, ROUNDING, known, values};
use crate::beta::incomplete_beta;
use crate::sd_sample;

/// Halvings of the interval that holds a deviation, to a ten-thousandth.
const HALVINGS: usize = 14;

/// From so many places at most the search for the best center begins.
const STARTS: usize = 9;

/// The scatter of the machines' true effects, tau. Deviations are of log ratios: 0.01 is about 1%.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineSpread {
    /// Estimated standard deviation; 0 if the blocks explain all differences.
    pub sd: f64,
    /// Lower end of its interval, at the confidence of the comparison. It is above 0 where
    /// [`Self::p`] is below half of what the confidence leaves.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// p value of the test that all machines have the same ratio.
    pub p: f64,
}

/// Estimates the scatter by `Q(τ)`, the heterogeneity of the means if the true effects scatter by
/// τ. It has M-1 degrees of freedom, so the estimate has `Q = M - 1` (as Paule and Mandel's), the
/// interval has the τ for which Q is a usual value of chi-squared (W. Viechtbauer, *Statist. Med.*
/// 26, 2007), and the test is at `τ = 0`.
///
/// `None` with one machine, or if their noise is unknown.
pub(super) fn spread(means: &[Mean], confidence: f64) -> Option<MachineSpread> {
    if means.len() < 2 || !known(means) {
        return None;
    }
    let freedom = means.len() as f64 - 1.0;
    let p = |sd: f64| chi_squared_p(heterogeneity(means, sd * sd), freedom);
    let tail = 0.5 - 0.5 * confidence;
    let seen = sd_sample(&values(means))?.max(ROUNDING.sqrt());
    Some(MachineSpread {
        sd: smallest(seen, |sd| heterogeneity(means, sd * sd) <= freedom),
        low: smallest(seen, |sd| p(sd) >= tail),
        high: smallest(seen, |sd| p(sd) >= 1.0 - tail),
        p: p(0.0),
    })
}

/// The smallest deviation that is large enough; `about` is in its order of magnitude.
fn smallest(about: f64, enough: impl Fn(f64) -> bool) -> f64 {
    if enough(0.0) {
        return 0.0;
    }
    let (mut below, mut above) = (0.0, about);
    while !enough(above) && above.is_finite() {
        (below, above) = (above, 2.0 * above);
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (below + above);
        if enough(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
    above
}

/// A machine's part of the heterogeneity, `factor · ln(1 + (value - center)² / scale)`.
struct Part {
    value: f64,
    factor: f64,
    scale: f64,
}

/// `Q = Σ z²` around the center that makes it smallest. Cochran's Q takes `(x̄ - center)² / v` for
/// z², which is far too large if v comes from a few blocks. That quotient is the square of
/// Student's t, so it is turned into the z of the same probability first (R. A. Alexander and D. M.
/// Govern, *J. Educ. Statist.* 19, 1994), by the approximation `z² = ((8ν+1)/(8ν+3))² ν ln(1 +
/// t²/ν)` (D. L. Wallace, *Ann. Math. Statist.* 30, 1959).
///
/// With true effects that scatter by `between`, a variance, `v + between` takes the place of v.
/// Only v is uncertain, so by Satterthwaite's formula the sum has more than ν degrees of freedom.
/// If a variance happens to be small, they would be far too many, so the mean variance counts too.
fn heterogeneity(means: &[Mean], between: f64) -> f64 {
    let typical = means.iter().map(|one| one.variance).sum::<f64>() / means.len() as f64;
    let times = |variance: f64| 1.0 + between / variance.max(ROUNDING);
    let part = |one: &Mean| {
        let freedom = (one.freedom * times(one.variance) * times(typical)).min(1e9);
        let wallace = ((8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)).powi(2);
        let scale = freedom * (one.variance.max(ROUNDING) + between);
        Part { value: one.value, factor: wallace * freedom, scale }
    };
    let parts: Vec<Part> = means.iter().map(part).collect();
    let around = |center: f64| -> f64 {
        let part = |one: &Part| one.factor * ((one.value - center).powi(2) / one.scale).ln_1p();
        parts.iter().map(part).sum()
    };
    // With few blocks there are several minima, near the means of quiet machines.
    let mut starts = values(means);
    starts.sort_by(f64::total_cmp);
    let step = starts.len().div_ceil(STARTS);
    let begun = starts.iter().step_by(step).map(|start| (around(*start), *start));
    let Some((mut least, mut center)) = begun.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return 0.0;
    };
    // The sum is the likelihood of Student's t; reweighting goes downhill (K. L. Lange, R. J. A.
    // Little and J. M. G. Taylor, *J. Amer. Statist. Assoc.* 84, 1989).
    loop {
        let weight = |one: &Part| one.factor / (one.scale + (one.value - center).powi(2));
        let weights: f64 = parts.iter().map(weight).sum();
        center = parts.iter().map(|one| weight(one) * one.value).sum::<f64>() / weights;
        let now = around(center);
        if now.is_nan() || now >= least * (1.0 - 1e-6) {
            return least.min(now);
        }
        least = now;
    }
}

/// Probability that chi-squared with `freedom` degrees exceeds `q`: that of F with ten million
/// degrees in the denominator (Abramowitz and Stegun, 26.6.2).
fn chi_squared_p(q: f64, freedom: f64) -> f64 {
    const MANY: f64 = 1e7;
    let all = MANY + q;
    incomplete_beta(0.5 * MANY, 0.5 * freedom, MANY / all, q / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_points_of_chi_squared() {
        for (q, freedom, p) in
            [(3.841_459, 1.0, 0.05), (0.982_069e-3, 1.0, 0.975), (24.995_79, 15.0, 0.05)]
        {
            assert!((chi_squared_p(q, freedom) - p).abs() < 1e-5, "{q}");
        }
    }
}
