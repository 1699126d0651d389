//! Settings of servers whose backends are counted. None is in the way of an execution's
//! instructions but where said.

/// Name, value, and the first major version that has the setting.
const SETTINGS: [(&str, &str, u32); 14] = [
    ("autovacuum", "off", 0),
    ("bgwriter_lru_maxpages", "0", 0),
    ("checkpoint_timeout", "1d", 0),
    ("max_wal_size", "64GB", 0),
    // Only the kernel waits for the disk; the backend makes one system call less per commit.
    ("fsync", "off", 0),
    ("huge_pages", "off", 0),
    // What it has written already a backend need not write when it commits: a matter of luck. Ten
    // seconds is the most.
    ("wal_writer_delay", "10s", 0),
    // A log of running transactions every 15 s would shift where records lie in pages of the log.
    ("wal_level", "minimal", 0),
    ("max_wal_senders", "0", 0),
    // Workers would be processes of their own, and not be counted.
    ("max_parallel_workers_per_gather", "0", 0),
    ("max_parallel_maintenance_workers", "0", 11),
    // One process less to start, and it takes seconds of a processor to start a server.
    ("max_logical_replication_workers", "0", 10),
    // The server's statistics are put together and sent by the clock.
    ("track_counts", "off", 0),
    // 18 has processes for reading, and how long they take would decide what a backend does
    // meanwhile.
    ("io_method", "sync", 18),
];

/// Those that this major version has.
pub(super) fn settings(major: u32) -> Vec<(&'static str, &'static str)> {
    let known = SETTINGS.into_iter().filter(|(_, _, since)| major >= *since);
    known.map(|(name, value, _)| (name, value)).collect()
}
