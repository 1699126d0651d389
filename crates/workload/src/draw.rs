//! Drawing parameters: a small set of distributions.

use std::sync::atomic::{AtomicI64, Ordering};

use rand_distr::{Distribution, Zipf};
use serde::{Deserialize, Serialize};

use crate::rng::Rng;

/// Index of a number that the streams of one step share, such as a table's highest id.
///
/// The load engine keeps one set of cells for each system under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell(pub usize);

/// Width of an integer parameter on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Width {
    /// 4 bytes (`int`).
    Four,
    /// 8 bytes (`bigint`).
    Eight,
}

/// A distribution in which some values of a range are likelier than others, as in sysbench.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Skew {
    /// The k-th lowest value is drawn in proportion to 1 / k^`exponent`. By rejection-inversion
    /// (Hörmann and Derflinger, 1996).
    Zipfian {
        /// At least 0; sysbench's default is 0.8.
        exponent: f64,
    },
    /// The lowest `share` of the values is drawn in 1 - `share` of the cases, and the same holds
    /// within that share: with 0.2, the 80/20 rule.
    Pareto {
        /// Above 0, up to 0.5.
        share: f64,
    },
    /// YCSB's `zipfian` requests: some values, spread over the range, are much likelier. The hash
    /// ([`Draw::Hashed`]) of a rank among 10^10, of which the k-th is drawn in proportion to
    /// 1 / k^0.99, modulo the number of values.
    Scrambled,
    /// The mean of twelve uniform values, so values in the middle are likelier.
    Gaussian,
    /// sysbench's `special`: in most cases, some values in the middle of the range; otherwise as
    /// [`Skew::Gaussian`].
    Special {
        /// Their share of all values, 0 to 1.
        ids: f64,
        /// The share of cases in which one of them is drawn, 0 to 1.
        draws: f64,
    },
}

/// How to draw a parameter of a request for each execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Draw {
    /// Uniform over `low..high`.
    Uniform {
        /// First value.
        low: i64,
        /// One past the last value.
        high: i64,
        /// Width on the wire.
        width: Width,
    },
    /// Over `low..high`, some values more often than others.
    Skewed {
        /// First value.
        low: i64,
        /// One past the last value.
        high: i64,
        /// The values that are drawn more often.
        by: Skew,
        /// Width on the wire.
        width: Width,
    },
    /// Uniform over the closed range between two shared cells.
    Between {
        /// Cell with the lowest value.
        low: Cell,
        /// Cell with the highest value.
        high: Cell,
    },
    /// The current value of a shared cell.
    Value(Cell),
    /// A number that no other draw gets: `from`, and the value of a shared cell, which grows by 1.
    Next {
        /// The lowest.
        from: i64,
        /// How many there were.
        cell: Cell,
    },
    /// YCSB's `latest` requests: one of the numbers below the sum of `from` and a shared cell; the
    /// k-th highest in proportion to 1 / k^0.99.
    Latest {
        /// How many there were in the beginning.
        from: i64,
        /// How many have been added.
        cell: Cell,
    },
    /// The hash of another number, which makes strangers of neighbors: 64-bit FNV-1a over its eight
    /// octets, the lowest first, without the sign.
    Hashed {
        /// The number; not one of [`Draw::Earlier`].
        of: Box<Draw>,
        /// With a prefix, it is a text: `user6284781860667377211`.
        prefix: Option<String>,
    },
    /// An earlier number of the same execution, shifted: the end of a range.
    Earlier {
        /// How many values back; 1 is the previous one.
        back: usize,
        /// The added number.
        plus: i64,
        /// Width on the wire.
        width: Width,
    },
    /// A number drawn for the round ([`crate::Stream::keeps`]), shifted: the same row in several
    /// requests of a transaction.
    Kept {
        /// Its index among them.
        index: usize,
        /// The added number.
        plus: i64,
        /// Width on the wire.
        width: Width,
    },
    /// The wall clock, to the second.
    Now,
    /// Text of uniform length in `min..=max`, about half of it random characters, the rest one
    /// repeated character, so it compresses to about half.
    Text {
        /// Shortest length in bytes.
        min: u32,
        /// Longest length in bytes.
        max: u32,
    },
    /// Groups of random digits joined by `-`: text of constant length.
    Digits {
        /// Number of groups, at least 1.
        groups: u32,
        /// Digits in each.
        digits: u32,
    },
}

