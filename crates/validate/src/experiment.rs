//! A simulated experiment: trials in randomised blocks, in the order in which steelyard runs them.

use judge::{Comparison, Margin, Verdict};
use plan::Plan;

use crate::noise::Noise;
use crate::{Random, Size};

/// Shape of an experiment.
#[derive(Debug)]
pub struct Design {
    plan: Plan,
    seconds: usize,
}

impl Design {
    /// `blocks` blocks of `variants` variants, each trial measured for `seconds`.
    pub fn new(blocks: u32, variants: usize, seconds: usize) -> Self {
        let mut text = format!("blocks = {blocks}\n[workload.insert]\n");
        for variant in 0..variants {
            text.push_str(&format!("[variants.v{variant}]\ndbms = \"postgres@14.3\"\n"));
        }
        let plan = Plan::parse(&text, None, "validate").expect("a plan with blocks and variants");
        Self { plan, seconds }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u32 {
        self.plan.blocks
    }

    /// Throughput of each variant (the base first), block by block, in an experiment whose variants
    /// are all the same.
    pub fn simulate(&self, noise: &Noise, random: &mut Random) -> Vec<Vec<f64>> {
        let (blocks, variants) = (self.plan.blocks as usize, self.plan.variants.len());
        let mut found = vec![vec![0.0; blocks]; variants];
        let last = (blocks * variants - 1).max(1) as f64;
        let mut place = 0.0;
        for block in self.plan.schedule(random.bits()) {
            let mood = noise.block * random.normal();
            for trial in block.trials {
                let level = (mood + noise.drift * place / last).exp();
                found[trial.variant][trial.block as usize - 1] =
                    level * noise.throughput(self.seconds, random);
                place += 1.0;
            }
        }
        found
    }

    /// Base and variant of an experiment in which the variant's true throughput is the base's.
    pub fn pair(&self, noise: &Noise, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
        let mut found = self.simulate(noise, random);
        let variant = found.pop().unwrap_or_default();
        (found.swap_remove(0), variant)
    }
}

/// The comparison that steelyard makes of throughput in blocks.
pub fn compared(base: &[f64], variant: &[f64], margin: f64) -> Comparison {
    judge::compare(base, variant, Margin::of(margin)).expect("positive rates in pairs")
}

/// True if a regression or an improvement was called.
pub fn called(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Regression | Verdict::Improvement)
}

/// True if the interval holds the true ratio.
pub fn covers(found: &Comparison, ratio: f64) -> bool {
    found.low.is_some_and(|low| low <= ratio) && found.high.is_some_and(|high| ratio <= high)
}

/// `values` of a variant that is truly `ratio` times as fast.
pub fn scaled(values: &[f64], ratio: f64) -> Vec<f64> {
    values.iter().map(|value| value * ratio).collect()
}

/// The number of experiments with which a rate near 5% has a standard error of 0.1 percentage
/// points.
pub fn experiments(size: Size) -> usize {
    size.pick(200, 50_000)
}

/// Seconds of a measured step in the reference design.
pub const SECONDS: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{MODELS, PLAIN};

    #[test]
    fn blocks_cancel_and_trials_do_not() {
        let design = Design::new(40, 2, 20);
        let calm = Noise { between: 0.0, second: 0.0, block: 0.3, ..PLAIN };
        let (base, variant) = design.pair(&calm, &mut Random::new(1, 1));
        assert!(judge::cv_sample(&base).unwrap() > 0.1);
        assert!(base.iter().zip(&variant).all(|(b, v)| (b / v - 1.0).abs() < 1e-12));
        let (base, variant) = design.pair(&PLAIN, &mut Random::new(1, 1));
        assert!(base.iter().zip(&variant).all(|(b, v)| (b / v - 1.0).abs() > 1e-12));
    }

    #[test]
    fn the_drift_goes_through_the_whole_experiment() {
        let design = Design::new(5, 3, 1);
        let calm = Noise { between: 0.0, second: 0.0, drift: 0.02, ..PLAIN };
        let found = design.simulate(&calm, &mut Random::new(1, 2)).concat();
        let low = found.iter().copied().fold(f64::INFINITY, f64::min);
        let high = found.iter().copied().fold(0.0, f64::max);
        assert!((low - 1.0).abs() < 1e-9 && (high - 0.02_f64.exp()).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn the_same_seed_gives_the_same_experiment() {
        let design = Design::new(6, 2, 10);
        for model in MODELS {
            let once = design.pair(&model, &mut Random::new(9, 3));
            assert_eq!(once, design.pair(&model, &mut Random::new(9, 3)));
            assert_ne!(once, design.pair(&model, &mut Random::new(9, 4)));
        }
    }
}
