//! An experiment's figures in the formats of other programs: `rows` takes them from the results,
//! each format is a file.

mod benchstat;
mod bmf;
mod long;

use metrics::{Better, Metric};
use plan::StepKey;

use crate::load::model::Results;

pub use benchstat::benchstat;
pub use bmf::bmf;
pub use long::long_csv;

/// One metric of one step in one trial.
struct Row<'a> {
    variant: usize,
    block: u32,
    trial: i64,
    started_ms: i64,
    step: &'a StepKey,
    /// `measured`; `warm-up`; `preparation`, not named by the plan; or `loaded-once`, which has one
    /// value that all blocks share.
    kind: &'static str,
    metric: &'static Metric,
    /// Its unit in this step: rows/s, queries/s, µs, …
    unit: String,
    better: Better,
    value: f64,
}

/// The figures that other programs can compare: those with a better direction, without warm-ups.
fn comparable(results: &Results) -> impl Iterator<Item = Row<'_>> {
    rows(results).filter(|row| {
        row.kind != "warm-up" && row.better != Better::Neither && row.value.is_finite()
    })
}

/// All known figures of finished trials, in the order of steps, variants, blocks and names.
fn rows(results: &Results) -> impl Iterator<Item = Row<'_>> {
    let steps = results.steps.iter().flat_map(|step| {
        step.variants.iter().enumerate().map(move |(variant, figures)| (step, variant, figures))
    });
    let samples = steps.flat_map(|(step, variant, figures)| {
        figures.samples.iter().map(move |sample| (step, variant, figures, sample))
    });
    samples.flat_map(|(step, variant, figures, sample)| {
        figures.metrics.iter().filter_map(move |name| {
            let metric = metrics::find(name)?;
            let throughput = metric.name == metrics::OPS.name;
            Some(Row {
                variant,
                block: sample.block,
                trial: sample.trial.0,
                started_ms: sample.started_ms,
                step: &step.key,
                kind: match (step.warm_up, step.loaded_once, step.prepares) {
                    (true, ..) => "warm-up",
                    (false, true, _) => "loaded-once",
                    (false, false, true) => "preparation",
                    (false, false, false) => "measured",
                },
                metric,
                unit: if throughput { format!("{}/s", step.unit) } else { metric.unit.to_owned() },
                better: match step.better {
                    store::Better::Less if throughput => Better::Less,
                    _ => metric.better,
                },
                value: figures.value(sample, name)?,
            })
        })
    })
}

/// The labels of a step: `name=value`, separated by semicolons.
fn labels(step: &StepKey) -> String {
    let labels = step.labels.iter().map(|(name, value)| format!("{name}={value}"));
    labels.collect::<Vec<_>>().join(";")
}
