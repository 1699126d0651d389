//! What is measured in a slot: by one client, and by all of them together.
//!
//! A client's operations do not end where a slot does. It measures whole operations: from the begin
//! of the first that begins after the lead-in to the end of the last that begins in the slot, which
//! ends after it. That last one is longer than others in the mean, since a long operation is more
//! likely to lie across a given moment (the inspection paradox), but both its count and its time are
//! in, and none is cut off. The number of operations until one ends past the slot is a stopping time,
//! so by Wald's equation ("On cumulative sums of random variables", 1944) the expected time is the
//! expected number times the mean duration: over slots, the sum of operations divided by the sum of
//! seconds estimates the rate without bias. A slot in which a client begins no operation after the
//! lead-in adds nothing to either sum.
//!
//! The first operation after a switch is never measured, however late it comes: it finds the caches
//! that another target has left.
//!
//! A stream with a rate begins when its schedule says, so there the operations that begin in the
//! counted part of the slot are set against the length of that part.

use std::time::{Duration, Instant};

use crate::timetable::Timetable;

/// What one client measured in one slot. Kept for every round: 16 bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    pub nanos: u64,
    pub operations: u32,
}

/// Measures one client's operations in one slot.
#[derive(Debug)]
pub struct Meter {
    /// The end of the lead-in.
    from: Instant,
    /// The end of the slot.
    until: Instant,
    paced: bool,
    /// The next operation is the first after a switch.
    fresh: bool,
    begun: Option<Instant>,
    ended: Instant,
    operations: u32,
}

impl Meter {
    /// For a slot from `begin` to `until`, which the client comes to at `now`.
    pub fn new(begin: Instant, until: Instant, lead_in: f64, now: Instant, paced: bool) -> Meter {
        let from = (begin + (until - begin).mul_f64(lead_in)).max(now);
        Meter { from, until, paced, fresh: lead_in > 0.0, begun: None, ended: from, operations: 0 }
    }

    /// An operation was done.
    #[inline]
    pub fn round(&mut self, begin: Instant, end: Instant, operations: u64) {
        let fresh = std::mem::replace(&mut self.fresh, false);
        if begin < self.from || (fresh && !self.paced) {
            return;
        }
        if self.begun.is_none() {
            self.begun = Some(begin);
        }
        self.ended = end;
        self.operations = self.operations.saturating_add(operations as u32);
    }

    /// What was measured.
    pub fn measured(&self) -> Measured {
        let time = if self.paced {
            self.until.saturating_duration_since(self.from)
        } else {
            self.begun.map_or(Duration::ZERO, |begun| self.ended - begun)
        };
        Measured { nanos: time.as_nanos() as u64, operations: self.operations }
    }
}

/// What was measured in one slot of a timetable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// The round, from 0.
    pub round: u32,
    /// When the slot began, after the step's start.
    pub begin: Duration,
    /// How long it was planned to last.
    pub length: Duration,
    /// Operations measured, over all leading clients of the class that the step counts.
    pub operations: u64,
    /// The time in which they were done, in seconds: the mean over the clients. Operations divided
    /// by seconds are the rate of all clients together. 0, as are the operations, where one of the
    /// clients could not measure any: the slot then says nothing.
    pub seconds: f64,
}

/// The slices of `target` in the rounds that were over by `until`, from what each client measured in
/// them by round.
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
            let (operations, seconds) = together(clients, slot.round as usize);
            let (round, begin, length) = (slot.round, slot.begin, slot.length);
            slices.push(Slice { round, begin, length, operations, seconds });
        }
    }
    slices
}

