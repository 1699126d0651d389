//! The plain format: a JSON object per line.

use std::io;

use serde::{Deserialize, Serialize};

use crate::held::Event;
use crate::statement::Statement;

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at_us: i64,
    session: u32,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    took_us: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
}

/// The session and the event of a line.
pub(crate) fn statement(line: &str) -> Option<(String, Event)> {
    let Line { at_us, session, text, took_us, failed } = serde_json::from_str(line).ok()?;
    let event = Event::Statement { at_us, named: String::new(), text, took_us, failed };
    Some((session.to_string(), event))
}

/// True if a line is of this format.
pub(crate) fn is_one(line: &str) -> bool {
    statement(line).is_some()
}

/// Writes a statement as a line in the plain format: a JSON object with `at_us`, `session` (a
/// number), `text`, and, where they are known, `took_us` and `failed`.
///
/// # Errors
/// Writing failed.
pub fn write(statement: &Statement, to: &mut dyn io::Write) -> io::Result<()> {
    let Statement { at_us, session, text, took_us, failed } = statement.clone();
    let line = Line { at_us, session, text, took_us, failed };
    serde_json::to_writer(&mut *to, &line)?;
    to.write_all(b"\n")
}
