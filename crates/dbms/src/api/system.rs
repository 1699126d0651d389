//! A running system under test, seen from outside: its address, its counters, its end. [`Sql`] has
//! the operations of SQL servers only.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::api::excerpt::shorten;
use crate::process::server::{Interrupter, ServerProcess};
use crate::{Diagnosis, Ending, Endpoint, Error, Freeze, Restored, Snapshot, Stopped, Transport};

/// Number of log lines to search for a diagnosis.
const DIAGNOSED_LINES: usize = 12;

/// The failure that a commit survives, independent of the names of a system's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// A crash of the machine: each commit waits until its log is on the disk, and pages are
    /// protected against being half written.
    Full,
    /// No failure, for commits of about the last second: a commit doesn't wait for a disk. A system
    /// that hands its log to the operating system at each commit loses them only if the machine
    /// fails; another also loses them if the server fails.
    Relaxed,
}

/// A setting that differs from the built-in default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// The value as the server prints it, unit included: `128MB`. Values that may contain a
    /// password are replaced.
    pub value: String,
    /// The unit the server counts it in: `8kB`.
    pub unit: Option<String>,
    /// Where it was set: `configuration file`, `override`.
    pub source: String,
    /// The built-in value, in `unit`.
    pub boot_value: Option<String>,
}

/// The size of a table, index or other object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// The object, as named in the request.
    pub object: String,
    /// Bytes by name; PostgreSQL: `index` (all its indexes), `rel` (its main fork), `total`
    /// (everything: main and other forks, TOAST, indexes).
    pub bytes: BTreeMap<String, u64>,
}

/// Work that earlier writing has left behind; figures that the system does not know are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Debt {
    /// Versions of rows that nobody needs and that are not removed yet.
    pub dead_rows: Option<f64>,
    /// Pages that are not known to be all-visible, which index-only scans have to read. As of the
    /// last vacuum; pages written since then are not included.
    pub unseen_pages: Option<f64>,
    /// Bytes of all objects and their indexes.
    pub bytes: Option<f64>,
    /// Its current work in the background: `autovacuum: VACUUM public.pi1`, `checkpoint`.
    pub running: Vec<String>,
}

/// Something that a system did by itself, according to its log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEvent {
    /// When it was logged, in milliseconds since 1970 (UTC).
    pub at_ms: i64,
    /// The kind of event: `checkpoint`, `autovacuum`.
    pub kind: String,
    /// The message in the log, on one line.
    pub text: String,
}

/// Looks at what the sessions of clients wait for, from a connection of its own: how many are in
/// each state at the moment, such as `CPU` or `IO/DataFileRead`. Errors are as those of a
/// [`System`].
pub type Waits = Box<dyn FnMut() -> Result<Vec<(String, u32)>, Error> + Send>;

/// Looks by a query for the name of each state and how many sessions are in it.
pub(crate) fn looks(mut session: impl Sql + Send + 'static, sql: String) -> Result<Waits, Error> {
    let mut look = move || {
        let rows = session.pairs(&sql)?.into_iter();
        Ok(rows.filter_map(|(state, n)| Some((state, n.parse().ok()?))).collect())
    };
    look()?;
    Ok(Box::new(look))
}

/// Reads what a system reports about itself each second, from a connection of its own. Errors are
/// as those of a [`System`].
pub type Gauges = Box<dyn FnMut() -> Result<Vec<Gauge>, Error> + Send>;

/// Something that goes up and down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gauge {
    /// Its name, such as `state.L0`.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Unit of the value: `MB`, or empty.
    pub unit: String,
    /// Its value at the moment.
    pub value: f64,
}

/// A query plan, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParsedPlan {
    /// The plan without the values of the statement; equal plans have the same shape.
    pub shape: String,
    /// On one line, for people: `Limit, Index Scan using pi1_pdc on pi1`.
    pub outline: String,
}

impl ParsedPlan {
    /// A plan of which nothing but its text is known.
    pub fn verbatim(plan: &str) -> ParsedPlan {
        ParsedPlan { shape: plan.to_owned(), outline: plan.to_owned() }
    }
}

/// The result of settling.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// The actions and the server's output, line by line.
    pub lines: Vec<String>,
}

/// A started system, and how the copy of data was made that it runs on, if it does.
pub type Started = (Box<dyn System>, Option<Restored>);

