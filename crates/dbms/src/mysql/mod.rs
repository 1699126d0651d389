//! MySQL 5.6 to 8.4 and MariaDB 10.1 to 11.4, with InnoDB and MyRocks.
//!
//! A variant is a release (`mysql@8.0.31`, `mariadb@10.11.5`), an installation
//! (`mysql@path:/usr/sbin/mysqld`, `mariadb@path:/usr`) or a running server (`mysql://…`). MyRocks
//! is a plugin that released archives lack; Debian has it: install mariadb-server-core and
//! mariadb-plugin-rocksdb and name `mariadb@path:/usr`.
//!
//! `flavor` has the differences between the two systems. `archive` says where to fetch binaries,
//! and `attach` connects to a running server. `binaries` describes an installation, with its
//! `libraries`. A start goes through `datadir` (initialized once) or `adopt` (the user's), `config`
//! (an option file, see `option_file`) with the `engine` and its `durability`, `mysqld` and
//! `server`.
//!
//! `control` is the connection for all but the load; `names` writes names in SQL. `counters` reads
//! what the server counts, with `monitor` for InnoDB and `rocks` for MyRocks; it is `gathered` by
//! the names in `moved`. `gauges` watches some of it each second. `tables` has sizes, `settings`
//! what was configured. `settle` pays off the `debt`, with settings `changed` for a while. `plans`
//! reads what EXPLAIN says, `log` the error log, `waits` what sessions wait for. `timers` has the
//! settings that go by the clock, `profile` the functions of a statement's phases.

mod adopt;
mod archive;
mod attach;
mod binaries;
mod changed;
mod config;
mod control;
mod count;
mod counters;
mod datadir;
mod debt;
mod durability;
mod engine;
mod flavor;
mod gathered;
mod gauges;
mod libraries;
mod log;
mod marked;
mod monitor;
mod moved;
mod mysqld;
mod names;
mod option_file;
mod plans;
mod profile;
mod rocks;
mod server;
#[cfg(test)]
mod server_tests;
mod settings;
mod settle;
mod tables;
mod timers;
mod version;
mod waits;

use std::path::Path;

use reference::Server;

use crate::api::kind::{Archive, Kind, RELAXED};
use crate::{
    Config, CountMethod, DataDirectory, Durability, Endpoint, Error, Installation, Origin,
    ParsedPlan, ProfileFacts, ServerSpec, ServerUser, Started, System, Timer,
};
use engine::StorageEngine;
use flavor::Flavor;
use server::MysqlServer;
use version::Version;

/// The kinds: one implementation.
#[derive(Debug)]
pub(crate) struct Mysql(&'static Flavor);

/// MySQL.
pub(crate) const MYSQL: Mysql = Mysql(&flavor::MYSQL);
/// MariaDB.
pub(crate) const MARIADB: Mysql = Mysql(&flavor::MARIADB);

impl Kind for Mysql {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn tells_threads(&self, installation: &Installation) -> bool {
        Version::of(installation).is_some_and(|it| it.mariadb || it.number >= 50_700)
    }

    fn archives(&self) -> Vec<Archive> {
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return (self.0.archives)();
        }
        Vec::new()
    }

    fn endpoint(&self, server: Server) -> Option<Endpoint> {
        Some(Endpoint::Mysql(server))
    }

    fn describe(&self, root: &Path, user: &ServerUser) -> Result<Installation, Error> {
        binaries::describe(self.0, root, user)
    }

    fn describe_running(&self, endpoint: &Endpoint) -> Result<Installation, Error> {
        attach::describe(endpoint)
    }

    fn engines(&self) -> &'static [&'static str] {
        StorageEngine::NAMES
    }

    fn plain_name(&self, setting: &str) -> String {
        option_file::plain(setting)
    }

    fn nature(&self, engine: Option<&str>) -> Vec<(&'static str, &'static str)> {
        let mut nature = vec![("usual isolation", "repeatable read")];
        nature.extend(match StorageEngine::of(engine) {
            Ok(StorageEngine::MyRocks) => [
                ("checksums of pages", "of each block"),
                ("half-written pages", "none, files are never changed"),
                ("old versions of rows", "in the tree until compaction"),
            ],
            _ => [
                ("checksums of pages", "of each page"),
                ("half-written pages", "written twice (doublewrite)"),
                ("old versions of rows", "in undo logs until purge"),
            ],
        });
        nature.push((RELAXED, "those of about the last second when the machine fails"));
        nature
    }

    fn durability(&self, engine: Option<&str>, level: Durability) -> Result<Config, Error> {
        Ok(durability::settings(StorageEngine::of(engine)?, level))
    }

    fn start(&self, spec: &ServerSpec<'_>, origin: Option<&Origin<'_>>) -> Result<Started, Error> {
        mysqld::start(self.0, spec, origin)
    }

    fn check_data(
        &self,
        _installation: &Installation,
        data: &DataDirectory<'_>,
    ) -> Result<String, Error> {
        adopt::check(self.0, data)
    }

    fn attach(&self, endpoint: &Endpoint) -> Result<Box<dyn System>, Error> {
        Ok(Box::new(MysqlServer::attach(endpoint)?))
    }

    fn part_of_disk(&self, file: &Path) -> Option<&'static str> {
        tables::part_of_disk(file)
    }

    fn count_method(&self, installation: &Installation) -> Result<CountMethod, Error> {
        Ok(count::method(installation))
    }

    fn timers(&self, installation: &Installation, engine: Option<&str>) -> Option<Vec<Timer>> {
        let engine = StorageEngine::of(engine).unwrap_or(StorageEngine::InnoDb);
        Some(timers::of(Version::of(installation), engine))
    }

    fn profile(&self) -> Option<&'static ProfileFacts> {
        Some(&profile::PROFILE)
    }

    fn parse_plan(&self, plan: &str) -> ParsedPlan {
        plans::parse(plan)
    }

    fn most_clients(&self, settings: &Config, file: Option<&str>) -> Option<u32> {
        Some(config::most_clients(settings, file))
    }
}
