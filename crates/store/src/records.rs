//! The data that is written and read, without any SQL.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(/// An experiment in a store; shown to users, who may name an experiment by it.
    ExperimentId);
id!(/// A variant of an experiment.
    VariantId);
id!(/// An attempt at a trial.
    TrialId);
id!(/// A step of a trial.
    StepId);

macro_rules! states {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// The word stored and shown.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            pub(crate) fn from_text(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)+ _ => None }
            }
        }
    };
}

states!(
    /// What an experiment is for.
    Purpose {
        /// Trials that are measured and compared.
        Run = "run",
        /// Exact instruction counts of single statements; it has no trials.
        Count = "count",
    }
);
states!(
    /// The state of an experiment.
    ExperimentState {
        /// A run is working on it, or was killed while it was.
        Running = "running",
        /// All trials are done.
        Finished = "finished",
        /// A run was interrupted before the end.
        Interrupted = "interrupted",
    }
);
states!(
    /// The state of a trial.
    TrialState {
        /// Running; its steps are not results yet.
        Running = "running",
        /// Complete: its steps are results.
        Finished = "finished",
        /// A step or the server failed; the error says how.
        Failed = "failed",
        /// Left running by a killed run.
        Abandoned = "abandoned",
        /// Run again because something else took too much of the machine; the error says what.
        Polluted = "polluted",
    }
);
states!(
    /// How a step ended.
    #[derive(Default)]
    StepState {
        /// All of it ran and every check held.
        #[default]
        Finished = "finished",
        /// It was aborted; its figures are not results.
        Failed = "failed",
    }
);
states!(
    /// What a step was for.
    #[derive(Default)]
    StepKind {
        /// Its throughput is a result.
        #[default]
        Measured = "measured",
        /// It paid off debt between measured steps; its notes say what was done.
        Settle = "settle",
    }
);

/// A fact about the machine, such as group `cpu`, name `model`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFact {
    /// Its group, such as `cpu`, `memory`, `kernel`.
    pub group: String,
    /// Name within the group.
    pub name: String,
    /// Value with its unit, or `unknown: reason`.
    pub value: String,
}

/// A new experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct NewExperiment {
    /// What it is for.
    pub purpose: Purpose,
    /// Name from the plan.
    pub name: String,
    /// Name of the workload, such as `insert`.
    pub workload: String,
    /// Name of the variant that all others are compared with.
    pub base: String,
    /// Seed of the order of trials and of all parameters.
    pub seed: u64,
    /// Trials per variant and dop in the plan.
    pub blocks: u32,
    /// δ: differences up to this fraction count as small.
    pub margin: f64,
    /// The plan as TOML. Passwords are removed before it is stored.
    pub plan: String,
    /// Version of steelyard.
    pub steelyard: String,
    /// Now, in milliseconds since 1970 (UTC).
    pub created_ms: i64,
}

/// An experiment as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Its id in this store.
    pub id: ExperimentId,
    /// What it is for.
    pub purpose: Purpose,
    /// Name from the plan.
    pub name: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the base variant.
    pub base: String,
    /// Seed of the order of trials and of all parameters.
    pub seed: u64,
    /// Trials per variant and dop in the plan.
    pub blocks: u32,
    /// δ of the plan.
    pub margin: f64,
    /// The plan as TOML, without passwords.
    pub plan: String,
    /// Version of steelyard that began it.
    pub steelyard: String,
    /// When it began, milliseconds since 1970 (UTC).
    pub created_ms: i64,
    /// When it ended or was interrupted, milliseconds since 1970 (UTC).
    pub ended_ms: Option<i64>,
    /// Its state.
    pub state: ExperimentState,
}

/// A new variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVariant {
    /// Name from the plan, unique in the experiment.
    pub name: String,
    /// `dbms` from the plan. A password is removed before it is stored.
    pub dbms: String,
    /// Where the binaries came from.
    pub source: String,
    /// Version, as reported by the DBMS.
    pub version: String,
    /// Facts about the build: checksum, compiler, options.
    pub build: BTreeMap<String, String>,
    /// Settings in the plan.
    pub config: BTreeMap<String, String>,
}

/// A variant as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Its id.
    pub id: VariantId,
    /// Place in the plan, from 0.
    pub position: u32,
    /// Name from the plan.
    pub name: String,
    /// `dbms` from the plan, without a password.
    pub dbms: String,
    /// Where the binaries came from.
    pub source: String,
    /// Version, as reported by the DBMS.
    pub version: String,
    /// Facts about the build.
    pub build: BTreeMap<String, String>,
    /// Settings in the plan.
    pub config: BTreeMap<String, String>,
}

