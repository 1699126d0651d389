//! The incomplete beta function, used for Student's t and the binomial distribution.

pub(crate) use libm::lgamma as ln_gamma;

/// The regularized incomplete beta function `I_x(a, b)`; `y` is `1 - x`, so that both can be exact.
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let ln = |part: f64, rest: f64| if part > 0.5 { (-rest).ln_1p() } else { part.ln() };
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln(x, y) + b * ln(y, x)).exp();
    // The continued fraction converges quickly on this side of the mean (Abramowitz and Stegun,
    // 26.5.8).
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(a, b, x) / a
    } else {
        1.0 - front * continued_fraction(b, a, y) / b
    }
}

/// The `p` quantile of the beta distribution: the x with `I_x(a, b) = p`, by halving the interval
/// until it is one f64 wide.
pub(crate) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut below, mut above) = (0.0_f64, 1.0_f64);
    for _ in 0..1100 {
        let middle = 0.5 * (below + above);
        if middle <= below || middle >= above {
            break;
        }
        if incomplete_beta(a, b, middle, 1.0 - middle) < p {
            below = middle;
        } else {
            above = middle;
        }
    }
    0.5 * (below + above)
}

/// The continued fraction of the incomplete beta function, evaluated by Lentz's method with
/// Thompson and Barnett's change (J. Comput. Phys. 64, 1986): neither numerator nor denominator may
/// become zero.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let kept = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / kept(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for m in 1..=10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / kept(1.0 + even * d);
        c = kept(1.0 + even / c);
        result *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / kept(1.0 + odd * d);
        c = kept(1.0 + odd / c);
        let step = d * c;
        result *= step;
        if (step - 1.0).abs() <= 2.0 * f64::EPSILON {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_known_values() {
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-14);
        assert!((ln_gamma(11.0) - 3_628_800.0_f64.ln()).abs() < 1e-13);
        assert!(ln_gamma(1.0).abs() < 1e-14);
    }

    #[test]
    fn quantiles_invert() {
        for (a, b) in [(0.5, 0.5), (1.0, 40.0), (3.0, 2.0), (200.0, 3800.0)] {
            for p in [0.001, 0.025, 0.5, 0.975] {
                let x = beta_quantile(p, a, b);
                assert!((incomplete_beta(a, b, x, 1.0 - x) - p).abs() < 1e-9, "{a} {b} {p}");
            }
        }
    }
}
