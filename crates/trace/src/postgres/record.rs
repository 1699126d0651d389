//! What a record of PostgreSQL's log says, whatever its format.

use serde::Deserialize;

use super::parameters;
use crate::held::Event;
use crate::statement::{Bound, Statement};
use crate::{lines, stamps};

/// The parts of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record<'r> {
    pub(crate) at_us: i64,
    pub(crate) severity: &'r str,
    pub(crate) message: &'r str,
    pub(crate) detail: &'r str,
    /// Where an error came up.
    pub(crate) context: &'r str,
    /// The statement that it is about.
    pub(crate) query: &'r str,
    /// True for a process without a client, which sends no statements.
    pub(crate) own: bool,
}

/// The kind of process that helps another with its statement, and logs that one's errors again.
pub(crate) const HELPER: &str = "parallel worker";

impl Record<'_> {
    /// What it says of its session.
    pub(crate) fn event(&self) -> Event {
        match self.severity {
            _ if self.own => Event::Other,
            // What a helper says when its leader's statement fails.
            "FATAL" if self.message.starts_with("terminating background worker") => Event::Other,
            "ERROR" | "FATAL" | "PANIC" if !self.query.is_empty() => self.failed(),
            "LOG" => self.logged(self.message),
            _ => Event::Other,
        }
    }

    /// A statement with an error. Its values are only logged by request.
    fn failed(&self) -> Event {
        let bound = |values| Bound { text: self.query.to_owned(), values, ..Bound::default() };
        let bound = parameters::of_context(self.context).map(bound);
        let text = bound.as_ref().map_or_else(|| self.query.to_owned(), Bound::filled);
        let whole = !parameters::are_missing(&text);
        let statement =
            Statement { at_us: self.at_us, text, failed: true, bound, ..Statement::default() };
        Event::Failed { named: self.query.to_owned(), statement: whole.then_some(statement) }
    }

    fn logged(&self, message: &str) -> Event {
        if let Some(rest) = message.strip_prefix("duration: ") {
            let Some((time, rest)) = rest.split_once(" ms") else { return Event::Other };
            let Some(us) = stamps::millis(time) else { return Event::Other };
            return match (rest.trim_start(), self.statement(rest.trim_start())) {
                ("", _) => Event::Took(us),
                // It was logged at its end.
                (_, Some((named, statement))) => {
                    let at_us = self.at_us.saturating_sub_unsigned(us);
                    whole(named, Statement { at_us, took_us: Some(us), ..statement })
                }
                (rest, None) => prepared(rest, us).unwrap_or(Event::Other),
            };
        }
        // A process that begins may have the number of one that ended.
        if ["disconnection: ", "connection received: "].iter().any(|it| message.starts_with(it)) {
            return Event::Ended;
        }
        match self.statement(message) {
            Some((named, statement)) => whole(named, statement),
            None => Event::Other,
        }
    }

    /// The statement of `statement: …` or `execute NAME: …`, and what the server calls it.
    fn statement(&self, message: &str) -> Option<(String, Statement)> {
        let at_us = self.at_us;
        if let Some(text) = message.strip_prefix("statement: ") {
            let statement = Statement { at_us, text: text.to_owned(), ..Statement::default() };
            return Some((text.to_owned(), statement));
        }
        let rest = message.strip_prefix("execute ")?;
        // `fetch from` is a part of a statement that was logged before.
        let rest = if rest.starts_with("fetch from ") { return None } else { rest };
        let (name, text) = rest.split_once(": ")?;
        // The name of a portal may follow.
        let named = !name.starts_with("<unnamed>");
        let values = parameters::values(self.detail);
        let bound = Bound { text: text.to_owned(), values, named, ..Bound::default() };
        let filled = bound.filled();
        let statement =
            Statement { at_us, text: filled, bound: Some(bound), ..Statement::default() };
        Some((text.to_owned(), statement))
    }
}

/// That a statement was parsed (`parse NAME: …`), or got its values and its plan (`bind NAME: …`).
fn prepared(rest: &str, us: u64) -> Option<Event> {
    let rest = rest.strip_prefix("parse ").or_else(|| rest.strip_prefix("bind "))?;
    let (_, text) = rest.split_once(": ")?;
    Some(Event::Prepared { named: text.to_owned(), us })
}

