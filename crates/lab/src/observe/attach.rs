//! Attaching `perf` to a server.

use std::time::{Duration, Instant};

use probe::perf::PerfError;

/// After this time, it is not tried again.
const LIMIT: Duration = Duration::from_secs(5);

/// Has `perf` attach to the processes of a server. If one of them ends meanwhile, `perf` gives up,
/// so this tries again with those there are then.
pub fn attach<T>(
    root_pid: u32,
    perf: impl Fn(&[u32]) -> Result<T, PerfError>,
) -> Result<T, String> {
    attach_to(|| probe::members(root_pid).map_err(|error| error.to_string()), perf)
}

fn attach_to<T>(
    members: impl Fn() -> Result<Vec<u32>, String>,
    perf: impl Fn(&[u32]) -> Result<T, PerfError>,
) -> Result<T, String> {
    let begin = Instant::now();
    let mut pids = members()?;
    loop {
        let error = match perf(&pids) {
            Ok(attached) => return Ok(attached),
            Err(error) => error,
        };
        match members() {
            Ok(now) if begin.elapsed() < LIMIT && pids.iter().any(|pid| !now.contains(pid)) => {
                pids = now;
            }
            _ => return Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_process_that_ends_is_no_reason_to_give_up() {
        let calls = Cell::new(0);
        let members = || Ok(if calls.get() == 0 { vec![1, 2, 3] } else { vec![1, 3] });
        let perf = |pids: &[u32]| {
            calls.set(calls.get() + 1);
            if pids.contains(&2) { Err(PerfError::NoSamples) } else { Ok(pids.to_vec()) }
        };
        assert_eq!(attach_to(members, perf), Ok(vec![1, 3]));
        assert_eq!(calls.get(), 2);
    }

    #[test]
    fn what_fails_for_another_reason_fails_at_once() {
        for members in [Ok(vec![1]), Err("it has ended".to_owned())] {
            let calls = Cell::new(0);
            let first = Cell::new(Some(Ok(vec![1])));
            let refused = attach_to::<()>(
                || first.take().unwrap_or_else(|| members.clone()),
                |_| {
                    calls.set(calls.get() + 1);
                    Err(PerfError::NotInstalled)
                },
            );
            assert!(refused.unwrap_err().contains("none; install it"), "perf's own reason");
            assert_eq!(calls.get(), 1);
        }
    }
}
