//! Student's t distribution, by way of the regularized incomplete beta function.

use crate::beta::{incomplete_beta, ln_gamma};

/// Probability that a Student t variable with `freedom` degrees of freedom is at most `t`.
///
/// Uses `P(T > |t|) = ½ I_x(ν/2, ½)` with `x = ν / (ν + t²)` (Abramowitz and Stegun, 26.7.1 and
/// 26.5.27). NaN when `freedom` is not positive.
pub fn t_cdf(t: f64, freedom: f64) -> f64 {
    if t.is_nan() || freedom.is_nan() || freedom <= 0.0 {
        return f64::NAN;
    }
    let tail = 0.5 * upper_and_lower_tail(t, freedom);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The `p` quantile of Student's t with `freedom` degrees of freedom: the inverse of [`t_cdf`].
///
/// `t_quantile(0.975, k - 1)` is the factor of a 95% interval from `k` blocks. NaN when `p` is
/// outside (0, 1) or `freedom` is not positive.
///
/// Newton's method on the tail from 0: the tail is convex there, so the steps come up from one
/// side, double in the far tail and converge quadratically.
pub fn t_quantile(p: f64, freedom: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) || freedom.is_nan() || freedom <= 0.0 {
        return f64::NAN;
    }
    let both_tails = 2.0 * p.min(1.0 - p);
    let ln_peak = ln_gamma(0.5 * (freedom + 1.0))
        - ln_gamma(0.5 * freedom)
        - 0.5 * (freedom * std::f64::consts::PI).ln();
    let density = |t: f64| (ln_peak - 0.5 * (freedom + 1.0) * (t * t / freedom).ln_1p()).exp();
    let mut size = 0.0;
    for _ in 0..1000 {
        let step = (upper_and_lower_tail(size, freedom) - both_tails) / (2.0 * density(size));
        size += step;
        if step <= 4.0 * f64::EPSILON * size {
            break;
        }
    }
    if p < 0.5 { -size } else { size }
}

/// `P(|T| > |t|)`, accurate in the far tail where `1 - cdf` would cancel.
fn upper_and_lower_tail(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    let all = freedom + t * t;
    incomplete_beta(0.5 * freedom, 0.5, freedom / all, t * t / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published two-sided 95% points (p = 0.975), as in the tables of every statistics book, to 6
    /// digits.
    const TABLE: [(f64, f64); 12] = [
        (1.0, 12.706_205),
        (2.0, 4.302_653),
        (3.0, 3.182_446),
        (4.0, 2.776_445),
        (5.0, 2.570_582),
        (7.0, 2.364_624),
        (9.0, 2.262_157),
        (10.0, 2.228_139),
        (20.0, 2.085_963),
        (30.0, 2.042_272),
        (60.0, 2.000_298),
        (120.0, 1.979_930),
    ];

    #[test]
    fn quantiles_equal_the_published_table() {
        for (freedom, expected) in TABLE {
            let found = t_quantile(0.975, freedom);
            assert!(
                (found - expected).abs() < 6e-7,
                "t(0.975, {freedom}) = {found}, the table says {expected}"
            );
        }
        for (p, freedom, expected) in [
            (0.995, 5.0, 4.032_143),
            (0.9995, 10.0, 4.586_894),
            (0.9, 3.0, 1.637_744),
            (0.995, 1.0, 63.656_741),
            (0.75, 1.0, 1.0),
        ] {
            let found = t_quantile(p, freedom);
            assert!(
                (found - expected).abs() < 6e-7,
                "t({p}, {freedom}) = {found}, the table says {expected}"
            );
        }
    }

    #[test]
    fn many_degrees_of_freedom_approach_the_normal() {
        // t = z + (z³ + z) / 4ν + O(ν⁻²) (Abramowitz and Stegun, 26.7.5)
        let z: f64 = 1.959_963_985;
        for freedom in [1e4, 1e6] {
            let expected = z + (z * z * z + z) / (4.0 * freedom);
            assert!((t_quantile(0.975, freedom) - expected).abs() < 1e-7);
        }
    }

    #[test]
    fn cdf_and_quantile_are_inverse_and_symmetric() {
        for freedom in [1.0, 2.0, 2.5, 5.0, 9.0, 40.0, 1000.0] {
            for p in [0.001, 0.025, 0.2, 0.5, 0.8, 0.975, 0.9999] {
                let t = t_quantile(p, freedom);
                assert!((t_cdf(t, freedom) - p).abs() < 1e-12, "p {p}, {freedom} degrees");
                assert!((t_quantile(1.0 - p, freedom) + t).abs() < 1e-9 * (1.0 + t.abs()));
            }
        }
    }

    #[test]
    fn closed_forms_for_one_and_two_degrees() {
        for t in [-30.0, -2.0, -0.3, 0.0, 0.7, 5.0, 1000.0_f64] {
            let cauchy = 0.5 + t.atan() / std::f64::consts::PI;
            assert!((t_cdf(t, 1.0) - cauchy).abs() < 1e-14);
            let two = 0.5 + t / (2.0 * (2.0 + t * t).sqrt());
            assert!((t_cdf(t, 2.0) - two).abs() < 1e-14);
        }
    }

    /// From the finite series for even degrees (Abramowitz and Stegun, 26.7.4), with 400 digits.
    #[test]
    fn far_tails_keep_their_digits() {
        for (t, freedom, expected) in [
            (2.0, 1000.0, 2.288_517_324_662_582e-2),
            (8.0, 38.0, 5.696_681_374_249_814e-10),
            (8.0, 100.0, 1.136_432_403_864_04e-12),
            (8.0, 1000.0, 1.713_330_741_195_737e-15),
            (30.0, 1000.0, 7.687_343_722_021_741e-142),
        ] {
            let found = t_cdf(-t, freedom);
            assert!((found / expected - 1.0).abs() < 1e-11, "{t}, {freedom} degrees: {found}");
        }
    }

    #[test]
    fn nonsense_gives_nan() {
        assert!(t_quantile(0.0, 3.0).is_nan());
        assert!(t_quantile(1.0, 3.0).is_nan());
        assert!(t_quantile(0.5, 0.0).is_nan());
        assert!(t_quantile(f64::NAN, 3.0).is_nan());
        assert!(t_cdf(1.0, -1.0).is_nan());
    }
}
