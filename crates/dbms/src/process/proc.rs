//! Processes identified by pid and start time, so a recycled pid is never mistaken for another.

use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// The process that listens on a unix socket: for a client, the peer is the process that called
/// listen(2); see SO_PEERCRED in unix(7).
pub(crate) fn listening_on(socket: &Path) -> Option<u32> {
    let stream = UnixStream::connect(socket).ok()?;
    let peer = getsockopt(&stream, PeerCredentials).ok()?;
    u32::try_from(peer.pid()).ok().filter(|pid| *pid > 0)
}

/// One process of one boot. A pid alone may since belong to another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// The process id.
    pub pid: u32,
    /// When it started, in clock ticks since boot (field 22 of `/proc/PID/stat`, proc(5)).
    pub start_time: u64,
    /// `/proc/sys/kernel/random/boot_id` of that boot.
    pub boot_id: String,
}

impl ProcessId {
    /// The identity of a process that exists now; `None` if there is none or it is a zombie.
    pub fn of(pid: u32) -> Option<Self> {
        let start_time = start_time(pid)?;
        Some(Self { pid, start_time, boot_id: boot_id() })
    }

    /// Is this very process still running? A zombie counts as gone.
    pub fn alive(&self) -> bool {
        self.boot_id == boot_id() && start_time(self.pid) == Some(self.start_time)
    }

    /// Sends `signal` to this process; does nothing if it is gone. A pidfd holds the process
    /// between the check and the signal, so no other can be hit.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal)) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let sent = pidfd_open(pid, PidfdFlags::empty()).and_then(|process| {
            if self.alive() { pidfd_send_signal(process, signal) } else { Ok(()) }
        });
        match sent {
            Err(Errno::SRCH) => Ok(()),
            other => Ok(other?),
        }
    }
}

/// Asks `done` every few milliseconds until it returns true or `limit` has passed. Returns the last
/// answer.
pub(crate) fn wait_until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    loop {
        if done() {
            return true;
        }
        if begin.elapsed() >= limit {
            return false;
        }
        sleep(Duration::from_millis(5));
    }
}

/// The kernel's name for this boot; empty if /proc is not mounted.
/// The name of this machine; empty if it has none.
pub fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|s| s.trim().to_owned())
        .unwrap_or_default()
}

/// True if all threads of a process sleep in the kernel until something happens. A process that is
/// gone counts as asleep; callers find out by other means.
pub fn asleep(pid: u32) -> bool {
    states(pid).is_none_or(|mut all| all.all(|state| state == b'S'))
}

/// True if a thread of this process could run: it is neither stopped nor gone.
pub(crate) fn runs(pid: u32) -> bool {
    states(pid).is_some_and(|mut all| all.any(|state| !b"TtZXx".contains(&state)))
}

/// The state of each thread that is still there; `None` if the process is gone.
fn states(pid: u32) -> Option<impl Iterator<Item = u8>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    Some(threads.flatten().filter_map(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
        state(&stat)?.bytes().next()
    }))
}

/// A process and all below it.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    let Ok(listing) = fs::read_dir("/proc") else { return vec![root] };
    let parent = |pid: u32| stat(pid)?.split_ascii_whitespace().nth(1)?.parse::<u32>().ok();
    let all: Vec<(u32, u32)> = listing
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(all.iter().filter(|(_, its)| *its == parent).map(|(pid, _)| pid));
        next += 1;
    }
    found
}

fn start_time(pid: u32) -> Option<u64> {
    let stat = stat(pid)?;
    let mut fields = stat.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    // `state` is field 3, so field 22 is 18 further on.
    fields.nth(18)?.parse().ok()
}

/// `/proc/PID/stat` from field 3 on.
fn stat(pid: u32) -> Option<String> {
    state(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The same of a thread's text.
fn state(stat: &str) -> Option<String> {
    // The command name is in parentheses, and may itself contain spaces and parentheses.
    Some(stat.rsplit_once(") ")?.1.to_owned())
}

/// Processes that run `program` in exactly the directory `directory`: every Postgres process works
/// in its data directory, whatever its current parent.
pub(crate) fn running_in(directory: &Path, program: &Path) -> Vec<ProcessId> {
    let Ok(listing) = fs::read_dir("/proc") else { return Vec::new() };
    listing
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            fs::read_link(format!("/proc/{pid}/cwd"))
                .is_ok_and(|cwd| without_deleted(&cwd) == directory)
                && fs::read_link(format!("/proc/{pid}/exe"))
                    .is_ok_and(|exe| without_deleted(&exe) == program)
        })
        .filter_map(ProcessId::of)
        .collect()
}

/// The kernel marks links to removed files; the mark is not part of the path.
fn without_deleted(path: &Path) -> &Path {
    path.to_str().and_then(|text| text.strip_suffix(" (deleted)")).map_or(path, Path::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn knows_itself_and_a_finished_child() {
        assert!(ProcessId::of(std::process::id()).unwrap().alive());
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let id = ProcessId::of(child.id()).unwrap();
        assert!(id.alive());
        id.signal(libc::SIGKILL).unwrap();
        assert!(wait_until(Duration::from_secs(5), || !id.alive()), "a zombie counts as gone");
        child.wait().unwrap();
        id.signal(libc::SIGKILL).unwrap();
    }

    #[test]
    fn another_start_time_is_another_process() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let mut id = ProcessId::of(child.id()).unwrap();
        id.start_time += 1;
        assert!(!id.alive());
        id.signal(libc::SIGKILL).unwrap();
        assert!(
            child.try_wait().unwrap().is_none(),
            "a process of another start time must not be hit"
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_waits_is_asleep_and_one_that_computes_is_not() {
        let mut waits = Command::new("sleep").arg("30").spawn().unwrap();
        let mut computes = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        // It has to be started before it can sleep.
        assert!(wait_until(Duration::from_secs(60), || asleep(waits.id())));
        assert!((0..50).all(|_| !asleep(computes.id())));
        for child in [&mut waits, &mut computes] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn another_boot_is_another_process() {
        let mut id = ProcessId::of(std::process::id()).unwrap();
        id.boot_id = "another".to_owned();
        assert!(!id.alive());
    }
}
