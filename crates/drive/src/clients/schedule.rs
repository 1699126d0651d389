//! When the rounds of a stream with a rate are due.

use std::sync::Arc;
use std::time::Duration;

use workload::{Pace, Rng};

use crate::clock::Moment;

/// Maximum number of a stream's missed rounds whose waiting goes into the histogram.
const MISSED_RECORDED: usize = 1_000_000;

/// The schedule of a stream with a rate.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// When the next round is due.
    pub next: Moment,
    first: Moment,
    interval: f64,
    /// Intervals from the first round to the next.
    passed: f64,
    /// Draws how many intervals lie between two rounds; without it, one does.
    random: Option<Rng>,
    /// The times after the first moment of rounds that have no interval, and which is next.
    times: Option<(Arc<[Duration]>, usize)>,
}

impl Schedule {
    /// The schedule of a stream with a rate; `None` for other streams. `phase` is the fraction of
    /// an interval, 0 to 1, before the first round, unless the times are random.
    pub fn new(pace: &Pace, start: Moment, phase: f64, rng: &mut Rng) -> Option<Schedule> {
        let (rate, random) = match pace {
            Pace::Rate(rate) => (rate, None),
            Pace::Poisson(rate) => (rate, Some(Rng::new(rng.next_u64()))),
            Pace::At(times) => return Some(Schedule::at(start, times)),
            Pace::Free | Pace::Follow(_) => return None,
        };
        let interval = 1.0 / rate.max(1e-6);
        let at = |first, random| Schedule {
            next: first,
            first,
            interval,
            passed: 0.0,
            random,
            times: None,
        };
        Some(match random {
            None => at(start + Duration::from_secs_f64(interval * phase), None),
            random => {
                let mut schedule = at(start, random);
                schedule.advance();
                schedule
            }
        })
    }

    fn at(start: Moment, times: &Arc<[Duration]>) -> Schedule {
        Schedule {
            next: times.first().map_or(Moment::NEVER, |first| start + *first),
            first: start,
            interval: 0.0,
            passed: 0.0,
            random: None,
            times: Some((Arc::clone(times), 0)),
        }
    }

    /// Computed from the first time, not the last, so rounding errors don't add up.
    pub fn advance(&mut self) {
        if let Some((times, place)) = &mut self.times {
            *place += 1;
            self.next = times.get(*place).map_or(Moment::NEVER, |time| self.first + *time);
            return;
        }
        self.passed += self.random.as_mut().map_or(1.0, exponential);
        self.next = self.first + Duration::from_secs_f64(self.interval * self.passed);
    }

    /// Leaves out a period in which it was not the stream's turn.
    pub fn leave_out(&mut self, idle: Duration) {
        self.first += idle;
        self.next += idle;
    }

    /// How long rounds that were due but did not begin have waited by `end`.
    pub fn waits_until(&self, end: Moment) -> impl Iterator<Item = Duration> {
        let mut schedule = self.clone();
        let wait = move || {
            let due = schedule.next;
            schedule.advance();
            (due < end).then(|| end - due)
        };
        std::iter::from_fn(wait).take(MISSED_RECORDED)
    }
}

/// A draw from the exponential distribution with mean 1, by inversion.
fn exponential(rng: &mut Rng) -> f64 {
    // In (0, 1], so that its logarithm is finite.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
    -uniform.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_does_not_drift() {
        let start = Moment::now();
        let mut schedule = Schedule::new(&Pace::Rate(3.0), start, 0.0, &mut Rng::new(1)).unwrap();
        for _ in 0..3000 {
            schedule.advance();
        }
        let off = (schedule.next - start).as_secs_f64() - 1000.0;
        assert!(off.abs() < 1e-6, "{off}");
    }

    #[test]
    fn given_times_are_kept() {
        let start = Moment::now();
        let times: Vec<Duration> = [0, 5, 5, 900].map(Duration::from_millis).into();
        let pace = Pace::At(times.clone().into());
        let mut schedule = Schedule::new(&pace, start, 0.5, &mut Rng::new(1)).unwrap();
        for time in times {
            assert_eq!(schedule.next, start + time);
            schedule.advance();
        }
        assert_eq!(schedule.next, Moment::NEVER);
        assert_eq!(schedule.waits_until(start + Duration::from_secs(9)).count(), 0);
    }

    #[test]
    fn time_without_a_turn_is_left_out() {
        let start = Moment::now();
        let mut schedule = Schedule::new(&Pace::Rate(10.0), start, 0.5, &mut Rng::new(1)).unwrap();
        schedule.advance();
        schedule.leave_out(Duration::from_secs(7));
        assert_eq!(schedule.next - start, Duration::from_millis(7150));
        schedule.advance();
        assert_eq!(schedule.next - start, Duration::from_millis(7250));
    }

    #[test]
    fn rounds_that_never_began_have_waited() {
        let start = Moment::now();
        let schedule = Schedule::new(&Pace::Rate(2.0), start, 0.0, &mut Rng::new(1)).unwrap();
        let waits: Vec<_> = schedule
            .waits_until(start + Duration::from_millis(1200))
            .map(|w| w.as_millis())
            .collect();
        assert_eq!(waits, [1200, 700, 200]);
        assert_eq!(schedule.waits_until(start).count(), 0);
    }
    #[test]
    fn random_times_have_the_rate_and_scatter_as_those_of_a_poisson_process() {
        let start = Moment::now();
        let mut schedule =
            Schedule::new(&Pace::Poisson(100.0), start, 0.0, &mut Rng::new(7)).unwrap();
        let mut gaps = Vec::new();
        let mut last = start;
        for _ in 0..100_000 {
            gaps.push((schedule.next - last).as_secs_f64());
            last = schedule.next;
            schedule.advance();
        }
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean * 100.0 - 1.0).abs() < 0.015, "{mean}");
        // Kolmogorov-Smirnov distance to the exponential distribution; 0.1% exceed 1.95 / √n.
        gaps.sort_by(f64::total_cmp);
        let n = gaps.len() as f64;
        let off = |(place, gap): (usize, &f64)| {
            (1.0 - (-gap * 100.0).exp() - (place as f64 + 0.5) / n).abs()
        };
        let distance = gaps.iter().enumerate().map(off).fold(0.0, f64::max);
        assert!(distance < 1.95 / n.sqrt(), "{distance}");
        // Those that never began are the ones that would have come.
        let first = schedule.next;
        assert!(schedule.waits_until(first + Duration::from_secs(10)).count().abs_diff(1000) < 150);
    }
}
