//! Information from the kernel: host, devices, processes, cgroups, perf.
//!
//! This crate reads `/proc`, `/sys` and control groups and turns them into figures. It knows
//! nothing about databases: a "dbms" here is a process tree or control group whose costs are
//! separated from the load driver's.
//!
//! - [`host_facts`] and [`block_device_of`]: facts about the machine, recorded with every result.
//! - [`Cgroup`]: exact CPU accounting and a memory limit for a group of processes (v1, v2, hybrid).
//! - [`Tree`]: the CPU time of a process tree whose children come and go; needs no privileges.
//! - [`CpuMeter`], [`WriteMeter`]: one counter each, cheap enough for hundreds of readings a
//!   second.
//! - [`Contention`], [`RunDelay`]: what other programs use of the CPUs, and how long threads wait
//!   for one.
//! - [`perf`]: call stacks and event counts of processes, using the program `perf`.
//! - [`callgrind`]: exact counts of instructions, per function, of a program that runs under
//!   valgrind.
//! - [`Topology`]: which CPUs share a core, a cache or a NUMA node, and where to put clients and
//!   their servers.
//! - [`Power`]: idle states, clock rate and energy of an interval.
//! - [`Sampler`]: a thread that takes a row of figures every period, and exact totals.
//!
//! ```
//! use std::time::{Duration, Instant};
//! let targets = probe::Targets { device: None, dbms: None, driver: true };
//! let sampler = probe::Sampler::start(targets, Instant::now(), Duration::from_millis(20));
//! std::thread::sleep(Duration::from_millis(70));
//! let recording = sampler.stop();
//! assert!(recording.series.iter().any(|s| s.name == "cpu.us"));
//! assert!(recording.totals.seconds >= 0.07);
//! ```

pub mod callgrind;
mod cgroup;
mod clock;
mod contention;
mod device;
mod files;
mod host;
mod installed;
mod meter;
pub mod perf;
mod power;
mod proc;
mod processes;
mod sampler;
mod split;
mod throttle;
mod topology;

pub use cgroup::{Cgroup, CgroupError, CpuTime, Layout, remove_directories};
pub use contention::{Contended, Contention, Rivalry, RunDelay};
pub use device::{Device, block_device_of};
pub use host::{Fact, chosen, host_facts, processor};
pub use meter::{CpuMeter, StealMeter, WaitMeter, Waited, WriteMeter};
pub use power::{Energy, IdleState, NoEnergy, Power, PowerUse};
pub use processes::{Tree, TreeError, Usage, members, this_thread_us};
pub use sampler::{
    DeviceTotals, Group, GroupTotals, HostTotals, PageCache, Recording, Sampler, Series, Targets,
    Totals,
};
pub use throttle::{Throttle, throttle_counts};
pub use topology::{Cpu, Impossible, Pair, Pinning, Topology};

/// Dirty pages waiting to be written plus pages being written (Dirty + Writeback of
/// `/proc/meminfo`), in KiB.
///
/// # Errors
/// If `/proc/meminfo` cannot be read or does not have these lines.
pub fn dirty_pages_kb() -> std::io::Result<u64> {
    let text = std::fs::read_to_string("/proc/meminfo")?;
    let memory = proc::memory::parse_meminfo(&text);
    match (memory.dirty_kb, memory.writeback_kb) {
        (Some(dirty), Some(writeback)) => Ok(dirty + writeback),
        _ => Err(std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            "expected the lines Dirty and Writeback in /proc/meminfo, found at most one of them",
        )),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn dirty_pages_are_readable() {
        assert!(super::dirty_pages_kb().unwrap() < 1 << 40);
    }
}
