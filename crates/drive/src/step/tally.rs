//! One client's counts for one target: operations per second, latencies, rows.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::histogram::{HIGHEST, empty};
use crate::clock::{SECOND, nanos};
use crate::error::Error;
use crate::slices::slice::Measured;

/// Rows in results, and how many there had to be.
#[derive(Debug, Clone, Copy, Default)]
pub struct Found {
    pub rows: u64,
    /// Minimum, as the streams declare for their queries.
    pub least: f64,
    /// Upper bound on the variance of the difference.
    pub variance: f64,
}

/// The rounds that ended in one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Second {
    pub operations: u32,
    /// The longest latency in microseconds.
    pub worst_us: u32,
}

/// How late scheduled rounds began, in nanoseconds, for each of the two possible reasons.
#[derive(Debug)]
pub struct Late {
    /// The client had nothing else to do, but did not begin them, or those before, in time.
    pub by_client: Histogram<u32>,
    /// The answer to the round before had not come.
    pub by_server: Histogram<u32>,
    /// So late was the latest round because of the client.
    clients: u64,
}

/// The counts of one client for one target.
#[derive(Debug)]
pub struct Tally {
    /// Operations of rounds that ended within the step's time.
    pub operations: u64,
    /// Rounds that ended within the step's time.
    pub rounds: u64,
    /// Rounds begun and ended, including those after the step's time.
    pub all_rounds: u64,
    /// Operations of rounds that ended in left-out seconds, or after the step's time.
    pub left_out: u64,
    /// Rows in results.
    pub found: Found,
    /// Scheduled rounds that did not begin in time.
    pub missed: u64,
    /// How late the others were; `None` without a schedule.
    pub begun: Option<Box<Late>>,
    /// By the second in which a round ended.
    pub seconds: Vec<Second>,
    /// Latencies in nanoseconds.
    pub latency: Histogram<u32>,
    /// All of them together, exactly.
    pub latency_ns: u64,
    /// Measurements of the target's slots, by round. Empty for streams that don't count.
    pub slices: Vec<Measured>,
    /// Errors that a retry cured, by SQLSTATE.
    pub retried: Vec<(String, String, u64)>,
    /// Errors by which rounds failed that do not count, by SQLSTATE.
    pub failed: Vec<(String, String, u64)>,
    /// Rounds known beforehand that failed though they had not, or the other way round.
    pub differ: u64,
    /// Rounds that were skipped because they were late.
    pub skipped: u64,
    /// Rounds that took longer than they may.
    pub late: u64,
    /// The step's time is over: errors don't count.
    pub over: bool,
}

impl Tally {
    /// Counts for a step of `seconds` seconds, if known beforehand.
    pub fn new(seconds: Option<f64>) -> Tally {
        let room = seconds.map_or(64, |seconds| seconds.clamp(1.0, 100_000.0).ceil() as usize);
        Tally {
            operations: 0,
            rounds: 0,
            all_rounds: 0,
            left_out: 0,
            found: Found::default(),
            missed: 0,
            begun: None,
            seconds: Vec::with_capacity(room),
            latency: empty(),
            latency_ns: 0,
            slices: Vec::new(),
            retried: Vec::new(),
            failed: Vec::new(),
            differ: 0,
            skipped: 0,
            late: 0,
            over: false,
        }
    }

    /// A round ended `at` nanoseconds after the start and took `latency` nanoseconds. `in_time`
    /// says whether that was within the step's time; later ones count only for latency.
    #[inline]
    pub fn round(&mut self, at: u64, latency: u64, operations: u64, in_time: bool) {
        self.all_rounds += 1;
        self.took(latency);
        if !in_time {
            return;
        }
        self.rounds += 1;
        self.operations += operations;
        let second = (at / SECOND) as usize;
        if second >= self.seconds.len() {
            self.go_on_to(second);
        }
        let second = &mut self.seconds[second];
        second.operations = second.operations.saturating_add(operations as u32);
        second.worst_us = second.worst_us.max((latency / 1000).min(u32::MAX.into()) as u32);
    }

    #[cold]
    fn go_on_to(&mut self, second: usize) {
        self.seconds.resize(second + 1, Second::default());
    }

    /// A latency in nanoseconds.
    #[inline]
    fn took(&mut self, nanos: u64) {
        let nanos = nanos.clamp(1, HIGHEST);
        // Fails only for a value that no histogram can grow to; HIGHEST is far from that.
        let _ = self.latency.record(nanos);
        self.latency_ns = self.latency_ns.saturating_add(nanos);
    }

    /// A scheduled round begins so many nanoseconds late. `idle`: its client had nothing to do
    /// until it was due. Otherwise, the client has no larger part in it than in the round before,
    /// since it would have caught up.
    pub fn begins(&mut self, late: u64, idle: bool) {
        let idle = idle || self.begun.is_none();
        let empty = || Box::new(Late { by_client: empty(), by_server: empty(), clients: 0 });
        let begun = self.begun.get_or_insert_with(empty);
        begun.clients = if idle { late } else { late.min(begun.clients) };
        // As for latencies.
        let _ = begun.by_client.record(begun.clients.min(HIGHEST));
        let _ = begun.by_server.record((late - begun.clients).min(HIGHEST));
    }

    /// A round ended after the measured part, while the target is completed. It says nothing about
    /// how fast the step is.
    pub fn completed(&mut self, operations: u64) {
        self.all_rounds += 1;
        self.rounds += 1;
        self.operations += operations;
    }

    /// A round ended in unmeasured time.
    pub fn left_out(&mut self, operations: u64) {
        self.all_rounds += 1;
        self.left_out += operations;
    }

    /// Scheduled rounds that never began, and how long each had waited by the step's end.
    pub fn missed(&mut self, waited: impl Iterator<Item = Duration>) {
        for wait in waited {
            self.missed += 1;
            self.took(nanos(wait));
        }
    }

    /// An error after which the round was retried.
    pub fn retried(&mut self, error: &Error) {
        if !self.over {
            add(&mut self.retried, error);
        }
    }

    /// An error by which a round failed that does not count.
    pub fn failed(&mut self, error: &Error) {
        if !self.over {
            add(&mut self.failed, error);
        }
    }
}

fn add(errors: &mut Vec<(String, String, u64)>, error: &Error) {
    let state = error.code().unwrap_or_default();
    match errors.iter_mut().find(|(known, ..)| known == state) {
        Some((.., count)) => *count += 1,
        None => errors.push((state.to_owned(), error.to_string(), 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_count_in_the_second_they_end_in() {
        let mut tally = Tally::new(Some(3.0));
        let ms = |ms: u64| ms * 1_000_000;
        tally.round(ms(500), ms(500), 50, true);
        tally.round(ms(1500), ms(20), 50, true);
        tally.round(ms(1999), ms(40), 50, true);
        tally.round(ms(3100), ms(1101), 50, false);
        let second = |operations, worst_us| Second { operations, worst_us };
        assert_eq!(tally.seconds, [second(50, 500_000), second(100, 40_000)]);
        assert_eq!((tally.operations, tally.rounds, tally.all_rounds), (150, 3, 4));
        assert_eq!((tally.latency.len(), tally.latency_ns), (4, ms(1661)));
    }
}
