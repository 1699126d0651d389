//! A package of the machine's own distribution.

use std::fmt;

/// A package of Debian or a relative, from the sources of packages that the machine knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name: `postgresql-17`.
    pub name: String,
    /// Its version, `17.2-1.pgdg120+1`; `None` is the one that would be installed.
    pub version: Option<String>,
}

impl Package {
    /// Reads `deb:…`; `None` if the text doesn't begin with it.
    pub(crate) fn parse(text: &str) -> Option<Result<Self, &'static str>> {
        let text = text.strip_prefix("deb:")?;
        let (name, version) = match text.split_once('=') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        // deb-control(7) and deb-version(7).
        let begins = |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
        let of_version = |c: char| c.is_ascii_alphanumeric() || ".+-~:".contains(c);
        if !begins(name) || !name.chars().all(of_name) {
            return Some(Err("expected the name of a package, such as deb:postgresql-15"));
        }
        if version.is_some_and(|text| !begins(text) || !text.chars().all(of_version)) {
            return Some(Err(
                "expected a version of the package, such as deb:postgresql-15=15.8-1",
            ));
        }
        Some(Ok(Self { name: name.to_owned(), version: version.map(str::to_owned) }))
    }
}

impl fmt::Display for Package {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "deb:{}", self.name)?;
        self.version.iter().try_for_each(|version| write!(formatter, "={version}"))
    }
}
