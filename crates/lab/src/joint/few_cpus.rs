//! A sliced step keeps its clients and servers on as many CPUs as it has clients.
//!
//! A synchronous client and its server take turns: between them they can use one CPU. With more
//! CPUs, the scheduler puts the two sometimes on one CPU and sometimes on two, and waking an idle
//! CPU costs more than many statements do: on 2 virtual CPUs, point queries ran at 16,000/s in some
//! slices and at 7,000/s in others, for reasons unrelated to any server. On one CPU, the standard
//! deviation of the log ratio of two identical servers fell from 0.30 to 0.04 (slices of 80 ms).
//!
//! This is the same for all variants and does not touch their settings. Steps in turns, and trials
//! that have the machine to themselves, use all CPUs.

use std::sync::Arc;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use probe::Cgroup;

/// Servers kept on some CPUs. Dropping this lets them use all CPUs again.
pub struct Pin {
    cpus: Vec<usize>,
    /// The CPUs that this thread and the servers may use otherwise.
    all: CpuSet,
    groups: Vec<Arc<Cgroup>>,
}

impl Pin {
    /// Keeps the servers in these control groups, and what they start from now on, on `count` CPUs.
    /// `None` if there are no more CPUs than that.
    pub fn servers(groups: Vec<Arc<Cgroup>>, count: usize) -> Option<Pin> {
        let all = sched_getaffinity(Pid::from_raw(0)).ok()?;
        let allowed = Self::allowed();
        // The first CPUs usually serve more interrupts than the last.
        let spared = allowed.len().checked_sub(count).filter(|spared| *spared > 0)?;
        let pin = Pin { cpus: allowed[spared..].to_vec(), all, groups };
        let few = pin.few()?;
        // If one can't be moved, dropping the pin gives the others back their CPUs.
        pin.move_servers(few).then_some(pin)
    }

    /// The CPUs that this process may run on.
    pub fn allowed() -> Vec<usize> {
        let all = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        (0..CpuSet::count()).filter(|cpu| all.is_set(*cpu).unwrap_or(false)).collect()
    }

    /// The CPUs that servers and clients are kept on.
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// Runs a task on a thread pinned to the servers' CPUs; threads it starts stay there.
    pub fn beside<T>(&self, work: impl FnOnce() -> T) -> T {
        let own = Pid::from_raw(0);
        let moved = self.few().is_some_and(|few| sched_setaffinity(own, &few).is_ok());
        let result = work();
        if moved {
            let _ = sched_setaffinity(own, &self.all);
        }
        result
    }

    /// For people.
    pub fn note(&self) -> String {
        let cpus: Vec<String> = self.cpus.iter().map(usize::to_string).collect();
        format!(
            "clients and servers were kept on CPU {}: one CPU for each client, which takes turns \
             with its server",
            cpus.join(", ")
        )
    }

    fn few(&self) -> Option<CpuSet> {
        let mut few = CpuSet::new();
        self.cpus.iter().try_for_each(|cpu| few.set(*cpu)).ok()?;
        Some(few)
    }

    /// Moves all processes of the servers; returns false if one that still runs could not be moved.
    fn move_servers(&self, to: CpuSet) -> bool {
        let mut all = true;
        // Twice: a process that was being started while its parent was moved is seen by then.
        for pid in (0..2).flat_map(|_| self.groups.iter().flat_map(|group| group.pids())) {
            let moved = sched_setaffinity(Pid::from_raw(pid.cast_signed()), &to);
            all &= moved.is_ok() || moved == Err(nix::errno::Errno::ESRCH);
        }
        all
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.move_servers(self.all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> usize {
        let all = sched_getaffinity(Pid::from_raw(0)).unwrap();
        (0..CpuSet::count()).filter(|cpu| all.is_set(*cpu).unwrap()).count()
    }

    #[test]
    fn threads_are_born_beside_the_servers_and_their_parent_goes_back() {
        let before = allowed();
        let Some(pin) = Pin::servers(Vec::new(), 1) else {
            assert_eq!(before, 1);
            return;
        };
        let inside = pin.beside(|| std::thread::spawn(allowed).join().unwrap());
        assert_eq!((inside, allowed()), (1, before));
        assert!(pin.note().contains("on CPU "));
        assert!(Pin::servers(Vec::new(), before).is_none());
    }
}
