//! The mean of several restarts, and its interval.

use crate::estimate::{Estimate, upper_point};
use crate::satterthwaite::satterthwaite;
use crate::slices::RestartRatio;
use crate::{Comparison, ENOUGH_BLOCKS, JudgeError, Margin, Method, mean, sd_sample, t_quantile};

/// The mean of the restarts' log ratios; `None` without restarts.
pub(crate) fn mean_log(restarts: &[RestartRatio]) -> Option<f64> {
    mean(&restarts.iter().map(|restart| restart.mean_log).collect::<Vec<f64>>())
}

/// The comparison by the log ratios of restarts, without warnings.
pub(crate) fn estimate(
    restarts: &[RestartRatio],
    margin: Margin,
    confidence: f64,
) -> Result<Comparison, JudgeError> {
    let logs: Vec<f64> = restarts.iter().map(|restart| restart.mean_log).collect();
    let mean_log = mean_log(restarts).ok_or(JudgeError::NoBlocks)?;
    let sd_log = sd_sample(&logs);
    let half = |(error, freedom): (f64, f64)| error * t_quantile(upper_point(confidence), freedom);
    let within = within(restarts);
    let count = restarts.len() as f64;
    let counts = |between| restarts.len() >= ENOUGH_BLOCKS || half(between) >= half(within);
    let error = sd_log
        .map(|sd| (sd / count.sqrt(), count - 1.0))
        .map(|between| if counts(between) { between } else { within });
    let estimate =
        Estimate { method: Method::Slices, blocks: restarts.len(), mean_log, sd_log, error };
    Ok(estimate.judge(margin, confidence))
}

/// True if, at this confidence, a difference is more than chance, by the standard errors of the
/// estimates that it is of, with their degrees of freedom.
pub(crate) fn beyond_chance<const N: usize>(
    difference: f64,
    errors: [(f64, f64); N],
    confidence: f64,
) -> bool {
    let (variance, freedom) =
        satterthwaite(errors.into_iter().map(|(error, freedom)| (error * error, freedom)));
    variance == 0.0 || difference > t_quantile(upper_point(confidence), freedom) * variance.sqrt()
}

/// Standard error of the mean of the restarts from their batches, with its degrees of freedom.
pub(crate) fn within(restarts: &[RestartRatio]) -> (f64, f64) {
    let parts = restarts.iter().map(|restart| (restart.variance, restart.freedom));
    let (variance, freedom) = satterthwaite(parts);
    (variance.sqrt() / restarts.len() as f64, freedom)
}
