//! Measures how much of the machine's CPUs other programs use, and how long threads wait for one.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::files::read_once;
use crate::proc::cpu;
use crate::processes::{Tree, TreeError, members, thread_ids, ticks_per_second};

/// Compares the CPU time of the whole machine with that of this process, all that it started, and
/// some systems. The rest belongs to other programs.
#[derive(Debug)]
pub struct Contention {
    /// This process and all that it started, then the systems that others started.
    own: Vec<Tree>,
}

/// A reading of [`Contention`].
#[derive(Debug)]
pub struct Contended {
    at: Instant,
    /// Seconds since boot in which CPUs were busy.
    busy: f64,
    cpus: u32,
    /// CPU seconds of [`Contention::own`].
    own: f64,
}

/// The difference of two readings.
#[derive(Debug, Clone, PartialEq)]
pub struct Rivalry {
    /// Seconds between the two.
    pub seconds: f64,
    /// How many CPUs the machine has.
    pub cpus: f64,
    /// How many of them other programs used.
    pub others: f64,
}

impl Contention {
    /// Takes systems with these first processes for its own.
    ///
    /// # Errors
    /// If one of them has ended, or `/proc` can't be read.
    pub fn of(systems: &[u32]) -> Result<Contention, TreeError> {
        let this = std::process::id();
        let started = members(this)?;
        let apart = systems.iter().copied().filter(|root| !started.contains(root));
        let own = [this].into_iter().chain(apart).map(Tree::new).collect::<Result<_, _>>()?;
        Ok(Contention { own })
    }

    /// Reads everything: milliseconds for a hundred processes. `None` if a system has ended.
    pub fn read(&mut self) -> Option<Contended> {
        let mut own = 0;
        for tree in &mut self.own {
            let usage = tree.sample().ok()?;
            own += usage.user_us + usage.system_us;
        }
        let stat = cpu::parse(&read_once("/proc/stat", &mut Vec::new()).ok()?)?;
        let ticks = stat.cpu;
        let seconds = |ticks: u64| ticks as f64 / ticks_per_second() as f64;
        Some(Contended {
            at: Instant::now(),
            busy: seconds(ticks.vmstat_user().saturating_add(ticks.vmstat_system())),
            cpus: stat.cpus,
            own: own as f64 / 1e6,
        })
    }
}

impl Contended {
    /// The use of the CPUs from this reading to a later one.
    pub fn until(&self, later: &Contended) -> Rivalry {
        let seconds = (later.at - self.at).as_secs_f64();
        let others = (later.busy - self.busy) - (later.own - self.own);
        // Their ticks add up to more than that in short steps.
        let cpus = f64::from(later.cpus);
        Rivalry { seconds, cpus, others: (others.max(0.0) / seconds).min(cpus) }
    }
}

/// How long the threads of a system could have run, but waited for a CPU.
#[derive(Debug)]
pub struct RunDelay {
    root_pid: u32,
    /// The first and the last reading of each thread, in ns.
    threads: HashMap<u32, (u64, u64)>,
}

impl RunDelay {
    /// Begins now, for a process and those that it starts.
    pub fn begin(root_pid: u32) -> RunDelay {
        let threads = delays(root_pid).map(|(thread, delay)| (thread, (delay, delay))).collect();
        RunDelay { root_pid, threads }
    }

    /// The sum over all threads since the beginning. The waits of threads that have ended are known
    /// up to the last reading before that.
    pub fn read(&mut self) -> Duration {
        for (thread, delay) in delays(self.root_pid) {
            self.threads.entry(thread).or_default().1 = delay;
        }
        let waited = self.threads.values().map(|(first, last)| last.saturating_sub(*first));
        Duration::from_nanos(waited.sum())
    }
}

