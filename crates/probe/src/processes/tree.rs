//! CPU, switches, memory and I/O of a process tree whose children come and go.
//!
//! The sum is right because the kernel adds an ended child's exact times and I/O to the "waited
//! for" counters of the parent that waits for it. Over all living members of the tree, own +
//! waited-for is therefore conserved. Own times come from the process's CPU clock in nanoseconds
//! (all its threads, ended ones too); the waited-for times are exact sums shown in whole ticks.
//! They are at most two ticks (20 ms) too low per parent, however many children ended.
//!
//! The split into user and system is coarser than the sum. If no timer tick hits a process in
//! system mode, the kernel attributes all its time to user mode (`cputime_adjust`), so many
//! children that live less than a tick look like user time. A control group's split has no such
//! bias.
//!
//! A child may be waited for while the members are being read. Members are read from the top down,
//! so such a child is missed rather than counted twice. The pass is then repeated a few times; the
//! next sample has whatever it still misses.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::reading::{
    ProcessFiles, all_children, cpu_clock_ns, processes_to_keep_open, read_stat, thread_ids,
    thread_switches, ticks_per_second,
};
use super::{TreeError, Usage};
use crate::proc::task::{PidStat, TaskIo};
use crate::split::Split;

/// How often to repeat a pass if a member ended during it.
const PASSES: usize = 4;

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
    /// True if the kernel lists a thread's children (CONFIG_PROC_CHILDREN).
    has_lists: bool,
    /// How many members may have their files kept open.
    keep_open: usize,
}

/// State of a member kept between samples.
#[derive(Debug)]
struct Known {
    files: ProcessFiles,
    stat: PidStat,
    own_ns: u64,
    io: TaskIo,
    ignores_sigchld: bool,
    /// Switches of the living threads, if there are several.
    threads: HashMap<u32, u64>,
    /// Switches of this process, including ended threads.
    switches: u64,
    gone_switches: u64,
}

/// Usage by ended members whose counters no parent in the tree took over.
#[derive(Debug, Default)]
struct Departed {
    ns: u64,
    user_ticks: u64,
    system_ticks: u64,
    io: TaskIo,
    switches: u64,
}

/// A member, as seen by one pass.
#[derive(Debug)]
struct Seen {
    pid: u32,
    stat: PidStat,
    own_ns: u64,
    io: Option<TaskIo>,
}

