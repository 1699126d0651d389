//! Sweeps in the data of the page: a column per line and metric, over the numbers of clients.

use metrics::{Metric, OPS};
use plan::Labels;
use serde::Serialize;

use super::number::Number;
use crate::load::model::Results;
use crate::sweep::{CliffDocument, DimensionDocument, Estimate, Line, Subject, Sweep};

/// Steps of one name over the number of clients.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageSweep {
    /// Name of the steps.
    pub(crate) step: String,
    pub(crate) unit: String,
    /// True if other parts of the page leave its points to the view of sweeps.
    pub(crate) one_server: bool,
    pub(crate) dimensions: Vec<DimensionDocument>,
    pub(crate) clients: Vec<u32>,
    /// The metrics of a line's `figures`, in order.
    pub(crate) metrics: Vec<PageSweepMetric>,
    pub(crate) lines: Vec<PageSweepLine>,
    pub(crate) notes: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageSweepMetric {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) meaning: &'static str,
    #[cfg_attr(test, ts(inline))]
    pub(crate) subject: Subject,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageSweepLine {
    pub(crate) variant: usize,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Labels>", optional))]
    pub(crate) labels: Labels,
    /// For each number of clients, the index of its step.
    pub(crate) steps: Vec<Option<usize>>,
    /// Until how many clients a core was free.
    pub(crate) free_until: Option<u32>,
    pub(crate) throughput: PageCurve,
    /// Throughput of each block at each number of clients.
    pub(crate) blocks: Vec<Vec<Number>>,
    /// A curve per metric of the sweep; `null` for those that the line does not have.
    pub(crate) figures: Vec<Option<PageCurve>>,
    pub(crate) cliffs: Vec<CliffDocument>,
}

/// A figure over the numbers of clients, with its interval where there is one; with fewer than 6
/// blocks from the lowest to the highest of them.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageCurve {
    pub(crate) mean: Vec<Number>,
    pub(crate) low: Vec<Number>,
    pub(crate) high: Vec<Number>,
}

impl PageCurve {
    fn of(curve: &[Option<Estimate>]) -> Self {
        let column = |of: fn(&Estimate) -> f64| {
            curve.iter().map(|point| Number(point.as_ref().map_or(f64::NAN, of))).collect()
        };
        Self {
            mean: column(|point| point.mean),
            low: column(|point| point.drawn.map_or(f64::NAN, |(low, _)| low)),
            high: column(|point| point.drawn.map_or(f64::NAN, |(_, high)| high)),
        }
    }
}

/// The sweeps of an experiment for the page.
pub(crate) fn page_sweeps(results: &Results, sweeps: &[Sweep]) -> Vec<PageSweep> {
    sweeps.iter().map(|sweep| page_sweep(results, sweep)).collect()
}

fn page_sweep(results: &Results, sweep: &Sweep) -> PageSweep {
    let metrics = sweep.metrics(results);
    let measured = sweep.lines.iter().filter(|line| line.is_measured(results));
    let line = |line: &Line| {
        let figures = metrics.iter().map(|(_, metric)| line.curve(results, metric.name));
        PageSweepLine {
            variant: line.variant,
            labels: line.labels.clone(),
            steps: line.steps.clone(),
            free_until: line.free_until(results, &sweep.clients),
            throughput: PageCurve::of(&line.curve(results, OPS.name)),
            blocks: (0..line.steps.len()).map(|place| blocks(results, line, place)).collect(),
            figures: figures
                .map(|curve| curve.iter().any(Option::is_some).then(|| PageCurve::of(&curve)))
                .collect(),
            cliffs: CliffDocument::of_line(results, sweep, line),
        }
    };
    PageSweep {
        step: sweep.name.clone(),
        unit: sweep.unit.clone(),
        one_server: sweep.one_server,
        dimensions: sweep.dimensions.clone(),
        clients: sweep.clients.clone(),
        metrics: metrics.iter().map(page_metric).collect(),
        lines: measured.map(line).collect(),
        notes: sweep.notes.clone(),
    }
}

fn page_metric(&(subject, metric): &(Subject, &'static Metric)) -> PageSweepMetric {
    let Metric { name, unit, meaning, .. } = *metric;
    PageSweepMetric { name, unit, meaning, subject }
}

fn blocks(results: &Results, line: &Line, place: usize) -> Vec<Number> {
    let values = line.at(results, place).map(|point| point.values(OPS.name));
    values.into_iter().flatten().map(|(_, value)| Number(value)).collect()
}