impl Draw {
    /// Its width on the wire, if it is a number.
    pub fn width(&self) -> Option<Width> {
        match self {
            Draw::Uniform { width, .. }
            | Draw::Skewed { width, .. }
            | Draw::Earlier { width, .. }
            | Draw::Kept { width, .. } => Some(*width),
            Draw::Between { .. } | Draw::Value(_) | Draw::Next { .. } | Draw::Latest { .. } => {
                Some(Width::Eight)
            }
            Draw::Hashed { prefix, .. } => prefix.is_none().then_some(Width::Eight),
            Draw::Now | Draw::Text { .. } | Draw::Digits { .. } => None,
        }
    }

    /// The most bytes of its text, if it is one.
    pub fn longest(&self) -> Option<u32> {
        match self {
            Draw::Text { max, .. } => Some(*max),
            Draw::Digits { groups, digits } => {
                Some(groups.saturating_mul(digits.saturating_add(1)))
            }
            Draw::Hashed { prefix: Some(prefix), .. } => Some(prefix.len() as u32 + DIGITS),
            _ => None,
        }
    }
}

/// The exponent of YCSB's distributions, and the number of ranks of its scrambled one.
const YCSB_EXPONENT: f64 = 0.99;
const RANKS: f64 = 1e10;

/// The most digits of a hash.
const DIGITS: u32 = 19;

/// A number on its own cache lines, so clients on different cores don't share lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(pub T);

/// Where the values of an execution come from.
#[derive(Debug)]
pub struct Source<'a> {
    /// The stream's generator.
    pub rng: &'a mut Rng,
    /// The cells that the target's streams share.
    pub cells: &'a [Padded<AtomicI64>],
    /// The numbers kept for the round.
    pub kept: &'a [i64],
}

impl Source<'_> {
    /// The number in a cell; 0 if the target has none such.
    #[inline]
    pub fn cell(&self, cell: Cell) -> i64 {
        self.cells.get(cell.0).map_or(0, |cell| cell.0.load(Ordering::Relaxed))
    }
}

/// A prepared [`Draw`]: the constants of its distribution are computed once.
#[derive(Debug, Clone)]
pub struct Sampler {
    /// The draw.
    pub draw: Draw,
    zipf: Option<Zipf<f64>>,
}

impl From<&Draw> for Sampler {
    fn from(draw: &Draw) -> Sampler {
        let zipf = match draw {
            Draw::Hashed { of, .. } => Sampler::from(&**of).zipf,
            Draw::Skewed { by: Skew::Scrambled, .. } => Zipf::new(RANKS, YCSB_EXPONENT).ok(),
            Draw::Skewed { low, high, by: Skew::Zipfian { exponent }, .. } => {
                // Fails for no values and negative exponents; then all values are equally likely.
                Zipf::new(high.saturating_sub(*low) as f64, *exponent).ok()
            }
            _ => None,
        };
        Sampler { draw: draw.clone(), zipf }
    }
}

impl Sampler {
    /// Draws a number; `drawn` are the numbers of the same execution so far. 0 if it is not a
    /// number.
    #[inline]
    pub fn number(&self, source: &mut Source<'_>, drawn: &[i64]) -> i64 {
        self.number_of(&self.draw, source, drawn)
    }

    #[inline]
    fn number_of(&self, draw: &Draw, source: &mut Source<'_>, drawn: &[i64]) -> i64 {
        match draw {
            Draw::Uniform { low, high, .. } => source.rng.range(*low, *high),
            Draw::Between { low, high } => {
                let (low, high) = (source.cell(*low), source.cell(*high));
                source.rng.range(low, high.saturating_add(1))
            }
            Draw::Value(cell) => source.cell(*cell),
            Draw::Next { from, cell } => {
                let taken = |cell: &Padded<AtomicI64>| cell.0.fetch_add(1, Ordering::Relaxed);
                from.saturating_add(source.cells.get(cell.0).map_or(0, taken))
            }
            Draw::Latest { from, cell } => {
                latest(source.rng, from.saturating_add(source.cell(*cell)))
            }
            Draw::Hashed { of, .. } => hashed(self.number_of(of, source, drawn)),
            Draw::Skewed { low, high, by, .. } => self.skewed(source.rng, *low, *high, *by),
            Draw::Earlier { back, plus, .. } => {
                let place = drawn.len().checked_sub(*back);
                place.and_then(|place| drawn.get(place)).map_or(0, |number| number + plus)
            }
            Draw::Kept { index, plus, .. } => {
                source.kept.get(*index).map_or(0, |number| number + plus)
            }
            Draw::Now | Draw::Text { .. } | Draw::Digits { .. } => 0,
        }
    }

