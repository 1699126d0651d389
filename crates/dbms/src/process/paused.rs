//! Stopped processes.

use crate::ProcessId;

/// Stopped processes, which continue on drop. Until then they would delay the end of their server.
#[derive(Debug, Default)]
pub struct Paused(Vec<ProcessId>);

impl Paused {
    /// Stops a process, which should be [`asleep`](crate::asleep), so it holds no lock that another
    /// may need.
    pub fn hold(&mut self, pid: u32) {
        if let Some(process) = ProcessId::of(pid) {
            // One that cannot be stopped is gone.
            let _ = process.signal(libc::SIGSTOP);
            self.0.push(process);
        }
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        for process in &self.0 {
            let _ = process.signal(libc::SIGCONT);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::*;
    use crate::process::proc::{asleep, wait_until};

    #[test]
    fn a_process_is_held_until_it_is_let_go() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let becomes = |still: bool| {
            let is = || asleep(child.id()) != still;
            assert!(wait_until(Duration::from_secs(60), is), "held: {still}");
        };
        becomes(false);
        let mut held = Paused::default();
        held.hold(child.id());
        becomes(true);
        drop(held);
        becomes(false);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
