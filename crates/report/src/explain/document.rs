//! The output of `explain --format json`.
//!
//! Every key is always there; unknown values are `null`. Shares are fractions of 1, not rounded.

use std::collections::{BTreeMap, BTreeSet};

use plan::StepKey;
use serde::{Deserialize, Serialize};

use metrics::{EVENT, EVENTS};

use super::options::ExplainOptions;
use super::shifts::ExplainedShift;
use crate::compare::document::{Costs, costs};
use crate::judging::figures::absolute;
use crate::load::model::Results;
use crate::load::plans::ExplainedPlan;
use crate::profiles::{Children, ExplainedMove, Folded, StepProfiles, children, facts, moved};

/// Version of the shape; it grows when a key is removed or changes its meaning.
pub const FORMAT: u32 = 2;

/// A callee is shown if it has at least this share of its caller's samples in any variant.
const LEAST: f64 = 0.005;

/// A whole explanation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainDocument {
    /// Version of this shape: 2.
    pub format: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the variant that the others are compared with.
    pub base: String,
    /// The function whose callees are shown.
    pub parent: String,
    /// The step asked for, or those with profiles, in order of execution.
    pub steps: Vec<ExplainedStep>,
}

/// One step at one number of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedStep {
    /// Name, number of clients and labels.
    #[serde(flatten)]
    pub key: StepKey,
    /// Its name in tables, with the number of clients if there are several.
    pub label: String,
    /// The unit of its operations: `rows` or `queries`.
    pub unit: String,
    /// Every variant, the base first.
    pub variants: Vec<ExplainedVariant>,
    /// The conclusion about each variant except the base, in a sentence.
    pub conclusion: BTreeMap<String, String>,
    /// For each variant except the base, how the state in which the step began differs, the most
    /// certain first.
    pub start: BTreeMap<String, Vec<ExplainedShift>>,
    /// For each variant except the base, the DBMS's counters per operation that differ, the most
    /// certain first.
    pub counters: BTreeMap<String, Vec<ExplainedShift>>,
    /// For each variant except the base, the statements that it executes by another plan.
    pub plans: BTreeMap<String, Vec<ExplainedPlan>>,
    /// Callees of the parent, those with the most samples first.
    pub children: Vec<ExplainedChild>,
    /// The functions whose share moved most, for each variant except the base.
    pub moved: BTreeMap<String, Vec<ExplainedMove>>,
}

impl ExplainedStep {
    /// The entries of `all` that belong to variants of the step, in the order of the variants.
    pub(crate) fn in_order<'a, T>(
        &'a self,
        all: &'a BTreeMap<String, T>,
    ) -> impl Iterator<Item = (&'a str, &'a T)> {
        self.variants
            .iter()
            .filter_map(|variant| Some((variant.name.as_str(), all.get(&variant.name)?)))
    }
}

/// One variant in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedVariant {
    /// Name.
    pub name: String,
    /// Trials with a profile.
    pub trials: usize,
    /// Samples in all profiles.
    pub samples: u64,
    /// Share of the samples with the parent in their stack.
    pub in_parent: Option<f64>,
    /// The share of these samples in each phase of a statement and in `other`; `null` unless the
    /// parent is the function that executes clients' statements.
    pub phases: Option<BTreeMap<String, f64>>,
    /// Throughput and costs per operation, geometric means over the blocks.
    pub costs: Costs<Option<f64>>,
    /// Events per operation by perf's names, geometric means over the blocks; without events that
    /// the machine can't count.
    pub events: BTreeMap<String, f64>,
}

/// A function that the parent called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedChild {
    /// The function; the parent's own name stands for samples in the parent itself.
    pub function: String,
    /// Share of the parent's samples by variant, in the order of `variants`; `null` without a
    /// profile.
    pub shares: Vec<Option<f64>>,
}

