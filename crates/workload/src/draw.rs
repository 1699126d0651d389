//! Drawing parameters: a small set of distributions over a seeded generator.

use std::sync::atomic::{AtomicI64, Ordering};

use rand_distr::{Distribution, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};
use serde::{Deserialize, Serialize};

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
    /// The lowest `share` of the values is drawn in 1 - `share` of the cases, and so on within it:
    /// with 0.2, the 80/20 rule.
    Pareto {
        /// Above 0, up to 0.5.
        share: f64,
    },
    /// The mean of twelve uniform values, so values in the middle are likelier.
    Gaussian,
    /// Some values in the middle of the range in most of the cases; in the others as
    /// [`Skew::Gaussian`]. sysbench's `special`.
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
        /// Which ones more often.
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
    /// An earlier number of the same execution, shifted: the end of a range.
    Earlier {
        /// How many values back; 1 is the previous one.
        back: usize,
        /// What is added.
        plus: i64,
        /// Width on the wire.
        width: Width,
    },
    /// A number drawn for the round ([`crate::Stream::keeps`]), shifted: the same row in several
    /// requests of a transaction.
    Kept {
        /// Its index among them.
        index: usize,
        /// What is added.
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
            Draw::Between { .. } | Draw::Value(_) => Some(Width::Eight),
            Draw::Now | Draw::Text { .. } | Draw::Digits { .. } => None,
        }
    }
}

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
    #[inline]
    fn cell(&self, cell: Cell) -> i64 {
        self.cells.get(cell.0).map_or(0, |cell| cell.0.load(Ordering::Relaxed))
    }
}

/// A prepared [`Draw`]: what its distribution needs is computed once.
#[derive(Debug, Clone)]
pub struct Sampler {
    /// What is drawn.
    pub draw: Draw,
    zipf: Option<Zipf<f64>>,
}

