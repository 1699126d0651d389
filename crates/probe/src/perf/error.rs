//! What can go wrong with `perf`.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no profile or no count.
#[derive(Debug, thiserror::Error)]
pub enum PerfError {
    /// There is no such program.
    #[error(
        "expected the program perf in PATH, found none; install it (Debian: linux-perf, Ubuntu: linux-tools-$(uname -r))"
    )]
    NotInstalled,
    /// The kernel denies it to this user.
    #[error(
        "expected permission to use perf on processes, found kernel.perf_event_paranoid = {paranoid} without root; run as root, or as root: sysctl kernel.perf_event_paranoid=1"
    )]
    NotPermitted {
        /// The value of `kernel.perf_event_paranoid`.
        paranoid: i32,
    },
    /// It ended with an error, or said nothing that makes sense.
    #[error("expected {expected} from {program}, found: {output}; try the command by hand")]
    Failed {
        /// The command, as far as it says what was done.
        program: String,
        /// What it should have done.
        expected: &'static str,
        /// The end of what it said.
        output: String,
    },
    /// It did not answer or end in time.
    #[error("expected {program} to {expected} within {seconds} s, but it did not; it was killed")]
    TooSlow {
        /// The command.
        program: String,
        /// What it should have done.
        expected: &'static str,
        /// The limit.
        seconds: u64,
    },
    /// No sample has come.
    #[error("expected samples of the processes, found none: they did not run on a CPU")]
    NoSamples,
    /// A file or a process could not be made or read.
    #[error("could not {doing} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file or program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl PerfError {
    /// For `map_err`.
    pub(super) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> PerfError {
        let path = path.into();
        move |source| PerfError::Io { doing, path, source }
    }

    /// For a `program` that did not do as expected within `limit`.
    pub(super) fn too_slow(program: &str, expected: &'static str, limit: Duration) -> PerfError {
        PerfError::TooSlow { program: program.to_owned(), expected, seconds: limit.as_secs() }
    }
}