/// A running system under test. If [`crate::start`] started it, it is ended on drop, and its files
/// are removed.
///
/// Methods that ask the system fail with [`Error::Connect`], or with [`Error::Query`] if it
/// refuses.
pub trait System: Send {
    /// Where clients connect.
    fn endpoint(&self) -> Endpoint;

    /// Where clients connect by `transport`. A server that was not started here has only its own
    /// address.
    ///
    /// # Errors
    /// [`Error::Transport`] if it is not reached by that.
    fn endpoint_by(&self, transport: Transport) -> Result<Endpoint, Error> {
        self.endpoint().only_by(transport)
    }

    /// Its process, if it was started here.
    fn process(&self) -> Option<&ServerProcess> {
        None
    }

    /// The same, to watch and to end it.
    fn process_mut(&mut self) -> Option<&mut ServerProcess> {
        None
    }

    /// The root of its process tree; `None` if it is on another machine or unknown.
    fn root_pid(&self) -> Option<u32> {
        self.process().map(ServerProcess::pid)
    }

    /// True if it was started here, false if it was found running.
    fn owned(&self) -> bool {
        self.process().is_some()
    }

    /// Where its data is, if that is on this machine and known.
    fn data_directory(&mut self) -> Option<PathBuf> {
        self.process()?.data_directory()
    }

    /// Its SQL side; `None` if it has none.
    fn sql(&mut self) -> Option<&mut dyn Sql> {
        None
    }

    /// Like [`System::sql`], but an error if there is none.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it has none.
    fn need_sql(&mut self) -> Result<&mut dyn Sql, Error> {
        let endpoint = self.endpoint();
        self.sql().ok_or_else(|| {
            Error::unsupported(format!("SQL on {endpoint}"), "choose a workload without SQL")
        })
    }

    /// Settings that differ from the built-in defaults, without those of the control connection
    /// itself.
    fn settings(&mut self) -> Result<Vec<Setting>, Error>;

    /// Its own counters, including those of `objects` with their indexes and partitions.
    ///
    /// They are complete for clients that disconnected before the call, which waits for their last
    /// numbers. Connected clients may not have reported their latest ones (in PostgreSQL, the last
    /// half second to a second of work, and what they did since they became idle). The call's own
    /// queries are counted too.
    fn counters(&mut self, objects: &[String]) -> Result<Snapshot, Error>;

    /// Sizes of `objects`, including all partitions of each.
    ///
    /// # Errors
    /// [`Error::Answer`] if one does not exist.
    fn footprint(&mut self, objects: &[String]) -> Result<Vec<Footprint>, Error>;

    /// Work left behind by writing to `objects` so far; empty if the system cannot tell.
    fn debt(&mut self, _objects: &[String]) -> Result<Debt, Error> {
        Ok(Debt::default())
    }

    /// Watches what its clients wait for; `None` if it doesn't tell.
    fn waits(&mut self) -> Result<Option<Waits>, Error> {
        Ok(None)
    }

    /// Watches what it reports about itself over time; `None` if it doesn't tell.
    fn gauges(&mut self) -> Result<Option<Gauges>, Error> {
        Ok(None)
    }

    /// Returns the log's record of things that it did by itself from `since_ms` on (milliseconds
    /// since 1970, UTC).
    fn events(&self, _since_ms: i64) -> Vec<LogEvent> {
        Vec::new()
    }

    /// How it would execute a statement, for people; `None` where it can't say.
    fn query_plan(&mut self, _statement: &str) -> Result<Option<String>, Error> {
        Ok(None)
    }

    /// Pays off the work that writing to `objects` left behind. The caller waits for the host's
    /// writeback and pauses after it.
    fn settle(&mut self, objects: &[String]) -> Result<Settled, Error>;

    /// Makes it write the data that it holds back in memory to disk now, so that it need not do so
    /// soon. Skipped if the role has no permission.
    fn flush(&mut self) -> Result<(), Error>;

    /// Ends it in good order and starts it again on the same data.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it was not started here or is no server; otherwise if it does not
    /// end or start.
    fn restart(&mut self) -> Result<(), Error> {
        Err(no_restart(&self.endpoint()))
    }

    /// Freezes all of its processes; `None` if it was not started here.
    fn freezer(&self) -> Option<Box<dyn Freeze>> {
        Some(Box::new(self.process()?.freezer()))
    }

    /// A handle for another thread to make it abort its work. After that, it can only be stopped.
    /// `None` if it was not started here.
    fn interrupter(&self) -> Option<Interrupter> {
        self.process()?.interrupter()
    }

