//! The systems under test: obtain, initialize, start, settle, count, stop.
//!
//! A [`Reference`] (the plan's `dbms = "postgres@13.7"`) is obtained once into a [`Cache`], which
//! gives an [`Installation`]. [`start`] starts a fresh server from it for one trial and returns a
//! [`System`]. It knows where clients connect, what it counts, how it settles and ends, and nothing
//! about benchmarks. Everything started is first written to a [`Ledger`], so the next steelyard can
//! end and remove what a killed one left. Each system has a folder; this level has what they share.
//!
//! ```no_run
//! let reference: dbms::Reference = "postgres@13.7".parse()?;
//! let (cache, ledger) = (dbms::Cache::open_default()?, dbms::Ledger::open_default()?);
//! ledger.sweep(&|_cgroups| ())?;
//! let installation = dbms::obtain(&reference, &cache, &|line| eprintln!("{line}"))?;
//! let directory = std::path::Path::new("/var/tmp/trial-1");
//! let user = dbms::ServerUser::choose(None)?;
//! let mut server = dbms::start(dbms::ServerSpec {
//!     config: [("shared_buffers".to_owned(), "1GB".to_owned())].into(),
//!     ..dbms::ServerSpec::new("pg13.7", &installation, directory, user, &cache, &ledger)
//! })?;
//! assert_eq!(server.need_sql()?.query_i64("select 1")?, 1);
//! server.stop()?.discard()?;
//! # Ok::<(), dbms::Error>(())
//! ```

mod build;
pub mod builds;
mod cache;
mod count_method;
mod counters;
mod disk;
mod elf;
pub mod embedded;
mod endpoint;
mod error;
mod fetch;
mod hash;
mod identity;
mod installation;
mod ipc;
mod keep;
mod kind;
mod launch;
mod ledger;
mod mysql;
mod named;
mod network;
mod nothing;
mod place;
mod postgres;
mod process;
mod profile;
mod release;
pub mod rocksdb;
mod source;
mod still;
mod stopped;
mod system;
mod systems;
mod unpack;
mod user;

pub use build::key::BuildKey;
pub use build::options::{BuildOptions, BuildSystem, DEFAULT_CFLAGS, DEFAULT_COMPILER};
pub use build::shared::{
    BuildOffer, BuildSource, BuildSourceError, FinishedBuild, finished_builds, obtain_builds_from,
};
pub use builds::{Compared, Difference};
pub use cache::Cache;
pub use count_method::{CountMethod, SqlCount};
pub use counters::{Counter, Snapshot};
pub use endpoint::Endpoint;
pub use error::{Diagnosis, Error};
pub use installation::Installation;
pub use ipc::{IpcObjects, SemaphoreSet};
pub use keep::copy::drop_running;
pub use keep::loaded::{Loaded, Origin, Pages, Restored};
pub use keep::manifest::Manifest;
pub use kind::{Archive, Kind, Recipe};
pub use launch::PROGRAM_PATH;
pub use ledger::{Entry, Ledger, MARKER, Record, Swept};
pub use named::Reference;
pub use network::link::Link;
pub use network::{Transport, check_transports};
pub use place::check_private;
pub use process::{ProcessId, asleep};
pub use profile::ProfileFacts;
pub use reference::Host;
pub use still::Still;
pub use stopped::Stopped;
pub use system::{
    Debt, Durability, Ending, Footprint, Gauge, Gauges, Interrupter, LogEvent, ParsedPlan,
    ServerSpec, Setting, Settled, Sql, System, Waits,
};
pub use systems::{differences, register};
pub use user::ServerUser;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use named::Form;

