//! Sweeps in the JSON of `compare`.

use std::collections::BTreeMap;

use judge::Cliff;
use metrics::OPS;
use plan::Labels;
use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::shape::{DimensionDocument, Line, Sweep, words};
use crate::load::model::Results;

/// Steps of one name, measured with three or more numbers of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepDocument {
    /// Name of the steps.
    pub step: String,
    /// The unit of its operations.
    pub unit: String,
    /// The dimensions that vary besides the number of clients.
    pub dimensions: Vec<DimensionDocument>,
    /// The numbers of clients, ascending.
    pub clients: Vec<u32>,
    /// A variant with one value of each dimension.
    pub lines: Vec<SweepLineDocument>,
    /// Why there may be falls of throughput that were not looked for.
    pub notes: Vec<String>,
}

/// A variant with one value of each dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepLineDocument {
    /// Name of the variant.
    pub variant: String,
    /// Labels of the steps.
    pub labels: Labels,
    /// Until how many clients a core was free; `null` if it is not known.
    pub free_until: Option<u32>,
    /// The numbers of clients that were measured.
    pub points: Vec<SweepPointDocument>,
    /// Where throughput falls although clients were added while cores were free.
    pub cliffs: Vec<CliffDocument>,
}

/// One number of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepPointDocument {
    /// Number of clients.
    pub clients: u32,
    /// Throughput of each block, in order of the blocks.
    pub values: Vec<f64>,
    /// Mean throughput per client.
    pub per_client: f64,
    /// Throughput, and each metric that varies over the points of the sweep.
    pub metrics: BTreeMap<String, SweepFigure>,
}

/// A metric at one number of clients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SweepFigure {
    /// Mean over the blocks, geometric unless a value is 0.
    pub mean: f64,
    /// Lower end of its 95% interval; `null` with one block.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// A fall of throughput.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "PageCliff"))]
pub struct CliffDocument {
    /// Number of clients before the fall.
    pub from: u32,
    /// Number of clients after it.
    pub to: u32,
    /// Throughput after / before.
    pub ratio: f64,
    /// Lower end of the interval of the ratio.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// From how many clients on throughput is back; `null` if it does not come back.
    pub recovers: Option<u32>,
    /// The same in plain words.
    pub sentence: String,
}

impl From<Estimate> for SweepFigure {
    fn from(Estimate { mean, interval, .. }: Estimate) -> Self {
        Self { mean, low: interval.map(|(low, _)| low), high: interval.map(|(_, high)| high) }
    }
}

impl CliffDocument {
    /// A fall of the line with this name.
    fn of(cliff: &Cliff, line: &str) -> Self {
        let sentence = format!("{line}: {}", words(cliff));
        let Cliff { from, to, ratio, low, high, recovers } = *cliff;
        Self { from, to, ratio, low, high, recovers, sentence }
    }

    /// The falls of a line.
    pub(crate) fn of_line(results: &Results, sweep: &Sweep, line: &Line) -> Vec<Self> {
        let name = sweep.full_name(results, line);
        line.cliffs.iter().map(|cliff| Self::of(cliff, &name)).collect()
    }
}

/// The sweeps of an experiment as data.
pub(crate) fn documents(results: &Results, sweeps: &[Sweep]) -> Vec<SweepDocument> {
    sweeps.iter().map(|sweep| document(results, sweep)).collect()
}

fn document(results: &Results, sweep: &Sweep) -> SweepDocument {
    let metrics: Vec<&str> = [OPS.name]
        .into_iter()
        .chain(sweep.metrics(results).into_iter().map(|(_, metric)| metric.name))
        .collect();
    let line = |line: &Line| SweepLineDocument {
        variant: results.variant_name(line.variant).to_owned(),
        labels: line.labels.clone(),
        free_until: line.free_until(results, &sweep.clients),
        points: points(results, sweep, line, &metrics),
        cliffs: CliffDocument::of_line(results, sweep, line),
    };
    SweepDocument {
        step: sweep.name.clone(),
        unit: sweep.unit.clone(),
        dimensions: sweep.dimensions.clone(),
        clients: sweep.clients.clone(),
        lines: sweep.lines.iter().map(line).collect(),
        notes: sweep.notes.clone(),
    }
}

fn points(
    results: &Results,
    sweep: &Sweep,
    line: &Line,
    metrics: &[&str],
) -> Vec<SweepPointDocument> {
    let curves: Vec<_> =
        metrics.iter().map(|metric| (*metric, line.curve(results, metric))).collect();
    let point = |(place, clients): (usize, &u32)| {
        let values = line.at(results, place)?.values(OPS.name);
        let figures: BTreeMap<String, SweepFigure> = curves
            .iter()
            .filter_map(|(name, curve)| {
                let figure = curve.get(place).copied().flatten()?;
                Some(((*name).to_owned(), SweepFigure::from(figure)))
            })
            .collect();
        Some(SweepPointDocument {
            clients: *clients,
            values: values.into_iter().map(|(_, value)| value).collect(),
            per_client: figures.get(OPS.name)?.mean / f64::from(*clients),
            metrics: figures,
        })
    };
    sweep.clients.iter().enumerate().filter_map(point).collect()
}
