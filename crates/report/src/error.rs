//! Errors between the store and the reader.

use std::path::PathBuf;

/// Why a comparison or a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// No such experiment.
    #[error(
        "no experiment `{asked}`; there are {}, and `steelyard list` shows their numbers",
        listed(.known)
    )]
    UnknownExperiment {
        /// The requested value.
        asked: String,
        /// The available ones.
        known: Vec<String>,
    },
    /// The store is empty.
    #[error(
        "expected an experiment in the results directory, found none; create one with `steelyard run`"
    )]
    NoExperiment,
    /// The experiment of this name has counts rather than trials.
    #[error("expected a run, found {0}, which counts instructions; choose another experiment")]
    NotARun(String),
    /// The blocks of the experiment of this name ran on one machine.
    #[error(
        "expected blocks of several machines in experiment {0}, found those of one; leave out --by"
    )]
    OneMachine(String),
    /// The experiment of this name compares no step that has several classes of statements.
    #[error(
        "expected two variants in a step with several classes of statements (transactions of a mix, forms of a log) in experiment {0}, found none; leave out --by"
    )]
    OneClass(String),
    /// The experiment of this name has no counts.
    #[error(
        "expected instruction counts in experiment {0}, found none; create them with `steelyard count`"
    )]
    NoCounts(String),
    /// The event was not counted.
    #[error(
        "expected an event that was counted ({}), found `{event}`; count others with `steelyard count --caches`",
        .known.join(", ")
    )]
    NotCounted {
        /// The requested one.
        event: String,
        /// Those that were.
        known: Vec<String>,
    },
    /// `base` is not a variant.
    #[error("expected the base to be one of {}, found {asked}; name one of these", listed(.known))]
    UnknownBase {
        /// The requested value.
        asked: String,
        /// The variants.
        known: Vec<String>,
    },
    /// The requested margin is outside (0, 1).
    #[error("expected a margin between 0 and 1 such as 0.02 for 2%, found {0}")]
    BadMargin(f64),
    /// No trial has been finished.
    #[error(
        "expected finished trials in the chosen experiments, found none; resume a run, or run one to its end"
    )]
    NoTrials,
    /// A deviation needs two trials.
    #[error(
        "expected at least 2 finished trials of a setup (machine, configuration, number of clients), found 1 of each; run more blocks"
    )]
    TooFewTrials,
    /// An experiment has no such variant.
    #[error(
        "expected a variant of experiment {experiment}, found {asked}; its variants are {}",
        listed(.known)
    )]
    UnknownVariant {
        /// The requested value.
        asked: String,
        /// Number and name of the experiment.
        experiment: String,
        /// Its variants.
        known: Vec<String>,
    },
    /// A variant of another experiment was asked for by one of this.
    #[error("expected a variant of another experiment, found {0}, which is of this one")]
    SameExperiment(String),
    /// Variants of another experiment can't be shown beside those of this one.
    #[error(
        "experiment {experiment} has {what} ({}), which can't be compared with {}; choose experiments with the same steps",
        .labels[0],
        .labels[1]
    )]
    OtherWorkload {
        /// Number of the other.
        experiment: i64,
        /// The difference.
        what: &'static str,
        /// What it ran, and what this one did.
        labels: [String; 2],
    },
    /// No step has this metric.
    #[error(
        "expected a metric such as o/s, found {asked}{}; available are {}",
        did_you_mean(.nearest),
        listed(.known)
    )]
    UnknownMetric {
        /// The requested value.
        asked: String,
        /// Known ones that were probably meant.
        nearest: Vec<String>,
        /// The available ones.
        known: Vec<String>,
    },
    /// A metric that can't be judged.
    #[error(
        "expected a metric that can be judged, found {asked}{}; available are {}",
        did_you_mean(.nearest.as_slice()),
        listed(.known)
    )]
    NotJudgeable {
        /// The requested value.
        asked: String,
        /// A known one with a similar name.
        nearest: Option<String>,
        /// Metrics that can be judged.
        known: Vec<String>,
    },
    /// No trial has this step.
    #[error("expected one of the steps {}, found {asked}; name one of these", listed(.known))]
    UnknownStep {
        /// The requested value.
        asked: String,
        /// The available ones.
        known: Vec<String>,
    },
    /// The requested limit of variation is outside (0, 1).
    #[error("expected a limit between 0 and 1 such as 0.03 for 3%, found {0}")]
    BadLimit(f64),
    /// The queries of all trials failed or gave wrong results.
    #[error("expected results that can be compared, found none: {}", .0.join("; "))]
    AllLeftOut(Vec<String>),
    /// Nothing can be put in this order.
    #[error(
        "ordering by {order} needs a {order} for every trial, found none for {}; choose another order",
        listed(.systems)
    )]
    NoRuns {
        /// `version` or `commit`.
        order: &'static str,
        /// The variants.
        systems: Vec<String>,
    },
    /// No trials that are stored tell how much a plan's steps vary.
    #[error(
        "expected stored trials with the workload and steps of {plan} ({}), found {found}; run a pilot of 3 blocks first",
        listed(.steps)
    )]
    NoPilot {
        /// Name of the plan.
        plan: String,
        /// Its steps.
        steps: Vec<String>,
        /// The stored trials that do not fit, in words.
        found: String,
    },
    /// Not even two blocks fit.
    #[error(
        "expected a budget of at least {needed} for two blocks, found {budget}; allow more time or use fewer steps, variants or rows"
    )]
    BudgetTooSmall {
        /// The given budget.
        budget: String,
        /// The time two blocks need.
        needed: String,
    },
    /// A plan generated here is invalid.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
    /// A stored histogram could not be read back.
    #[error(
        "the histogram of class {class} in step {step} is not a valid HdrHistogram V2 ({detail}); the results may come from a newer steelyard"
    )]
    Histogram {
        /// Name of the step.
        step: String,
        /// Class of statement.
        class: String,
        /// The decoder's message.
        detail: String,
    },
    /// This binary does not contain the page.
    #[error("this binary was built without the report's page; run `make build`")]
    NoPage,
    /// The report could not be written.
    #[error("could not write the report to {}: {source}; choose a writable path", .path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A profile could not be read.
    #[error("could not read the profile {}: {source}; remove it to continue without it", .path.display())]
    ReadProfile {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file is not a profile.
    #[error(
        "expected a call stack and its number of samples in line {line} of {}, found `{found}`; remove the file to continue without it",
        .path.display()
    )]
    NoProfile {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The text found there.
        found: String,
    },
    /// A flamegraph could not be drawn.
    #[error("could not draw a flamegraph: {0}; its stacks are among the artifacts")]
    Draw(#[source] std::io::Error),
    /// Nothing was profiled.
    #[error("expected profiles of {asked}, found none; {}", why_not(.notes))]
    NoProfiles {
        /// A step, or the experiment.
        asked: String,
        /// The notes recorded when they could not be taken.
        notes: Vec<String>,
    },
    /// A value could not be turned into JSON.
    #[error("could not write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

fn why_not(notes: &[String]) -> String {
    if notes.is_empty() {
        "run with --profile to take them; a step that is named can be explained without".to_owned()
    } else {
        notes.join("; ")
    }
}

fn did_you_mean(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return String::new();
    }
    format!(" (did you mean {}?)", nearest.join(" or "))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
