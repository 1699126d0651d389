//! Formats of logs, and of tables of digests.

use std::fmt;
use std::str::FromStr;

use crate::tokens::Syntax;

/// A format of logs, or of a table of digests.
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
    /// PostgreSQL's `pg_stat_statements` as CSV. No log: [`crate::read_digests`] reads it.
    PostgresDigests,
    /// `events_statements_summary_by_digest` of MySQL or MariaDB as a table. No log either.
    MysqlDigests,
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
    pub const ALL: [Format; 8] = [
        Format::PostgresCsv,
        Format::PostgresJson,
        Format::PostgresStderr,
        Format::MysqlGeneral,
        Format::MysqlSlow,
        Format::Plain,
        Format::PostgresDigests,
        Format::MysqlDigests,
    ];

    /// How statements are divided into tokens; `None` if the format doesn't say.
    pub fn syntax(self) -> Option<Syntax> {
        match self {
            Format::PostgresCsv
            | Format::PostgresJson
            | Format::PostgresStderr
            | Format::PostgresDigests => Some(Syntax::Dollars),
            Format::MysqlGeneral | Format::MysqlSlow | Format::MysqlDigests => {
                Some(Syntax::Backslashes)
            }
            Format::Plain => None,
        }
    }

    /// How far apart two times have to be, in microseconds, to tell which was first. PostgreSQL
    /// logs ends to the millisecond.
    pub fn resolution_us(self) -> i64 {
        match self {
            Format::PostgresCsv | Format::PostgresJson | Format::PostgresStderr => 1_000,
            _ => 0,
        }
    }

    /// True for tables of digests, which are no logs: they have no sessions, order or times.
    pub fn is_digests(self) -> bool {
        matches!(self, Format::PostgresDigests | Format::MysqlDigests)
    }

    fn name(self) -> &'static str {
        match self {
            Format::PostgresCsv => "postgres-csv",
            Format::PostgresJson => "postgres-json",
            Format::PostgresStderr => "postgres-stderr",
            Format::MysqlGeneral => "mysql-general",
            Format::MysqlSlow => "mysql-slow",
            Format::Plain => "plain",
            Format::PostgresDigests => "postgres-digests",
            Format::MysqlDigests => "mysql-digests",
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
