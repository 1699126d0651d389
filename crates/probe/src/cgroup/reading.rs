//! Parsers of control group files.

/// Memory of a group, as its accounting splits it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryStat {
    /// Anonymous memory in bytes.
    pub anon_bytes: u64,
    /// Page cache, shared memory included, in bytes.
    pub file_bytes: u64,
    /// Page cache not yet written, in bytes.
    pub dirty_bytes: u64,
    /// Page cache being written, in bytes.
    pub writeback_bytes: u64,
}

/// A value of a file of `key value` lines.
pub(super) fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next() == Some(key)).then(|| words.next()?.parse().ok())?
    })
}

/// `memory.stat` of either version: v1's `total_…` lines include groups below, v2's always do.
pub(super) fn parse_memory_stat(text: &str) -> Option<MemoryStat> {
    let either = |v2: &str, v1: &str| keyed(text, v1).or_else(|| keyed(text, v2));
    Some(MemoryStat {
        anon_bytes: either("anon", "total_rss")?,
        file_bytes: either("file", "total_cache")?,
        dirty_bytes: either("file_dirty", "total_dirty").unwrap_or(0),
        writeback_bytes: either("file_writeback", "total_writeback").unwrap_or(0),
    })
}

/// `cpu.stat` of v2 as `(usage, user, system)` in µs.
pub(super) fn parse_cpu_stat(text: &str) -> Option<(u64, u64, u64)> {
    Some((keyed(text, "usage_usec")?, keyed(text, "user_usec")?, keyed(text, "system_usec")?))
}

/// `cpuacct.stat` of v1 as `(user, system)` in ticks.
pub(super) fn parse_cpuacct_stat(text: &str) -> Option<(u64, u64)> {
    Some((keyed(text, "user")?, keyed(text, "system")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_cpu_time_of_both_versions() {
        let text = "usage_usec 58556606\nuser_usec 31449545\nsystem_usec 27107060\nnice_usec 0\nnr_periods 0\n";
        assert_eq!(parse_cpu_stat(text), Some((58_556_606, 31_449_545, 27_107_060)));
        assert_eq!(parse_cpu_stat("nr_periods 0\n"), None);
        assert_eq!(parse_cpuacct_stat("user 12\nsystem 7\n"), Some((12, 7)));
    }

    #[test]
    fn reads_memory_of_both_versions() {
        let expected =
            MemoryStat { anon_bytes: 4096, file_bytes: 8192, dirty_bytes: 12, writeback_bytes: 34 };
        let v2 =
            "anon 4096\nfile 8192\nkernel 99\nfile_mapped 1\nfile_dirty 12\nfile_writeback 34\n";
        assert_eq!(parse_memory_stat(v2), Some(expected));
        let v1 = "cache 1\nrss 2\ndirty 3\ntotal_cache 8192\ntotal_rss 4096\ntotal_dirty 12\ntotal_writeback 34\n";
        assert_eq!(parse_memory_stat(v1), Some(expected));
    }

    proptest! {
        #[test]
        fn never_panics(text in "(user|anon|usage_usec)?[ a-z0-9\n]{0,100}") {
            parse_memory_stat(&text);
            parse_cpu_stat(&text);
            parse_cpuacct_stat(&text);
        }
    }
}
