//! The usual way to combine estimates of unequal variance, for comparison.

use judge::{MachineBlocks, mean, sd_sample, t_quantile};

/// The 95% interval of the log ratio by random effects: weights by variances, the scatter of
/// effects after Paule and Mandel, the interval of Hartung and Knapp, never narrower than without
/// scatter. The variances are taken as known. Every machine has at least two blocks.
pub(super) fn weighted(machines: &[MachineBlocks]) -> (f64, f64) {
    let of = |one: &MachineBlocks| {
        let sd = sd_sample(&one.logs).unwrap_or(f64::NAN);
        (mean(&one.logs).unwrap_or(f64::NAN), sd * sd / one.logs.len() as f64)
    };
    let means: Vec<(f64, f64)> = machines.iter().map(of).collect();
    let freedom = means.len() as f64 - 1.0;
    // Center, sum of weights, and heterogeneity if effects scatter by that variance.
    let pooled = |between: f64| {
        let weight = |(_, variance): &(f64, f64)| 1.0 / (variance + between);
        let weights: f64 = means.iter().map(weight).sum();
        let center = means.iter().map(|one| weight(one) * one.0).sum::<f64>() / weights;
        let squares = means.iter().map(|one| weight(one) * (one.0 - center).powi(2));
        (center, weights, squares.sum::<f64>())
    };
    let (mut below, mut above) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (below + above);
        if pooled(middle).2 > freedom { below = middle } else { above = middle }
    }
    let (center, weights, squares) = pooled(above);
    let error = ((squares / freedom).max(1.0) / weights).sqrt();
    let half = t_quantile(0.975, freedom) * error;
    (center - half, center + half)
}
