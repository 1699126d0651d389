//! Counting repeats until the counts agree well enough.
//!
//! The server's background processes sometimes affect the process being counted, because they
//! periodically do work that it would otherwise do itself. This is more frequent on a busy machine.
//! Counts that don't agree are repeated, and all of them are kept: their spread shows how certain
//! their mean is ([`Spread`]).

use std::collections::{BTreeMap, BTreeSet};

use report::Spread;

use super::jobs::Item;

/// The counts so far of items whose counts don't agree yet. `P` is a count.
#[derive(Debug)]
pub struct Repeats<P> {
    instructions: fn(&P) -> u64,
    open: BTreeMap<Item, Vec<P>>,
    done: BTreeSet<Item>,
}

impl<P> Repeats<P> {
    /// Starts without counts; `instructions` returns the number that has to agree.
    pub fn new(instructions: fn(&P) -> u64) -> Self {
        Self { instructions, open: BTreeMap::new(), done: BTreeSet::new() }
    }

    /// Adds a count. Returns all counts of the item, in order, as soon as there are enough.
    pub fn add(&mut self, item: Item, count: P) -> Option<Vec<P>> {
        if self.done.contains(&item) {
            return None;
        }
        let counts = self.open.entry(item).or_default();
        counts.push(count);
        let instructions: Vec<u64> = counts.iter().map(self.instructions).collect();
        if !Spread::of(&instructions).enough() {
            return None;
        }
        self.done.insert(item);
        self.open.remove(&item)
    }

    /// The items to count again.
    pub fn open(&self) -> impl Iterator<Item = Item> + '_ {
        self.open.keys().copied()
    }

    /// All counts of each item that never had enough; a single one does not count.
    pub fn rest(self) -> impl Iterator<Item = (Item, Vec<P>)> {
        self.open.into_iter().filter(|(_, counts)| counts.len() > 1)
    }
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
        assert_eq!(repeats.add(ITEM, 1_000_070), Some(vec![1_000_000, 1_000_070]));
        assert_eq!(repeats.open().count(), 0);
        assert_eq!(repeats.add(ITEM, 5), None, "counted with another once more");
        assert_eq!(repeats.rest().count(), 0);
    }

    #[test]
    fn one_that_something_reached_into_stays_with_the_others() {
        let mut repeats = Repeats::new(|count: &u64| *count);
        assert_eq!(repeats.add(ITEM, 1_000_000), None);
        assert_eq!(repeats.add(ITEM, 1_000_400), None);
        assert_eq!(repeats.add(ITEM, 1_000_000), None, "two that agree are not enough then");
        let all = vec![1_000_000, 1_000_400, 1_000_000, 1_000_000];
        assert_eq!(repeats.add(ITEM, 1_000_000), Some(all));
    }

    #[test]
    fn what_never_agrees_stands_as_it_is() {
        let mut repeats = Repeats::new(|count: &u64| *count);
        let other = Item { kind: 1, ..ITEM };
        let counts = vec![1_000_000, 1_900_000, 1_010_000, 1_010_000, 1_000_000];
        for count in &counts {
            assert_eq!(repeats.add(ITEM, *count), None);
        }
        assert_eq!(repeats.add(other, 7), None);
        let rest: Vec<_> = repeats.rest().collect();
        assert_eq!(rest, [(ITEM, counts)], "one alone is no count");
    }
}