    #[inline(never)]
    fn skewed(&self, rng: &mut Rng, low: i64, high: i64, by: Skew) -> i64 {
        let span = high.saturating_sub(low).max(1);
        let place = match (by, &self.zipf) {
            (Skew::Scrambled, Some(zipf)) => hashed(zipf.sample(&mut rng.0) as i64 - 1) % span,
            (Skew::Zipfian { .. }, Some(zipf)) => zipf.sample(&mut rng.0) as i64 - 1,
            (Skew::Zipfian { .. } | Skew::Scrambled, None) => rng.below(span as u64) as i64,
            // Gives the lowest `share` the probability 1 - `share`.
            (Skew::Pareto { share }, _) => {
                let power = share.ln() / (1.0 - share).ln();
                (rng.unit().powf(power) * span as f64) as i64
            }
            (Skew::Special { ids, draws }, _) if rng.unit() < draws => {
                let few = (ids * span as f64).max(1.0);
                (0.5 * (span as f64 - few) + few * rng.unit()) as i64
            }
            (Skew::Gaussian | Skew::Special { .. }, _) => {
                let mean = (0..12).map(|_| rng.unit()).sum::<f64>() / 12.0;
                (mean * span as f64) as i64
            }
        };
        low.saturating_add(place.clamp(0, span - 1))
    }

    /// Appends drawn text; nothing if it is not text.
    #[inline]
    pub fn text(&self, source: &mut Source<'_>, bytes: &mut Vec<u8>) {
        match &self.draw {
            Draw::Text { min, max } => source.rng.text(*min, *max, bytes),
            Draw::Digits { groups, digits } => source.rng.digits(*groups, *digits, bytes),
            Draw::Hashed { prefix: Some(prefix), .. } => {
                bytes.extend_from_slice(prefix.as_bytes());
                let number = self.number(source, &[]);
                bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            }
            _ => {}
        }
    }
}

/// One of `count` numbers from 0; the highest are the likeliest.
fn latest(rng: &mut Rng, count: i64) -> i64 {
    let rank = Zipf::new(count as f64, YCSB_EXPONENT).map_or(1.0, |zipf| zipf.sample(&mut rng.0));
    count.saturating_sub(rank as i64).max(0)
}

