//! The levels, in logarithms relative to the base, that a candidate can have: a grid that is as
//! fine as the looks are exact.

use std::ops::Range as Indices;

use crate::range::Look;
use crate::settings::Settings;

/// Windows of the grid reach so many standard errors to either side of a look.
const REACH: f64 = 4.0;

/// Steps within a window are half of this part of its standard error to all of it. Sums over such
/// steps are good to 4% even for densities that are five times as narrow as the window's, as is
/// that of a level seen at 25 candidates.
const STEP: f64 = 0.4;

/// Log likelihoods below the best level of a candidate are cut here: no candidate outweighs all
/// others.
const LEAST: f64 = -60.0;

/// All looks at one candidate.
#[derive(Debug, Clone)]
pub(crate) struct Looked {
    pub(crate) candidate: usize,
    /// Their estimates, standard errors and degrees of freedom.
    looks: Vec<(f64, f64, f64)>,
}

impl Looked {
    /// The looks by candidate, in order. All `k` looks at a candidate share the deviation of its
    /// build, so each gets `k` times the variance of builds, and their mean has it once.
    pub(crate) fn all(looks: &[Look], settings: &Settings) -> Vec<Self> {
        let mut looks: Vec<Look> = looks.to_vec();
        let key = |look: &Look| [look.log_ratio, look.error, look.freedom].map(f64::to_bits);
        looks.sort_by_key(|look| (look.candidate, key(look)));
        let same = looks.chunk_by(|a, b| a.candidate == b.candidate);
        same.map(|looks| {
            let build = looks.len() as f64 * settings.repeatability.powi(2);
            let one =
                |look: &Look| (look.log_ratio, (look.error.powi(2) + build).sqrt(), look.freedom);
            Self { candidate: looks[0].candidate, looks: looks.iter().map(one).collect() }
        })
        .collect()
    }

    /// Likelihood of each level, up to a factor: the product of Student's densities, each to the
    /// power `(f - 1) / (f + 1)` with its degrees of freedom f.
    ///
    /// The density alone would claim too much. Where restarts are normal, an estimate doesn't
    /// depend on its own standard error, so those that happen to be small are no better. The
    /// derivative of the log density by the level then has the variance `(f + 1) / (f - 1)`, and
    /// the expected curvature 1, in units of the true error; with the power both are equal, as in a
    /// likelihood (S. P. Lyddon, C. C. Holmes and S. G. Walker, *Biometrika* 106, 2019). An error
    /// with one degree of freedom says nothing.
    pub(crate) fn likelihood(&self, levels: &[f64]) -> Vec<f64> {
        let log = |level: &f64| -> f64 {
            let one = |(estimate, error, freedom): &(f64, f64, f64)| {
                let t = (level - estimate) / error;
                let freedom = freedom.min(1e6);
                -0.5 * (freedom - 1.0).max(0.0) * (1.0 + t * t / freedom).ln()
            };
            self.looks.iter().map(one).sum()
        };
        let logs: Vec<f64> = levels.iter().map(log).collect();
        let best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        logs.into_iter().map(|log| (log - best).max(LEAST).exp()).collect()
    }

    /// Windows in which the level probably is: that of each look, and that of their mean.
    fn windows(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let precision: f64 = self.looks.iter().map(|(_, error, _)| error.powi(-2)).sum();
        let sum: f64 = self.looks.iter().map(|(at, error, _)| at * error.powi(-2)).sum();
        let mean = (sum / precision, precision.sqrt().recip());
        let each = self.looks.iter().map(|(at, error, _)| (*at, *error));
        each.chain((self.looks.len() > 1).then_some(mean))
    }
}

/// The grid, with the prior of a level that changed.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    /// Rising.
    pub(crate) at: Vec<f64>,
    /// Probability of each; 1 in all.
    pub(crate) prior: Vec<f64>,
    /// The place of the base's level, 0.
    pub(crate) base: usize,
    /// For each level, those after a change from it that is within the margin.
    pub(crate) onward: Vec<Indices<usize>>,
    /// For each level, those before a change to it that is within the margin.
    pub(crate) backward: Vec<Indices<usize>>,
}

impl Levels {
    pub(crate) fn new(looked: &[Looked], settings: &Settings) -> Self {
        let mut at = vec![0.0];
        // Steps are powers of two, and levels multiples of them, so that windows share levels.
        let window = |(at, error): (f64, f64)| {
            let step = (STEP * error).log2().floor();
            let places = |side: f64| ((at + side * REACH * error) / step.exp2()).round() as i64;
            (step as i32, places(-1.0), places(1.0))
        };
        let windows = looked.iter().flat_map(Looked::windows);
        let mut windows: Vec<_> =
            windows.chain([(0.0, settings.repeatability)]).map(window).collect();
        windows.sort_unstable();
        let mut next = (i32::MIN, 0);
        for (step, from, to) in windows {
            let from = if next.0 == step { from.max(next.1) } else { from };
            at.extend((from..=to).map(|place| place as f64 * f64::from(step).exp2()));
            next = (step, from.max(to + 1));
        }
        // Where nobody looked, the prior alone counts.
        let far = at.iter().fold(50.0 * settings.typical, |far, at| far.max(2.0 * at.abs()));
        let mut size = 0.02 * settings.typical;
        while size < far {
            at.extend([-size, size]);
            size *= 1.4;
        }
        at.sort_by(f64::total_cmp);
        at.dedup_by(|a, b| a.to_bits() == b.to_bits() || *a - *b == 0.0);
        let base = at.partition_point(|level| *level < 0.0);
        let (below, above) = settings.edges();
        let between = |low: f64, high: f64| {
            at.partition_point(|level| *level < low)..at.partition_point(|level| *level <= high)
        };
        let onward = at.iter().map(|level| between(level + below, level + above)).collect();
        let backward = at.iter().map(|level| between(level - above, level - below)).collect();
        let prior = prior(&at, settings.typical);
        Self { at, prior, base, onward, backward }
    }
}

/// Cauchy's distribution: the share of each level is that of the line nearer to it than to others.
fn prior(at: &[f64], scale: f64) -> Vec<f64> {
    let below = |level: f64| 0.5 + (level / scale).atan() / std::f64::consts::PI;
    let edge = |pair: &[f64]| below(0.5 * (pair[0] + pair[1]));
    let edges: Vec<f64> = at.windows(2).map(edge).chain([1.0]).collect();
    let from = [0.0].into_iter().chain(edges.iter().copied());
    edges.iter().zip(from).map(|(to, from)| to - from).collect()
}

/// Sums of the values before each place, and of all.
pub(crate) fn sums(values: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let before = values.iter().map(|value| {
        sum += value;
        sum
    });
    [0.0].into_iter().chain(before).collect()
}

/// The sum of the values within, from [`sums`].
pub(crate) fn within(sums: &[f64], indices: &Indices<usize>) -> f64 {
    sums[indices.end.max(indices.start)] - sums[indices.start]
}
