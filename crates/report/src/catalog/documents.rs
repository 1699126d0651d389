//! The documents about many experiments. All are functions of briefs, newest first.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::brief::Brief;
use super::machines::{MachineDocument, MachineGlance, Machines};
use crate::history::Order;

/// Version of the shapes; it grows when a key is removed or changes its meaning.
pub(super) const FORMAT: u32 = 1;
/// Experiments with something confirmed that an overview shows.
const FOUND: usize = 30;
/// Experiments that an overview lists.
const LATEST: usize = 15;

/// What needs a look, the machines, the last experiments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OverviewDocument {
    /// Version of this shape: 1.
    pub format: u32,
    /// Number of experiments in all.
    pub experiments: usize,
    /// The newest with confirmed regressions or improvements, failed queries or wrong results.
    pub found: Vec<Brief>,
    /// Number of experiments that have any.
    pub found_in: usize,
    /// The machines, those with the newest experiments first.
    pub machines: Vec<MachineGlance>,
    /// The newest experiments.
    pub latest: Vec<Brief>,
}

/// All experiments, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExperimentsDocument {
    /// Version of this shape: 1.
    pub format: u32,
    /// The machines that briefs name.
    pub machines: Vec<MachineGlance>,
    /// Without what moved.
    pub experiments: Vec<Brief>,
}

/// The machines, those with the newest experiments first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MachinesDocument {
    /// Version of this shape: 1.
    pub format: u32,
    /// The machines.
    pub machines: Vec<MachineDocument>,
}

/// The histories that there are, those with the newest experiments first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoriesDocument {
    /// Version of this shape: 1.
    pub format: u32,
    /// The histories.
    pub histories: Vec<HistoryEntry>,
}

/// Experiments with one workload on one machine, which can be followed over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryEntry {
    /// Name of the workload in addresses.
    pub workload: String,
    /// Its name in tables.
    pub label: String,
    /// Name of the machine in addresses.
    pub machine: String,
    /// Its name in tables.
    pub machine_name: String,
    /// Their numbers, newest first.
    pub experiments: Vec<i64>,
    /// When the newest began, RFC 3339.
    pub last: String,
    /// Orders in which it can be shown: `version` if any system has several, `date`.
    pub orders: Vec<String>,
    /// Metrics that it can show.
    pub metrics: Vec<HistoryMetric>,
}

/// A metric of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryMetric {
    /// Its name, such as `o/s`.
    pub name: String,
    /// Its name in addresses.
    pub key: String,
    /// Its meaning in a few words.
    pub meaning: String,
}

/// The overview.
pub fn overview(briefs: &[Brief], machines: &Machines) -> OverviewDocument {
    let unseen = |brief: &&Brief| brief.moved.iter().any(|it| it.noted.is_none());
    let found = || briefs.iter().filter(|brief| unseen(brief) || brief.wrong > 0);
    OverviewDocument {
        format: FORMAT,
        experiments: briefs.len(),
        found: found().take(FOUND).cloned().collect(),
        found_in: found().count(),
        machines: machines.glances(briefs),
        latest: briefs.iter().take(LATEST).map(listed).collect(),
    }
}

/// The list of experiments.
pub fn experiments(briefs: &[Brief], machines: &Machines) -> ExperimentsDocument {
    ExperimentsDocument {
        format: FORMAT,
        machines: machines.glances(briefs),
        experiments: briefs.iter().map(listed).collect(),
    }
}

/// The machines.
pub fn machines(briefs: &[Brief], machines: &Machines) -> MachinesDocument {
    MachinesDocument { format: FORMAT, machines: machines.documents(briefs) }
}

/// The histories. Experiments over several machines belong to those of each.
pub fn histories(briefs: &[Brief], machines: &Machines) -> HistoriesDocument {
    let glances = machines.glances(briefs);
    let names: BTreeMap<&str, &str> =
        glances.iter().map(|it| (it.key.as_str(), it.name.as_str())).collect();
    let mut groups: Vec<((&str, &str), Vec<&Brief>)> = Vec::new();
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for brief in briefs.iter().filter(|it| !it.metrics.is_empty() && !it.history.is_empty()) {
        for machine in &brief.machines {
            let key = (brief.history.as_str(), machine.as_str());
            let place = *places.entry(key).or_insert_with(|| {
                groups.push((key, Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(brief);
        }
    }
    let entry = |((workload, machine), group): ((&str, &str), Vec<&Brief>)| HistoryEntry {
        workload: workload.to_owned(),
        label: group.first().map(|brief| brief.label.clone()).unwrap_or_default(),
        machine: machine.to_owned(),
        machine_name: names.get(machine).map_or_else(String::new, |name| (*name).to_owned()),
        experiments: group.iter().map(|brief| brief.id).collect(),
        last: group.first().map(|brief| brief.started.clone()).unwrap_or_default(),
        orders: orders(&group).into_iter().map(|order| order.as_str().to_owned()).collect(),
        metrics: followed(&group),
    };
    HistoriesDocument { format: FORMAT, histories: groups.into_iter().map(entry).collect() }
}

/// By version if any system was measured in several; by date if there are several experiments.
fn orders(group: &[&Brief]) -> Vec<Order> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for variant in group.iter().flat_map(|brief| &brief.variants) {
        if crate::history::Version::of(&variant.version).is_some() {
            versions.entry(&variant.system).or_default().insert(&variant.version);
        }
    }
    let mut orders = Vec::new();
    if versions.values().any(|versions| versions.len() > 1) {
        orders.push(Order::Version);
    }
    if group.len() > 1 || orders.is_empty() {
        orders.push(Order::Date);
    }
    orders
}

fn followed(group: &[&Brief]) -> Vec<HistoryMetric> {
    let known: BTreeSet<&str> =
        group.iter().flat_map(|brief| &brief.metrics).map(String::as_str).collect();
    let all = [&metrics::OPS].into_iter().chain(metrics::COSTS);
    let metric = |metric: &metrics::Metric| HistoryMetric {
        name: metric.name.to_owned(),
        key: metric.name.replace('/', "-per-"),
        meaning: metric.meaning.to_owned(),
    };
    all.filter(|metric| known.contains(metric.name)).map(metric).collect()
}

/// A row of a list: without what only an overview and the histories need.
fn listed(brief: &Brief) -> Brief {
    Brief { moved: Vec::new(), metrics: Vec::new(), ..brief.clone() }
}
