//! Exact differences between the first and the last snapshot of a recording.

use super::snapshot::{GroupUse, Snapshot};
use crate::proc::cpu::SystemStat;
use crate::proc::disk::{DiskCounters, SECTOR_BYTES};
use crate::processes::ticks_per_second;
use crate::throttle::Throttle;

/// Totals of a recording: differences of counters, not sums of samples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// Length of the recording in seconds.
    pub seconds: f64,
    /// The whole host; `None` if `/proc/stat` could not be read.
    pub host: Option<HostTotals>,
    /// The block device; `None` if there was none or it could not be read.
    pub device: Option<DeviceTotals>,
    /// The DBMS; `None` if there was none.
    pub dbms: Option<GroupTotals>,
    /// CPU time of the sampler itself, in µs (part of the driver's).
    pub sampler_cpu_us: u64,
    /// Thermal throttling events; `None` if the kernel does not expose them.
    pub throttle: Option<Throttle>,
}

/// CPU seconds of all cores together, by kind, and counts from the scheduler.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostTotals {
    /// In user mode (including nice), in the kernel and in interrupts, in CPU seconds.
    pub busy_s: f64,
    /// Idle, in CPU seconds.
    pub idle_s: f64,
    /// Idle with I/O in progress, in CPU seconds.
    pub iowait_s: f64,
    /// Taken by the hypervisor, in CPU seconds.
    pub steal_s: f64,
    /// us + sy as vmstat prints them, in percent of all cores, averaged over the recording.
    pub cpu_percent: f64,
    /// Context switches.
    pub context_switches: Option<u64>,
}

/// The work of the block device.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeviceTotals {
    /// Read requests.
    pub reads: u64,
    /// KiB read.
    pub read_kb: f64,
    /// Write requests.
    pub writes: u64,
    /// KiB written.
    pub write_kb: f64,
}

/// Resource usage of a group of processes. `None` for what could not be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupTotals {
    /// CPU time in user mode, in µs.
    pub user_us: Option<u64>,
    /// CPU time in the kernel, in µs.
    pub system_us: Option<u64>,
    /// Context switches.
    pub switches: Option<u64>,
}

impl Totals {
    pub(super) fn between(before: &Snapshot, after: &Snapshot) -> Totals {
        Totals {
            seconds: (after.at - before.at).as_secs_f64(),
            host: before.host.zip(after.host).map(|(b, a)| host_totals(&b, &a)),
            device: before.device.zip(after.device).map(|(b, a)| device_totals(&b, &a)),
            dbms: before.dbms.zip(after.dbms).map(|(b, a)| group_totals(&b, &a)),
            sampler_cpu_us: 0,
            throttle: None,
        }
    }
}

fn host_totals(before: &SystemStat, after: &SystemStat) -> HostTotals {
    let ticks = after.cpu.since(before.cpu);
    let seconds = |ticks: u64| ticks as f64 / ticks_per_second() as f64;
    let busy = ticks.vmstat_user().saturating_add(ticks.vmstat_system());
    HostTotals {
        busy_s: seconds(busy),
        idle_s: seconds(ticks.idle),
        iowait_s: seconds(ticks.iowait),
        steal_s: seconds(ticks.steal),
        cpu_percent: busy as f64 * 100.0 / ticks.total().max(1) as f64,
        context_switches: minus(after.context_switches, before.context_switches),
    }
}

fn device_totals(before: &DiskCounters, after: &DiskCounters) -> DeviceTotals {
    let kib =
        |after: u64, before: u64| (after.saturating_sub(before) * SECTOR_BYTES) as f64 / 1024.0;
    DeviceTotals {
        reads: after.reads.saturating_sub(before.reads),
        read_kb: kib(after.read_sectors, before.read_sectors),
        writes: after.writes.saturating_sub(before.writes),
        write_kb: kib(after.write_sectors, before.write_sectors),
    }
}

fn group_totals(before: &GroupUse, after: &GroupUse) -> GroupTotals {
    let (cpu, tree) = (before.cpu.zip(after.cpu), before.tree.zip(after.tree));
    GroupTotals {
        user_us: cpu.and_then(|(before, after)| after.user_us.checked_sub(before.user_us)),
        system_us: cpu.and_then(|(before, after)| after.system_us.checked_sub(before.system_us)),
        switches: tree.and_then(|(before, after)| after.switches.checked_sub(before.switches)),
    }
}

fn minus(after: Option<u64>, before: Option<u64>) -> Option<u64> {
    after?.checked_sub(before?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proc::{cpu, disk};

    #[test]
    fn the_host_percentage_is_that_of_vmstat() {
        let before = cpu::parse("cpu 100 0 100 1000 0 0 0 0\nctxt 10\nintr 5\n").unwrap();
        let after = cpu::parse("cpu 200 50 130 1100 100 5 15 100\nctxt 30\nintr 6\n").unwrap();
        let totals = host_totals(&before, &after);
        // 100 + 50 of user and nice, 30 + 5 + 15 of system and interrupts, of 500.
        assert!((totals.cpu_percent - 40.0).abs() < 1e-9);
        assert_eq!(totals.context_switches, Some(20));
        assert!((totals.steal_s * ticks_per_second() as f64 - 100.0).abs() < 1e-9);
    }

    #[test]
    fn sectors_are_half_a_kib() {
        let before = disk::parse_counters("1 0 10 0 0 0 0 0 0 0 0").unwrap();
        let after = disk::parse_counters("5 0 30 0 2 0 8 0 0 1500 0").unwrap();
        let totals = device_totals(&before, &after);
        assert_eq!((totals.reads, totals.writes), (4, 2));
        assert!((totals.read_kb - 10.0).abs() < 1e-9);
        assert!((totals.write_kb - 4.0).abs() < 1e-9);
    }
}