/// The time on a run queue of each thread of a process and of those it started: the second number
/// of `schedstat`, in ns (Documentation/scheduler/sched-stats.rst of Linux).
fn delays(root_pid: u32) -> impl Iterator<Item = (u32, u64)> {
    let threads = |pid| thread_ids(pid).into_iter().map(move |thread| (pid, thread));
    let all = members(root_pid).unwrap_or_default().into_iter().flat_map(threads);
    let mut buffer = Vec::new();
    all.filter_map(move |(pid, thread)| {
        let path = format!("/proc/{pid}/task/{thread}/schedstat");
        let text = read_once(path, &mut buffer).ok()?;
        Some((thread, text.split(' ').nth(1)?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use std::process::{Child, Command, Stdio};

    /// A busy loop. Dropping it ends it.
    struct Busy(Pid);

    impl Busy {
        /// As a child of this process.
        fn child() -> (Busy, Child) {
            let child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
            (Busy(Pid::from_raw(child.id() as i32)), child)
        }

        /// As a program that is nobody's child here: the shell that starts it ends at once.
        fn stranger() -> Busy {
            let line = "(while :; do :; done) >/dev/null 2>&1 & echo $!";
            let shell = Command::new("sh").args(["-c", line]).stderr(Stdio::null()).output();
            let pid = String::from_utf8(shell.unwrap().stdout).unwrap();
            Busy(Pid::from_raw(pid.trim().parse().unwrap()))
        }

        fn used(&self) -> f64 {
            let usage = Tree::new(self.0.as_raw().cast_unsigned()).unwrap().sample().unwrap();
            (usage.user_us + usage.system_us) as f64 / 1e6
        }
    }

    impl Drop for Busy {
        fn drop(&mut self) {
            kill(self.0, Signal::SIGKILL).unwrap();
        }
    }

    /// Readings between which the loop had half a second of a CPU, however long that takes.
    fn seen(contention: &mut Contention, busy: &Busy) -> (Contended, Contended) {
        let (before, begun) = (contention.read().unwrap(), busy.used());
        while busy.used() - begun < 0.5 {
            std::thread::sleep(Duration::from_millis(10));
        }
        (before, contention.read().unwrap())
    }

    #[test]
    fn a_stranger_is_another_program_and_a_child_is_not() {
        let stranger = Busy::stranger();
        let mut contention = Contention::of(&[std::process::id()]).unwrap();
        let (before, after) = seen(&mut contention, &stranger);
        let found = before.until(&after);
        // The machine's time is counted by ticks.
        assert!(found.others * found.seconds > 0.1, "{found:?}");
        let online = nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_ONLN);
        assert!((found.cpus - online.unwrap().unwrap() as f64).abs() < 1e-9, "{}", found.cpus);
        drop(stranger);
        let (busy, mut child) = Busy::child();
        let (before, after) = seen(&mut contention, &busy);
        assert!(after.own - before.own > 0.45, "{} {}", before.own, after.own);
        drop(busy);
        child.wait().unwrap();
    }

    #[test]
    fn a_system_that_others_started_is_no_other_program() {
        let system = Busy::stranger();
        let root = system.0.as_raw().cast_unsigned();
        let (before, after) = seen(&mut Contention::of(&[root]).unwrap(), &system);
        assert!(after.own - before.own > 0.45, "{} {}", before.own, after.own);
        drop(system);
        assert!(Contention::of(&[u32::MAX]).is_err());
    }

    #[test]
    fn threads_that_share_a_cpu_wait_for_it() {
        let (one, mut child) = Busy::child();
        let (other, mut second) = Busy::child();
        let mut cpus = CpuSet::new();
        let all = sched_getaffinity(Pid::from_raw(0)).unwrap();
        let first = (0..CpuSet::count()).find(|cpu| all.is_set(*cpu).unwrap()).unwrap();
        cpus.set(first).unwrap();
        for busy in [&one, &other] {
            sched_setaffinity(busy.0, &cpus).unwrap();
        }
        let mut delay = RunDelay::begin(child.id());
        let mut nothing = RunDelay::begin(u32::MAX);
        let begun = other.used();
        // Each waits while the other has the CPU.
        while other.used() - begun < 0.3 {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(delay.read() > Duration::from_millis(100), "{delay:?}");
        assert_eq!(nothing.read(), Duration::ZERO);
        drop((one, other));
        let known = delay.read();
        assert!(known > Duration::from_millis(100), "what it waited stays");
        child.wait().unwrap();
        second.wait().unwrap();
    }
}
