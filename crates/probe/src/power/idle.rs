//! Idle states of CPUs: `cpuidle` in `/sys` (Documentation/admin-guide/pm/cpuidle.rst).

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::{read_number, read_trimmed};

/// One idle state over an interval, summed over CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct IdleState {
    /// Its name in the driver, such as `POLL`, `C1`, `C6`.
    pub name: String,
    /// Part of the CPUs' time spent in it, 0 to 1. The kernel counts a stay when it ends, so stays
    /// that cross the interval's ends blur this.
    pub share: f64,
    /// How often it was entered, on all these CPUs together.
    pub entries: u64,
}

/// Counters of all CPUs: by CPU, then by number of the state.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading(BTreeMap<usize, BTreeMap<u32, State>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    name: String,
    /// Time in it, in µs.
    time: u64,
    usage: u64,
}

impl Reading {
    /// From `/sys/devices/system/cpu`.
    pub(super) fn read(cpus: &Path) -> Reading {
        let state = |number: u32, path: &Path| {
            let name = read_trimmed(path.join("name"))?;
            let (time, usage) = (read_number(path.join("time"))?, read_number(path.join("usage"))?);
            Some((number, State { name, time, usage }))
        };
        let states = |path: &Path| -> BTreeMap<u32, State> {
            numbered(&path.join("cpuidle"), "state")
                .filter_map(|(number, path)| state(u32::try_from(number).ok()?, &path))
                .collect()
        };
        Reading(numbered(cpus, "cpu").map(|(cpu, path)| (cpu, states(&path))).collect())
    }

    /// The states that were there at both times. A CPU whose counters ran backwards was offline in
    /// between and is left out.
    pub(super) fn until(&self, later: &Reading, cpus: &[usize], seconds: f64) -> Vec<IdleState> {
        let mut sums: BTreeMap<(u32, &str), (u64, u64)> = BTreeMap::new();
        let mut counted = 0_u32;
        for cpu in cpus {
            let (Some(before), Some(after)) = (self.0.get(cpu), later.0.get(cpu)) else { continue };
            let difference = |(number, before): (&u32, &State)| {
                let after = after.get(number).filter(|after| after.name == before.name)?;
                let time = after.time.checked_sub(before.time)?;
                Some((time, after.usage.checked_sub(before.usage)?))
            };
            let differences: Option<Vec<_>> = before.iter().map(difference).collect();
            let Some(differences) = differences.filter(|list| !list.is_empty()) else { continue };
            counted += 1;
            for ((number, state), (time, usage)) in before.iter().zip(differences) {
                let sum = sums.entry((*number, &state.name)).or_default();
                *sum = (sum.0 + time, sum.1 + usage);
            }
        }
        let whole = seconds * f64::from(counted) * 1e6;
        let state = |((_, name), (time, entries)): ((u32, &str), (u64, u64))| IdleState {
            name: name.to_owned(),
            share: if whole > 0.0 { (time as f64 / whole).min(1.0) } else { 0.0 },
            entries,
        };
        sums.into_iter().map(state).collect()
    }
}

/// The directories whose names are `prefix` and a number.
fn numbered(directory: &Path, prefix: &str) -> impl Iterator<Item = (usize, std::path::PathBuf)> {
    std::fs::read_dir(directory).into_iter().flatten().flatten().filter_map(move |entry| {
        let number = entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
        Some((number, entry.path()))
    })
}
