//! PostgreSQL, 9.6 to 18.
//!
//! `url` reads where a running server is; `archive` says where binaries are fetched and `recipe`
//! how they are built; `binaries` describes them, with their `facts`. `initdb` (once) → `config` →
//! `postmaster` → `server` (the door), with `control`, `tables`, `counters` and `settle` behind it;
//! `attach` for a server that runs already; `count` for counting instructions, with the functions
//! that `profile` names.

mod archive;
mod attach;
mod binaries;
mod checksums;
mod config;
mod control;
mod count;
mod counters;
mod facts;
mod initdb;
mod marked;
mod postmaster;
mod profile;
mod recipe;
mod server;
mod settle;
mod tables;
mod url;

use std::path::Path;

use crate::builds::{Compared, Difference};
use crate::kind::{Archive, Kind, Recipe};
use crate::{
    CountMethod, Endpoint, Error, Installation, Origin, ProfileFacts, Restored, ServerSpec,
    ServerUser, System,
};
use server::PostgresServer;

/// Role and database of the servers started here.
const ROLE: &str = "steelyard";

/// The kind.
#[derive(Debug)]
pub(crate) struct Postgres;

impl Kind for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn numbers(&self, first: u64) -> usize {
        if first < 10 { 3 } else { 2 }
    }

    fn archive(&self) -> Option<Archive> {
        Some(archive::archive())
    }

    fn recipe(&self) -> Option<&dyn Recipe> {
        Some(self)
    }

    fn running(&self, url: &str) -> Option<Result<Endpoint, Error>> {
        url::read(url)
    }

    fn describe(
        &self,
        root: &Path,
        source: String,
        user: &ServerUser,
    ) -> Result<Installation, Error> {
        binaries::describe(root, source, user)
    }

    fn describe_running(&self, endpoint: &Endpoint) -> Result<Installation, Error> {
        attach::describe(endpoint)
    }

    fn start(
        &self,
        spec: &ServerSpec<'_>,
        origin: Option<&Origin<'_>>,
    ) -> Result<(Box<dyn System>, Option<Restored>), Error> {
        PostgresServer::start(spec, origin)
    }

    fn attach(&self, endpoint: &Endpoint) -> Result<Box<dyn System>, Error> {
        Ok(Box::new(PostgresServer::attach(endpoint)?))
    }

    fn profile(&self) -> Option<&'static ProfileFacts> {
        Some(&profile::PROFILE)
    }

    fn count_method(&self, installation: &Installation) -> Result<CountMethod, Error> {
        Ok(count::method(installation))
    }

    fn differences(&self, variants: &[Compared<'_>]) -> Vec<Difference> {
        let checksums = checksums::differing(variants).into_iter();
        checksums.map(|text| Difference { code: "checksums-differ", text }).collect()
    }
}
