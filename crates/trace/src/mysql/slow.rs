//! The slow query log of MySQL and MariaDB, which has all statements if `long_query_time` is 0.
//!
//! ```text
//! # Time: 2026-11-28T22:41:53.357021Z              or 261128 22:41:31, or none in the same second
//! # User@Host: shop[shop] @ localhost []  Id:     7             MariaDB: without an Id,
//! # Thread_id: 3  Schema: shop  QC_hit: No                              but with this line
//! # Query_time: 0.000147  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
//! # Rows_affected: 0  Bytes_sent: 11                               and others, all optional
//! use shop;
//! SET timestamp=1795905713;
//! SELECT name
//! FROM items;
//! ```
//!
//! The log marks no end of a statement, and a literal may hold all of the above. Where a statement
//! seems to end inside a literal or a comment, it is damaged, and so is the one after it, which may
//! be a part of that literal.

use std::io::BufRead;

use super::{ENDS, Server, is_head, is_sent, used, version};
use crate::error::TraceError;
use crate::held::{Event, Held};
use crate::statement::Statement;
use crate::tokens::{Kind, Syntax, tokens};
use crate::{lines, stamps};

/// So many lines may lie between those with the user and the time that a statement took.
const BETWEEN: usize = 4;
/// A record that is no statement.
const COMMAND: &str = "# administrator command: ";
/// Longest duration that is believed, in seconds. One that is not comes from a clock set back.
const LONGEST: f64 = 1e9;

/// What precedes a statement.
#[derive(Default)]
struct Head {
    /// When the statement ended, if its second is not that of the record before.
    ended_us: Option<i64>,
    session: Option<String>,
    /// Its database, empty for none; `None` if the server says so only when it changes.
    database: Option<String>,
    took_us: Option<u64>,
    failed: bool,
}

/// A record whose end is not known yet.
#[derive(Default)]
struct Record {
    head: Head,
    /// Which time functions return in it, in seconds since 1970: the last line that the server
    /// writes before a statement. `None`: lines are still the server's own.
    clock: Option<i64>,
    /// The database, if it is not that of the record before.
    used: Option<String>,
    text: String,
    /// The last line ended with a semicolon.
    ended: bool,
    /// The text is not whole, because it is too long.
    cut: bool,
}

