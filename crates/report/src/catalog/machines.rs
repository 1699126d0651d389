//! The machines that experiments ran on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use store::{ExperimentId, HostFact, Store};

use super::brief::Brief;
use crate::ReportError;
use crate::load::machine::{self, Machine};

/// The machines of some experiments, by their names in addresses.
#[derive(Debug, Clone, Default)]
pub struct Machines {
    known: BTreeMap<String, Known>,
}

/// A machine with the facts that the newest experiment recorded.
#[derive(Debug, Clone)]
struct Known {
    machine: Machine,
    facts: Vec<HostFact>,
}

/// A machine by its names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MachineGlance {
    /// Name in addresses.
    pub key: String,
    /// Name in tables.
    pub name: String,
    /// Number of experiments.
    pub experiments: usize,
    /// When the newest began, RFC 3339.
    pub last: String,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MachineDocument {
    /// Its names.
    #[serde(flatten)]
    pub glance: MachineGlance,
    /// What the newest experiment recorded of it.
    #[cfg_attr(test, ts(as = "Vec<crate::page::types_tests::PageFact>"))]
    pub facts: Vec<HostFact>,
    /// The spread between trials in each experiment that has one, oldest first.
    pub noise: Vec<NoisePoint>,
    /// The median of these.
    pub median_noise: Option<f64>,
    /// True if a mean over all machines would be known better without it.
    pub too_noisy: bool,
}

/// The spread between the trials of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NoisePoint {
    /// Number of the experiment.
    pub experiment: i64,
    /// When it began, RFC 3339.
    pub started: String,
    /// As [`Brief::noise`].
    pub noise: f64,
}

impl Machines {
    /// Reads the facts of the machines of these experiments, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(store: &Store, briefs: &[Brief]) -> Result<Self, ReportError> {
        let mut known = BTreeMap::new();
        for brief in briefs {
            if brief.machines.iter().all(|key| known.contains_key(key)) {
                continue;
            }
            let id = ExperimentId(brief.id);
            let mut sets = vec![store.host_facts(id)?];
            sets.extend(store.trial_hosts(id)?.into_iter().map(|(facts, _)| facts));
            for facts in sets {
                let machine = Machine::of(&facts);
                let key = machine.key();
                if brief.machines.contains(&key) {
                    known.entry(key).or_insert(Known { machine, facts });
                }
            }
        }
        Ok(Self { known })
    }

    /// The machines by their names, those with the newest experiments first.
    pub(super) fn glances(&self, briefs: &[Brief]) -> Vec<MachineGlance> {
        let machines: Vec<Machine> = self.known.values().map(|it| it.machine.clone()).collect();
        let of = |(key, name): (&String, String)| {
            let ran: Vec<&Brief> = briefs.iter().filter(|it| it.machines.contains(key)).collect();
            let last = ran.first().map(|brief| brief.started.clone()).unwrap_or_default();
            MachineGlance { key: key.clone(), name, experiments: ran.len(), last }
        };
        let mut all: Vec<MachineGlance> =
            self.known.keys().zip(machine::names(&machines)).map(of).collect();
        all.sort_by(|one, other| (&other.last, &one.name).cmp(&(&one.last, &other.name)));
        all
    }

    /// The same with facts and noise.
    pub(super) fn documents(&self, briefs: &[Brief]) -> Vec<MachineDocument> {
        let of = |glance: MachineGlance| {
            let ran = briefs.iter().rev().filter(|brief| brief.machines == [glance.key.clone()]);
            let noise = ran.filter_map(|brief| {
                let (experiment, started) = (brief.id, brief.started.clone());
                Some(NoisePoint { experiment, started, noise: brief.noise? })
            });
            let noise: Vec<NoisePoint> = noise.collect();
            let values: Vec<f64> = noise.iter().map(|point| point.noise).collect();
            let facts = self.known.get(&glance.key).map(|known| known.facts.clone());
            MachineDocument {
                facts: facts.unwrap_or_default(),
                noise,
                median_noise: judge::median(&values),
                too_noisy: false,
                glance,
            }
        };
        let mut all: Vec<MachineDocument> = self.glances(briefs).into_iter().map(of).collect();
        mark_noisy(&mut all);
        all
    }
}

/// Marks the machines that are too noisy beside the others.
fn mark_noisy(all: &mut [MachineDocument]) {
    let known = all.iter().enumerate().filter_map(|(place, it)| Some((place, it.median_noise?)));
    let (places, noise): (Vec<usize>, Vec<f64>) = known.unzip();
    let variances: Vec<f64> = noise.iter().map(|noise| noise * noise).collect();
    for named in judge::too_noisy(&variances) {
        all[places[named]].too_noisy = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_much_noisier_than_the_others_is_marked() {
        let of = |(key, median_noise): (&str, Option<f64>)| MachineDocument {
            glance: MachineGlance {
                key: key.to_owned(),
                name: key.to_owned(),
                experiments: 1,
                last: String::new(),
            },
            facts: Vec::new(),
            noise: Vec::new(),
            median_noise,
            too_noisy: false,
        };
        let noise = [("new", None), ("a", Some(0.01)), ("b", Some(0.05)), ("c", Some(0.012))];
        let mut all: Vec<MachineDocument> = noise.into_iter().map(of).collect();
        mark_noisy(&mut all);
        let marked = all.iter().filter(|it| it.too_noisy).map(|it| it.glance.key.as_str());
        assert_eq!(marked.collect::<Vec<_>>(), ["b"]);
    }
}