/// A new trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewTrial {
    /// The experiment it belongs to.
    pub experiment: ExperimentId,
    /// The variant measured.
    pub variant: VariantId,
    /// Number of the block, from 1; 0: a load whose data the trials start on.
    pub block: u32,
    /// Place in the block, from 1.
    pub position: u32,
    /// Which of the workload's sequences of steps it goes through; insert: the number of clients.
    pub sequence: u32,
    /// Now, in milliseconds since 1970 (UTC).
    pub started_ms: i64,
}

/// A trial as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// Its id.
    pub id: TrialId,
    /// The variant measured.
    pub variant: VariantId,
    /// Number of the block, from 1.
    pub block: u32,
    /// Place in the block, from 1.
    pub position: u32,
    /// Which of the workload's sequences of steps it goes through; insert: the number of clients.
    pub sequence: u32,
    /// Number of the attempt at this variant, block and sequence, from 1.
    pub attempt: u32,
    /// Its state.
    pub state: TrialState,
    /// When it began, milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// When it ended, milliseconds since 1970 (UTC).
    pub ended_ms: Option<i64>,
    /// Why it failed or was polluted.
    pub error: Option<String>,
}

/// A setting of the server that differs from its default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Name, such as `shared_buffers`.
    pub name: String,
    /// Value in force.
    pub value: String,
    /// Unit; may be empty.
    pub unit: String,
    /// Where it was set, such as `configuration file`.
    pub source: String,
    /// The default.
    pub boot_value: String,
}

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
    /// What it is, such as the name of a table.
    pub object: String,
    /// Which size: a table's `index`, `rel` or `total`.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
}

states!(
    /// Which direction of a step's rate is better.
    #[derive(Default)]
    Better {
        /// A higher rate is an improvement: a throughput.
        #[default]
        More = "more",
        /// A lower value is an improvement: a time.
        Less = "less",
    }
);

/// What a step counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// The class of requests whose operations are its throughput, such as `query`; empty if nothing
    /// is counted.
    pub class: String,
    /// What an operation is, for tables: `rows`, `queries`.
    pub unit: String,
    /// Which direction of its rate is better.
    pub better: Better,
    /// Whether it ends after a time, rather than when its work is done.
    pub timed: bool,
    /// What distinguishes it from other steps of its name and dop, such as `pinning` or `protocol`.
    pub labels: BTreeMap<String, String>,
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
    /// What it is: `checkpoint`, `autovacuum`.
    pub kind: String,
    /// What the log says.
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

/// A warning with what it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredWarning {
    /// The trial, `None`: the whole experiment.
    pub trial: Option<TrialId>,
    /// The step, `None`: the whole trial or experiment.
    pub step: Option<StepId>,
    /// What to know.
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
    /// Whether the statement was retried.
    pub retried: bool,
}

/// A step with all its measurements, stored in one transaction.
///
/// [`StepRecord::new`] creates one without measurements, to be filled in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepRecord {
    /// Place in the trial; unique there.
    pub ordinal: u32,
    /// Name, such as `l.i0`.
    pub name: String,
    /// Number of clients.
    pub dop: u32,
    /// What it was for.
    pub kind: StepKind,
    /// How it ended.
    pub state: StepState,
    /// When it began, milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// How long it took.
    pub seconds: f64,
    /// Operations done.
    pub operations: u64,
    /// What it counts.
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
    /// What the DBMS did by itself meanwhile.
    pub events: Vec<LogEvent>,
    /// What to know along with the figures.
    pub warnings: Vec<Warning>,
    /// Errors of statements.
    pub failures: Vec<Failure>,
    /// Lines of text: what settling did, what could not be measured.
    pub notes: Vec<String>,
}

impl StepRecord {
    /// A finished, measured step without measurements.
    pub fn new(ordinal: u32, name: &str, dop: u32) -> Self {
        StepRecord { ordinal, name: name.to_owned(), dop, ..StepRecord::default() }
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
    /// Name.
    pub name: String,
    /// Number of clients.
    pub dop: u32,
    /// What it was for.
    pub kind: StepKind,
    /// How it ended.
    pub state: StepState,
    /// When it began, milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// How long it took.
    pub seconds: f64,
    /// Operations done.
    pub operations: u64,
    /// What it counts.
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
    /// Name of the step; shared, so many rows cost little.
    pub name: std::sync::Arc<str>,
    /// Number of clients.
    pub dop: u32,
    /// What it was for.
    pub kind: StepKind,
    /// How long it took.
    pub seconds: f64,
    /// Operations done.
    pub operations: u64,
    /// What it counts; shared, like the name.
    pub measure: std::sync::Arc<Measure>,
    /// One value per requested metric, in that order; NaN if the step doesn't have it.
    pub values: Vec<f64>,
}
