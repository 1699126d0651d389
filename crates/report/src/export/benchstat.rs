//! The Go benchmark format, which benchstat reads: `benchstat -col /variant FILE`.
//!
//! Its definition: <https://go.dev/design/14313-benchmark-format>, and the package `benchfmt` of
//! `golang.org/x/perf` for `Unit` lines.

use std::collections::BTreeMap;

use metrics::Better;
use plan::StepKey;

use crate::load::model::Results;

use super::{comparable, labels};

/// The figures of a step of a trial.
struct Line<'a> {
    /// Variant, trial, step.
    key: (usize, i64, &'a StepKey),
    /// The name, and the throughput.
    begin: String,
    /// The other figures.
    rest: String,
}

/// A line for each step of each finished trial, with throughput, costs and response times. Units
/// are the metrics' names with their units (`dbms.cpu/o-µs`); `Unit` lines say which direction is
/// better. Warm-ups are left out.
pub fn benchstat(results: &Results) -> String {
    let experiment = &results.experiment;
    let mut out = format!(
        "experiment: {}\nworkload: {}\n",
        one_line(&experiment.name),
        one_line(&experiment.workload)
    );
    let mut units = BTreeMap::new();
    let mut lines: Vec<Line<'_>> = Vec::new();
    for row in comparable(results) {
        let throughput = row.metric.name == metrics::OPS.name;
        let unit = match (throughput, row.unit.as_str()) {
            (true, unit) => unit.to_owned(),
            (false, "") => row.metric.name.to_owned(),
            (false, unit) => format!("{}-{unit}", row.metric.name),
        };
        let unit = unit.replace(char::is_whitespace, "_");
        let better = if row.better == Better::More { "higher" } else { "lower" };
        units.insert(unit.clone(), better);
        let key = (row.variant, row.trial, row.step);
        if lines.last().is_none_or(|last| last.key != key) {
            let begin = begin(results, row.variant, row.step);
            lines.push(Line { key, begin, rest: String::new() });
        }
        if let Some(line) = lines.last_mut() {
            let part = if throughput { &mut line.begin } else { &mut line.rest };
            part.push_str(&format!(" {} {unit}", row.value));
        }
    }
    for (unit, better) in units {
        out.push_str(&format!("Unit {unit} better={better}\n"));
    }
    out.push('\n');
    for Line { begin, rest, .. } in lines {
        out.push_str(&format!("{begin}{rest}\n"));
    }
    out
}

/// The name of a benchmark and its number of iterations: a trial is one.
fn begin(results: &Results, variant: usize, step: &StepKey) -> String {
    let mut name = format!("BenchmarkStep/step={}/dop={}", word(&step.name), step.dop);
    let labels = labels(step);
    if !labels.is_empty() {
        name.push_str(&format!("/labels={}", word(&labels)));
    }
    format!("{name}/variant={} 1", word(results.variant_name(variant)))
}

/// A text without the characters that separate words and parts of names.
fn word(text: &str) -> String {
    text.replace(|c: char| c.is_whitespace() || c == '/', "_")
}

/// A text on one line.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
