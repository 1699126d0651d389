//! The CPU, switches, memory and I/O of a process tree although its children come and go.
//!
//! What makes the sum right: when a parent waits for an ended child, the kernel adds the child's exact
//! times and I/O to the parent's "waited for" counters. So over all living members of the tree,
//! own + waited-for is conserved. Own times come from the process's CPU clock in nanoseconds (all its
//! threads, ended ones too); the waited-for times are exact sums shown in whole ticks, so they are at
//! most two ticks (20 ms) low per parent, never more however many children ended.
//!
//! A child may be waited for while the members are being read. Members are read from the top down, so
//! such a child is missed rather than counted twice; the pass is then repeated a few times, and what
//! it still misses the next sample has.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use nix::errno::Errno;
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::files::read_once;
use crate::proc::task::{self, PidStat, TaskIo};
use crate::split::Split;

/// How often a pass is repeated when a member ended during it.
const PASSES: usize = 4;

/// What a process, a thread set or a process tree has used since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time in user mode, in µs.
    pub user_us: u64,
    /// CPU time in the kernel, in µs.
    pub system_us: u64,
    /// Context switches because a task waited. The kernel does not keep those of ended children:
    /// of a tree's member that ended, those up to the last sample count.
    pub voluntary_switches: u64,
    /// Context switches because a task was preempted; as above.
    pub involuntary_switches: u64,
    /// Memory in RAM now, in bytes. Of a tree: all private memory plus the largest shared part of any
    /// one member, because members of a server map the same shared memory.
    pub rss_bytes: u64,
    /// Bytes fetched from storage.
    pub read_bytes: u64,
    /// Bytes sent to storage (when pages are made dirty, not when they are written).
    pub write_bytes: u64,
    /// Processes now.
    pub processes: u32,
    /// Threads now.
    pub threads: u32,
    /// False where the kernel denied the byte counts of a process (another user's): then they are low.
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

/// A process and everything it started, directly or not.
#[derive(Debug)]
pub struct Tree {
    root: u32,
    root_start: u64,
    known: HashMap<u32, Known>,
    departed: Departed,
    highest_us: u64,
    split: Split,
    last: Usage,
    buffer: Vec<u8>,
    tick_ns: u64,
    /// Whether the kernel lists a thread's children (CONFIG_PROC_CHILDREN).
    has_lists: bool,
}

/// What is remembered of a member between samples.
#[derive(Debug)]
struct Known {
    stat: PidStat,
    own_ns: u64,
    io: TaskIo,
    ignores_sigchld: bool,
    /// Switches of the threads alive, where there are several.
    threads: HashMap<u32, (u64, u64)>,
    /// Switches of this process, ended threads included.
    switches: (u64, u64),
    gone_switches: (u64, u64),
}

/// Use by members whose counters went to nobody in the tree.
#[derive(Debug, Default)]
struct Departed {
    ns: u64,
    user_ticks: u64,
    system_ticks: u64,
    io: TaskIo,
    switches: (u64, u64),
}

/// A member as one pass saw it.
#[derive(Debug)]
struct Seen {
    pid: u32,
    stat: PidStat,
    own_ns: u64,
    io: Option<TaskIo>,
}

impl Tree {
    /// The tree below a running process.
    ///
    /// # Errors
    /// [`TreeError::Gone`] if there is no such process.
    pub fn new(root_pid: u32) -> Result<Tree, TreeError> {
        let mut buffer = Vec::new();
        let stat = read_stat(root_pid, &mut buffer)?.ok_or(TreeError::Gone { pid: root_pid })?;
        Ok(Tree {
            root: root_pid,
            root_start: stat.start,
            known: HashMap::new(),
            departed: Departed::default(),
            highest_us: 0,
            split: Split::default(),
            last: Usage::default(),
            buffer,
            tick_ns: 1_000_000_000 / ticks_per_second(),
            has_lists: Path::new("/proc/thread-self/children").exists(),
        })
    }