/// Operations of all clients in a round and the mean of their seconds; zeros where one has none.
fn together(clients: &[&[Measured]], round: usize) -> (u64, f64) {
    let (mut operations, mut nanos) = (0, 0);
    for client in clients {
        match client.get(round) {
            Some(measured) if measured.nanos > 0 => {
                operations += u64::from(measured.operations);
                nanos += measured.nanos;
            }
            _ => return (0, 0.0),
        }
    }
    (operations, nanos as f64 / 1e9 / clients.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use workload::Rng;

    use super::*;
    use crate::timetable::Slices;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_slice_is_measured_in_whole_operations() {
        let begin = Instant::now();
        let mut meter = Meter::new(begin, begin + MS(100), 0.2, begin, false);
        for (from, to) in [(0, 12), (12, 24), (24, 40), (40, 70), (70, 130)] {
            meter.round(begin + MS(from), begin + MS(to), 5);
        }
        let wanted = Measured { nanos: 106_000_000, operations: 15 };
        assert_eq!(meter.measured(), wanted);
    }

    #[test]
    fn the_first_operation_is_never_measured() {
        let begin = Instant::now();
        let late = begin + MS(60);
        let mut meter = Meter::new(begin, begin + MS(100), 0.2, late, false);
        meter.round(late, begin + MS(80), 1);
        assert_eq!(meter.measured(), Measured::default());
        meter.round(begin + MS(80), begin + MS(110), 1);
        assert_eq!(meter.measured(), Measured { nanos: 30_000_000, operations: 1 });
    }

    #[test]
    fn a_stream_with_a_rate_is_measured_against_the_slot() {
        let begin = Instant::now();
        let mut meter = Meter::new(begin, begin + MS(100), 0.2, begin, true);
        for from in [10, 40, 70] {
            meter.round(begin + MS(from), begin + MS(from + 1), 50);
        }
        assert_eq!(meter.measured(), Measured { nanos: 80_000_000, operations: 100 });
    }

    #[test]
    fn a_slot_that_one_client_missed_says_nothing() {
        let slices_of = Slices { seed: 1, lengths: vec![MS(10)], lead_in: 0.2 };
        let one = |operations| Measured { nanos: 4_000_000, operations };
        let two = |operations| Measured { nanos: 6_000_000, operations };
        let clients = [&[one(3), one(2), one(1)][..], &[two(4), Measured::default()]];
        let all = slices(Timetable::new(&slices_of, 2), 2, 1, MS(79), &clients);
        // Three rounds of two slots are over after 79 ms; the fourth is not.
        assert_eq!(all.iter().map(|s| s.operations).collect::<Vec<_>>(), [7, 0, 0]);
        assert!((all[0].seconds - 0.005).abs() < 1e-12 && all[1].seconds == 0.0);
        assert_eq!(all.iter().map(|s| s.round).collect::<Vec<_>>(), [0, 1, 2]);
    }

    /// Durations as different as they get (exponential, and a tenth of them twenty times as long)
    /// in slots of some five operations: the ratio of the sums is the rate.
    #[test]
    fn slots_that_cut_operations_do_not_bend_the_rate() {
        let mut rng = Rng::new(5);
        let start = Instant::now();
        let (mut now, mut nanos, mut operations) = (start, 0_u64, 0_u64);
        let (mut true_nanos, mut true_operations) = (0.0, 0.0);
        for slot in 0..40_000_u32 {
            let begin = start + MS(15) * slot;
            let until = begin + MS(15);
            let mut meter = Meter::new(begin, until, 0.2, now, false);
            while now < until {
                let uniform = (rng.below(1 << 53) + 1) as f64 / (1_u64 << 53) as f64;
                let factor = if rng.below(10) == 0 { 20.0 } else { 1.0 };
                let took = Duration::from_secs_f64(-uniform.ln() * factor * 1e-3);
                meter.round(now, now + took, 1);
                now += took;
                true_nanos += took.as_nanos() as f64;
                true_operations += 1.0;
            }
            nanos += meter.measured().nanos;
            operations += u64::from(meter.measured().operations);
        }
        let ratio = (operations as f64 / nanos as f64) / (true_operations / true_nanos);
        assert!((ratio - 1.0).abs() < 0.015, "{ratio}");
    }
}
