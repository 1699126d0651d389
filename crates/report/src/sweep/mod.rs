//! Sweeps: steps of one name that an experiment measured with several numbers of clients. The
//! dimensions of a sweep are the labels of its steps; a line is a variant with one value of each
//! dimension.

mod cliffs;
mod document;
mod estimate;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use plan::Labels;

use crate::load::model::{Results, StepResults};
use crate::output::table::distinct;

pub use document::{
    CliffDocument, SweepDocument, SweepFigure, SweepLineDocument, SweepPointDocument,
};
pub use shape::DimensionDocument;

pub(crate) use document::documents;
pub(crate) use estimate::Estimate;
pub(crate) use shape::{Line, Subject, Sweep, words};

/// A name measured with fewer numbers of clients has no curve.
const FEWEST_CLIENTS: usize = 3;

/// The sweeps of an experiment, in order of appearance.
pub(crate) fn sweeps(results: &Results) -> Vec<Sweep> {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, step) in results.steps.iter().enumerate() {
        if !step.warm_up && !step.prepares {
            by_name.entry(&step.key.name).or_default().push(place);
        }
    }
    let mut found: Vec<(usize, Sweep)> =
        by_name.values().filter_map(|steps| Some((*steps.first()?, of(results, steps)?))).collect();
    found.sort_by_key(|(first, _)| *first);
    found.into_iter().map(|(_, sweep)| sweep).collect()
}

/// The sweep that these steps of one name make; `None` if they have too few numbers of clients.
fn of(results: &Results, places: &[usize]) -> Option<Sweep> {
    let step = |place: &usize| results.steps.get(*place);
    let steps: Vec<&StepResults> = places.iter().filter_map(step).collect();
    let clients: BTreeSet<u32> = steps.iter().map(|step| step.key.dop).collect();
    if clients.len() < FEWEST_CLIENTS {
        return None;
    }
    let clients: Vec<u32> = clients.into_iter().collect();
    let measured = steps.iter().find(|step| !step.unit.is_empty()).or(steps.first())?;
    let names: BTreeSet<&String> = steps.iter().flat_map(|step| step.key.labels.keys()).collect();
    let dimension = |name: &&String| {
        let mut dimension = DimensionDocument { name: (*name).clone(), values: Vec::new() };
        let values = steps.iter().map(|step| dimension.of(&step.key.labels).to_owned());
        dimension.values = distinct(values);
        dimension
    };
    let mut by_labels: Vec<(&Labels, Vec<Option<usize>>)> = Vec::new();
    let mut known: BTreeMap<&Labels, usize> = BTreeMap::new();
    for (step, place) in steps.iter().zip(places) {
        let line = *known.entry(&step.key.labels).or_insert_with(|| {
            by_labels.push((&step.key.labels, vec![None; clients.len()]));
            by_labels.len() - 1
        });
        if let Ok(at) = clients.binary_search(&step.key.dop) {
            by_labels[line].1[at] = Some(*place);
        }
    }
    let lines = by_labels.iter().flat_map(|(labels, steps)| {
        (0..results.variants.len()).map(|variant| Line {
            variant,
            labels: (*labels).clone(),
            steps: steps.clone(),
            cliffs: Vec::new(),
        })
    });
    let mut sweep = Sweep {
        name: measured.key.name.clone(),
        unit: measured.unit.clone(),
        class: measured.class.clone(),
        dimensions: names.iter().map(dimension).collect(),
        lines: lines.collect(),
        one_server: steps.windows(2).all(|pair| pair[0].sequence == pair[1].sequence),
        clients,
        notes: Vec::new(),
    };
    cliffs::look(results, &mut sweep);
    Some(sweep)
}
