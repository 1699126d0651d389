//! Random numbers, the same in every run.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator of random numbers of several distributions.
#[derive(Debug, Clone)]
pub struct Random {
    bits: Xoshiro256PlusPlus,
    /// Box and Muller's method gives two normal numbers at a time.
    spare: Option<f64>,
}

impl Random {
    /// The generator of experiment `number` of the stream `seed`. Different numbers give
    /// independent sequences.
    pub fn new(seed: u64, number: u64) -> Self {
        // Two odd constants (the golden ratio and a prime of xxHash), so that no (seed, number)
        // meets another in use.
        let mixed =
            seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number.wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        Self { bits: Xoshiro256PlusPlus::seed_from_u64(mixed), spare: None }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.bits.next_u64()
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A whole number in 0..n, for n well under 2^53.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.uniform() * n as f64) as usize).min(n.saturating_sub(1))
    }

    /// Normal with mean 0 and deviation 1 (G. E. P. Box and M. E. Muller, *Ann. Math. Statist.* 29,
    /// 1958).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }

    /// The value after `state` in a first-order autoregression with deviation 1.
    pub fn after(&mut self, state: f64, autocorrelation: f64) -> f64 {
        autocorrelation * state + (1.0 - autocorrelation * autocorrelation).sqrt() * self.normal()
    }

    /// Student's t with 3 degrees of freedom, scaled to deviation 1 (its own is √3).
    pub fn heavy(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / squares.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(draws: usize, mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let values: Vec<f64> = (0..draws).map(|_| draw()).collect();
        let mean = values.iter().sum::<f64>() / draws as f64;
        let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
        (mean, (square / draws as f64).sqrt())
    }

    #[test]
    fn the_moments_are_right() {
        let mut random = Random::new(1, 2);
        let (mean, sd) = moments(100_000, || random.normal());
        assert!(mean.abs() < 0.012 && (sd - 1.0).abs() < 0.01, "{mean} {sd}");
        let (mean, sd) = moments(400_000, || random.heavy());
        // The fourth moment is infinite, so the deviation settles slowly.
        assert!(mean.abs() < 0.01 && (sd - 1.0).abs() < 0.15, "{mean} {sd}");
        let (mean, sd) = moments(100_000, || random.uniform());
        assert!((mean - 0.5).abs() < 0.004 && (sd - 12.0_f64.sqrt().recip()).abs() < 0.003);
    }

    #[test]
    fn neighboring_experiments_have_nothing_in_common() {
        let products: f64 =
            (0..10_000).map(|i| Random::new(7, i).normal() * Random::new(7, i + 1).normal()).sum();
        assert!((products / 10_000.0).abs() < 0.04, "{products}");
    }
}
