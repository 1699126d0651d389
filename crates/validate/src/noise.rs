//! The reasons why two trials of the same system differ.

use crate::Random;

/// How the deviations of whole trials are distributed; all have the same standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tails {
    /// Normal.
    Light,
    /// Student's t with 3 degrees of freedom: every now and then a trial far out.
    Heavy,
    /// Normal, but one trial in 20 deviates five times as much.
    Outliers,
}

/// A model of noise. Rates are relative to the level of the server, which is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Its name in the tables.
    pub name: &'static str,
    /// Standard deviation of whole trials (a fraction): the restart, the layout of memory, the file
    /// system.
    pub between: f64,
    /// Their distribution.
    pub tails: Tails,
    /// Standard deviation of a second within a trial, a fraction.
    pub second: f64,
    /// Autocorrelation of neighboring seconds: AR(1).
    pub autocorrelation: f64,
    /// Change of the level from the first to the last trial of the experiment, a fraction.
    pub drift: f64,
    /// Standard deviation of whole blocks, a fraction: the hour of the day, the neighbors.
    pub block: f64,
    /// Chance per second that a stall begins.
    pub stalls: f64,
}

/// Throughput during a stall, as a share of the level.
const STALLED: f64 = 0.1;

/// Longest stall in seconds; lengths from 1 s up to it are equally likely.
const LONGEST_STALL: usize = 5;

/// The noise of a quiet machine: trials differ by 1%, seconds by 3% with an autocorrelation of 0.8.
pub const PLAIN: Noise = Noise {
    name: "plain",
    between: 0.01,
    tails: Tails::Light,
    second: 0.03,
    autocorrelation: 0.8,
    drift: 0.0,
    block: 0.0,
    stalls: 0.0,
};

/// [`PLAIN`] and what can come on top.
pub const MODELS: [Noise; 7] = [
    PLAIN,
    Noise { name: "drift 2%", drift: 0.02, ..PLAIN },
    Noise { name: "blocks differ by 5%", block: 0.05, ..PLAIN },
    Noise { name: "heavy tails", tails: Tails::Heavy, ..PLAIN },
    Noise { name: "outliers", tails: Tails::Outliers, ..PLAIN },
    Noise { name: "stalls", stalls: 1.0 / 300.0, ..PLAIN },
    Noise {
        name: "all together",
        tails: Tails::Heavy,
        drift: 0.02,
        block: 0.05,
        stalls: 1.0 / 300.0,
        ..PLAIN
    },
];

impl Noise {
    /// The fraction by which one trial is above or below its level, apart from its seconds.
    pub fn deviation(&self, random: &mut Random) -> f64 {
        let unit = match self.tails {
            Tails::Light => random.normal(),
            Tails::Heavy => random.heavy(),
            Tails::Outliers => {
                let (share, factor) = (0.05, 5.0_f64);
                let size = if random.uniform() < share { factor } else { 1.0 };
                size * random.normal() / (1.0 - share + share * factor * factor).sqrt()
            }
        };
        self.between * unit
    }

    /// The rates of the `seconds` of one trial, around 1. A rate never falls below a hundredth.
    pub fn seconds<'a>(
        &self,
        seconds: usize,
        random: &'a mut Random,
    ) -> impl Iterator<Item = f64> + 'a {
        let noise = *self;
        let mut state = random.normal();
        let mut stalled = 0;
        (0..seconds).map(move |_| {
            let rate = (1.0 + noise.second * state).max(0.01);
            state = random.after(state, noise.autocorrelation);
            if noise.stalls > 0.0 && stalled == 0 && random.uniform() < noise.stalls {
                stalled = 1 + random.below(LONGEST_STALL);
            }
            if stalled == 0 {
                return rate;
            }
            stalled -= 1;
            rate * STALLED
        })
    }

    /// Throughput over all `seconds` of one trial, around 1.
    pub fn throughput(&self, seconds: usize, random: &mut Random) -> f64 {
        self.deviation(random).exp() * self.seconds(seconds, random).sum::<f64>() / seconds as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_as_variable_and_dependent_as_said() {
        let mut random = Random::new(3, 0);
        let series: Vec<f64> = PLAIN.seconds(200_000, &mut random).collect();
        let sd = judge::cv_sample(&series).unwrap();
        assert!((sd - 0.03).abs() < 0.001, "{sd}");
        let mean = judge::mean(&series).unwrap();
        let lagged: f64 = series.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
        let square: f64 = series.iter().map(|v| (v - mean) * (v - mean)).sum();
        assert!((lagged / square - 0.8).abs() < 0.01);
    }

    #[test]
    fn all_tails_have_the_same_deviation() {
        for model in MODELS {
            let mut random = Random::new(4, 0);
            let draws: Vec<f64> = (0..400_000).map(|_| model.deviation(&mut random)).collect();
            let sd = judge::sd_sample(&draws).unwrap();
            assert!((sd - 0.01).abs() < 0.0012, "{}: {sd}", model.name);
        }
    }

    #[test]
    fn stalls_are_seen_as_stalls() {
        let model = Noise { stalls: 0.01, ..PLAIN };
        let series: Vec<f64> = model.seconds(10_000, &mut Random::new(5, 0)).collect();
        let share = judge::stalls(&series).share;
        // One begins per 100 unstalled seconds and lasts 3 on average.
        assert!((share - 3.0 / 103.0).abs() < 0.006, "{share}");
    }
}
