//! Which format a log, or a table of digests, has.

use std::io::BufRead;

use crate::digests;
use crate::error::TraceError;
use crate::format::Format;
use crate::postgres::{record, tables, text};
use crate::{mysql, plain};

/// The format of a log that starts like this; `None` if it is not known.
pub fn detect(start: &str) -> Option<Format> {
    let line = start.lines().find(|line| !line.trim().is_empty())?;
    if let Some(digests) = digests::format_of(line) {
        return Some(digests);
    }
    if plain::is_one(line) {
        return Some(Format::Plain);
    }
    if record::is_json(line) {
        return Some(Format::PostgresJson);
    }
    if tables::is_one(line) {
        return Some(Format::PostgresCsv);
    }
    if start.lines().take(5).any(mysql::slow::is_one) {
        return Some(Format::MysqlSlow);
    }
    if start.lines().take(4).any(mysql::is_one) {
        return Some(Format::MysqlGeneral);
    }
    let prefix = text::Prefix::new(text::PREFIX).ok()?;
    start.lines().any(|line| prefix.is_one(line)).then_some(Format::PostgresStderr)
}

/// The given format, or the one that a log has, from what its reader holds at the beginning: give
/// it room for several records.
///
/// # Errors
/// The log can't be read, or no format is given or found.
pub fn format_of(given: Option<Format>, log: &mut dyn BufRead) -> Result<Format, TraceError> {
    let start = String::from_utf8_lossy(log.fill_buf()?);
    let known = || Format::ALL.map(|format| format.to_string()).join(", ");
    given.or_else(|| detect(&start)).ok_or_else(|| TraceError::Undetected { known: known() })
}
