//! Which server it is.

use crate::Installation;

/// A server's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// True for MariaDB, which has other numbers than MySQL.
    pub(super) mariadb: bool,
    /// As one number: 80031 for 8.0.31, 101114 for 10.11.14.
    pub(super) number: u32,
}

impl Version {
    /// Reads what `version()` returns: `8.0.31`, `10.11.14-MariaDB-0+deb12u2`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut parts = numbers(text).split('.').map(str::parse::<u32>);
        let (major, minor) = (parts.next()?.ok()?, parts.next()?.ok()?);
        let patch = parts.next().and_then(Result::ok).unwrap_or(0);
        let small = |part: u32| (part < 100).then_some(part);
        let number = small(major)? * 10_000 + small(minor)? * 100 + small(patch)?;
        Some(Self { mariadb: text.to_ascii_lowercase().contains("mariadb"), number })
    }

    /// The version of an installation's servers.
    pub(super) fn of(installation: &Installation) -> Option<Self> {
        let read = Self::read(&installation.version)?;
        Some(Self { mariadb: read.mariadb || installation.dbms == "mariadb", ..read })
    }
}

/// The numbers that a version begins with, with their dots.
pub(super) fn numbers(version: &str) -> &str {
    version.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let of = |mariadb, number| Some(Version { mariadb, number });
        assert_eq!(Version::read("5.6.24"), of(false, 50_624));
        assert_eq!(Version::read("8.0.31-debug"), of(false, 80_031));
        assert_eq!(Version::read("10.11.14-MariaDB-0+deb12u2"), of(true, 101_114));
        assert_eq!(Version::read("11.4-MariaDB"), of(true, 110_400));
        for text in ["", "8", "x.y", "10.999.1"] {
            assert_eq!(Version::read(text), None, "{text}");
        }
    }
}
