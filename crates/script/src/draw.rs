//! How random numbers are drawn: pgbench's distributions from any source of random bits.

/// The things that an expression needs from outside.
pub trait Host {
    /// 64 random bits, different ones each time: draws are repeated until they fit.
    fn bits(&mut self) -> u64;

    /// Receives the argument of `debug()`. pgbench prints it to its standard error.
    fn debug(&mut self, value: crate::Scalar) {
        let _ = value;
    }
}

/// A source of random bits that has nowhere to print to.
impl<F: FnMut() -> u64> Host for F {
    #[inline]
    fn bits(&mut self) -> u64 {
        self()
    }
}

/// Uniform over 0 to below 1, in steps of 2^-52.
fn unit(host: &mut (impl Host + ?Sized)) -> f64 {
    (host.bits() >> 12) as f64 * 2f64.powi(-52)
}

/// Uniform over 0 to below `count`, without bias (Lemire, "Fast random integer generation in an
/// interval", 2019). `count` is at least 1.
#[inline]
fn below(host: &mut (impl Host + ?Sized), count: u64) -> u64 {
    let mut product = u128::from(host.bits()) * u128::from(count);
    if (product as u64) < count {
        let rejected = count.wrapping_neg() % count;
        while (product as u64) < rejected {
            product = u128::from(host.bits()) * u128::from(count);
        }
    }
    (product >> 64) as u64
}

/// The range of a draw, both ends included. There are at least one and at most 2^63 - 1 numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) min: i64,
    pub(crate) max: i64,
}

impl Range {
    fn count(self) -> i64 {
        self.max - self.min + 1
    }

    /// The number at a fraction of the range, from 0 to below 1.
    fn at(self, fraction: f64) -> i64 {
        // A range of more than 2^53 numbers may round up to one behind its end.
        let offset = (self.count() as f64 * fraction) as i64;
        self.min + offset.min(self.max - self.min)
    }

    #[inline]
    pub(crate) fn uniform(self, host: &mut (impl Host + ?Sized)) -> i64 {
        self.min + below(host, self.count() as u64) as i64
    }

    /// Density falls from the first number on, by exp(-`parameter`) over the range.
    pub(crate) fn exponential(self, host: &mut (impl Host + ?Sized), parameter: f64) -> i64 {
        let cut = (-parameter).exp();
        // Above 0: its logarithm is taken.
        let uniform = 1.0 - unit(host);
        self.at(-(cut + (1.0 - cut) * uniform).ln() / parameter)
    }

    /// The middle of the bell is that of the range, whose ends are `parameter` standard deviations
    /// away. Values outside the range are drawn again.
    pub(crate) fn gaussian(self, host: &mut (impl Host + ?Sized), parameter: f64) -> i64 {
        let deviation = loop {
            // Box and Muller, "A note on the generation of random normal deviates", 1958.
            let (radius, angle) = (1.0 - unit(host), 1.0 - unit(host));
            let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).sin();
            if (-parameter..parameter).contains(&normal) {
                break normal;
            }
        };
        self.at((deviation + parameter) / (parameter * 2.0))
    }

    /// The k-th number is drawn with a frequency proportional to k^-`exponent`.
    ///
    /// By rejection: L. Devroye, "Non-Uniform Random Variate Generation", 1986, pages 550 and 551.
    /// The exponent is above 1; close to 1 most candidates are rejected.
    pub(crate) fn zipfian(self, host: &mut (impl Host + ?Sized), exponent: f64) -> i64 {
        let count = self.count();
        if count <= 1 {
            return self.min;
        }
        let power = exponent - 1.0;
        let b = 2f64.powf(power);
        loop {
            let (u, v) = (unit(host), unit(host));
            let rank = u.powf(-1.0 / power).floor();
            let t = (1.0 + 1.0 / rank).powf(power);
            if v * rank * (t - 1.0) / (b - 1.0) <= t / b && rank <= count as f64 {
                return self.min - 1 + (rank as i64).min(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extremes_of_random_bits_stay_in_range() {
        let ranges = [(1, 1), (-5, 5), (0, i64::MAX - 1), (i64::MIN, -2), (i64::MIN + 1, -1)];
        for (min, max) in ranges {
            let range = Range { min, max };
            for bits in [0, 1, 1 << 12, u64::MAX / 2, u64::MAX - 4096, u64::MAX] {
                // The second and later draws are in the middle, so that rejection ends.
                let mut first = true;
                let mut host = || if std::mem::take(&mut first) { bits } else { u64::MAX / 3 };
                let draws = [
                    range.uniform(&mut host),
                    range.exponential(&mut || bits, 0.001),
                    range.exponential(&mut || bits, 50.0),
                ];
                let in_range = |draw: &i64| (min..=max).contains(draw);
                assert!(draws.iter().all(in_range), "{min}..={max}, {bits}: {draws:?}");
            }
        }
    }
}
