//! PostgreSQL, 9.6 to 18.
//!
//! `attach` connects to a running server. `archive` says where to fetch binaries and `recipe` how
//! to build them; `binaries` describes them, with their `facts`. A start goes through `initdb`
//! (once; of a container image in its `shadow`; the user's data directory is `adopt`ed), `access`
//! (how clients reach it), `config`, `postmaster` and `server`, which uses `control`, `tables`,
//! `counters` (by the names in `moved`) and `settle`. `count` counts instructions, with the
//! functions in `profile`. `plans` reads what EXPLAIN says.

mod access;
mod adopt;
mod archive;
mod attach;
mod binaries;
mod checksums;
mod config;
mod control;
mod count;
mod counters;
mod debt;
mod facts;
mod guard;
mod initdb;
mod log;
mod marked;
mod moved;
mod plans;
mod postmaster;
mod profile;
mod ready;
mod recipe;
mod server;
mod settle;
mod shadow;
mod tables;
mod waits;

use std::path::{Path, PathBuf};

use reference::Server;

use crate::api::kind::{Archive, Kind, RELAXED, Recipe};
use crate::{
    Compared, Config, CountMethod, DataDirectory, Difference, Durability, Endpoint, Error,
    Installation, Origin, ParsedPlan, ProfileFacts, ServerSpec, ServerUser, Started, System, Timer,
};
use server::PostgresServer;

/// Names that `postgres --describe-config` prints, of 12 to 18.
const SETTINGS: &str = include_str!("settings.txt");

/// The kind.
#[derive(Debug)]
pub(crate) struct Postgres;

impl Kind for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn part_of_disk(&self, file: &Path) -> Option<&'static str> {
        // Before 10, it is pg_xlog.
        (file.starts_with("pg_wal") || file.starts_with("pg_xlog")).then_some("wal")
    }

    fn numbers(&self, first: u64) -> usize {
        if first < 10 { 3 } else { 2 }
    }

    fn archives(&self) -> Vec<Archive> {
        vec![archive::archive()]
    }

    fn recipe(&self) -> Option<&dyn Recipe> {
        Some(&recipe::MakeOrMeson)
    }

    fn endpoint(&self, server: Server) -> Option<Endpoint> {
        Some(Endpoint::Postgres(server))
    }

    fn packaged(&self, tree: &Path) -> PathBuf {
        binaries::packaged(tree)
    }

    fn describe(&self, root: &Path, user: &ServerUser) -> Result<Installation, Error> {
        binaries::describe(root, user)
    }

    fn describe_running(&self, endpoint: &Endpoint) -> Result<Installation, Error> {
        attach::describe(endpoint)
    }

    fn durability(&self, _engine: Option<&str>, level: Durability) -> Result<Config, Error> {
        let settings: &[(&str, &str)] = match level {
            Durability::Full => {
                &[("fsync", "on"), ("synchronous_commit", "on"), ("full_page_writes", "on")]
            }
            Durability::Relaxed => &[("synchronous_commit", "off")],
        };
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Ok(settings.iter().map(own).collect())
    }

    fn has_setting(&self, name: &str) -> bool {
        SETTINGS.lines().any(|known| known.eq_ignore_ascii_case(name))
    }

    fn listens_on_tcp(&self) -> bool {
        true
    }

    fn tells_threads(&self, _installation: &Installation) -> bool {
        true
    }

    fn start(&self, spec: &ServerSpec<'_>, origin: Option<&Origin<'_>>) -> Result<Started, Error> {
        postmaster::start(spec, origin)
    }

    fn check_data(
        &self,
        installation: &Installation,
        data: &DataDirectory<'_>,
    ) -> Result<String, Error> {
        adopt::check(installation, data)
    }

    fn attach(&self, endpoint: &Endpoint) -> Result<Box<dyn System>, Error> {
        Ok(Box::new(PostgresServer::attach(endpoint)?))
    }

    fn timers(&self, _installation: &Installation, _engine: Option<&str>) -> Option<Vec<Timer>> {
        Some(config::TIMERS.to_vec())
    }

    fn profile(&self) -> Option<&'static ProfileFacts> {
        Some(&profile::PROFILE)
    }

    fn parse_plan(&self, plan: &str) -> ParsedPlan {
        plans::parse(plan)
    }

    fn count_method(&self, installation: &Installation) -> Result<CountMethod, Error> {
        Ok(count::method(installation))
    }

    fn most_clients(&self, settings: &Config, file: Option<&str>) -> Option<u32> {
        Some(config::most_clients(settings, file))
    }

    fn nature(&self, _engine: Option<&str>) -> Vec<(&'static str, &'static str)> {
        vec![
            ("usual isolation", "read committed"),
            ("checksums of pages", "as initdb makes them"),
            ("half-written pages", "repaired from full images in the WAL"),
            ("old versions of rows", "in the table until vacuum"),
            // Three times wal_writer_delay ("Asynchronous Commit" in its manual).
            (RELAXED, "those of the last 0.6 s when the server or the machine fails"),
        ]
    }

    fn differences(&self, variants: &[Compared<'_>]) -> Vec<Difference> {
        let checksums = checksums::differing(variants).into_iter();
        checksums.map(|text| Difference { code: "checksums-differ", text }).collect()
    }
}
