//! How parameters are drawn: a small set of distributions over a seeded generator.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// Index of a number that the streams of one step share, such as a table's highest id.
///
/// The load engine keeps one set of cells for each system under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell(pub usize);

/// Width of an integer parameter on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 4 bytes (`int`).
    Four,
    /// 8 bytes (`bigint`).
    Eight,
}

/// How one parameter of a statement comes about, anew for each execution.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Uniform over the closed range between two shared cells.
    Between {
        /// Cell with the lowest value.
        low: Cell,
        /// Cell with the highest value.
        high: Cell,
    },
    /// The present value of a shared cell.
    Value(Cell),
    /// The wall clock, to the second.
    Now,
    /// Text of uniform length in `min..=max`, about half of it random characters, the rest one
    /// character repeated, so that it compresses to about a half.
    Filler {
        /// Shortest length in bytes.
        min: u8,
        /// Longest length in bytes, at most 20.
        max: u8,
    },
}

impl Draw {
    /// Whether its encoding in binary always has the same length.
    pub fn fixed_width(&self) -> bool {
        !matches!(self, Draw::Filler { .. })
    }
}

/// The characters of [`Rng::filler`]: 64 of them, so that six random bits choose one; none needs
/// quoting in SQL.
const ALPHABET: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

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
    /// interval", 2019): the bias is below bound / 2^64, far under what a benchmark could see.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform over `low..high`; `low` when the range is empty.
    #[inline]
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        let span = high.wrapping_sub(low);
        if span <= 0 {
            return low;
        }
        low.wrapping_add(self.below(span as u64) as i64)
    }

    /// Draws the text of [`Draw::Filler`] into `buffer` and returns its length.
    #[inline]
    pub fn filler(&mut self, min: u8, max: u8, buffer: &mut [u8; 20]) -> usize {
        let max = max.min(20);
        let min = min.min(max);
        let head = self.next_u64();
        let span = u64::from(max - min) + 1;
        let length = usize::from(min) + (((head >> 32) * span) >> 32) as usize;
        let repeated = ALPHABET[(head & 63) as usize];
        let random = length / 2;
        let mut bits = self.next_u64();
        for byte in &mut buffer[..random] {
            *byte = ALPHABET[(bits & 63) as usize];
            bits >>= 6;
        }
        buffer[random..length].fill(repeated);
        length
    }
}

/// The seed of one stream of one step.
///
/// It depends on nothing but its arguments, so that all variants of a block send the same
/// statements with the same parameters, and a step run alone sends what it sent in a sequence.
pub fn stream_seed(seed: u64, step: &str, dop: u32, client: u32, role: &str) -> u64 {
    // FNV-1a over the names, then the finaliser of SplitMix64 over each number.
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
    use super::{Rng, stream_seed};
    use proptest::prelude::{any, prop_assert, proptest};

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
        // Chi-square with 9 degrees of freedom: 27.9 is the 99.9th percentile.
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 27.9, "chi-square {chi}, counts {counts:?}");
    }

    #[test]
    fn filler_is_half_random_and_half_repeated() {
        let mut rng = Rng::new(3);
        let mut buffer = [0u8; 20];
        let mut lengths = [0u32; 21];
        for _ in 0..11_000 {
            let length = rng.filler(10, 20, &mut buffer);
            lengths[length] += 1;
            let tail = &buffer[length / 2..length];
            assert!(tail.iter().all(|byte| *byte == tail[0]));
            assert!(!buffer[..length].iter().any(|byte| matches!(byte, b'\'' | b'\\')));
        }
        assert!(lengths[..10].iter().all(|&n| n == 0));
        assert!(lengths[10..].iter().all(|&n| (850..1150).contains(&n)), "{lengths:?}");
    }

    proptest! {
        #[test]
        fn ranges_are_kept(seed in any::<u64>(), low in -1_000_000i64..1_000_000, span in 0i64..1_000_000) {
            let value = Rng::new(seed).range(low, low + span);
            prop_assert!(value >= low && (value < low + span || span == 0));
        }

        #[test]
        fn filler_never_leaves_its_buffer(seed in any::<u64>(), min in any::<u8>(), max in any::<u8>()) {
            let length = Rng::new(seed).filler(min, max, &mut [0; 20]);
            prop_assert!(length <= 20);
        }
    }
}