/// The statement, unless values of its parameters are missing. `PREPARE …` has none, and is whole.
fn whole(named: String, statement: Statement) -> Event {
    match statement.bound.is_some() && parameters::are_missing(&statement.text) {
        true => Event::Damaged(statement.text),
        false => Event::Statement { named, statement },
    }
}

/// The keys of a record of `jsonlog` that matter.
#[derive(Debug, Deserialize)]
struct Json {
    timestamp: String,
    session_id: String,
    #[serde(default)]
    dbname: String,
    error_severity: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    context: String,
    #[serde(default)]
    statement: String,
    #[serde(default)]
    backend_type: String,
}

/// What a line of `jsonlog` says.
pub(crate) fn json(line: &str) -> Option<lines::Line> {
    let json: Json = serde_json::from_str(line).ok()?;
    let record = Record {
        at_us: stamps::micros(&json.timestamp)?,
        severity: &json.error_severity,
        message: &json.message,
        detail: &json.detail,
        context: &json.context,
        query: &json.statement,
        own: json.backend_type == HELPER,
    };
    let event = record.event();
    Some((json.session_id, json.dbname, event))
}

/// True if a line is of `jsonlog`.
pub(crate) fn is_json(line: &str) -> bool {
    json(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(message: &str) -> Event {
        let detail = "parameters: $1 = '5', $2 = NULL";
        Record { at_us: 9_000_000, severity: "LOG", message, detail, ..Record::default() }.event()
    }

    #[test]
    fn statements_are_found_in_messages() {
        let bound = |at_us, named: &str, text: &str, took_us, bound: Option<bool>| {
            let values = vec![Some("5".to_owned()), None];
            let bound = bound.map(|named_so| Bound {
                text: named.to_owned(),
                values,
                named: named_so,
                ..Bound::default()
            });
            let text = text.to_owned();
            let statement = Statement { at_us, text, took_us, bound, ..Statement::default() };
            Event::Statement { named: named.to_owned(), statement }
        };
        let statement =
            |at_us, named: &str, text: &str, took_us| bound(at_us, named, text, took_us, None);
        assert_eq!(of("statement: SELECT 1"), statement(9_000_000, "SELECT 1", "SELECT 1", None));
        assert_eq!(
            of("execute P_1: SELECT $1, $2"),
            bound(9_000_000, "SELECT $1, $2", "SELECT '5', NULL", None, Some(true))
        );
        assert_eq!(
            of("duration: 1000.000 ms  execute <unnamed>: SELECT $1"),
            bound(8_000_000, "SELECT $1", "SELECT '5'", Some(1_000_000), Some(false))
        );
        assert_eq!(of("duration: 0.5 ms"), Event::Took(500));
        assert_eq!(of("disconnection: session time: 0:00:01"), Event::Ended);
        for step in ["parse <unnamed>", "bind P_1/C_1"] {
            let prepared = Event::Prepared { named: "SELECT 1".to_owned(), us: 500 };
            assert_eq!(of(&format!("duration: 0.5 ms  {step}: SELECT 1")), prepared);
        }
        for other in [
            "duration: 0.5 ms  execute fetch from C_1: SELECT 1",
            "execute fetch from C_1: SELECT 1",
            "checkpoint starting: time",
            "duration: x ms",
        ] {
            assert_eq!(of(other), Event::Other, "{other}");
        }
        let prepare = "PREPARE p AS SELECT $1";
        let message = format!("statement: {prepare}");
        assert_eq!(of(&message), statement(9_000_000, prepare, prepare, None));
        let message = format!("duration: 1.000 ms  {message}");
        assert_eq!(of(&message), statement(8_999_000, prepare, prepare, Some(1_000)));
        let helper =
            Record { severity: "ERROR", query: "SELECT 1", own: true, ..Record::default() };
        assert_eq!(helper.event(), Event::Other);
        assert_eq!(of("execute P: SELECT $3"), Event::Damaged("SELECT $3".to_owned()));
    }
}