    /// What the tree has used since the root's start: cumulative, never falling (but for memory and
    /// the numbers of processes and threads).
    ///
    /// # Errors
    /// [`TreeError::Gone`] once the root has ended and was waited for; [`Tree::last`] stays.
    pub fn sample(&mut self) -> Result<Usage, TreeError> {
        let mut seen = self.pass()?;
        for _ in 1..PASSES {
            if seen.iter().all(|member| cpu_clock_ns(member.pid).is_some()) {
                break;
            }
            seen = self.pass()?;
        }
        self.say_goodbye(&seen);
        for member in &seen {
            self.remember(member);
        }
        self.last = self.sum(&seen);
        Ok(self.last)
    }

    /// The result of the last successful [`Tree::sample`].
    pub fn last(&self) -> Usage {
        self.last
    }

    /// All members, parents before their children.
    fn pass(&mut self) -> Result<Vec<Seen>, TreeError> {
        let mut found: Vec<Seen> = Vec::with_capacity(self.known.len() + 4);
        let mut inside: HashSet<u32> = HashSet::with_capacity(self.known.len() + 4);
        let mut parents: Option<HashMap<u32, Vec<u32>>> = None;
        let mut queue = vec![self.root];
        let mut at = 0;
        while let Some(pid) = queue.get(at).copied() {
            at += 1;
            if inside.contains(&pid) {
                continue;
            }
            // Children before the parent's counters: who is waited for in between is then in these.
            let children = if self.has_lists {
                children_of(pid, self.threads_known(pid), &mut self.buffer)
            } else {
                let map = match parents.take() {
                    Some(map) => map,
                    None => all_children(&mut self.buffer)?,
                };
                let children = map.get(&pid).cloned().unwrap_or_default();
                parents = Some(map);
                children
            };
            let stat = read_stat(pid, &mut self.buffer)?;
            let own_ns = cpu_clock_ns(pid);
            let (Some(stat), Some(own_ns)) = (stat, own_ns) else {
                if pid == self.root {
                    return Err(TreeError::Gone { pid });
                }
                continue;
            };
            if pid == self.root && stat.start != self.root_start {
                return Err(TreeError::Gone { pid });
            }
            let same = self.known.get(&pid).is_some_and(|k| k.stat.start == stat.start);
            if pid != self.root && !same && !inside.contains(&stat.parent) {
                // The pid was given to a stranger in the meantime.
                continue;
            }
            let io = read_once(format!("/proc/{pid}/io"), &mut self.buffer)
                .ok()
                .and_then(|text| task::parse_io(&text));
            inside.insert(pid);
            found.push(Seen { pid, stat, own_ns, io });
            queue.extend(children);
            if at == queue.len() {
                // Known members the kernel's list skipped (it may while others end), and those whose
                // parent ended: they belong to init now, but stay ours.
                let missing = self.known.keys().filter(|pid| !queue.contains(pid));
                let missing: Vec<u32> = missing.copied().collect();
                queue.extend(missing);
            }
        }
        Ok(found)
    }

    fn threads_known(&self, pid: u32) -> Option<u32> {
        self.known.get(&pid).map(|known| known.stat.threads)
    }

    /// Keeps what members that ended since the last sample had used, where no living member has it.
    fn say_goodbye(&mut self, seen: &[Seen]) {
        let starts: HashMap<u32, u64> = seen.iter().map(|s| (s.pid, s.stat.start)).collect();
        let ended: Vec<u32> = self
            .known
            .iter()
            .filter(|(pid, known)| starts.get(pid) != Some(&known.stat.start))
            .map(|(pid, _)| *pid)
            .collect();
        let mut lost = Vec::new();
        for pid in &ended {
            let Some(known) = self.known.get(pid) else {
                continue;
            };
            // A parent that waited has the child's times. Nobody in the tree has them if the parent
            // is outside or lets the kernel discard its children.
            let waited_for =
                self.known.get(&known.stat.parent).is_some_and(|parent| !parent.ignores_sigchld);
            lost.push((*pid, !waited_for));
        }
        for (pid, to_nobody) in lost {
            let Some(known) = self.known.remove(&pid) else {
                continue;
            };
            let departed = &mut self.departed;
            departed.switches.0 += known.switches.0;
            departed.switches.1 += known.switches.1;
            if to_nobody {
                let stat = known.stat;
                let waited = stat.children_user + stat.children_system;
                departed.ns += known.own_ns + waited * self.tick_ns;
                departed.user_ticks += stat.user + stat.children_user;
                departed.system_ticks += stat.system + stat.children_system;
                departed.io.read_bytes += known.io.read_bytes;
                departed.io.write_bytes += known.io.write_bytes;
            }
        }
    }

