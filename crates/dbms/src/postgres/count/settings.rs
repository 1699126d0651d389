//! Settings of servers whose backends are counted. They don't affect an execution's instructions,
//! except where noted.

/// Name, value, and the first major version that has the setting.
const SETTINGS: [(&str, &str, u32); 14] = [
    ("autovacuum", "off", 0),
    ("bgwriter_lru_maxpages", "0", 0),
    ("checkpoint_timeout", "1d", 0),
    ("max_wal_size", "64GB", 0),
    // Only the kernel waits for the disk; the backend makes one fewer system call per commit.
    ("fsync", "off", 0),
    ("huge_pages", "off", 0),
    // A backend that commits need not write what it has already written, which is a matter of
    // chance. Ten seconds is the maximum.
    ("wal_writer_delay", "10s", 0),
    // Logging running transactions every 15 s would shift records within log pages.
    ("wal_level", "minimal", 0),
    ("max_wal_senders", "0", 0),
    // Workers would be separate processes, which are not counted.
    ("max_parallel_workers_per_gather", "0", 0),
    ("max_parallel_maintenance_workers", "0", 11),
    // One fewer process to start; starting a server takes seconds of CPU time.
    ("max_logical_replication_workers", "0", 10),
    // The server collects and sends statistics by the clock.
    ("track_counts", "off", 0),
    // 18 has processes for reading; how long they take would decide what a backend does.
    ("io_method", "sync", 18),
];

/// The settings that this major version has.
pub(super) fn settings(major: u32) -> Vec<(&'static str, &'static str)> {
    let known = SETTINGS.into_iter().filter(|(_, _, since)| major >= *since);
    known.map(|(name, value, _)| (name, value)).collect()
}
