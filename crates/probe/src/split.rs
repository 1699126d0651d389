//! Splitting an exact CPU time into user and system by the proportions of coarse ticks.

/// Keeps user and system time monotonic while their proportions, known only in ticks, change.
///
/// The kernel does the same for `/proc/PID/stat` (`cputime_adjust` in kernel/sched/cputime.c): the
/// sum is exact, and the parts follow the ticks unless one would run backwards.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Split {
    user_us: u64,
    system_us: u64,
}

impl Split {
    /// `(user, system)` in µs whose sum is `total_us`, or the last values if the total fell.
    pub(crate) fn advance(
        &mut self,
        total_us: u64,
        user_ticks: u64,
        system_ticks: u64,
    ) -> (u64, u64) {
        if total_us > self.user_us + self.system_us {
            let ticks = u128::from(user_ticks) + u128::from(system_ticks);
            let share = (u128::from(total_us) * u128::from(system_ticks)).checked_div(ticks);
            let system = share.map_or(0, |share| u64::try_from(share).unwrap_or(total_us));
            // The total grew, so at least one of the two has room above its last value.
            let system = system.max(self.system_us).min(total_us - self.user_us);
            self.system_us = system;
            self.user_us = total_us - system;
        }
        (self.user_us, self.system_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn follows_the_ticks() {
        let mut split = Split::default();
        assert_eq!(split.advance(1_000, 0, 0), (1_000, 0));
        assert_eq!(split.advance(4_000, 1, 1), (2_000, 2_000));
        assert_eq!(split.advance(3_000, 1, 9), (2_000, 2_000));
        assert_eq!(split.advance(8_000, 1, 3), (2_000, 6_000));
    }

    proptest! {
        #[test]
        fn neither_part_ever_falls(steps in prop::collection::vec((0u64..1 << 50, any::<u64>(), any::<u64>()), 1..50)) {
            let mut split = Split::default();
            let mut last = (0, 0);
            let mut highest = 0;
            for (total, user, system) in steps {
                let now = split.advance(total, user, system);
                highest = highest.max(total);
                prop_assert!(now.0 >= last.0 && now.1 >= last.1);
                prop_assert_eq!(now.0 + now.1, highest);
                last = now;
            }
        }
    }
}
