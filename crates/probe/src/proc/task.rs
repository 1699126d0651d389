//! `/proc/PID/stat`, `/proc/PID/status` and `/proc/PID/io`.

/// The parts of `/proc/PID/stat` used here. Times are ticks (`sysconf(_SC_CLK_TCK)` per second).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PidStat {
    pub(crate) state: char,
    pub(crate) parent: u32,
    /// All threads of the process, including those that ended.
    pub(crate) user: u64,
    pub(crate) system: u64,
    /// Children that ended and were waited for, including their own such children.
    pub(crate) children_user: u64,
    pub(crate) children_system: u64,
    pub(crate) threads: u32,
    /// Ticks from boot to the process's start; with the pid it identifies a process permanently.
    pub(crate) start: u64,
}

/// The name in parentheses may contain anything, including parentheses and blanks. The fields
/// follow the *last* closing parenthesis.
pub(crate) fn parse_stat(text: &str) -> Option<PidStat> {
    let (_, tail) = text.rsplit_once(')')?;
    let mut words = tail.split_ascii_whitespace();
    let state = words.next()?.chars().next()?;
    let parent = words.next()?.parse().ok()?;
    // From field 5 (pgrp) on; numbers as in proc(5).
    let mut fields = [0i64; 20];
    for slot in &mut fields {
        // There are no addresses or rlimits before field 25, so all of these fit.
        *slot = words.next()?.parse().ok()?;
    }
    let field = |number: usize| -> u64 {
        fields.get(number - 5).map_or(0, |value| u64::try_from(*value).unwrap_or(0))
    };
    Some(PidStat {
        state,
        parent,
        user: field(14),
        system: field(15),
        children_user: field(16),
        children_system: field(17),
        threads: u32::try_from(field(20)).unwrap_or(u32::MAX),
        start: field(22),
    })
}

/// The parts of `/proc/PID/status` (of a process or thread) used here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// Private memory; since Linux 4.5.
    pub(crate) rss_anon_kb: Option<u64>,
    pub(crate) rss_file_kb: Option<u64>,
    pub(crate) rss_shmem_kb: Option<u64>,
    pub(crate) rss_kb: Option<u64>,
    /// Voluntary and involuntary ones, of the file's thread only.
    pub(crate) switches: u64,
    /// Ended children vanish without their times being added to the parent.
    pub(crate) ignores_sigchld: bool,
}

pub(crate) fn parse_status(text: &str) -> Status {
    let mut status = Status::default();
    for line in text.lines() {
        let Some((key, rest)) = line.split_once(':') else {
            continue;
        };
        let number =
            || rest.split_ascii_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        match key {
            "RssAnon" => status.rss_anon_kb = number(),
            "RssFile" => status.rss_file_kb = number(),
            "RssShmem" => status.rss_shmem_kb = number(),
            "VmRSS" => status.rss_kb = number(),
            "voluntary_ctxt_switches" | "nonvoluntary_ctxt_switches" => {
                status.switches += number().unwrap_or(0);
            }
            "SigIgn" => {
                // Signal n is bit n-1; SIGCHLD comes from the system, since it is not 17
                // everywhere.
                let bit = nix::libc::SIGCHLD - 1;
                status.ignores_sigchld =
                    u64::from_str_radix(rest.trim(), 16).is_ok_and(|mask| mask >> bit & 1 == 1);
            }
            _ => {}
        }
    }
    status
}

/// Bytes a process made the kernel fetch from or send to storage, including its ended threads and
/// the children it waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TaskIo {
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
}

pub(crate) fn parse_io(text: &str) -> Option<TaskIo> {
    let value = |key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
            .and_then(|rest| rest.trim().parse().ok())
    };
    Some(TaskIo { read_bytes: value("read_bytes")?, write_bytes: value("write_bytes")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TAIL: &str = "S 1 5217 5217 0 -1 4194304 179 188 0 3 12 34 56 78 20 0 9 0 5143612 4235264 390 \
                        18446744073709551615 94 94 140 0 0 0 0 0 65536 1 0 0 17 1 0 0 0 0 0 94 94 94 140 140 140 140 0\n";

    #[test]
    fn reads_stat_whatever_the_name() {
        for name in ["(sh)", "(a b)", "() ()", "(x) R 9 9 9)", "(\n)", "(\u{fffd})"] {
            let stat = parse_stat(&format!("5217 {name} {TAIL}")).unwrap();
            assert_eq!((stat.state, stat.parent), ('S', 1), "{name}");
            assert_eq!((stat.user, stat.system), (12, 34));
            assert_eq!((stat.children_user, stat.children_system), (56, 78));
            assert_eq!((stat.threads, stat.start), (9, 5_143_612));
        }
    }

    #[test]
    fn refuses_cut_texts() {
        assert_eq!(parse_stat("5217 (sh"), None);
        assert_eq!(parse_stat("5217 (sh) S 1 2"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn reads_status() {
        let text = "Name:\tsh\nVmRSS:\t    1672 kB\nRssAnon:\t     112 kB\nRssFile:\t    1560 kB\n\
                    RssShmem:\t       0 kB\nSigIgn:\t0000000000010000\n\
                    voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t7\n";
        let status = parse_status(text);
        assert_eq!(status.rss_anon_kb, Some(112));
        assert_eq!(status.switches, 12);
        assert!(status.ignores_sigchld);
        let old = parse_status("VmRSS: 12 kB\nSigIgn:\t0000000000001000\n");
        assert_eq!((old.rss_anon_kb, old.rss_kb, old.ignores_sigchld), (None, Some(12), false));
    }

    #[test]
    fn reads_io() {
        let text = "rchar: 6986\nwchar: 10\nsyscr: 12\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n";
        let expected = TaskIo { read_bytes: 4096, write_bytes: 8192 };
        assert_eq!(parse_io(text), Some(expected));
        assert_eq!(parse_io("rchar: 1\n"), None);
    }

    proptest! {
        #[test]
        fn fields_are_found_whatever_the_name(
            name in "[ ()a-zA-Z:0-9]{0,20}", parent: u32, fields in prop::array::uniform20(0_u32..),
            other in "(x[ a-z0-9:]{0,30}\n){0,4}",
        ) {
            let numbers = fields.map(|number| number.to_string());
            let stat = parse_stat(&format!("7 ({name}) S {parent} {} 0 0\n", numbers.join(" ")));
            let stat = stat.unwrap();
            prop_assert_eq!((stat.state, stat.parent), ('S', parent));
            let field = |number: usize| u64::from(fields[number - 5]);
            prop_assert_eq!((stat.user, stat.system, stat.start), (field(14), field(15), field(22)));
            prop_assert_eq!(parse_stat(&format!("7 ({name}) S {parent} {}", numbers[1..].join(" "))), None);

            let status = parse_status(&format!("{other}VmRSS:\t{parent} kB\n{other}"));
            prop_assert_eq!(status, Status { rss_kb: Some(parent.into()), ..Status::default() });
            let io = parse_io(&format!("{other}read_bytes: {parent}\nwrite_bytes: 5\n{other}"));
            prop_assert_eq!(io, Some(TaskIo { read_bytes: parent.into(), write_bytes: 5 }));
            prop_assert_eq!(parse_io(&other), None);
        }
    }
}
