//! Which logical CPUs share a core, an L3 cache and a NUMA node, and where to put clients and
//! their servers.
//!
//! [`Topology::here`] reads the machine, restricted to the CPUs this thread may use.
//! [`Topology::place`] draws CPUs for pairs of a client thread and the process that serves it.
//! Information that the kernel doesn't give is absent: a virtual machine often has no L3 caches.
//!
//! ```
//! let topology = probe::Topology::here()?;
//! for pinning in topology.possible() {
//!     // Any uniform generator over 0..bound.
//!     let pairs = topology.place(pinning, 2, &mut |bound| bound / 2)?;
//!     assert_eq!(pairs.len(), 2);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod list;
mod place;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::files::{read_number, read_trimmed};

pub use place::{Impossible, Pair, Pinning};

/// A logical CPU. Cores, caches and nodes have numbers that are unique on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// The kernel's number of the CPU.
    pub number: usize,
    /// Its core: the lowest number of the CPUs that are its hardware threads. `None` if the kernel
    /// doesn't say.
    pub core: Option<usize>,
    /// Its socket (`physical_package_id`).
    pub socket: Option<usize>,
    /// Its L3 cache: the lowest number of the CPUs that share it. AMD calls them a core complex,
    /// CCX.
    pub ccx: Option<usize>,
    /// Its NUMA node.
    pub node: Option<usize>,
}

/// The logical CPUs that may be used, by ascending number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    cpus: Vec<Cpu>,
}

impl Topology {
    /// The CPUs that the calling thread may use.
    ///
    /// # Errors
    /// If the kernel doesn't tell the thread's CPUs.
    pub fn here() -> io::Result<Topology> {
        let set = sched_getaffinity(Pid::from_raw(0))?;
        let allowed = (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu) == Ok(true));
        Ok(Topology::read(Path::new("/sys"), &allowed.collect::<Vec<_>>()))
    }

    /// The CPUs that are `allowed` and online, from `sys`, which is `/sys` or a copy of it.
    pub fn read(sys: &Path, allowed: &[usize]) -> Topology {
        let directory = sys.join("devices/system/cpu");
        // Without the list (fixtures, very old kernels), a CPU that has a directory is online.
        let online = list_in(&directory.join("online"));
        let is_online = |number: &usize| match &online {
            Some(online) => online.binary_search(number).is_ok(),
            None => directory.join(format!("cpu{number}")).is_dir(),
        };
        let nodes = nodes(&sys.join("devices/system/node"));
        let cpu = |number: usize| {
            let own = directory.join(format!("cpu{number}"));
            let socket = index_in(&own.join("topology/physical_package_id"));
            let siblings = list_in(&own.join("topology/thread_siblings_list"));
            Cpu {
                number,
                core: siblings.and_then(|list| list.first().copied()),
                socket,
                ccx: third_level(&own.join("cache")),
                node: nodes.get(&number).copied(),
            }
        };
        let mut numbers: Vec<usize> = allowed.iter().copied().filter(is_online).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut topology = Topology { cpus: numbers.into_iter().map(cpu).collect() };
        topology.name_cores_by_id(&directory);
        topology
    }

    /// From known CPUs.
    pub fn new(mut cpus: Vec<Cpu>) -> Topology {
        cpus.sort_unstable_by_key(|cpu| cpu.number);
        cpus.dedup_by_key(|cpu| cpu.number);
        Topology { cpus }
    }

    /// All CPUs, by ascending number.
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// CPUs whose siblings are unknown get their core by socket and `core_id`, which is unique
    /// within a socket.
    fn name_cores_by_id(&mut self, directory: &Path) {
        let mut first = BTreeMap::new();
        for cpu in self.cpus.iter_mut().filter(|cpu| cpu.core.is_none()) {
            let id = directory.join(format!("cpu{}/topology/core_id", cpu.number));
            if let (Some(socket), Some(id)) = (cpu.socket, index_in(&id)) {
                cpu.core = Some(*first.entry((socket, id)).or_insert(cpu.number));
            }
        }
    }

    /// The CPUs of each core, cache or node. A CPU whose group is unknown is left out.
    fn grouped(&self, by: impl Fn(&Cpu) -> Option<usize>) -> Vec<Vec<Cpu>> {
        let mut groups: BTreeMap<usize, Vec<Cpu>> = BTreeMap::new();
        for cpu in &self.cpus {
            if let Some(group) = by(cpu) {
                groups.entry(group).or_default().push(*cpu);
            }
        }
        groups.into_values().collect()
    }
}

/// The L3 cache of a CPU, by the lowest CPU that shares it.
fn third_level(cache: &Path) -> Option<usize> {
    std::fs::read_dir(cache).ok()?.flatten().find_map(|entry| {
        let index = entry.path();
        let wanted = read_number(index.join("level")) == Some(3)
            && read_trimmed(index.join("type")).is_none_or(|kind| kind != "Instruction");
        if !wanted {
            return None;
        }
        list_in(&index.join("shared_cpu_list"))?.first().copied()
    })
}

/// The node of each CPU.
fn nodes(directory: &Path) -> BTreeMap<usize, usize> {
    let mut nodes = BTreeMap::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("node")?.parse().ok());
        let cpus = list_in(&entry.path().join("cpulist"));
        if let (Some(number), Some(cpus)) = (number, cpus) {
            nodes.extend(cpus.into_iter().map(|cpu| (cpu, number)));
        }
    }
    nodes
}

fn list_in(path: &Path) -> Option<Vec<usize>> {
    list::parse(&read_trimmed(path)?)
}

/// A number that isn't negative: some virtual machines have the socket -1.
fn index_in(path: &Path) -> Option<usize> {
    read_number(path).and_then(|number| usize::try_from(number).ok())
}
