//! The parts of a sweep: dimensions, lines, and falls of its lines.

use std::collections::BTreeSet;

use judge::{Cliff, median};
use metrics::{COSTS, EVENTS, LATENCIES, Metric, OPS, SCHEDULER_EVENTS};
use plan::Labels;
use serde::{Deserialize, Serialize};

use super::estimate::{Estimate, estimate};
use crate::load::model::{Results, VariantStep};
use crate::output::number::{changes, signed};

/// The steps of one name over the number of clients.
#[derive(Debug, Clone)]
pub(crate) struct Sweep {
    /// Name of the steps.
    pub(crate) name: String,
    /// The unit of its operations.
    pub(crate) unit: String,
    /// The class of statements that an operation is.
    pub(crate) class: String,
    /// The dimensions that vary besides the number of clients, by name.
    pub(crate) dimensions: Vec<DimensionDocument>,
    /// The numbers of clients, ascending.
    pub(crate) clients: Vec<u32>,
    /// The values of the dimensions in order of appearance, each with all variants.
    pub(crate) lines: Vec<Line>,
    /// True if a trial measured all its points on one server. Its points are then shown here rather
    /// than among the other steps.
    pub(crate) one_server: bool,
    /// Why there may be falls of throughput that were not looked for.
    pub(crate) notes: Vec<String>,
}

/// A label of the steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "PageDimension"))]
pub struct DimensionDocument {
    /// Its name, such as `pinning`.
    pub name: String,
    /// Its values in order of appearance.
    pub values: Vec<String>,
}

/// A variant with one value of each dimension.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Index of the variant.
    pub(crate) variant: usize,
    pub(crate) labels: Labels,
    /// For each number of clients, the index of its step.
    pub(crate) steps: Vec<Option<usize>>,
    /// Where its throughput falls.
    pub(crate) cliffs: Vec<Cliff>,
}

/// The subject of a metric of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Subject {
    /// Response times.
    Latency,
    /// Costs per operation.
    Operation,
    /// Events that perf counted.
    Event,
    /// The machine, or the step as a whole.
    Other,
}

/// `from 22 to 24 clients −31.0% (95% interval −35.2% to −27.1%); recovers at 100`.
pub(crate) fn words(&Cliff { from, to, ratio, low, high, recovers }: &Cliff) -> String {
    let recovers = match recovers {
        Some(clients) => format!("recovers at {clients}"),
        None => "does not recover".to_owned(),
    };
    format!(
        "from {from} to {to} clients {} (95% interval {}); {recovers}",
        signed(ratio - 1.0),
        changes(low, high)
    )
}

impl DimensionDocument {
    /// Its value among these labels; empty for steps without it.
    pub(super) fn of<'a>(&self, labels: &'a Labels) -> &'a str {
        labels.get(&self.name).map_or("", String::as_str)
    }
}

impl Sweep {
    /// True if a step is one of its points.
    pub(crate) fn has(&self, step: usize) -> bool {
        self.lines.iter().any(|line| line.steps.contains(&Some(step)))
    }

    /// The dimensions with several values.
    pub(crate) fn varied(&self) -> impl Iterator<Item = &DimensionDocument> {
        self.dimensions.iter().filter(|dimension| dimension.values.len() > 1)
    }

    /// A line in a sentence: `pg16, pinning=random, pipeline=5`.
    pub(crate) fn full_name(&self, results: &Results, line: &Line) -> String {
        let values = self.varied().map(|it| format!("{}={}", it.name, it.of(&line.labels)));
        let variant = results.variant_name(line.variant).to_owned();
        std::iter::once(variant).chain(values).collect::<Vec<_>>().join(", ")
    }

    /// A line as the heading of a column: `random`, `pg16 random pipeline=5`.
    pub(crate) fn line_name(&self, results: &Results, line: &Line) -> String {
        let several = results.variants.len() > 1 || self.varied().next().is_none();
        let variant = several.then(|| results.variant_name(line.variant).to_owned());
        let values = self.varied().map(|dimension| {
            let value = dimension.of(&line.labels);
            // A word explains itself, a number does not.
            match value.starts_with(|first: char| first.is_alphabetic()) {
                true => value.to_owned(),
                false => format!("{}={value}", dimension.name),
            }
        });
        variant.into_iter().chain(values).collect::<Vec<_>>().join(" ")
    }

