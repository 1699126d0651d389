//! Freezes the processes of a server, so that it does nothing while another server has the load.
//!
//! A control group of its own is frozen by the kernel: `cgroup.freeze` of version 2, or
//! `freezer.state` of version 1. Without one, every process of the server's tree gets SIGSTOP.
//! Either way this waits until the kernel says that none of them runs. A process that waits for a
//! device stops only when the device has answered.
//!
//! A frozen server does not notice signals to end, so whoever ends it thaws it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

use crate::Freeze;
use crate::process::proc::{self, ProcessId};

/// How long processes get to stop.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often to look at once, before sleeping between looks.
const AT_ONCE: u32 = 20;
/// The longest sleep between two looks.
const LONGEST_SLEEP: Duration = Duration::from_millis(1);
/// Larger than the files of control groups that are read here.
const ROOM: usize = 256;

/// The files that freeze a group: of version 2 and of version 1, and what thaws it.
const FILES: [(&str, &str); 2] = [("cgroup.freeze", "0"), ("freezer.state", "THAWED")];

/// Freezes a server.
#[derive(Debug)]
pub(crate) struct Freezer {
    way: Way,
    /// True while its processes may be frozen.
    frozen: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Way {
    /// A control group of version 2.
    Group { control: File, events: File },
    /// One of version 1.
    State(File),
    /// The processes below this one, and those that were stopped.
    Signals { root: u32, held: Vec<ProcessId> },
}

impl Freezer {
    /// For a server with this root process, which is in these control groups. It sets `frozen`
    /// while some processes may be frozen.
    pub(crate) fn of(root: u32, groups: &[PathBuf], frozen: Arc<AtomicBool>) -> Self {
        let open = |group: &Path| -> io::Result<Way> {
            let both = |name| OpenOptions::new().read(true).write(true).open(group.join(name));
            let [(control, _), (state, _)] = FILES;
            match both(control) {
                Ok(control) => {
                    Ok(Way::Group { control, events: File::open(group.join("cgroup.events"))? })
                }
                Err(_) => both(state).map(Way::State),
            }
        };
        let group = groups.iter().find_map(|group| open(group).ok());
        let way = group.unwrap_or_else(|| Way::Signals { root, held: Vec::new() });
        Self { way, frozen }
    }
}

impl Freeze for Freezer {
    fn freeze(&mut self) -> Result<(), String> {
        self.frozen.store(true, Ordering::Relaxed);
        match &mut self.way {
            Way::Group { control, events } => {
                write(control, "1")?;
                wait_until(|| {
                    let text = read(events)?;
                    Ok((text.lines().any(|line| line == "frozen 1"), text))
                })
            }
            Way::State(state) => {
                write(state, "FROZEN")?;
                wait_until(|| {
                    let text = read(state)?;
                    Ok((text.trim() == "FROZEN", text))
                })
            }
            Way::Signals { root, held } => wait_until(|| Ok(hold(*root, held))),
        }
    }

