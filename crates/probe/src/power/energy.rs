//! Energy counted by the processor (RAPL), from `/sys/class/powercap`
//! (Documentation/power/powercap/powercap.rst). AMD's counters have the same names.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::files::{read_number, read_trimmed};

/// Energy of one domain over an interval. Domains contain each other, so they must not be summed.
#[derive(Debug, Clone, PartialEq)]
pub struct Energy {
    /// `package-0`, or with its parent `package-0/core`; `psys` is the whole platform.
    pub domain: String,
    /// In joules. The counter wraps around, with a full load after minutes to hours; more than one
    /// wrap in an interval goes unnoticed.
    pub joules: f64,
}

/// Why there is no energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoEnergy {
    /// No counters.
    #[error("found no energy counters in /sys/class/powercap (usual in virtual machines)")]
    Missing,
    /// This user may not read it.
    #[error("energy counters in /sys/class/powercap can be read only by root; run as root")]
    NotPermitted,
}

/// Domains by their directory's name.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading(BTreeMap<String, Counter>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Counter {
    domain: String,
    /// In µJ.
    energy: u64,
    /// The value after which it starts again at 0, in µJ.
    highest: Option<u64>,
}

impl Reading {
    /// From `/sys/class/powercap`.
    pub(super) fn read(powercap: &Path) -> Result<Reading, NoEnergy> {
        let mut found = BTreeMap::new();
        let mut denied = false;
        for entry in std::fs::read_dir(powercap).into_iter().flatten().flatten() {
            let directory = entry.file_name().to_string_lossy().into_owned();
            // `intel-rapl-mmio:0` would be the same energy again.
            if !directory.starts_with("intel-rapl:") {
                continue;
            }
            let path = entry.path();
            let energy = std::fs::read_to_string(path.join("energy_uj"));
            denied |=
                energy.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
            let energy = energy.ok().and_then(|text| text.trim().parse().ok());
            let (Some(energy), Some(name)) = (energy, read_trimmed(path.join("name"))) else {
                continue;
            };
            // A part is named within its package: `intel-rapl:0:1` within `intel-rapl:0`.
            let parent = directory.rsplit_once(':').map(|(parent, _)| powercap.join(parent));
            let parent = parent.and_then(|parent| read_trimmed(parent.join("name")));
            let domain = parent.map_or(name.clone(), |parent| format!("{parent}/{name}"));
            let highest = read_number(path.join("max_energy_range_uj"));
            found.insert(directory, Counter { domain, energy, highest });
        }
        match (found.is_empty(), denied) {
            (false, _) => Ok(Reading(found)),
            (true, true) => Err(NoEnergy::NotPermitted),
            (true, false) => Err(NoEnergy::Missing),
        }
    }

    /// Energy of the domains that were there at both times.
    pub(super) fn until(&self, later: &Reading) -> Vec<Energy> {
        let energy = |(directory, before): (&String, &Counter)| {
            let after = later.0.get(directory).filter(|after| after.domain == before.domain)?;
            let used = match after.energy.checked_sub(before.energy) {
                Some(used) => used,
                None => before.highest?.checked_sub(before.energy)?.checked_add(after.energy)?,
            };
            Some(Energy { domain: before.domain.clone(), joules: used as f64 / 1e6 })
        };
        self.0.iter().filter_map(energy).collect()
    }
}
