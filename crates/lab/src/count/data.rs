//! The data that statements find: loaded once for each variant, without Callgrind, and copied for every server that counts.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use dbms::{Endpoint, Loaded, Origin, Pages, ServerSpec, Sql, System};
use drive::{Single, Target};
use workload::{Catalogue, State, stream_seed};

use super::jobs::Database;
use super::{Bench, session};
use crate::error::Error;
use crate::systems::target;
use crate::trial::server::write_config;

/// Settings of all servers here, over those of the plan: nothing but the statement's backend is to do anything, nothing is to depend on
/// time. None of them is in the way of an execution's instructions but where said.
const SETTINGS: [(&str, &str); 14] = [
    ("autovacuum", "off"),
    ("bgwriter_lru_maxpages", "0"),
    ("checkpoint_timeout", "1d"),
    ("max_wal_size", "64GB"),
    // Only the kernel waits for the disk; the backend makes one system call less per commit.
    ("fsync", "off"),
    ("huge_pages", "off"),
    // What it has written already a backend need not write when it commits: a matter of luck. Ten seconds is the most.
    ("wal_writer_delay", "10s"),
    // A log of running transactions every 15 s would shift where records lie in pages of the log.
    ("wal_level", "minimal"),
    ("max_wal_senders", "0"),
    // Workers would be processes of their own, and not be counted.
    ("max_parallel_workers_per_gather", "0"),
    ("max_parallel_maintenance_workers", "0"),
    // One process less to start, and it takes seconds of a processor to start a server.
    ("max_logical_replication_workers", "0"),
    // The server's statistics are put together and sent by the clock.
    ("track_counts", "off"),
    // 18 has processes for reading, and how long they take would decide what a backend does meanwhile.
    ("io_method", "sync"),
];

/// Settings that older versions don't have: name, first major version.
const SINCE: [(&str, u32); 3] = [
    ("max_logical_replication_workers", 10),
    ("max_parallel_maintenance_workers", 11),
    ("io_method", 18),
];

impl Bench<'_> {
    /// Loads the data of a variant into each of the `databases` and keeps them.
    pub fn load(&self, variant: usize, databases: &BTreeSet<Database>) -> Result<Loaded, Error> {
        let catalogue = &self.catalogues[variant];
        let directory = self.place(&format!("load{variant}"));
        let mut server = self.with_config(variant, &directory, |config_file| {
            Ok(dbms::start(self.spec(variant, &directory, Vec::new(), config_file))?)
        })?;
        let endpoint = server.endpoint();
        let Endpoint::Postgres { database: loaded, .. } = &endpoint;
        let template = loaded.clone();
        let target = target("load", endpoint);
        let sql = server.need_sql()?;
        self.fill(sql, &target, catalogue)?;
        let states: BTreeSet<State> = databases.iter().map(|database| database.state).collect();
        for state in states {
            if state == State::Indexed {
                for statement in &catalogue.index {
                    sql.execute(statement)?;
                }
            }
            freeze(sql)?;
            for database in databases.iter().filter(|database| database.state == state) {
                session::unless(self.interrupted)?;
                sql.execute(&format!("CREATE DATABASE {database} TEMPLATE {template}"))?;
            }
        }
        // Shared by all databases.
        sql.execute("VACUUM (FREEZE) pg_database")?;
        Ok(server.stop()?.keep(self.interrupted)?)
    }

    fn fill(&self, sql: &mut dyn Sql, target: &Target, catalogue: &Catalogue) -> Result<(), Error> {
        for statement in &catalogue.setup {
            sql.execute(statement)?;
        }
        if let Some((statement, times)) = &catalogue.load {
            let seed = stream_seed(self.seed, "load", 1, 0, "count");
            let mut single = Single::connect(target, seed, catalogue.cells).map_err(load_failed)?;
            let handle = single.prepare(statement).map_err(load_failed)?;
            for _ in 0..*times {
                session::unless(self.interrupted)?;
                single.run(handle).map_err(load_failed)?;
            }
        }
        Ok(())
    }

    /// Starts a server on a copy of the data, under `wrapper` if that isn't empty.
    pub fn start_on(
        &self,
        variant: usize,
        loaded: &Loaded,
        directory: &Path,
        wrapper: Vec<OsString>,
    ) -> Result<Box<dyn System>, Error> {
        let origin = Origin { loaded, pages: Pages::Any, interrupted: self.interrupted };
        self.with_config(variant, directory, |config_file| {
            let spec = self.spec(variant, directory, wrapper, config_file);
            Ok(dbms::start_on_copy(&spec, &origin)?.0)
        })
    }

    /// A place for the directory of one server. All such paths have the same length, for it moves what lies behind them in the server's
    /// memory, and with it the instructions of functions that go by alignment, such as strncmp.
    pub fn place(&self, name: &str) -> PathBuf {
        self.options.data_dir.join(format!("{:010}-count-{name:0>8}", std::process::id()))
    }

    /// Starts a server with the variant's configuration file, which is there as long as the start takes.
    fn with_config<T>(
        &self,
        variant: usize,
        directory: &Path,
        start: impl FnOnce(Option<PathBuf>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let text = self.subject(variant).variant.config_text.as_ref();
        let file = text.map(|text| write_config(text, directory)).transpose()?;
        let started = start(file.clone());
        if let Some(file) = file {
            // It has been copied into the server's own configuration.
            let _ = fs::remove_file(file);
        }
        started
    }

    fn spec<'s>(
        &'s self,
        variant: usize,
        directory: &'s Path,
        wrapper: Vec<OsString>,
        config_file: Option<PathBuf>,
    ) -> ServerSpec<'s> {
        let subject = self.subject(variant);
        let workload::Dialect::Postgres { major } = subject.dialect;
        let mut config = subject.variant.config.clone();
        let known =
            |name: &str| !SINCE.iter().any(|(since, first)| *since == name && major < *first);
        for (name, value) in SETTINGS.iter().filter(|(name, _)| known(name)) {
            config.insert((*name).to_owned(), (*value).to_owned());
        }
        ServerSpec {
            installation: &subject.installation,
            name: &subject.variant.name,
            directory,
            config,
            config_file,
            initdb: subject.variant.initdb.clone(),
            procs_files: Vec::new(),
            wrapper,
            user: self.user.clone(),
            start_limit: self.start_limit(),
            stop_limit: self.options.stop_limit,
            cache: &self.prepared.cache,
            ledger: self.ledger,
        }
    }
}

fn load_failed(error: drive::Error) -> Error {
    Error::Count {
        variant: "load".to_owned(),
        kind: "load".to_owned(),
        reason: error.to_string(),
        log: String::new(),
    }
}

/// Leaves nothing to be done later by whoever reads a page first, and statistics that don't depend on chance.
fn freeze(sql: &mut dyn Sql) -> Result<(), Error> {
    sql.execute("VACUUM (FREEZE, ANALYZE)")?;
    Ok(())
}
