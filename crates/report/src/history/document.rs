//! The output of `history --format json`, which the page also draws; `docs/trials-json.md`
//! documents its shape.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use judge::{ChangePoint, ChangeSearch, Changes, ENOUGH_UNITS, Exchangeable, change_points};

use super::lines::{Lines, StepLine, short};
use super::order::Order;
use super::search::Changed;
use crate::load::trials::{Trials, Value};
use crate::output::number::{changes, percent};
use crate::output::time::rfc3339;

/// Version of the shape; it grows when a key is removed or changes its meaning.
const FORMAT: u32 = 1;

/// Lines over runs, with their changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryDocument {
    /// Version of this shape: 1.
    pub format: u32,
    /// `version`, `date` or `commit`; `bisection` for the looks of one.
    pub order: String,
    /// The metric, such as `o/s`.
    pub metric: String,
    /// In order; points and changes refer to them by index, from 0.
    pub runs: Vec<HistoryRun>,
    /// The lines followed over the runs.
    pub lines: Vec<LineDocument>,
    /// Notes on the figures.
    pub notes: Vec<String>,
}

/// A version, a commit or an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryRun {
    /// Name in tables and plots.
    pub name: String,
    /// When its first trial began, RFC 3339; of a commit that was bisected, its own date.
    pub started: String,
    /// Number and name of the experiments that have its trials.
    pub experiments: Vec<String>,
    /// Versions of the DBMS in it, as the DBMS reports them.
    pub versions: Vec<String>,
}

/// A line: one configuration (by version and commit) or one variant's name (by date), on one
/// machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LineDocument {
    /// Name in tables and plots.
    pub line: String,
    /// The workload.
    pub workload: String,
    /// The machine.
    pub machine: String,
    /// In order of execution.
    pub steps: Vec<HistoryStep>,
}

/// A step of a line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryStep {
    /// Name, such as `l.i0`.
    pub name: String,
    /// Number of clients.
    pub dop: u32,
    /// The unit of its operations: `rows` or `queries`.
    pub unit: String,
    /// `more` or `less`: which way its throughput is better.
    pub better: String,
    /// Runs that have trials of it, in order.
    pub points: Vec<HistoryPoint>,
    /// The unit exchanged to test for chance: `trial` if all runs were measured side by side,
    /// otherwise `run`.
    pub exchanged: String,
    /// Change points, in order.
    pub changes: Vec<ChangeDocument>,
    /// Cuts that would be change points if the history did not drift.
    pub doubtful: Vec<ChangeDocument>,
}

/// The trials of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryPoint {
    /// Index of the run.
    pub run: usize,
    /// Versions behind the line in this run.
    pub versions: Vec<String>,
    /// The metric in each trial.
    pub trials: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// Geometric mean of the trials / that of the first point's. With slices, or where a hypervisor
    /// took much CPU: the ratio that `compare` gives. `null` where a value is not positive.
    pub relative: Option<f64>,
}

/// A change point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChangeDocument {
    /// Index of the first run after the change.
    pub run: usize,
    /// Indexes of the first and the last run of the level before it.
    pub before: [usize; 2],
    /// Indexes of the first and the last run of the level after it.
    pub after: [usize; 2],
    /// Geometric mean after / before.
    pub ratio: f64,
    /// Lower end of its 95% interval.
    pub low: f64,
    /// Upper end of its 95% interval.
    pub high: f64,
    /// p value of the permutation test; of a bisection, the probability that it is another change.
    pub p: f64,
    /// p value against noise that drifts like this history; `null` if it does not drift.
    pub dependent_p: Option<f64>,
    /// In words.
    pub sentence: String,
    /// The command that searches for the commit, with a repository to be named; absent if the
    /// versions on both sides are the same or several, or the workload needs files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub bisect: Option<String>,
}

