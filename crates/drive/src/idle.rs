//! A background load that only takes idle time: busy threads with the policy `SCHED_IDLE`.
//!
//! It keeps CPUs from becoming idle, so waking them costs less, while any other thread that wants
//! a CPU gets it at once (sched(7)). Changing to this policy needs no permission.

use std::io;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::libc;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::gettid;

/// Spins between two looks at whether to end: about a microsecond.
const SPINS: u32 = 1000;

/// Busy threads of this process at idle priority. They end when this is dropped.
///
/// They may run on the CPUs of the thread that starts them.
#[derive(Debug)]
pub struct IdleLoad {
    threads: Vec<Thread>,
    end: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Thread {
    tid: u32,
    handle: JoinHandle<()>,
}

impl IdleLoad {
    /// Starts this many threads. When it returns, all have the policy.
    ///
    /// # Errors
    /// If a thread can't be started or the kernel refuses the policy.
    pub fn start(threads: usize) -> io::Result<IdleLoad> {
        let mut load = IdleLoad { threads: Vec::new(), end: Arc::default() };
        let (tell, told) = mpsc::channel();
        for _ in 0..threads {
            let (end, tell) = (Arc::clone(&load.end), tell.clone());
            let work = move || {
                let _ = tell.send(gettid().as_raw().cast_unsigned());
                while !end.load(Ordering::Relaxed) {
                    // Without a pause instruction: hypervisors may take the CPU from a guest that
                    // waits with it.
                    for spin in 0..SPINS {
                        std::hint::black_box(spin);
                    }
                }
            };
            let handle = thread::Builder::new().name("idle load".to_owned()).spawn(work)?;
            let tid = told.recv().map_err(io::Error::other)?;
            // Dropping `load` ends all of them.
            load.threads.push(Thread { tid, handle });
            // Here, because on a busy machine the thread would wait seconds before it could say
            // that it has the policy.
            set_policy(tid, libc::SCHED_IDLE)?;
        }
        Ok(load)
    }

    /// The kernel's numbers of the threads, to leave them out of counts.
    pub fn tids(&self) -> Vec<u32> {
        self.threads.iter().map(|thread| thread.tid).collect()
    }

    /// CPU time of the threads so far. It is contained in the CPU time of this process.
    pub fn cpu_time(&self) -> Duration {
        self.threads.iter().map(Thread::cpu_time).sum()
    }

    /// Ends the threads. Returns their CPU time.
    pub fn stop(self) -> Duration {
        self.cpu_time()
    }
}

impl Drop for IdleLoad {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        // On a busy machine, threads of this priority wait seconds for the CPU time in which they
        // could see that they must end. Only root may raise them again. Others don't wait for them:
        // once they run, they end within microseconds.
        let raise = |thread: Thread| (set_policy(thread.tid, libc::SCHED_OTHER).is_ok(), thread);
        let raised: Vec<_> = self.threads.drain(..).map(raise).collect();
        for (raised, thread) in raised {
            if raised || thread.handle.is_finished() {
                let _ = thread.handle.join();
            }
        }
    }
}

impl Thread {
    fn cpu_time(&self) -> Duration {
        let mut clock = 0;
        // SAFETY: the thread has not been joined, so its pthread_t is valid; `clock` is writable.
        let found = unsafe { libc::pthread_getcpuclockid(self.handle.as_pthread_t(), &mut clock) };
        let time = (found == 0).then(|| clock_gettime(ClockId::from_raw(clock)).ok()).flatten();
        time.map_or(Duration::ZERO, Duration::from)
    }
}

fn set_policy(tid: u32, policy: libc::c_int) -> io::Result<()> {
    // SAFETY: all fields are integers.
    let parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    let tid = libc::pid_t::try_from(tid).map_err(io::Error::other)?;
    // SAFETY: the parameter lives through the call, which only reads it.
    let result = unsafe { libc::sched_setscheduler(tid, policy, &raw const parameter) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Field 41 of `/proc/PID/task/TID/stat`, the policy.
    fn policy(tid: u32) -> i32 {
        let text = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat")).unwrap();
        let (_, tail) = text.rsplit_once(')').unwrap();
        tail.split_ascii_whitespace().nth(41 - 3).unwrap().parse().unwrap()
    }

    #[test]
    fn threads_of_idle_priority_use_cpu_time_until_they_are_stopped() {
        let load = IdleLoad::start(3).unwrap();
        let tids = load.tids();
        assert_eq!(tids.len(), 3);
        assert!(tids.iter().all(|tid| policy(*tid) == libc::SCHED_IDLE));
        assert_eq!(policy(gettid().as_raw().cast_unsigned()), libc::SCHED_OTHER);
        let begin = Instant::now();
        // Other tests may take nearly all time.
        while load.cpu_time() < Duration::from_millis(20) {
            assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", load.cpu_time());
            thread::sleep(Duration::from_millis(5));
        }
        let most = begin.elapsed() * 3 + Duration::from_millis(100);
        assert!((Duration::from_millis(20)..most).contains(&load.stop()));
        let runs = |tid: &u32| std::path::Path::new(&format!("/proc/self/task/{tid}")).exists();
        while tids.iter().any(runs) {
            assert!(begin.elapsed() < Duration::from_secs(60), "{tids:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn it_starts_and_ends_promptly_beside_threads_that_want_all_cpus() {
        let end = Arc::new(AtomicBool::new(false));
        let busy = |_| {
            let end = Arc::clone(&end);
            thread::spawn(move || while !end.load(Ordering::Relaxed) {})
        };
        let cpus = thread::available_parallelism().unwrap().get();
        let others: Vec<_> = (0..2 * cpus).map(busy).collect();
        let begin = Instant::now();
        let load = IdleLoad::start(cpus).unwrap();
        let started = begin.elapsed();
        thread::sleep(Duration::from_millis(100));
        let begin = Instant::now();
        drop(load);
        let took = begin.elapsed();
        end.store(true, Ordering::Relaxed);
        others.into_iter().for_each(|other| other.join().unwrap());
        let most = Duration::from_secs(5);
        assert!(started < most && took < most, "{started:?} {took:?}");
    }

    #[test]
    fn no_threads_are_no_load() {
        assert_eq!(IdleLoad::start(0).unwrap().stop(), Duration::ZERO);
    }
}
