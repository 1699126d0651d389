//! Options of a run that are not in its plan.

use std::path::PathBuf;
use std::time::Duration;

/// Where a run works and what it may do.
#[derive(Debug, Clone)]
pub struct Options {
    /// The results directory.
    pub results: PathBuf,
    /// Where the servers' data directories are made. The device below it is what gets measured.
    pub data_dir: PathBuf,
    /// User that servers run as when steelyard runs as root; `None`: `steelyard`.
    pub server_user: Option<String>,
    /// True to start even if another run is using this machine.
    pub allow_concurrent: bool,
    /// Name of this machine among those that run the same plan, recorded with the results.
    pub node: Option<String>,
    /// True if a run that designs itself uses all of its budget, whatever is decided by then: its
    /// blocks will be judged together with those of other runs.
    pub spends_budget: bool,
    /// Problems known to spoil results on this machine, recorded with the results of a run.
    pub findings: Vec<doctor::Finding>,
    /// Version of steelyard, recorded with the results.
    pub version: String,
    /// How long a server may take to start.
    pub start_limit: Duration,
    /// How long each stage of stopping a server may take.
    pub stop_limit: Duration,
    /// How long an answer may be overdue after a step's time before the server counts as hung.
    pub answer_limit: Duration,
    /// How long the host may take to write its dirty pages back.
    pub writeback_limit: Duration,
}

impl Options {
    /// The defaults for results in `results`.
    pub fn new(results: PathBuf, version: &str) -> Options {
        Options {
            results,
            data_dir: default_data_dir(),
            server_user: None,
            allow_concurrent: false,
            node: None,
            spends_budget: false,
            findings: Vec::new(),
            version: version.to_owned(),
            start_limit: dbms::START_LIMIT,
            stop_limit: dbms::STOP_LIMIT,
            answer_limit: Duration::from_secs(60),
            writeback_limit: Duration::from_secs(300),
        }
    }
}

/// `/var/tmp/steelyard-UID`: on a disk everywhere (`/tmp` often is in memory), and open to the
/// unprivileged user that servers run as.
pub fn default_data_dir() -> PathBuf {
    PathBuf::from(format!("/var/tmp/steelyard-{}", nix::unistd::getuid()))
}
