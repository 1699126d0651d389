//! Attaching `perf` to a server.

use probe::perf::PerfError;

/// How often this is tried at most.
const TRIES: usize = 5;

/// Has `perf` attach to the processes of a server. If one of them ends meanwhile, `perf` gives up,
/// so this tries again with those there are then.
pub fn attach<T>(
    root_pid: u32,
    perf: impl Fn(&[u32]) -> Result<T, PerfError>,
) -> Result<T, String> {
    let members = || probe::members(root_pid).map_err(|error| error.to_string());
    let mut pids = members()?;
    let mut tried = 1;
    loop {
        let error = match perf(&pids) {
            Ok(attached) => return Ok(attached),
            Err(error) => error,
        };
        let now = members()?;
        if tried == TRIES || pids.iter().all(|pid| now.contains(pid)) {
            return Err(error.to_string());
        }
        (pids, tried) = (now, tried + 1);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::process::{Child, Command};

    use super::*;

    #[test]
    fn a_process_that_ends_is_no_reason_to_give_up() {
        let this = std::process::id();
        let sleeper: Child = Command::new("sleep").arg("60").spawn().unwrap();
        let (pid, sleeper) = (sleeper.id(), Cell::new(Some(sleeper)));
        let perf = |pids: &[u32]| {
            if let Some(mut child) = sleeper.take() {
                assert!(pids.contains(&pid));
                child.kill().unwrap();
                child.wait().unwrap();
                return Err(PerfError::NoSamples);
            }
            Ok(pids.to_vec())
        };
        let attached = attach(this, perf).unwrap();
        assert!(attached.contains(&this) && !attached.contains(&pid), "{attached:?}");

        let calls = Cell::new(0);
        let refused = attach::<()>(this, |pids| {
            calls.set(calls.get() + 1);
            assert_eq!(pids[0], this);
            Err(PerfError::NotInstalled)
        });
        assert!(refused.unwrap_err().contains("none; install it"));
        assert!(calls.get() <= TRIES);
    }
}
