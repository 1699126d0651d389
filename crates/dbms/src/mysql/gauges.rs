//! Gauges to read each second: data still to be purged and written, how full the redo log is, how
//! often pages had to be read.

use super::control::Control;
use super::monitor::Monitor;
use crate::{Error, Gauge, Sql};

/// 2^20 bytes.
const MB: f64 = 1_048_576.0;

/// Status variables to ask for.
const ASKED: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN (\
    'Innodb_buffer_pool_pages_dirty', 'Innodb_buffer_pool_pages_free', 'Innodb_page_size', \
    'Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_reads', 'Innodb_row_lock_current_waits', \
    'Innodb_redo_log_capacity_resized')";

/// Figures of MyRocks, summed over column families.
const ROCKS: &str = "SELECT stat_type, sum(value) FROM information_schema.rocksdb_cfstats \
    WHERE stat_type IN ('NUM_IMMUTABLE_MEM_TABLE', 'COMPACTION_PENDING', 'CUR_SIZE_ALL_MEM_TABLES') \
    GROUP BY stat_type";

/// Files of level 0, which every read has to look at.
const LEVEL_0: &str = "SELECT 'L0', sum(value) FROM information_schema.rocksdb_compaction_stats \
    WHERE level = 'L0' AND type = 'NumFiles'";

/// A connection of its own to look from.
pub(super) struct Watch {
    control: Control,
    /// Bytes that the redo log can hold, unless the status says so.
    capacity: Option<f64>,
    /// True if MyRocks is loaded.
    rocks: bool,
    /// Requests for pages and reads of pages, as of the last look.
    pages: Option<(f64, f64)>,
}

impl Watch {
    pub(super) fn open(control: &Control) -> Result<Self, Error> {
        let mut control = control.another();
        let variables = control.pairs(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN \
             ('innodb_log_file_size', 'innodb_log_files_in_group', 'rocksdb_datadir')",
        )?;
        let of = |name: &str| figure(&variables, name);
        let files = of("innodb_log_files_in_group").unwrap_or(1.0);
        let capacity = of("innodb_log_file_size").map(|size| size * files);
        let rocks = variables.iter().any(|(name, _)| name == "rocksdb_datadir");
        Ok(Self { control, capacity, rocks, pages: None })
    }

    /// The gauges now.
    pub(super) fn look(&mut self) -> Result<Vec<Gauge>, Error> {
        let status = self.control.pairs(ASKED)?;
        let monitor = Monitor::ask(&mut self.control)?;
        let of = |name: &str| figure(&status, name);
        let page = of("Innodb_page_size");
        let pages = |name: &str| Some(of(name)? * page? / MB);
        let capacity = of("Innodb_redo_log_capacity_resized").or(self.capacity);
        let now = of("Innodb_buffer_pool_read_requests").zip(of("Innodb_buffer_pool_reads"));
        let before = std::mem::replace(&mut self.pages, now);
        let found = [
            ("history", "history list", "", monitor.history),
            ("dirty", "dirty pages", "MB", pages("Innodb_buffer_pool_pages_dirty")),
            ("free", "free pages", "MB", pages("Innodb_buffer_pool_pages_free")),
            ("checkpoint_age", "checkpoint age", "MB", monitor.age().map(|age| age / MB)),
            ("redo", "redo log in use", "%", percent(monitor.age(), capacity)),
            ("hits", "buffer pool hits", "%", hits(before, now)),
            ("lock_waits", "waiting for row locks", "", of("Innodb_row_lock_current_waits")),
        ];
        let gauge = |(name, label, unit, value): (&str, &str, &str, Option<f64>)| {
            let (label, unit) = (label.to_owned(), unit.to_owned());
            Some(Gauge { name: format!("state.{name}"), label, unit, value: value? })
        };
        let mut gauges: Vec<Gauge> = found.into_iter().filter_map(gauge).collect();
        if self.rocks {
            let mut said = self.control.pairs(ROCKS)?;
            said.extend(self.control.pairs(LEVEL_0)?);
            let of = |name: &str| figure(&said, name);
            let found = [
                ("memtables", "memtables", "MB", of("CUR_SIZE_ALL_MEM_TABLES").map(|b| b / MB)),
                ("immutable", "memtables to flush", "", of("NUM_IMMUTABLE_MEM_TABLE")),
                ("compactions", "compactions pending", "", of("COMPACTION_PENDING")),
                ("L0.files", "L0 files", "", of("L0")),
            ];
            gauges.extend(found.into_iter().filter_map(gauge));
        }
        Ok(gauges)
    }
}

/// The number among `pairs` that has this name.
pub(super) fn figure(pairs: &[(String, String)], name: &str) -> Option<f64> {
    let found = pairs.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.and_then(|(_, value)| value.parse().ok())
}

fn percent(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let (part, whole) = (part?, whole?);
    (whole > 0.0).then_some(100.0 * part / whole)
}

/// How many of the requests for pages since `before` found them in memory, in percent; `None` if
/// there were none.
fn hits(before: Option<(f64, f64)>, now: Option<(f64, f64)>) -> Option<f64> {
    let ((requests_before, reads_before), (requests, reads)) = (before?, now?);
    let asked = requests - requests_before;
    (asked > 0.0).then(|| 100.0 * (1.0 - (reads - reads_before) / asked).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        assert_eq!(percent(Some(1.0), Some(4.0)), Some(25.0));
        assert_eq!(percent(Some(1.0), Some(0.0)), None);
        assert_eq!(hits(Some((100.0, 10.0)), Some((300.0, 20.0))), Some(95.0));
        assert_eq!(hits(None, Some((1.0, 0.0))), None);
        assert_eq!(hits(Some((5.0, 1.0)), Some((5.0, 1.0))), None);
    }
}
