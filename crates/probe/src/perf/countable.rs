//! Events that can be counted on this machine, for processes or for the machine, and reasons why
//! others can't.

use std::process::Command;

use super::events::parse;
use super::program::{paranoid, run, tail};
use super::record::listed;
use super::{Perf, PerfError};

/// Whose events are counted.
///
/// Counting for processes or threads costs more the more often they wait, because the kernel
/// switches the counters with the tasks. Counting the five events of [`metrics::SCHEDULER_EVENTS`]
/// for the processes of 4 clients and their backends took 17% of their throughput and added 14% to
/// the CPU time of a transaction; counting them for the machine took 1%, within the noise. With one
/// client on its backend's CPU, the figures were 18% and 0%. (Prepared point selects on 4 virtual
/// CPUs, Linux 6.18, perf 6.1: medians of 12 pairs of 2 seconds.) Counting for control groups costs
/// as much as for processes.
///
/// Only counts of the machine include the idle task. With one client on several CPUs, they were 3.7
/// switches and 1.33 timers per transaction; its processes had 1.9 and 0.95 of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Processes with all their threads, and what they start.
    Processes(&'a [u32]),
    /// Single threads, and what they start. A process without further threads is one, too.
    Threads(&'a [u32]),
    /// All CPUs, with whatever runs on them.
    Machine,
}

impl Scope<'_> {
    pub(super) fn add_to(self, command: &mut Command) {
        match self {
            Scope::Processes(pids) => command.args(["--pid", &listed(pids)]),
            Scope::Threads(tids) => command.args(["--tid", &listed(tids)]),
            Scope::Machine => command.arg("--all-cpus"),
        };
    }

    /// The highest `kernel.perf_event_paranoid` with which other users than root may count events
    /// of the kernel (Documentation/admin-guide/sysctl/kernel.rst).
    fn paranoid(self) -> i32 {
        match self {
            Scope::Processes(_) | Scope::Threads(_) => 1,
            Scope::Machine => 0,
        }
    }
}

/// Events, divided into those that can be counted and the others.
#[derive(Debug, Default)]
pub struct Countable {
    /// In the order in which they were asked for.
    pub events: Vec<String>,
    /// Those that can't be counted, with the reason.
    pub absent: Vec<Uncountable>,
}

/// Why an event cannot be counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Uncountable {
    /// The kernel or the processor does not have this event.
    #[error("the kernel has no event {event} on this machine; newer kernels may have it")]
    Unknown {
        /// The event.
        event: String,
    },
    /// It is a tracepoint, and this user cannot read the kernel's description of it.
    #[error(
        "event {event} is a tracepoint, and this user cannot read /sys/kernel/tracing; run as \
         root, or as root: mount -o remount,mode=755 /sys/kernel/tracing"
    )]
    NoTracefs {
        /// The event.
        event: String,
    },
    /// The kernel denies it.
    #[error(
        "event {event} needs root, CAP_PERFMON, or kernel.perf_event_paranoid of at most {most} and \
         processes of the same user; found {paranoid} without root; run as root, or as root: sysctl \
         kernel.perf_event_paranoid={most}"
    )]
    NotPermitted {
        /// The event.
        event: String,
        /// The value with which it would be permitted.
        most: i32,
        /// The value of `kernel.perf_event_paranoid`.
        paranoid: i32,
    },
    /// For another reason, such as a process that has ended.
    #[error("event {event} cannot be counted: {said}; try perf stat by hand")]
    Failed {
        /// The event.
        event: String,
        /// The end of the output of `perf`.
        said: String,
    },
}

impl Uncountable {
    /// The event.
    pub fn event(&self) -> &str {
        match self {
            Uncountable::Unknown { event }
            | Uncountable::NoTracefs { event }
            | Uncountable::NotPermitted { event, .. }
            | Uncountable::Failed { event, .. } => event,
        }
    }
}

