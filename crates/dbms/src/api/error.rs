//! Errors of systems under test, each with its remedy.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::excerpt::last_lines;
use crate::Transport;

/// The cause of an error, if the system's protocol or log gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// There is no space left on the disk.
    DiskFull,
    /// The work was aborted by an [`crate::Interrupter`] or an operator.
    Interrupted,
    /// The request itself is wrong, so it fails at every attempt.
    Invalid,
}

/// An error of this crate. Every message says what was expected, what was found and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text of a `dbms = "…"` does not name a system under test.
    #[error(
        "`{given}` does not name a system under test: {problem}. Write {}",
        reference_text(.given)
    )]
    Reference {
        /// The text as given, without any password.
        given: String,
        /// The problem with it.
        problem: String,
    },
    /// A build option that steelyard itself must choose, or that is not an option.
    #[error("`build`: `{option}` is not allowed: {reason}")]
    BuildOption {
        /// The option as given.
        option: String,
        /// Why.
        reason: &'static str,
    },
    /// The source to build is missing or is not the system's source.
    #[error("cannot build {what}: {problem}")]
    Source {
        /// The thing to build.
        what: String,
        /// The problem: what was expected, what was found and what to do.
        problem: String,
    },
    /// Programs that a build needs are missing.
    #[error(
        "building {what} needs {}, which this machine does not have; install the packages that provide them (Debian and Ubuntu: apt-get install {})",
        .programs.join(", "), .packages.join(" ")
    )]
    Tools {
        /// The thing to build.
        what: String,
        /// The programs.
        programs: Vec<String>,
        /// The Debian packages that contain them.
        packages: Vec<String>,
    },
    /// A command of a build failed.
    #[error("building {what} failed in `{command}` ({status}); its last lines:\n{lines}\nFull log: {}", .log.display())]
    Build {
        /// The thing to build.
        what: String,
        /// The command.
        command: String,
        /// How it ended.
        status: String,
        /// The last lines of its output.
        lines: String,
        /// The log of all commands; kept until the next attempt to build the same.
        log: PathBuf,
    },
    /// Something that is understood but not supported in this version of steelyard.
    #[error("{what} is not in this version of steelyard; {remedy}")]
    Unsupported {
        /// The request.
        what: String,
        /// The alternative.
        remedy: String,
    },
    /// Clients can't reach a server in the way that was asked for.
    #[error("transport `{transport}`: {problem}")]
    Transport {
        /// The way.
        transport: Transport,
        /// The missing thing, and what to do.
        problem: String,
    },
    /// An engine in its own process could not do what it was asked.
    #[error("the engine of `{name}` failed: {problem}; see its log")]
    Engine {
        /// The variant.
        name: String,
        /// Its message.
        problem: String,
    },
    /// The archive of binaries has no such version.
    #[error("the archive has no {asked}; {}", near_text(.near, .newest))]
    VersionNotFound {
        /// The system and the version asked for.
        asked: String,
        /// Existing versions of that series, closest first.
        near: Vec<String>,
        /// The newest existing release of each major version.
        newest: Vec<String>,
    },
    /// Fetching or unpacking from the archive failed.
    #[error(
        "cannot {doing}: {detail}; check the network, or set STEELYARD_CACHE to a cache that already has it"
    )]
    Archive {
        /// The attempted action.
        doing: String,
        /// The archive client's message.
        detail: String,
    },
    /// An archive of a known version is not the one it should be.
    #[error(
        "the archive of {what} is not the one steelyard knows: expected SHA-256 {expected}, found {found}. Nothing was unpacked. The archive was replaced at its source or on the way: try another network, or build that version from source"
    )]
    Digest {
        /// The system and its version.
        what: String,
        /// The digest in steelyard's table.
        expected: &'static str,
        /// The digest of the fetched file.
        found: String,
    },
    /// An archive is not the one that was fetched before.
    #[error(
        "the archive of {what} is not the one that was fetched first: expected SHA-256 {expected}, found {found}. Nothing was unpacked. The archive was replaced at its source or on the way: try another network, or build that version from source. If you know why it was replaced, remove its line from {}", kept.display()
    )]
    Replaced {
        /// The system and its version.
        what: String,
        /// The digest seen first.
        expected: String,
        /// The digest fetched now.
        found: String,
        /// The file with the digests.
        kept: PathBuf,
    },
    /// An archive contains something that must not be unpacked.
    #[error("cannot unpack {archive}: {problem}")]
    Unpack {
        /// The archive.
        archive: String,
        /// The entry and what is wrong with it.
        problem: String,
    },
    /// A build that another machine pushed is not what it should be.
    #[error(
        "cannot use the build {object}: {problem}. Nothing of it was used. Remove that object and the .json of the same name, then push the build again; or build here, without --builds and STEELYARD_BUILDS"
    )]
    SharedBuild {
        /// The address of the object.
        object: String,
        /// The difference between the expected and the found object.
        problem: String,
    },
    /// Programs that another machine has obtained for this one can't be used.
    #[error("cannot use the programs that were obtained for {what}: {problem}")]
    SentProgram {
        /// What they were obtained for.
        what: String,
        /// Why not.
        problem: String,
    },
    /// A directory that other users can change.
    #[error(
        "cannot keep the servers' data in {}: {problem}, so someone else could read or replace the data; remove it or choose another directory with --data-dir",
        .path.display()
    )]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// The reason why it is not private.
        problem: String,
    },
    /// A directory that a system without a DBMS names cannot be used.
    #[error("cannot use {}: {problem}", .path.display())]
    Unusable {
        /// The path.
        path: PathBuf,
        /// The problem, and what to do.
        problem: &'static str,
    },
    /// A path given as an installation is not one.
    #[error("{} is not an installation of {system}: {problem}", .path.display())]
    Installation {
        /// The system.
        system: &'static str,
        /// The path.
        path: PathBuf,
        /// The missing or wrong thing, and what to do.
        problem: String,
    },
    /// A file operation failed.
    #[error("cannot {doing} {}: {source}{}", .path.display(), io_remedy(.source))]
    Io {
        /// The attempted action, as a verb ("create", "read").
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's own error.
        source: io::Error,
    },
    /// A directory of steelyard's own can't be used.
    #[error("{source}; set {variable} to a directory that you may write to")]
    Place {
        /// The environment variable that names it.
        variable: &'static str,
        /// Why not.
        source: Box<Error>,
    },
    /// There is no space for a copy of a data directory.
    #[error(
        "not enough space for a copy of the data in {}: it needs {}, but only {} are free; free space there, or choose another directory with --data-dir",
        .path.display(), size_text(*.needed), size_text(*.free)
    )]
    Space {
        /// Where the copy was to be.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// A copy differs from its original.
    #[error(
        "{} differs from the data it was copied from: {differences}; is something else writing there, or is the disk failing (see `dmesg`)?",
        .path.display()
    )]
    NotSame {
        /// The copy.
        path: PathBuf,
        /// The differences.
        differences: String,
    },
    /// A data directory of the user's that servers cannot start from.
    #[error("cannot start from the data in {}: {problem}", .path.display())]
    DataDirectory {
        /// The directory.
        path: PathBuf,
        /// The problem: what was expected, what was found and what to do.
        problem: String,
    },
    /// Data that trials cannot start from.
    #[error("cannot keep the data of {name} to start from: {problem}")]
    NotKept {
        /// The variant's name.
        name: String,
        /// Why.
        problem: String,
    },
    /// The caller interrupted the work.
    #[error("interrupted while {doing}")]
    Interrupted {
        /// The attempted action.
        doing: &'static str,
    },
    /// There is no user to run servers as.
    #[error(
        "cannot run servers as user `{name}`: {problem}; create it (as root: `useradd --system {name}`) or name another user with --server-user"
    )]
    User {
        /// The user's name.
        name: String,
        /// The problem.
        problem: String,
    },
    /// The server's user may not enter a directory.
    #[error(
        "the server's user `{user}` cannot reach {}: it has no permission to enter {}; choose a directory outside it (--data-dir for data, STEELYARD_CACHE for binaries) or run `chmod o+x` on it",
        .path.display(), .barred_by.display()
    )]
    Unreachable {
        /// The path that has to be reached.
        path: PathBuf,
        /// The first directory on the way that denies access.
        barred_by: PathBuf,
        /// The user's name.
        user: String,
    },
    /// The trial's directory is in use.
    #[error("{} is not empty: a trial needs its own directory; remove it or name another", .path.display())]
    DirectoryInUse {
        /// The directory.
        path: PathBuf,
    },
    /// A setting or option that steelyard itself must choose.
    #[error("variant {variant}: `{setting}` cannot be set: {reason}; remove it from the plan")]
    Reserved {
        /// The variant's name.
        variant: String,
        /// The setting or option.
        setting: String,
        /// Why.
        reason: &'static str,
    },
    /// The server rejected its configuration.
    #[error("variant {variant}: the server rejects {}: {message}; correct it in the variant's config or config_file", setting_text(.setting))]
    Rejected {
        /// The variant's name.
        variant: String,
        /// The setting and its value, if the message names one.
        setting: Option<String>,
        /// The server's own message.
        message: String,
    },
    /// A helper program (initdb, postgres --version, …) failed.
    #[error("{program} failed ({status}): {output}")]
    Program {
        /// The program and its task.
        program: String,
        /// How it ended.
        status: String,
        /// Its last lines of output.
        output: String,
    },
    /// The server did not come up.
    #[error("variant {variant}: the server did not start: {problem}. Its last log lines:\n{log}")]
    Start {
        /// The variant's name.
        variant: String,
        /// The reason.
        problem: String,
        /// The tail of its log.
        log: String,
    },
    /// The connection to the server failed.
    #[error("cannot connect to {server}: {detail}")]
    Connect {
        /// The server, without any password.
        server: String,
        /// The reason.
        detail: String,
    },
    /// A password that programs may not have.
    #[error("programs can't log in to {server}: {withheld}")]
    Withheld {
        /// The server, without any password.
        server: String,
        /// Why, and what to do.
        withheld: reference::Withheld,
    },
    /// A statement on the control connection failed.
    #[error("statement failed{}: {message} (statement: {sql})", code_text(.code))]
    Query {
        /// The statement, shortened.
        sql: String,
        /// The server's message.
        message: String,
        /// The server's own code (SQLSTATE), if it sent one.
        code: Option<String>,
        /// Its cause, if known.
        diagnosis: Option<Diagnosis>,
    },
    /// A server answered something other than what was asked for.
    #[error("unexpected answer from the server: expected {expected}, found {found}")]
    Answer {
        /// The expected answer.
        expected: String,
        /// The answer.
        found: String,
    },
    /// A server could not be ended.
    #[error(
        "processes {pids:?} of {name} are still running after SIGKILL; look at them with `ps` (state D: waiting for the disk)"
    )]
    Stuck {
        /// The variant's name.
        name: String,
        /// Process ids.
        pids: Vec<u32>,
    },
}

