//! RocksDB, from 6.8 on: a library, in a process of its own.
//!
//! `archive` says where to fetch libraries, and `binaries` describes them. The process that a start
//! makes runs [`serve`] (`inside`), which opens a [`Database`] with the functions of `library`.
//! `options` translates settings and has those that go by the clock; `stats` reads what it says
//! about itself.

mod archive;
mod binaries;
mod count;
mod database;
mod inside;
mod library;
mod options;
mod stats;

use std::path::Path;

pub use database::Database;
pub use inside::serve;
pub use options::text as options_text;

use crate::{
    Archive, CountMethod, Counter, Error, Installation, Kind, Origin, ServerSpec, ServerUser,
    Snapshot, Started, Timer, embedded,
};

/// The kind.
#[derive(Debug)]
pub(crate) struct RocksDb;

impl Kind for RocksDb {
    fn name(&self) -> &'static str {
        "rocksdb"
    }

    fn archives(&self) -> Vec<Archive> {
        vec![archive::archive()]
    }

    fn describe(&self, root: &Path, user: &ServerUser) -> Result<Installation, Error> {
        binaries::describe(root, user)
    }

    fn part_of_disk(&self, file: &Path) -> Option<&'static str> {
        file.extension().is_some_and(|extension| extension == "log").then_some("wal")
    }

    fn figures(
        &self,
        changed: &[Counter],
        now: &Snapshot,
        seconds: [f64; 2],
    ) -> Vec<(&'static str, f64)> {
        stats::figures(changed, now, seconds)
    }

    fn count_method(&self, _installation: &Installation) -> Result<CountMethod, Error> {
        Ok(count::method())
    }

    fn timers(&self, _installation: &Installation, _engine: Option<&str>) -> Option<Vec<Timer>> {
        Some(options::TIMERS.to_vec())
    }

    fn start(&self, spec: &ServerSpec<'_>, origin: Option<&Origin<'_>>) -> Result<Started, Error> {
        options::check(spec)?;
        let library = binaries::library(spec.installation.programs()?)?;
        embedded::start(spec, origin, &binaries::program(&library)?)
    }
}
