//! The text of the property `rocksdb.stats`. Its layout varies between versions, so figures are
//! found by the words before and after them.

use crate::{Counter, Snapshot};

/// Views of its counters: its statistics, the files of each level, and its process.
pub(super) const STATS: &str = "rocksdb.stats";
pub(super) const LEVELS: &str = "rocksdb.levels";
pub(super) const PROCESS: &str = "process";

/// 2^30 bytes, which the text calls GB.
const GB: f64 = (1_u64 << 30) as f64;

/// Figures since the database was opened; NaN for what the text lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stats {
    /// Bytes written by flushes, to 1 MB.
    pub(super) flushed: f64,
    /// Bytes written by flushes and compactions, to 10 MB.
    pub(super) written: f64,
    /// Bytes read by compactions, to 10 MB.
    pub(super) read: f64,
    /// Seconds and CPU seconds of flushes and compactions, to 10 ms.
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
    /// Their number.
    pub(super) jobs: f64,
    /// Seconds in which writers waited, to 1 ms.
    pub(super) stalled: f64,
    /// How often they had to.
    pub(super) stalls: f64,
}

impl Stats {
    /// Reads the text.
    pub(super) fn read(text: &str) -> Stats {
        let unknown = f64::NAN;
        let mut stats = Stats {
            flushed: unknown,
            written: unknown,
            read: unknown,
            seconds: unknown,
            cpu_seconds: unknown,
            jobs: unknown,
            stalled: unknown,
            stalls: unknown,
        };
        let mut columns: Vec<&str> = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with("Level ") && line.contains("Files") {
                columns = line.split_ascii_whitespace().collect();
            } else if line.starts_with("Sum ") && stats.jobs.is_nan() {
                let of = |name: &str| sum(line, &columns, name);
                stats.seconds = of("Comp(sec)");
                stats.cpu_seconds = of("CompMergeCPU(sec)");
                stats.jobs = of("Comp(cnt)");
            } else if let Some(rest) = line.strip_prefix("Flush(GB): cumulative ") {
                stats.flushed = GB * number(rest);
            } else if let Some(rest) = line.strip_prefix("Cumulative compaction: ") {
                stats.written = GB * number(rest);
                let read = rest.split(", ").find(|part| part.ends_with("GB read"));
                stats.read = GB * read.map_or(f64::NAN, number);
            } else if let Some(rest) = line.strip_prefix("Cumulative stall: ") {
                stats.stalled = clock(rest.split(' ').next().unwrap_or_default());
            } else if let Some(rest) = line.strip_prefix("Stalls(count): ") {
                let causes = rest.split(", ").filter(|part| is_cause(part));
                stats.stall(causes.map(number).sum());
            } else if let Some(rest) = line.strip_prefix("Write Stall (count): ") {
                let causes = rest.split(", ").filter(|part| is_cause(part));
                let counts = causes.filter_map(|part| Some(number(part.rsplit_once(": ")?.1)));
                stats.stall(counts.sum());
            }
        }
        stats
    }

    /// Adds stalls, which are on several lines in some versions.
    fn stall(&mut self, times: f64) {
        self.stalls = if self.stalls.is_nan() { times } else { self.stalls + times };
    }
}

/// True if this counts a cause of stalls, not repeats of one and not a total.
fn is_cause(part: &str) -> bool {
    let again = ["with_compaction", "with-ongoing-compaction"].iter().any(|it| part.contains(it));
    !again && !part.starts_with("total-") && !part.starts_with("interval")
}

/// The figures of a step in db_bench's published summaries.
pub(super) fn figures(
    changed: &[Counter],
    now: &Snapshot,
    [loaded, whole]: [f64; 2],
) -> Vec<(&'static str, f64)> {
    let of = |name: &str| {
        let counter = changed.iter().find(|counter| counter.view == STATS && counter.name == name);
        counter.map_or(f64::NAN, |counter| counter.value)
    };
    // An empty tree has none; neither has a text that was not read.
    let known = now.rows.iter().any(|row| row.view == STATS);
    let levels = now.state.iter().filter(|row| row.view == LEVELS && row.name == "bytes");
    let size = if known { levels.map(|row| row.value).sum() } else { f64::NAN };
    let written = of("bytes_written");
    vec![
        ("lsm_sz", size),
        ("c_wgb", written / GB),
        ("w_amp", written / of("flush_bytes_written")),
        ("c_mbps", written / (1 << 20) as f64 / whole),
        ("c_wsecs", of("seconds")),
        ("c_csecs", of("cpu_seconds")),
        // Writers stall while they have the load.
        ("stall%", 100.0 * of("stall_seconds") / loaded),
        ("Nstall", of("stalls")),
        ("rss", now.get(PROCESS, "", "resident_bytes").unwrap_or(f64::NAN)),
    ]
}

