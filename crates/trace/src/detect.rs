//! Which format a log has.

use crate::format::Format;
use crate::postgres::{record, tables, text};
use crate::{mysql, plain};

/// The format of a log that starts like this; `None` if it is not known.
pub fn detect(start: &str) -> Option<Format> {
    let line = start.lines().find(|line| !line.trim().is_empty())?;
    if plain::is_one(line) {
        return Some(Format::Plain);
    }
    if record::is_json(line) {
        return Some(Format::PostgresJson);
    }
    if tables::is_one(line) {
        return Some(Format::PostgresCsv);
    }
    if start.lines().take(4).any(mysql::is_one) {
        return Some(Format::MysqlGeneral);
    }
    let prefix = text::Prefix::new(text::PREFIX).ok()?;
    start.lines().any(|line| prefix.is_one(line)).then_some(Format::PostgresStderr)
}
