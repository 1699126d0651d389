//! When the rounds of a stream with a rate are due.

use std::time::Duration;

use workload::Pace;

use crate::clock::Moment;

/// Maximum number of a stream's missed rounds whose waiting goes into the histogram.
const MISSED_RECORDED: u64 = 1_000_000;

/// The schedule of a stream with a rate.
#[derive(Debug)]
pub struct Schedule {
    /// When the next round is due.
    pub next: Moment,
    first: Moment,
    interval: f64,
    rounds: u64,
}

impl Schedule {
    /// The schedule of a stream with a rate; others have none. `phase` is the fraction of an
    /// interval, 0 to 1, before the first round.
    pub fn new(pace: &Pace, start: Moment, phase: f64) -> Option<Schedule> {
        let Pace::Rate(rate) = pace else { return None };
        let interval = 1.0 / rate.max(1e-6);
        let first = start + Duration::from_secs_f64(interval * phase);
        Some(Schedule { next: first, first, interval, rounds: 0 })
    }

    /// From the first time and not from the last, so rounding errors don't add up.
    pub fn advance(&mut self) {
        self.rounds += 1;
        self.next = self.first + Duration::from_secs_f64(self.interval * self.rounds as f64);
    }

    /// Leaves out a period in which it was not the stream's turn.
    pub fn leave_out(&mut self, idle: Duration) {
        self.first += idle;
        self.next += idle;
    }

    /// How long rounds that were due but did not begin have waited by `end`.
    pub fn waits_until(&self, end: Moment) -> impl Iterator<Item = Duration> {
        let waited = end - self.next;
        let overdue = end > self.next;
        let count = if overdue { (waited.as_secs_f64() / self.interval) as u64 + 1 } else { 0 };
        let interval = self.interval;
        (0..count.min(MISSED_RECORDED)).map(move |index| {
            waited.saturating_sub(Duration::from_secs_f64(interval * index as f64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_does_not_drift() {
        let start = Moment::now();
        let mut schedule = Schedule::new(&Pace::Rate(3.0), start, 0.0).unwrap();
        for _ in 0..3000 {
            schedule.advance();
        }
        let off = (schedule.next - start).as_secs_f64() - 1000.0;
        assert!(off.abs() < 1e-6, "{off}");
    }

    #[test]
    fn time_without_a_turn_is_left_out() {
        let start = Moment::now();
        let mut schedule = Schedule::new(&Pace::Rate(10.0), start, 0.5).unwrap();
        schedule.advance();
        schedule.leave_out(Duration::from_secs(7));
        assert_eq!(schedule.next - start, Duration::from_millis(7150));
        schedule.advance();
        assert_eq!(schedule.next - start, Duration::from_millis(7250));
    }

    #[test]
    fn rounds_that_never_began_have_waited() {
        let start = Moment::now();
        let schedule = Schedule::new(&Pace::Rate(2.0), start, 0.0).unwrap();
        let waits: Vec<_> = schedule
            .waits_until(start + Duration::from_millis(1200))
            .map(|w| w.as_millis())
            .collect();
        assert_eq!(waits, [1200, 700, 200]);
        assert_eq!(schedule.waits_until(start).count(), 0);
    }
}
