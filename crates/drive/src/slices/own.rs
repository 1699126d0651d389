//! The clock of a target that is frozen while others have the load.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::{Moment, nanos};

/// Set while the clock is stopped. The other bits are then the time that it shows, otherwise how
/// far it is behind.
const STANDS: u64 = 1 << 63;
/// Set while it is being stopped: nobody reads a time that is later than the one it will show.
const STOPPING: u64 = u64::MAX;

/// A clock that is stopped while its target is frozen. One thread stops and restarts it; any may
/// read it.
///
/// Before it is first stopped, it shows the same as [`Moment::now`].
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct OwnClock(AtomicU64);

impl OwnClock {
    /// Its time.
    #[inline]
    pub fn now(&self) -> Moment {
        self.read(Moment::now)
    }

    /// The time it shows when another clock reads `now`.
    fn read(&self, now: impl Fn() -> Moment) -> Moment {
        loop {
            let state = self.0.load(Ordering::Acquire);
            if state == STOPPING {
                std::thread::yield_now();
                continue;
            }
            if let Some(shown) = standing(state) {
                return shown;
            }
            let now = now();
            // It may have been stopped in the meantime, however long ago.
            if self.0.load(Ordering::Acquire) == state {
                return Moment::ZERO + (now - (Moment::ZERO + Duration::from_nanos(state)));
            }
        }
    }

    /// True while it is stopped.
    pub fn stands(&self) -> bool {
        standing(self.0.load(Ordering::Acquire)).is_some()
    }

    /// Stops it at `time`.
    pub fn stand_at(&self, time: Moment) {
        self.0.store(STANDS | nanos(time - Moment::ZERO), Ordering::Release);
    }

    /// Stops it now. Returns the machine's time at that moment.
    pub fn stop(&self) -> Moment {
        self.stop_by(Moment::now)
    }

    fn stop_by(&self, now: impl FnOnce() -> Moment) -> Moment {
        let state = self.0.swap(STOPPING, Ordering::AcqRel);
        // Read afterwards, so that no reader has seen a later time.
        let now = now();
        let behind = || Moment::ZERO + Duration::from_nanos(state);
        self.stand_at(standing(state).unwrap_or_else(|| Moment::ZERO + (now - behind())));
        now
    }

    /// Restarts it at `now`.
    pub fn go_on(&self, now: Moment) {
        if let Some(shown) = standing(self.0.load(Ordering::Acquire)) {
            self.0.store(nanos(now - shown), Ordering::Release);
        }
    }
}

fn standing(state: u64) -> Option<Moment> {
    let shown = Duration::from_nanos(state & !STANDS);
    (state & STANDS != 0).then(|| Moment::ZERO + shown)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn its_time_is_the_sum_of_its_slots() {
        let start = Moment::now();
        let clock = OwnClock::default();
        assert_eq!(clock.read(|| start + MS), start + MS, "not frozen yet");
        clock.stand_at(start);
        let mut own = Duration::ZERO;
        // Slots of these lengths, and how long others had the load before them.
        for (at, (others, length)) in [(0, 50), (70, 51), (49, 100), (3000, 1)].iter().enumerate() {
            let begin = start + MS * 200 * at as u32 + MS * *others;
            assert_eq!(clock.read(|| begin), start + own, "slot {at}");
            assert!(clock.stands());
            clock.go_on(begin);
            assert_eq!(clock.read(|| begin + MS / 2), start + own + MS / 2);
            own += MS * *length;
            clock.stop_by(|| begin + MS * *length);
            assert_eq!(clock.read(|| begin + 9000 * MS), start + own);
        }
        assert_eq!(own, 202 * MS);
    }

    #[test]
    fn a_clock_that_goes_on_is_not_moved() {
        let start = Moment::now();
        let clock = OwnClock::default();
        clock.stand_at(start);
        clock.go_on(start + MS);
        clock.go_on(start + 5 * MS);
        assert_eq!(clock.read(|| start + 9 * MS), start + 8 * MS);
    }

    /// A reader that is interrupted between its looks never shows a time that the clock did not
    /// have.
    #[test]
    fn it_never_runs_backward_for_any_reader() {
        let clock = OwnClock::default();
        let start = Moment::now();
        clock.stand_at(start);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut last = start;
                    while !over.load(Ordering::Relaxed) {
                        let now = clock.now();
                        // A CPU may read its counter a little later than it looks at the state.
                        assert!(now + MS / 1000 >= last);
                        last = now;
                    }
                });
            }
            for _ in 0..20_000 {
                clock.go_on(Moment::now());
                clock.stop();
            }
            over.store(true, Ordering::Relaxed);
        });
        assert!(clock.now() - start <= Moment::now() - start);
    }
}