impl From<reference::ParseError> for Error {
    fn from(error: reference::ParseError) -> Self {
        Self::Reference { given: error.given, problem: error.problem }
    }
}

impl Error {
    /// True if the request was wrong, in which case a retry can't help.
    pub fn is_request(&self) -> bool {
        matches!(
            self,
            Self::Reference { .. }
                | Self::BuildOption { .. }
                | Self::Source { .. }
                | Self::Tools { .. }
                | Self::SharedBuild { .. }
                | Self::Unsupported { .. }
                | Self::Transport { .. }
                | Self::Withheld { .. }
                | Self::VersionNotFound { .. }
                | Self::Unusable { .. }
                | Self::DataDirectory { .. }
                | Self::Installation { .. }
                | Self::User { .. }
                | Self::Unreachable { .. }
                | Self::Place { .. }
                | Self::DirectoryInUse { .. }
                | Self::NotPrivate { .. }
                | Self::Reserved { .. }
                | Self::Rejected { .. }
        )
    }

    /// The cause, if known.
    pub fn diagnosis(&self) -> Option<Diagnosis> {
        match self {
            Self::Query { diagnosis, .. } => *diagnosis,
            Self::Interrupted { .. } => Some(Diagnosis::Interrupted),
            Self::Space { .. } => Some(Diagnosis::DiskFull),
            Self::Engine { problem, .. } if problem.contains("No space left on device") => {
                Some(Diagnosis::DiskFull)
            }
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Some(Diagnosis::DiskFull)
            }
            _ => None,
        }
    }

    /// Describes an error in the text of a `dbms = "…"` that contains no password.
    pub(crate) fn reference(given: &str, problem: &str) -> Self {
        Self::Reference { given: given.to_owned(), problem: problem.to_owned() }
    }

    /// For something that this version doesn't support.
    pub(crate) fn unsupported(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into(), remedy: remedy.into() }
    }

    /// For a way to reach servers that is not available.
    pub(crate) fn transport(transport: Transport, problem: impl Into<String>) -> Self {
        Self::Transport { transport, problem: problem.into() }
    }

    /// For an answer that is not what was asked for.
    pub(crate) fn answer(expected: impl Into<String>, found: impl ToString) -> Self {
        Self::Answer { expected: expected.into(), found: found.to_string() }
    }

    /// For a source that cannot be built.
    pub(crate) fn no_source(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Source { what: what.into(), problem: problem.into() }
    }

    /// For a setting or option that steelyard itself must choose.
    pub(crate) fn reserved(variant: &str, setting: String, reason: &'static str) -> Self {
        Self::Reserved { variant: variant.to_owned(), setting, reason }
    }

    /// The error for a setting that a server does not accept, with its value if that is known.
    pub(crate) fn rejected(
        variant: &str,
        setting: Option<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::Rejected { variant: variant.to_owned(), setting, message: message.into() }
    }

    /// For a helper program that failed, with the last lines of what it wrote.
    pub(crate) fn program(
        program: impl Into<String>,
        status: impl ToString,
        written: &str,
    ) -> Self {
        let output = last_lines(written, 12);
        Self::Program { program: program.into(), status: status.to_string(), output }
    }

    /// Fails once the caller has set `interrupted`.
    pub(crate) fn check(interrupted: &AtomicBool, doing: &'static str) -> Result<(), Self> {
        if interrupted.load(Ordering::Relaxed) { Err(Self::Interrupted { doing }) } else { Ok(()) }
    }

    /// Makes a closure that wraps an [`io::Error`] with what was being done to which path.
    pub(crate) fn io<'a>(
        doing: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { doing, path: path.to_path_buf(), source }
    }
}

