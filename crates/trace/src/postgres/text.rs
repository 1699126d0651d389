//! PostgreSQL's log as text.

use std::io::BufRead;

use super::record::Record;
use crate::error::TraceError;
use crate::held::{Event, Held};
use crate::{lines, stamps};

/// The default of `log_line_prefix`, and what Debian adds to it: lines of either are read.
pub(crate) const PREFIX: &str = "%m [%p] %q%u@%d ";

/// Severities that begin a record.
const SEVERITIES: [&str; 12] = [
    "LOG", "ERROR", "FATAL", "PANIC", "WARNING", "NOTICE", "INFO", "DEBUG1", "DEBUG2", "DEBUG3",
    "DEBUG4", "DEBUG5",
];

/// Labels of the other lines of a record.
const LABELS: [&str; 7] =
    ["DETAIL", "HINT", "QUERY", "CONTEXT", "STATEMENT", "LOCATION", "BACKTRACE"];

/// A part of a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// An escape, by its letter.
    Field(char),
    /// What follows is missing in lines of processes without a session.
    Optional,
}

/// A `log_line_prefix`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefix {
    parts: Vec<Part>,
}

/// What a prefix says, and the rest of its line.
struct Line<'l> {
    at_us: Option<i64>,
    session: &'l str,
    database: &'l str,
    rest: &'l str,
}

impl Prefix {
    pub(crate) fn new(prefix: &str) -> Result<Prefix, TraceError> {
        let mut parts: Vec<Part> = Vec::new();
        let mut chars = prefix.chars();
        while let Some(c) = chars.next() {
            let text = match c {
                '%' => {
                    // `%-10u` pads.
                    let field = chars.find(|c| !(c.is_ascii_digit() || *c == '-'));
                    match field {
                        Some('%') => '%',
                        Some('q') => {
                            parts.push(Part::Optional);
                            continue;
                        }
                        None => continue,
                        Some(field) => {
                            parts.push(Part::Field(field));
                            continue;
                        }
                    }
                }
                c => c,
            };
            match parts.last_mut() {
                Some(Part::Text(known)) => known.push(text),
                _ => parts.push(Part::Text(text.to_string())),
            }
        }
        let has = |wanted: &[char]| {
            parts.iter().any(|part| matches!(part, Part::Field(it) if wanted.contains(it)))
        };
        match has(&['p', 'c']) && has(&['m', 't', 'n']) {
            true => Ok(Prefix { parts }),
            false => Err(TraceError::Prefix { prefix: prefix.to_owned() }),
        }
    }

    /// Takes the prefix off a line.
    fn line<'l>(&self, line: &'l str) -> Option<Line<'l>> {
        let (mut at_us, mut session, mut process, mut database) = (None, None, None, "");
        let mut rest = line;
        for (place, part) in self.parts.iter().enumerate() {
            let field = match part {
                Part::Text(text) => {
                    rest = rest.strip_prefix(text.as_str())?;
                    continue;
                }
                Part::Optional if labeled(rest) => break,
                Part::Optional => continue,
                Part::Field(field) => field,
            };
            let length = match (field, self.parts.get(place + 1)) {
                ('p', _) => rest.find(|c: char| !c.is_ascii_digit())?,
                ('c', _) => rest.find(|c: char| !(c.is_ascii_hexdigit() || c == '.'))?,
                ('n', _) => rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?,
                // Date, time and zone.
                ('m' | 't' | 's', _) => stamp(rest)?,
                (_, Some(Part::Text(next))) => rest.find(next.as_str())?,
                (_, _) => rest.find(char::is_whitespace)?,
            };
            let (value, after) = rest.split_at_checked(length)?;
            match field {
                'm' | 't' => at_us = Some(stamps::micros(value)?),
                'n' => at_us = Some(stamps::epoch_micros(value)?),
                'd' => database = value,
                'c' => session = Some(value).filter(|value| !value.is_empty()),
                'p' => process = Some(value).filter(|value| !value.is_empty()),
                _ => {}
            }
            rest = after;
        }
        Some(Line { at_us, session: session.or(process)?, database, rest })
    }

    /// True for the first line of a record.
    pub(crate) fn is_one(&self, line: &str) -> bool {
        let severity = |line: Line<'_>| Some(line.rest.split_once(":  ")?.0.to_owned());
        let found = self.line(line).and_then(severity);
        found.is_some_and(|found| SEVERITIES.contains(&found.as_str()))
    }
}

