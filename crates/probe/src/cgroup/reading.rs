//! Parsers of control group files.

/// A value of a file of `key value` lines.
pub(super) fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next() == Some(key)).then(|| words.next()?.parse().ok())?
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

    proptest! {
        #[test]
        fn times_are_found_among_anything(
            [a, b, c]: [u64; 3], other in "(x[ a-z0-9]{0,30}\n){0,4}", text in "[ a-z0-9\n]{0,100}",
        ) {
            let v2 = format!("{other}usage_usec {a}\n{other}user_usec {b}\nsystem_usec {c}\n{text}");
            prop_assert_eq!(parse_cpu_stat(&v2), Some((a, b, c)));
            prop_assert_eq!(parse_cpuacct_stat(&format!("{other}user {b}\nsystem {c}\n{text}")), Some((b, c)));
            // No underscores.
            prop_assert_eq!(parse_cpu_stat(&text), None);
        }
    }
}
