//! Reproducible random numbers for permutations and simulated null series.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// xoshiro256++ 1.0 (Blackman and Vigna, *ACM Transactions on Mathematical Software* 47, 2021), the
/// same numbers in every run for the same seed.
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// In (0, 1), never 0.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller, *Annals of Mathematical Statistics* 29, 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Below `bound`, which is far under 2^32: a multiplication keeps the bias under 2^-32.
    fn below(&mut self, bound: usize) -> usize {
        (((self.0.next_u64() >> 32) * bound as u64) >> 32) as usize
    }

    /// Fisher and Yates' shuffle.
    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }

    /// A stationary first-order autoregression with unit variance.
    pub(crate) fn autoregression(&mut self, count: usize, rho: f64) -> Vec<f64> {
        let innovation = (1.0 - rho * rho).sqrt();
        let mut value = self.normal();
        (0..count)
            .map(|_| {
                let now = value;
                value = rho * value + innovation * self.normal();
                now
            })
            .collect()
    }
}
