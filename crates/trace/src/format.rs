//! Formats of logs.

use std::fmt;
use std::str::FromStr;

use crate::tokens::Syntax;

/// A format of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PostgreSQL's `csvlog`.
    PostgresCsv,
    /// PostgreSQL's `jsonlog`.
    PostgresJson,
    /// PostgreSQL's log as text, with a `log_line_prefix`.
    PostgresStderr,
    /// The general query log of MySQL or MariaDB.
    MysqlGeneral,
    /// The slow query log of MySQL or MariaDB.
    MysqlSlow,
    /// A JSON object per line, as [`crate::write`] writes it.
    Plain,
}

/// A name that no format has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{found}`; expected one of {known}")]
pub struct UnknownFormat {
    /// What was given.
    found: String,
    /// The formats there are.
    known: String,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] = [
        Format::PostgresCsv,
        Format::PostgresJson,
        Format::PostgresStderr,
        Format::MysqlGeneral,
        Format::MysqlSlow,
        Format::Plain,
    ];

    /// How statements are divided into tokens; `None` if the format doesn't say.
    pub fn syntax(self) -> Option<Syntax> {
        match self {
            Format::PostgresCsv | Format::PostgresJson | Format::PostgresStderr => {
                Some(Syntax::Dollars)
            }
            Format::MysqlGeneral | Format::MysqlSlow => Some(Syntax::Backslashes),
            Format::Plain => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Format::PostgresCsv => "postgres-csv",
            Format::PostgresJson => "postgres-json",
            Format::PostgresStderr => "postgres-stderr",
            Format::MysqlGeneral => "mysql-general",
            Format::MysqlSlow => "mysql-slow",
            Format::Plain => "plain",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Format, UnknownFormat> {
        Format::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| UnknownFormat {
            found: text.to_owned(),
            known: Format::ALL.map(Format::name).join(", "),
        })
    }
}

impl serde::Serialize for Format {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