/// Obtains the binaries that `reference` names: from the cache if possible, by building a source or
/// from where builds are shared ([`obtain_builds_from`]), or, for a running server, by asking it.
/// `progress` gets lines for people.
///
/// # Errors
/// [`Error::VersionNotFound`] names the closest existing versions; [`Error::Archive`],
/// [`Error::Digest`], [`Error::Replaced`], [`Error::Unpack`], [`Error::Installation`],
/// [`Error::User`], [`Error::Unreachable`], [`Error::Source`], [`Error::Tools`], [`Error::Build`],
/// [`Error::SharedBuild`], [`Error::Connect`], [`Error::Io`].
pub fn obtain(
    reference: &Reference,
    cache: &Cache,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    obtain_interruptible(reference, cache, None, &AtomicBool::new(false), progress)
}

/// The same, but a build, which may take minutes, is aborted once `interrupted` is set. If the
/// caller is root, `server_user` unpacks archives, compiles sources and runs programs to ask for
/// their version; see [`ServerUser::choose`].
///
/// # Errors
/// As [`obtain`]; [`Error::Interrupted`].
pub fn obtain_interruptible(
    reference: &Reference,
    cache: &Cache,
    server_user: Option<&str>,
    interrupted: &AtomicBool,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    let user = || ServerUser::choose(server_user);
    let kind = reference.kind;
    match &reference.form {
        Form::Alone => kind.describe("".as_ref(), reference.to_string(), &user()?),
        Form::Release(release) => fetch::released::obtain(kind, release, cache, &user()?, progress),
        Form::Path(path) => {
            let root = place::expand_home(path);
            // A missing path is reported later.
            let root = std::fs::canonicalize(&root).unwrap_or(root);
            kind.describe(&root, format!("path:{}", root.display()), &user()?)
        }
        Form::Source(source) => build::obtain(kind, source, cache, &user()?, interrupted, progress),
        Form::Running(endpoint) => kind.describe_running(endpoint),
    }
}

/// Starts a fresh server and waits until it answers. On failure, nothing is left behind.
///
/// # Errors
/// [`Error::Reserved`] and [`Error::Rejected`] for settings, [`Error::DirectoryInUse`],
/// [`Error::Unreachable`], [`Error::Transport`], [`Error::Start`] with the server's last log lines,
/// [`Error::Io`].
pub fn start(spec: ServerSpec<'_>) -> Result<Box<dyn System>, Error> {
    let kind = kind_of(spec.installation)?;
    network::check_together(kind, spec.transports)?;
    kind.check_engine(spec.engine)?;
    Ok(kind.start(&spec, None)?.0)
}

/// Starts a server on a copy of `origin`, left by a server of the same build and user
/// ([`Stopped::keep`]), and waits until it answers. Its configuration is that of `spec`. On
/// failure, nothing is left behind.
///
/// The copy is checked to equal the original byte for byte; see [`Restored`].
///
/// # Errors
/// As [`start`]; [`Error::Space`], [`Error::NotSame`], [`Error::Interrupted`].
pub fn start_on_copy(
    spec: &ServerSpec<'_>,
    origin: &Origin<'_>,
) -> Result<(Box<dyn System>, Restored), Error> {
    let kind = kind_of(spec.installation)?;
    network::check_together(kind, spec.transports)?;
    kind.check_engine(spec.engine)?;
    let (server, restored) = kind.start(spec, Some(origin))?;
    Ok((server, restored.ok_or_else(|| kind.lacks("starting on a copy of data"))?))
}

/// How to read call stacks of the system that `reference` names; `None` if unknown.
pub fn profile_facts(reference: &str) -> Option<&'static ProfileFacts> {
    reference.parse::<Reference>().ok()?.kind.profile()
}

/// Parses a query plan of the system that `reference` names, as far as that is known.
pub fn parse_plan(reference: &str, plan: &str) -> ParsedPlan {
    let known = reference.parse::<Reference>().ok();
    known.map_or_else(|| ParsedPlan::verbatim(plan), |known| known.kind.parse_plan(plan))
}

