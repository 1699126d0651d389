//! The contents of `[workload.replay]`.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use trace::{Databases, Format, Options, Statement, Summary};

use crate::data_directories::{DataDirectories, hexadecimal};
use crate::workloads::program::INIT;

/// Bytes of a log that are looked at to find its format.
const START: usize = 1 << 16;
/// If a larger share of a log's records can't be read, it is not sent.
const MAY_BE_DAMAGED: f64 = 0.01;
/// Largest number of statements that are kept in memory and sent again.
const MOST_STATEMENTS: usize = 20_000_000;

/// Settings of a log that is sent again.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayPlan {
    /// The log, by its whole path once the plan is read.
    pub log: Option<String>,
    /// What it had in it when the plan was read: SHA-256, in hexadecimal digits.
    pub digest: Option<String>,
    /// Most sessions that were open at the same time: as many connections send it again.
    pub clients: Option<u32>,
    /// Its format, if it is not found by looking.
    pub format: Option<Format>,
    /// `log_line_prefix` of the server that wrote it.
    pub line_prefix: Option<String>,
    /// Only the statements of this database are sent.
    pub only_database: Option<String>,
    /// What order between sessions is kept.
    pub order: Order,
    /// How many times as fast as it was written; as fast as answers arrive if `None`.
    pub speed: Option<f64>,
    /// So large a share of the statements may fail that did not fail in the log.
    pub may_fail: f64,
    /// A command that loads the data.
    pub init: Option<String>,
    /// The data directories that the data comes from instead.
    pub data: DataDirectories,
    /// The file with statements that make the data.
    pub setup_file: Option<String>,
    /// Its text.
    pub setup_text: Option<String>,
}

/// The order between the sessions of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// A transaction waits for those that changed one of its tables, and had ended when it began.
    Tables,
    /// None.
    Sessions,
}

impl Order {
    pub(super) const NAMED: [(&'static str, Order); 2] =
        [("tables", Order::Tables), ("sessions", Order::Sessions)];

    /// Its name in plans.
    pub fn name(self) -> &'static str {
        Order::NAMED.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }
}

// `speed` is a number.
impl Eq for ReplayPlan {}

impl Default for ReplayPlan {
    /// No log; one in a hundred statements may fail.
    fn default() -> Self {
        ReplayPlan {
            log: None,
            digest: None,
            clients: None,
            format: None,
            line_prefix: None,
            only_database: None,
            order: Order::Tables,
            speed: None,
            may_fail: 0.01,
            init: None,
            data: DataDirectories::default(),
            setup_file: None,
            setup_text: None,
        }
    }
}

/// A log in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// Its format.
    pub format: Format,
    /// Its statements, as the server logged them, without those that move data in bulk.
    pub statements: Vec<Statement>,
    /// How many of these there were.
    pub bulk: u64,
    /// What else it had in it.
    pub summary: Summary,
}

impl ReplayPlan {
    /// The step that sends the log.
    pub const REPLAY: &'static str = "replay";
    /// The step that runs the statements of `setup_file`.
    pub const SETUP: &'static str = "setup";

