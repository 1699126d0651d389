//! The location of a system's binaries, and facts about their build.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Error;

/// A system under test that is ready to start or already running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    /// The system's name: `postgres`.
    pub dbms: String,
    /// The version, as reported by the system: `13.7`.
    pub version: String,
    /// Where it came from, in words for a report; never with a password.
    pub source: String,
    /// The directory of its programs; `None` for a server that is already running.
    pub bin_dir: Option<PathBuf>,
    /// Known facts about the build; unknown ones are absent. The keys are the constants of
    /// [`crate::builds`]: hash of the server's binary, compiler, flags, options of configure,
    /// assertions, frame pointers, debug information, symbols. Builds from source also have the
    /// commit or the tarball's hash.
    pub build: BTreeMap<String, String>,
}

impl Installation {
    /// True if steelyard starts it, false if it is already running.
    pub fn is_ours(&self) -> bool {
        self.bin_dir.is_some()
    }

    /// The directory of its programs.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a server that is already running.
    pub(crate) fn programs(&self) -> Result<&Path, Error> {
        let what = || format!("starting {}, a server that is already running", self.source);
        self.bin_dir.as_deref().ok_or_else(|| Error::unsupported(what(), "attach to it"))
    }

    /// The first number of its version: 13 of `13.7`, 18 of `18devel`; `None` if it does not begin
    /// with a number.
    pub fn major(&self) -> Option<u32> {
        let digits = self.version.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.version.len());
        self.version.get(..digits)?.parse().ok()
    }
}

#[cfg(test)]
impl Installation {
    /// Of a release that is nowhere.
    pub(crate) fn of(dbms: &str, version: &str) -> Self {
        Self {
            dbms: dbms.to_owned(),
            version: version.to_owned(),
            source: String::new(),
            bin_dir: None,
            build: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn major_versions_are_read_from_any_form() {
        let of = |version: &str| Installation::of("postgres", version).major();
        for (version, major) in
            [("13.7", Some(13)), ("9.6.24", Some(9)), ("18devel", Some(18)), ("17", Some(17))]
        {
            assert_eq!(of(version), major, "{version}");
        }
        assert_eq!((of("unknown"), of("")), (None, None));
    }
}
