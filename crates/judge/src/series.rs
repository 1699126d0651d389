//! Describes the seconds of one trial: where it settles, and how it drifts. This is never evidence
//! for a verdict.

use crate::{CONFIDENCE, autocorrelation, mean, median, t_quantile};

/// A straight line through a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Change from the first to the last second as a fraction of the series' mean: -0.3 is a fall
    /// by 30%.
    pub total: f64,
    /// Half the 95% interval of [`Trend::total`], which allows for the dependence of the seconds on
    /// each other. `None` with fewer than 8 values.
    pub error: Option<f64>,
}

impl Trend {
    /// True if the interval excludes a level line.
    pub fn is_sure(&self) -> bool {
        self.error.is_some_and(|error| self.total.abs() > error)
    }
}

/// The least-squares line through the seconds of a series; NaN are gaps. `None` with fewer than
/// three values or a mean that is not positive.
///
/// The error is that of the slope under independence times √τ. τ comes from the autocorrelation of
/// the residuals around the line, whose estimate is too small by about `(2 + 4ρ) / n`. There are as
/// many degrees of freedom as the seconds are worth (Santer et al., *Journal of Geophysical
/// Research* 105, 2000).
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
    let slope = across / along;
    let length = points.last()?.0 - points.first()?.0;
    let rest: Vec<f64> = series
        .iter()
        .enumerate()
        .map(|(second, value)| value - level - slope * (second as f64 - middle))
        .collect();
    Some(Trend {
        total: slope / level * length,
        error: slope_error(&rest, along).map(|error| error / level * length),
    })
}

/// Half the 95% interval of a slope, from the residuals around the line and the sum of squares
/// along it.
fn slope_error(rest: &[f64], along: f64) -> Option<f64> {
    let known: Vec<f64> = rest.iter().copied().filter(|v| !v.is_nan()).collect();
    let n = known.len() as f64;
    if known.len() < 8 {
        return None;
    }
    let squares: f64 = known.iter().map(|v| v * v).sum();
    let rho = autocorrelation(rest, 1)
        .map_or(0.0, |r| ((n * r + 2.0) / (n - 4.0)).clamp(0.0, MOST_PERSISTENT));
    let worth = n * (1.0 - rho) / (1.0 + rho);
    let freedom = (worth - 2.0).max(1.0);
    let deviation = (squares / (n - 2.0) / along * (1.0 + rho) / (1.0 - rho)).sqrt();
    Some(t_quantile(0.5 + 0.5 * CONFIDENCE, freedom) * deviation)
}

/// Above this, the seconds of a step are a single event, and a line through them means nothing.
const MOST_PERSISTENT: f64 = 0.97;

/// Where a series settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steadiness {
    /// Fewer than [`STEADY_SECONDS`] seconds, which are too few to tell.
    TooShort,
    /// Steady from this second on (0: from the start).
    From(usize),
    /// It did not settle in its first half.
    Never,
}

/// The shortest series that [`steadiness`] can judge, in seconds: eight batches of one second and a
/// few to spare.
pub const STEADY_SECONDS: usize = 10;

/// Batches into which [`steadiness`] cuts short series.
const BATCHES: usize = 8;

/// The second from which a series is steady, by MSER-5 (K. P. White, *Simulation* 69, 1997): the
/// series is cut where the standard error of the mean of the rest, over means of five seconds, is
/// smallest. Cuts are tried in the first half. Series under 40 s are cut into eight batches, which
/// are shorter then.
///
/// A cut at the very end of the first half doesn't by itself show that a series never settled:
/// chance puts it there in many short steady series with persistent noise. It counts as never
/// settled only if the [`trend`] of the second half is also certain; otherwise the series settled
/// at the cut. Gaps (NaN) take the median.
pub fn steadiness(series: &[f64]) -> Steadiness {
    let Some(middle) = median(series).filter(|_| series.len() >= STEADY_SECONDS) else {
        return Steadiness::TooShort;
    };
    let batch = (series.len() / BATCHES).clamp(1, 5);
    let filled: Vec<f64> = series.iter().map(|v| if v.is_nan() { middle } else { *v }).collect();
    let batches: Vec<f64> = filled.chunks_exact(batch).filter_map(mean).collect();
    let spread = |rest: &[f64]| {
        let level = mean(rest).unwrap_or_default();
        let n = rest.len() as f64;
        rest.iter().map(|v| (v - level) * (v - level)).sum::<f64>() / (n * n)
    };
    // Cuts further back leave few batches, whose spread can be tiny by chance.
    let half = batches.len() / 2;
    let cut = (0..=half)
        .map(|cut| (cut, spread(&batches[cut..])))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(0, |(cut, _)| cut);
    let rest = &series[cut * batch..];
    if cut == half && trend(rest).is_none_or(|trend| trend.is_sure()) {
        return Steadiness::Never;
    }
    Steadiness::From(cut * batch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

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
        assert_eq!(steadiness(&series), Steadiness::From(20));
        let level: Vec<f64> = (0..120).map(wave).collect();
        assert!(matches!(steadiness(&level), Steadiness::From(..=30)));
        assert_eq!(steadiness(&level[..9]), Steadiness::TooShort);
    }

    #[test]
    fn a_ramp_never_becomes_steady() {
        let ramp: Vec<f64> = (0..100).map(|i| 100.0 * f64::from(i)).collect();
        assert_eq!(steadiness(&ramp), Steadiness::Never);
    }

    #[test]
    fn short_steady_series_with_persistent_noise_are_rarely_called_unsteady() {
        let mut random = Random::new(4);
        for length in [10, 20, 60, 300] {
            let runs = 1000;
            let never = (0..runs)
                .filter(|_| steadiness(&noise(&mut random, length, 0.8)) == Steadiness::Never)
                .count();
            assert!(never * 100 <= runs * 8, "{length} s: {never} of {runs}");
        }
    }

    #[test]
    fn a_level_line_is_rarely_sure_to_fall() {
        let mut random = Random::new(5);
        for (length, rho) in [(20, 0.0), (60, 0.0), (60, 0.8), (300, 0.8)] {
            let runs = 1000;
            let sure = (0..runs)
                .filter(|_| trend(&noise(&mut random, length, rho)).unwrap().is_sure())
                .count();
            assert!(sure * 100 <= runs * 8, "{length} s, {rho}: {sure} of {runs}");
        }
    }

    #[test]
    fn a_fall_that_is_there_is_sure() {
        let mut random = Random::new(6);
        let sure = (0..200)
            .filter(|_| {
                let mut series = noise(&mut random, 300, 0.8);
                series.iter_mut().enumerate().for_each(|(i, v)| *v *= 1.0 - 0.1 * i as f64 / 300.0);
                trend(&series).unwrap().is_sure()
            })
            .count();
        assert!(sure > 180, "{sure}");
    }

    fn noise(random: &mut Random, length: usize, rho: f64) -> Vec<f64> {
        random.autoregression(length, rho).iter().map(|v| 1000.0 * (1.0 + 0.03 * v)).collect()
    }
}
