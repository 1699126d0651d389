//! The table of series: names, units, and how to compute each value from two snapshots.

use super::snapshot::{GroupUse, Snapshot};
use crate::proc::cpu::CpuTicks;
use crate::proc::disk::{DiskCounters, SECTOR_BYTES};
use crate::processes::Usage;

/// A metric over the periods of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// A name that does not change, like `cpu.us`.
    pub name: String,
    /// A name for people.
    pub label: String,
    /// The unit of the values, like `%`, `KB/s` or `ms`.
    pub unit: String,
    /// `cpu`, `scheduler`, `device`, `memory`, `dbms` or `client`.
    pub group: String,
    /// One value per period; NaN if unknown.
    pub values: Vec<f64>,
}

/// Two snapshots, one after the other.
pub(super) struct Interval<'a> {
    pub(super) before: &'a Snapshot,
    pub(super) after: &'a Snapshot,
    pub(super) seconds: f64,
}

type Value = fn(&Interval) -> Option<f64>;

/// Name, label, unit, group, value. Percentages of CPU are of all cores, with nice in us and
/// interrupts in sy, as vmstat prints them.
const TABLE: &[(&str, &str, &str, &str, Value)] = &[
    ("cpu.us", "CPU in user mode", "%", "cpu", |i| i.cpu(|t| t.vmstat_user())),
    ("cpu.sy", "CPU in the kernel", "%", "cpu", |i| i.cpu(|t| t.vmstat_system())),
    ("cpu.id", "CPU idle", "%", "cpu", |i| i.cpu(|t| t.idle)),
    ("cpu.wa", "CPU idle, waiting for I/O", "%", "cpu", |i| i.cpu(|t| t.iowait)),
    ("cpu.st", "CPU taken by the hypervisor", "%", "cpu", |i| i.cpu(|t| t.steal)),
    ("cpu.irq", "CPU in interrupts (part of sy)", "%", "cpu", |i| {
        i.cpu(|t| t.irq.saturating_add(t.softirq))
    }),
    ("cpu.mhz", "clock speed of the CPUs", "MHz", "cpu", |i| i.after.mhz),
    ("sys.cs", "context switches", "1/s", "scheduler", |i| i.rate(|s| s.host?.context_switches)),
    ("sys.in", "interrupts", "1/s", "scheduler", |i| i.rate(|s| s.host?.interrupts)),
    // Without the sampler itself, which is running while it reads.
    ("sys.runq", "tasks running or ready to run", "tasks", "scheduler", |i| {
        float(i.after.host?.running?.saturating_sub(1))
    }),
    ("sys.blocked", "tasks waiting for a disk", "tasks", "scheduler", |i| {
        float(i.after.host?.blocked?)
    }),
    ("sys.pgfault", "page faults", "1/s", "scheduler", |i| i.rate(|s| s.vm.page_faults)),
    ("sys.majfault", "page faults that read from a disk", "1/s", "scheduler", |i| {
        i.rate(|s| s.vm.major_faults)
    }),
    ("sys.pswpin", "pages swapped in", "1/s", "scheduler", |i| i.rate(|s| s.vm.swapped_in)),
    ("sys.pswpout", "pages swapped out", "1/s", "scheduler", |i| i.rate(|s| s.vm.swapped_out)),
    ("psi.cpu", "time with a task waiting for a CPU", "%", "scheduler", |i| i.pressure(0)),
    ("psi.io", "time with a task waiting for I/O", "%", "scheduler", |i| i.pressure(1)),
    ("psi.mem", "time with a task waiting for memory", "%", "scheduler", |i| i.pressure(2)),
    ("dev.r", "reads", "1/s", "device", |i| i.rate(|s| Some(s.device?.reads))),
    ("dev.rkb", "read from storage", "KB/s", "device", |i| {
        Some(i.rate(|s| Some(s.device?.read_sectors))? * SECTOR_KB)
    }),
    ("dev.w", "writes", "1/s", "device", |i| i.rate(|s| Some(s.device?.writes))),
    ("dev.wkb", "written to storage", "KB/s", "device", |i| {
        Some(i.rate(|s| Some(s.device?.write_sectors))? * SECTOR_KB)
    }),
    ("dev.discard", "discards", "1/s", "device", |i| i.rate(|s| s.device?.discards)),
    ("dev.dkb", "discarded on storage", "KB/s", "device", |i| {
        Some(i.rate(|s| s.device?.discard_sectors)? * SECTOR_KB)
    }),
    ("dev.r_await", "time per read, queue included", "ms", "device", |i| {
        i.per(|d| d.read_ms, |d| d.reads)
    }),
    ("dev.w_await", "time per write, queue included", "ms", "device", |i| {
        i.per(|d| d.write_ms, |d| d.writes)
    }),
    ("dev.aqu", "requests under way", "requests", "device", |i| {
        Some(i.rate(|s| Some(s.device?.weighted_ms))? / 1000.0)
    }),
    ("dev.util", "time with a request in progress", "%", "device", |i| {
        Some((i.rate(|s| Some(s.device?.busy_ms))? / 10.0).min(100.0))
    }),
    ("mem.free", "free memory", "KB", "memory", |i| float(i.after.memory.free_kb?)),
    ("mem.available", "memory available without swapping", "KB", "memory", |i| {
        float(i.after.memory.available_kb?)
    }),
    ("mem.cached", "page cache", "KB", "memory", |i| float(i.after.memory.cached_kb?)),
    ("mem.dirty", "dirty pages", "KB", "memory", |i| float(i.after.memory.dirty_kb?)),
    ("mem.writeback", "pages being written", "KB", "memory", |i| {
        float(i.after.memory.writeback_kb?)
    }),
    ("dbms.us", "CPU of the DBMS in user mode", "ms/s", "dbms", |i| {
        Some(i.rate(|s| Some(s.dbms?.cpu?.user_us))? / 1000.0)
    }),
    ("dbms.sy", "CPU of the DBMS in the kernel", "ms/s", "dbms", |i| {
        Some(i.rate(|s| Some(s.dbms?.cpu?.system_us))? / 1000.0)
    }),
    ("dbms.cs", "context switches of the DBMS", "1/s", "dbms", |i| {
        i.rate(|s| Some(s.dbms?.tree?.switches))
    }),
    ("dbms.rss", "memory of the DBMS in RAM", "KB", "dbms", |i| float(tree(i)?.rss_bytes / 1024)),
    ("dbms.rkb", "DBMS, read from storage", "KB/s", "dbms", |i| {
        Some(i.rate(|s| Some(s.dbms?.tree?.read_bytes))? / 1024.0)
    }),
    ("dbms.wkb", "DBMS, written to storage", "KB/s", "dbms", |i| {
        Some(i.rate(|s| Some(s.dbms?.tree?.write_bytes))? / 1024.0)
    }),
    ("dbms.procs", "processes of the DBMS", "processes", "dbms", |i| {
        Some(f64::from(tree(i)?.processes))
    }),
    ("dbms.mem", "memory charged to the DBMS, page cache included", "KB", "dbms", |i| {
        float(i.after.dbms?.memory_bytes? / 1024)
    }),
    ("client.us", "CPU of the driver in user mode", "ms/s", "client", |i| {
        Some(i.rate(|s| Some(s.client?.user_us))? / 1000.0)
    }),
    ("client.sy", "CPU of the driver in the kernel", "ms/s", "client", |i| {
        Some(i.rate(|s| Some(s.client?.system_us))? / 1000.0)
    }),
    ("client.cs", "context switches of the driver", "1/s", "client", |i| {
        i.rate(|s| Some(s.client?.switches))
    }),
    ("client.rss", "memory of the driver in RAM", "KB", "client", |i| {
        float(i.after.client?.rss_bytes / 1024)
    }),
];

