//! Bencher Metric Format: JSON that Bencher reads
//! (<https://bencher.dev/docs/reference/bencher-metric-format/>).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::load::model::Results;

use super::comparable;

/// A measure of a benchmark.
#[derive(Serialize)]
struct Measure {
    value: f64,
    lower_value: f64,
    upper_value: f64,
}

/// An object of benchmarks, `VARIANT/STEP.DOP`. Each has its measures: the median over the blocks,
/// with the least and the greatest value. The measure `throughput` is in operations per second;
/// other names are those of metrics, with `-` for everything but letters and digits, in the units
/// of `steelyard compare`. Warm-ups are left out.
pub fn bmf(results: &Results) -> String {
    let mut values: BTreeMap<String, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for row in comparable(results) {
        let step = row.step.label(true);
        let benchmark = format!("{}/{step}", results.variant_name(row.variant));
        let measure = if row.metric.name == metrics::OPS.name {
            "throughput".to_owned()
        } else {
            row.metric.name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
        };
        values.entry(benchmark).or_default().entry(measure).or_default().push(row.value);
    }
    let document: BTreeMap<String, BTreeMap<String, Measure>> = values
        .into_iter()
        .map(|(benchmark, measures)| {
            let measures = measures.into_iter().filter_map(|(name, values)| {
                let value = judge::median(&values)?;
                let lower_value = values.iter().copied().fold(f64::INFINITY, f64::min);
                let upper_value = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                Some((name, Measure { value, lower_value, upper_value }))
            });
            (benchmark, measures.collect())
        })
        .collect();
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