    fn remember(&mut self, member: &Seen) {
        let known = self.known.entry(member.pid).or_insert_with(|| Known {
            stat: member.stat,
            own_ns: 0,
            io: TaskIo::default(),
            ignores_sigchld: false,
            threads: HashMap::new(),
            switches: (0, 0),
            gone_switches: (0, 0),
        });
        known.stat = member.stat;
        known.own_ns = member.own_ns;
        if let Some(io) = member.io {
            known.io = io;
        }
    }

    fn sum(&mut self, seen: &[Seen]) -> Usage {
        let mut usage = Usage { io_known: true, ..Usage::default() };
        let (mut ns, mut user_ticks, mut system_ticks) =
            (self.departed.ns, self.departed.user_ticks, self.departed.system_ticks);
        let mut io = self.departed.io;
        let mut switches = self.departed.switches;
        let mut largest_shared = 0;
        for member in seen {
            let stat = &member.stat;
            ns += member.own_ns + (stat.children_user + stat.children_system) * self.tick_ns;
            user_ticks += stat.user + stat.children_user;
            system_ticks += stat.system + stat.children_system;
            // One that ended and was not waited for yet still has its times, but is no more.
            if !matches!(stat.state, 'Z' | 'X') {
                usage.threads += stat.threads;
                usage.processes += 1;
            }
            let Some(known) = self.known.get_mut(&member.pid) else {
                continue;
            };
            usage.io_known &= member.io.is_some();
            io.read_bytes += known.io.read_bytes;
            io.write_bytes += known.io.write_bytes;
            let (private, shared) = known.look_closer(member.pid, &mut self.buffer);
            usage.rss_bytes += private;
            largest_shared = shared.max(largest_shared);
            switches.0 += known.switches.0;
            switches.1 += known.switches.1;
        }
        usage.rss_bytes += largest_shared;
        self.highest_us = self.highest_us.max(ns / 1000);
        (usage.user_us, usage.system_us) =
            self.split.advance(self.highest_us, user_ticks, system_ticks);
        usage.voluntary_switches = switches.0.max(self.last.voluntary_switches);
        usage.involuntary_switches = switches.1.max(self.last.involuntary_switches);
        usage.read_bytes = io.read_bytes.max(self.last.read_bytes);
        usage.write_bytes = io.write_bytes.max(self.last.write_bytes);
        usage
    }
}

impl Known {
    /// Updates switches and how the process treats its children; gives private and shared memory in
    /// RAM, in bytes. A process that ended meanwhile keeps its last figures.
    fn look_closer(&mut self, pid: u32, buffer: &mut Vec<u8>) -> (u64, u64) {
        let Ok(text) = read_once(format!("/proc/{pid}/status"), buffer) else {
            return (0, 0);
        };
        let status = task::parse_status(&text);
        self.ignores_sigchld = status.ignores_sigchld;
        if self.stat.threads <= 1 && self.threads.is_empty() {
            self.switches =
                (status.voluntary_switches.unwrap_or(0), status.involuntary_switches.unwrap_or(0));
        } else {
            self.count_thread_switches(pid, buffer);
        }
        let bytes = |kib: Option<u64>| kib.unwrap_or(0) * 1024;
        match status.rss_anon_kb {
            Some(anon) => (anon * 1024, bytes(status.rss_file_kb) + bytes(status.rss_shmem_kb)),
            // Before Linux 4.5 private and shared memory are not told apart.
            None => (bytes(status.rss_kb), 0),
        }
    }

