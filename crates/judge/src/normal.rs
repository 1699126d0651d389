//! The normal distribution, for approximations over many blocks.

/// Probability that a standard normal variable is at most `z`, with an error below 1e-7 of the smaller tail.
///
/// `½ erfc(-z/√2)`, with erfc by the continued fraction in the tail and by its series near zero (Abramowitz and
/// Stegun, 7.1.6 and 7.1.14).
pub fn normal_cdf(z: f64) -> f64 {
    if z.is_nan() {
        return f64::NAN;
    }
    let x = z.abs() / std::f64::consts::SQRT_2;
    let tail = 0.5 * if x < 2.0 { 1.0 - erf_series(x) } else { erfc_fraction(x) };
    if z > 0.0 { 1.0 - tail } else { tail }
}

fn erf_series(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..200 {
        let n = f64::from(n);
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp() * sum
}

fn erfc_fraction(x: f64) -> f64 {
    let mut below = x;
    for n in (1..=120).rev() {
        below = x + 0.5 * f64::from(n) / below;
    }
    (-x * x).exp() / (below * std::f64::consts::PI.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_points() {
        for (z, p) in
            [(0.0, 0.5), (1.0, 0.841_344_746), (1.959_963_985, 0.975), (3.0, 0.998_650_102)]
        {
            assert!((normal_cdf(z) - p).abs() < 1e-9, "{z}");
            assert!((normal_cdf(-z) - (1.0 - p)).abs() < 1e-9, "-{z}");
        }
        assert!((normal_cdf(-6.0) / 9.865_876_45e-10 - 1.0).abs() < 1e-7);
    }

    #[test]
    fn the_two_branches_meet() {
        let z = 2.0 * std::f64::consts::SQRT_2;
        assert!((normal_cdf(z - 1e-9) - normal_cdf(z + 1e-9)).abs() < 1e-10);
    }
}
