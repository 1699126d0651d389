//! What a plan's `dbms = "…"` names.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::postgres::PostgresReference;

/// A system under test as a plan names it. [`fmt::Display`] gives the text back without any password.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres(reference) => reference.fmt(formatter),
        }
    }
}