/// The pids of a process and of everything it started that is running, parents first.
///
/// # Errors
/// [`TreeError::Gone`] if there is no such process.
pub fn members(root_pid: u32) -> Result<Vec<u32>, TreeError> {
    let (seen, _) = Tree::new(root_pid)?.pass()?;
    Ok(seen.iter().map(|member| member.pid).collect())
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
            keep_open: processes_to_keep_open(),
        })
    }

    /// Resource usage of the tree since the root's start. Cumulative and never falling, except for
    /// memory and the number of processes.
    ///
    /// # Errors
    /// [`TreeError::Gone`] once the root has ended and was waited for; [`Tree::last`] stays.
    pub fn sample(&mut self) -> Result<Usage, TreeError> {
        let (mut seen, mut complete) = self.pass()?;
        for _ in 1..PASSES {
            if complete {
                break;
            }
            (seen, complete) = self.pass()?;
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

    /// All members, parents before their children, and whether all listed ones could be read. One
    /// that could not may be missing entirely, because its parent was read before it ended.
    fn pass(&mut self) -> Result<(Vec<Seen>, bool), TreeError> {
        let mut found: Vec<Seen> = Vec::with_capacity(self.known.len() + 4);
        let mut inside: HashSet<u32> = HashSet::with_capacity(self.known.len() + 4);
        let mut parents = if self.has_lists { None } else { Some(all_children(&mut self.buffer)?) };
        let mut queue = vec![self.root];
        let mut complete = true;
        let mut unlisted: HashSet<u32> = HashSet::new();
        let mut at = 0;
        loop {
            if at == queue.len() {
                // Known members that the kernel's list skipped (it may while others end), and those
                // whose parent ended: they now belong to init, but stay members.
                let missing = self.known.keys().filter(|pid| !queue.contains(pid));
                let missing: Vec<u32> = missing.copied().collect();
                queue.extend(&missing);
                unlisted.extend(missing);
            }
            let Some(pid) = queue.get(at).copied() else {
                return Ok((found, complete));
            };
            at += 1;
            if inside.contains(&pid) {
                continue;
            }
            let known = self.known.get_mut(&pid);
            let threads = known.as_ref().map(|known| known.stat.threads);
            let mut once = ProcessFiles::new(pid, false);
            let files = known.map_or(&mut once, |known| &mut known.files);
            // Children before the parent's counters, so these include any child waited for in
            // between.
            let children = match &mut parents {
                None => files.children(threads, &mut self.buffer),
                Some(parents) => parents.remove(&pid).unwrap_or_default(),
            };
            let stat = files.stat(&mut self.buffer)?;
            let (Some(stat), Some(own_ns)) = (stat, cpu_clock_ns(pid)) else {
                if pid == self.root {
                    return Err(TreeError::Gone { pid });
                }
                complete &= unlisted.contains(&pid);
                continue;
            };
            if pid == self.root && stat.start != self.root_start {
                return Err(TreeError::Gone { pid });
            }
            let io = files.io(&mut self.buffer);
            let same = self.known.get(&pid).is_some_and(|k| k.stat.start == stat.start);
            if pid != self.root && !same && !inside.contains(&stat.parent) {
                // The pid now belongs to another process.
                continue;
            }
            inside.insert(pid);
            found.push(Seen { pid, stat, own_ns, io });
            queue.extend(children);
        }
    }

    /// Keeps the usage of members that ended since the last sample, if no living member has it.
    fn say_goodbye(&mut self, seen: &[Seen]) {
        let starts: HashMap<u32, u64> = seen.iter().map(|s| (s.pid, s.stat.start)).collect();
        let ended =
            self.known.iter().filter(|(pid, known)| starts.get(pid) != Some(&known.stat.start));
        let lost: Vec<(u32, bool)> = ended
            .map(|(pid, known)| {
                // A parent that waited has the child's times. If the parent is outside the tree or
                // lets the kernel discard its children, nobody in the tree has them.
                let parent = self.known.get(&known.stat.parent);
                (*pid, parent.is_none_or(|parent| parent.ignores_sigchld))
            })
            .collect();
        for (pid, to_nobody) in lost {
            let Some(known) = self.known.remove(&pid) else {
                continue;
            };
            let departed = &mut self.departed;
            departed.switches += known.switches;
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
        let keep_open = self.known.len() < self.keep_open;
        let known = self.known.entry(member.pid).or_insert_with(|| Known {
            files: ProcessFiles::new(member.pid, keep_open),
            stat: member.stat,
            own_ns: 0,
            io: TaskIo::default(),
            ignores_sigchld: false,
            threads: HashMap::new(),
            switches: 0,
            gone_switches: 0,
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
            // One that ended but was not yet waited for still has its times, but is not running.
            if !matches!(stat.state, 'Z' | 'X') {
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
            switches += known.switches;
        }
        usage.rss_bytes += largest_shared;
        self.highest_us = self.highest_us.max(ns / 1000);
        (usage.user_us, usage.system_us) =
            self.split.advance(self.highest_us, user_ticks, system_ticks);
        usage.switches = switches.max(self.last.switches);
        usage.read_bytes = io.read_bytes.max(self.last.read_bytes);
        usage.write_bytes = io.write_bytes.max(self.last.write_bytes);
        usage
    }
}

impl Known {
    /// Updates switches and how the process treats its children. Returns private and shared memory
    /// in RAM, in bytes. A process that ended keeps its last figures.
    fn look_closer(&mut self, pid: u32, buffer: &mut Vec<u8>) -> (u64, u64) {
        let Some(status) = self.files.status(buffer) else {
            return (0, 0);
        };
        self.ignores_sigchld = status.ignores_sigchld;
        if self.stat.threads <= 1 && self.threads.is_empty() {
            self.switches = status.switches;
        } else {
            self.count_thread_switches(pid, buffer);
        }
        let bytes = |kib: Option<u64>| kib.unwrap_or(0) * 1024;
        match status.rss_anon_kb {
            Some(anon) => (anon * 1024, bytes(status.rss_file_kb) + bytes(status.rss_shmem_kb)),
            // Before Linux 4.5, private and shared memory are not distinguished.
            None => (bytes(status.rss_kb), 0),
        }
    }

    /// The kernel shows switches per thread and forgets those of ended threads, so these are kept
    /// here.
    fn count_thread_switches(&mut self, pid: u32, buffer: &mut Vec<u8>) {
        let mut now = HashMap::with_capacity(self.threads.len());
        for tid in thread_ids(pid) {
            if let Some(switches) = thread_switches(pid, tid, buffer) {
                now.insert(tid, switches);
            }
        }
        for (tid, switches) in &self.threads {
            if !now.contains_key(tid) {
                self.gone_switches += switches;
            }
        }
        self.switches = self.gone_switches + now.values().sum::<u64>();
        self.threads = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    /// A shell with a child that wait until dropped.
    struct Family(Child);

    impl Family {
        fn start() -> Family {
            let child = Command::new("sh")
                .args(["-c", "exec 3<&0; cat <&3 & wait"])
                .stdin(Stdio::piped())
                .spawn()
                .unwrap();
            let family = Family(child);
            // The child is another program by now, and waits.
            let waits = |pid: &u32| {
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                stat.contains("(cat) S")
            };
            let mut before = Usage::default();
            loop {
                let now = Tree::new(family.0.id()).unwrap().sample().unwrap();
                if members(family.0.id()).unwrap().iter().any(waits) && now == before {
                    return family;
                }
                before = now;
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }

    impl Drop for Family {
        fn drop(&mut self) {
            drop(self.0.stdin.take());
            let _ = self.0.wait();
        }
    }

    #[test]
    fn children_are_found_without_the_kernels_list_too() {
        let family = Family::start();
        let mut tree = Tree::new(family.0.id()).unwrap();
        tree.has_lists = false;
        let usage = tree.sample().unwrap();
        assert_eq!(usage.processes, 2);
        assert!(usage.rss_bytes > 0);
    }

    #[test]
    fn the_result_is_the_same_with_and_without_open_files() {
        let family = Family::start();
        let usages = [0, 100].map(|keep_open| {
            let mut tree = Tree::new(family.0.id()).unwrap();
            tree.keep_open = keep_open;
            tree.sample().unwrap();
            tree.sample().unwrap()
        });
        assert_eq!(usages[0], usages[1]);
        assert_eq!(usages[0].processes, 2);
    }

    #[test]
    fn use_that_went_to_nobody_is_kept() {
        let family = Family::start();
        let mut tree = Tree::new(family.0.id()).unwrap();
        let before = tree.sample().unwrap();
        let root_start = tree.root_start;
        let stat =
            PidStat { start: root_start, user: 30, system: 10, threads: 1, ..PidStat::default() };
        // Two ended members: an orphan adopted by init, and a child the root waited for.
        for (pid, parent) in [(u32::MAX - 1, 1), (u32::MAX - 2, tree.root)] {
            let seen = Seen {
                pid,
                stat: PidStat { parent, ..stat },
                own_ns: 400_000_000,
                io: Some(TaskIo { read_bytes: 4096, write_bytes: 0 }),
            };
            tree.remember(&seen);
        }
        let after = tree.sample().unwrap();
        let used = after.user_us + after.system_us - before.user_us - before.system_us;
        assert!((400_000..420_000).contains(&used), "{used}");
        assert_eq!(after.read_bytes, before.read_bytes + 4096);
        assert_eq!(after.processes, 2);
        assert!(after.user_us > 2 * after.system_us);
        // If the parent lets the kernel discard its children, the child's usage is kept too.
        tree.remember(&Seen {
            pid: u32::MAX - 3,
            stat: PidStat { parent: tree.root, ..stat },
            own_ns: 400_000_000,
            io: None,
        });
        tree.known.get_mut(&tree.root).unwrap().ignores_sigchld = true;
        let last = tree.sample().unwrap();
        let used = last.user_us + last.system_us - after.user_us - after.system_us;
        assert!((400_000..420_000).contains(&used), "{used}");
    }
}