/// Level, number of files and size (in units of 2^20 bytes, rounded) from the property
/// `rocksdb.levelstats`.
pub(super) fn levels(text: &str) -> Vec<(u32, f64, f64)> {
    let level = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let level = words.next()?.parse().ok()?;
        Some((level, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    text.lines().filter_map(level).collect()
}

/// The number at the beginning of a text; NaN if there is none.
fn number(text: &str) -> f64 {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.get(..end).and_then(|number| number.parse().ok()).unwrap_or(f64::NAN)
}

/// `01:02:03.456` in seconds.
fn clock(text: &str) -> f64 {
    text.split(':').fold(0.0, |seconds, part| 60.0 * seconds + number(part))
}

/// The figure of the line of sums in a column. A size is two words, `1.50 GB`, below one column.
fn sum(line: &str, columns: &[&str], name: &str) -> f64 {
    let mut words: Vec<&str> = line.split_ascii_whitespace().collect();
    let size = columns.iter().position(|column| *column == "Size");
    if let Some(unit) = size.map(|place| place + 1).filter(|unit| *unit < words.len()) {
        words.remove(unit);
    }
    let place = columns.iter().position(|column| *column == name);
    place.and_then(|place| words.get(place)).map_or(f64::NAN, |word| number(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OLD: &str = include_str!("../../tests/fixtures/rocksdb-stats-6.8.1.txt");
    const MIDDLE: &str = include_str!("../../tests/fixtures/rocksdb-stats-7.4.5.txt");
    const NEW: &str = include_str!("../../tests/fixtures/rocksdb-stats-10.10.1.txt");

    #[test]
    fn texts_of_several_versions_are_read() {
        let stats = Stats::read(OLD);
        let expected = Stats {
            flushed: 0.013 * GB,
            written: 0.09 * GB,
            read: 0.08 * GB,
            seconds: 1.14,
            cpu_seconds: 0.68,
            jobs: 38.0,
            stalled: 0.539,
            stalls: 20.0,
        };
        assert_eq!(stats, expected);
        // RocksDB's own write amplification.
        assert!((stats.written / stats.flushed - 6.9).abs() < 0.05);
        let of = |stats: Stats| (stats.stalled, stats.stalls);
        assert_eq!(of(Stats::read(MIDDLE)), (0.542, 18.0));
        assert_eq!(of(Stats::read(NEW)), (0.572, 22.0));
        for text in [MIDDLE, NEW] {
            let Stats { flushed, written, read, seconds, cpu_seconds, jobs, .. } =
                Stats::read(text);
            assert!(flushed > 0.01 * GB && written > flushed && read > flushed, "{text}");
            assert!(seconds > cpu_seconds && cpu_seconds > 0.1 && jobs > 10.0, "{text}");
        }
    }

    #[test]
    fn levels_are_read() {
        let text = "Level Files Size(MB)\n------\n  0        0        0\n  6       12      201\n";
        assert_eq!(levels(text), [(0, 0.0, 0.0), (6, 12.0, 201.0)]);
        assert_eq!(levels("another layout"), []);
    }

    #[test]
    fn what_is_missing_is_not_zero() {
        let Stats { flushed, jobs, stalls, stalled, .. } = Stats::read("another layout");
        assert!([flushed, jobs, stalls, stalled].iter().all(|figure| figure.is_nan()));
        assert!(Stats::read("Flush(GB): cumulative x").flushed.is_nan());
        // No writer had to wait.
        assert!(Stats::read("Stalls(count): 0 level0_slowdown").stalls.abs() < 0.5);
        // Without a counter there is no figure.
        let figures = figures(&[], &Snapshot::default(), [1.0, 1.0]);
        assert!(figures.iter().all(|(_, figure)| figure.is_nan()), "{figures:?}");
    }

    proptest! {
        #[test]
        fn a_part_has_at_most_the_figures_of_the_whole(text in "\\PC*", lines in 0..200_usize) {
            let figures = |text: &str| {
                let it = Stats::read(text);
                [it.flushed, it.written, it.read, it.seconds, it.cpu_seconds, it.jobs, it.stalled, it.stalls]
            };
            for whole in [OLD, NEW] {
                let part: String = whole.lines().take(lines).map(|line| format!("{line}\n")).collect();
                let found = figures(&format!("{part}x{text}"));
                for (found, most) in found.into_iter().zip(figures(whole)) {
                    prop_assert!(found.is_nan() || found <= most, "{found} of {most}");
                }
            }
        }
    }
}
