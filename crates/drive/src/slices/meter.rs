//! Follows a timetable for one client and measures what it does in each slot; see [`super::slice`].

use std::time::Duration;

use super::slice::Measured;
use super::timetable::{Slices, Slot, Timetable};
use crate::clock::Moment;

/// One client on its way through the slots of a timetable. It is told about every round and reads
/// no clock, so made-up times can drive it too.
///
/// ```
/// use std::time::Duration;
/// use drive::{Moment, Route, Slices};
///
/// let ms = Duration::from_millis;
/// let slices = Slices { seed: 1, lengths: vec![ms(10)], lead_in: 0.2 };
/// let start = Moment::now();
/// let mut route = Route::new(&slices, 2, start, false);
/// let mut now = start;
/// while now < start + ms(40) {
///     route.go_on(now);
///     route.round(now, now + ms(1), 1);
///     now += ms(1);
/// }
/// let measured = route.finish(now);
/// let rounds = measured.iter().flatten();
/// assert_eq!(rounds.map(|slot| slot.operations).collect::<Vec<_>>(), [8; 4]);
/// ```
#[derive(Debug)]
pub struct Route {
    timetable: Timetable,
    lead_in: f64,
    start: Moment,
    paced: bool,
    /// The current slot.
    slot: Option<Slot>,
    end: Moment,
    meter: Option<Meter>,
    /// The latest round, if the client comes from it and not from waiting: its target and
    /// beginning.
    busy: Option<(usize, Moment)>,
    /// By target and round.
    measured: Vec<Vec<Measured>>,
}

impl Route {
    /// A client that begins at `start`; `paced` if it begins rounds by a schedule.
    pub fn new(slices: &Slices, targets: usize, start: Moment, paced: bool) -> Route {
        Route {
            timetable: Timetable::new(slices, targets),
            lead_in: slices.lead_in,
            start,
            paced,
            slot: None,
            end: start,
            meter: None,
            busy: None,
            measured: vec![Vec::new(); targets],
        }
    }

    /// The same for a client that is not measured.
    pub fn unmeasured(slices: &Slices, targets: usize, start: Moment) -> Route {
        Route { measured: Vec::new(), ..Route::new(slices, targets, start, false) }
    }

    /// When the current slot ends.
    pub fn slot_end(&self) -> Moment {
        self.end
    }

    /// The slot at `now`, between two rounds.
    #[inline]
    pub fn go_on(&mut self, now: Moment) -> Option<Slot> {
        if now >= self.end {
            self.follow(now);
            if let Some(slot) = self.slot {
                self.meter = Some(self.meter(&slot, now));
            }
        }
        self.slot
    }

    /// A round was done at the target whose slot it began in.
    #[inline]
    pub fn round(&mut self, begin: Moment, end: Moment, operations: u64) {
        self.busy = self.slot.map(|slot| (slot.target, begin));
        if let Some(meter) = &mut self.meter {
            meter.round(begin, end, operations);
        }
    }

    /// The client had nothing to do.
    pub fn waited(&mut self) {
        self.busy = None;
    }

    /// The client leaves the timetable. Returns its measurements, by target and round. Rounds in
    /// which it never came are zero, or missing at the end.
    pub fn finish(&mut self, now: Moment) -> Vec<Vec<Measured>> {
        self.follow(now);
        std::mem::take(&mut self.measured)
    }

    /// Ends the slot and goes to the current one. If the round that ends now lasted throughout
    /// another slot of its target, that slot is charged for it.
    fn follow(&mut self, now: Moment) {
        self.keep();
        while now >= self.end {
            self.slot = self.timetable.next();
            let Some(slot) = self.slot else { return };
            self.end = self.start + slot.end();
            if let Some((target, begun)) = self.busy
                && now >= self.end
                && target == slot.target
            {
                let mut meter = self.meter(&slot, self.start + slot.begin);
                meter.round(begun, now, 0);
                self.meter = Some(meter);
                self.keep();
            }
        }
    }

    fn meter(&self, slot: &Slot, now: Moment) -> Meter {
        Meter::new(self.start + slot.begin, self.end, self.lead_in, now, self.paced)
    }

    /// Keeps the measurement of the current slot.
    fn keep(&mut self) {
        if let (Some(slot), Some(meter)) = (self.slot, self.meter.take())
            && let Some(rounds) = self.measured.get_mut(slot.target)
        {
            rounds.resize(slot.round as usize, Measured::default());
            rounds.push(meter.measured());
        }
    }
}

