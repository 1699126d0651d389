//! A step and all its measurements.

use std::sync::Arc;

use plan::StepKey;
use serde::{Deserialize, Serialize};

use crate::records::{Better, StepId, StepKind, StepState, TrialId, VariantId};

/// A metric over the seconds of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name, such as `cpu.us`; unique in the step.
    pub name: String,
    /// Label for a plot.
    pub label: String,
    /// Unit.
    pub unit: String,
    /// Which plots it belongs to: `throughput`, `cpu`, `device`, …
    pub group: String,
    /// One value per period; NaN if unknown.
    pub values: Vec<f64>,
}

impl Series {
    /// Values over time.
    pub fn new(name: &str, label: &str, unit: &str, group: &str, values: Vec<f64>) -> Self {
        let [name, label, unit, group] = [name, label, unit, group].map(str::to_owned);
        Series { name, label, unit, group, values }
    }
}

/// The response times of one class of statements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// `query`, `insert` or `delete`; unique in the step.
    pub class: String,
    /// Number of values.
    pub count: u64,
    /// The histogram in HdrHistogram's V2 serialization, in nanoseconds. This crate does not decode
    /// it.
    pub hdr: Vec<u8>,
}

/// How much a counter of the DBMS increased during a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// View, such as `pg_stat_wal`.
    pub view: String,
    /// Table, index or similar; may be empty.
    pub object: String,
    /// Column.
    pub name: String,
    /// Difference over the step.
    pub value: f64,
}

/// The size of something at the end of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// The object, such as the name of a table.
    pub object: String,
    /// Which size: a table's `index`, `rel` or `total`.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The operations that a step counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// The class of requests whose operations are its throughput, such as `query`; empty if nothing
    /// is counted.
    pub class: String,
    /// The unit of its operations, for tables: `rows`, `queries`.
    pub unit: String,
    /// Which direction of its rate is better.
    pub better: Better,
    /// True if it ends after a time, rather than when its work is done.
    pub timed: bool,
}

/// How the DBMS would execute a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryPlan {
    /// The statement, with `$1`, `$2`, … for its values.
    pub statement: String,
    /// The plan as the DBMS prints it.
    pub plan: String,
}

/// Something that the DBMS did by itself, according to its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEvent {
    /// When it was logged, milliseconds since 1970 (UTC).
    pub at_ms: i64,
    /// Its kind: `checkpoint`, `autovacuum`.
    pub kind: String,
    /// The text from the log.
    pub text: String,
}

/// Something to know along with the figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Short name that does not change, such as `rate-not-held`.
    pub code: String,
    /// A sentence.
    pub text: String,
}

impl Warning {
    /// A sentence with its short name.
    pub fn new(code: &str, text: impl Into<String>) -> Self {
        Warning { code: code.to_owned(), text: text.into() }
    }
}

/// A warning, and the trial or step that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredWarning {
    /// The trial, `None`: the whole experiment.
    pub trial: Option<TrialId>,
    /// The step, `None`: the whole trial or experiment.
    pub step: Option<StepId>,
    /// The warning.
    pub warning: Warning,
}

/// Errors of one kind in the statements of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Class of statement: `query`, `insert`, `delete`.
    pub class: String,
    /// The system's error code, such as an SQLSTATE; empty if the error came from elsewhere.
    pub code: String,
    /// The first message of the kind.
    pub message: String,
    /// How often.
    pub count: u64,
    /// True if the statement was retried.
    pub retried: bool,
}

/// A step with all its measurements, stored in one transaction.
///
/// [`StepRecord::new`] creates one without measurements, to be filled in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepRecord {
    /// Place in the trial; unique there.
    pub ordinal: u32,
    /// Name, number of clients and labels.
    pub key: StepKey,
    /// Its purpose.
    pub kind: StepKind,
    /// How it ended.
    pub state: StepState,
    /// When it began, milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// How long it took.
    pub seconds: f64,
    /// Operations done.
    pub operations: u64,
    /// The operations that it counts.
    pub measure: Measure,
    /// Metrics by name; NaN and infinite values are unknown and not stored.
    pub metrics: Vec<(String, f64)>,
    /// Values over time.
    pub series: Vec<Series>,
    /// Response times.
    pub histograms: Vec<Histogram>,
    /// Differences of the DBMS's counters.
    pub counters: Vec<Counter>,
    /// Views that this version of the DBMS does not have.
    pub absent: Vec<String>,
    /// Sizes at the end.
    pub sizes: Vec<Size>,
    /// The plans of its statements.
    pub plans: Vec<QueryPlan>,
    /// The DBMS's own events during the step.
    pub events: Vec<LogEvent>,
    /// Warnings about the figures.
    pub warnings: Vec<Warning>,
    /// Errors of statements.
    pub failures: Vec<Failure>,
    /// Lines of text: actions while settling, and figures that could not be measured.
    pub notes: Vec<String>,
}

impl StepRecord {
    /// A finished, measured step without measurements.
    pub fn new(ordinal: u32, name: &str, dop: u32) -> Self {
        StepRecord { ordinal, key: StepKey::new(name, dop), ..StepRecord::default() }
    }

    /// Adds a metric, unless its value is unknown.
    pub fn add(&mut self, name: impl Into<String>, value: f64) {
        if value.is_finite() {
            self.metrics.push((name.into(), value));
        }
    }

    /// The value of a metric, if it has one.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Adds something to know along with the figures.
    pub fn warn(&mut self, code: &str, text: impl Into<String>) {
        self.warnings.push(Warning::new(code, text));
    }
}

/// A step as stored, without its measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its id.
    pub id: StepId,
    /// The trial it belongs to.
    pub trial: TrialId,
    /// The variant of that trial.
    pub variant: VariantId,
    /// The block of that trial, from 1.
    pub block: u32,
    /// Place in the trial.
    pub ordinal: u32,
    /// Name, number of clients and labels.
    pub key: StepKey,
    /// Its purpose.
    pub kind: StepKind,
    /// How it ended.
    pub state: StepState,
    /// When it began, milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// How long it took.
    pub seconds: f64,
    /// Operations done.
    pub operations: u64,
    /// The operations that it counts.
    pub measure: Measure,
    /// Views that this version of the DBMS does not have.
    pub absent: Vec<String>,
    /// Lines of text.
    pub notes: Vec<String>,
}

/// Which steps a reader wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Finished steps of finished trials, the only ones to judge.
    #[default]
    Results,
    /// Failed steps of finished trials: those whose failure is a result.
    Failed,
    /// All, including those of failed, abandoned or running trials.
    All,
}

/// Metrics of one step, read in bulk by [`crate::Store::step_values`].
#[derive(Debug, Clone, PartialEq)]
pub struct StepValues {
    /// The step.
    pub step: StepId,
    /// The trial it belongs to.
    pub trial: TrialId,
    /// The variant of that trial.
    pub variant: VariantId,
    /// The block of that trial, from 1.
    pub block: u32,
    /// Place in the trial.
    pub ordinal: u32,
    /// Name, number of clients and labels; shared, so many rows cost little.
    pub key: Arc<StepKey>,
    /// Its purpose.
    pub kind: StepKind,
    /// How long it took.
    pub seconds: f64,
    /// Operations done.
    pub operations: u64,
    /// The operations that it counts; shared likewise.
    pub measure: Arc<Measure>,
    /// One value per requested metric, in that order; NaN if the step doesn't have it.
    pub values: Vec<f64>,
}
