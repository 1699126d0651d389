//! Errors that prevent a run from starting or continuing.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plan::Clients;

/// Why a run could not start or continue. Everything finished before is in the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program that is the load is not on this machine.
    #[error(
        "variant `{variant}`: the program `{program}` is not {}",
        match package {
            _ if program.contains('/') => "there; correct its path in the plan".to_owned(),
            Some(package) => format!(
                "in {}; install it (Debian and Ubuntu: apt-get install {package}), or give its \
                 full path",
                dbms::PROGRAM_PATH
            ),
            None => format!(
                "in {}; correct its name, install it, or give its full path",
                dbms::PROGRAM_PATH
            ),
        }
    )]
    NoProgram {
        /// The variant.
        variant: String,
        /// The program.
        program: String,
        /// The package that contains it, if that is known.
        package: Option<&'static str>,
    },
    /// A variant's system can't be obtained.
    #[error("variant `{variant}`: {source}")]
    Variant {
        /// The variant.
        variant: String,
        /// Why.
        source: Box<dbms::Error>,
    },
    /// A server that is already running can't be reached.
    #[error("variant `{variant}`: {source}")]
    NoServer {
        /// The variant.
        variant: String,
        /// Why not.
        source: Box<dbms::Error>,
    },
    /// A setting is not what the declared durability means.
    #[error(
        "variant `{variant}`: its durability means {setting} = {value}, but its config has {own}; \
         remove one of the two"
    )]
    Contradiction {
        /// The variant.
        variant: String,
        /// The setting.
        setting: String,
        /// Its value in the plan.
        own: String,
        /// Its value by the durability.
        value: String,
    },
    /// A server does not accept as many clients as a step has.
    #[error(
        "variant `{variant}`: step {step} has {clients} clients, but its settings allow {most} \
         beside steelyard's own connections; raise its limit (max_connections), or lower the number of clients"
    )]
    TooManyClients {
        /// The variant.
        variant: String,
        /// The step.
        step: String,
        /// Its clients.
        clients: usize,
        /// The most clients it accepts.
        most: u32,
    },
    /// The scheduler's events can't be counted, but the plan wants them.
    #[error(
        "the scheduler's events can't be counted: {reason}. Remove `counter_seconds` from the plan \
         to run without them"
    )]
    NoCounters {
        /// Why not, and what to do.
        reason: String,
    },
    /// A step wants its clients and servers where they can't be.
    #[error("variant `{variant}`: {reason}")]
    Terms {
        /// The variant.
        variant: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// The budget is too short on any machine for what the plan needs for a verdict.
    #[error("the budget of {budget} is too small: {needed}. {remedy}")]
    Budget {
        /// The budget asked for, such as `1m`.
        budget: String,
        /// The least that the plan takes.
        needed: String,
        /// What to change.
        remedy: String,
    },
    /// A system under test failed.
    #[error(transparent)]
    Dbms(Box<dbms::Error>),
    /// The benchmark can't run on a variant.
    #[error("variant `{variant}`: {source}")]
    Workload {
        /// The variant.
        variant: String,
        /// Why.
        source: workload::Error,
    },
    /// The results could not be written or read.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The results so far could not be judged.
    #[error(transparent)]
    Report(#[from] report::ReportError),
    /// The memory limit could not be set.
    #[error(
        "variant `{variant}`: a memory limit needs a control group, but {source}. \
         Run as root or in a delegated cgroup (systemd-run --user --scope -p Delegate=yes), \
         or drop `memory_limit`"
    )]
    MemoryLimit {
        /// The variant.
        variant: String,
        /// Why not.
        source: probe::CgroupError,
    },
    /// Another run is measuring on this machine.
    #[error(
        "another run is measuring on this machine (pid {pid}), and the two would disturb each other. \
         Wait for it, or pass --allow-concurrent if you don't mind"
    )]
    Busy {
        /// The other run's process; 0 if unknown.
        pid: i32,
    },
    /// A step of a trial failed.
    #[error("variant `{variant}`, block {block}, {clients}, step {step}: {reason}")]
    Step {
        /// The variant.
        variant: String,
        /// The block, from 1.
        block: u32,
        /// The step's clients, or those of the sequence if the trouble was between steps.
        clients: Clients,
        /// The step.
        step: String,
        /// The cause.
        reason: String,
        /// The server's log.
        log: Box<ServerLog>,
        /// True if the system had died. Other trials then go on.
        died: bool,
        /// True if it fails at every attempt.
        lasting: bool,
        /// True if the plan asks for something that can't be measured. That is lasting, unless it
        /// could be measured before.
        unfit: bool,
    },
    /// The user ended the run.
    #[error("interrupted")]
    Interrupted,
    /// There is nothing to resume.
    #[error("{0}")]
    Resume(String),
    /// A running server already has tables of these names.
    #[error(
        "variant `{variant}`: the server already has a table `{table}` that steelyard did not create. \
         Give it an empty database, or drop the table yourself"
    )]
    TableExists {
        /// The variant.
        variant: String,
        /// The table.
        table: String,
    },
    /// Two variants are the same running server.
    #[error(
        "variants `{one}` and `{other}` are the same running server: they can't be measured at the \
         same time. Use pairing = \"blocks\", or another server or database for one of them"
    )]
    SameServer {
        /// The one.
        one: String,
        /// The other.
        other: String,
    },
    /// Settings are given to a server that is already running.
    #[error(
        "variant `{variant}` is a running server, whose settings steelyard does not change: set them there, and leave them out here; -c VARIANT.NAME=VALUE sets one of another variant alone"
    )]
    Configured {
        /// The variant.
        variant: String,
    },
    /// The data of a server that is already running would have to be copied.
    #[error(
        "variant `{variant}`: the data of a server that is already running can't be copied, so every trial has to load. Remove \
         `restore_after`, or let steelyard start the server (dbms = \"postgres@14.3\" or \"path:…\")"
    )]
    NoCopy {
        /// The variant.
        variant: String,
    },
    /// A statement could not be counted.
    #[error("variant `{variant}`, {kind}: {reason}")]
    Count {
        /// The variant.
        variant: String,
        /// The kind of statement.
        kind: String,
        /// The cause.
        reason: String,
        /// The server's last log lines with a heading, or nothing.
        log: String,
    },
    /// A plan names a kind of statement that does not exist.
    #[error("`kinds` in [count]: `{kind}` is not a kind in this workload, which has {known}")]
    NoSuchKind {
        /// As the plan names it.
        kind: String,
        /// The available kinds.
        known: String,
    },
    /// Only the inside of some functions is to be counted, and Callgrind can't tell where it ends.
    #[error(
        "variant `{variant}`: its requests can't be counted on this processor, on which Callgrind \
         doesn't see where functions return. Count it on x86-64; PostgreSQL can be counted here"
    )]
    NoReturns {
        /// The variant.
        variant: String,
    },
    /// Valgrind is missing, or what it wrote can't be read.
    #[error(transparent)]
    Callgrind(#[from] probe::callgrind::CallgrindError),
    /// The directory for servers' data can't be used.
    #[error(
        "cannot use {path}: {source}. Choose a directory for the servers' data with --data-dir"
    )]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file or directory could not be used.
    #[error("cannot use {path}: {source}. {remedy}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
        /// The remedy.
        remedy: &'static str,
    },
}