/// Measures one client's operations in one slot.
#[derive(Debug)]
struct Meter {
    /// The end of the lead-in.
    counted: Moment,
    /// The end of the lead-in, or the client's arrival if later.
    from: Moment,
    /// The end of the slot.
    until: Moment,
    paced: bool,
    /// The next operation is the first after a switch.
    fresh: bool,
    /// An uncounted operation lasted from before the counted part until after it.
    held: bool,
    begun: Option<Moment>,
    ended: Moment,
    operations: u32,
}

impl Meter {
    /// For a slot from `begin` to `until`, where the client arrives at `now`.
    fn new(begin: Moment, until: Moment, lead_in: f64, now: Moment, paced: bool) -> Meter {
        let counted = begin + (until - begin).mul_f64(lead_in);
        let from = counted.max(now);
        Meter {
            counted,
            from,
            until,
            paced,
            fresh: lead_in > 0.0,
            held: false,
            begun: None,
            ended: from,
            operations: 0,
        }
    }

    /// An operation was done.
    #[inline]
    fn round(&mut self, begin: Moment, end: Moment, operations: u64) {
        let fresh = std::mem::replace(&mut self.fresh, false);
        if begin < self.from || (fresh && !self.paced) {
            self.held |= begin <= self.counted && end >= self.until;
            return;
        }
        if self.begun.is_none() {
            self.begun = Some(begin);
        }
        self.ended = end;
        self.operations = self.operations.saturating_add(operations as u32);
    }

    /// The measured figures.
    fn measured(&self) -> Measured {
        let (time, held) = match self.begun {
            // Rounds scheduled for this time are done later, and counted then.
            _ if self.paced => (self.until - self.from, false),
            Some(begun) => (self.ended - begun, false),
            None if self.held => (self.until - self.counted, true),
            None => (Duration::ZERO, false),
        };
        Measured { nanos: time.as_nanos() as u64, operations: self.operations, held }
    }
}

#[cfg(test)]
mod tests {
    use workload::Rng;

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_slice_is_measured_in_whole_operations() {
        let begin = Moment::now();
        let mut meter = Meter::new(begin, begin + MS(100), 0.2, begin, false);
        for (from, to) in [(0, 12), (12, 24), (24, 40), (40, 70), (70, 130)] {
            meter.round(begin + MS(from), begin + MS(to), 5);
        }
        let wanted = Measured { nanos: 106_000_000, operations: 15, held: false };
        assert_eq!(meter.measured(), wanted);
    }

    #[test]
    fn the_first_operation_is_never_measured() {
        let begin = Moment::now();
        let late = begin + MS(60);
        let mut meter = Meter::new(begin, begin + MS(100), 0.2, late, false);
        meter.round(late, begin + MS(80), 1);
        assert_eq!(meter.measured(), Measured::default());
        meter.round(begin + MS(80), begin + MS(110), 1);
        assert_eq!(meter.measured(), Measured { nanos: 30_000_000, operations: 1, held: false });
    }

    #[test]
    fn a_slot_throughout_which_an_operation_lasted_has_no_operations() {
        let begin = Moment::now();
        let measured = |came: u64, rounds: &[(u64, u64)]| {
            let mut meter = Meter::new(begin, begin + MS(100), 0.2, begin + MS(came), false);
            for (from, to) in rounds {
                meter.round(begin + MS(*from), begin + MS(*to), 1);
            }
            meter.measured()
        };
        let held = Measured { nanos: 80_000_000, operations: 0, held: true };
        assert_eq!(measured(0, &[(0, 500)]), held, "the first after a switch");
        assert_eq!(measured(0, &[(0, 10), (10, 100)]), held, "one that began in the lead-in");
        assert_eq!(measured(0, &[(0, 99)]), Measured::default(), "it ended within");
        assert_eq!(measured(60, &[(60, 500)]), Measured::default(), "another target held it first");
        // If it begins in the counted part, all of it is charged.
        let charged = Measured { nanos: 470_000_000, operations: 1, held: false };
        assert_eq!(measured(0, &[(0, 30), (30, 500)]), charged);
    }

