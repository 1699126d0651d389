//! A kind of system under test: how it is named, obtained, built and started.

use std::fmt;
use std::path::{Path, PathBuf};

use reference::Server;

use crate::obtain::build::work::Work;
use crate::obtain::fetch::maven::{Artifact, Version, parse};
use crate::{
    BuildOptions, Compared, Config, CountMethod, Counter, DataDirectory, Difference, Durability,
    Endpoint, Error, Installation, Origin, ParsedPlan, ProfileFacts, ServerSpec, ServerUser,
    Snapshot, Started, System, Timer,
};

/// The subject of [`Kind::nature`] that only matters for relaxed durability.
pub const RELAXED: &str = "commits that relaxed durability may lose";

/// A kind of system under test. The registry is `systems.rs`. Errors are those of
/// [`crate::obtain()`], [`crate::start`] and [`crate::attach`].
pub trait Kind: fmt::Debug + Sync {
    /// Its name in plans and in [`Installation::dbms`]: `postgres`.
    fn name(&self) -> &'static str;

    /// True if its name alone names a system.
    fn stands_alone(&self) -> bool {
        false
    }

    /// The number of parts in the version of a release whose first part is `first`: 2 for
    /// PostgreSQL 13.7.
    fn numbers(&self, _first: u64) -> usize {
        3
    }

    /// Where to fetch its released versions, if possible. The places are tried in this order.
    fn archives(&self) -> Vec<Archive> {
        Vec::new()
    }

    /// How to build it from source, if possible.
    fn recipe(&self) -> Option<&dyn Recipe> {
        None
    }

    /// The address of a running one, if it is reached like that.
    fn endpoint(&self, _server: Server) -> Option<Endpoint> {
        None
    }

    /// The root of an installation in the `tree` of its package.
    fn packaged(&self, tree: &Path) -> PathBuf {
        tree.to_path_buf()
    }

    /// Describes the installation in `root`, without its source, which the caller knows. Its
    /// programs are run as `user`, like its servers.
    fn describe(&self, root: &Path, user: &ServerUser) -> Result<Installation, Error>;

    /// Describes a running one.
    fn describe_running(&self, endpoint: &Endpoint) -> Result<Installation, Error> {
        Err(self.lacks(&format!("attaching to {endpoint}")))
    }

    /// The storage engines that a variant can choose between; the first is the usual one.
    fn engines(&self) -> &'static [&'static str] {
        &[]
    }

    /// See [`crate::durability`]. `engine` is one of [`Kind::engines`], or none is named.
    fn durability(&self, _engine: Option<&str>, _level: Durability) -> Result<Config, Error> {
        Err(self.lacks("a common durability"))
    }

    /// Refuses an engine that this kind does not have.
    fn check_engine(&self, engine: Option<&str>) -> Result<(), Error> {
        let Some(engine) = engine.filter(|engine| !self.engines().contains(engine)) else {
            return Ok(());
        };
        let remedy = match self.engines() {
            [] => "remove `engine` from the variant".to_owned(),
            engines => format!("choose one of {}", engines.join(", ")),
        };
        Err(Error::unsupported(format!("the engine {engine} for {}", self.name()), remedy))
    }

    /// A setting's name in the form in which the system compares names.
    fn plain_name(&self, setting: &str) -> String {
        setting.to_ascii_lowercase()
    }

    /// True if a setting of this name is its servers' own. False only means that it isn't known.
    fn has_setting(&self, _name: &str) -> bool {
        false
    }

    /// True if a server of this kind can be reached over TCP.
    fn listens_on_tcp(&self) -> bool {
        false
    }

    /// See [`crate::tells_threads`].
    fn tells_threads(&self, _installation: &Installation) -> bool {
        false
    }

    /// See [`crate::start`] and, with an `origin`, [`crate::start_on_copy`].
    fn start(&self, spec: &ServerSpec<'_>, origin: Option<&Origin<'_>>) -> Result<Started, Error>;

    /// See [`crate::check_data`].
    fn check_data(
        &self,
        _installation: &Installation,
        _data: &DataDirectory<'_>,
    ) -> Result<String, Error> {
        Err(self.lacks("starting on a copy of a data directory"))
    }

    /// See [`crate::attach`].
    fn attach(&self, endpoint: &Endpoint) -> Result<Box<dyn System>, Error> {
        Err(self.lacks(&format!("attaching to {endpoint}")))
    }

    /// See [`crate::timers`]; `None` if its servers can't be frozen while others have the load.
    fn timers(&self, _installation: &Installation, _engine: Option<&str>) -> Option<Vec<Timer>> {
        None
    }

    /// How to read call stacks of its server, if known.
    fn profile(&self) -> Option<&'static ProfileFacts> {
        None
    }

    /// Parses a plan that [`crate::System::query_plan`] returned.
    fn parse_plan(&self, plan: &str) -> ParsedPlan {
        ParsedPlan::verbatim(plan)
    }

    /// How to count instructions on servers of `installation`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if they can't be.
    fn count_method(&self, _installation: &Installation) -> Result<CountMethod, Error> {
        Err(self.lacks("counting instructions"))
    }

    /// Figures of a step by the names in published tables, from its counters: how they changed, and
    /// how they are now. `seconds`: how long the system had the load, and how long its counters
    /// counted, which is longer if others had the load in turn.
    fn figures(
        &self,
        _changed: &[Counter],
        _now: &Snapshot,
        _seconds: [f64; 2],
    ) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Names the role of a file by its path in the data directory, such as `wal`; `None` for a
    /// table or a file that needs no name. See [`crate::rest_of_disk`].
    fn part_of_disk(&self, _file: &Path) -> Option<&'static str> {
        None
    }

    /// Largest number of clients that can be connected at the same time in addition to steelyard's
    /// own connections, with these settings and this configuration file; `None`: as many as the
    /// machine allows.
    fn most_clients(&self, _settings: &Config, _file: Option<&str>) -> Option<u32> {
        None
    }

    /// Properties of tables of `engine` that no setting of a plan changes, for comparisons with
    /// other systems: each a subject and a value. With [`RELAXED`], the meaning of its durability.
    fn nature(&self, _engine: Option<&str>) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// Differences between `variants` of this kind, apart from their builds, that matter in a
    /// comparison.
    fn differences(&self, _variants: &[Compared<'_>]) -> Vec<Difference> {
        Vec::new()
    }

    /// The error for what it cannot do.
    fn lacks(&self, what: &str) -> Error {
        let what = format!("{what} ({})", self.name());
        Error::unsupported(what, "name the system in another way")
    }
}