/// A server's log after a failure, as far as it is known.
#[derive(Debug, Default)]
pub struct ServerLog {
    /// Its last lines with a heading, or nothing.
    pub last_lines: String,
    /// Where it is kept, once the server is stopped.
    pub file: Option<PathBuf>,
}

impl From<dbms::Error> for Error {
    fn from(error: dbms::Error) -> Error {
        match error {
            dbms::Error::Interrupted { .. } => Error::Interrupted,
            error => Error::Dbms(Box::new(error)),
        }
    }
}

impl Error {
    /// A variant's error.
    pub(crate) fn of(variant: &str, error: dbms::Error) -> Error {
        match error {
            dbms::Error::Interrupted { .. } => Error::Interrupted,
            error => Error::Variant { variant: variant.to_owned(), source: Box::new(error) },
        }
    }

    /// True if a system died in a trial.
    pub(crate) fn is_death(&self) -> bool {
        matches!(self, Error::Step { died: true, .. })
    }

    /// The last lines of the server's log with a heading, or nothing.
    pub fn log(&self) -> &str {
        match self {
            Error::Step { log, .. } => &log.last_lines,
            Error::Count { log, .. } => log,
            _ => "",
        }
    }

    /// Where the whole log of the server is kept, if a step failed on one that has a log.
    pub fn log_file(&self) -> Option<&Path> {
        match self {
            Error::Step { log, .. } => log.file.as_deref(),
            _ => None,
        }
    }

    /// The same error, which knows where the server's log is kept.
    pub(crate) fn with_log_file(mut self, kept: Option<PathBuf>) -> Error {
        if let Error::Step { log, .. } = &mut self {
            log.file = kept;
        }
        self
    }

    /// True if resuming the experiment can't help, because the cause is in the plan: an SQL error
    /// in the user's own script, a setting that the server rejects, a program whose output has no
    /// figures, a step too short for its slices.
    pub fn is_lasting(&self) -> bool {
        match self {
            Error::Variant { source, .. } | Error::Dbms(source) => {
                matches!(**source, dbms::Error::Rejected { .. } | dbms::Error::Reserved { .. })
            }
            Error::Step { lasting, .. } => *lasting,
            Error::SameServer { .. } => true,
            _ => false,
        }
    }

    /// True if the request was wrong, so repeating it can't help.
    pub fn is_request(&self) -> bool {
        match self {
            Error::Variant { source, .. } | Error::Dbms(source) => source.is_request(),
            Error::Workload { .. }
            | Error::Busy { .. }
            | Error::Resume(_)
            | Error::MemoryLimit { .. }
            | Error::SameServer { .. }
            | Error::NoCopy { .. }
            | Error::Configured { .. }
            | Error::NoProgram { .. }
            | Error::NoServer { .. }
            | Error::DataDir { .. }
            | Error::Contradiction { .. }
            | Error::TooManyClients { .. }
            | Error::Terms { .. }
            | Error::Budget { .. }
            | Error::NoCounters { .. }
            | Error::NoSuchKind { .. }
            | Error::NoReturns { .. }
            | Error::TableExists { .. } => true,
            Error::Callgrind(error) => {
                matches!(error, probe::callgrind::CallgrindError::NotInstalled)
            }
            Error::Store(source) => source.is_request(),
            Error::Io { source, .. } => matches!(
                source.kind(),
                ErrorKind::NotADirectory
                    | ErrorKind::PermissionDenied
                    | ErrorKind::ReadOnlyFilesystem
            ),
            Error::Step { .. } | Error::Count { .. } | Error::Report(_) | Error::Interrupted => {
                false
            }
        }
    }
}
