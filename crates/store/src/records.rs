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
    /// The purpose of an experiment.
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
        /// Repeated because something else took too much of the machine, or because its block was
        /// repeated on another machine; the error has the reason.
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
    /// The purpose of a step.
    #[derive(Default)]
    StepKind {
        /// Its throughput is a result.
        #[default]
        Measured = "measured",
        /// It paid off debt between measured steps; its notes give the details.
        Settle = "settle",
    }
);

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
    /// Its purpose.
    pub purpose: Purpose,
    /// Name from the plan.
    pub name: String,
    /// Name of the workload, such as `insert`.
    pub workload: String,
    /// Name of the variant that all others are compared with.
    pub base: String,
    /// Seed of the order of trials and of all parameters.
    pub seed: u64,
    /// Trials per variant and sequence in the plan.
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
    /// Its purpose.
    pub purpose: Purpose,
    /// Name from the plan.
    pub name: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the base variant.
    pub base: String,
    /// Seed of the order of trials and of all parameters.
    pub seed: u64,
    /// Trials per variant and sequence in the plan.
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

/// The prefix of a variant's `dbms` if another program printed its figures; the program's name
/// follows.
pub const IMPORTED: &str = "imported:";

/// Code of the warning of an experiment that failed for a reason that resuming can't change.
pub const FAILED: &str = "failed";

/// A new variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVariant {
    /// Name from the plan, unique in the experiment.
    pub name: String,
    /// `dbms` from the plan, or [`IMPORTED`]. A password is removed before it is stored.
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
    /// Number of the workload's sequence of steps that it goes through. For insert, it is computed
    /// from the number of clients.
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
    /// Number of the workload's sequence of steps that it goes through. For insert, it is computed
    /// from the number of clients.
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