    #[test]
    fn every_slot_that_an_operation_takes_from_its_own_target_is_charged() {
        let slices = Slices { seed: 3, lengths: vec![MS(10)], lead_in: 0.2 };
        let start = Moment::now();
        let order: Vec<_> = Timetable::new(&slices, 2).take(12).map(|slot| slot.target).collect();
        let measured = |busy: bool| {
            let mut route = Route::new(&slices, 2, start, false);
            let (mut now, mut at) = (start, 0);
            while now < start + MS(120) {
                at = route.go_on(now).map_or(at, |slot| slot.target);
                // One of the operations, begun in the counted part of a slot, lasts 85 ms.
                let took = if now == start + MS(5) { MS(85) } else { MS(1) };
                route.round(now, now + took, 1);
                now += took;
                if !busy && took > MS(1) {
                    route.waited();
                }
            }
            route.finish(now)
        };
        let held: Vec<Vec<bool>> = measured(true)
            .iter()
            .map(|slots| slots.iter().map(|slot| slot.held).collect())
            .collect();
        let first = order[0];
        // From 5 ms to 90 ms, slots 1 to 8 are skipped. Those of the target that held the client
        // count as held, the others as missed.
        for (index, round) in order.chunks(2).enumerate() {
            for (place, target) in round.iter().enumerate() {
                let slot = 2 * index + place;
                let expected = *target == first && (1..=8).contains(&slot);
                assert_eq!(held[*target][index], expected, "slot {slot}");
            }
        }
        // All of it is charged to the slot where it began.
        assert_eq!(
            measured(true)[first][0],
            Measured { nanos: 88_000_000, operations: 4, held: false }
        );
        // A client that waited was not held.
        assert!(measured(false).iter().flatten().all(|slot| !slot.held));
    }

    #[test]
    fn a_stall_at_the_end_of_a_step_is_charged() {
        let slices = Slices { seed: 3, lengths: vec![MS(10)], lead_in: 0.2 };
        let start = Moment::now();
        let mut route = Route::new(&slices, 2, start, false);
        let target = route.go_on(start).unwrap().target;
        route.round(start, start + MS(100), 1);
        let measured = route.finish(start + MS(100));
        assert!(measured[target].len() == 5 && measured[target].iter().all(|slot| slot.held));
        assert!(measured[1 - target].is_empty());
    }

    #[test]
    fn a_stream_with_a_rate_is_measured_against_the_slot() {
        let begin = Moment::now();
        let mut meter = Meter::new(begin, begin + MS(100), 0.2, begin, true);
        for from in [10, 40, 70] {
            meter.round(begin + MS(from), begin + MS(from + 1), 50);
        }
        assert_eq!(meter.measured(), Measured { nanos: 80_000_000, operations: 100, held: false });
    }

    /// Three identical targets get the same result, although the first operation after a switch is
    /// slow and the last ones of a slot end in another slot. Times are made up, so this passes
    /// either always or never.
    #[test]
    fn no_target_is_favored() {
        let slices = Slices { seed: 9, lengths: vec![MS(10), MS(20)], lead_in: 0.2 };
        let mut rng = Rng::new(6);
        let start = Moment::now();
        let mut route = Route::new(&slices, 3, start, false);
        let (mut now, mut end) = (start, start);
        let mut since_switch = 0;
        while now < start + MS(300_000) {
            route.go_on(now);
            since_switch = if route.slot_end() == end { since_switch + 1 } else { 0 };
            end = route.slot_end();
            let cold = if since_switch == 0 { 900 } else { 0 };
            let took = Duration::from_micros(200 + rng.below(600) + cold);
            route.round(now, now + took, 1);
            now += took;
        }
        for slots in route.finish(now) {
            let operations: u64 = slots.iter().map(|slot| u64::from(slot.operations)).sum();
            let nanos: u64 = slots.iter().map(|slot| slot.nanos).sum();
            let mean = nanos as f64 / operations as f64 / 1e3;
            assert!((mean / 499.5 - 1.0).abs() < 0.005, "{mean} µs");
        }
    }

    /// With very different durations (exponential, a tenth of them twenty times as long) in slots
    /// of about five operations, the ratio of the sums is the rate.
    #[test]
    fn slots_that_cut_operations_do_not_bend_the_rate() {
        let mut rng = Rng::new(5);
        let start = Moment::now();
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
            let measured = meter.measured();
            if !measured.held {
                nanos += measured.nanos;
                operations += u64::from(measured.operations);
            }
        }
        let ratio = (operations as f64 / nanos as f64) / (true_operations / true_nanos);
        assert!((ratio - 1.0).abs() < 0.015, "{ratio}");
    }
}
