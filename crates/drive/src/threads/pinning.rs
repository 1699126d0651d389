//! Keeps a client and the process or thread that serves it on their own CPUs, from outside.
//!
//! If a seat is not needed and the thread can't be kept on its CPU, the client may run anywhere,
//! too.

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::error::Error;
use crate::step::load::Seat;

/// What errors call it.
const SERVES: &str = "the process or thread that serves a client";
/// The calling thread.
const OWN: Pid = Pid::from_raw(0);

/// Keeps the calling thread, a client's, on its CPU.
///
/// # Errors
/// [`Error::Seat`]
pub fn take(seat: Seat) -> Result<(), Error> {
    let kept = keep(OWN, seat.client, "a client");
    if seat.needed { kept } else { Ok(()) }
}

/// A thread of a server that is kept on a CPU until this is dropped: a server may use it for
/// another connection then.
#[derive(Debug)]
pub struct Seated {
    thread: Pid,
    before: CpuSet,
}

impl Drop for Seated {
    fn drop(&mut self) {
        // It may have ended.
        let _ = sched_setaffinity(self.thread, &self.before);
    }
}

/// Keeps the threads that serve the client of the calling thread on its CPU, at all targets or, if
/// that is not needed and impossible for one, at none: targets that differ in it can't be compared.
///
/// # Errors
/// [`Error::Seat`], also if a thread is unknown.
pub fn seat_servers(seat: Seat, servers: &[Option<u32>]) -> Result<Vec<Seated>, Error> {
    let kept: Result<Vec<Seated>, Error> =
        servers.iter().map(|server| seat_server(seat, *server)).collect();
    if seat.needed || kept.is_ok() {
        return kept;
    }
    if let Ok(all) = sched_getaffinity(Pid::this()) {
        let _ = sched_setaffinity(OWN, &all);
    }
    Ok(Vec::new())
}

fn seat_server(seat: Seat, server: Option<u32>) -> Result<Seated, Error> {
    let pid = server.and_then(|pid| i32::try_from(pid).ok()).ok_or_else(|| Error::Seat {
        what: SERVES,
        cpu: seat.server,
        problem: "it is not known or not on this machine; set pinning = \"none\"".to_owned(),
    });
    let thread = Pid::from_raw(pid?);
    let before = sched_getaffinity(thread);
    keep(thread, seat.server, SERVES)?;
    let before = before.unwrap_or_else(|_| CpuSet::new());
    Ok(Seated { thread, before })
}

fn keep(who: Pid, cpu: usize, what: &'static str) -> Result<(), Error> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu).and_then(|()| sched_setaffinity(who, &cpus)).map_err(|errno| {
        let problem = match errno {
            Errno::EPERM => {
                "it belongs to another user; run steelyard as root, or set pinning = \"none\""
                    .to_owned()
            }
            Errno::EINVAL => "steelyard may not use that CPU".to_owned(),
            other => other.to_string(),
        };
        Error::Seat { what, cpu, problem }
    })
}