/// Figures of a step by the names in published tables, from the counters of a system of
/// `installation`: how they changed, and how they are `now`. `seconds`: how long it had the load,
/// and how long its counters counted.
pub fn figures(
    installation: &Installation,
    changed: &[Counter],
    now: &Snapshot,
    seconds: [f64; 2],
) -> Vec<(&'static str, f64)> {
    kind_of(installation).map_or(Vec::new(), |kind| kind.figures(changed, now, seconds))
}

/// What the files of `directory`, the data directory of a system of `installation`, hold besides
/// `tables`: bytes by name, such as `wal` or `undo`, and `other`. `disk` is all files; the rest and
/// the `total` of the tables add up to it.
pub fn rest_of_disk(
    installation: &Installation,
    directory: &Path,
    tables: &[Footprint],
) -> Option<Footprint> {
    kind_of(installation).ok().map(|kind| disk::rest(kind, directory, tables))
}

/// Most clients that can be connected at the same time to a server of `installation` with these
/// settings and this configuration file; `None`: as many as the machine allows.
pub fn most_clients(
    installation: &Installation,
    settings: &BTreeMap<String, String>,
    file: Option<&str>,
) -> Option<u32> {
    kind_of(installation).ok()?.most_clients(settings, file)
}

/// Whether servers of `installation` have this storage engine, as far as that is known before a
/// start.
///
/// # Errors
/// [`Error::Unsupported`] names those that they have.
pub fn check_engine(installation: &Installation, engine: Option<&str>) -> Result<(), Error> {
    kind_of(installation)?.check_engine(engine)
}

/// The settings with which servers of `installation` have this durability, for tables of `engine`
/// (as in [`ServerSpec::engine`]). What a plan sets otherwise comes on top.
///
/// # Errors
/// [`Error::Unsupported`] if the system has no such engine, or nothing to translate it to.
pub fn durability(
    installation: &Installation,
    engine: Option<&str>,
    level: Durability,
) -> Result<BTreeMap<String, String>, Error> {
    check_engine(installation, engine)?;
    kind_of(installation)?.durability(installation, engine, level)
}

/// Whether an installation's servers take two names for the same setting.
pub fn same_setting(installation: &Installation, one: &str, other: &str) -> bool {
    kind_of(installation).is_ok_and(|kind| kind.plain_name(one) == kind.plain_name(other))
}

/// How to count instructions on servers of an installation.
///
/// # Errors
/// [`Error::Unsupported`] for a running server, and for a system that can't be counted.
pub fn count_method(installation: &Installation) -> Result<CountMethod, Error> {
    if installation.is_ours() {
        return kind_of(installation)?.count_method(installation);
    }
    Err(Error::unsupported(
        "counting instructions of a server that is already running",
        format!("have steelyard start it (dbms = \"{}@VERSION\" or \"path:…\")", installation.dbms),
    ))
}

/// A command that runs another program as the servers' user, with the same environment in every
/// run, in the control groups of these `cgroup.procs` files. It gets a signal to end when the
/// thread that starts it ends.
///
/// # Errors
/// [`Error::Io`] if one of the files can't be written to.
pub fn command(
    program: &str,
    user: &ServerUser,
    procs_files: &[std::path::PathBuf],
) -> Result<std::process::Command, Error> {
    launch::command(program.as_ref(), user, procs_files)
}

/// Connects to a running server, which is neither configured nor stopped.
///
/// # Errors
/// [`Error::Connect`]; [`Error::Unsupported`] if `reference` does not name a running server.
pub fn attach(reference: &Reference) -> Result<Box<dyn System>, Error> {
    match &reference.form {
        Form::Running(endpoint) => reference.kind.attach(endpoint),
        _ => Err(Error::unsupported(
            format!("attaching to {reference}"),
            "give the URL of a running server, or start it",
        )),
    }
}

fn kind_of(installation: &Installation) -> Result<&'static dyn Kind, Error> {
    let what = || format!("the system {}", installation.dbms);
    systems::find(&installation.dbms)
        .ok_or_else(|| Error::unsupported(what(), "obtain it with this version"))
}
