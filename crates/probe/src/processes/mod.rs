//! What processes have used: whole trees of them, single ones.

mod reading;
mod single;
mod tree;

use std::io;

pub(crate) use reading::ticks_per_second;
pub(crate) use single::own_usage;
pub use single::this_thread_us;
pub use tree::{Tree, members};

/// What a process or a process tree has used since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode, in µs. Of a tree: that of children which lived less than a timer tick
    /// is all in here, system time too; the sum of both is right.
    pub user_us: u64,
    /// CPU time in the kernel, in µs; as above.
    pub system_us: u64,
    /// Context switches. The kernel does not keep those of ended children: of a tree's member that
    /// ended, those up to the last sample count.
    pub switches: u64,
    /// Memory in RAM now, in bytes. Of a tree: all private memory plus the largest shared part of
    /// any one member, because members of a server map the same shared memory.
    pub rss_bytes: u64,
    /// Bytes fetched from storage.
    pub read_bytes: u64,
    /// Bytes sent to storage (when pages are made dirty, not when they are written).
    pub write_bytes: u64,
    /// Processes now.
    pub processes: u32,
    /// False where the kernel denied the byte counts of a process (another user's): then they are
    /// low.
    pub io_known: bool,
}

/// Why a process or a tree could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The root is no more: it ended and was waited for, or its pid never was one.
    #[error(
        "expected a running process with pid {pid}, found none: it has ended, or the pid is wrong"
    )]
    Gone {
        /// The root's pid.
        pid: u32,
    },
    /// `/proc` could not be read or understood.
    #[error("could not read {path}: {source}; is /proc mounted and readable for this user?")]
    Proc {
        /// The file.
        path: String,
        /// The reason.
        source: io::Error,
    },
}
