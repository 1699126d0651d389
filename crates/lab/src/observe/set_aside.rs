//! Activity of servers while another one has the load, and which slices to set aside because of it.
//!
//! [`crate::observe::watch`] takes the readings. A slice is set aside
//!
//! 1. when the servers that should be idle used more CPU than [`IDLE_LIMIT`] of its length: a
//!    checkpoint, autovacuum or another process of theirs ran during the measurement;
//! 2. in a step whose clients only read, as fast as they can: when the device was written to at
//!    more than [`BURST_FLOOR`] and more than [`BURST`] times the usual pace while this server has
//!    the load (the 95th percentile over its slices). Then writes that another server, or the
//!    kernel for it, had put off fell into the slice;
//! 3. when the hypervisor had the CPUs of server and clients, or other processes had them while the
//!    server's could have run: for a share of the time that is [`LOST`] above the median over its
//!    slices. CPU time of the server's own other processes does not count as that of others. The
//!    kernel shows what was stolen in ticks of 10 ms, so a slice of 40 ms is set aside for one,
//!    unless one in two has as much.
//!
//! No rule looks at the rate that was measured, and all are the same for all variants. A server's
//! own checkpoints and its own writing belong to it and stay in its slices. That is why the second
//! rule is left out where clients write: nothing tells a server's own bursts from those of others
//! there. (Control groups don't either, under version 1: writes that a process has synchronized are
//! not charged to its group.)
//!
//! The limits come from recordings of two servers of the same version. Of the slices of l.i0 and
//! qp100 half saw an idle server use nothing and 90% less than 0.3% (3% where servers were not kept
//! on some CPUs), while a checkpointer or an autovacuum worker used 25% to 76%, and a statement
//! that outlasted its slice up to 100%. Loading, a server wrote its log at 35 MB/s, and at 130 MB/s
//! to 1 GB/s when it filled a new segment of it, in 2% to 5% of its slices: these were 11% slower,
//! by its own doing. Point queries saw 0.3 MB/s in 95% of the slices and up to 160 MB/s in the
//! others.

use drive::Slice;
use metrics::SliceReason;

/// Share of a slice that all idle servers together may use on CPU.
pub const IDLE_LIMIT: f64 = 0.05;
/// A burst is this many times the usual pace.
pub const BURST: f64 = 2.0;
/// The quantile of the paces of writing up to which they are usual.
pub const USUAL: f64 = 0.95;
/// Share of a slice that others may have the CPUs beyond what is usual.
pub const LOST: f64 = 0.1;
/// Bytes per second below which writing is not a burst, whatever is usual.
pub const BURST_FLOOR: f64 = 16.0 * 1024.0 * 1024.0;

/// Readings from the measured part of a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The round.
    pub round: u32,
    /// The target that had the load.
    pub target: usize,
    /// Share of the time that the other servers together used on CPU; above 1 if they used more
    /// than one core. NaN if unknown.
    pub idle: f64,
    /// Bytes per second written to the device; NaN if unknown.
    pub written: f64,
    /// Share of the time that the hypervisor had the CPUs; NaN if unknown.
    pub stolen: f64,
    /// Time that clients and the processes that serve them waited for a CPU, as a share of their
    /// CPUs' time; NaN if unknown. A little is usual: a process that is woken waits until the other
    /// sleeps.
    pub crowded: f64,
}

/// All readings of a watcher.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// One for each slot in which both readings could be taken, in order of time.
    pub readings: Vec<Reading>,
    /// CPU time that watching took, in µs.
    pub cost_us: u64,
    /// Notes about what could not be watched.
    pub notes: Vec<String>,
}

/// The readings of each slice of one target, in their order; NaN where there is none.
pub fn of_target(seen: &Seen, target: usize, slices: &[Slice]) -> Vec<Reading> {
    let mut own = seen.readings.iter().filter(|reading| reading.target == target).peekable();
    slices
        .iter()
        .map(|slice| {
            while own.next_if(|reading| reading.round < slice.round).is_some() {}
            let found = own.next_if(|reading| reading.round == slice.round);
            found.copied().unwrap_or(Reading {
                round: slice.round,
                target,
                idle: f64::NAN,
                written: f64::NAN,
                stolen: f64::NAN,
                crowded: f64::NAN,
            })
        })
        .collect()
}