    /// The steps that make the data, in their order.
    pub fn loads(&self) -> Vec<&'static str> {
        let init = self.init.iter().map(|_| INIT);
        init.chain(self.setup_text.iter().map(|_| Self::SETUP)).collect()
    }

    /// Reads the log.
    ///
    /// # Errors
    /// A sentence: it cannot be read, has no statements, is too large, or changed since the plan
    /// was read.
    pub fn read(&self) -> Result<Log, String> {
        let (log, digest) = self.open()?;
        let changed = self.digest.as_ref().is_some_and(|known| *known != digest);
        match changed {
            true => Err(format!(
                "the log {} has changed since the plan was read; start a new run",
                self.log.as_deref().unwrap_or_default()
            )),
            false => Ok(log),
        }
    }

    /// True unless a statement went to another database than the one that is sent.
    fn may_send(&self, statement: &Statement) -> bool {
        let database = statement.database.as_deref().zip(self.only_database.as_deref());
        database.is_none_or(|(found, wanted)| found == wanted)
    }

    /// Leaves only statements of the chosen database, unless the log has none for any of them.
    fn choose(&self, databases: &Databases, statements: &mut Vec<Statement>) -> Result<(), String> {
        let mut counts = databases.counts();
        match &self.only_database {
            _ if counts.len() == 0 => {}
            Some(name) if counts.all(|(known, _)| known != name) => {
                return Err(format!(
                    "has no statements of the database {name}, but those of {databases}"
                ));
            }
            Some(_) => statements.retain(|statement| statement.database.is_some()),
            None if counts.len() > 1 => {
                return Err(format!(
                    "has the statements of several databases: {databases}; name one of them with \
                     only_database (--only-database), and restore its data"
                ));
            }
            None => {}
        }
        Ok(())
    }

    /// The log and its digest.
    pub(super) fn open(&self) -> Result<(Log, String), String> {
        let path = self.log.as_deref().ok_or("no log")?;
        let failed = |error: io::Error| format!("cannot read {path}: {error}");
        let file = File::open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(format!("{path} is not a file"));
        }
        let hashing = Hashing { file, hash: Sha256::new() };
        let mut log = BufReader::with_capacity(START, hashing);
        let unread = |error: trace::TraceError| format!("{path}: {error}");
        let format = trace::format_of(self.format, &mut log).map_err(unread)?;
        let (mut statements, mut bulk, mut databases) = (Vec::new(), 0, Databases::default());
        let syntax = format.syntax().unwrap_or(trace::Syntax::Dollars);
        let options = Options { line_prefix: self.line_prefix.clone() };
        let summary = trace::read(format, &options, &mut log, &mut |statement| {
            databases.add(&statement);
            match trace::moves_data(&statement.text, syntax) {
                _ if !self.may_send(&statement) => {}
                true => bulk += 1,
                false => statements.push(statement),
            }
            match statements.len() <= MOST_STATEMENTS {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        let summary = summary.map_err(unread)?;
        self.choose(&databases, &mut statements).map_err(|problem| format!("{path} {problem}"))?;
        if statements.is_empty() {
            return Err(format!(
                "{path} has no statements to send; see docs/replay.md for settings"
            ));
        }
        if summary.damaged as f64 > MAY_BE_DAMAGED * summary.records as f64 {
            let (number, text) = summary.first_damaged.unwrap_or_default();
            return Err(format!(
                "{path}: {} of {} records can't be read, the first of them record {number} (`{text}`); \
                 was it written with `log_line_prefix`, or in another language?",
                summary.damaged, summary.records
            ));
        }
        if statements.len() > MOST_STATEMENTS {
            return Err(format!("{path} has more than {MOST_STATEMENTS} statements; cut it"));
        }
        io::copy(&mut log, &mut io::sink()).map_err(failed)?;
        let digest = hexadecimal(&log.into_inner().hash.finalize());
        Ok((Log { format, statements, bulk, summary }, digest))
    }
}

/// A file whose bytes are hashed as they are read.
struct Hashing {
    file: File,
    hash: Sha256,
}

impl Read for Hashing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.hash.update(&into[..read]);
        Ok(read)
    }
}

impl Log {
    /// The sessions that share a connection, one after another, with the numbers of the log. A
    /// session goes to the connection that has been free for the shortest time.
    pub fn connections(&self) -> Vec<Vec<u32>> {
        let mut sessions: Vec<(u32, i64, i64)> = Vec::new();
        let mut places = HashMap::new();
        for statement in &self.statements {
            let end = statement.at_us.saturating_add_unsigned(statement.took_us.unwrap_or(0));
            let place = *places.entry(statement.session).or_insert(sessions.len());
            match sessions.get_mut(place) {
                Some((_, first, last)) => {
                    (*first, *last) = ((*first).min(statement.at_us), (*last).max(end));
                }
                None => sessions.push((statement.session, statement.at_us, end)),
            }
        }
        sessions.sort_by_key(|(session, first, _)| (*first, *session));
        let mut connections: Vec<Vec<u32>> = Vec::new();
        // Until when each connection is in use.
        let mut used: BTreeSet<(i64, usize)> = BTreeSet::new();
        for (session, first, last) in sessions {
            let free = used.range(..(first, 0)).next_back().copied();
            let place = match free {
                Some(free) => {
                    used.remove(&free);
                    free.1
                }
                None => {
                    connections.push(Vec::new());
                    connections.len() - 1
                }
            };
            connections[place].push(session);
            used.insert((last, place));
        }
        connections
    }
}
