//! A background load that only takes idle time: busy processes with the policy `SCHED_IDLE`.
//!
//! It keeps CPUs from becoming idle, so waking them costs less, while any other process that wants
//! a CPU gets it at once (sched(7)). Changing to this policy needs no permission.
//!
//! They are processes in a session of their own. Threads would not do: the policy applies only
//! within a scheduling group, and with autogrouping each session is a group. Threads of this
//! process would get this session's share of the CPU, and preempt servers in other sessions
//! (sched(7), "The autogroup feature").

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid};

/// How long to wait for the end of a process.
const PATIENCE: Duration = Duration::from_millis(500);

/// Busy processes at idle priority. They end when this is dropped, and when the process that
/// started them ends in any way.
///
/// They may run on the CPUs of the thread that started them.
#[derive(Debug)]
pub struct IdleLoad {
    processes: Vec<Pid>,
}

impl IdleLoad {
    /// Starts this many processes.
    ///
    /// # Errors
    /// If one can't be started or the kernel refuses the policy.
    pub fn start(processes: usize) -> io::Result<IdleLoad> {
        let mut load = IdleLoad { processes: Vec::new() };
        let parent = getpid();
        for _ in 0..processes {
            // SAFETY: the child only makes system calls, which allocate nothing and take no lock.
            match unsafe { fork() }? {
                ForkResult::Parent { child } => {
                    // Dropping `load` ends it, whatever comes now.
                    load.processes.push(child);
                    set_policy(child, libc::SCHED_IDLE)?;
                }
                ForkResult::Child => be_busy(parent),
            }
        }
        Ok(load)
    }

    /// The processes.
    pub fn pids(&self) -> Vec<u32> {
        self.processes.iter().map(|pid| pid.as_raw().cast_unsigned()).collect()
    }
}

/// Keeps a process busy until it is killed.
fn be_busy(parent: Pid) -> ! {
    // SAFETY: system calls that take integers, pointers to static text, or no arguments. A failure
    // leaves the process where it was, which does no harm.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // Connections and locks of this process must end with it.
        libc::syscall(libc::SYS_close_range, 0u32, u32::MAX, 0u32);
        libc::setsid();
        let autogroup = libc::open(c"/proc/self/autogroup".as_ptr(), libc::O_WRONLY);
        libc::write(autogroup, b"19".as_ptr().cast(), 2);
        libc::close(autogroup);
        // If the parent ended before the first call, no signal would ever come.
        if libc::getppid() != parent.as_raw() {
            libc::_exit(1);
        }
    }
    let mut spins = 0u64;
    loop {
        // Without a pause instruction: hypervisors may take the CPU from a guest that waits so.
        spins = std::hint::black_box(spins.wrapping_add(1));
    }
}

impl Drop for IdleLoad {
    fn drop(&mut self) {
        // On a busy machine, processes of this priority wait seconds for the CPU time in which they
        // could end. Only root may raise them again.
        for pid in &self.processes {
            let _ = set_policy(*pid, libc::SCHED_OTHER);
            let _ = kill(*pid, Signal::SIGKILL);
        }
        let deadline = Instant::now() + PATIENCE;
        self.processes.retain(|pid| !ends_by(*pid, deadline));
        if !self.processes.is_empty() {
            // They are killed; only their reaping takes longer.
            let late = std::mem::take(&mut self.processes);
            let reap = move || {
                for pid in late {
                    let _ = waitpid(pid, None);
                }
            };
            let _ = thread::Builder::new().name("reaper".to_owned()).spawn(reap);
        }
    }
}

/// Reaps a killed process if it ends in time.
fn ends_by(pid: Pid, deadline: Instant) -> bool {
    loop {
        match waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) if Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(1));
            }
            Ok(WaitStatus::StillAlive) => return false,
            _ => return true,
        }
    }
}

fn set_policy(pid: Pid, policy: libc::c_int) -> io::Result<()> {
    // SAFETY: all fields are integers.
    let parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the parameter lives through the call, which only reads it.
    let result = unsafe { libc::sched_setscheduler(pid.as_raw(), policy, &raw const parameter) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Field `number` of `/proc/PID/stat`, counted from 1 as in proc(5).
    fn field(pid: u32, number: usize) -> i64 {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let (_, tail) = text.rsplit_once(')').unwrap();
        tail.split_ascii_whitespace().nth(number - 3).unwrap().parse().unwrap()
    }

    fn runs(pid: &u32) -> bool {
        Path::new(&format!("/proc/{pid}")).exists()
    }

    #[test]
    fn processes_of_idle_priority_use_cpu_time_until_they_are_stopped() {
        let load = IdleLoad::start(3).unwrap();
        let pids = load.pids();
        assert_eq!(pids.len(), 3);
        assert!(pids.iter().all(|pid| field(*pid, 41) == i64::from(libc::SCHED_IDLE)));
        let begin = Instant::now();
        let used = || pids.iter().map(|pid| field(*pid, 14)).sum::<i64>();
        // Each has its own session, without our files.
        let apart = |pid: &u32| {
            let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
            field(*pid, 6) == i64::from(*pid) && files == 0
        };
        // Other tests may take nearly all time.
        while used() < 2 || !pids.iter().all(apart) {
            assert!(begin.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(5));
        }
        drop(load);
        while pids.iter().any(runs) {
            assert!(begin.elapsed() < Duration::from_secs(60), "{pids:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    #[ignore = "a bound: make bench"]
    fn it_ends_promptly_beside_threads_that_want_all_cpus() {
        let end = Arc::new(AtomicBool::new(false));
        let busy = |_| {
            let end = Arc::clone(&end);
            thread::spawn(move || while !end.load(Ordering::Relaxed) {})
        };
        let cpus = thread::available_parallelism().unwrap().get();
        let others: Vec<_> = (0..2 * cpus).map(busy).collect();
        let load = IdleLoad::start(cpus).unwrap();
        thread::sleep(Duration::from_millis(100));
        let begin = Instant::now();
        drop(load);
        let took = begin.elapsed();
        end.store(true, Ordering::Relaxed);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert!(took < Duration::from_secs(1), "{took:?}");
    }

    #[test]
    fn they_end_with_the_thread_that_started_them() {
        // As when the whole process is killed.
        let pids = thread::spawn(|| {
            let load = IdleLoad::start(2).unwrap();
            let pids = load.pids();
            std::mem::forget(load);
            // Each asks for the signal before it gets its session.
            while pids.iter().any(|pid| field(*pid, 6) != i64::from(*pid)) {
                thread::sleep(Duration::from_millis(1));
            }
            pids
        });
        for pid in pids.join().unwrap() {
            let status = waitpid(Pid::from_raw(pid.cast_signed()), None).unwrap();
            assert!(matches!(status, WaitStatus::Signaled(_, Signal::SIGKILL, _)), "{status:?}");
        }
    }

    #[test]
    fn none_are_no_load() {
        assert!(IdleLoad::start(0).unwrap().pids().is_empty());
    }
}
