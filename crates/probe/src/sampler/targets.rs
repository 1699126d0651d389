//! The processes and devices that a sampler watches.

use std::sync::Arc;

use crate::cgroup::Cgroup;
use crate::device::Device;

/// Targets to sample in addition to the host as a whole.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    /// The block device that contains the data.
    pub device: Option<Device>,
    /// The system under test.
    pub dbms: Option<Group>,
    /// True if this process is the driver, to sample it too.
    pub driver: bool,
}

/// The processes of a system under test.
#[derive(Debug, Clone)]
pub enum Group {
    /// A control group (its CPU time is exact), and the root of the process tree in it, for
    /// switches, memory and I/O.
    Cgroup {
        /// The group.
        cgroup: Arc<Cgroup>,
        /// The server's first process.
        root_pid: u32,
    },
    /// The process tree below this pid.
    Tree(u32),
}

impl Group {
    /// The first of its processes.
    pub fn root_pid(&self) -> u32 {
        match self {
            Group::Cgroup { root_pid, .. } | Group::Tree(root_pid) => *root_pid,
        }
    }
}
