//! Combining several counts of the same statements.
//!
//! Two counts of a variant usually agree to the last instruction, but some include periodic work of
//! the server. So no count is dropped: the figure of a variant is the mean of all its counts, and
//! its uncertainty follows from their spread, by Student's t. Two variants certainly differ if
//! their 95% intervals do not touch and the difference is more than [`LEAST`]. Fewer than 3% of
//! comparisons of identical builds find a difference, however large the noise, although counting
//! ends early where counts agree by chance (VALIDATION.md).

/// Differences up to this fraction do not count, however well both sides repeat: 0.01%. The two
/// counts of a variant start from copies of one load and agree to a few hundred-thousandths.
/// Another load of the same data, by other processes in another directory, costs the same to within
/// 0.01% (the command's tests check that).
pub const LEAST: f64 = 0.000_1;

/// Differences of simulated events up to this fraction do not count. Caches and branch predictors
/// depend on where the linker puts functions and data, so other code elsewhere in a program moves
/// them. With up to 9 KB inserted before code or data of PostgreSQL 15, in five ways, instructions
/// of three kinds of statements stayed the same, but estimated cycles moved by up to 0.2%, L1
/// misses by 1.1%, LL misses by 0.5% (by 23% where there were 1.6 per statement) and mispredicted
/// branches by 3.5%. These are at least twice that.
const OF_LAYOUT: [(&str, f64); 4] = [
    ("estimated cycles", 0.005),
    ("L1 misses", 0.03),
    ("LL misses", 0.05),
    ("mispredicted branches", 0.07),
];

/// The fraction by which counts of an event have to differ at least, if the base has `each` per
/// statement. Of simulated events, it is one per statement, if that is more.
pub fn least(event: &str, each: f64) -> f64 {
    let of_layout = OF_LAYOUT.iter().find(|(known, _)| *known == event);
    of_layout.map_or(LEAST, |(_, share)| share.max(1.0 / each))
}

/// Counting continues while half the interval is wider than this: 0.05%. For two counts, that is a
/// difference of 0.008%.
const ENOUGH: f64 = 0.000_5;

/// Several counts of the same statements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// (largest - smallest) / mean.
    pub range: f64,
    /// Half the width of the 95% interval of the mean, as a fraction of the mean; infinite for a
    /// single count.
    pub interval: f64,
}

impl Spread {
    /// Combines these counts; a single one says nothing about repeatability.
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

    /// True if they agree so well that counting again would add nothing.
    pub fn enough(&self) -> bool {
        self.interval <= ENOUGH
    }

    /// How far `ratio`, that of another variant's mean to this one, has to be from 1 to be certain:
    /// the sum of both intervals, as a fraction of this mean.
    pub fn threshold(&self, other: &Spread, ratio: f64) -> f64 {
        (self.interval + ratio * other.interval).max(LEAST)
    }

    /// Index of the count nearest to the mean; the first of equally near ones.
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
        assert!((found.threshold(&found, 1.0) - LEAST).abs() < 1e-15);
        assert!(!Spread::of(&[1_000_000]).enough());
        assert!(Spread::of(&[0, 0]).enough());
    }

    #[test]
    fn two_that_differ_by_chance_say_little() {
        // For two counts, half the width of the interval is 6.35 times their difference.
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
