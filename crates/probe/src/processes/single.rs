//! Resource usage of this process.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use super::Usage;
use crate::files::read_once;
use crate::proc::task;

/// Resource usage of this process since its start, including all threads.
pub(crate) fn own_usage() -> Usage {
    let mut buffer = Vec::new();
    let mut usage = Usage { processes: 1, ..Usage::default() };
    if let Ok(sum) = getrusage(UsageWho::RUSAGE_SELF) {
        usage.user_us = microseconds(sum.user_time());
        usage.system_us = microseconds(sum.system_time());
        let switches = sum.voluntary_context_switches() + sum.involuntary_context_switches();
        usage.switches = u64::try_from(switches).unwrap_or(0);
    }
    if let Ok(text) = read_once("/proc/self/status", &mut buffer) {
        usage.rss_bytes = task::parse_status(&text).rss_kb.unwrap_or(0) * 1024;
    }
    let io = read_once("/proc/self/io", &mut buffer).ok().and_then(|text| task::parse_io(&text));
    usage.io_known = io.is_some();
    let io = io.unwrap_or_default();
    usage.read_bytes = io.read_bytes;
    usage.write_bytes = io.write_bytes;
    usage
}

/// CPU time of the calling thread, in µs.
pub fn this_thread_us() -> u64 {
    getrusage(UsageWho::RUSAGE_THREAD)
        .map_or(0, |sum| microseconds(sum.user_time()) + microseconds(sum.system_time()))
}

fn microseconds(time: TimeVal) -> u64 {
    u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000
        + u64::try_from(time.tv_usec()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::time::{ClockId, clock_gettime};
    use std::time::Duration;

    /// Uses this much CPU time, however long that takes.
    fn burn(time: Duration) {
        let used = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
        let begun = used();
        while used() - begun < time {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn a_burning_thread_is_seen_by_both() {
        let before = own_usage();
        let worker = std::thread::spawn(|| {
            burn(Duration::from_millis(100));
            this_thread_us()
        });
        let thread_us = worker.join().unwrap();
        let after = own_usage();
        let own_us = after.user_us + after.system_us - before.user_us - before.system_us;
        assert!(thread_us > 20_000, "{thread_us}");
        assert!(own_us + 1_000 >= thread_us, "{own_us} < {thread_us}");
    }
}