impl Perf {
    /// Tries which events can be counted for `scope`: all together, then each by itself if one
    /// can't be; a hundredth of a second each. For a tracepoint, `perf` run by root mounts
    /// `/sys/kernel/tracing` where nothing else has, and leaves it mounted.
    ///
    /// # Errors
    /// If `perf` cannot be started.
    pub fn countable(&self, events: &[&str], scope: Scope<'_>) -> Result<Countable, PerfError> {
        let mut countable = Countable::default();
        let whole = self.tried(&events.join(","), scope)?;
        let all = events.iter().all(|event| is_counted(&whole, event));
        for event in events {
            let said = if all { None } else { Some(self.tried(event, scope)?) };
            match said.filter(|said| !is_counted(said, event)) {
                None => countable.events.push((*event).to_owned()),
                Some(said) => countable.absent.push(reason(event, &said, scope)),
            }
        }
        Ok(countable)
    }

    /// The output of `perf stat` when it counts these for a moment.
    fn tried(&self, events: &str, scope: Scope<'_>) -> Result<String, PerfError> {
        let mut command = self.command("stat");
        command.args(["-x,", "--event", events]);
        scope.add_to(&mut command);
        let output = run(command.args(["--", "true"]))?;
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// True if the counter was opened for the kernel, too. Where the kernel's counter is denied, `perf`
/// silently restricts it to user mode and counts no events that happen in the kernel. The counter
/// may also be missing because nothing ran.
fn is_counted(said: &str, event: &str) -> bool {
    parse(said).iter().any(|count| count.event == event && !count.user_only && !count.unsupported)
}

fn reason(event: &str, said: &str, scope: Scope<'_>) -> Uncountable {
    let event = event.to_owned();
    let says = |words: &[&str]| words.iter().any(|words| said.contains(words));
    let user_only = parse(said).iter().any(|count| count.user_only);
    if says(&["can't access trace events", "No permissions to read", "Unable to find debugfs"]) {
        Uncountable::NoTracefs { event }
    } else if user_only || says(&["perf_event_paranoid", "CAP_PERFMON", "Permission denied"]) {
        Uncountable::NotPermitted { event, most: scope.paranoid(), paranoid: paranoid() }
    } else if says(&["event syntax error", "<not supported>"]) {
        Uncountable::Unknown { event }
    } else {
        Uncountable::Failed { event, said: tail(said) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_apart() {
        // As perf 6.1 puts them, shortened.
        let tracefs = "event syntax error: 'ipi:ipi_send_cpu'\n  \\___ can't access trace events\n\n\
             Error:\tNo permissions to read /sys/kernel/tracing/events/ipi/ipi_send_cpu\n";
        let unknown = "event syntax error: 'ipi:ipi_send_cpu'\n  \\___ unknown tracepoint\n\n\
             Error:\tFile /sys/kernel/tracing/events/ipi/ipi_send_cpu not found.\n";
        let denied = "Error:\nAccess to performance monitoring and observability operations is \
             limited.\nConsider adjusting /proc/sys/kernel/perf_event_paranoid setting\n";
        let gone = "Problems finding threads of monitor\n";
        let event = "ipi:ipi_send_cpu";
        let reason = |said| reason(event, said, Scope::Machine);
        assert!(matches!(reason(tracefs), Uncountable::NoTracefs { .. }));
        assert!(matches!(reason(unknown), Uncountable::Unknown { .. }));
        assert!(matches!(reason(denied), Uncountable::NotPermitted { most: 0, .. }));
        assert!(matches!(reason(gone), Uncountable::Failed { .. }));
        let user = "0,,ipi:ipi_send_cpu:u,853523,100.00,,\n";
        assert!(matches!(reason(user), Uncountable::NotPermitted { .. }));
        assert!(matches!(
            reason("<not supported>,,ipi:ipi_send_cpu,0,100.00,,\n"),
            Uncountable::Unknown { .. }
        ));
        for said in [tracefs, unknown, denied, gone, user] {
            assert!(!is_counted(said, event));
            assert_eq!(reason(said).event(), event);
        }
        assert!(is_counted("3,,ipi:ipi_send_cpu,853523,100.00,,\n", event));
    }
}
