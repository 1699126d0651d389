//! PostgreSQL, 9.6 to 18.
//!
//! `reference` → `fetch` (with `digests`, and `unlisted`), `build` (from a `source`) or `local`
//! (binaries, with their `facts`; `kept` in the cache) → `template` (initdb, once) → `config` →
//! `launch` and `postmaster`
//! (the process; `warm` before one that starts on a copy) → `server` (the door), with `control`, `tables`, `counters` and `settle` behind it; `attach` for a
//! server that runs already.

mod attach;
mod build;
mod checksums;
mod config;
mod control;
mod counters;
mod digests;
mod facts;
mod fetch;
mod initdb;
pub(crate) mod local;
mod postmaster;
mod profile;
mod reference;
mod server;
mod settle;
mod source;
mod tables;
mod unlisted;

pub use checksums::differing_checksums;
pub use profile::PROFILE;
pub use reference::{PostgresReference, Release, Running};
pub use source::{Repository, Source, SourceTree};

use std::sync::atomic::AtomicBool;

use crate::{Cache, Error, Installation, Origin, Restored, ServerSpec, ServerUser, System};

/// Role and database of the servers started here.
pub(crate) const ROLE: &str = "steelyard";

pub(crate) fn obtain(
    reference: &PostgresReference,
    cache: &Cache,
    server_user: Option<&str>,
    interrupted: &AtomicBool,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    let user = || ServerUser::choose(server_user);
    match reference {
        PostgresReference::Release(release) => fetch::obtain(release, cache, &user()?, progress),
        PostgresReference::Path(path) => local::obtain(path, &user()?),
        PostgresReference::Source(source) => {
            build::obtain(source, cache, &user()?, interrupted, progress)
        }
        PostgresReference::Running(running) => attach::describe(running),
    }
}

pub(crate) fn start(
    spec: &ServerSpec<'_>,
    origin: Option<&Origin<'_>>,
) -> Result<(Box<dyn System>, Option<Restored>), Error> {
    let (server, restored) = server::PostgresServer::start(spec, origin)?;
    Ok((Box::new(server), restored))
}

pub(crate) fn attach(reference: &PostgresReference) -> Result<Box<dyn System>, Error> {
    match reference {
        PostgresReference::Running(running) => {
            Ok(Box::new(server::PostgresServer::attach(running)?))
        }
        other => Err(Error::Unsupported {
            what: format!("attaching to {other}"),
            remedy: "give the URL of a running server, or start it".to_owned(),
        }),
    }
}