/// Reads a log.
pub(crate) fn read(log: &mut dyn BufRead, held: &mut Held<'_>) -> Result<(), TraceError> {
    let (pending, database) = (Vec::new(), String::new());
    let mut reader = Reader { held, now_us: 0, database, record: None, pending, suspect: false };
    let (mut line, mut server) = (Vec::new(), Server::default());
    while let Some(whole) = lines::next(log, &mut line)? {
        let text = String::from_utf8_lossy(&line);
        if let Some(found) = version(&text) {
            reader.give_up();
            server.starts(found, reader.held)?;
            if !reader.end() {
                return Ok(());
            }
            reader.held.end_all();
            reader.database.clear();
            continue;
        }
        if is_head(&text) && reader.record.is_none() {
            continue;
        }
        if !reader.line(&text) {
            return Ok(());
        }
        if reader.record.as_ref().is_some_and(|record| record.clock.is_none())
            && let Some(limit) = field(&text, "Log_slow_rate_limit:").filter(|it| *it != "1")
        {
            return Err(TraceError::Sampled {
                record: reader.held.next(),
                limit: limit.to_owned(),
            });
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
    /// The database of the record before.
    database: String,
    record: Option<Record>,
    /// Lines that begin a record, or are a part of the statement before them.
    pending: Vec<String>,
    /// The statement before ended inside a literal.
    suspect: bool,
}

impl Reader<'_, '_> {
    /// Takes a line; false if nothing more is wanted.
    fn line(&mut self, line: &str) -> bool {
        if !self.pending.is_empty() {
            let user = self.pending.iter().any(|it| it.starts_with("# User@Host: "));
            let goes_on = match user {
                false => line.starts_with("# User@Host: "),
                // A beginning is no continuation: the lines before it belong to a literal.
                true => line.starts_with("# ") && !starts(line) && self.pending.len() < 2 + BETWEEN,
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
        self.record.as_ref().is_none_or(|record| record.ended || record.clock.is_none())
    }

    /// The pending lines begin no record: they belong to a literal, or the log broke off.
    fn give_up(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if !pending.is_empty() && self.record.as_ref().is_some_and(|it| !is_open(&it.text)) {
            self.end();
        }
        for line in pending {
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
        self.record = Some(Record { head, ..Record::default() });
        go_on
    }

    /// Takes the record, if there is one; false if nothing more is wanted.
    fn end(&mut self) -> bool {
        let Some(Record { head, clock, used, text, cut, .. }) = self.record.take() else {
            return true;
        };
        self.database =
            head.database.or(used).unwrap_or_else(|| std::mem::take(&mut self.database));
        let ended_us = head.ended_us.or_else(|| {
            // A log that begins in the middle of a second.
            clock.filter(|_| self.now_us == 0)?.checked_mul(1_000_000)
        });
        self.now_us = self.now_us.max(ended_us.unwrap_or(0));
        let Some(session) = head.session else {
            self.held.damaged("a record without a session");
            return true;
        };
        let open = is_open(&text);
        // A server may refuse a statement for a literal without an end.
        let suspect = std::mem::replace(&mut self.suspect, open && !head.failed);
        let two = text.contains("\n# User@Host: ") && text.contains("\n# Query_time: ");
        let fit = !open && !suspect && !two && !cut;
        let event = match (text.strip_suffix(';'), text.strip_prefix(COMMAND)) {
            (None, _) => Event::Damaged(text),
            _ if !fit => Event::Damaged(text),
            (Some(_), Some(command)) if ENDS.contains(&command.trim_end_matches(';')) => {
                Event::Ended
            }
            (Some(sent), None) if is_sent(sent) => match head.took_us {
                Some(took_us) => Event::Statement {
                    named: String::new(),
                    statement: Statement {
                        at_us: self.now_us.saturating_sub_unsigned(took_us),
                        text: sent.to_owned(),
                        took_us: Some(took_us),
                        failed: head.failed,
                        ..Statement::default()
                    },
                },
                None => Event::Damaged(text),
            },
            _ => Event::Other,
        };
        self.held.take(&session, &self.database, event)
    }
}

impl Record {
    /// A line after the head. Up to the server's clock, lines have statistics, plans, warnings, and
    /// the database.
    fn add(&mut self, line: &str) {
        if self.clock.is_none() {
            self.used = self.used.take().or_else(|| used(line).map(str::to_owned));
            self.clock = clock(line);
            return;
        }
        self.ended = line.ends_with(';');
        self.cut |= self.text.len() + line.len() > lines::LONGEST;
        if !self.cut {
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
            // Another name follows if there is none.
            let schema = field(line, "Schema:").map(|it| if it.ends_with(':') { "" } else { it });
            head.database = head.database.or(schema.map(str::to_owned));
            if let Some(seconds) = field(line, "Query_time:").and_then(|it| it.parse().ok()) {
                let seconds: f64 = seconds;
                let known = (0.0..LONGEST).contains(&seconds);
                head.took_us = known.then(|| (seconds * 1e6).round() as u64);
            }
            let error = field(line, "Last_errno:").or_else(|| field(line, "Errno:"));
            head.failed |= error.is_some_and(|number| number != "0");
        }
        head
    }
}

/// The seconds of `SET last_insert_id=1,insert_id=2,timestamp=1795905713;`.
fn clock(line: &str) -> Option<i64> {
    let settings = line.strip_prefix("SET ")?.strip_suffix(';')?;
    let mut known = settings.split(',').map(|setting| setting.split_once('='));
    let last = known.next_back()??;
    let ids = |it: Option<(&str, &str)>| {
        it.is_some_and(|(name, _)| ["last_insert_id", "insert_id"].contains(&name))
    };
    // MariaDB writes fractions of a second.
    let (seconds, _) = last.1.split_once('.').unwrap_or((last.1, ""));
    (last.0 == "timestamp" && known.all(ids)).then(|| seconds.parse().ok())?
}

/// True if a text with its semicolon ends inside a literal, a quoted name or a comment.
fn is_open(text: &str) -> bool {
    let last = tokens(text, Syntax::Backslashes).last();
    last.is_some_and(|(kind, token)| {
        matches!(kind, Kind::Constant | Kind::Name) || token.starts_with("/*")
    })
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
