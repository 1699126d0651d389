//! Which target has the load at which time, if a step runs on several in turn.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use workload::Rng;

/// How the load of one step moves between several targets.
///
/// Time is divided into rounds. In each round, every target has the load once, for the same time
/// and in random order, so slow changes of the machine affect all of them alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slices {
    /// The same seed gives the same timetable.
    pub seed: u64,
    /// Possible lengths of a round's slots, drawn with equal probability. Mixing several allows
    /// comparing them.
    pub lengths: Vec<Duration>,
    /// The fraction of a slot, from 0 to below 1, before counting begins: it runs on caches that
    /// another target has filled.
    pub lead_in: f64,
}

/// A period in which one target has the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The round it belongs to, from 0.
    pub round: u32,
    /// Index of the target.
    pub target: usize,
    /// When it begins, relative to the step's start.
    pub begin: Duration,
    /// How long it lasts.
    pub length: Duration,
}

impl Slot {
    /// When the next slot begins, relative to the step's start.
    pub fn end(&self) -> Duration {
        self.begin + self.length
    }
}

/// The slots of a step in order of time, without gaps and without end.
///
/// It depends only on its [`Slices`] and the number of targets. Each client follows its own copy,
/// so no thread does the switching, and clients share no state for it.
///
/// ```
/// use std::time::Duration;
/// use drive::{Slices, Timetable};
///
/// let slices = Slices { seed: 1, lengths: vec![Duration::from_millis(30)], lead_in: 0.2 };
/// let round: Vec<_> = Timetable::new(&slices, 3).take(3).collect();
/// assert_eq!(round[2].begin, Duration::from_millis(60));
/// assert_eq!(round.iter().map(|slot| slot.target).sum::<usize>(), 0 + 1 + 2);
/// ```
#[derive(Debug, Clone)]
pub struct Timetable {
    rng: Rng,
    lengths: Vec<Duration>,
    /// The targets in the order of this round.
    order: Vec<usize>,
    /// The next slot's index in `order`.
    place: usize,
    round: u32,
    length: Duration,
    begin: Duration,
}

impl Timetable {
    /// The timetable of `targets` targets. It is empty without targets or without a length above 0.
    pub fn new(slices: &Slices, targets: usize) -> Timetable {
        let lengths: Vec<_> = slices.lengths.iter().copied().filter(|l| !l.is_zero()).collect();
        let order = if lengths.is_empty() { Vec::new() } else { (0..targets).collect() };
        let mut timetable = Timetable {
            rng: Rng::new(slices.seed),
            lengths,
            order,
            place: 0,
            round: 0,
            length: Duration::ZERO,
            begin: Duration::ZERO,
        };
        timetable.draw_round();
        timetable
    }

    /// The end of the last round that is over by `limit`; if none is, the end of the first.
    ///
    /// A step that ends there has given every target the same time.
    pub fn whole_rounds(slices: &Slices, targets: usize, limit: Duration) -> Duration {
        let mut timetable = Timetable::new(slices, targets);
        let mut end = timetable.round_end();
        loop {
            timetable.place = 0;
            timetable.begin = timetable.round_end();
            timetable.draw_round();
            let next = timetable.round_end();
            if next > limit || next == end {
                return end;
            }
            end = next;
        }
    }

    /// When this round ends, relative to its beginning.
    fn round_end(&self) -> Duration {
        self.begin + self.length * (self.order.len() - self.place) as u32
    }

    /// Draws the length and the order of a round.
    fn draw_round(&mut self) {
        let drawn = self.rng.below(self.lengths.len() as u64) as usize;
        self.length = self.lengths.get(drawn).copied().unwrap_or_default();
        self.rng.shuffle(&mut self.order);
    }
}

impl Iterator for Timetable {
    type Item = Slot;

