//! Counting instructions of calls of the C interface.

use super::library::MARK;
use crate::CountMethod;

/// Functions that requests call. The mark is not one of them: if it also fits a pattern, Callgrind
/// counts nothing at all.
const CALLS: [&str; 9] = [
    "rocksdb_get_pinned",
    "rocksdb_pinnableslice_*",
    "rocksdb_multi_get",
    "rocksdb_free",
    "rocksdb_put",
    "rocksdb_write",
    "rocksdb_writebatch_*",
    "rocksdb_create_iterator",
    "rocksdb_iter_*",
];

/// How to count in the process that has the library. Flushes and compactions run in other threads,
/// which never call the interface, so they are not counted.
pub(super) fn method() -> CountMethod {
    CountMethod {
        // No compaction may change the tree, and nothing may happen by the clock.
        settings: vec![
            ("disable_auto_compactions", "true"),
            ("stats_dump_period_sec", "0"),
            ("stats_persist_period_sec", "0"),
        ],
        // There is one database in a process.
        kinds: 1,
        place: "library",
        mark_function: MARK,
        only_in: &CALLS,
        left_out: &[],
        phases: &[],
        sql: None,
    }
}
