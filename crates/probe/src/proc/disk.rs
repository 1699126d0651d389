//! `/proc/diskstats` and `/sys/block/NAME/stat`
//! (fields as in Documentation/admin-guide/iostats.rst of the kernel).

/// Bytes of a sector in these files, whatever the device's own sector size.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// Counters of a block device since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DiskCounters {
    pub(crate) reads: u64,
    pub(crate) read_sectors: u64,
    /// Time spent by all reads, in ms.
    pub(crate) read_ms: u64,
    pub(crate) writes: u64,
    pub(crate) write_sectors: u64,
    /// Time spent by all writes, in ms.
    pub(crate) write_ms: u64,
    /// Time with at least one request in progress, in ms.
    pub(crate) busy_ms: u64,
    /// Time × requests in progress, in ms.
    pub(crate) weighted_ms: u64,
    /// Since Linux 4.18.
    pub(crate) discards: Option<u64>,
    pub(crate) discard_sectors: Option<u64>,
}

/// `/sys/block/NAME/stat`: the counters alone, 11, 15 (4.18) or 17 (5.5) of them.
pub(crate) fn parse_counters(text: &str) -> Option<DiskCounters> {
    counters(text.split_ascii_whitespace())
}

/// A device's line of `/proc/diskstats`: 14, 18 or 20 fields. The 7-field lines which kernels
/// before 2.6.25 printed for partitions count only requests and are refused.
pub(crate) fn parse_diskstats(text: &str, major: u32, minor: u32) -> Option<DiskCounters> {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let mut number = || words.next().and_then(|word| word.parse::<u32>().ok());
        if number() == Some(major) && number() == Some(minor) {
            return counters(words.skip(1));
        }
    }
    None
}

fn counters<'a>(words: impl Iterator<Item = &'a str>) -> Option<DiskCounters> {
    let mut values = [0u64; 17];
    let mut found = 0;
    for (value, word) in values.iter_mut().zip(words) {
        *value = word.parse().ok()?;
        found += 1;
    }
    if found < 11 {
        return None;
    }
    // Since Linux 4.18.
    let discards = (found >= 15).then_some((values[11], values[13]));
    Some(DiskCounters {
        reads: values[0],
        read_sectors: values[2],
        read_ms: values[3],
        writes: values[4],
        write_sectors: values[6],
        write_ms: values[7],
        busy_ms: values[9],
        weighted_ms: values[10],
        discards: discards.map(|(requests, _)| requests),
        discard_sectors: discards.map(|(_, sectors)| sectors),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0
   8       0 sda 100 1 2000 30 40 5 6000 70 8 90 1000
   8       1 sda1 11 22 33 44
   8      16 sdb 100 1 2000 30 40 5 6000 70 8 90 1000 12 13 14 15
 254       0 vda 52216 8397 3317266 8194 27435 26600 2754232 5603 0 6192 14343 8377 86 701848 422 4026 123
";

    #[test]
    fn reads_fourteen_fields() {
        let disk = parse_diskstats(TEXT, 8, 0).unwrap();
        assert_eq!((disk.reads, disk.read_sectors, disk.read_ms), (100, 2000, 30));
        assert_eq!((disk.writes, disk.write_sectors, disk.write_ms), (40, 6000, 70));
        assert_eq!((disk.busy_ms, disk.weighted_ms), (90, 1000));
        assert_eq!(disk.discards, None);
    }

    #[test]
    fn reads_eighteen_and_twenty_fields() {
        let disk = parse_diskstats(TEXT, 8, 16).unwrap();
        assert_eq!((disk.discards, disk.discard_sectors), (Some(12), Some(14)));
        let disk = parse_diskstats(TEXT, 254, 0).unwrap();
        assert_eq!((disk.discards, disk.discard_sectors), (Some(8377), Some(701_848)));
        assert_eq!(disk.busy_ms, 6192);
    }

    #[test]
    fn refuses_short_lines_and_other_devices() {
        assert_eq!(parse_diskstats(TEXT, 8, 1), None);
        assert_eq!(parse_diskstats(TEXT, 9, 9), None);
        assert_eq!(parse_counters("1 2 3"), None);
    }

    #[test]
    fn reads_the_file_of_one_device() {
        let text = "   60221    11577  5586610    16676    28939    31717  3511344     7691        0     8232    25097     9267       86   770256      605     4037      123\n";
        let disk = parse_counters(text).unwrap();
        assert_eq!((disk.reads, disk.weighted_ms), (60221, 25097));
        assert_eq!(disk.discards, Some(9267));
    }

    proptest! {
        #[test]
        fn at_least_eleven_numbers_are_counters(
            text in "([0-9]{1,20} ){0,22}[a-z-]?", other in "(9 [ 0-9a-z-]{0,30}\n){0,4}",
        ) {
            let words: Vec<&str> = text.split_whitespace().take(17).collect();
            let numbers = words.iter().all(|word| word.parse::<u64>().is_ok());
            let found = parse_counters(&text);
            prop_assert_eq!(found.is_some(), numbers && words.len() >= 11, "{}", text);
            prop_assert_eq!(parse_diskstats(&format!("{other}8 0 sda {text}\n{other}"), 8, 0), found);
            prop_assert_eq!(parse_diskstats(&other, 8, 0), None);
        }
    }
}
