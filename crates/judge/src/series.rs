//! Describing one trial's seconds: where it settles and where it drifts. Never evidence for a verdict.

use crate::{mean, median};

/// A straight line through a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Change per second as a fraction of the series' mean.
    pub per_second: f64,
    /// Change from the first to the last second as a fraction of the series' mean: -0.3 is a fall by 30%.
    pub total: f64,
}

/// The least-squares line through the seconds of a series; NaN are gaps. `None` with fewer than three values or a mean
/// that is not positive.
pub fn trend(series: &[f64]) -> Option<Trend> {
    let points: Vec<(f64, f64)> = series
        .iter()
        .enumerate()
        .filter(|(_, value)| !value.is_nan())
        .map(|(second, value)| (second as f64, *value))
        .collect();
    if points.len() < 3 {
        return None;
    }
    let count = points.len() as f64;
    let middle = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let level = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    if level.is_nan() || level <= 0.0 {
        return None;
    }
    let across = points.iter().map(|(x, y)| (x - middle) * (y - level)).sum::<f64>();
    let along = points.iter().map(|(x, _)| (x - middle) * (x - middle)).sum::<f64>();
    let per_second = across / along / level;
    let length = points.last()?.0 - points.first()?.0;
    Some(Trend { per_second, total: per_second * length })
}

/// The second from which on a series is steady, by MSER-5 (K. P. White, *Simulation* 69, 1997): the series is cut
/// where the standard error of the mean of what remains, over means of five seconds, is smallest. Cuts are tried in the
/// first half; `None` when its very end is the best (it never became steady) or there are fewer than 20 whole seconds.
///
/// Gaps (NaN) take the median.
pub fn steady_from(series: &[f64]) -> Option<usize> {
    const BATCH: usize = 5;
    let middle = median(series)?;
    let filled: Vec<f64> = series.iter().map(|v| if v.is_nan() { middle } else { *v }).collect();
    let batches: Vec<f64> = filled.chunks_exact(BATCH).filter_map(mean).collect();
    if batches.len() < 4 {
        return None;
    }
    let spread = |rest: &[f64]| {
        let level = mean(rest).unwrap_or_default();
        let n = rest.len() as f64;
        rest.iter().map(|v| (v - level) * (v - level)).sum::<f64>() / (n * n)
    };
    // Cuts further back leave few batches, whose spread can be tiny by chance.
    let half = batches.len() / 2;
    let (cut, _) =
        (0..=half).map(|cut| (cut, spread(&batches[cut..]))).min_by(|a, b| a.1.total_cmp(&b.1))?;
    (cut < half).then_some(cut * BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found() {
        let falling: Vec<f64> = (0..101).map(|i| 1100.0 - 2.0 * f64::from(i)).collect();
        let found = trend(&falling).unwrap();
        assert!((found.total + 200.0 / 1000.0).abs() < 1e-12);
        let mut gaps = falling;
        gaps[5] = f64::NAN;
        assert!((trend(&gaps).unwrap().total + 0.2).abs() < 1e-3);
        assert_eq!(trend(&[1.0, 2.0]), None);
        assert_eq!(trend(&[0.0; 10]), None);
    }

    #[test]
    fn a_warm_up_is_cut_off() {
        let wave = |i: usize| 1000.0 + 10.0 * ((i * 7919) % 13) as f64;
        let series: Vec<f64> =
            (0..120).map(|i| if i < 20 { 40.0 * i as f64 } else { wave(i) }).collect();
        assert_eq!(steady_from(&series), Some(20));
        let level: Vec<f64> = (0..120).map(wave).collect();
        assert!(steady_from(&level).unwrap() <= 30);
        assert_eq!(steady_from(&level[..15]), None);
    }

    #[test]
    fn a_ramp_never_becomes_steady() {
        let ramp: Vec<f64> = (0..100).map(|i| 100.0 * f64::from(i)).collect();
        assert_eq!(steady_from(&ramp), None);
    }
}
