//! The systems under test: obtain, initialize, start, settle, count, stop.
//!
//! A [`Reference`] (the plan's `dbms = "postgres@13.7"`) is obtained once into a [`Cache`], which
//! gives an [`Installation`]. [`start`] starts a fresh server from it for one trial and returns a
//! [`System`]. A system knows where clients connect, what it counts, how it settles and how it
//! ends. It knows nothing about benchmarks. Everything started is first written to a [`Ledger`], so
//! the next steelyard can end and remove what a killed one left.
//!
//! Each system has a folder. They share `api` (what a system is and can do), `obtain` (binaries),
//! `process`, `data` (on disk) and `embedded` (engines without a server). `systems` lists them,
//! `named` finds the one that a reference means, and `run` and `known` ask it.
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

mod api;
mod data;
pub mod embedded;
mod known;
mod mysql;
mod nothing;
mod obtain;
mod postgres;
mod process;
mod resolve;
pub mod rocksdb;
mod run;
mod systems;

pub use api::builds;
pub use api::builds::{Compared, Difference};
pub use api::count_method::{CountMethod, EXECUTE, LeftOut, SqlCount};
pub use api::counters::{Counter, Snapshot};
pub use api::endpoint::Endpoint;
pub use api::error::{Diagnosis, Error};
pub use api::freezing::{Freeze, Timer};
pub use api::installation::Installation;
pub(crate) use api::kind::{Archive, Kind, Recipe};
pub use api::profile::ProfileFacts;
pub use api::spec::{Config, START_LIMIT, STOP_LIMIT, ServerSpec};
pub use api::stopped::{Ending, Stopped};
pub use api::system::{
    Debt, Durability, Footprint, Gauge, Gauges, LogEvent, ParsedPlan, Setting, Settled, Sql,
    Started, System, Waits,
};
pub use api::transport::Transport;
pub use data::copy::drop_from_page_cache;
pub use data::given::DataDirectory;
pub use data::hash::of_texts as hash_of_texts;
pub use data::loaded::{Loaded, Origin, Pages, Restored};
pub use data::manifest::Manifest;
pub use data::paths::check_private;
pub use known::{
    check_engine, count_method, countable, durability, figures, has_setting, most_clients,
    parse_plan, profile_facts, rest_of_disk, same_setting, tells_threads, timers,
};
pub use obtain::build::build_name;
pub use obtain::build::history::{History, HistoryCommit};
pub use obtain::build::key::BuildKey;
pub use obtain::build::options::{BuildOptions, BuildSystem, DEFAULT_CFLAGS, DEFAULT_COMPILER};
pub use obtain::build::shared::{
    BuildOffer, BuildSource, BuildSourceError, FinishedBuild, finished_builds, obtain_builds_from,
};
pub use obtain::cache::Cache;
pub use obtain::code::program_id;
pub use obtain::lines::{FunctionLine, function_line};
pub use obtain::listed::{ListedVersion, known_versions, versions};
pub use obtain::sent::{Program, ProgramSource, obtain_programs_from};
pub use obtain::{obtain, obtain_interruptible};
pub use process::ipc::{IpcObjects, SemaphoreSet};
pub use process::launch::{PROGRAM_PATH, command};
pub use process::ledger::{Entry, Ledger, MARKER, Record, Swept};
pub use process::network::link::Link;
pub use process::paused::Paused;
pub use process::placed::Programs;
pub use process::proc::{ProcessId, asleep, host_name};
pub use process::server::{Interrupter, ServerProcess};
pub use process::user::ServerUser;
pub use reference::{Host, Server};
pub use resolve::Reference;
pub use run::{attach, check_data, check_transports, start, start_on_copy};
pub use systems::differences;
