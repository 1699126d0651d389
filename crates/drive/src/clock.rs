//! The machine's clocks: the monotonic one, and the wall clock in the two forms a statement needs.

use std::ops::{Add, AddAssign, Sub};
use std::time::{Duration, Instant};

use chrono::DateTime;
use nix::libc::{CLOCK_MONOTONIC, clock_gettime, timespec};
use nix::time::ClockId;
use serde::{Deserialize, Serialize};

/// Nanoseconds of a second.
pub const SECOND: u64 = 1_000_000_000;

/// A moment of the monotonic clock, which all processes of a machine share.
///
/// Clients compute with several moments in every round. A single number of nanoseconds makes that
/// cheaper than [`Instant`], which has seconds and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment(u64);

impl Moment {
    /// Later than all others.
    pub const NEVER: Moment = Moment(u64::MAX);

    /// Reads the clock.
    #[inline]
    pub fn now() -> Moment {
        let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the place to write to is valid. It cannot fail, as Linux always has this clock.
        unsafe { clock_gettime(CLOCK_MONOTONIC, &raw mut time) };
        Moment(time.tv_sec.cast_unsigned() * SECOND + time.tv_nsec.cast_unsigned())
    }

    /// Nanoseconds since `earlier`; 0 if that is later.
    #[inline]
    pub fn nanos_since(self, earlier: Moment) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl From<Instant> for Moment {
    /// The same moment, except for the time between two readings of the clock.
    fn from(instant: Instant) -> Moment {
        let (moment, now) = (Moment::now(), Instant::now());
        let ahead = moment + instant.saturating_duration_since(now);
        Moment(ahead.0.saturating_sub(nanos(now.saturating_duration_since(instant))))
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;

    #[inline]
    fn add(self, duration: Duration) -> Moment {
        Moment(self.0.saturating_add(nanos(duration)))
    }
}

impl AddAssign<Duration> for Moment {
    #[inline]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for Moment {
    type Output = Duration;

    /// The time since `earlier`; zero if that is later.
    #[inline]
    fn sub(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }
}

/// A duration in nanoseconds, which are enough for 584 years.
#[inline]
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Seconds from 1970-01-01 to 2000-01-01, PostgreSQL's epoch.
const POSTGRES_EPOCH: i64 = 946_684_800;

/// The wall clock to the second (UTC), formatted once a second.
#[derive(Debug)]
pub struct WallClock {
    second: i64,
    text: [u8; 19],
    stopped: bool,
}

impl WallClock {
    /// A clock that is set at its first use.
    pub fn new() -> WallClock {
        WallClock { second: i64::MIN, text: *b"1970-01-01 00:00:00", stopped: false }
    }

    /// A clock that always shows `second` (since 1970).
    pub fn stopped(second: i64) -> WallClock {
        let mut clock = WallClock::new();
        clock.set(second);
        clock.stopped = true;
        clock
    }

    /// Reads the system's clock, unless it is stopped. The coarse clock (a few milliseconds) is
    /// good enough, and cheapest.
    #[inline]
    pub fn update(&mut self) {
        if self.stopped {
            return;
        }
        let second = match ClockId::CLOCK_REALTIME_COARSE.now() {
            Ok(time) => time.tv_sec(),
            Err(_) => return,
        };
        if second != self.second {
            self.set(second);
        }
    }

    fn set(&mut self, second: i64) {
        self.second = second;
        if let Some(time) = DateTime::from_timestamp_secs(second) {
            let text = time.format("%Y-%m-%d %H:%M:%S").to_string();
            if let Ok(text) = text.as_bytes().try_into() {
                self.text = text;
            }
        }
    }

    /// `2022-06-16 10:00:00`.
    #[inline]
    pub fn text(&self) -> &[u8; 19] {
        &self.text
    }

    /// PostgreSQL's binary timestamp: microseconds since 2000-01-01.
    #[inline]
    pub fn postgres_micros(&self) -> i64 {
        (self.second - POSTGRES_EPOCH) * 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_tell_the_same_time() {
        let mut clock = WallClock::new();
        clock.set(1_655_373_600);
        assert_eq!(clock.text(), b"2022-06-16 10:00:00");
        assert_eq!(clock.postgres_micros(), 708_688_800 * 1_000_000);
    }

    #[test]
    fn a_stopped_clock_stands_still() {
        let mut clock = WallClock::stopped(1_655_373_600);
        clock.update();
        assert_eq!(clock.text(), b"2022-06-16 10:00:00");
    }

    #[test]
    fn moments_are_as_far_apart_as_instants() {
        let (instant, hour) = (Instant::now(), Duration::from_secs(3600));
        let moment = Moment::from(instant);
        assert!(moment <= Moment::now());
        assert!(Moment::from(instant + hour) > moment + hour / 2);
        assert_eq!((moment + hour) - moment, hour);
        assert_eq!(moment - (moment + hour), Duration::ZERO);
        assert_eq!(Moment::NEVER + hour, Moment::NEVER);
    }

    #[test]
    fn it_tells_the_present() {
        let mut clock = WallClock::new();
        clock.update();
        let now =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
                as i64;
        assert!((clock.second - now).abs() <= 1);
    }
}
