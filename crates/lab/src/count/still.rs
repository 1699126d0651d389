//! Processes of a server that are held still while its backends are counted.

use dbms::ProcessId;
use nix::libc::{SIGCONT, SIGSTOP};

use super::session::asleep;
use crate::error::Error;

/// The pids of the processes that do things for backends by the clock, as far as they are there already.
///
/// The WAL writer makes pages of the log ready that a backend would otherwise make. The background writer has the next backend
/// that needs a buffer wake it, whenever it has had nothing to do for a while. No backend waits for either.
pub const BY_THE_CLOCK: &str = "SELECT min(pid) FILTER (WHERE backend_type = 'walwriter'), \
     min(pid) FILTER (WHERE backend_type = 'background writer') FROM pg_stat_activity";

/// The first version whose `pg_stat_activity` has such processes.
pub const SINCE: u32 = 10;

/// Processes that were stopped, and go on when this is dropped: until then they would hold up the end of their server.
#[derive(Debug)]
pub struct Still(Vec<ProcessId>);

impl Still {
    /// Stops processes, each at a moment when it sleeps and so holds no lock that a backend may want. `wait` waits until something
    /// is so.
    pub fn hold(
        pids: &[u32],
        wait: impl Fn(&dyn Fn() -> bool) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut held = Self(Vec::new());
        for &pid in pids {
            wait(&|| asleep(pid))?;
            if let Some(process) = ProcessId::of(pid) {
                // One that cannot be stopped is gone.
                let _ = process.signal(SIGSTOP);
                held.0.push(process);
            }
        }
        Ok(held)
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        for process in &self.0 {
            let _ = process.signal(SIGCONT);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    fn state(pid: u32) -> String {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().next().unwrap().to_owned()
    }

    #[test]
    fn a_process_is_held_until_it_is_let_go() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let wait = |done: &dyn Fn() -> bool| {
            while !done() {
                sleep(Duration::from_millis(1));
            }
            Ok(())
        };
        let held = Still::hold(&[child.id()], wait).unwrap();
        sleep(Duration::from_millis(50));
        assert_eq!(state(child.id()), "T");
        drop(held);
        sleep(Duration::from_millis(50));
        assert_eq!(state(child.id()), "S");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
