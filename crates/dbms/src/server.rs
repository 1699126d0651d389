//! A running system under test, seen from outside: where it listens, what it counts, how it ends.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Cache, Error, Installation, Ledger, Reference, ServerUser, Snapshot, Stopped};

/// A password or the like; [`fmt::Debug`] hides it and there is no [`fmt::Display`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, to be sent to the server and nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// How to reach a server's machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// The directory of a unix socket.
    SocketDirectory(PathBuf),
    /// A host name or address.
    Tcp(String),
}

/// Where clients connect. [`fmt::Display`] shows no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A PostgreSQL server.
    Postgres {
        /// The machine or socket directory.
        host: Host,
        /// TCP port, or the number in the socket's name.
        port: u16,
        /// Role to connect as.
        user: String,
        /// Its password, if one is needed.
        password: Option<Secret>,
        /// The database.
        database: String,
    },
}

impl Endpoint {
    /// The same server, another of its databases.
    pub fn in_database(mut self, name: &str) -> Endpoint {
        match &mut self {
            Self::Postgres { database, .. } => name.clone_into(database),
        }
        self
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres { host, port, user, database, .. } => match host {
                Host::SocketDirectory(path) => {
                    write!(
                        formatter,
                        "postgres://{user}@/{database}?host={}&port={port}",
                        path.display()
                    )
                }
                Host::Tcp(name) => write!(formatter, "postgres://{user}@{name}:{port}/{database}"),
            },
        }
    }
}

/// What [`crate::start`] needs to know.
#[derive(Debug)]
pub struct ServerSpec<'a> {
    /// The binaries.
    pub installation: &'a Installation,
    /// What the plan named.
    pub reference: &'a Reference,
    /// The variant's name, for messages and the ledger.
    pub name: &'a str,
    /// The directory of this trial, made by [`crate::start`]: data in `data`, the socket in `s`, the log in
    /// `server.log`. It must not exist or be empty.
    pub directory: &'a Path,
    /// Settings of the plan; they win over `config_file`.
    pub config: BTreeMap<String, String>,
    /// A file of settings in the server's own format.
    pub config_file: Option<PathBuf>,
    /// Further options of initdb.
    pub initdb: Vec<String>,
    /// `cgroup.procs` files into which the server writes itself before it runs.
    pub procs_files: Vec<PathBuf>,
    /// What the server runs under: a program by its whole path and its arguments, to which the server's own command line
    /// is added, such as Valgrind's. Empty: nothing.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// The value as the server prints it, unit included: `128MB`. Values that may hold a password are replaced.
    pub value: String,
    /// The unit the server counts it in: `8kB`.
    pub unit: Option<String>,
    /// Where it was set: `configuration file`, `override`.
    pub source: String,
    /// The built-in value, in `unit`.
    pub boot_value: Option<String>,
}

/// Bytes on disk of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// The table as it was named in the request.
    pub table: String,
    /// All its indexes, in bytes.
    pub index: u64,
    /// Its main fork, in bytes.
    pub rel: u64,
    /// Everything: main and other forks, TOAST, indexes, in bytes.
    pub total: u64,
}

/// What settling did.
#[derive(Clone, Debug, Default, PartialEq)]
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

/// A system under test that runs. One that was started by [`crate::start`] is ended, and what it left on disk
/// removed, when this is dropped.
pub trait Server: Send {
    /// Where clients connect.
    fn endpoint(&self) -> Endpoint;

    /// The root of the server's process tree; `None` if it is on another machine or not to be found out.
    fn root_pid(&self) -> Option<u32>;

    /// Runs SQL on the control connection, which is opened again when it was lost. Several statements may be
    /// separated by semicolons. The number of rows affected, summed.
    ///
    /// # Errors
    /// [`Error::Query`] if the server refuses it, [`Error::Connect`].
    fn execute(&mut self, sql: &str) -> Result<u64, Error>;

    /// Runs a query on the control connection; every value as text, `None` for NULL.
    ///
    /// # Errors
    /// As [`Server::execute`].
    fn query_rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error>;

    /// Runs a query that gives one integer.
    ///
    /// # Errors
    /// As [`Server::execute`]; [`Error::Answer`] if it gives anything else.
    fn query_i64(&mut self, sql: &str) -> Result<i64, Error>;

    /// Settings that differ from the built-in defaults, without those of the control connection itself.
    ///
    /// # Errors
    /// As [`Server::execute`].
    fn settings(&mut self) -> Result<Vec<Setting>, Error>;

    /// The server's own counters, those of `tables` among them (indexes and partitions included).
    ///
    /// Complete for clients that had disconnected before the call: it waits long enough for their last numbers to
    /// arrive. Clients still connected may withhold their latest ones (PostgreSQL: the last half second to a second
    /// of work, and after that what they did since they became idle). The call's own queries are counted too.
    ///
    /// # Errors
    /// As [`Server::execute`].
    fn counters(&mut self, tables: &[String]) -> Result<Snapshot, Error>;

    /// Sizes of tables, the partitions of each summed.
    ///
    /// # Errors
    /// As [`Server::execute`]; [`Error::Answer`] if a table does not exist.
    fn sizes(&mut self, tables: &[String]) -> Result<Vec<TableSize>, Error>;

    /// Pays off what writing to `tables` has left to do. Waiting for the host's own writeback, and a pause after
    /// it, are the caller's.
    ///
    /// # Errors
    /// As [`Server::execute`].
    fn settle(&mut self, tables: &[String]) -> Result<Settled, Error>;

    /// Has the server write to disk what it holds back in memory, so that it need not do so soon. Left out where the
    /// role may not ask for it.
    ///
    /// # Errors
    /// As [`Server::execute`].
    fn flush(&mut self) -> Result<(), Error>;

    /// The last lines of the server's log; empty if it is not ours.
    fn log_tail(&self, lines: usize) -> String;

    /// Is it still running? Takes note of how it ended if not.
    fn alive(&mut self) -> bool;

    /// How it ended, if [`Server::alive`] has found that it did.
    fn died(&self) -> Option<String>;

    /// Ends the server and waits for it: asks, insists after the limit, kills after another. A server that was
    /// not started by us is left running.
    ///
    /// # Errors
    /// [`Error::Stuck`] if processes survive even that.
    fn stop(self: Box<Self>) -> Result<Stopped, Error>;
}
