//! Keeps a client and the process that serves it on their own CPUs, from outside.

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use crate::error::Error;
use crate::step::load::Seat;

/// The calling thread.
const OWN: Pid = Pid::from_raw(0);

/// Keeps the calling thread, a client's, on its CPU.
///
/// # Errors
/// [`Error::Seat`]
pub fn take(seat: Seat) -> Result<(), Error> {
    if_needed(seat, keep(OWN, seat.client, "a client"))
}

/// Keeps the process that serves a client on its CPU.
///
/// # Errors
/// [`Error::Seat`], also if the process is unknown.
pub fn seat_server(seat: Seat, server: Option<u32>) -> Result<(), Error> {
    let pid = server.and_then(|pid| i32::try_from(pid).ok()).ok_or_else(|| Error::Seat {
        what: "the process that serves a client",
        cpu: seat.server,
        problem: "it is not known or not on this machine; set pinning = \"none\"".to_owned(),
    });
    let kept = pid
        .and_then(|pid| keep(Pid::from_raw(pid), seat.server, "the process that serves a client"));
    if_needed(seat, kept)
}

fn if_needed(seat: Seat, kept: Result<(), Error>) -> Result<(), Error> {
    if seat.needed { kept } else { Ok(()) }
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
