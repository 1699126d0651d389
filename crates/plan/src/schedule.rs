//! The order of trials: randomized blocks.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::family::SequenceKey;
use crate::plan::Plan;

/// Every variant once through every sequence, in random order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Number of the block, from 1.
    pub number: u32,
    /// Trials in the order in which they run.
    pub trials: Vec<Trial>,
}

/// One variant going once through a sequence of the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Trial {
    /// Number of the block, from 1.
    pub block: u32,
    /// Place inside the block, from 1.
    pub position: u32,
    /// Index into [`Plan::variants`].
    pub variant: usize,
    /// Key of the [`crate::Sequence`].
    pub sequence: SequenceKey,
}

/// Spreads block numbers over seeds. Any odd constant would do except the increment of SplitMix64,
/// with which `seed_from_u64` fills the generator's state: neighboring blocks would then share
/// state words.
const BLOCK_STRIDE: u64 = 0xD1B5_4A32_D192_ED03;

impl Plan {
    /// The trials of the plan, block after block.
    ///
    /// Within a block all pairs of variant and sequence are shuffled (Fisher–Yates, from the last
    /// place to the second) by a Xoshiro256++ generator seeded from `seed + block ·
    /// 0xD1B54A32D192ED03` (mod 2⁶⁴). Each block thus depends on the seed and its own number only:
    /// more blocks never change earlier ones. The same seed gives the same order on every machine.
    pub fn schedule(&self, seed: u64) -> Vec<Block> {
        (1..=self.blocks).map(|number| self.block(seed, number)).collect()
    }

    /// One block of the schedule, also beyond [`Plan::blocks`]; `number` counts from 1.
    pub fn block(&self, seed: u64, number: u32) -> Block {
        let mut pairs: Vec<(usize, SequenceKey)> = Vec::new();
        let sequences = self.workload.sequences();
        for variant in 0..self.variants.len() {
            pairs.extend(sequences.iter().map(|sequence| (variant, sequence.key)));
        }
        shuffle(&mut pairs, seed, number);
        let trials = pairs
            .into_iter()
            .zip(1..)
            .map(|((variant, sequence), position)| Trial {
                block: number,
                position,
                variant,
                sequence,
            })
            .collect();
        Block { number, trials }
    }
}

fn shuffle<T>(items: &mut [T], seed: u64, block: u32) {
    let stream = seed.wrapping_add(u64::from(block).wrapping_mul(BLOCK_STRIDE));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(stream);
    for last in (1..items.len()).rev() {
        let other = below(&mut random, last as u64 + 1) as usize;
        items.swap(last, other);
    }
}

/// A uniform number in [0, n): draws beyond the largest multiple of n are discarded, so that no
/// value is favored.
fn below(random: &mut Xoshiro256PlusPlus, n: u64) -> u64 {
    let limit = u64::MAX - u64::MAX % n;
    loop {
        let x = random.next_u64();
        if x < limit {
            return x % n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn plan(variants: usize, dops: &str, blocks: u32) -> Plan {
        let mut text = format!("blocks = {blocks}\n[workload.insert]\ndop = {dops}\n");
        for v in 0..variants {
            text.push_str(&format!("[variants.v{v}]\ndbms = \"postgres@14.3\"\n"));
        }
        Plan::parse(&text, None, "test").unwrap()
    }

    #[test]
    fn every_pair_once_per_block() {
        for block in plan(3, "[1, 4]", 20).schedule(7) {
            let seen: BTreeSet<_> = block.trials.iter().map(|t| (t.variant, t.sequence)).collect();
            assert_eq!((seen.len(), block.trials.len()), (6, 6));
            let positions: Vec<_> = block.trials.iter().map(|t| t.position).collect();
            assert_eq!(positions, [1, 2, 3, 4, 5, 6]);
            assert!(block.trials.iter().all(|t| t.block == block.number));
        }
    }

    #[test]
    fn more_blocks_leave_earlier_ones_alone() {
        let few = plan(4, "1", 5).schedule(99);
        let many = plan(4, "1", 50).schedule(99);
        assert_eq!(few[..], many[..5]);
        assert_eq!(plan(4, "1", 5).block(99, 40), many[39], "also beyond the planned ones");
    }

    #[test]
    fn the_order_is_the_same_on_every_machine() {
        let order: Vec<Vec<usize>> = plan(4, "1", 4)
            .schedule(42)
            .iter()
            .map(|b| b.trials.iter().map(|t| t.variant).collect())
            .collect();
        assert_eq!(order, GOLDEN);
    }
    const GOLDEN: [[usize; 4]; 4] = [[0, 3, 2, 1], [1, 3, 2, 0], [2, 3, 0, 1], [2, 1, 0, 3]];

    #[test]
    fn orders_are_uniform() {
        // 6 orders of 3 variants over 6000 blocks: 1000 each, standard deviation 29.
        let mut counts = std::collections::BTreeMap::new();
        let mut order = plan(3, "1", 1000).schedule(1);
        for seed in 2..7 {
            order.extend(plan(3, "1", 1000).schedule(seed));
        }
        for block in &order {
            let key: Vec<_> = block.trials.iter().map(|t| t.variant).collect();
            *counts.entry(key).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|n| (850..1150).contains(n)), "{counts:?}");
    }

    #[test]
    fn neighboring_seeds_and_blocks_differ() {
        let a = plan(5, "[1, 2, 3, 4]", 3).schedule(1);
        let b = plan(5, "[1, 2, 3, 4]", 3).schedule(2);
        let order =
            |b: &Block| b.trials.iter().map(|t| (t.variant, t.sequence)).collect::<Vec<_>>();
        let distinct: BTreeSet<_> = a.iter().chain(&b).map(order).collect();
        assert_eq!(distinct.len(), 6);
    }
}
