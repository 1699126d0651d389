//! What was obtained: where a system's binaries are and what is known about their build.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A system under test that is ready to be started, or one that already runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    /// Which system: `postgres`.
    pub dbms: String,
    /// The version, as the system itself says it: `13.7`.
    pub version: String,
    /// Where it came from, in words for a report; never with a password.
    pub source: String,
    /// The directory of its programs; `None` for a server that already runs.
    pub bin_dir: Option<PathBuf>,
    /// Facts about the build, as far as they can be found out; a fact that is not known is absent. The keys are the
    /// constants of [`crate::builds`]: hash of the server's binary, compiler, flags, options of configure, assertions,
    /// frame pointers, debug information, symbols, and of what was built from source the commit or the tarball's hash.
    pub build: BTreeMap<String, String>,
}