/// Returns the forms to use instead of a reference that can't be read: all kinds, or a URL if it is
/// one.
fn reference_text(given: &str) -> String {
    let url = given.split_once("://").and_then(|(scheme, _)| reference::url_form(scheme));
    url.unwrap_or_else(|| EXAMPLES.to_owned())
}

/// References of all kinds.
const EXAMPLES: &str = "postgres@13.7, postgres@14 (the newest 14.x), path:/usr/lib/postgresql/15, \
     git:~/src/postgres#REL_14_3, src:postgresql-15.8.tar.bz2, postgres://user@host/database, \
     mysql@8.0.31, mariadb@10.11.5, mariadb@path:/usr, mysql://user@host/database, rocksdb@7.4.5, \
     none or device@path:/dev/nvme1n1";

fn near_text(near: &[String], newest: &[String]) -> String {
    match (near, newest) {
        ([], []) => "no version of it is known".to_owned(),
        ([], newest) => format!("the newest of each major version: {}", newest.join(", ")),
        (near, _) => format!("nearest versions: {}", near.join(", ")),
    }
}

/// Bytes for people, in powers of ten as disks are sold.
fn size_text(bytes: u64) -> String {
    let (unit, name) = match bytes {
        1_000_000_000.. => (1e9, "GB"),
        _ => (1e6, "MB"),
    };
    format!("{:.1} {name}", bytes as f64 / unit)
}

fn setting_text(setting: &Option<String>) -> String {
    setting.as_ref().map_or_else(|| "its configuration".to_owned(), |s| format!("`{s}`"))
}

fn code_text(code: &Option<String>) -> String {
    code.as_ref().map_or_else(String::new, |c| format!(" with SQLSTATE {c}"))
}

fn io_remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull => {
            "; free some space on that filesystem or choose another directory"
        }
        io::ErrorKind::PermissionDenied => "; run as its owner or choose another directory",
        _ => "",
    }
}