const SECTOR_KB: f64 = SECTOR_BYTES as f64 / 1024.0;

/// One row of values, in the order of the table.
pub(super) fn row(interval: &Interval) -> Vec<f64> {
    TABLE.iter().map(|(_, _, _, _, value)| value(interval).unwrap_or(f64::NAN)).collect()
}

/// A row of unknown values.
pub(super) fn empty_row() -> Vec<f64> {
    vec![f64::NAN; TABLE.len()]
}

/// The series of all rows, without those that are always unknown. A time per request without any
/// requests is undefined, not unknown: it stays if requests could be counted.
pub(super) fn from_rows(rows: &[Vec<f64>]) -> Vec<Series> {
    let column = |at: usize| rows.iter().map(move |row| row.get(at).copied().unwrap_or(f64::NAN));
    let known = |at: usize| column(at).any(|value| !value.is_nan());
    let counted = TABLE.iter().position(|entry| entry.0 == "dev.r").is_some_and(known);
    TABLE
        .iter()
        .enumerate()
        .filter(|(at, entry)| known(*at) || (counted && entry.0.ends_with("_await")))
        .map(|(at, (name, label, unit, group, _))| Series {
            name: (*name).to_owned(),
            label: (*label).to_owned(),
            unit: (*unit).to_owned(),
            group: (*group).to_owned(),
            values: column(at).collect(),
        })
        .collect()
}

