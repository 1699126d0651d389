//! The plain format: a JSON object per line.

use std::io;

use serde::{Deserialize, Serialize};

use crate::held::Event;
use crate::lines;
use crate::postgres::parameters;
use crate::statement::{Bound, Statement};

/// As many values fit into a message of PostgreSQL's protocol.
const MOST_VALUES: usize = 65_535;

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at_us: i64,
    session: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    database: String,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    took_us: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
    /// If values were sent apart: they, with `$1` and so on for them in the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Option<String>>>,
    /// The statement with values was prepared under a name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    named: bool,
}

/// What a line says.
pub(crate) fn statement(line: &str) -> Option<lines::Line> {
    let Line { at_us, session, database, text, took_us, failed, values, named } =
        serde_json::from_str(line).ok()?;
    let bound =
        values.map(|values| Bound { text: text.clone(), values, named, ..Bound::default() });
    let is_whole = bound.as_ref().map_or(!named, |bound| {
        let texts = bound.values.iter().flatten().chain([&bound.text]);
        bound.values.len() <= MOST_VALUES && !texts.into_iter().any(|text| text.contains('\0'))
    });
    let text = bound.as_ref().map_or(text, Bound::filled);
    if !is_whole || bound.is_some() && parameters::are_missing(&text) {
        return None;
    }
    let statement = Statement { at_us, text, took_us, failed, bound, ..Statement::default() };
    Some((session.to_string(), database, Event::Statement { named: String::new(), statement }))
}

/// True if a line is of this format.
pub(crate) fn is_one(line: &str) -> bool {
    statement(line).is_some()
}

/// Writes a statement as a line in the plain format: a JSON object with `at_us`, `session` (a
/// number), `text`, and, where they are known, `database`, `took_us` and `failed`. If values were
/// sent apart, `values` has them, and `text` `$1`, `$2`, … for them; `named` says that it was
/// prepared under a name.
///
/// # Errors
/// Writing failed.
pub fn write(statement: &Statement, to: &mut dyn io::Write) -> io::Result<()> {
    let Statement { at_us, session, database, text, took_us, failed, bound } = statement.clone();
    let database = database.as_deref().unwrap_or_default().to_owned();
    let (text, values, named) = match bound {
        Some(Bound { text, values, named, .. }) => (text, Some(values), named),
        None => (text, None, false),
    };
    let line = Line { at_us, session, database, text, took_us, failed, values, named };
    serde_json::to_writer(&mut *to, &line)?;
    to.write_all(b"\n")
}