pub(super) fn document(
    results: &Results,
    profiles: &[StepProfiles],
    base: usize,
    options: &ExplainOptions,
) -> ExplainDocument {
    ExplainDocument {
        format: FORMAT,
        experiment: results.experiment.name.clone(),
        base: results.variant_name(base).to_owned(),
        parent: parent(results, base, options),
        steps: profiles.iter().filter_map(|one| step(results, one, base, options)).collect(),
    }
}

pub(crate) fn step(
    results: &Results,
    profiles: &StepProfiles,
    base: usize,
    options: &ExplainOptions,
) -> Option<ExplainedStep> {
    let step = results.steps.get(profiles.step)?;
    let mut order: Vec<usize> = (0..step.variants.len()).collect();
    order.sort_by_key(|place| *place != base);
    let empty = Folded::default();
    let folded = |place: usize| profiles.variants.get(place).unwrap_or(&empty);
    let shown = |place: usize, metric: &str| absolute(step, base, place, metric);
    let parent = &parent(results, base, options);
    let worker = |place: usize| facts(results, place).filter(|facts| facts.worker == parent);
    let of_parent: Vec<_> =
        order.iter().map(|place| children(folded(*place), parent, worker(*place))).collect();
    let variants = order.iter().zip(&of_parent).map(|(place, found)| {
        let samples = folded(*place).samples();
        let phases = worker(*place).filter(|_| found.samples > 0);
        ExplainedVariant {
            name: results.variant_name(*place).to_owned(),
            trials: profiles.trials.get(*place).copied().unwrap_or(0),
            samples,
            in_parent: (samples > 0).then(|| found.samples as f64 / samples as f64),
            phases: phases.map(|worker| found.phases(worker)),
            costs: costs(|metric| shown(*place, metric)),
            events: EVENTS
                .iter()
                .filter_map(|event| Some(((*event).to_owned(), shown(*place, &EVENT.of(event))?)))
                .collect(),
        }
    });
    let variants: Vec<_> = variants.collect();
    let moves = |place: &usize| {
        let cpu = |place: usize| shown(place, metrics::DBMS_CPU.name);
        let cpu = cpu(base).zip(cpu(*place));
        let mut moves = moved(folded(base), folded(*place), cpu);
        moves.truncate(options.functions);
        (results.variant_name(*place).to_owned(), moves)
    };
    Some(ExplainedStep {
        key: step.key.clone(),
        label: results.step_label(step),
        unit: step.unit.clone(),
        conclusion: BTreeMap::new(),
        start: BTreeMap::new(),
        counters: BTreeMap::new(),
        plans: BTreeMap::new(),
        children: callees(&of_parent, parent),
        moved: order
            .iter()
            .filter(|place| **place != base)
            .map(moves)
            .filter(|(_, moves)| !moves.is_empty())
            .collect(),
        variants,
    })
}

/// The function whose callees are shown; by default the one in which the base works.
pub(crate) fn parent(results: &Results, base: usize, options: &ExplainOptions) -> String {
    let worker = || facts(results, base).map_or("main", |facts| facts.worker).to_owned();
    options.parent.clone().unwrap_or_else(worker)
}

/// The callees worth showing, those with the largest share first.
fn callees(found: &[Children], parent: &str) -> Vec<ExplainedChild> {
    let names: BTreeSet<&String> = found.iter().flat_map(|one| one.by_callee.keys()).collect();
    let child = |name: &str, share: &dyn Fn(&Children) -> f64| ExplainedChild {
        function: name.to_owned(),
        shares: found.iter().map(|one| (one.samples > 0).then(|| share(one))).collect(),
    };
    let mut all: Vec<_> =
        names.into_iter().map(|name| child(name, &|one| one.share_of(name))).collect();
    all.push(child(parent, &|one| one.share(one.own)));
    let largest = |child: &ExplainedChild| child.shares.iter().flatten().fold(0.0, |a, b| b.max(a));
    all.retain(|child| largest(child) >= LEAST);
    all.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    all
}
