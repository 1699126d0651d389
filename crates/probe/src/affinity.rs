//! On which CPUs a thread or process may run.

use std::io;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use crate::topology::list;

/// Why a thread's CPUs could not be set or read.
#[derive(Debug, thiserror::Error)]
pub enum AffinityError {
    /// It has ended.
    #[error("expected a running process or thread {tid}, found none: it has ended")]
    Gone {
        /// The thread, or a process's main thread.
        tid: u32,
    },
    /// It belongs to another user.
    #[error(
        "expected permission to choose the CPUs of process {tid}, which belongs to {}; run as root \
         or with CAP_SYS_NICE", .owner.map_or("another user".to_owned(), |uid| format!("uid {uid}"))
    )]
    NotPermitted {
        /// The thread.
        tid: u32,
        /// Whose it is, if `/proc` tells.
        owner: Option<u32>,
    },
    /// None of the CPUs can be used.
    #[error(
        "expected CPU {} to be usable by process {tid}, found it offline, missing or outside the \
         process's cpuset (allowed now: {allowed}); choose other CPUs or change the cpuset",
        list::text(.cpus)
    )]
    NoSuchCpu {
        /// The thread.
        tid: u32,
        /// The wanted CPUs.
        cpus: Vec<usize>,
        /// Where it may run, as the kernel writes it.
        allowed: String,
    },
    /// The system gave another error.
    #[error(
        "could not {doing} the CPUs of process {tid}: {source}; is /proc mounted and readable?"
    )]
    Io {
        /// The attempt.
        doing: &'static str,
        /// The thread.
        tid: u32,
        /// What the system said.
        source: io::Error,
    },
}

/// Keeps a thread on one CPU. `tid` may be a process without further threads, such as a server's
/// process of one connection. Processes it starts later stay there too.
///
/// # Errors
/// If the thread is gone, belongs to another user, or cannot run there.
pub fn pin_thread(tid: u32, cpu: usize) -> Result<(), AffinityError> {
    pin_thread_to(tid, &[cpu])
}

/// Keeps a thread on some CPUs; with what [`affinity_of`] returned before, this undoes a pinning.
///
/// # Errors
/// As [`pin_thread`].
pub fn pin_thread_to(tid: u32, cpus: &[usize]) -> Result<(), AffinityError> {
    let mut set = CpuSet::new();
    let known = cpus.iter().try_for_each(|cpu| set.set(*cpu));
    // Thread 0 is the caller for the kernel; nobody means that here.
    let pid = i32::try_from(tid).ok().filter(|pid| *pid > 0);
    let pid = pid.ok_or(AffinityError::Gone { tid })?;
    match known.and_then(|()| sched_setaffinity(Pid::from_raw(pid), &set)) {
        Ok(()) => Ok(()),
        Err(Errno::ESRCH) => Err(AffinityError::Gone { tid }),
        Err(Errno::EPERM) => Err(AffinityError::NotPermitted { tid, owner: owner(tid) }),
        Err(Errno::EINVAL) => {
            let allowed = affinity_of(tid)?;
            let (cpus, allowed) = (cpus.to_vec(), list::text(&allowed));
            Err(AffinityError::NoSuchCpu { tid, cpus, allowed })
        }
        Err(error) => Err(AffinityError::Io { doing: "set", tid, source: error.into() }),
    }
}

/// The CPUs on which a thread may run, ascending; a process's main thread. CPUs that are offline
/// can be among them. Needs no permission.
///
/// # Errors
/// If the thread is gone or `/proc` is not readable.
pub fn affinity_of(tid: u32) -> Result<Vec<usize>, AffinityError> {
    let failed = |source: io::Error| match source.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT | Errno::ESRCH) => AffinityError::Gone { tid },
        _ => AffinityError::Io { doing: "read", tid, source },
    };
    // This finds threads, too, although the directory doesn't list them.
    let text = std::fs::read_to_string(format!("/proc/{tid}/status")).map_err(failed)?;
    let line = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.and_then(list::parse).ok_or_else(|| {
        failed(io::Error::new(
            io::ErrorKind::InvalidData,
            "expected the line Cpus_allowed_list with a list of CPUs in its status, found none",
        ))
    })
}

/// The real user of a process.
fn owner(tid: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}