    /// Its declared metrics that vary over its points, with their subjects, without throughput.
    /// Response times are only those of the class that the steps count.
    pub(crate) fn metrics(&self, results: &Results) -> Vec<(Subject, &'static Metric)> {
        let points = || self.lines.iter().flat_map(|line| line.points(results));
        let names: BTreeSet<&String> = points().flat_map(|point| &*point.metrics).collect();
        let varies = |name: &str| {
            let mut extent = (f64::INFINITY, f64::NEG_INFINITY);
            points().flat_map(|point| point.values(name)).for_each(|(_, value)| {
                extent = (extent.0.min(value), extent.1.max(value));
            });
            extent.1 > extent.0
        };
        let mut found: Vec<((Subject, usize), &'static Metric)> = names
            .into_iter()
            .filter_map(|name| metrics::find(name))
            .filter(|metric| metric.name != OPS.name && varies(metric.name))
            .filter_map(|metric| Some((rank(metric, &self.class)?, metric)))
            .collect();
        found.sort_by_key(|(rank, metric)| (*rank, metric.name));
        found.into_iter().map(|((subject, _), metric)| (subject, metric)).collect()
    }
}

/// The subject of a metric, and its place among metrics of that subject; `None` for response times
/// of other classes.
fn rank(metric: &Metric, class: &str) -> Option<(Subject, usize)> {
    if let Some(place) = LATENCIES.iter().position(|family| family.of(class) == metric.name) {
        return Some((Subject::Latency, place));
    }
    if LATENCIES.iter().any(|family| family.member_in(metric.name).is_some()) {
        return None;
    }
    if let Some(event) = metrics::EVENT.member_in(metric.name) {
        // More clients are mostly more work for the scheduler, so its events come first.
        let place = SCHEDULER_EVENTS.iter().chain(&EVENTS).position(|known| *known == event);
        return Some((Subject::Event, place.unwrap_or(usize::MAX)));
    }
    let cost = COSTS.iter().position(|cost| cost.name == metric.name);
    if cost.is_some() || metric.name.ends_with("/o") {
        return Some((Subject::Operation, cost.unwrap_or(COSTS.len())));
    }
    let declared = metrics::all().position(|known| known.name == metric.name);
    Some((Subject::Other, declared.unwrap_or(usize::MAX)))
}

impl Line {
    /// Its results at each number of clients; empty for steps without results.
    pub(crate) fn at<'a>(&self, results: &'a Results, place: usize) -> Option<&'a VariantStep> {
        results.steps.get((*self.steps.get(place)?)?)?.variant(self.variant)
    }

    /// All its results.
    fn points<'a>(&'a self, results: &'a Results) -> impl Iterator<Item = &'a VariantStep> {
        (0..self.steps.len()).filter_map(|place| self.at(results, place))
    }

    /// A metric over the numbers of clients.
    pub(crate) fn curve(&self, results: &Results, metric: &str) -> Vec<Option<Estimate>> {
        let values = |place| -> Vec<f64> {
            let known = self.at(results, place).map(|point| point.values(metric));
            known.into_iter().flatten().map(|(_, value)| value).collect()
        };
        (0..self.steps.len()).map(|place| estimate(&values(place))).collect()
    }

    /// Until how many clients a core was free: the largest number whose point has one, or the next
    /// larger one, which may have used them up exactly ([`metrics::CORES_FREE`] is never below 0).
    /// `None` if it is not known, or no point had a free core.
    pub(crate) fn free_until(&self, results: &Results, clients: &[u32]) -> Option<u32> {
        let free = |place: &usize| {
            let values = self.at(results, *place).map(|it| it.values(metrics::CORES_FREE.name));
            let values: Vec<f64> = values.into_iter().flatten().map(|(_, value)| value).collect();
            median(&values).is_some_and(|free| free > 0.0)
        };
        let last = (0..self.steps.len()).rev().find(free)?;
        let measured =
            |place: &usize| self.at(results, *place).is_some_and(|p| !p.samples.is_empty());
        let next = (last + 1..self.steps.len()).find(measured).unwrap_or(last);
        clients.get(next).copied()
    }

    /// True if it was measured at all.
    pub(crate) fn is_measured(&self, results: &Results) -> bool {
        self.points(results).any(|point| !point.samples.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_both_ends_and_the_recovery() {
        let fall = |recovers| {
            words(&Cliff { from: 22, to: 24, ratio: 0.69, low: 0.65, high: 0.73, recovers })
        };
        assert_eq!(
            fall(Some(100)),
            "from 22 to 24 clients −31.0% (95% interval −35.0% to −27.0%); recovers at 100"
        );
        assert!(fall(None).ends_with("; does not recover"));
    }
}
