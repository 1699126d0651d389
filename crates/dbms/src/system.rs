//! A running system under test, seen from outside: where it is reached, what it counts, how it
//! ends. [`Sql`] is what only SQL servers have.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{
    Cache, Diagnosis, Endpoint, Error, Installation, Ledger, ServerUser, Snapshot, Stopped,
};

/// Log lines in which a diagnosis is looked for.
const DIAGNOSED_LINES: usize = 12;

/// What [`crate::start`] needs to know.
#[derive(Debug)]
pub struct ServerSpec<'a> {
    /// The binaries.
    pub installation: &'a Installation,
    /// The variant's name, for messages and the ledger.
    pub name: &'a str,
    /// The directory of this trial, made by [`crate::start`]: data in `data`, the socket in `s`,
    /// the log in `server.log`. It must not exist or be empty.
    pub directory: &'a Path,
    /// Settings of the plan; they win over `config_file`.
    pub config: BTreeMap<String, String>,
    /// A file of settings in the server's own format.
    pub config_file: Option<PathBuf>,
    /// Further options of initdb.
    pub initdb: Vec<String>,
    /// `cgroup.procs` files into which the server writes itself before it runs.
    pub procs_files: Vec<PathBuf>,
    /// What the server runs under: a program by its whole path and its arguments, to which the
    /// server's own command line is added, such as Valgrind's. Empty: nothing.
    pub wrapper: Vec<OsString>,
    /// The user to run as.
    pub user: ServerUser,
    /// How long the start may take until the server answers.
    pub start_limit: Duration,
    /// How long each stage of stopping may take.
    pub stop_limit: Duration,
    /// Where prepared data directories are kept.
    pub cache: &'a Cache,
    /// Where the start is recorded.
    pub ledger: &'a Ledger,
}

/// A setting that differs from the built-in default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// The value as the server prints it, unit included: `128MB`. Values that may hold a password
    /// are replaced.
    pub value: String,
    /// The unit the server counts it in: `8kB`.
    pub unit: Option<String>,
    /// Where it was set: `configuration file`, `override`.
    pub source: String,
    /// The built-in value, in `unit`.
    pub boot_value: Option<String>,
}

/// What one table, index or other object takes up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// The object as it was named in the request.
    pub object: String,
    /// Bytes by name; PostgreSQL: `index` (all its indexes), `rel` (its main fork), `total`
    /// (everything: main and other forks, TOAST, indexes).
    pub bytes: BTreeMap<String, u64>,
}

/// What settling did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// What was done and what the server said to it, line by line.
    pub lines: Vec<String>,
}

/// How a server came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was asked to and did in time.
    Graceful,
    /// It did so only when told to quit at once, without a checkpoint.
    Immediate,
    /// It had to be killed.
    Killed,
    /// It had died before; the text says how.
    Died(String),
    /// It was not started by us and still runs.
    LeftRunning,
}

/// Has a system break off what it is doing now, from another thread; may be called again.
pub type Interrupter = Box<dyn Fn() + Send + Sync>;

/// A system under test that runs. One that was started by [`crate::start`] is ended, and what it
/// left on disk removed, when this is dropped.
///
/// What asks the system something fails with [`Error::Connect`], or [`Error::Query`] if it refuses.
pub trait System: Send {
    /// Where clients connect.
    fn endpoint(&self) -> Endpoint;

    /// The root of its process tree; `None` if it is on another machine or not to be found out.
    fn root_pid(&self) -> Option<u32>;

    /// Whether it was started here, rather than found running.
    fn owned(&self) -> bool;

    /// Where its data is, if that is on this machine and known.
    fn data_directory(&mut self) -> Option<PathBuf>;

    /// The SQL side of it; `None` if it has none.
    fn sql(&mut self) -> Option<&mut dyn Sql>;

    /// The same, where there is no way without.
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

    /// Its own counters, those of `objects` among them (indexes and partitions included).
    ///
    /// Complete for clients that had disconnected before the call: it waits long enough for their
    /// last numbers to arrive. Clients still connected may withhold their latest ones (PostgreSQL:
    /// the last half second to a second of work, and after that what they did since they became
    /// idle). The call's own queries are counted too.
    fn counters(&mut self, objects: &[String]) -> Result<Snapshot, Error>;

    /// What `objects` take up, the partitions of each summed.
    ///
    /// # Errors
    /// [`Error::Answer`] if one does not exist.
    fn footprint(&mut self, objects: &[String]) -> Result<Vec<Footprint>, Error>;

    /// Pays off what writing to `objects` has left to do. Waiting for the host's own writeback, and
    /// a pause after it, are the caller's.
    fn settle(&mut self, objects: &[String]) -> Result<Settled, Error>;

    /// Has it write to disk what it holds back in memory, so that it need not do so soon. Left out
    /// where the role may not ask for it.
    fn flush(&mut self) -> Result<(), Error>;

    /// A handle by which another thread has it break off what it is doing, after which nothing is
    /// left to do but to stop it. `None` if it was not started here.
    fn interrupter(&self) -> Option<Interrupter>;

    /// The last lines of its log; empty if it is not ours.
    fn log_tail(&self, lines: usize) -> String;

    /// What its log says is behind its latest failures, if anything that is known.
    fn diagnose(&self) -> Option<Diagnosis> {
        let full = self.log_tail(DIAGNOSED_LINES).contains("No space left on device");
        full.then_some(Diagnosis::DiskFull)
    }

    /// Is it still running? Takes note of how it ended if not.
    fn alive(&mut self) -> bool;

    /// How it ended, if [`System::alive`] has found that it did.
    fn died(&self) -> Option<String>;

    /// Ends it and waits for it: asks, insists after the limit, kills after another. A system that
    /// was not started by us is left running.
    ///
    /// # Errors
    /// [`Error::Stuck`] if processes survive even that.
    fn stop(self: Box<Self>) -> Result<Stopped, Error>;

    /// Ends it at once: what it holds back in memory is not written, and its data is not to be
    /// used again. A system that was not started by us is left running.
    ///
    /// # Errors
    /// As [`System::stop`].
    fn end(self: Box<Self>) -> Result<Stopped, Error>;
}

/// What SQL servers understand beside the load, on a control connection that is opened again when
/// it was lost. It fails with [`Error::Connect`], or [`Error::Query`] if the server refuses it.
pub trait Sql {
    /// Runs SQL. Several statements may be separated by semicolons. The number of rows affected,
    /// summed.
    fn execute(&mut self, sql: &str) -> Result<u64, Error>;

    /// Runs a query; every value as text, `None` for NULL.
    fn query_rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error>;

    /// Runs a query that gives one integer.
    ///
    /// # Errors
    /// [`Error::Answer`] if it gives anything else.
    fn query_i64(&mut self, sql: &str) -> Result<i64, Error>;

    /// Makes tables on a server that is not ours by the statements of `setup`, so that
    /// [`Sql::drop_marked`] knows them.
    fn create_marked(&mut self, setup: &[String], tables: &[String]) -> Result<(), Error>;

    /// Drops those of `tables` that [`Sql::create_marked`] has made, in whichever run. Returns the
    /// first that somebody else has made, which stays.
    fn drop_marked(&mut self, tables: &[String]) -> Result<Option<String>, Error>;
}
