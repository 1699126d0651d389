//! What a run tells of itself while it is under way.

use serde::{Deserialize, Serialize};

use super::documents::FORMAT;

/// The runs under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveDocument {
    /// Version of this shape: 1.
    pub format: u32,
    /// False in a static site, which knows of no runs.
    pub service: bool,
    /// The runs, in the order in which they began.
    pub runs: Vec<LiveRun>,
    /// Names of the plans that can be started; null if none can.
    pub plans: Option<Vec<String>>,
}

impl LiveDocument {
    /// That of a static site.
    pub fn of_site() -> LiveDocument {
        LiveDocument { format: FORMAT, service: false, runs: Vec::new(), plans: None }
    }

    /// That of a service.
    pub fn of_service(mut runs: Vec<LiveRun>) -> LiveDocument {
        runs.sort_by_key(|run| (run.began_ms, run.process));
        LiveDocument { format: FORMAT, service: true, runs, plans: None }
    }
}

/// A run, or a count, under way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveRun {
    /// Number of its process.
    pub process: u32,
    /// The machine that tells of it, by the name of its token; null on the service's own.
    pub machine: Option<String>,
    /// Its name; empty until it is known.
    pub name: String,
    /// Number of its experiment; null until it is known.
    pub experiment: Option<i64>,
    /// When it began, in milliseconds since 1970 (UTC).
    pub began_ms: i64,
    /// Seconds that it may take; null without a budget.
    pub budget: Option<f64>,
    /// Seconds of the budget that are used.
    pub used: f64,
    /// How many parts are done.
    pub done: u64,
    /// How many there are; null if that is not known.
    pub all: Option<u64>,
    /// What a part is: `step`, `count` or `restart`.
    pub part: String,
    /// What it is at, such as a trial; empty if it is at nothing in particular.
    pub at: String,
    /// The step that runs; null between steps.
    pub step: Option<LiveStep>,
    /// What comes next, as far as it is known.
    pub next: Option<String>,
    /// The comparisons as they are.
    pub intervals: Vec<LiveInterval>,
    /// Its warnings, each once.
    pub warnings: Vec<String>,
    /// Its latest lines, the oldest first.
    pub log: Vec<String>,
}

/// A step that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveStep {
    /// Its name.
    pub name: String,
    /// When it began, in milliseconds since 1970 (UTC).
    pub began_ms: i64,
    /// Seconds that it takes; null if that is not known.
    pub seconds: Option<f64>,
}

/// A comparison of a variant with the base while its run is under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveInterval {
    /// The step.
    pub step: String,
    /// The variant.
    pub variant: String,
    /// Its throughput as a fraction of the base's; null if that is no number.
    pub ratio: Option<f64>,
    /// Lower end of the interval at the confidence of the next look; null after few restarts.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The margin, as a fraction.
    pub margin: f64,
    /// The verdict if this were a look; null if it is undecided.
    pub verdict: Option<String>,
}