impl Interval<'_> {
    fn cpu(&self, part: fn(&CpuTicks) -> u64) -> Option<f64> {
        let ticks = self.after.host?.cpu.since(self.before.host?.cpu);
        let total = ticks.total();
        (total > 0).then(|| part(&ticks) as f64 * 100.0 / total as f64)
    }

    fn rate(&self, counter: fn(&Snapshot) -> Option<u64>) -> Option<f64> {
        let count = counter(self.after)?.checked_sub(counter(self.before)?)?;
        (self.seconds > 0.0).then(|| count as f64 / self.seconds)
    }

    fn pressure(&self, which: usize) -> Option<f64> {
        let total = |snapshot: &Snapshot| *snapshot.pressure_us.get(which)?;
        let waited_us = total(self.after)?.checked_sub(total(self.before)?)?;
        // The kernel uses another clock for it, so slightly over 100 is possible.
        (self.seconds > 0.0).then(|| (waited_us as f64 / self.seconds / 1e4).min(100.0))
    }

    fn per(&self, time: fn(&DiskCounters) -> u64, count: fn(&DiskCounters) -> u64) -> Option<f64> {
        let (before, after) = (self.before.device?, self.after.device?);
        let count_now = count(&after).checked_sub(count(&before))?;
        let time_now = time(&after).checked_sub(time(&before))?;
        (count_now > 0).then(|| time_now as f64 / count_now as f64)
    }
}

fn tree(interval: &Interval) -> Option<Usage> {
    let GroupUse { tree, .. } = interval.after.dbms?;
    tree
}

fn float(value: u64) -> Option<f64> {
    Some(value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proc::{cpu, disk, memory};
    use std::time::Instant;

    fn snapshot(stat: &str, device: &str) -> Snapshot {
        Snapshot {
            at: Instant::now(),
            host: cpu::parse(stat),
            vm: memory::Vmstat::default(),
            pressure_us: [Some(0), None, None],
            device: disk::parse_counters(device),
            memory: memory::parse_meminfo("MemFree: 77 kB\n"),
            dbms: None,
            client: None,
            mhz: None,
        }
    }

    fn value(name: &str, row: &[f64]) -> f64 {
        row[TABLE.iter().position(|entry| entry.0 == name).unwrap()]
    }

    #[test]
    fn values_are_rates_over_the_true_length() {
        let before =
            snapshot("cpu 0 0 0 0\nctxt 100\nprocs_running 3\n", "10 0 100 50 0 0 0 0 0 0 0");
        let mut after = snapshot(
            "cpu 50 10 20 100 10 5 5 0\nctxt 1100\nprocs_running 3\n",
            "20 0 300 100 0 0 0 0 0 500 4000",
        );
        after.pressure_us = [Some(500_000), None, None];
        let interval = Interval { before: &before, after: &after, seconds: 2.0 };
        let row = row(&interval);
        for (name, expected) in [
            ("cpu.us", 30.0),
            ("cpu.sy", 15.0),
            ("cpu.id", 50.0),
            ("cpu.wa", 5.0),
            ("cpu.irq", 5.0),
            ("sys.cs", 500.0),
            ("sys.runq", 2.0),
            ("psi.cpu", 25.0),
            ("dev.r", 5.0),
            ("dev.rkb", 50.0),
            ("dev.r_await", 5.0),
            ("dev.util", 25.0),
            ("dev.aqu", 2.0),
            ("mem.free", 77.0),
        ] {
            assert!((value(name, &row) - expected).abs() < 1e-9, "{name}: {}", value(name, &row));
        }
        for unknown in ["psi.io", "dev.discard", "dev.w_await", "dbms.us", "client.us"] {
            assert!(value(unknown, &row).is_nan(), "{unknown}");
        }
    }

    #[test]
    fn series_nothing_is_known_of_are_left_out() {
        let before = snapshot("cpu 0 0 0 0", "");
        let after = snapshot("cpu 1 0 0 1", "");
        let interval = Interval { before: &before, after: &after, seconds: 1.0 };
        let series = from_rows(&[empty_row(), row(&interval)]);
        assert!(series.iter().all(|s| s.group != "device" && s.group != "dbms"));
        let user = series.iter().find(|s| s.name == "cpu.us").unwrap();
        assert!(user.values[0].is_nan());
        assert!((user.values[1] - 50.0).abs() < 1e-9);
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::HashSet<&str> = TABLE.iter().map(|entry| entry.0).collect();
        assert_eq!(names.len(), TABLE.len());
    }
}
