//! The logs of MySQL and MariaDB: the general query log, in [`slow`] the other one, and in
//! [`digests`] the statements that they counted.

pub(crate) mod digests;
pub(crate) mod slow;

use std::collections::HashMap;
use std::io::BufRead;

use crate::error::TraceError;
use crate::held::{Event, Held};
use crate::statement::Statement;
use crate::{lines, stamps};

/// Commands with a statement.
const STATEMENTS: [&str; 2] = ["Query", "Execute"];
/// The others that begin a record.
const OTHERS: [&str; 26] = [
    "Binlog Dump",
    "Binlog Dump GTID",
    "Change user",
    "Close stmt",
    "Connect",
    "Connect Out",
    "Create DB",
    "Daemon",
    "Debug",
    "Delayed insert",
    "Drop DB",
    "Error",
    "Fetch",
    "Field List",
    "Init DB",
    "Kill",
    "Long Data",
    "Ping",
    "Prepare",
    "Processlist",
    "Quit",
    "Refresh",
    "Register Slave",
    "Reset stmt",
    "Reset Connection",
    "Statistics",
];
/// Records that end a session, or make it as good as new.
const ENDS: [&str; 3] = ["Quit", "Change user", "Reset Connection"];

/// The beginning of a record.
struct Begin<'l> {
    /// `None` in the old form, if it is the second of the record before.
    at_us: Option<i64>,
    session: &'l str,
    command: &'l str,
    argument: &'l str,
}

/// Reads a log.
pub(crate) fn read(log: &mut dyn BufRead, held: &mut Held<'_>) -> Result<(), TraceError> {
    let mut line = Vec::new();
    let (mut at_us, mut server) = (0, Server::default());
    let mut databases = HashMap::new();
    let mut open: Option<(String, String, String)> = None;
    while let Some(whole) = lines::next(log, &mut line)? {
        let text = String::from_utf8_lossy(&line);
        if let Some(found) = version(&text) {
            server.starts(found, held)?;
            if !take(open.take(), at_us, held, &mut databases) {
                return Ok(());
            }
            held.end_all();
            databases.clear();
            continue;
        }
        if is_head(&text) {
            continue;
        }
        match begin(&text) {
            Some(begin) => {
                if !take(open.take(), at_us, held, &mut databases) {
                    return Ok(());
                }
                at_us = begin.at_us.unwrap_or(at_us);
                let parts = [begin.session, begin.command, begin.argument];
                let [session, command, argument] = parts.map(str::to_owned);
                open = Some((session, command, argument));
            }
            None => match &mut open {
                Some((_, _, argument)) => {
                    if argument.len() < lines::LONGEST {
                        argument.push('\n');
                        argument.push_str(&text);
                    }
                }
                None if text.trim().is_empty() => {}
                None => held.damaged(&text),
            },
        }
        // A part of a statement may be another one: `DELETE FROM t`.
        if !whole && open.take().is_some() {
            held.damaged(&text);
        }
    }
    take(open, at_us, held, &mut databases);
    Ok(())
}

/// The server that writes a log.
#[derive(Default)]
struct Server(Option<String>);

impl Server {
    /// A server of this version starts the log, or goes on with it.
    fn starts(&mut self, found: &str, held: &Held<'_>) -> Result<(), TraceError> {
        let known = self.0.get_or_insert_with(|| found.to_owned());
        if known == found {
            return Ok(());
        }
        let (record, expected) = (held.next(), known.clone());
        Err(TraceError::AnotherServer { record, expected, found: found.to_owned() })
    }
}

/// Takes a whole record; false if nothing more is wanted. `databases`: those of the sessions.
fn take(
    record: Option<(String, String, String)>,
    at_us: i64,
    held: &mut Held<'_>,
    databases: &mut HashMap<String, String>,
) -> bool {
    let Some((session, command, argument)) = record else { return true };
    if let Some(database) = chosen(&command, &argument) {
        databases.insert(session.clone(), database.to_owned());
    } else if command == "Quit" {
        databases.remove(&session);
    }
    let database = databases.get(&session).map_or("", String::as_str);
    let event = match command.as_str() {
        command if ENDS.contains(&command) => Event::Ended,
        // The server itself, when it starts.
        _ if session == "0" => Event::Other,
        command if STATEMENTS.contains(&command) && is_sent(&argument) => {
            let statement = Statement { at_us, text: argument, ..Statement::default() };
            Event::Statement { named: String::new(), statement }
        }
        _ => Event::Other,
    };
    held.take(&session, database, event)
}

/// The database that a session has from this record on; empty for none.
fn chosen<'l>(command: &str, argument: &'l str) -> Option<&'l str> {
    match command {
        "Init DB" => Some(argument),
        // `shop@localhost on blog using Socket`
        "Connect" | "Change user" => {
            let (_, on) = argument.split_once(" on ")?;
            Some(on.split_once(" using ").map_or(on, |(database, _)| database).trim())
        }
        command if STATEMENTS.contains(&command) => used(argument),
        _ => None,
    }
}

