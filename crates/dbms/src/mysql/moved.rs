//! Gives one name to counters that have different names in different versions, or in MySQL and
//! MariaDB. Only counters of the same name can be compared.

/// The view of SHOW GLOBAL STATUS.
pub(super) const STATUS: &str = "global_status";
/// The view of information_schema.innodb_metrics.
pub(super) const METRICS: &str = "innodb_metrics";
/// The view of InnoDB's monitor.
pub(super) const INNODB: &str = "innodb";

/// View, name, and the view and name under which it is known here.
const MOVED: [(&str, &str, &str, &str); 25] = [
    // Metrics that are status variables, too. Those that have the same name there need no line.
    (METRICS, "buffer_data_reads", STATUS, "Innodb_data_read"),
    (METRICS, "buffer_data_written", STATUS, "Innodb_data_written"),
    (METRICS, "buffer_pages_created", STATUS, "Innodb_pages_created"),
    (METRICS, "buffer_pages_read", STATUS, "Innodb_pages_read"),
    (METRICS, "buffer_pages_written", STATUS, "Innodb_pages_written"),
    (METRICS, "os_data_fsyncs", STATUS, "Innodb_data_fsyncs"),
    (METRICS, "os_data_reads", STATUS, "Innodb_data_reads"),
    (METRICS, "os_data_writes", STATUS, "Innodb_data_writes"),
    (METRICS, "os_log_bytes_written", STATUS, "Innodb_os_log_written"),
    // Status variables of MariaDB that are only metrics in MySQL.
    (STATUS, "Innodb_adaptive_hash_hash_searches", METRICS, "adaptive_hash_searches"),
    (STATUS, "Innodb_adaptive_hash_non_hash_searches", METRICS, "adaptive_hash_searches_btree"),
    (STATUS, "Innodb_deadlocks", METRICS, "lock_deadlocks"),
    (STATUS, "Innodb_ibuf_merges", METRICS, "ibuf_merges"),
    // The same figures as those of the monitor.
    (STATUS, "Innodb_history_list_length", INNODB, "history_list_length"),
    (METRICS, "trx_rseg_history_len", INNODB, "history_list_length"),
    (STATUS, "Innodb_checkpoint_age", INNODB, "checkpoint_age"),
    (METRICS, "log_lsn_checkpoint_age", INNODB, "checkpoint_age"),
    (STATUS, "Innodb_lsn_current", INNODB, "lsn"),
    (STATUS, "Innodb_redo_log_current_lsn", INNODB, "lsn"),
    (METRICS, "log_lsn_current", INNODB, "lsn"),
    (STATUS, "Innodb_lsn_last_checkpoint", INNODB, "checkpoint_lsn"),
    (STATUS, "Innodb_redo_log_checkpoint_lsn", INNODB, "checkpoint_lsn"),
    (METRICS, "log_lsn_last_checkpoint", INNODB, "checkpoint_lsn"),
    // Upper case in older versions.
    (
        STATUS,
        "Innodb_buffer_pool_pages_LRU_flushed",
        STATUS,
        "Innodb_buffer_pool_pages_lru_flushed",
    ),
    (STATUS, "Innodb_buffer_pool_pages_LRU_freed", STATUS, "Innodb_buffer_pool_pages_lru_freed"),
];

/// The view and name under which a figure is known here.
pub(super) fn now<'a>(view: &'a str, name: &'a str) -> (&'a str, &'a str) {
    let found = MOVED.iter().find(|(old, was, ..)| *old == view && was.eq_ignore_ascii_case(name));
    found.map_or((view, name), |(.., view, name)| (view, name))
}

/// Prefixes, in lower case, of the names of status variables that describe a state. All others
/// count up.
const STATES: [&str; 45] = [
    "acl_",
    "aria_pagecache_blocks_",
    "innodb_available_undo_logs",
    "innodb_buffer_pool_bytes_",
    "innodb_buffer_pool_load_incomplete",
    "innodb_buffer_pool_pages_",
    "innodb_buffer_pool_resize_status_",
    "innodb_checkpoint_",
    "innodb_current_row_locks",
    "innodb_descriptors_memory",
    "innodb_history_list_length",
    "innodb_ibuf_free_list",
    "innodb_ibuf_segment_size",
    "innodb_ibuf_size",
    "innodb_mem_",
    "innodb_num_open_files",
    "innodb_page_size",
    "innodb_read_views_memory",
    "innodb_redo_log_",
    "innodb_undo_tablespaces_",
    "key_blocks_",
    "last_query_",
    "max_used_connections",
    "memory_used",
    "mysqlx_worker_threads",
    "open_",
    "performance_schema_session_connect_attrs_longest_seen",
    "prepared_stmt_count",
    "qcache_free_",
    "qcache_queries_in_cache",
    "qcache_total_blocks",
    "replica_",
    "rocksdb_manual_compactions_",
    "rocksdb_memtable_total",
    "rocksdb_memtable_unflushed",
    "rocksdb_num_iterators",
    "rpl_",
    "slave_",
    "ssl_",
    "tc_log_",
    "threadpool_",
    "threads_",
    "uptime",
    "wsrep_",
    "innodb_onlineddl_",
];

/// Those that count up although their names begin like that.
const COUNTING: [&str; 10] = [
    "innodb_buffer_pool_pages_flushed",
    "innodb_buffer_pool_pages_lru_flushed",
    "innodb_buffer_pool_pages_lru_freed",
    "innodb_buffer_pool_pages_made_not_young",
    "innodb_buffer_pool_pages_made_young",
    "innodb_buffer_pool_pages_split",
    "innodb_redo_log_current_lsn",
    "innodb_redo_log_flushed_to_disk_lsn",
    "threads_created",
    "uptime",
];

/// True if a figure, by its current name, counts up although its version declares it as a value.
pub(super) fn counts_up(view: &str, name: &str) -> bool {
    let known = [(INNODB, "lsn"), (INNODB, "checkpoint_lsn"), (METRICS, "lock_deadlocks")];
    known.contains(&(view, name))
}

/// True if a status variable describes a state; false if it counts up.
pub(super) fn is_state(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let inside = ["_pending_", "_current_waits"].iter().any(|part| name.contains(part));
    let end = ["_avg", "_max"].iter().any(|end| name.ends_with(end));
    !COUNTING.contains(&name.as_str())
        && (inside || end || STATES.iter().any(|begin| name.starts_with(begin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_in_all_versions() {
        assert_eq!(now(STATUS, "Innodb_deadlocks"), (METRICS, "lock_deadlocks"));
        assert_eq!(now(METRICS, "lock_deadlocks"), (METRICS, "lock_deadlocks"));
        assert_eq!(now(STATUS, "Com_insert"), (STATUS, "Com_insert"));
        assert_eq!(now("other", "Innodb_deadlocks"), ("other", "Innodb_deadlocks"));
    }

    #[test]
    fn what_counts_up() {
        for name in ["Com_insert", "Threads_created", "Uptime", "Opened_tables", "Open_x_pages"] {
            assert_eq!(is_state(name), name.starts_with("Open_"), "{name}");
        }
        for name in ["Threads_running", "Innodb_data_pending_reads", "Innodb_row_lock_time_avg"] {
            assert!(is_state(name), "{name}");
        }
        assert!(!is_state("Innodb_row_lock_time"));
        assert!(!is_state("Innodb_buffer_pool_pages_LRU_flushed"));
        assert!(counts_up(METRICS, "lock_deadlocks") && !counts_up(METRICS, "lock_timeouts"));
        assert!(is_state("Innodb_buffer_pool_pages_dirty"));
    }
}
