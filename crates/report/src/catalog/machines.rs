//! The machines that experiments ran on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use store::{ExperimentId, HostFact, Purpose, Store};

use super::brief::Brief;
use crate::ReportError;
use crate::load::machine::{self, ENOUGH_TRIALS, Machine};

/// The machines of some experiments, by their names in addresses.
#[derive(Debug, Clone, Default)]
pub struct Machines {
    known: BTreeMap<String, Known>,
}

/// A machine with its facts.
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
    /// What the newest run recorded of it, or without a run, the newest experiment.
    #[cfg_attr(test, ts(as = "Vec<crate::page::types_tests::PageFact>"))]
    pub facts: Vec<HostFact>,
    /// The spread between trials in each experiment that has one, oldest first.
    pub noise: Vec<NoisePoint>,
    /// The median of these.
    pub median_noise: Option<f64>,
    /// Labels of workloads that other machines ran, too, and for which a mean over all of them
    /// would be known better without this one.
    pub too_noisy: Vec<String>,
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
    /// Reads the facts of the machines of these experiments, newest first. Those of runs count
    /// more: a count does not examine the machine.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(store: &Store, briefs: &[Brief]) -> Result<Self, ReportError> {
        let mut known = BTreeMap::new();
        let (runs, others): (Vec<&Brief>, Vec<_>) =
            briefs.iter().partition(|brief| brief.purpose == Purpose::Run.as_str());
        for brief in runs.into_iter().chain(others) {
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
                too_noisy: Vec::new(),
                glance,
            }
        };
        let mut all: Vec<MachineDocument> = self.glances(briefs).into_iter().map(of).collect();
        mark_noisy(&mut all, briefs);
        all
    }
}

/// Marks the machines that are too noisy beside the others that ran the same workload.
fn mark_noisy(all: &mut [MachineDocument], briefs: &[Brief]) {
    // By the workload: its label, and the noise of its experiments by machine.
    let mut workloads: BTreeMap<&str, (&str, BTreeMap<&str, Vec<f64>>)> = BTreeMap::new();
    for brief in briefs {
        let ([machine], Some(noise)) = (&brief.machines[..], brief.noise) else { continue };
        if !brief.history.is_empty() && brief.trials >= ENOUGH_TRIALS * brief.variants.len() {
            let (_, machines) =
                workloads.entry(&brief.history).or_insert((&brief.label, BTreeMap::new()));
            machines.entry(machine).or_default().push(noise);
        }
    }
    for (label, machines) in workloads.into_values() {
        let variance = |noise: &Vec<f64>| judge::median(noise).map_or(0.0, |noise| noise * noise);
        let variances: Vec<f64> = machines.values().map(variance).collect();
        let keys: Vec<&str> = machines.into_keys().collect();
        for place in judge::too_noisy(&variances) {
            let named = all.iter_mut().filter(|it| it.glance.key == keys[place]);
            named.for_each(|it| it.too_noisy.push(label.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_much_noisier_than_the_others_is_marked() {
        let ran = |history: &str, machine: &str, noise: f64, trials: usize| Brief {
            history: history.to_owned(),
            label: format!("label of {history}"),
            machines: vec![machine.to_owned()],
            noise: Some(noise),
            trials,
            variants: vec![Default::default(); 2],
            ..Brief::default()
        };
        let briefs = [
            ran("insert", "a", 0.01, 12),
            ran("insert", "b", 0.05, 6),
            ran("insert", "c", 0.012, 12),
            // Too few trials.
            ran("insert", "d", 0.9, 4),
            // Noisy by itself: nobody else ran it.
            ran("other", "a", 0.8, 12),
        ];
        let of = |key: &str| MachineDocument {
            glance: MachineGlance {
                key: key.to_owned(),
                name: key.to_owned(),
                experiments: 1,
                last: String::new(),
            },
            facts: Vec::new(),
            noise: Vec::new(),
            median_noise: None,
            too_noisy: Vec::new(),
        };
        let mut all: Vec<MachineDocument> = ["a", "b", "c", "d"].map(of).into();
        mark_noisy(&mut all, &briefs);
        let marked = all.iter().filter(|it| !it.too_noisy.is_empty());
        let marked: Vec<_> = marked.map(|it| (it.glance.key.as_str(), &it.too_noisy[..])).collect();
        assert_eq!(marked, [("b", &["label of insert".to_owned()][..])]);
    }
}
