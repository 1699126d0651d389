//! `/proc/meminfo` and `/proc/vmstat`.

/// The parts of `/proc/meminfo` used here, in KiB. `MemAvailable` came with Linux 3.14.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Meminfo {
    pub(crate) total_kb: Option<u64>,
    pub(crate) free_kb: Option<u64>,
    pub(crate) available_kb: Option<u64>,
    pub(crate) cached_kb: Option<u64>,
    pub(crate) dirty_kb: Option<u64>,
    pub(crate) writeback_kb: Option<u64>,
    pub(crate) swap_total_kb: Option<u64>,
    pub(crate) huge_pages: Option<u64>,
}

pub(crate) fn parse_meminfo(text: &str) -> Meminfo {
    let mut memory = Meminfo::default();
    for (key, value) in numbers(text) {
        let slot = match key {
            "MemTotal" => &mut memory.total_kb,
            "MemFree" => &mut memory.free_kb,
            "MemAvailable" => &mut memory.available_kb,
            "Cached" => &mut memory.cached_kb,
            "Dirty" => &mut memory.dirty_kb,
            "Writeback" => &mut memory.writeback_kb,
            "SwapTotal" => &mut memory.swap_total_kb,
            "HugePages_Total" => &mut memory.huge_pages,
            _ => continue,
        };
        *slot = value;
    }
    memory
}

/// The parts of `/proc/vmstat` used here, counts since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Vmstat {
    pub(crate) page_faults: Option<u64>,
    pub(crate) major_faults: Option<u64>,
    pub(crate) swapped_in: Option<u64>,
    pub(crate) swapped_out: Option<u64>,
}

pub(crate) fn parse_vmstat(text: &str) -> Vmstat {
    let mut counts = Vmstat::default();
    for (key, value) in numbers(text) {
        let slot = match key {
            "pgfault" => &mut counts.page_faults,
            "pgmajfault" => &mut counts.major_faults,
            "pswpin" => &mut counts.swapped_in,
            "pswpout" => &mut counts.swapped_out,
            _ => continue,
        };
        *slot = value;
    }
    counts
}

/// The first two words of each line, without the colon that may be between them.
fn numbers(text: &str) -> impl Iterator<Item = (&str, Option<u64>)> {
    text.lines().filter_map(|line| {
        let (key, rest) = line.split_once([':', ' '])?;
        Some((key, rest.split_ascii_whitespace().next().and_then(|word| word.parse().ok())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_meminfo() {
        let text = "MemTotal:       24684092 kB\nMemFree:        20000 kB\nMemAvailable:   23000 kB\n\
                    Buffers:           1 kB\nCached:         300 kB\nSwapCached:       9 kB\n\
                    Dirty:               88 kB\nWriteback:             4 kB\nWritebackTmp:  7 kB\n\
                    SwapTotal:  0 kB\nHugePages_Total:       3\n";
        let memory = parse_meminfo(text);
        assert_eq!(memory.total_kb, Some(24_684_092));
        assert_eq!(memory.cached_kb, Some(300));
        assert_eq!((memory.dirty_kb, memory.writeback_kb), (Some(88), Some(4)));
        assert_eq!(memory.huge_pages, Some(3));
    }

    #[test]
    fn an_old_kernel_has_no_available_memory() {
        assert_eq!(parse_meminfo("MemFree: 12 kB\n").available_kb, None);
    }

    #[test]
    fn reads_vmstat() {
        let counts = parse_vmstat("pswpin 1\npswpout 2\npgfault 3165082\npgmajfault 1170\nx\n");
        assert_eq!(counts.page_faults, Some(3_165_082));
        assert_eq!(counts.major_faults, Some(1170));
        assert_eq!((counts.swapped_in, counts.swapped_out), (Some(1), Some(2)));
    }

    proptest! {
        #[test]
        fn numbers_are_found_among_anything(
            [a, b]: [u64; 2], other in "(x[: a-z0-9]{0,30}\n){0,4}",
        ) {
            let found = parse_meminfo(&format!("{other}MemTotal: {a} kB\n{other}Dirty:  {b} kB\n"));
            let wanted = Meminfo { total_kb: Some(a), dirty_kb: Some(b), ..Meminfo::default() };
            prop_assert_eq!(found, wanted);
            let found = parse_vmstat(&format!("{other}pgfault {a}\npswpin {b}\n{other}"));
            let wanted = Vmstat { page_faults: Some(a), swapped_in: Some(b), ..Vmstat::default() };
            prop_assert_eq!(found, wanted);
        }
    }
}