    fn next(&mut self) -> Option<Slot> {
        if self.place == self.order.len() {
            self.round = self.round.checked_add(1)?;
            self.place = 0;
            self.draw_round();
        }
        let target = *self.order.get(self.place)?;
        let slot = Slot { round: self.round, target, begin: self.begin, length: self.length };
        self.place += 1;
        self.begin += self.length;
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn slices(seed: u64, lengths: &[u64]) -> Slices {
        let lengths = lengths.iter().map(|ms| Duration::from_millis(*ms)).collect();
        Slices { seed, lengths, lead_in: 0.2 }
    }

    #[test]
    fn every_round_visits_every_target_once_and_leaves_no_gap() {
        for targets in 1..6 {
            let mut end = Duration::ZERO;
            let slots: Vec<_> =
                Timetable::new(&slices(7, &[10, 20, 40]), targets).take(targets * 500).collect();
            for (index, round) in slots.chunks(targets).enumerate() {
                let mut seen: Vec<_> = round.iter().map(|slot| slot.target).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..targets));
                for slot in round {
                    assert_eq!((slot.round, slot.begin), (index as u32, end));
                    assert_eq!(slot.length, round[0].length);
                    end = slot.end();
                }
            }
        }
    }

    #[test]
    fn the_seed_alone_decides() {
        let some = |seed| Timetable::new(&slices(seed, &[10, 20]), 3).take(300).collect::<Vec<_>>();
        assert_eq!(some(1), some(1));
        assert_ne!(some(1), some(2));
        let mut followed = Timetable::new(&slices(1, &[10, 20]), 3);
        followed.by_ref().take(100).for_each(drop);
        assert_eq!(followed.clone().take(200).collect::<Vec<_>>(), some(1)[100..]);
    }

    #[test]
    fn orders_and_lengths_are_uniform_and_independent() {
        const ROUNDS: usize = 24_000;
        let mut seen: BTreeMap<(Vec<usize>, Duration), f64> = BTreeMap::new();
        let slots: Vec<_> =
            Timetable::new(&slices(42, &[10, 20, 30, 40]), 3).take(3 * ROUNDS).collect();
        for round in slots.chunks(3) {
            let order = round.iter().map(|slot| slot.target).collect();
            *seen.entry((order, round[0].length)).or_default() += 1.0;
        }
        // 6 orders of 4 lengths. Chi-squared with 23 degrees of freedom exceeds 49.7 once in 1000.
        assert_eq!(seen.len(), 24);
        let expected = ROUNDS as f64 / 24.0;
        let chi: f64 = seen.values().map(|n| (n - expected).powi(2) / expected).sum();
        assert!(chi < 49.7, "{chi}");
    }

    #[test]
    fn a_step_ends_with_a_whole_round() {
        let ms = Duration::from_millis;
        let mixed = slices(3, &[10, 20, 40]);
        for limit in [1, 59, 60, 1000, 4321] {
            let end = Timetable::whole_rounds(&mixed, 3, ms(limit));
            let ends: Vec<_> = Timetable::new(&mixed, 3)
                .skip(2)
                .step_by(3)
                .map(|slot| slot.end())
                .take(99)
                .collect();
            let wanted = ends.iter().rfind(|end| **end <= ms(limit)).unwrap_or(&ends[0]);
            assert_eq!(end, *wanted, "{limit}");
        }
        assert_eq!(Timetable::whole_rounds(&slices(3, &[25]), 2, ms(1000)), ms(1000));
    }

    #[test]
    fn a_timetable_of_nothing_is_empty() {
        assert_eq!(Timetable::new(&slices(1, &[10]), 0).next(), None);
        assert_eq!(Timetable::new(&slices(1, &[]), 2).next(), None);
        assert_eq!(Timetable::new(&slices(1, &[0]), 2).next(), None);
        let none = Timetable::whole_rounds(&slices(1, &[]), 2, Duration::from_secs(1));
        assert_eq!(none, Duration::ZERO);
    }
}