/// Which slices of one target count, given what was seen in them; `reads` where its clients only
/// read as fast as they can.
pub fn reasons(readings: &[Reading], slices: &[Slice], reads: bool) -> Vec<SliceReason> {
    let mut paces: Vec<f64> =
        readings.iter().map(|reading| reading.written).filter(|pace| !pace.is_nan()).collect();
    paces.sort_by(f64::total_cmp);
    let place = (paces.len() as f64 * USUAL) as usize;
    let usual = paces.get(place.min(paces.len().saturating_sub(1))).copied().unwrap_or(0.0);
    let burst = (BURST * usual).max(BURST_FLOOR);
    let lost = |of: fn(&Reading) -> f64| {
        let known: Vec<f64> = readings.iter().map(of).filter(|share| !share.is_nan()).collect();
        judge::median(&known).unwrap_or(0.0) + LOST
    };
    let (stolen, crowded) = (lost(|reading| reading.stolen), lost(|reading| reading.crowded));
    slices
        .iter()
        .zip(readings)
        .map(|(slice, reading)| {
            // A comparison with NaN is false, so a slice without a reading is not set aside.
            if slice.rate().is_none() {
                SliceReason::NotMeasured
            } else if reading.idle > IDLE_LIMIT {
                SliceReason::IdleServer
            } else if reads && reading.written > burst {
                SliceReason::Writeback
            } else if reading.stolen > stolen {
                SliceReason::Stolen
            } else if reading.crowded > crowded {
                SliceReason::Crowded
            } else {
                SliceReason::Measured
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const MS: Duration = Duration::from_millis(1);

    fn slices(count: u32) -> Vec<Slice> {
        let slice = |round| Slice {
            round,
            begin: 40 * MS * round,
            length: 20 * MS,
            operations: 10,
            seconds: 0.016,
            held: 0.0,
        };
        (0..count).map(slice).collect()
    }

    #[test]
    fn slices_are_set_aside_for_what_others_did() {
        let mut slices = slices(60);
        (slices[7].operations, slices[7].seconds) = (0, 0.0);
        // A server that held all its clients is charged for it.
        (slices[8].operations, slices[8].seconds, slices[8].held) = (0, 0.0, 0.016);
        let usual =
            Reading { round: 0, target: 1, idle: 0.01, written: 8e6, stolen: 0.0, crowded: 0.02 };
        let mut seen = Seen::default();
        for round in 0..60 {
            // Readings of another target don't matter, and neither does a missing one.
            seen.readings.push(Reading { round, target: 0, idle: 0.5, written: 1e9, ..usual });
            match round {
                2 => seen.readings.push(Reading { round, idle: 0.06, ..usual }),
                3 => seen.readings.push(Reading { round, written: 40e6, ..usual }),
                4 => seen.readings.push(Reading { round, written: 16e6, ..usual }),
                5 => {}
                10 => seen.readings.push(Reading { round, stolen: 0.31, ..usual }),
                11 => seen.readings.push(Reading { round, crowded: 0.4, ..usual }),
                _ => seen.readings.push(Reading { round, ..usual }),
            }
        }
        let readings = of_target(&seen, 1, &slices);
        assert!(readings[5].idle.is_nan() && readings[6].round == 6);
        let reasons = reasons(&readings, &slices, true);
        for (round, reason) in reasons.iter().enumerate() {
            let expected = match round {
                2 => SliceReason::IdleServer,
                3 => SliceReason::Writeback,
                10 => SliceReason::Stolen,
                11 => SliceReason::Crowded,
                7 => SliceReason::NotMeasured,
                _ => SliceReason::Measured,
            };
            assert_eq!(*reason, expected, "round {round}");
        }
    }

    #[test]
    fn a_server_that_is_written_to_answers_for_what_is_written() {
        let slices = slices(60);
        let reading = |slice: &Slice| {
            let written = if slice.round == 30 { 1e9 } else { 35e6 };
            Reading {
                round: slice.round,
                target: 0,
                idle: 0.0,
                written,
                stolen: f64::NAN,
                crowded: f64::NAN,
            }
        };
        let readings: Vec<_> = slices.iter().map(reading).collect();
        let measured = |reads| {
            let reasons = reasons(&readings, &slices, reads);
            reasons.iter().filter(|reason| **reason == SliceReason::Measured).count()
        };
        assert_eq!((measured(false), measured(true)), (60, 59));
    }
}
