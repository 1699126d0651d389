//! The latest statement of each session, until it is known what became of it.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::TraceError;
use crate::format::Format;
use crate::statement::{Statement, Summary};

/// So many characters of a damaged record are shown.
const SHOWN: usize = 60;
/// So many records are needed to call a format wrong.
const ENOUGH: u64 = 20;

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// A statement, with the text that the server names it by; its session is not yet known.
    Statement { named: String, statement: Statement },
    /// How long the server took to prepare a statement, which the session may execute next.
    Prepared { named: String, us: u64 },
    /// How long the session's latest statement took.
    Took(u64),
    /// A statement that failed: the latest, or one that was not logged before; `None` if its values
    /// are not known.
    Failed { named: String, statement: Option<Statement> },
    /// The session is over.
    Ended,
    /// A statement that is not known as a whole.
    Damaged(String),
    /// Something else.
    Other,
}

/// A session that is open.
#[derive(Debug, Default)]
struct Open {
    number: Option<u32>,
    /// Its latest statement, and the name that the server has for it.
    latest: Option<(String, Statement)>,
    /// How long it took to prepare the latest statement, which is a part of its time.
    led_us: u64,
    /// What was prepared since, and how long that took.
    prepared: Option<(String, u64)>,
}

/// The open sessions of a log.
pub(crate) struct Held<'e> {
    each: &'e mut dyn FnMut(Statement) -> ControlFlow<()>,
    open: HashMap<String, Open>,
    databases: HashSet<Arc<str>>,
    summary: Summary,
    stopped: bool,
    /// Records say all that is known of their statements.
    at_once: bool,
}

impl<'e> Held<'e> {
    /// With `at_once`, each record says all that is known of its statement.
    pub(crate) fn new(
        each: &'e mut dyn FnMut(Statement) -> ControlFlow<()>,
        at_once: bool,
    ) -> Self {
        let (open, databases) = (HashMap::new(), HashSet::new());
        Held { each, open, databases, summary: Summary::default(), stopped: false, at_once }
    }

    /// The number of the record that comes next, from 1.
    pub(crate) fn next(&self) -> u64 {
        self.summary.records + 1
    }

    /// Takes a record of a session, whose database is empty if it is not known; false if nothing
    /// more is wanted.
    pub(crate) fn take(&mut self, session: &str, database: &str, event: Event) -> bool {
        self.summary.records += 1;
        match event {
            Event::Statement { named, statement } => {
                self.begin(session, database, named, statement);
            }
            Event::Prepared { named, us } => {
                self.summary.other += 1;
                let prepared = &mut self.open.entry(session.to_owned()).or_default().prepared;
                let before = prepared.take().filter(|(known, _)| *known == named);
                let before = before.map_or(0, |(_, us)| us);
                *prepared = Some((named, us.saturating_add(before)));
            }
            Event::Took(us) => {
                self.summary.other += 1;
                if let Some(Open { latest: Some((_, latest)), led_us, .. }) =
                    self.open.get_mut(session)
                {
                    latest.took_us.get_or_insert(us.saturating_add(*led_us));
                }
            }
            Event::Failed { named, statement } => {
                let latest = self.open.get_mut(session).and_then(|open| open.latest.as_mut());
                // One that took its time has ended, so this is another with the same text.
                let open = |it: &Statement| !it.failed && it.took_us.is_none();
                match (latest.filter(|(known, it)| *known == named && open(it)), statement) {
                    (Some((_, latest)), _) => {
                        latest.failed = true;
                        self.summary.other += 1;
                    }
                    (None, Some(failed)) => self.begin(session, database, named, failed),
                    (None, None) => self.summary.without_values += 1,
                }
            }
            Event::Ended => {
                self.summary.other += 1;
                if let Some((_, latest)) = self.open.remove(session).and_then(|open| open.latest) {
                    self.emit(latest);
                }
            }
            Event::Damaged(text) => {
                self.open.entry(session.to_owned()).or_default().prepared = None;
                self.damage(&text);
            }
            Event::Other => self.summary.other += 1,
        }
        !self.stopped
    }

    /// The server starts anew, and numbers its sessions from the beginning.
    pub(crate) fn end_all(&mut self) {
        let open = std::mem::take(&mut self.open);
        let latest = open.into_values().filter_map(|open| open.latest);
        let mut latest: Vec<Statement> = latest.map(|(_, statement)| statement).collect();
        latest.sort_by_key(|statement| (statement.at_us, statement.session));
        latest.into_iter().for_each(|statement| self.emit(statement));
    }

    /// Counts a record that can't be read.
    pub(crate) fn damaged(&mut self, record: &str) {
        self.summary.records += 1;
        self.damage(record);
    }

    /// The same, once the record is counted.
    fn damage(&mut self, record: &str) {
        self.summary.damaged += 1;
        let number = self.summary.records;
        let shown = || record.chars().take(SHOWN).filter(|it| !it.is_control()).collect();
        self.summary.first_damaged.get_or_insert_with(|| (number, shown()));
    }

    /// Holds a statement; the one before it is complete.
    fn begin(&mut self, session: &str, database: &str, named: String, mut statement: Statement) {
        statement.database = self.shared(database);
        if !self.open.contains_key(session) {
            self.open.insert(session.to_owned(), Open::default());
        }
        let Some(open) = self.open.get_mut(session) else { return };
        // A statement begins when it is parsed.
        open.led_us = match open.prepared.take() {
            Some((known, us)) if known == named && !statement.failed => us,
            _ => 0,
        };
        statement.at_us = statement.at_us.saturating_sub_unsigned(open.led_us);
        statement.took_us = statement.took_us.map(|us| us.saturating_add(open.led_us));
        if let Some((_, before)) = &open.latest {
            // Ends are logged to the millisecond, durations to the microsecond.
            statement.at_us = statement.at_us.max(before.at_us);
        }
        statement.session = *open.number.get_or_insert_with(|| {
            self.summary.sessions += 1;
            self.summary.sessions - 1
        });
        if self.at_once {
            return self.emit(statement);
        }
        if let Some((_, complete)) = open.latest.replace((named, statement)) {
            self.emit(complete);
        }
    }

    /// The name of a database, which statements share; `None` if it is empty.
    fn shared(&mut self, database: &str) -> Option<Arc<str>> {
        if !database.is_empty() && !self.databases.contains(database) {
            self.databases.insert(Arc::from(database));
        }
        self.databases.get(database).cloned()
    }

    fn emit(&mut self, statement: Statement) {
        if self.stopped {
            return;
        }
        self.summary.statements += 1;
        self.summary.failed += u64::from(statement.failed);
        self.stopped = (self.each)(statement).is_break();
    }

    /// The log is at its end.
    pub(crate) fn finish(mut self, format: Format) -> Result<Summary, TraceError> {
        self.end_all();
        let Summary { records, damaged, .. } = self.summary;
        match &self.summary.first_damaged {
            _ if records == 0 => Err(TraceError::NoRecords { format }),
            Some(_) if records == damaged && records < ENOUGH => {
                Err(TraceError::NoRecords { format })
            }
            Some((first, text)) if records >= ENOUGH && 2 * damaged > records => {
                let (first, text) = (*first, text.clone());
                Err(TraceError::Damaged { damaged, records, first, text })
            }
            _ => Ok(self.summary),
        }
    }
}
