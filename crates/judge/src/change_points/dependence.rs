//! The expected value of a best cut when neighboring values depend on each other.
//!
//! Exchanging values at random assumes that their order means nothing. If a slow machine stays slow
//! for a while (a first-order autoregression), plain noise wanders and looks like a series of
//! changes. So the cut is compared with those of simulated series without changes that wander as
//! strongly as this one.

use crate::random::Random;
use crate::{autocorrelation, quantile};

use super::cuts::{Cuts, MIN_SEGMENT, best_cuts};
use super::energy::Energy;

/// Strengths of dependence at which the estimate's bias is measured.
const GRID: [f64; 8] = [0.0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.97];

/// Simulated series for each point of [`GRID`].
const CALIBRATION: usize = 100;

/// If a history shows less dependence than this share of simulated ones of some strength, that
/// strength is ruled out. Half would be right on average. Underestimating dependence raises false
/// alarms and overestimating it only raises doubts, so it is a bit less. Chosen by simulation: with
/// 0.35 plain noise of strength 0.8 raises an alarm in about 6% of histories of 100 runs (with 0.5
/// in 9%) while a step of three deviations among 20 independent runs is still found in 87%.
const CAREFUL: f64 = 0.35;

/// Simulated series that only wander.
const WANDERING: usize = 399;

/// The lag-1 autocorrelation of `values` after its `splits` best cuts are taken out, freed from its
/// bias: the strength at which simulated series without changes, treated the same way, show less in
/// [`CAREFUL`] of all cases. At least 0.
///
/// Removing the best cuts first keeps real changes from being mistaken for dependence. It also
/// removes much of the real dependence. There is no formula for how much, so it is simulated
/// (indirect inference: Gouriéroux, Monfort and Renault, *Journal of Applied Econometrics* 8,
/// 1993).
pub(super) fn persistence(values: &[f64], cuts: &Cuts, splits: usize, seed: u64) -> f64 {
    let seen = residual_autocorrelation(values, cuts, splits);
    let expected = |point: usize| {
        // Seeds of their own, so that it does not matter which points are asked for.
        let mut random = Random::new(seed.wrapping_add(point as u64));
        let estimates: Vec<f64> = (0..CALIBRATION)
            .map(|_| {
                let series = random.autoregression(values.len(), GRID[point]);
                residual_autocorrelation(&series, cuts, splits)
            })
            .collect();
        quantile(&estimates, CAREFUL).unwrap_or_default()
    };
    // The expectation rises with the strength: find the point after the last one that expects less
    // than was seen.
    let (mut from, mut to) = (0, GRID.len());
    let mut below = None;
    let mut above = None;
    while from < to {
        let middle = from.midpoint(to);
        let here = expected(middle);
        if here < seen {
            below = Some((GRID[middle], here));
            from = middle + 1;
        } else {
            above = Some((GRID[middle], here));
            to = middle;
        }
    }
    match (below, above) {
        (None, _) => 0.0,
        (Some((strongest, _)), None) => strongest,
        (Some((rho, less)), Some((next, more))) => {
            rho + (seen - less) / (more - less) * (next - rho)
        }
    }
}

fn residual_autocorrelation(values: &[f64], cuts: &Cuts, splits: usize) -> f64 {
    let mut bounds = best_cuts(values, cuts, splits);
    bounds.push(values.len());
    let mut rest = Vec::with_capacity(values.len());
    let mut from = 0;
    for to in bounds {
        let level = values[from..to].iter().sum::<f64>() / (to - from) as f64;
        rest.extend(values[from..to].iter().map(|value| value - level));
        from = to;
    }
    autocorrelation(&rest, 1).unwrap_or(0.0)
}

/// Share of series of `count` values that only wander, `rho` strong, whose best cut is as good as
/// one of `divergence` (in units of the mean distance of two values).
pub(super) fn p(count: usize, cuts: &[usize], rho: f64, divergence: f64, seed: u64) -> f64 {
    let mut random = Random::new(seed);
    let order: Vec<usize> = (0..count).collect();
    let reached = (0..WANDERING)
        .filter(|_| {
            let mut energy = Energy::new(&random.autoregression(count, rho));
            let distance = energy.mean_distance();
            energy
                .best_cut(&order, cuts, MIN_SEGMENT)
                .is_some_and(|cut| cut.divergence / distance >= divergence)
        })
        .count();
    (reached + 1) as f64 / (WANDERING + 1) as f64
}
