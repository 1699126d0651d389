//! The settings that go by the clock, with their built-in values.

use super::engine::StorageEngine;
use super::version::Version;
use crate::Timer;

/// The setting that limits InnoDB's work in the background, in pages per second. The page cleaner
/// works once a second, for at most this many pages.
const CAPACITY: &str = "innodb_io_capacity";
const MOST_CAPACITY: &str = "innodb_io_capacity_max";

/// Periods of InnoDB: when the log is flushed that commits don't flush, how many seconds' work the
/// page cleaner averages, and after how long a page that is read again counts as used often.
const PERIODS: [Timer; 3] = [
    Timer::period("innodb_flush_log_at_timeout", 1, 2700, ""),
    Timer::period("innodb_flushing_avg_loops", 30, 1000, ""),
    Timer::period("innodb_old_blocks_time", 1000, 4_294_967_295, ""),
];

/// The built-in capacity, and that of MySQL from a version on.
const USUAL: u64 = 200;
const NEWER: (u32, u64) = (80_400, 10_000);
/// The lowest built-in value of the other limit, which is otherwise twice the capacity.
const LEAST: u64 = 2000;

/// The settings of a server. A version that can't be read has no known capacity.
pub(super) fn of(version: Option<Version>, engine: StorageEngine) -> Vec<Timer> {
    let mut timers = PERIODS.to_vec();
    if let Some(Version { mariadb, number }) = version {
        let capacity = if !mariadb && number >= NEWER.0 { NEWER.1 } else { USUAL };
        let most = LEAST.max(2 * capacity);
        timers.push(Timer::rate(CAPACITY, capacity, 100).unless(&[MOST_CAPACITY]));
        timers.push(Timer::rate(MOST_CAPACITY, most, 100).unless(&[CAPACITY]));
    }
    if engine == StorageEngine::MyRocks {
        let others = &["rocksdb_rate_limiter_bytes_per_sec"];
        timers.push(Timer::rate("rocksdb_delayed_write_rate", 16 << 20, 1).unless(others));
    }
    timers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capacity_is_divided_where_it_is_known() {
        let halves = |version: &str| {
            let timers = of(Version::read(version), StorageEngine::InnoDb);
            let rates = timers[PERIODS.len()..].iter().map(|it| (it.name, it.for_parts(2)));
            rates.collect::<Vec<_>>()
        };
        let known = |capacity: &str, most: &str| {
            vec![(CAPACITY, capacity.to_owned()), (MOST_CAPACITY, most.to_owned())]
        };
        for version in ["5.6.24", "8.0.31", "10.4.34-MariaDB", "11.4.8-MariaDB"] {
            assert_eq!(halves(version), known("100", "1000"), "{version}");
        }
        assert_eq!(halves("8.4.0"), known("5000", "10000"));
        assert_eq!(halves("unknown"), []);
    }

    #[test]
    fn only_myrocks_has_its_settings() {
        let last = |engine| of(Version::read("10.11.5-MariaDB"), engine).last().unwrap().name;
        assert_eq!(last(StorageEngine::MyRocks), "rocksdb_delayed_write_rate");
        assert_eq!(last(StorageEngine::InnoDb), MOST_CAPACITY);
    }
}
