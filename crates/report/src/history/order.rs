//! The order of runs: by version, commit or date.

use std::cmp::Ordering;

/// The meaning of a run, and the order of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A run is a version of the DBMS, no matter which experiments measured it; in order of
    /// release.
    Version,
    /// A run is an experiment; ordered by when they began.
    Date,
    /// A run is a commit, taken from the recorded build; in the given order, otherwise ordered by
    /// when they were first measured.
    Commit,
}

impl Order {
    /// Its name in options and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Date => "date",
            Self::Commit => "commit",
        }
    }
}

/// A version of a DBMS in the order of releases: 9.6 < 13.7 < 14.3, and 16beta1 < 16rc1 < 16 = 16.0
/// < 16.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    /// 14.3 is 14, 3.
    numbers: Vec<u64>,
    stage: Stage,
    /// The number of a beta or candidate.
    number: u64,
}

/// The stage before a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Development,
    Alpha,
    Beta,
    Candidate,
    Release,
}

impl Version {
    /// The first version in a text: `PostgreSQL 16beta1 (Debian …)`, `8.0.28-debug`, `13.7`. `None`
    /// if the text has no number.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let start = text.find(|c: char| c.is_ascii_digit())?;
        let text = &text[start..];
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (numbers, rest) = text.split_at(end);
        let numbers =
            numbers.split('.').filter(|part| !part.is_empty()).map(|part| part.parse().ok());
        let rest = rest.trim_start_matches(['-', '.', '~', '_']).to_ascii_lowercase();
        let stages = [
            ("devel", Stage::Development),
            ("dev", Stage::Development),
            ("alpha", Stage::Alpha),
            ("beta", Stage::Beta),
            ("rc", Stage::Candidate),
        ];
        let stage = stages.iter().find(|(word, _)| rest.starts_with(word));
        let number = stage.map_or(0, |(word, _)| {
            let digits = rest[word.len()..].trim_start_matches(['-', '.']);
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            digits[..end].parse().unwrap_or(0)
        });
        Some(Self {
            numbers: numbers.collect::<Option<_>>()?,
            stage: stage.map_or(Stage::Release, |(_, stage)| *stage),
            number,
        })
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        // Trailing zeros mean nothing.
        let key = |version: &Self| {
            let end = version.numbers.iter().rposition(|number| *number > 0);
            (
                version.numbers[..end.map_or(0, |last| last + 1)].to_vec(),
                version.stage,
                version.number,
            )
        };
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The first commit in a text: 7 to 40 hexadecimal digits standing alone, with at least one digit
/// and one letter, so neither 20261121 nor `defaced` is one. May have a `g` before it, as in
/// the output of `git describe`.
pub(crate) fn commit(text: &str) -> Option<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|word| {
        let hex = |word: &str| {
            (7..=40).contains(&word.len())
                && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
                && word.bytes().any(|b| b.is_ascii_digit())
                && word.bytes().any(|b| b.is_ascii_alphabetic())
        };
        let described = word.strip_prefix('g').filter(|rest| hex(rest));
        described.or_else(|| hex(word).then_some(word)).map(str::to_owned)
    })
}

/// True if two commits, one of which may be abbreviated, are the same.
pub(crate) fn same_commit(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn versions_in_the_order_of_releases() {
        let order = [
            "9.6.24",
            "10.0",
            "PostgreSQL 12.22 on x86_64-pc-linux-gnu, compiled by gcc 7.5.0",
            "13.7",
            "14devel",
            "14beta1",
            "14beta2",
            "14beta10",
            "14rc1",
            "14.0",
            "14.3 (Debian 14.3-1.pgdg110+1)",
            "15.8",
            "16-rc.1",
            "16.4",
        ];
        let versions: Vec<Version> = order.iter().map(|text| Version::of(text).unwrap()).collect();
        for pair in versions.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
        assert_eq!(Version::of("16").unwrap().cmp(&Version::of("16.0").unwrap()), Ordering::Equal);
        assert_eq!(Version::of("8.0.28-debug").unwrap(), Version::of("8.0.28").unwrap());
        assert_eq!(Version::of("unknown"), None);
    }

    #[test]
    fn commits_are_told_from_dates_and_words() {
        assert_eq!(commit("17devel-gabc1234"), Some("abc1234".to_owned()));
        assert_eq!(commit("git:~/src/postgres#0a1b2c3d4e"), Some("0a1b2c3d4e".to_owned()));
        assert_eq!(commit("pg-1f2e3d4"), Some("1f2e3d4".to_owned()));
        for none in ["13.7", "20261121", "defaced", "pg14.3", "x86_64-pc-linux-gnu", ""] {
            assert_eq!(commit(none), None, "{none}");
        }
        assert!(same_commit("0a1b2c3", "0a1b2c3d4e") && !same_commit("0a1b2c3", "0a1b2c4"));
    }

    proptest! {
        #[test]
        fn any_text_has_a_version_or_none(text in ".*", other in ".*") {
            let (one, other) = (Version::of(&text), Version::of(&other));
            prop_assert_eq!(one.cmp(&other), other.cmp(&one).reverse());
        }

        #[test]
        fn the_first_commit_is_found(
            text in "[0-9a-g .#-]{0,60}", one in "[0-9]{3}[a-f]{4}[0-9a-f]{0,33}",
        ) {
            let found = commit(&text);
            if let Some(found) = &found {
                let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
                prop_assert!(words.any(|word| word.strip_prefix('g').unwrap_or(word) == found));
                prop_assert!((7..=40).contains(&found.len()), "{found}");
                prop_assert!(found.chars().all(|c| c.is_ascii_hexdigit()), "{found}");
            }
            prop_assert_eq!(commit(&format!("{text} {one}")), found.or(Some(one)));
        }
    }
}