    fn thaw(&mut self) -> Result<(), String> {
        match &mut self.way {
            Way::Group { control, .. } => write(control, FILES[0].1)?,
            Way::State(state) => write(state, FILES[1].1)?,
            Way::Signals { held, .. } => {
                let go_on = |process: ProcessId| process.signal(libc::SIGCONT);
                held.drain(..).map(go_on).fold(Ok(()), Result::and).map_err(refused("continue"))?;
            }
        }
        self.frozen.store(false, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        let _ = self.thaw();
    }
}

/// Lets processes continue that may have been frozen: those in these groups, and these.
pub(crate) fn thaw(groups: &[PathBuf], processes: &[ProcessId]) {
    for group in groups {
        for (file, thawed) in FILES {
            let path = group.join(file);
            if path.exists() {
                let _ = fs::write(path, thawed);
            }
        }
    }
    for process in processes {
        let _ = process.signal(libc::SIGCONT);
    }
}

/// Stops the processes of a tree that are not held yet. Returns whether that was all of them, and
/// which still run.
fn hold(root: u32, held: &mut Vec<ProcessId>) -> (bool, String) {
    let mut all = true;
    for pid in proc::tree(root) {
        if held.iter().any(|known| known.pid == pid) {
            // Stopped, it does not end, so this is still the same process.
            continue;
        }
        if let Some(process) = ProcessId::of(pid) {
            // A process that ran until now may have started others.
            all = false;
            // One that can't be stopped is gone.
            let _ = process.signal(libc::SIGSTOP);
            held.push(process);
        }
    }
    let running: Vec<u32> = held.iter().map(|it| it.pid).filter(|pid| proc::runs(*pid)).collect();
    (all && running.is_empty(), format!("processes {running:?} running"))
}

/// Calls `stopped` until it returns true; the text with it is what it found.
fn wait_until(mut stopped: impl FnMut() -> Result<(bool, String), String>) -> Result<(), String> {
    let begin = Instant::now();
    let mut pause = Duration::from_micros(10);
    for look in 0.. {
        let (done, found) = stopped()?;
        if done {
            break;
        }
        if begin.elapsed() > PATIENCE {
            return Err(format!(
                "expected all processes of the server to stop within {} s, found {}; look at \
                 them with `ps` (state D: waiting for the disk), or set another `pairing`",
                PATIENCE.as_secs(),
                found.trim().replace('\n', ", ")
            ));
        }
        if look < AT_ONCE {
            yield_now();
        } else {
            sleep(pause);
            pause = (pause * 2).min(LONGEST_SLEEP);
        }
    }
    Ok(())
}

fn write(file: &File, text: &str) -> Result<(), String> {
    file.write_all_at(text.as_bytes(), 0).map_err(refused("write to"))
}

fn read(file: &File) -> Result<String, String> {
    let mut text = [0; ROOM];
    let length = file.read_at(&mut text, 0).map_err(refused("read"))?;
    Ok(String::from_utf8_lossy(&text[..length]).into_owned())
}

fn refused(what: &'static str) -> impl Fn(io::Error) -> String {
    move |error| {
        format!(
            "expected to freeze the server, but the kernel refused to {what} its control group or \
             processes ({error}); run as root or in a delegated group, or set another `pairing`"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    /// A shell with a child that computes.
    fn tree() -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", "sh -c 'while :; do :; done' & while :; do :; done"]);
        command.spawn().unwrap()
    }

    fn used(pids: &[u32]) -> u64 {
        let ticks = |pid: &u32| {
            let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            let (_, tail) = text.rsplit_once(") ").unwrap();
            let fields: Vec<&str> = tail.split(' ').collect();
            fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
        };
        pids.iter().map(ticks).sum()
    }

    fn soon(what: &str, done: impl FnMut() -> bool) {
        assert!(proc::wait_until(Duration::from_secs(60), done), "{what}");
    }

    /// Frozen processes do nothing, however often they are frozen, and continue afterwards.
    fn freezes(root: u32, pids: &[u32], freezer: &mut dyn Freeze) {
        for _ in 0..3 {
            let before = used(pids);
            soon("they compute", || used(pids) > before);
            freezer.freeze().unwrap();
            let still = used(pids);
            sleep(Duration::from_millis(50));
            assert_eq!(used(pids), still, "below {root}");
            freezer.thaw().unwrap();
        }
    }

    #[test]
    fn a_tree_without_a_group_is_stopped_by_signals() {
        let mut root = tree();
        soon("it has a child", || proc::tree(root.id()).len() == 2);
        let pids = proc::tree(root.id());
        let mut freezer = Freezer::of(root.id(), &[], Arc::default());
        freezes(root.id(), &pids, &mut freezer);
        freezer.freeze().unwrap();
        assert!(pids.iter().all(|pid| !proc::runs(*pid)));
        drop(freezer);
        soon("whoever drops it thaws", || pids.iter().all(|pid| proc::runs(*pid)));
        for process in pids.iter().filter_map(|pid| ProcessId::of(*pid)) {
            process.signal(libc::SIGKILL).unwrap();
        }
        root.wait().unwrap();
    }

    /// A new control group that can freeze with this file; `None` where there is none.
    fn group(file: &str) -> Option<PathBuf> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
        points.filter(|point| point.starts_with("/sys/fs/cgroup")).find_map(|point| {
            let name = format!("steelyard-test-{}-{file}", std::process::id());
            let group = Path::new(point).join(name);
            fs::create_dir(&group).ok()?;
            if group.join(file).exists() {
                return Some(group);
            }
            // In a file system for mounts only, it is a directory like any other.
            fs::remove_dir(&group).unwrap();
            None
        })
    }

    #[test]
    fn a_group_is_frozen_by_the_kernel_in_either_version() {
        for (file, _) in FILES {
            let Some(group) = group(file) else {
                testing::skip(format!("no control group with {file} can be made"));
                continue;
            };
            let mut root = tree();
            soon("it has a child", || proc::tree(root.id()).len() == 2);
            let pids = proc::tree(root.id());
            for pid in &pids {
                fs::write(group.join("cgroup.procs"), pid.to_string()).unwrap();
            }
            let groups = [PathBuf::from("/nowhere"), group.clone()];
            let mut freezer = Freezer::of(root.id(), &groups, Arc::default());
            assert!(!matches!(freezer.way, Way::Signals { .. }));
            freezes(root.id(), &pids, &mut freezer);
            freezer.freeze().unwrap();
            std::mem::forget(freezer);
            let processes: Vec<_> = pids.iter().filter_map(|pid| ProcessId::of(*pid)).collect();
            for process in &processes {
                process.signal(libc::SIGTERM).unwrap();
            }
            thaw(&groups, &processes);
            root.wait().unwrap();
            soon("they end", || processes.iter().all(|process| !process.alive()));
            soon("the group is free", || fs::remove_dir(&group).is_ok());
        }
    }

    #[test]
    fn what_can_not_be_frozen_says_so() {
        let text = refused("write to")(io::ErrorKind::PermissionDenied.into());
        for part in ["expected", "permission denied", "set another `pairing`"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
