//! What a plan's `dbms = "…"` names.

use std::fmt;
use std::str::FromStr;

use crate::postgres::PostgresReference;
use crate::{BuildOptions, Error};

/// A system under test as a plan names it. [`fmt::Display`] gives the text back without any password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// PostgreSQL.
    Postgres(PostgresReference),
}

impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        for later in ["mysql", "rocksdb"] {
            if text.strip_prefix(later).is_some_and(|rest| rest.starts_with(['@', ':'])) {
                return Err(Error::Unsupported {
                    what: format!("{later} as a system under test"),
                    remedy: "compare versions of postgres".to_owned(),
                });
            }
        }
        PostgresReference::from_str(text).map(Self::Postgres)
    }
}

impl Reference {
    /// The same, built with `options`.
    ///
    /// # Errors
    /// [`Error::Reference`] if it is not built from source, [`Error::BuildOption`] for what steelyard must choose.
    pub fn with_build(self, options: BuildOptions) -> Result<Self, Error> {
        options.check()?;
        match self {
            Self::Postgres(PostgresReference::Source(mut source)) => {
                source.options = options;
                Ok(Self::Postgres(PostgresReference::Source(source)))
            }
            Self::Postgres(other) => Err(Error::Reference {
                given: other.to_string(),
                problem: "it is not built from source, so `build` says nothing about it; remove `build`, or name a \
                          repository or a tarball (git:PATH#COMMIT, src:FILE)"
                    .to_owned(),
            }),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres(reference) => reference.fmt(formatter),
        }
    }
}
