//! The slow query log of MySQL and MariaDB, which has all statements if `long_query_time` is 0.
//!
//! ```text
//! # Time: 2026-11-28T22:41:53.357021Z              or 261128 22:41:31, or none in the same second
//! # User@Host: shop[shop] @ localhost []  Id:     7             MariaDB: without an Id,
//! # Thread_id: 3  Schema: shop  QC_hit: No                              but with this line
//! # Query_time: 0.000147  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
//! use shop;
//! SET timestamp=1795905713;
//! SELECT name
//! FROM items;
//! ```

use std::io::BufRead;

use super::{ENDS, Server, is_head, is_sent, version};
use crate::error::TraceError;
use crate::held::{Event, Held};
use crate::{lines, stamps};

/// So many lines may lie between those with the user and the time that a statement took.
const BETWEEN: usize = 4;
/// A record that is no statement.
const COMMAND: &str = "# administrator command: ";

/// What precedes a statement.
#[derive(Default)]
struct Head {
    /// When the statement ended, if its second is not that of the record before.
    ended_us: Option<i64>,
    session: Option<String>,
    took_us: u64,
    failed: bool,
}

/// A record whose end is not known yet.
struct Record {
    head: Head,
    /// The server's own statements before the client's are over.
    begun: bool,
    text: String,
}

/// Reads a log.
pub(crate) fn read(log: &mut dyn BufRead, held: &mut Held<'_>) -> Result<(), TraceError> {
    let mut reader = Reader { held, now_us: 0, record: None, pending: Vec::new() };
    let (mut line, mut server) = (Vec::new(), Server::default());
    while let Some(whole) = lines::next(log, &mut line)? {
        let text = String::from_utf8_lossy(&line);
        let starting = version(&text);
        if starting.is_some() {
            reader.give_up();
        }
        if let Some(found) = starting.filter(|_| reader.may_end()) {
            server.starts(found, reader.held)?;
            if !reader.end() {
                return Ok(());
            }
            reader.held.end_all();
            continue;
        }
        if is_head(&text) && reader.record.is_none() {
            continue;
        }
        if !reader.line(&text) {
            return Ok(());
        }
        // Without its end, a line may be a part of a statement.
        if !whole && reader.record.take().is_some() {
            reader.held.damaged(&text);
        }
    }
    reader.give_up();
    reader.end();
    Ok(())
}

struct Reader<'a, 'e> {
    held: &'a mut Held<'e>,
    /// The time of the record before; a session can set its own back, which counts for nothing.
    now_us: i64,
    record: Option<Record>,
    /// Lines that begin a record, or are a part of the statement before them.
    pending: Vec<String>,
}

impl Reader<'_, '_> {
    /// Takes a line; false if nothing more is wanted.
    fn line(&mut self, line: &str) -> bool {
        if !self.pending.is_empty() {
            let user = self.pending.iter().any(|it| it.starts_with("# User@Host: "));
            let goes_on = match user {
                false => line.starts_with("# User@Host: "),
                true => line.starts_with("# ") && self.pending.len() < 2 + BETWEEN,
            };
            if goes_on {
                self.pending.push(line.to_owned());
                return !line.starts_with("# Query_time: ") || self.begin();
            }
            self.give_up();
        }
        if self.may_end() && starts(line) {
            self.pending.push(line.to_owned());
            return true;
        }
        match &mut self.record {
            Some(record) => record.add(line),
            None if line.trim().is_empty() => {}
            None => self.held.damaged(line),
        }
        true
    }

    /// True if a record may begin here: the one before has its semicolon.
    fn may_end(&self) -> bool {
        self.record.as_ref().is_none_or(|record| record.text.ends_with(';'))
    }

    /// The pending lines begin no record.
    fn give_up(&mut self) {
        for line in std::mem::take(&mut self.pending) {
            match &mut self.record {
                Some(record) => record.add(&line),
                None => self.held.damaged(&line),
            }
        }
    }

    /// Ends the record before and begins another with the pending lines; false if nothing more is
    /// wanted.
    fn begin(&mut self) -> bool {
        let go_on = self.end();
        let head = Head::of(&std::mem::take(&mut self.pending));
        self.record = Some(Record { head, begun: false, text: String::new() });
        go_on
    }

    /// Takes the record, if there is one; false if nothing more is wanted.
    fn end(&mut self) -> bool {
        let Some(Record { head, text, .. }) = self.record.take() else { return true };
        self.now_us = self.now_us.max(head.ended_us.unwrap_or(0));
        let Some(session) = head.session else {
            self.held.damaged("a record without a session");
            return true;
        };
        let event = match (text.strip_suffix(';'), text.strip_prefix(COMMAND)) {
            (None, _) => Event::Damaged(text),
            (Some(_), Some(command)) if ENDS.contains(&command.trim_end_matches(';')) => {
                Event::Ended
            }
            (Some(text), None) if is_sent(text) => Event::Statement {
                at_us: self.now_us.saturating_sub_unsigned(head.took_us),
                named: String::new(),
                text: text.to_owned(),
                took_us: Some(head.took_us),
                failed: head.failed,
            },
            _ => Event::Other,
        };
        self.held.take(&session, event)
    }
}

impl Record {
    /// A line after the head.
    fn add(&mut self, line: &str) {
        if !self.begun {
            // Statistics, the database, and the time that functions such as NOW() return.
            let own = line.starts_with("# ") && !line.starts_with(COMMAND);
            let time = line.starts_with("SET ") && line.contains("timestamp=");
            self.begun = time;
            if own || time || line.starts_with("use ") {
                return;
            }
            self.begun = true;
        }
        if self.text.len() < lines::LONGEST {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(line);
        }
    }
}

impl Head {
    fn of(lines: &[String]) -> Self {
        let mut head = Self::default();
        for line in lines {
            if let Some(time) = line.strip_prefix("# Time: ") {
                head.ended_us = stamps::micros(time).or_else(|| stamps::short_micros(time));
            }
            let session = field(line, "Thread_id:").or_else(|| field(line, "Id:"));
            head.session = head.session.or(session.map(str::to_owned));
            if let Some(seconds) = field(line, "Query_time:").and_then(|it| it.parse().ok()) {
                let seconds: f64 = seconds;
                head.took_us = (seconds * 1e6).round() as u64;
            }
            let error = field(line, "Last_errno:").or_else(|| field(line, "Errno:"));
            head.failed |= error.is_some_and(|number| number != "0");
        }
        head
    }
}

/// The word after a name in a line of a head.
fn field<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == name)?;
    words.next()
}

/// True for a line that may begin a record.
fn starts(line: &str) -> bool {
    let time = |text: &str| stamps::micros(text).or_else(|| stamps::short_micros(text)).is_some();
    line.strip_prefix("# Time: ").is_some_and(time)
        || line.strip_prefix("# User@Host: ").is_some_and(|user| user.contains('['))
}

/// True if a log of this format may begin with such a line.
pub(crate) fn is_one(line: &str) -> bool {
    starts(line)
}
