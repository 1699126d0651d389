//! What one kind of system under test brings: how it is named, obtained, built and started.

use std::fmt;
use std::path::Path;

use crate::build::work::Work;
use crate::builds::{Compared, Difference};
use crate::fetch::maven::Artifact;
use crate::{
    BuildOptions, CountMethod, Endpoint, Error, Installation, Origin, ProfileFacts, Restored,
    ServerSpec, ServerUser, System,
};

/// A kind of system under test. The register is `systems.rs`; see also [`crate::register`]. Errors
/// are those of [`crate::obtain`], [`crate::start`] and [`crate::attach`].
pub trait Kind: fmt::Debug + Sync {
    /// Its name in plans and in [`Installation::dbms`]: `postgres`.
    fn name(&self) -> &'static str;

    /// How many numbers one release has whose first number is `first`: 2 for PostgreSQL 13.7.
    fn numbers(&self, first: u64) -> usize {
        let _ = first;
        3
    }

    /// Where its released versions are fetched from, if they are.
    fn archive(&self) -> Option<Archive> {
        None
    }

    /// How it is built from source, if it is.
    fn recipe(&self) -> Option<&dyn Recipe> {
        None
    }

    /// Where a running one is reached, if `url` is one of its URLs.
    fn running(&self, url: &str) -> Option<Result<Endpoint, Error>> {
        let _ = url;
        None
    }

    /// Describes the installation in `root`, which came from `source`. Its programs are run as
    /// `user`, like its servers.
    fn describe(
        &self,
        root: &Path,
        source: String,
        user: &ServerUser,
    ) -> Result<Installation, Error>;

    /// Asks a running one what it is.
    fn describe_running(&self, endpoint: &Endpoint) -> Result<Installation, Error> {
        Err(self.lacks(&format!("attaching to {endpoint}")))
    }

    /// See [`crate::start`] and, with an `origin`, [`crate::start_on_copy`].
    fn start(
        &self,
        spec: &ServerSpec<'_>,
        origin: Option<&Origin<'_>>,
    ) -> Result<(Box<dyn System>, Option<Restored>), Error>;

    /// See [`crate::attach`].
    fn attach(&self, endpoint: &Endpoint) -> Result<Box<dyn System>, Error> {
        Err(self.lacks(&format!("attaching to {endpoint}")))
    }

    /// How call stacks of its server are read, if that is known.
    fn profile(&self) -> Option<&'static ProfileFacts> {
        None
    }

    /// How instructions are counted on servers of `installation`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if they can't be.
    fn count_method(&self, installation: &Installation) -> Result<CountMethod, Error> {
        let _ = installation;
        Err(self.lacks("counting instructions"))
    }

    /// What to know when `variants` of this kind are compared, beyond how they were built.
    fn differences(&self, variants: &[Compared<'_>]) -> Vec<Difference> {
        let _ = variants;
        Vec::new()
    }

    /// The error for what it cannot do.
    fn lacks(&self, what: &str) -> Error {
        let what = format!("{what} ({})", self.name());
        Error::unsupported(what, "name the system in another way")
    }
}

/// Where released versions are fetched from.
#[derive(Clone, Debug)]
pub struct Archive {
    /// Their place.
    pub artifact: Artifact,
    /// Version, processor and SHA-256 of the files that were tried. A published checksum comes from
    /// the same place as the file; these don't.
    pub known: &'static [(&'static str, &'static str, &'static str)],
    /// The tar archive of an installation in such a file, or what is wrong with the file.
    pub tar: fn(&[u8]) -> Result<Vec<u8>, String>,
}

/// How a system is built from its source.
pub trait Recipe {
    /// Another text once builds come out differently than before.
    fn form(&self) -> &'static str;

    /// Whether a tree is the system's source; else what it lacks, as a sentence.
    fn check(&self, tree: &Path) -> Result<(), String>;

    /// Configures, compiles and installs, as `options` say. `progress` gets lines for people. The
    /// facts to be kept with the build.
    fn make(
        &self,
        work: &Work<'_>,
        options: &BuildOptions,
        progress: &dyn Fn(&str),
    ) -> Result<Vec<(&'static str, String)>, Error>;

    /// The directory in which it is installed, below [`Work::installed`].
    fn prefix(&self) -> &'static str;
}