/// Computes all figures.
pub(super) fn document(trials: &Trials, order: Order, lines: &Lines<'_>) -> HistoryDocument {
    let named = |place: &usize| trials.experiments[*place].name();
    let runs: Vec<HistoryRun> = lines
        .runs
        .iter()
        .map(|run| HistoryRun {
            name: run.name.clone(),
            started: rfc3339(run.started_ms),
            experiments: run.experiments.iter().map(named).collect(),
            versions: run.versions.iter().cloned().collect(),
        })
        .collect();
    let mut maker = Maker { trials, order, runs: &runs, notes: Vec::new(), few: None };
    let documents: Vec<LineDocument> = lines
        .lines
        .iter()
        .map(|line| LineDocument {
            line: line.label.clone(),
            workload: trials.workloads[line.key.workload].label.clone(),
            machine: line.key.machine.to_owned(),
            steps: line.steps.iter().map(|step| maker.step(step, &line.label)).collect(),
        })
        .collect();
    let mut notes = maker.notes;
    if let Some((least, most)) = maker.few {
        let units = if least == most { most.to_string() } else { format!("{least} to {most}") };
        notes.push(format!(
            "too short to distinguish a change from chance: {units} exchangeable runs or trials, at least \
             {ENOUGH_UNITS} are needed"
        ));
    }
    if !lines.left_out.is_empty() {
        let names: Vec<&str> = lines.left_out.iter().map(String::as_str).collect();
        notes.push(format!(
            "left out because the {} is unknown: {}",
            order.as_str(),
            names.join(", ")
        ));
    }
    if order == Order::Commit && lines.runs.len() > 1 && !lines.runs_are_ordered() {
        notes.push(
            "commits are in the order in which they were first measured; give their own with --commits"
                .to_owned(),
        );
    }
    HistoryDocument {
        format: FORMAT,
        order: order.as_str().to_owned(),
        metric: trials.metric.clone(),
        runs,
        lines: documents,
        notes,
    }
}

struct Maker<'a> {
    trials: &'a Trials,
    order: Order,
    runs: &'a [HistoryRun],
    notes: Vec<String>,
    /// Fewest and most units of the histories that have too few.
    few: Option<(usize, usize)>,
}

impl Maker<'_> {
    fn step(&mut self, step: &StepLine<'_>, line: &str) -> HistoryStep {
        let known = &self.trials.steps[step.step];
        let of = |figure: fn(&Value) -> f64| -> Vec<Vec<f64>> {
            let points = step.points.values();
            points.map(|values| values.iter().map(|value| figure(value)).collect()).collect()
        };
        let (values, levels) = (of(|value| value.value), of(|value| value.level));
        // A run with one trial has the same mean either way.
        let unit = if step.is_interleaved() { Exchangeable::Trial } else { Exchangeable::Run };
        let places: Vec<usize> = step.points.keys().copied().collect();
        let mut document = HistoryStep {
            name: known.label(),
            dop: known.key.dop,
            unit: known.measure.unit.clone(),
            better: known.measure.better.as_str().to_owned(),
            exchanged: if unit == Exchangeable::Trial { "trial" } else { "run" }.to_owned(),
            ..HistoryStep::default()
        };
        let log = |values: &[f64]| {
            let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
            judge::mean(&logs).filter(|mean| mean.is_finite())
        };
        let first = levels.first().and_then(|levels| log(levels));
        let versions = step.points.values().map(|values| -> BTreeSet<&str> {
            values.iter().map(|value| self.trials.system(value).version.as_str()).collect()
        });
        let points = places.iter().zip(values).zip(&levels);
        for (((run, trials), levels), versions) in points.zip(versions) {
            document.points.push(HistoryPoint {
                run: *run,
                versions: versions.into_iter().map(str::to_owned).collect(),
                median: judge::median(&trials).unwrap_or(f64::NAN),
                relative: log(levels).zip(first).map(|(log, first)| (log - first).exp()),
                trials,
            });
        }
        match change_points(&levels, &ChangeSearch::by(unit)) {
            Ok(found) => {
                let value = step.points.values().flatten().next();
                let workload = value
                    .map_or("", |value| self.trials.conducted(value).experiment.workload.as_str());
                let metric = self.trials.metric.as_str();
                let changed = Changed { metric, step: &known.key.name, workload };
                self.changes(&mut document, &found, &places, (line, &changed));
            }
            Err(error) => self.notes.push(format!(
                "{} of {line}: no change points of {}: {error}",
                document.name, self.trials.metric
            )),
        }
        document
    }

    fn changes(
        &mut self,
        document: &mut HistoryStep,
        found: &Changes,
        places: &[usize],
        (line, changed): (&str, &Changed<'_>),
    ) {
        if found.units < ENOUGH_UNITS {
            let (least, most) = self.few.unwrap_or((found.units, found.units));
            self.few = Some((least.min(found.units), most.max(found.units)));
        }
        let about = (self.trials.metric.as_str(), line);
        let described = |change: &ChangePoint| {
            let span =
                |range: &std::ops::Range<usize>| [places[range.start], places[range.end - 1]];
            let mut described = ChangeDocument {
                run: places[change.run],
                before: span(&change.before),
                after: span(&change.after),
                ratio: change.ratio,
                low: change.low,
                high: change.high,
                p: change.p,
                dependent_p: change.dependent_p,
                sentence: String::new(),
                bisect: None,
            };
            described.sentence = sentence(about, document, self.runs, &described);
            let side = |place: usize| match (self.order, versions_at(&document.points, place)) {
                (Order::Commit, _) => self.runs.get(place).map(|run| run.name.clone()),
                (_, [version]) => Some(short(version)),
                _ => None,
            };
            let sides = side(described.before[1]).zip(side(described.run));
            described.bisect = sides.and_then(|(old, new)| changed.search(&old, &new));
            described
        };
        let changes = found.points.iter().map(described).collect();
        let doubtful = found.doubtful.iter().map(described).collect();
        (document.changes, document.doubtful) = (changes, doubtful);
    }
}