    /// The kernel shows switches per thread and forgets those of ended threads: these are kept here.
    fn count_thread_switches(&mut self, pid: u32, buffer: &mut Vec<u8>) {
        let mut now = HashMap::with_capacity(self.threads.len());
        for tid in thread_ids(pid) {
            if let Some(switches) = thread_switches(pid, tid, buffer) {
                now.insert(tid, switches);
            }
        }
        for (tid, switches) in &self.threads {
            if !now.contains_key(tid) {
                self.gone_switches.0 += switches.0;
                self.gone_switches.1 += switches.1;
            }
        }
        self.switches = now
            .values()
            .fold(self.gone_switches, |sum, switches| (sum.0 + switches.0, sum.1 + switches.1));
        self.threads = now;
    }
}

/// Voluntary and involuntary switches of one thread.
pub(crate) fn thread_switches(pid: u32, tid: u32, buffer: &mut Vec<u8>) -> Option<(u64, u64)> {
    let text = read_once(format!("/proc/{pid}/task/{tid}/status"), buffer).ok()?;
    let status = task::parse_status(&text);
    Some((status.voluntary_switches.unwrap_or(0), status.involuntary_switches.unwrap_or(0)))
}

/// CPU time of a process, all its threads (ended ones too), in ns; `None` if there is no such process.
pub(crate) fn cpu_clock_ns(pid: u32) -> Option<u64> {
    let clock = clock_getcpuclockid(Pid::from_raw(i32::try_from(pid).ok()?)).ok()?;
    let time = clock.now().ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec()).ok()?)
}

/// The unit of times in `/proc/PID/stat` and `/proc/stat`; 100 on all common machines.
pub(crate) fn ticks_per_second() -> u64 {
    nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK)
        .ok()
        .flatten()
        .and_then(|ticks| u64::try_from(ticks).ok())
        .filter(|ticks| *ticks > 0)
        .unwrap_or(100)
}

/// `None` if there is no such process.
pub(crate) fn read_stat(pid: u32, buffer: &mut Vec<u8>) -> Result<Option<PidStat>, TreeError> {
    let path = format!("/proc/{pid}/stat");
    let source = match read_once(&path, buffer) {
        Ok(text) => match task::parse_stat(&text) {
            Some(stat) => return Ok(Some(stat)),
            None => io::Error::new(io::ErrorKind::InvalidData, "not in the form proc(5) describes"),
        },
        Err(error) if is_gone(&error) => return Ok(None),
        Err(error) => error,
    };
    Err(TreeError::Proc { path, source })
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::ESRCH as i32)
}

/// The children a process's threads started; none if it is gone.
fn children_of(pid: u32, threads: Option<u32>, buffer: &mut Vec<u8>) -> Vec<u32> {
    let mut children = Vec::new();
    let mut add = |tid: u32| {
        if let Ok(text) = read_once(format!("/proc/{pid}/task/{tid}/children"), buffer) {
            children
                .extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    };
    if threads == Some(1) {
        add(pid);
    } else {
        thread_ids(pid).into_iter().for_each(add);
    }
    children
}

/// Threads of a process now; none if it is gone.
pub(crate) fn thread_ids(pid: u32) -> Vec<u32> {
    numbers_in(&format!("/proc/{pid}/task"))
}

fn numbers_in(directory: &str) -> Vec<u32> {
    std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Children of every process of the system, for kernels without the list.
fn all_children(buffer: &mut Vec<u8>) -> Result<HashMap<u32, Vec<u32>>, TreeError> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in numbers_in("/proc") {
        if let Some(stat) = read_stat(pid, buffer)? {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    Ok(children)
}
