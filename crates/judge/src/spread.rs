//! Middle and spread of a handful of values.

/// Arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Median (mean of the two middle values for an even count); `None` without values. NaN are
/// ignored.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The `p` quantile (0 ≤ p ≤ 1) with linear interpolation between order statistics (type 7 of
/// Hyndman and Fan, *The American Statistician* 50, 1996: what R, NumPy and spreadsheets do). NaN
/// are ignored; `None` without values.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = p.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let low = *sorted.get(below)?;
    let high = *sorted.get(below + 1).unwrap_or(&low);
    Some(low + (place - place.floor()) * (high - low))
}

fn squares(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    Some(values.iter().map(|v| (v - mean) * (v - mean)).sum())
}

/// Standard deviation of the values taken as a *sample* of a larger population (divides by n - 1);
/// `None` for fewer than two values.
pub fn sd_sample(values: &[f64]) -> Option<f64> {
    (values.len() > 1).then(|| squares(values).map(|s| (s / (values.len() - 1) as f64).sqrt()))?
}

/// Standard deviation of the values taken as the *whole population* (divides by n); `None` without
/// values.
pub fn sd_population(values: &[f64]) -> Option<f64> {
    squares(values).map(|s| (s / values.len() as f64).sqrt())
}

/// Coefficient of variation with the *sample* deviation: [`sd_sample`] / [`mean`]. `None` for fewer
/// than two values or a mean of zero.
pub fn cv_sample(values: &[f64]) -> Option<f64> {
    divided_by_mean(sd_sample(values)?, values)
}

/// Coefficient of variation with the *population* deviation: [`sd_population`] / [`mean`]. `None`
/// without values or with a mean of zero. For k trials it is √((k-1)/k) of [`cv_sample`].
pub fn cv_population(values: &[f64]) -> Option<f64> {
    divided_by_mean(sd_population(values)?, values)
}

fn divided_by_mean(deviation: f64, values: &[f64]) -> Option<f64> {
    mean(values).filter(|mean| *mean != 0.0).map(|mean| deviation / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_values() {
        let v = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&v), Some(5.0));
        assert_eq!(median(&v), Some(4.5));
        assert_eq!(sd_population(&v), Some(2.0));
        assert_eq!(cv_population(&v), Some(0.4));
        assert!((sd_sample(&v).unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-15);
        assert!((cv_sample(&v).unwrap() - (32.0_f64 / 7.0).sqrt() / 5.0).abs() < 1e-15);
    }

    #[test]
    fn too_few_values() {
        assert_eq!(mean(&[]), None);
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[f64::NAN]), None);
        assert_eq!(sd_sample(&[1.0]), None);
        assert_eq!(sd_population(&[1.0]), Some(0.0));
        assert_eq!(cv_sample(&[-1.0, 1.0]), None);
    }

    #[test]
    fn quantiles_interpolate() {
        let v = [40.0, 10.0, 30.0, 20.0];
        assert_eq!(quantile(&v, 0.0), Some(10.0));
        assert_eq!(quantile(&v, 1.0), Some(40.0));
        assert_eq!(quantile(&v, 0.25), Some(17.5));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    }
}
