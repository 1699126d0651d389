//! Resource usage of process trees and single processes.

mod reading;
mod single;
mod tree;

use std::io;

pub(crate) use reading::{thread_ids, ticks_per_second};
pub(crate) use single::own_usage;
pub use single::this_thread_us;
pub use tree::{Tree, members};

/// Resource usage of a process or process tree since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode, in µs. For a tree, this includes all time of children that lived less
    /// than a timer tick, even system time; the sum of both is right.
    pub user_us: u64,
    /// CPU time in the kernel, in µs; as above.
    pub system_us: u64,
    /// Context switches. The kernel does not keep those of ended children; for an ended member of a
    /// tree, those up to the last sample count.
    pub switches: u64,
    /// Current memory in RAM, in bytes. For a tree, all private memory plus the largest shared part
    /// of any member, because members of a server map the same shared memory.
    pub rss_bytes: u64,
    /// Bytes fetched from storage.
    pub read_bytes: u64,
    /// Bytes sent to storage (counted when pages become dirty, not when they are written).
    pub write_bytes: u64,
    /// Current number of processes.
    pub processes: u32,
    /// False if the kernel denied access to the byte counts of a process (another user's); they are
    /// then too low.
    pub io_known: bool,
}

/// Why a process or a tree could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The root is gone: it ended and was waited for, or the pid never existed.
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
