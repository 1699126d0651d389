//! Slices of one restart: rates of two servers by round.

use judge::{
    ByLength, CONFIDENCE, Comparison, Margin, RestartRatio, compare_slices, restart_ratio,
};

use crate::Random;

/// Rounds in a restart: 24 s of two variants with slices of 40 ms.
pub const ROUNDS: usize = 300;

/// The reasons why slices of the same server differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounds {
    /// Its name in the tables.
    pub name: &'static str,
    /// Standard deviation of a slice, a fraction, before what follows.
    pub slice: f64,
    /// Autocorrelation of neighboring slices of the same server: AR(1).
    pub autocorrelation: f64,
    /// True if a slice's deviation has the tails of Student's t with 3 degrees of freedom.
    pub heavy: bool,
    /// Chance that a slice is disturbed: it then loses up to 80% of its operations.
    pub disturbed: f64,
}

/// Slices that differ by 3%, each for itself.
const PLAIN: Rounds =
    Rounds { name: "plain", slice: 0.03, autocorrelation: 0.0, heavy: false, disturbed: 0.0 };

/// [`PLAIN`] and what can come on top.
pub const MODELS: [Rounds; 6] = [
    PLAIN,
    Rounds { name: "neighbors alike, 0.5", autocorrelation: 0.5, ..PLAIN },
    Rounds { name: "neighbors alike, 0.8", autocorrelation: 0.8, ..PLAIN },
    Rounds { name: "heavy tails", heavy: true, ..PLAIN },
    Rounds { name: "5% disturbed", disturbed: 0.05, ..PLAIN },
    Rounds { name: "all together", autocorrelation: 0.5, heavy: true, disturbed: 0.05, ..PLAIN },
];

/// Standard deviation and autocorrelation, from slice to slice, of the machine's slow changes,
/// which affect both servers.
const MACHINE: (f64, f64) = (0.05, 0.99);

/// Change of the machine's level from the first to the last round.
const DRIFT: f64 = 0.02;

impl Rounds {
    /// Rates of base and variant in `count` rounds, around 1; both servers are identical. Each has
    /// one slice per round, in random order.
    pub fn pair(&self, count: usize, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
        let mut servers = [random.normal(), random.normal()];
        let mut machine = random.normal();
        let mut rates = [Vec::with_capacity(count), Vec::with_capacity(count)];
        for round in 0..count {
            let level = 1.0 + DRIFT * round as f64 / count as f64;
            let first = random.below(2);
            for server in [first, 1 - first] {
                machine = random.after(machine, MACHINE.1);
                let rate =
                    level * (MACHINE.0 * machine).exp() * self.slice(&mut servers[server], random);
                rates[server].push(rate);
            }
        }
        let [base, variant] = rates;
        (base, variant)
    }

    fn slice(&self, state: &mut f64, random: &mut Random) -> f64 {
        *state = random.after(*state, self.autocorrelation);
        let tail = if self.heavy {
            let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
            (3.0 / squares).sqrt()
        } else {
            1.0
        };
        let lost = if random.uniform() < self.disturbed { 0.8 * random.uniform() } else { 0.0 };
        (self.slice * *state * tail).exp() * (1.0 - lost)
    }
}

/// The rounds, of `rounds`, in stalls that last for 1 to `longest` of them and make up a `share`.
pub fn stalled(rounds: usize, share: f64, longest: usize, random: &mut Random) -> Vec<usize> {
    let mean = 0.5 * (1 + longest) as f64;
    let begins = share / (mean * (1.0 - share) + share);
    let (mut found, mut left) = (Vec::new(), 0);
    for round in 0..rounds {
        if left == 0 && random.uniform() < begins {
            left = 1 + random.below(longest);
        }
        if left > 0 {
            left -= 1;
            found.push(round);
        }
    }
    found
}

/// The log ratio of a restart with these rates.
pub fn ratio(base: &[f64], variant: &[f64]) -> RestartRatio {
    restart_ratio(base, variant).expect("rates of many rounds")
}

/// The log ratios of a restart by slices of two lengths: every fourth round has slices of twice the
/// length. `None` if there are too few.
pub fn by_length(base: &[f64], variant: &[f64]) -> Option<ByLength> {
    let is_long = |round: usize| round % 4 == 3;
    // The mean of 1/length, where a short slice has length 1.
    by_lengths(base, variant, is_long, 1.0, 0.875)
}

/// The same with any long rounds, of twice the length of short ones; `all` as in [`ByLength::of`].
pub fn by_lengths(
    base: &[f64],
    variant: &[f64],
    is_long: impl Fn(usize) -> bool,
    short: f64,
    all: f64,
) -> Option<ByLength> {
    let part = |long: bool| {
        let of = |rates: &[f64]| -> Vec<f64> {
            let wanted = |(round, _): &(usize, &f64)| is_long(*round) == long;
            rates.iter().enumerate().filter(wanted).map(|(_, rate)| *rate).collect()
        };
        restart_ratio(&of(base), &of(variant)).ok()
    };
    ByLength::of((&part(false)?, 1.0 / short), (&part(true)?, 0.5 / short), all)
}

/// The comparison that steelyard makes of these restarts.
pub fn judged(restarts: &[RestartRatio]) -> Comparison {
    compare_slices(restarts, Margin::default(), CONFIDENCE).expect("at least one restart")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_does_hits_both() {
        let (base, variant) = PLAIN.pair(4000, &mut Random::new(1, 1));
        let single: Vec<f64> = base.iter().map(|rate| rate.ln()).collect();
        let paired: Vec<f64> = base.iter().zip(&variant).map(|(b, v)| (v / b).ln()).collect();
        // Two slices of 3% each, and 0.7% by which the machine moves from one slice to the next.
        let expected = (2.0 * 0.03_f64.powi(2) + 2.0 * 0.05_f64.powi(2) * 0.01).sqrt();
        assert!((judge::sd_sample(&paired).unwrap() - expected).abs() < 0.002);
        assert!(judge::sd_sample(&single).unwrap() > 0.05);
    }

    #[test]
    fn disturbed_slices_lose_operations() {
        let disturbed = Rounds { slice: 0.0, disturbed: 0.05, ..PLAIN };
        let mut random = Random::new(2, 2);
        let (mut state, mut lost) = (0.0, 0);
        for _ in 0..10_000 {
            lost += usize::from(disturbed.slice(&mut state, &mut random) < 0.999);
        }
        assert!((450..550).contains(&lost), "{lost}");
    }
}
