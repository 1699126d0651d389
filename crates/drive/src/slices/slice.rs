//! The measurement of a slot: by one client, and by all of them together.
//!
//! A client's operations do not end where a slot does. It measures whole operations: from the
//! beginning of the first that begins after the lead-in, to the end of the last that begins in the
//! slot, which ends after it. That last one is longer than others on average, because a long
//! operation is more likely to span a given moment (the inspection paradox). But both its count and
//! its time are included, and none is cut off. The number of operations until one ends past the
//! slot is a stopping time. By Wald's equation ("On cumulative sums of random variables", 1944),
//! the expected time is the expected number times the mean duration. Over slots, the sum of
//! operations divided by the sum of seconds therefore estimates the rate without bias. A slot in
//! which a client begins no operation after the lead-in adds nothing to either sum.
//!
//! The first operation after a switch is never counted, however late it comes, because another
//! target has filled the caches.
//!
//! # Stalls
//!
//! A stalled operation is charged in full to the slot it began in, however long it lasts. One that
//! begins in the lead-in, or first after a switch, is in neither sum. This causes no bias. Which
//! operations are included depends on when they begin, never on how long they take, so the included
//! stalls represent the others.
//!
//! Single slots need more, because a comparison pairs their rates with equal weight: a stall of a
//! second would be one slow slot among hundreds, or none. If an earlier operation held a client
//! throughout the counted part of a slot, that slot gets a rate: no operations in the length of
//! that part ([`Measured::held`]). The share of such slots is the share of the time in which the
//! target stood still. Their time is kept out of the sums, which already include the operation that
//! began the stall.
//!
//! If a client missed a slot because another target held it, the slot says nothing about this
//! target.
//!
//! A stream with a rate begins operations by its schedule. For it, the operations that begin in the
//! counted part of the slot are divided by the length of that part.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::timetable::{Slot, Timetable};

/// One client's measurement of one slot. Kept for every round: 16 bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    /// The time of the operations; if the client was held, the length of the slot's counted part.
    pub nanos: u64,
    /// Operations that began in the slot's counted part.
    pub operations: u32,
    /// The target held the client throughout the counted part, with an operation that began before.
    pub held: bool,
}

/// The measurement of one slot of a timetable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// The round, from 0.
    pub round: u32,
    /// When the slot began, relative to the step's start.
    pub begin: Duration,
    /// Its planned length.
    pub length: Duration,
    /// Operations measured, over all leading clients of the class that the step counts.
    pub operations: u64,
    /// The time in which they were done, in seconds: the mean over the clients. Over many slices
    /// the sum of the operations divided by that of the seconds is the rate of all clients
    /// together.
    pub seconds: f64,
    /// The time of clients that the target held throughout the slot's counted part, in seconds: the
    /// mean over all clients. All three are 0 if one of the clients never came; the slot is then
    /// unusable.
    pub held: f64,
}

impl Slice {
    /// Operations per second of all clients together in this slot; 0 if the target held all of
    /// them. `None` if the slot is unusable.
    pub fn rate(&self) -> Option<f64> {
        let seconds = self.seconds + self.held;
        (seconds > 0.0).then(|| self.operations as f64 / seconds)
    }
}

/// The slices of `target` in the rounds that were over by `until`, from each client's measurements
/// by round.
pub fn slices(
    timetable: Timetable,
    targets: usize,
    target: usize,
    until: Duration,
    clients: &[&[Measured]],
) -> Vec<Slice> {
    let mut slices = Vec::new();
    let mut own = None;
    for (index, slot) in timetable.enumerate() {
        if slot.end() > until {
            break;
        }
        if slot.target == target {
            own = Some(slot);
        }
        if (index + 1) % targets == 0
            && let Some(slot) = own.take()
        {
            slices.push(together(clients, slot));
        }
    }
    slices
}

/// The measurement of a slot by all clients.
fn together(clients: &[&[Measured]], slot: Slot) -> Slice {
    let (mut operations, mut nanos, mut held) = (0, 0, 0);
    for client in clients {
        match client.get(slot.round as usize) {
            Some(measured) if measured.nanos > 0 => {
                operations += u64::from(measured.operations);
                *if measured.held { &mut held } else { &mut nanos } += measured.nanos;
            }
            _ => {
                (operations, nanos, held) = (0, 0, 0);
                break;
            }
        }
    }
    let mean = |nanos: u64| nanos as f64 / 1e9 / clients.len().max(1) as f64;
    Slice {
        round: slot.round,
        begin: slot.begin,
        length: slot.length,
        operations,
        seconds: mean(nanos),
        held: mean(held),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slices::timetable::Slices;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_client_that_is_held_lowers_the_rate_of_its_slot() {
        let slices_of = Slices { seed: 1, lengths: vec![MS(10)], lead_in: 0.2 };
        let done = Measured { nanos: 8_000_000, operations: 8, held: false };
        let held = Measured { nanos: 8_000_000, operations: 0, held: true };
        let clients = [&[done, done, held][..], &[done, held, held]];
        let all = slices(Timetable::new(&slices_of, 2), 2, 0, MS(60), &clients);
        let rates: Vec<_> = all.iter().map(|slice| slice.rate().unwrap().round()).collect();
        assert_eq!(rates, [2000.0, 1000.0, 0.0]);
        // The sums contain only measured operations.
        let seconds: f64 = all.iter().map(|slice| slice.seconds).sum();
        assert!((seconds - 0.012).abs() < 1e-12);
    }

    #[test]
    fn a_slot_that_one_client_missed_says_nothing() {
        let slices_of = Slices { seed: 1, lengths: vec![MS(10)], lead_in: 0.2 };
        let one = |operations| Measured { nanos: 4_000_000, operations, held: false };
        let two = |operations| Measured { nanos: 6_000_000, operations, held: false };
        let clients = [&[one(3), one(2), one(1)][..], &[two(4), Measured::default()]];
        let all = slices(Timetable::new(&slices_of, 2), 2, 1, MS(79), &clients);
        // Three rounds of two slots are over after 79 ms; the fourth is not.
        assert_eq!(all.iter().map(|s| s.operations).collect::<Vec<_>>(), [7, 0, 0]);
        assert!((all[0].seconds - 0.005).abs() < 1e-12 && all[1].rate().is_none());
        assert_eq!(all.iter().map(|s| s.round).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