/// The hash of [`Draw::Hashed`].
fn hashed(number: i64) -> i64 {
    let hash = number.to_le_bytes().into_iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, octet| {
        (hash ^ u64::from(octet)).wrapping_mul(0x100_0000_01b3)
    });
    hash.cast_signed().wrapping_abs() & i64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, proptest};

    /// How often each value of `0..high` comes in `n` draws.
    fn counts(by: Skew, high: i64, n: usize) -> Vec<f64> {
        drawn(&Draw::Skewed { low: 0, high, by, width: Width::Four }, high, n)
    }

    fn drawn(draw: &Draw, high: i64, n: usize) -> Vec<f64> {
        let sampler = Sampler::from(draw);
        let mut rng = Rng::new(11);
        let mut counts = vec![0.0; high as usize];
        for _ in 0..n {
            let mut source = Source { rng: &mut rng, cells: &[], kept: &[] };
            counts[sampler.number(&mut source, &[]) as usize] += 1.0;
        }
        counts
    }

    #[test]
    fn a_zipfian_falls_by_the_power_of_the_rank() {
        let counts = counts(Skew::Zipfian { exponent: 0.8 }, 1000, 1_000_000);
        let sum: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-0.8)).sum();
        for rank in [1, 2, 10, 100, 500] {
            let expected = 1e6 * f64::from(rank).powf(-0.8) / sum;
            let error = (counts[rank as usize - 1] - expected) / expected.sqrt();
            assert!(error.abs() < 4.0, "rank {rank}: {error} standard deviations");
        }
        assert!(counts[999] > 0.0, "the last value comes, too");
    }

    #[test]
    fn a_pareto_gives_four_fifths_to_a_fifth() {
        let counts = counts(Skew::Pareto { share: 0.2 }, 1000, 100_000);
        let low = |until: usize| counts[..until].iter().sum::<f64>() / 1e5;
        assert!((low(200) - 0.8).abs() < 0.006, "{}", low(200));
        assert!((low(40) - 0.64).abs() < 0.008, "{}", low(40));
    }

    #[test]
    fn a_gaussian_is_centered() {
        let counts = counts(Skew::Gaussian, 1000, 100_000);
        let near: f64 = counts[417..583].iter().sum::<f64>() / 1e5;
        // One standard deviation of the mean of twelve: a twelfth of the range.
        assert!((near - 0.68).abs() < 0.01, "{near}");
    }

    #[test]
    fn special_values_are_few_and_in_the_middle() {
        let counts = counts(Skew::Special { ids: 0.01, draws: 0.75 }, 1000, 100_000);
        let of = |values: std::ops::Range<usize>| counts[values].iter().sum::<f64>() / 1e5;
        // Those of the bell curve that fall among them: 10 of 1000 about its top.
        assert!((of(495..505) - 0.75 - 0.25 * 0.048).abs() < 0.006, "{}", of(495..505));
        assert!(of(0..495) > 0.11 && of(505..1000) > 0.11);
    }

    #[test]
    fn the_latest_are_the_likeliest() {
        let counts = drawn(&Draw::Latest { from: 1000, cell: Cell(0) }, 1000, 1_000_000);
        let sum: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-0.99)).sum();
        for rank in [1, 2, 10, 100, 500] {
            let expected = 1e6 * f64::from(rank).powf(-0.99) / sum;
            let error = (counts[1000 - rank as usize] - expected) / expected.sqrt();
            assert!(error.abs() < 4.0, "rank {rank}: {error} standard deviations");
        }
    }

    #[test]
    fn the_likeliest_of_a_scrambled_one_are_spread() {
        let counts = counts(Skew::Scrambled, 1000, 1_000_000);
        // zeta(0.99) over 10^10, as YCSB has it.
        let share = 1.0 / 26.469_028_201_783_02;
        let place = |rank: i64| (hashed(rank) % 1000) as usize;
        assert!((counts[place(0)] / 1e6 - share).abs() < 0.002, "{}", counts[place(0)]);
        let mut most: Vec<usize> = (0..1000).collect();
        most.sort_by(|a, b| counts[*b].total_cmp(&counts[*a]));
        assert_eq!(most[..2], [place(0), place(1)]);
        assert!(counts.iter().all(|count| *count > 100.0), "the rest is shared by all");
    }

    #[test]
    fn keys_are_those_of_ycsb() {
        let cells = [Padded(AtomicI64::new(0))];
        let mut source = Source { rng: &mut Rng::new(1), cells: &cells, kept: &[] };
        let next = Draw::Next { from: 0, cell: Cell(0) };
        let key = Draw::Hashed { of: Box::new(next), prefix: Some("user".to_owned()) };
        let mut text = Vec::new();
        for _ in 0..2 {
            Sampler::from(&key).text(&mut source, &mut text);
            text.push(b' ');
        }
        // The first two that YCSB inserts.
        assert_eq!(text, b"user6284781860667377211 user8517097267634966620 ");
        assert_eq!(key.longest(), Some(23));
    }

    #[test]
    fn values_are_used_again_and_shifted() {
        let mut rng = Rng::new(1);
        let mut source = Source { rng: &mut rng, cells: &[], kept: &[70, 80] };
        let width = Width::Four;
        let number = |draw: Draw, source: &mut Source<'_>, drawn: &[i64]| {
            Sampler::from(&draw).number(source, drawn)
        };
        let earlier = Draw::Earlier { back: 2, plus: 99, width };
        assert_eq!(number(earlier, &mut source, &[5, 6, 7]), 105);
        assert_eq!(number(Draw::Kept { index: 1, plus: -1, width }, &mut source, &[]), 79);
        assert_eq!(number(Draw::Earlier { back: 4, plus: 0, width }, &mut source, &[1]), 0);
    }

    proptest! {
        #[test]
        fn skewed_values_stay_in_their_range(
            seed in any::<u64>(), low in -1000i64..1000, span in 0i64..1000, which in 0..5,
        ) {
            let by = match which {
                0 => Skew::Zipfian { exponent: 0.8 },
                1 => Skew::Pareto { share: 0.2 },
                2 => Skew::Special { ids: 0.01, draws: 0.75 },
                3 => Skew::Scrambled,
                _ => Skew::Gaussian,
            };
            let draw = Draw::Skewed { low, high: low + span, by, width: Width::Eight };
            let mut rng = Rng::new(seed);
            let mut source = Source { rng: &mut rng, cells: &[], kept: &[] };
            let value = Sampler::from(&draw).number(&mut source, &[]);
            prop_assert!(value >= low && (value < low + span || (span == 0 && value == low)));
        }
    }
}
