//! A requested version: one release, or the newest of a series.

use std::collections::BTreeMap;
use std::fmt;

use crate::obtain::fetch::maven::{Version, joined};
use crate::{Error, Kind};

/// A released version as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    numbers: Vec<u64>,
    /// How many numbers the version of a release in that series has.
    whole: usize,
}

impl Release {
    /// Reads the version of a `kind`.
    pub(crate) fn parse(kind: &dyn Kind, text: &str) -> Result<Self, Error> {
        let bad = |problem: &str| Error::reference(&format!("{}@{text}", kind.name()), problem);
        if text.is_empty() {
            return Err(bad("the version is missing"));
        }
        let numbers = text
            .split('.')
            .map(|part| {
                let digits = part.chars().all(|c| c.is_ascii_digit());
                part.parse().ok().filter(|n| digits && *n < 100_000)
            })
            .collect::<Option<Vec<u64>>>()
            .ok_or_else(|| bad("a version consists of numbers separated by dots"))?;
        let whole = kind.numbers(numbers.first().copied().unwrap_or(0));
        if numbers.len() > whole {
            return Err(bad(&format!("a version in that series has at most {whole} numbers")));
        }
        Ok(Self { numbers, whole })
    }

    /// The version, if this is one release (`13.7`, `9.6.24`), not a series (`13`, `9.6`).
    pub(crate) fn exact(&self) -> Option<Version> {
        let number = |i: usize| self.numbers.get(i).copied().unwrap_or(0);
        (self.numbers.len() == self.whole).then(|| [0, 1, 2].map(number))
    }

    /// True if `version` is the release, or one of the series.
    pub(crate) fn matches(&self, version: &Version) -> bool {
        version.starts_with(&self.numbers)
    }

    /// The closest of `existing` below and above in the same series, closest first.
    pub(crate) fn nearest(&self, existing: &[Version]) -> Vec<Version> {
        let mut near: Vec<Version> = Vec::new();
        if let Some(asked) = self.exact() {
            let (series, last) = (&asked[..self.whole - 1], self.whole - 1);
            let same = || existing.iter().filter(|version| version.starts_with(series));
            near.extend(same().filter(|version| **version < asked).max());
            near.extend(same().filter(|version| **version > asked).min());
            near.sort_by_key(|version| version[last].abs_diff(asked[last]));
        }
        near
    }
}

impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&joined(&self.numbers))
    }
}

/// The newest of `existing` of each major version.
pub(crate) fn newest(existing: &[Version]) -> Vec<Version> {
    let mut newest: BTreeMap<u64, Version> = BTreeMap::new();
    for version in existing {
        let known = newest.entry(version[0]).or_insert(*version);
        *known = (*known).max(*version);
    }
    newest.into_values().collect()
}

/// A version as its developers write it: 13.7.
pub(crate) fn shown(kind: &dyn Kind, version: &Version) -> String {
    joined(&version[..kind.numbers(version[0]).min(3)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::Postgres;

    fn near(asked: &str, existing: &[Version]) -> Vec<String> {
        let release = Release::parse(&Postgres, asked).unwrap();
        release.nearest(existing).iter().map(|version| shown(&Postgres, version)).collect()
    }

    #[test]
    fn releases_and_series() {
        let parse = |text| Release::parse(&Postgres, text).unwrap();
        assert_eq!(parse("13.7").exact(), Some([13, 7, 0]));
        assert_eq!(parse("14").exact(), None);
        assert!(parse("14").matches(&[14, 3, 0]) && !parse("14").matches(&[15, 0, 0]));
        assert_eq!(parse("9.6").exact(), None);
        assert!(parse("9.6").matches(&[9, 6, 24]) && !parse("9.6").matches(&[9, 5, 1]));
        assert_eq!(parse("9.6.24").exact(), Some([9, 6, 24]));
    }

    #[test]
    fn neighbors_of_a_missing_version() {
        let existing = [
            [9, 6, 20],
            [9, 6, 24],
            [11, 9, 0],
            [11, 11, 0],
            [11, 12, 0],
            [11, 22, 0],
            [12, 3, 0],
            [12, 5, 0],
            [18, 1, 0],
        ];
        assert_eq!(near("11.10", &existing), ["11.9", "11.11"]);
        assert_eq!(near("12.4", &existing), ["12.3", "12.5"]);
        assert_eq!(near("11.30", &existing), ["11.22"]);
        assert_eq!(near("11.2", &existing), ["11.9"]);
        assert_eq!(near("9.6.23", &existing), ["9.6.24", "9.6.20"]);
        for far in ["13", "42.1", "8.4", "9.5.3"] {
            assert!(near(far, &existing).is_empty(), "{far}");
        }
        assert_eq!(newest(&existing), [[9, 6, 24], [11, 22, 0], [12, 5, 0], [18, 1, 0]]);
    }
}
