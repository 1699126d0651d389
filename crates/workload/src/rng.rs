//! The seeded generator that parameters are drawn with, and its text.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// The characters of [`crate::Draw::Text`]: 64 of them, so six random bits choose one; none needs
/// quoting in SQL.
const ALPHABET: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

/// Characters that one draw of 64 bits is enough for.
const CHARACTERS: usize = 10;

/// The generator of one stream: xoshiro256++ 1.0 (Blackman and Vigna, "Scrambled linear
/// pseudorandom number generators", 2021).
#[derive(Debug, Clone)]
pub struct Rng(pub(crate) Xoshiro256PlusPlus);

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

    /// An index, drawn by weight; 0 if there is no weight.
    pub fn weighted(&mut self, weights: impl Iterator<Item = u32> + Clone) -> usize {
        let mut drawn = self.below(weights.clone().map(u64::from).sum());
        for (index, weight) in weights.enumerate() {
            match drawn.checked_sub(weight.into()) {
                Some(left) => drawn = left,
                None => return index,
            }
        }
        0
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
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The text of [`crate::Draw::Text`].
    #[inline]
    pub(crate) fn text(&mut self, min: u32, max: u32, bytes: &mut Vec<u8>) {
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

    /// The text of [`crate::Draw::Digits`].
    pub(crate) fn digits(&mut self, groups: u32, digits: u32, bytes: &mut Vec<u8>) {
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
    use proptest::prelude::{any, prop_assert, proptest};

    use super::{Rng, stream_seed};

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
    }
}
