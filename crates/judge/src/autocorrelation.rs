//! How much the seconds of one trial depend on each other, and how many independent ones they are
//! worth.

use crate::mean;

/// The autocorrelation of a series at a lag of 1 or more values: 1 if values that far apart are the
/// same, 0 if they are independent. NaN are gaps: pairs with one are left out.
///
/// This is the usual estimate, with sums divided by the length (Box and Jenkins, *Time Series
/// Analysis*, 1970, §2.1.5). It is too small for short series: see [`persistence`]. `None` with
/// fewer than `lag + 2` values, or if all are equal.
pub fn autocorrelation(series: &[f64], lag: usize) -> Option<f64> {
    let values: Vec<f64> = series.iter().copied().filter(|v| !v.is_nan()).collect();
    if lag == 0 || values.len() < lag + 2 {
        return None;
    }
    let level = mean(&values)?;
    let squares: f64 = values.iter().map(|v| (v - level) * (v - level)).sum();
    // Differences in the last bits of equal values are not spread.
    if squares.is_nan() || squares <= values.len() as f64 * (1e-12 * level).powi(2) {
        return None;
    }
    let products: Vec<f64> = series
        .iter()
        .zip(series.get(lag..)?)
        .map(|(a, b)| (a - level) * (b - level))
        .filter(|product| !product.is_nan())
        .collect();
    // Without gaps there are n - lag pairs and the factor is 1.
    let pairs = products.len();
    (pairs > 0).then(|| {
        products.iter().sum::<f64>() / squares * (values.len() - lag) as f64 / pairs as f64
    })
}

/// The lag-1 autocorrelation freed from the bias of short series, within ±0.99.
///
/// The plain estimate from `n` values is too small by about `(1 + 4ρ) / n`, because its mean is
/// computed from the same values (Marriott and Pope, *Biometrika* 41, 1954; Kendall, same volume).
/// Solving for ρ gives `(n·r + 1) / (n - 4)`. `None` with fewer than 8 values, which are too few
/// for an estimate, or if all are equal.
pub fn persistence(series: &[f64]) -> Option<f64> {
    let count = series.iter().filter(|v| !v.is_nan()).count();
    if count < 8 {
        return None;
    }
    let n = count as f64;
    Some(((n * autocorrelation(series, 1)? + 1.0) / (n - 4.0)).clamp(-0.99, 0.99))
}

/// The factor by which the variance of the mean of `count` consecutive values exceeds that of
/// independent values, if the correlation falls as `rho^lag` (a first-order autoregression): `τ =
/// 1 + 2 Σ (1 - lag/n) ρ^lag` (Priestley, *Spectral Analysis and Time Series*, 1981, chapter 5).
/// Tends to `(1 + ρ) / (1 - ρ)`.
pub fn variance_inflation(rho: f64, count: f64) -> f64 {
    let rho = rho.clamp(-0.999, 0.999);
    if count <= 1.0 || rho == 0.0 {
        return 1.0;
    }
    let end = 2.0 * rho * (1.0 - rho.powf(count)) / (count * (1.0 - rho) * (1.0 - rho));
    // A negative base has no real power for a count that is not a whole number.
    let end = if end.is_nan() { 0.0 } else { end };
    ((1.0 + rho) / (1.0 - rho) - end).max(f64::MIN_POSITIVE)
}

/// The number of independent values that would determine the mean as well as this series does: `n /
/// τ`, at least 1 and at most n. NaN are gaps. `None` with fewer than 8 values; n if all are equal.
///
/// To be careful, τ is the larger of two estimates: that of a first-order autoregression with
/// [`persistence`], and the sum of the autocorrelations up to the first two neighbors whose sum
/// isn't positive (Geyer's initial positive sequence, *Statistical Science* 7, 1992, §3.3), which
/// also sees slow waves.
pub fn effective_sample_size(series: &[f64]) -> Option<f64> {
    let count = series.iter().filter(|v| !v.is_nan()).count();
    if count < 8 {
        return None;
    }
    let n = count as f64;
    let Some(rho) = persistence(series) else {
        return Some(n);
    };
    let inflation = variance_inflation(rho, n).max(initial_positive_sum(series)).max(1.0);
    Some((n / inflation).max(1.0))
}

