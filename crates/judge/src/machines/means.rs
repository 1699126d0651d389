//! The mean of each machine, and the error of the mean of several.

use crate::estimate::upper_point;
use crate::paired::sum;
use crate::satterthwaite::satterthwaite;
use crate::{sd_sample, t_quantile};

/// The fewest blocks from which the noise of a machine is taken as it is seen. With two, a noisy
/// machine looks quiet too often: the interval of 16 machines, of which one is six times as noisy
/// as the others, would hold the truth in 92% of experiments.
const ENOUGH_OWN: f64 = 3.0;

/// Variances of log ratios below this are rounding errors.
pub(super) const ROUNDING: f64 = 1e-24;

/// The mean log ratio of one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mean {
    /// The mean of its blocks.
    pub(super) value: f64,
    /// Variance of the mean, by the scatter of the blocks.
    pub(super) variance: f64,
    /// Degrees of freedom of the variance; 0 if it is unknown.
    pub(super) freedom: f64,
    /// The number of its blocks.
    blocks: f64,
}

/// The mean of every machine, given its log ratios. A machine with a single block is taken to be as
/// noisy as the others; if all have a single block, all variances are unknown.
pub(super) fn means(machines: &[&[f64]]) -> Vec<Mean> {
    let own: Vec<(f64, f64)> = machines
        .iter()
        .filter_map(|logs| Some((sd_sample(logs)?.powi(2), logs.len() as f64 - 1.0)))
        .collect();
    let all: f64 = own.iter().map(|(_, freedom)| freedom).sum();
    let squares: f64 = own.iter().map(|(variance, freedom)| variance * freedom).sum();
    let of = |logs: &&[f64]| {
        let blocks = logs.len() as f64;
        let value = sum(logs) / blocks;
        let (one, freedom) = match sd_sample(logs) {
            Some(sd) => (sd * sd, blocks - 1.0),
            None => (squares / all.max(1.0), all),
        };
        Mean { value, variance: one / blocks, freedom, blocks }
    };
    machines.iter().map(of).collect()
}

/// The mean of machines that count the same.
pub(super) fn center(means: &[Mean]) -> f64 {
    sum(&values(means)) / means.len() as f64
}

pub(super) fn values(means: &[Mean]) -> Vec<f64> {
    means.iter().map(|one| one.value).collect()
}

/// True if the noise of the machines is known.
pub(super) fn known(means: &[Mean]) -> bool {
    means.iter().all(|one| one.freedom > 0.0)
}

/// Standard error and degrees of freedom of the mean of these very machines.
pub(super) fn fleet(means: &[Mean], confidence: f64) -> Option<(f64, f64)> {
    if means.iter().any(|one| one.blocks < ENOUGH_OWN) {
        return general(means, confidence);
    }
    Some(within(means))
}

/// Standard error and degrees of freedom of the mean of machines like these: by the scatter of the
/// machines or by that of their blocks, whichever gives the wider interval. `None` with one
/// machine.
pub(super) fn general(means: &[Mean], confidence: f64) -> Option<(f64, f64)> {
    let count = means.len() as f64;
    let between = (sd_sample(&values(means))? / count.sqrt(), count - 1.0);
    let half = |(error, freedom): (f64, f64)| error * t_quantile(upper_point(confidence), freedom);
    let within = Some(within(means)).filter(|_| known(means));
    Some(within.filter(|within| half(*within) > half(between)).unwrap_or(between))
}

/// By the scatter of the blocks.
fn within(means: &[Mean]) -> (f64, f64) {
    let parts = means.iter().map(|one| (one.variance, one.freedom));
    let (variance, freedom) = satterthwaite(parts);
    (variance.sqrt() / means.len() as f64, freedom)
}