/// The database of a `USE`.
fn used(text: &str) -> Option<&str> {
    let (word, name) = uncommented(text).split_once(char::is_whitespace)?;
    let name = name.split(';').next().unwrap_or_default().trim();
    word.eq_ignore_ascii_case("use").then(|| name.trim_matches('`'))
}

/// True for texts to send again. `EXECUTE` of a statement prepared as text is logged as an
/// `Execute`, too, with its values. `USE` names a database that the data are not in, `KILL` a
/// session that has another number here, a server must not end, and its logs go on.
fn is_sent(text: &str) -> bool {
    let mut words = uncommented(text).split(|c: char| c.is_whitespace() || ";,".contains(c));
    let first = words.next().unwrap_or_default();
    let others = ["", "use", "prepare", "execute", "deallocate", "kill", "shutdown", "restart"];
    // `FLUSH LOCAL ERROR LOGS`, `FLUSH HOSTS, LOGS`; what follows `TABLES` are names.
    let is_table = |word: &&str| ["table", "tables"].iter().any(|it| it.eq_ignore_ascii_case(word));
    let flushes = first.eq_ignore_ascii_case("flush")
        && words.take_while(|word| !is_table(word)).any(|word| word.eq_ignore_ascii_case("logs"));
    !flushes && !others.iter().any(|other| first.eq_ignore_ascii_case(other))
}

/// A text without the comments and spaces before its first word. What is in `/*! … */` is executed.
fn uncommented(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let rest = match text.as_bytes() {
            [b'/', b'*', b'!', ..] => None,
            [b'/', b'*', ..] => text.split_once("*/"),
            [b'#', ..] | [b'-', b'-', ..] => text.split_once('\n'),
            _ => None,
        };
        let Some((_, rest)) = rest else { return text };
        text = rest;
    }
}

/// The record that a line begins: `2026-11-24T10:00:00.1Z⇥   12 Query⇥SELECT 1`, in the old form
/// `261124 10:00:00⇥   12 Query⇥…`, or `⇥⇥   12 Query⇥…` in the same second.
fn begin(line: &str) -> Option<Begin<'_>> {
    let (time, rest) = line.split_once('\t')?;
    let at_us = match time.trim() {
        "" => None,
        time => Some(stamps::micros(time).or_else(|| stamps::short_micros(time))?),
    };
    let rest = rest.trim_start_matches(['\t', ' ']);
    let (session, rest) = rest.split_once(' ')?;
    let (command, argument) = rest.split_once('\t').unwrap_or((rest, ""));
    let command = command.trim_end();
    let number = !session.is_empty() && session.bytes().all(|byte| byte.is_ascii_digit());
    // In a line with a time, any command begins a record.
    let known = STATEMENTS.contains(&command) || OTHERS.contains(&command) || at_us.is_some();
    (number && known).then_some(Begin { at_us, session, command, argument })
}

/// The server that starts a log: `mysqld, Version: 8.0.15 (…). started with:`.
fn version(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(", Version: ")?;
    let (version, _) =
        rest.split_once(". started with:").or_else(|| rest.split_once(" started with:"))?;
    Some(version)
}

/// True for the other lines that each start of a server writes.
fn is_head(line: &str) -> bool {
    line.starts_with("Tcp port: ") || line.starts_with("Time") && line.contains("Id Command")
}

/// True if a log may begin with such a line.
pub(crate) fn is_one(line: &str) -> bool {
    let record = || begin(line).is_some_and(|begin| begin.at_us.is_some());
    version(line).is_some() || is_head(line) || record()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_a_session_or_the_server_is_not_sent() {
        for text in ["", "USE shop", "kill 12", "KILL QUERY 3", "Shutdown", "EXECUTE s USING @a"] {
            assert!(!is_sent(text), "{text}");
        }
        for text in ["FLUSH LOGS", "flush local binary logs;", "FLUSH HOSTS,LOGS"] {
            assert!(!is_sent(text), "{text}");
        }
        for text in ["FLUSH TABLES logs", "FLUSH STATUS", "SELECT logs"] {
            assert!(is_sent(text), "{text}");
        }
        for text in ["SHUTDOWN;", "/* app */ KILL 3", "-- why\n  # and\n restart", ";"] {
            assert!(!is_sent(text), "{text}");
        }
        assert!(!is_sent(&format!("{}KILL 3", "/**/".repeat(1_000_000))));
        for text in ["SELECT 1", "killed()", "CALL restart_counters()", "/*!40101 SET x = 1 */"] {
            assert!(is_sent(text), "{text}");
        }
    }
}