/// `1 + 2 Σ r(lag)` over the initial positive sequence, at most up to half the length.
fn initial_positive_sum(series: &[f64]) -> f64 {
    let at = |lag: usize| if lag == 0 { Some(1.0) } else { autocorrelation(series, lag) };
    let mut sum = -1.0;
    for lag in (0..series.len() / 2).step_by(2) {
        let (Some(even), Some(odd)) = (at(lag), at(lag + 1)) else { break };
        if even + odd <= 0.0 {
            break;
        }
        sum += 2.0 * (even + odd);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn textbook_values() {
        // 1 2 3 4 5 around 3: products of neighbors 2, 0, 0, 2 over squares 4, 1, 0, 1, 4.
        let line = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert!((autocorrelation(&line, 1).unwrap() - 0.4).abs() < 1e-15);
        assert!((autocorrelation(&line, 2).unwrap() + 0.1).abs() < 1e-15);
        assert_eq!(autocorrelation(&line, 4), None);
        assert_eq!(autocorrelation(&line, 0), None);
        assert_eq!(autocorrelation(&[2.0; 20], 1), None);
        assert_eq!(autocorrelation(&[0.1 + 0.2, 0.3, 0.3, 0.3, 0.3], 1), None);
    }

    #[test]
    fn gaps_are_left_out() {
        let mut series = Random::new(1).autoregression(4000, 0.8);
        for place in (0..series.len()).step_by(7) {
            series[place] = f64::NAN;
        }
        assert!((autocorrelation(&series, 1).unwrap() - 0.8).abs() < 0.03);
        assert!((autocorrelation(&series, 2).unwrap() - 0.64).abs() < 0.05);
    }

    #[test]
    fn inflation_is_the_sum_it_says() {
        for (rho, n) in [(0.8, 60), (0.3, 5), (-0.5, 12), (0.95, 10), (0.0, 9)] {
            let sum: f64 =
                (1..n).map(|lag| (1.0 - f64::from(lag) / f64::from(n)) * f64::powi(rho, lag)).sum();
            let found = variance_inflation(rho, f64::from(n));
            assert!((found - (1.0 + 2.0 * sum)).abs() < 1e-12, "{rho} {n}: {found}");
        }
    }

    #[test]
    fn bias_of_short_series_is_taken_out() {
        let mut random = Random::new(2);
        for (rho, length, allowed) in [(0.0, 30, 0.03), (0.5, 30, 0.04), (0.8, 60, 0.03)] {
            let found: Vec<f64> = (0..2000)
                .map(|_| persistence(&random.autoregression(length, rho)).unwrap())
                .collect();
            let middle = mean(&found).unwrap();
            assert!((middle - rho).abs() < allowed, "{rho} from {length} values: {middle}");
        }
    }

    #[test]
    fn effective_sample_size_of_known_series() {
        let mut random = Random::new(3);
        let independent = effective_sample_size(&random.autoregression(300, 0.0)).unwrap();
        assert!((200.0..=300.0).contains(&independent), "{independent}");
        // 300 seconds at 0.8 are worth 300 / 9 = 33.
        let sizes: Vec<f64> = (0..200)
            .map(|_| effective_sample_size(&random.autoregression(300, 0.8)).unwrap())
            .collect();
        let middle = crate::median(&sizes).unwrap();
        assert!((22.0..=38.0).contains(&middle), "{middle}");
        assert_eq!(effective_sample_size(&[5.0; 10]), Some(10.0));
        assert_eq!(effective_sample_size(&[5.0, 4.0]), None);
    }
}
