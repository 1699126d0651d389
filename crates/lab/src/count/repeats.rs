//! Everything is counted until two counts agree.
//!
//! What a process of the server's does by the clock reaches into a backend now and then: the WAL writer, for one, makes pages ready
//! that the backend would have to make. On a busy machine it happens more often. Two counts that agree have not seen it.

use std::collections::{BTreeMap, BTreeSet};

use report::LEAST_DIFFERENCE;

use super::Item;

/// Whatever was counted so far of items whose counts don't agree yet. `P` is a count.
#[derive(Debug)]
pub struct Repeats<P> {
    instructions: fn(&P) -> u64,
    open: BTreeMap<Item, Vec<P>>,
    agreed: BTreeSet<Item>,
}

impl<P> Repeats<P> {
    /// None yet; `instructions` is what has to agree.
    pub fn new(instructions: fn(&P) -> u64) -> Self {
        Self { instructions, open: BTreeMap::new(), agreed: BTreeSet::new() }
    }

    /// Adds a count. The first two that agree, in the order in which they were counted, as soon as there are such.
    pub fn add(&mut self, item: Item, count: P) -> Option<[P; 2]> {
        if self.agreed.contains(&item) {
            return None;
        }
        let counts = self.open.entry(item).or_default();
        counts.push(count);
        let (pair, difference) = closest(counts, self.instructions)?;
        if difference > LEAST_DIFFERENCE {
            return None;
        }
        self.agreed.insert(item);
        take(self.open.remove(&item)?, pair)
    }

    /// What has to be counted again.
    pub fn open(&self) -> impl Iterator<Item = Item> + '_ {
        self.open.keys().copied()
    }

    /// Of each item that never agreed the two counts that come nearest to it.
    pub fn rest(self) -> impl Iterator<Item = (Item, [P; 2])> {
        self.open.into_iter().filter_map(move |(item, counts)| {
            let (pair, _) = closest(&counts, self.instructions)?;
            Some((item, take(counts, pair)?))
        })
    }
}

/// Places of the two counts that differ least, and by which part of the first.
fn closest<P>(counts: &[P], instructions: fn(&P) -> u64) -> Option<([usize; 2], f64)> {
    let pairs = (0..counts.len()).flat_map(|second| (0..second).map(move |first| [first, second]));
    pairs
        .filter_map(|pair| {
            let [first, second] = pair.map(|place| counts.get(place).map(instructions));
            let (first, second) = (first?, second?);
            Some((pair, first.abs_diff(second) as f64 / first.max(1) as f64))
        })
        .min_by(|one, other| one.1.total_cmp(&other.1))
}

fn take<P>(counts: Vec<P>, pair: [usize; 2]) -> Option<[P; 2]> {
    let places = counts.into_iter().enumerate();
    let mut chosen = places.filter(|(place, _)| pair.contains(place)).map(|(_, count)| count);
    Some([chosen.next()?, chosen.next()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Protocol;

    const ITEM: Item = Item { variant: 0, kind: 0, protocol: Protocol::Simple };

    #[test]
    fn two_that_agree_are_enough() {
        let mut repeats = Repeats::new(|count: &u64| *count);
        assert_eq!(repeats.add(ITEM, 1_000_000), None);
        assert_eq!(repeats.open().collect::<Vec<_>>(), [ITEM]);
        assert_eq!(repeats.add(ITEM, 1_000_100), Some([1_000_000, 1_000_100]));
        assert_eq!(repeats.open().count(), 0);
        assert_eq!(repeats.add(ITEM, 5), None, "counted with another once more");
        assert_eq!(repeats.rest().count(), 0);
    }

    #[test]
    fn one_that_something_reached_into_does_not_count() {
        let mut repeats = Repeats::new(|count: &u64| *count);
        assert_eq!(repeats.add(ITEM, 1_000_000), None);
        assert_eq!(repeats.add(ITEM, 1_000_101), None);
        assert_eq!(repeats.add(ITEM, 1_003_000), None);
        assert_eq!(repeats.add(ITEM, 1_002_990), Some([1_003_000, 1_002_990]));
    }

    #[test]
    fn without_any_that_agree_the_nearest_stand() {
        let mut repeats = Repeats::new(|count: &u64| *count);
        let other = Item { kind: 1, ..ITEM };
        for count in [1_000_000, 1_900_000, 1_010_000] {
            assert_eq!(repeats.add(ITEM, count), None);
        }
        assert_eq!(repeats.add(other, 7), None);
        let rest: Vec<_> = repeats.rest().collect();
        assert_eq!(rest, [(ITEM, [1_000_000, 1_010_000])], "one alone is no count");
    }
}
