//! What can go wrong between the store and the reader.

use std::path::PathBuf;

/// Why a comparison or a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// No such experiment.
    #[error("expected an experiment called {asked}, found {}; name one of these", listed(.known))]
    UnknownExperiment {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The store is empty.
    #[error(
        "expected an experiment in the results directory, found none; `steelyard run` makes one"
    )]
    NoExperiment,
    /// The experiment of this name was asked for trials and has counts.
    #[error(
        "expected a run, found {0}, in which instructions were counted; choose another experiment"
    )]
    NotARun(String),
    /// The experiment of this name has no counts.
    #[error(
        "expected instruction counts in experiment {0}, found none; `steelyard count` makes them"
    )]
    NoCounts(String),
    /// `base` names no variant.
    #[error("expected the base to be one of {}, found {asked}; name one of these", listed(.known))]
    UnknownBase {
        /// What was asked for.
        asked: String,
        /// The variants.
        known: Vec<String>,
    },
    /// This margin was asked for, outside (0, 1).
    #[error("expected a margin between 0 and 1 such as 0.02 for 2%, found {0}")]
    BadMargin(f64),
    /// No trial has been finished.
    #[error(
        "expected finished trials in the experiments chosen, found none; `steelyard run --resume` goes on with one"
    )]
    NoTrials,
    /// A deviation takes two.
    #[error(
        "expected at least 2 finished trials of a setup (machine, configuration, number of clients), found 1 of each; run more blocks"
    )]
    TooFewTrials,
    /// No step has this metric.
    #[error("expected a metric such as o/s, found {asked}; there are {}", listed(.known))]
    UnknownMetric {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A metric that no verdict can be about.
    #[error(
        "expected a metric that can be judged, found {asked}{}; there are {}",
        .nearest.as_ref().map_or(String::new(), |nearest| format!(", which may mean {nearest}")),
        listed(.known)
    )]
    NotJudgeable {
        /// What was asked for.
        asked: String,
        /// The known one that it looks like.
        nearest: Option<String>,
        /// What can be judged.
        known: Vec<String>,
    },
    /// No trial has this step.
    #[error("expected one of the steps {}, found {asked}; name one of these", listed(.known))]
    UnknownStep {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: Vec<String>,
    },
    /// This limit of variation was asked for, outside (0, 1).
    #[error("expected a limit between 0 and 1 such as 0.03 for 3%, found {0}")]
    BadLimit(f64),
    /// Nothing can be put in this order.
    #[error(
        "expected a {order} with every trial to put them in that order, found none with {}; choose another order",
        listed(.systems)
    )]
    NoRuns {
        /// `version` or `commit`.
        order: &'static str,
        /// The variants.
        systems: Vec<String>,
    },
    /// Nothing is known about the workload of the plan of this name.
    #[error(
        "expected stored trials of the workload of {0}, found none; run a pilot first: `steelyard run PLAN --blocks 3`"
    )]
    NoPilot(String),
    /// Not even two blocks fit.
    #[error(
        "expected a budget of at least {needed} for two blocks, found {budget}; give more time or take fewer steps, variants or rows"
    )]
    BudgetTooSmall {
        /// What was given.
        budget: String,
        /// What two blocks take.
        needed: String,
    },
    /// A plan made here is none.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
    /// A stored histogram could not be read back.
    #[error(
        "expected an HdrHistogram (V2) for class {class} of step {step}, found bytes that are none ({detail}); the results may come from a newer steelyard"
    )]
    Histogram {
        /// Name of the step.
        step: String,
        /// Class of statement.
        class: String,
        /// What the decoder said.
        detail: String,
    },
    /// This binary has no page in it.
    #[error(
        "expected the report's page inside this binary, found it was built without the page: run `make build`"
    )]
    NoPage,
    /// The report could not be written.
    #[error("could not write the report to {}: {source}; choose a place that can be written to", .path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A profile could not be read.
    #[error("could not read the profile {}: {source}; remove it to do without", .path.display())]
    ReadProfile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A profile is none.
    #[error(
        "expected a call stack and its number of samples in line {line} of {}, found `{found}`; remove the file to do without",
        .path.display()
    )]
    NoProfile {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// A flamegraph could not be drawn.
    #[error("a flamegraph could not be drawn: {0}; its stacks are among the artifacts")]
    Draw(#[source] std::io::Error),
    /// Nothing was profiled.
    #[error("expected profiles of {asked}, found none; {}", why_not(.notes))]
    NoProfiles {
        /// A step, or the experiment.
        asked: String,
        /// What was noted when they could not be taken.
        notes: Vec<String>,
    },
    /// A value could not be turned into JSON.
    #[error("could not write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

fn why_not(notes: &[String]) -> String {
    if notes.is_empty() {
        "`steelyard run --profile` takes them, and `steelyard compare` shows as a warning where it could not".to_owned()
    } else {
        notes.join("; ")
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
