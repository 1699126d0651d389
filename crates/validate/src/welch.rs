//! The t test for unequal variances (B. L. Welch, *Biometrika* 34, 1947).

use judge::{mean, sd_sample};

/// Its t and degrees of freedom; NaN where a side has fewer than two values.
pub fn welch(one: &[f64], other: &[f64]) -> (f64, f64) {
    let side = |values: &[f64]| {
        let (n, sd) = (values.len() as f64, sd_sample(values).unwrap_or(f64::NAN));
        (mean(values).unwrap_or(f64::NAN), sd * sd / n, n - 1.0)
    };
    let ((mean, error, freedom), (other_mean, other_error, other_freedom)) =
        (side(one), side(other));
    let sum = error + other_error;
    let together =
        sum * sum / (error * error / freedom + other_error * other_error / other_freedom);
    ((mean - other_mean) / sum.sqrt(), together)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Darwin's maize (R. A. Fisher, *The Design of Experiments*, 1935): crossed and
    /// self-fertilised plants in eighths of an inch. As unpaired samples: t = 2.4371 with 22.164
    /// degrees of freedom, p = 0.0233.
    #[test]
    fn welch_on_known_data() {
        let crossed = [
            188.0, 96.0, 168.0, 176.0, 153.0, 172.0, 177.0, 163.0, 146.0, 173.0, 186.0, 168.0,
            177.0, 184.0, 96.0,
        ];
        let own = [
            139.0, 163.0, 160.0, 160.0, 147.0, 149.0, 149.0, 122.0, 132.0, 144.0, 130.0, 144.0,
            102.0, 124.0, 144.0,
        ];
        let (t, freedom) = welch(&crossed, &own);
        assert!((t - 2.4371).abs() < 5e-5 && (freedom - 22.164).abs() < 5e-4, "{t} {freedom}");
        assert!((2.0 * judge::t_cdf(-t, freedom) - 0.0233).abs() < 5e-5);
        assert!(welch(&crossed, &crossed).0.abs() < 1e-15);
    }
}
