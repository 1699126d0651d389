//! What several counts of the same statements say together.
//!
//! Two counts of a variant usually agree to the last instruction, but what a server does
//! periodically reaches into some. So everything that was counted stands: what a variant takes is
//! the mean of all its counts, and how sure that is follows from how far they scatter, by Student's
//! t. Two variants differ for certain where their 95% intervals do not touch, and by more than
//! [`LEAST`]. Of identical builds under 3% are told apart, however large the noise is, although
//! counting ends early where counts agree by chance (VALIDATION.md).

/// Differences up to this fraction are none, however well both sides repeat: 0.01%. The two counts
/// of a variant start from copies of one load, and agree to a few hundred-thousandths; another load
/// of the same data, by other processes in another directory, costs the same to 0.01% (the
/// command's tests hold it to that).
pub const LEAST: f64 = 0.000_1;

/// Counting goes on while the interval is wider than this to either side: 0.05%. Of two counts that
/// is a difference of 0.008%.
const ENOUGH: f64 = 0.000_5;

/// Several counts of the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// (largest - smallest) / mean.
    pub range: f64,
    /// Half the width of the 95% interval of the mean, as a fraction of it; infinite for a single
    /// count.
    pub interval: f64,
}

impl Spread {
    /// Of these counts; one alone says nothing of how it repeats.
    pub fn of(counts: &[u64]) -> Spread {
        let values: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
        let mean = judge::mean(&values).unwrap_or(f64::NAN);
        let (least, most) = (counts.iter().min(), counts.iter().max());
        let range = least.zip(most).map_or(0.0, |(least, most)| (most - least) as f64);
        let of_mean = |value: f64| if value > 0.0 { value / mean } else { 0.0 };
        let interval = judge::sd_sample(&values).map_or(f64::INFINITY, |sd| {
            let t = judge::t_quantile(0.975, values.len() as f64 - 1.0);
            of_mean(t * sd / (values.len() as f64).sqrt())
        });
        Spread { mean, range: of_mean(range), interval }
    }

    /// Whether they agree so well that counting again would not say more.
    pub fn enough(&self) -> bool {
        self.interval <= ENOUGH
    }

    /// The part by which a count of another variant has to differ for certain.
    pub fn threshold(&self, other: &Spread) -> f64 {
        (self.interval + other.interval).max(LEAST)
    }

    /// Place of the count nearest to the mean, of equally near ones the first.
    pub fn nearest(&self, counts: &[u64]) -> usize {
        let away = |count: &u64| (*count as f64 - self.mean).abs();
        let places = counts.iter().enumerate();
        places.min_by(|a, b| away(a.1).total_cmp(&away(b.1))).map_or(0, |(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_counts_are_enough() {
        let found = Spread::of(&[1_000_000, 1_000_000]);
        assert_eq!(found, Spread { mean: 1_000_000.0, range: 0.0, interval: 0.0 });
        assert!(found.enough());
        assert!((found.threshold(&found) - LEAST).abs() < 1e-15);
        assert!(!Spread::of(&[1_000_000]).enough());
        assert!(Spread::of(&[0, 0]).enough());
    }

    #[test]
    fn two_that_differ_by_chance_say_little() {
        // Half the width of the interval of two is 6.35 times their difference.
        let found = Spread::of(&[1_000_000, 1_000_070]);
        assert!(found.enough() && (found.interval / 0.000_07 - 6.35).abs() < 0.01, "{found:?}");
        assert!(!Spread::of(&[1_000_000, 1_000_100]).enough());
    }

    #[test]
    fn all_of_them_count() {
        let counts = [1_000_000, 1_003_000, 1_000_010, 1_000_000];
        let found = Spread::of(&counts);
        assert!((found.mean - 1_000_752.5).abs() < 1e-6 && !found.enough());
        assert!((found.range / 0.003 - 1.0).abs() < 0.001);
        assert_eq!(found.nearest(&counts), 2);
    }
}