/// "l.i0 of pg got 6.6% slower between 13.7 and 14.3 (95% interval −7.4% to −5.8%; before: 12.22 to
/// 13.7, after: 14.3 to 16.4)".
fn sentence(
    (metric, line): (&str, &str),
    HistoryStep { name: step, better, points, .. }: &HistoryStep,
    runs: &[HistoryRun],
    change: &ChangeDocument,
) -> String {
    let speed = metric == metrics::OPS.name && better == "more";
    let name = |place: usize| runs.get(place).map_or("?", |run| run.name.as_str());
    let size = percent((change.ratio - 1.0).abs());
    let what = match (speed, change.ratio < 1.0) {
        (true, true) => format!("{step} of {line} got {size} slower"),
        (true, false) => format!("{step} of {line} got {size} faster"),
        (false, true) => format!("{metric} of {step} of {line} fell by {size}"),
        (false, false) => format!("{metric} of {step} of {line} rose by {size}"),
    };
    let span = |[from, to]: [usize; 2]| {
        if from == to { name(from).to_owned() } else { format!("{} to {}", name(from), name(to)) }
    };
    let mut said = format!(
        "{what} between {} and {} (95% interval {}; before: {}, after: {})",
        name(change.before[1]),
        name(change.run),
        changes(change.low, change.high),
        span(change.before),
        span(change.after),
    );
    let (old, new) = (versions_at(points, change.before[1]), versions_at(points, change.run));
    if let ([old], [new]) = (old, new)
        && old != new
        && *old != name(change.before[1])
    {
        said.push_str(&format!(", where the version went from {old} to {new}"));
    }
    said
}

/// The versions behind a line in a run.
fn versions_at(points: &[HistoryPoint], run: usize) -> &[String] {
    let point = points.iter().find(|point| point.run == run);
    point.map(|point| &point.versions[..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_better_with_less_gets_neither_faster_nor_slower() {
        let change = ChangeDocument {
            run: 0,
            before: [0, 0],
            after: [0, 0],
            ratio: 1.1,
            low: 1.05,
            high: 1.15,
            p: 0.01,
            dependent_p: None,
            sentence: String::new(),
            bisect: None,
        };
        let said = |better: &str| {
            let (name, better) = ("s".to_owned(), better.to_owned());
            let step = HistoryStep { name, better, ..HistoryStep::default() };
            sentence(("o/s", "l"), &step, &[], &change)
        };
        assert!(said("more").starts_with("s of l got 10.0% faster"), "{}", said("more"));
        assert!(said("less").starts_with("o/s of s of l rose by 10.0%"), "{}", said("less"));
    }
}
