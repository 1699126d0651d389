//! What this process, or some threads of it, have used.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use super::Usage;
use super::reading::{read_stat, thread_switches, ticks_per_second};
use crate::files::read_once;
use crate::proc::task;
use crate::split::Split;

/// What this process has used since its start, all threads included.
pub fn own_usage() -> Usage {
    let mut buffer = Vec::new();
    let mut usage = Usage { processes: 1, ..Usage::default() };
    if let Ok(sum) = getrusage(UsageWho::RUSAGE_SELF) {
        usage.user_us = microseconds(sum.user_time());
        usage.system_us = microseconds(sum.system_time());
        usage.voluntary_switches = u64::try_from(sum.voluntary_context_switches()).unwrap_or(0);
        usage.involuntary_switches = u64::try_from(sum.involuntary_context_switches()).unwrap_or(0);
    }
    add_memory_and_io("self", &mut usage, &mut buffer);
    if let Ok(Some(stat)) = read_stat(std::process::id(), &mut buffer) {
        usage.threads = stat.threads;
    }
    usage
}

/// What some threads of this process have used since their start; threads that ended count nothing.
/// Memory and the number of processes are left at 0, being those of the whole process.
pub fn threads_usage(thread_ids: &[u32]) -> Usage {
    let mut buffer = Vec::new();
    let mut usage = Usage { io_known: true, ..Usage::default() };
    let tick_us = 1_000_000 / ticks_per_second();
    for tid in thread_ids {
        let directory = format!("/proc/self/task/{tid}");
        let Some(stat) = read_once(format!("{directory}/stat"), &mut buffer)
            .ok()
            .and_then(|text| task::parse_stat(&text))
        else {
            continue;
        };
        // Nanoseconds on a CPU, nanoseconds waiting for one, times it got one. Without scheduler
        // statistics the ticks have to do.
        let total_us = read_once(format!("{directory}/schedstat"), &mut buffer)
            .ok()
            .and_then(|text| text.split_ascii_whitespace().next()?.parse::<u64>().ok())
            .map_or((stat.user + stat.system) * tick_us, |ns| ns / 1000);
        let (user_us, system_us) = Split::default().advance(total_us, stat.user, stat.system);
        usage.user_us += user_us;
        usage.system_us += system_us;
        usage.threads += 1;
        if let Some(switches) = thread_switches(std::process::id(), *tid, &mut buffer) {
            usage.voluntary_switches += switches.0;
            usage.involuntary_switches += switches.1;
        }
        let io = read_once(format!("{directory}/io"), &mut buffer)
            .ok()
            .and_then(|text| task::parse_io(&text));
        usage.io_known &= io.is_some();
        let io = io.unwrap_or_default();
        usage.read_bytes += io.read_bytes;
        usage.write_bytes += io.write_bytes;
    }
    usage
}

/// CPU time of the calling thread, in µs.
pub(crate) fn this_thread_us() -> u64 {
    getrusage(UsageWho::RUSAGE_THREAD)
        .map_or(0, |sum| microseconds(sum.user_time()) + microseconds(sum.system_time()))
}

fn microseconds(time: TimeVal) -> u64 {
    u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000
        + u64::try_from(time.tv_usec()).unwrap_or(0)
}

fn add_memory_and_io(process: &str, usage: &mut Usage, buffer: &mut Vec<u8>) {
    if let Ok(text) = read_once(format!("/proc/{process}/statm"), buffer) {
        let pages: u64 =
            text.split_ascii_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        usage.rss_bytes = pages * page_bytes();
    }
    let io = read_once(format!("/proc/{process}/io"), buffer)
        .ok()
        .and_then(|text| task::parse_io(&text));
    usage.io_known = io.is_some();
    let io = io.unwrap_or_default();
    usage.read_bytes = io.read_bytes;
    usage.write_bytes = io.write_bytes;
}

fn page_bytes() -> u64 {
    nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE)
        .ok()
        .flatten()
        .and_then(|bytes| u64::try_from(bytes).ok())
        .unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::time::{ClockId, clock_gettime};
    use std::time::Duration;

    /// Uses that much CPU time, however long the machine takes to give it.
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
            let tid = u32::try_from(nix::unistd::gettid().as_raw()).unwrap();
            let before = threads_usage(&[tid]);
            burn(Duration::from_millis(100));
            let after = threads_usage(&[tid]);
            after.user_us + after.system_us - before.user_us - before.system_us
        });
        let thread_us = worker.join().unwrap();
        let after = own_usage();
        let own_us = after.user_us + after.system_us - before.user_us - before.system_us;
        assert!(thread_us > 20_000, "{thread_us}");
        assert!(own_us + 1_000 >= thread_us, "{own_us} < {thread_us}");
    }
}
