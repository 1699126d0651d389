//! The normal distribution, for approximations over many blocks.

/// Probability that a standard normal variable is at most `z`: `½ erfc(-z/√2)`.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
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
}
