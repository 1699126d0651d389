//! Functions that must return exactly the numbers that pgbench returns.

/// FNV-1a over the eight bytes of `value`, lowest first (G. Fowler, L. C. Noll and K.-P. Vo, 64
/// bits). The seed is mixed into the offset basis, as pgbench does.
pub(crate) fn fnv1a(value: i64, seed: i64) -> i64 {
    let basis = 0xcbf2_9ce4_8422_2325 ^ seed as u64;
    value
        .to_le_bytes()
        .iter()
        .fold(basis, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
        as i64
}

/// MurmurHash64A of one word of eight bytes (A. Appleby).
pub(crate) fn murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mut word = (value as u64).wrapping_mul(MULTIPLIER);
    word ^= word >> SHIFT;
    word = word.wrapping_mul(MULTIPLIER);
    // The length in bytes times the multiplier.
    let mut hash = seed as u64 ^ MULTIPLIER.wrapping_mul(8);
    hash = (hash ^ word).wrapping_mul(MULTIPLIER);
    hash ^= hash >> SHIFT;
    hash = hash.wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> SHIFT)) as i64
}

/// The image of `value` modulo `size` under a pseudorandom permutation of `0..size`, which the seed
/// selects. It is computed as in pgbench 15 and later; 14 had another generator.
///
/// Six rounds, each of three bijections. The largest power of two that fits is placed over the
/// lower end of the range and then over the upper end: there, numbers are multiplied by an odd
/// number, XORed and rotated by a bit. Then all are moved by a random offset.
pub(crate) fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut random = Xoroshiro::new(seed as u64);
    // The value is taken as unsigned, as pgbench does, also if it is negative.
    let size = size as u64;
    let mut value = value as u64 % size;
    let bits = size.ilog2();
    let mask = (1 << bits) - 1;
    let mix = |value: u64, factor: u64, noise: u64| {
        let mixed = (value.wrapping_mul(factor) ^ noise) & mask;
        ((mixed << 1) & mask) | (mixed >> (bits - 1))
    };
    for _ in 0..6 {
        let (factor, noise) = ((random.next() & mask) | 1, random.next() & mask);
        if value <= mask {
            value = mix(value, factor, noise);
        }
        let (factor, noise) = ((random.next() & mask) | 1, random.next() & mask);
        let from_top = size - 1 - value;
        if from_top <= mask {
            value = size - 1 - mix(from_top, factor, noise);
        }
        value = (value + random.up_to(size - 1)) % size;
    }
    value as i64
}

/// xoroshiro128** 1.0 (Blackman and Vigna), seeded by SplitMix64 (Steele, Lea and Flood): the
/// generator of PostgreSQL's programs.
struct Xoroshiro(u64, u64);

impl Xoroshiro {
    fn new(seed: u64) -> Xoroshiro {
        let split_mix = |state: u64| {
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
        let first = seed.wrapping_add(GAMMA);
        Xoroshiro(split_mix(first), split_mix(first.wrapping_add(GAMMA)))
    }

    fn next(&mut self) -> u64 {
        let mixed = self.0 ^ self.1;
        let value = self.0.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        self.0 = self.0.rotate_left(24) ^ mixed ^ (mixed << 16);
        self.1 = mixed.rotate_left(37);
        value
    }

    /// Uniform over 0 to `last`, by rejection among the numbers with as many bits.
    fn up_to(&mut self, last: u64) -> u64 {
        loop {
            let value = self.next() >> last.leading_zeros();
            if value <= last {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_permutations() {
        for size in [1, 2, 3, 4, 5, 7, 8, 100, 1024, 1025] {
            for seed in [0, 1, -5, i64::MAX] {
                let mut seen: Vec<i64> =
                    (0..size).map(|value| permute(value, size, seed)).collect();
                seen.sort_unstable();
                assert_eq!(seen, (0..size).collect::<Vec<_>>(), "size {size}, seed {seed}");
            }
        }
    }

    #[test]
    fn seeds_give_different_numbers() {
        assert_ne!(fnv1a(1, 2), fnv1a(1, 3));
        assert_ne!(murmur2(1, 2), murmur2(1, 3));
        assert_ne!(murmur2(1, 2), fnv1a(1, 2));
    }
}