/// Where to fetch released versions.
#[derive(Clone, Debug)]
pub struct Archive {
    /// Their place.
    pub artifact: Artifact,
    /// Versions of the system, each with the version of the artifact that contains it. Empty: the
    /// artifact has the system's versions.
    pub named: &'static [(&'static str, &'static str)],
    /// Version, processor and SHA-256 of known files. Unlike a published checksum, these don't come
    /// from the same place as the file.
    pub known: &'static [(&'static str, &'static str, &'static str)],
    /// Suffixes after the version in the names of files: the first file that exists is fetched.
    pub classifiers: &'static [&'static str],
    /// The tar archive of an installation in such a file, or what is wrong with the file.
    pub tar: fn(&[u8]) -> Result<Vec<u8>, String>,
}

impl Archive {
    /// The versions of the system that it has.
    pub(crate) fn versions(&self) -> Result<Vec<Version>, String> {
        if self.named.is_empty() {
            return self.artifact.versions();
        }
        Ok(self.named.iter().filter_map(|(version, _)| parse(version)).collect())
    }

    /// The version of the artifact that may contain `version` of the system; `None` if there is
    /// none.
    pub(crate) fn named(&self, version: &str) -> Option<&'static str> {
        self.named.iter().find(|(known, _)| *known == version).map(|(_, there)| *there)
    }

    /// The digest of the file for `version` and this processor, if known.
    pub(crate) fn digest(&self, version: &str) -> Option<&'static str> {
        let here = |(known, processor, _): &&(&str, &str, &str)| {
            *known == version && *processor == std::env::consts::ARCH
        };
        self.known.iter().find(here).map(|(_, _, digest)| *digest)
    }
}

/// How to build a system from source.
pub trait Recipe {
    /// A text that changes whenever this recipe gives different builds than before.
    fn form(&self) -> &'static str;

    /// Checks that a tree is the system's source; the error is a sentence that says what is
    /// missing.
    fn check(&self, tree: &Path) -> Result<(), String>;

    /// Configures, compiles and installs as `options` say, and returns the facts to keep with the
    /// build. `progress` gets lines for people.
    fn make(
        &self,
        work: &Work<'_>,
        options: &BuildOptions,
        progress: &dyn Fn(&str),
    ) -> Result<Vec<(&'static str, String)>, Error>;

    /// The directory in which it is installed, below [`Work::installed`].
    fn prefix(&self) -> &'static str;
}