impl From<&Draw> for Sampler {
    fn from(draw: &Draw) -> Sampler {
        let zipf = match draw {
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
        match &self.draw {
            Draw::Uniform { low, high, .. } => source.rng.range(*low, *high),
            Draw::Between { low, high } => {
                let (low, high) = (source.cell(*low), source.cell(*high));
                source.rng.range(low, high.saturating_add(1))
            }
            Draw::Value(cell) => source.cell(*cell),
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

    fn skewed(&self, rng: &mut Rng, low: i64, high: i64, by: Skew) -> i64 {
        let span = high.saturating_sub(low).max(1);
        let place = match (by, &self.zipf) {
            (Skew::Zipfian { .. }, Some(zipf)) => zipf.sample(&mut rng.0) as i64 - 1,
            (Skew::Zipfian { .. }, None) => rng.below(span as u64) as i64,
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
    pub fn text(&self, rng: &mut Rng, bytes: &mut Vec<u8>) {
        match self.draw {
            Draw::Text { min, max } => rng.text(min, max, bytes),
            Draw::Digits { groups, digits } => rng.digits(groups, digits, bytes),
            _ => {}
        }
    }
}

/// The characters of [`Draw::Text`]: 64 of them, so six random bits choose one; none needs quoting
/// in SQL.
const ALPHABET: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

/// Characters that one draw of 64 bits is enough for.
const CHARACTERS: usize = 10;

/// The generator of one stream: xoshiro256++ 1.0 (Blackman and Vigna, "Scrambled linear
/// pseudorandom number generators", 2021).
#[derive(Debug, Clone)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// A generator that gives the same numbers for the same seed on every machine.
    pub fn new(seed: u64) -> Rng {
        Rng(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform over `0..bound` (0 for a bound of 0).
    ///
    /// Multiply and shift without rejection (Lemire, "Fast random integer generation in an
    /// interval", 2019): the bias is below bound / 2^64, far below what a benchmark could detect.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Fisher and Yates' shuffle, in Durstenfeld's form ("Algorithm 235: Random permutation",
    /// 1964): every order is equally likely.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// Uniform over `low..high`; `low` if the range is empty.
    #[inline]
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        let span = high.wrapping_sub(low);
        if span <= 0 {
            return low;
        }
        low.wrapping_add(self.below(span as u64) as i64)
    }

    /// Uniform over 0 to below 1, in steps of 2^-53.
    fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The text of [`Draw::Text`].
    #[inline]
    fn text(&mut self, min: u32, max: u32, bytes: &mut Vec<u8>) {
        let min = min.min(max);
        let head = self.next_u64();
        let span = u64::from(max - min) + 1;
        let length = (u64::from(min) + (((head >> 32) * span) >> 32)) as usize;
        let repeated = ALPHABET[(head & 63) as usize];
        let end = bytes.len() + length;
        let mut random = length / 2;
        loop {
            let mut bits = self.next_u64();
            for _ in 0..random.min(CHARACTERS) {
                bytes.push(ALPHABET[(bits & 63) as usize]);
                bits >>= 6;
            }
            random = random.saturating_sub(CHARACTERS);
            if random == 0 {
                break;
            }
        }
        bytes.resize(end, repeated);
    }

    /// The text of [`Draw::Digits`].
    fn digits(&mut self, groups: u32, digits: u32, bytes: &mut Vec<u8>) {
        for group in 0..groups {
            if group > 0 {
                bytes.push(b'-');
            }
            for _ in 0..digits {
                bytes.push(b'0' + self.below(10) as u8);
            }
        }
    }
}

/// The seed of one stream of one step.
///
/// It depends only on its arguments. All variants of a block therefore send the same statements
/// with the same parameters, and a step run alone sends what it sends in a sequence.
pub fn stream_seed(seed: u64, step: &str, dop: u32, client: u32, role: &str) -> u64 {
    // FNV-1a over the names, then the finalizer of SplitMix64 over each number.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in step.bytes().chain([0]).chain(role.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    for number in [seed, u64::from(dop), u64::from(client)] {
        hash = split_mix(hash ^ number);
    }
    hash
}

/// One step of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Draw, Rng, Sampler, Skew, Source, Width, stream_seed};
    use proptest::prelude::{any, prop_assert, proptest};

    fn text(rng: &mut Rng, min: u32, max: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        rng.text(min, max, &mut bytes);
        bytes
    }

    #[test]
    fn a_seed_gives_the_same_numbers_again_and_streams_differ() {
        let draw = |seed| {
            let mut rng = Rng::new(seed);
            (0..5).map(|_| rng.range(0, 1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        let a = stream_seed(7, "l.i0", 1, 0, "insert");
        assert_ne!(a, stream_seed(7, "l.i0", 1, 1, "insert"));
        assert_ne!(a, stream_seed(7, "l.i0", 1, 0, "query"));
        assert_ne!(a, stream_seed(8, "l.i0", 1, 0, "insert"));
        assert_ne!(draw(a), draw(stream_seed(7, "l.i1", 1, 0, "insert")));
    }

    #[test]
    fn uniform_covers_its_domain_evenly() {
        let mut rng = Rng::new(1);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[rng.range(0, 10) as usize] += 1;
        }
        // The 99.9th percentile of chi-square with 9 degrees of freedom is 27.9.
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 27.9, "chi-square {chi}, counts {counts:?}");
    }

    #[test]
    fn text_is_half_random_and_half_repeated() {
        let mut rng = Rng::new(3);
        let mut lengths = [0u32; 21];
        for _ in 0..11_000 {
            let text = text(&mut rng, 10, 20);
            lengths[text.len()] += 1;
            let tail = &text[text.len() / 2..];
            assert!(tail.iter().all(|byte| *byte == tail[0]));
            assert!(!text.iter().any(|byte| matches!(byte, b'\'' | b'\\')));
        }
        assert!(lengths[..10].iter().all(|&n| n == 0));
        assert!(lengths[10..].iter().all(|&n| (850..1150).contains(&n)), "{lengths:?}");
        let long = text(&mut rng, 400, 400);
        let distinct = |part: &[u8]| part.iter().collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!((long.len(), distinct(&long[200..])), (400, 1));
        assert!(distinct(&long[..200]) > 50);
    }

    #[test]
    fn digits_are_groups_of_a_fixed_length() {
        let mut bytes = Vec::new();
        Rng::new(5).digits(10, 11, &mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.len(), 119);
        assert!(text.split('-').all(|group| group.len() == 11));
        assert!(text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()));
    }

    /// How often each value of `0..high` comes in `n` draws.
    fn counts(by: Skew, high: i64, n: usize) -> Vec<f64> {
        let sampler = Sampler::from(&Draw::Skewed { low: 0, high, by, width: Width::Four });
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
        fn ranges_are_kept(seed in any::<u64>(), low in -1_000_000i64..1_000_000, span in 0i64..1_000_000) {
            let value = Rng::new(seed).range(low, low + span);
            prop_assert!(value >= low && (value < low + span || span == 0));
        }

        #[test]
        fn text_is_as_long_as_asked_for(seed in any::<u64>(), min in 0u32..50, more in 0u32..50) {
            let length = text(&mut Rng::new(seed), min, min + more).len() as u32;
            prop_assert!((min..=min + more).contains(&length));
        }

        #[test]
        fn skewed_values_stay_in_their_range(
            seed in any::<u64>(), low in -1000i64..1000, span in 0i64..1000, which in 0..4,
        ) {
            let by = match which {
                0 => Skew::Zipfian { exponent: 0.8 },
                1 => Skew::Pareto { share: 0.2 },
                2 => Skew::Special { ids: 0.01, draws: 0.75 },
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