    /// The last lines of its log; empty if steelyard did not start it.
    fn log_tail(&self, lines: usize) -> String {
        self.process().map(|process| process.log_tail(lines)).unwrap_or_default()
    }

    /// The known cause of its latest failures according to its log, if any.
    fn diagnose(&self) -> Option<Diagnosis> {
        let full = self.log_tail(DIAGNOSED_LINES).contains("No space left on device");
        full.then_some(Diagnosis::DiskFull)
    }

    /// How it ended, if it did. A system that steelyard did not start is sent a query to find out.
    fn died(&mut self) -> Option<String> {
        if let Some(process) = self.process_mut() {
            return process.died();
        }
        self.sql()?.query_i64("SELECT 1").err().map(|error| error.to_string())
    }

    /// Is it still running?
    fn alive(&mut self) -> bool {
        self.died().is_none()
    }

    /// Closes its own connections, so the end of the system need not wait for them.
    fn close(&mut self) {}

    /// Ends it and waits: asks, insists after the limit, kills after another. A system that
    /// steelyard did not start is left running.
    ///
    /// # Errors
    /// [`Error::Stuck`] if processes survive even that.
    fn stop(mut self: Box<Self>) -> Result<Stopped, Error> {
        self.close();
        leave(self.process_mut(), true)
    }

    /// Ends it at once: data that it holds back in memory is not written, so its data must not be
    /// used again. A system that steelyard did not start is left running.
    ///
    /// # Errors
    /// As [`System::stop`].
    fn end(mut self: Box<Self>) -> Result<Stopped, Error> {
        self.close();
        leave(self.process_mut(), false)
    }
}

/// For a system that can't be restarted.
pub(crate) fn no_restart(endpoint: &Endpoint) -> Error {
    let what = format!("restarting {endpoint}");
    Error::unsupported(what, "choose a server that steelyard starts")
}

/// Ends a system's process, if it was started here.
fn leave(process: Option<&mut ServerProcess>, gracefully: bool) -> Result<Stopped, Error> {
    match process {
        Some(process) => process.stop(gracefully),
        None => Ok(Stopped::new(0.0, Ending::LeftRunning, None, None)),
    }
}

/// Operations of SQL servers other than the load, on a control connection that is reopened if lost.
/// Fails with [`Error::Connect`], or with [`Error::Query`] if the server refuses.
pub trait Sql {
    /// Runs SQL. Several statements may be separated by semicolons. Returns the total number of
    /// affected rows.
    fn execute(&mut self, sql: &str) -> Result<u64, Error>;

    /// Runs a query; every value as text, `None` for NULL.
    fn query_rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error>;

    /// Runs a query that gives one text.
    ///
    /// # Errors
    /// [`Error::Answer`] if it gives anything else.
    fn text(&mut self, sql: &str) -> Result<String, Error> {
        let rows = self.query_rows(sql)?;
        match rows.as_slice() {
            [row] if row.len() == 1 => row.first().cloned().flatten(),
            _ => None,
        }
        .ok_or_else(|| {
            let expected = format!("one value from {}", shorten(sql));
            Error::answer(expected, format!("{} rows", rows.len()))
        })
    }

    /// Runs a query that gives one integer.
    ///
    /// # Errors
    /// [`Error::Answer`] if it gives anything else.
    fn query_i64(&mut self, sql: &str) -> Result<i64, Error> {
        let text = self.text(sql)?;
        text.parse().map_err(|_| Error::answer("an integer", format!("{text:?}")))
    }

    /// Runs a query with two columns, such as `SHOW GLOBAL STATUS`: a name and a value, which is
    /// empty for NULL.
    fn pairs(&mut self, sql: &str) -> Result<Vec<(String, String)>, Error> {
        let rows = self.query_rows(sql)?.into_iter();
        Ok(rows
            .filter_map(|row| match <[Option<String>; 2]>::try_from(row) {
                Ok([Some(name), value]) => Some((name, value.unwrap_or_default())),
                _ => None,
            })
            .collect())
    }

    /// Creates tables on a server that steelyard did not start, with the statements of `setup`, and
    /// marks them for [`Sql::drop_marked`].
    fn create_marked(&mut self, setup: &[String], tables: &[String]) -> Result<(), Error>;

    /// Drops those of `tables` that [`Sql::create_marked`] created, in this or an earlier run.
    /// Returns the first table that somebody else created, which stays.
    fn drop_marked(&mut self, tables: &[String]) -> Result<Option<String>, Error>;
}
