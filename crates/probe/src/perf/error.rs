//! Errors of `perf`.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no profile or no count.
#[derive(Debug, thiserror::Error)]
pub enum PerfError {
    /// The program does not exist.
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
    /// It ended with an error, or its output makes no sense.
    #[error("expected {expected} from {program}, found: {output}; try the command by hand")]
    Failed {
        /// The relevant part of the command.
        program: String,
        /// The thing it should have done.
        expected: &'static str,
        /// The end of its output.
        output: String,
    },
    /// It did not answer or end in time.
    #[error("expected {program} to {expected} within {seconds} s, but it did not; it was killed")]
    TooSlow {
        /// The command.
        program: String,
        /// The thing it should have done.
        expected: &'static str,
        /// The limit.
        seconds: u64,
    },
    /// There were no samples.
    #[error("expected samples of the processes, found none: they did not run on a CPU")]
    NoSamples,
    /// A file or process could not be created or read.
    #[error("could not {doing} {}: {source}", .path.display())]
    Io {
        /// The attempted action.
        doing: &'static str,
        /// The file or program.
        path: PathBuf,
        /// The system's error.
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

    /// For a `program` that did not do what was expected within `limit`.
    pub(super) fn too_slow(program: &str, expected: &'static str, limit: Duration) -> PerfError {
        PerfError::TooSlow { program: program.to_owned(), expected, seconds: limit.as_secs() }
    }
}