/// True for the rest of a line that begins with a label.
fn labeled(rest: &str) -> bool {
    let label = rest.split_once(":  ").map(|(label, _)| label);
    label.is_some_and(|label| SEVERITIES.contains(&label) || LABELS.contains(&label))
}

/// The length of `2026-11-24 10:00:00.123 UTC`.
fn stamp(text: &str) -> Option<usize> {
    let blanks: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).take(3).collect();
    match blanks[..] {
        [_, zone, end] => {
            let word = &text[zone + 1..end];
            let name = word.starts_with(|c: char| c.is_ascii_alphabetic() || "+-<".contains(c));
            // `%m:` and the like: the zone ends before the next sign.
            let length = word.find(|c: char| !(c.is_ascii_alphanumeric() || "+-<>_/".contains(c)));
            name.then(|| zone + 1 + length.unwrap_or(word.len()))
        }
        _ => None,
    }
}

/// A record, as far as its lines have come.
#[derive(Debug, Default)]
struct Open {
    at_us: i64,
    session: String,
    database: String,
    severity: String,
    message: String,
    detail: String,
    context: String,
    query: String,
}

impl Open {
    /// The text of a part of it.
    fn part(&mut self, name: &str) -> Option<&mut String> {
        match name {
            "" => Some(&mut self.message),
            "detail" => Some(&mut self.detail),
            "context" => Some(&mut self.context),
            "query" => Some(&mut self.query),
            _ => None,
        }
    }

    fn event(&self) -> Event {
        let Open { at_us, severity, message, detail, context, query, .. } = self;
        // A line does not say what kind of process wrote it.
        Record { at_us: *at_us, severity, message, detail, context, query, own: false }.event()
    }
}

/// Reads a log.
pub(crate) fn read(
    log: &mut dyn BufRead,
    held: &mut Held<'_>,
    prefix: &Prefix,
) -> Result<(), TraceError> {
    let mut line = Vec::new();
    let mut open: Option<Open> = None;
    // The part of the record that the next line goes on with.
    let mut part = "";
    while let Some(whole) = lines::next(log, &mut line)? {
        let text = String::from_utf8_lossy(&line);
        let found = prefix.line(&text);
        let found = found.and_then(|line| Some((line.rest.split_once(":  ")?, line)));
        match (found, &mut open) {
            (Some(((severity, message), line)), _) if SEVERITIES.contains(&severity) => {
                if let Some(whole) = open.take()
                    && !held.take(&whole.session, &whole.database, whole.event())
                {
                    return Ok(());
                }
                part = "";
                open = Some(Open {
                    at_us: line.at_us.unwrap_or_default(),
                    session: line.session.to_owned(),
                    database: line.database.to_owned(),
                    severity: severity.to_owned(),
                    message: message.to_owned(),
                    ..Open::default()
                });
            }
            (Some(((name, text), line)), Some(open))
                if LABELS.contains(&name) && line.session == open.session =>
            {
                part = match name {
                    "DETAIL" => "detail",
                    "CONTEXT" => "context",
                    "STATEMENT" => "query",
                    _ => "other",
                };
                if let Some(known) = open.part(part) {
                    text.clone_into(known);
                }
            }
            // Further lines of a text begin with a tab.
            (None, Some(open)) if text.starts_with('\t') => {
                let more = &text[1..];
                if let Some(known) = open.part(part)
                    && known.len() < lines::LONGEST
                {
                    known.push('\n');
                    known.push_str(more);
                }
            }
            (None, _) if text.trim().is_empty() => {}
            _ => {
                part = "other";
                held.damaged(&text);
            }
        }
        if !whole && open.take().is_some() {
            held.damaged(&text);
        }
    }
    if let Some(whole) = open {
        held.take(&whole.session, &whole.database, whole.event());
    }
    Ok(())
}
