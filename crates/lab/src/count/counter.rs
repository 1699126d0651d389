//! The state shared by all counts of a command, and the servers it starts.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use dbms::{CountMethod, Ledger, Loaded, Origin, Pages, ServerSpec, ServerUser, System};
use probe::callgrind::{Event, Valgrind};
use workload::{Catalogue, Kind, Request};

use super::jobs::Item;
use crate::error::Error;
use crate::options::Options;
use crate::subject::{Lineup, Subject};
use crate::trial::server::write_config;

/// Starting under Callgrind takes about 50 times as long as without.
const START_FACTOR: u32 = 10;

/// The state shared by all counts of a command.
pub struct Counter<'a> {
    pub lineup: &'a Lineup,
    pub options: &'a Options,
    pub ledger: &'a Ledger,
    pub user: &'a ServerUser,
    pub interrupted: &'a AtomicBool,
    pub valgrind: &'a Valgrind,
    pub seed: u64,
    /// What is counted, instructions first.
    pub events: &'static [Event],
    /// For each variant, how to count on its system.
    pub methods: Vec<CountMethod>,
    /// For each variant, what to count on it.
    pub catalogues: Vec<Catalogue>,
}

impl Counter<'_> {
    pub fn subject(&self, variant: usize) -> &Subject {
        &self.lineup.subjects[variant]
    }

    pub fn method(&self, variant: usize) -> &CountMethod {
        &self.methods[variant]
    }

    pub fn kind(&self, item: Item) -> &Kind {
        &self.catalogues[item.variant].kinds[item.kind]
    }

    /// Number of executions to count: as set by the plan, otherwise fewer for requests that write
    /// more rows, so that all kinds take about the same time.
    pub fn executions(&self, item: Item) -> u32 {
        /// A server may replan a prepared statement for its first few executions; that must be over
        /// when counting begins.
        const FEWEST: u64 = 10;
        let kind = self.kind(item);
        // Rows written by all executions of a kind together, about; and enough executions for
        // occasional costs, such as a new page, to show in the mean.
        let (rows, most) = match kind.request {
            Request::KeyValue(_) => (10_000, 2_000),
            _ => (1_000, 50),
        };
        let fewer = || (rows / kind.rows.max(1)).clamp(FEWEST, most) as u32;
        self.lineup.plan.count.statements.unwrap_or_else(fewer)
    }

    /// An error once the user has ended the command.
    pub fn unless_interrupted(&self) -> Result<(), Error> {
        if self.interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Starts a server: on a copy of `loaded`, if given, and under `wrapper`, unless that is empty.
    pub fn start(
        &self,
        variant: usize,
        directory: &Path,
        loaded: Option<&Loaded>,
        wrapper: Vec<OsString>,
    ) -> Result<Box<dyn System>, Error> {
        let subject = self.subject(variant);
        let mut config = self.catalogues[variant].config.clone();
        config.extend(subject.variant.config.clone());
        let settings = self.method(variant).settings.iter();
        config.extend(settings.map(|(name, value)| (name.to_string(), value.to_string())));
        let text = subject.variant.config_text.as_ref();
        let config_file = text.map(|text| write_config(text, directory)).transpose()?;
        let spec = ServerSpec {
            config,
            config_file: config_file.clone(),
            wrapper,
            start_limit: self.options.start_limit * START_FACTOR,
            stop_limit: self.options.stop_limit,
            ..subject.spec(directory, self.user, &self.lineup.cache, self.ledger)
        };
        let origin = |loaded| Origin { loaded, pages: Pages::Any, interrupted: self.interrupted };
        let started = match loaded {
            Some(loaded) => dbms::start_on_copy(&spec, &origin(loaded)).map(|(server, _)| server),
            None => dbms::start(spec),
        };
        if let Some(file) = config_file {
            // It has been copied into the server's own configuration.
            let _ = fs::remove_file(file);
        }
        Ok(started?)
    }

    /// The path for the directory of one server. All such paths have the same length, because the
    /// length shifts what follows in the server's memory, which changes the instructions of
    /// functions that depend on alignment, such as strncmp.
    pub fn place(&self, name: &str) -> PathBuf {
        self.options.data_dir.join(format!("{:010}-count-{name:0>8}", std::process::id()))
    }
}

/// Says what could not be counted.
pub fn failed(variant: &str, kind: &str, reason: impl fmt::Display) -> Error {
    Error::Count {
        variant: variant.to_owned(),
        kind: kind.to_owned(),
        reason: reason.to_string(),
        log: String::new(),
    }
}
