//! The wall clock to the second, in the two forms a statement needs.

use chrono::DateTime;
use nix::time::{ClockId, clock_gettime};

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
        let second = match clock_gettime(ClockId::CLOCK_REALTIME_COARSE) {
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
    fn it_tells_the_present() {
        let mut clock = WallClock::new();
        clock.update();
        let now =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
                as i64;
        assert!((clock.second - now).abs() <= 1);
    }
}
