//! Everything that the sampler reads at one moment.

use std::sync::Arc;
use std::time::Instant;

use super::targets::{Group, Targets};
use crate::cgroup::{Cgroup, CpuTime};
use crate::clock::Clocks;
use crate::device::DeviceReader;
use crate::files::Held;
use crate::proc::cpu::{self, SystemStat};
use crate::proc::disk::DiskCounters;
use crate::proc::memory::{self, Meminfo, Vmstat};
use crate::proc::pressure::parse_some_us;
use crate::processes::own_usage;
use crate::processes::{Tree, Usage};

/// The state of all sources at one moment; `None` for what could not be read.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) at: Instant,
    pub(super) host: Option<SystemStat>,
    pub(super) vm: Vmstat,
    /// Pressure of cpu, io and memory, in µs.
    pub(super) pressure_us: [Option<u64>; 3],
    pub(super) device: Option<DiskCounters>,
    pub(super) memory: Meminfo,
    pub(super) dbms: Option<GroupUse>,
    pub(super) client: Option<Usage>,
    /// Mean clock rate of the CPUs, in MHz.
    pub(super) mhz: Option<f64>,
}

/// A group's figures at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GroupUse {
    pub(super) cpu: Option<CpuTime>,
    /// Switches, memory, I/O and numbers of processes, from the tree.
    pub(super) tree: Option<Usage>,
    pub(super) memory_bytes: Option<u64>,
}

/// The files and groups the sampler reads, kept open.
pub(super) struct Sources {
    stat: Held,
    vmstat: Held,
    meminfo: Held,
    pressure: [Held; 3],
    device: Option<DeviceReader>,
    dbms: Option<GroupSource>,
    driver: bool,
    clocks: Clocks,
    buffer: Vec<u8>,
    notes: Vec<String>,
}

struct GroupSource {
    cgroup: Option<Arc<Cgroup>>,
    tree: Option<Tree>,
}

impl Sources {
    pub(super) fn open(targets: Targets) -> Sources {
        let mut notes = Vec::new();
        let dbms = targets.dbms.map(|group| {
            let (cgroup, root) = match group {
                Group::Cgroup { cgroup, root_pid } => (Some(cgroup), root_pid),
                Group::Tree(root_pid) => (None, root_pid),
            };
            let tree =
                Tree::new(root).map_err(|error| notes.push(format!("dbms processes: {error}")));
            GroupSource { cgroup, tree: tree.ok() }
        });
        Sources {
            stat: Held::new("/proc/stat"),
            vmstat: Held::new("/proc/vmstat"),
            meminfo: Held::new("/proc/meminfo"),
            pressure: ["cpu", "io", "memory"]
                .map(|name| Held::new(format!("/proc/pressure/{name}"))),
            device: targets.device.map(DeviceReader::new),
            dbms,
            driver: targets.driver,
            clocks: Clocks::open(),
            buffer: Vec::new(),
            notes,
        }
    }

    /// Reads everything. The costs of groups come first, since their timing matters most.
    pub(super) fn snapshot(&mut self) -> Snapshot {
        let at = Instant::now();
        let buffer = &mut self.buffer;
        let notes = &mut self.notes;
        let dbms = self.dbms.as_mut().map(|source| source.read(notes));
        let client = self.driver.then(own_usage);
        if client.is_some_and(|usage| !usage.io_known) {
            note(notes, "client: the kernel denies access to this process's own byte counts");
        }
        let mut host = None;
        if let Some(text) = read_noting(&mut self.stat, buffer, notes) {
            host = cpu::parse(&text);
            if host.is_none() {
                note(
                    notes,
                    "/proc/stat: expected a cpu line with at least four numbers, found none",
                );
            }
        }
        let device = self.device.as_mut().and_then(|reader| {
            let counters = reader.read(buffer);
            if counters.is_none() {
                note(notes, "device: its counters can't be read in /sys or /proc/diskstats");
            }
            counters
        });
        let pressure_us = self
            .pressure
            .each_mut()
            .map(|file| read_noting(file, buffer, notes).and_then(|text| parse_some_us(&text)));
        let vm = read_noting(&mut self.vmstat, buffer, notes)
            .map(|text| memory::parse_vmstat(&text))
            .unwrap_or_default();
        let memory = read_noting(&mut self.meminfo, buffer, notes)
            .map(|text| memory::parse_meminfo(&text))
            .unwrap_or_default();
        // Last, because it may take a while.
        let mhz = self.clocks.mean_mhz(buffer);
        Snapshot { at, host, vm, pressure_us, device, memory, dbms, client, mhz }
    }

    /// The sources that could not be read, each reported once.
    pub(super) fn into_notes(self) -> Vec<String> {
        self.notes
    }
}

impl GroupSource {
    fn read(&mut self, notes: &mut Vec<String>) -> GroupUse {
        let mut group = GroupUse::default();
        if let Some(cgroup) = &self.cgroup {
            match cgroup.cpu() {
                Ok(time) => group.cpu = Some(time),
                Err(error) => note(notes, &format!("dbms CPU: {error}")),
            }
            group.memory_bytes = cgroup.memory_current();
        }
        if let Some(tree) = &mut self.tree {
            match tree.sample() {
                Ok(usage) => group.tree = Some(usage),
                Err(error) => note(notes, &format!("dbms processes: {error}")),
            }
        }
        if let Some(usage) = group.tree {
            if !usage.io_known {
                note(
                    notes,
                    "dbms: the kernel denies access to the byte counts of some processes; those shown are too low",
                );
            }
            if self.cgroup.is_none() {
                group.cpu = Some(CpuTime { user_us: usage.user_us, system_us: usage.system_us });
            }
        }
        group
    }
}

fn read_noting<'a>(
    file: &mut Held,
    buffer: &'a mut Vec<u8>,
    notes: &mut Vec<String>,
) -> Option<std::borrow::Cow<'a, str>> {
    match file.read(buffer) {
        Ok(text) => Some(text),
        Err(error) => {
            note(notes, &format!("{}: {error}", file.path().display()));
            None
        }
    }
}

fn note(notes: &mut Vec<String>, text: &str) {
    if !notes.iter().any(|known| known == text) {
        notes.push(text.to_owned());
    }
}
