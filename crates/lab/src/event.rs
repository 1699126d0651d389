//! What a run tells while it goes on.

use std::time::Duration;

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A line for people: something fetched, swept up, odd.
    Note(String),
    /// The experiment begins or goes on.
    Began {
        /// Its name.
        name: String,
        /// Trials it consists of.
        trials: usize,
        /// Trials already finished by an earlier run.
        finished: usize,
        /// Measured steps in each trial, with their dop apart.
        steps: usize,
    },
    /// A trial begins.
    TrialBegan {
        /// Its number in the order of execution, from 1.
        number: usize,
        /// Its block, from 1.
        block: u32,
        /// The variant.
        variant: String,
        /// Number of clients.
        dop: u32,
    },
    /// A step begins.
    StepBegan {
        /// The step.
        name: String,
        /// Number of clients.
        dop: u32,
        /// Operations it will do, where that is known.
        operations: Option<u64>,
        /// Seconds it will take, where that is known.
        seconds: Option<f64>,
        /// `rows` or `queries`; empty for settling.
        unit: &'static str,
    },
    /// How far a step is.
    Progress {
        /// Operations so far.
        operations: u64,
        /// Time since its start.
        elapsed: Duration,
    },
    /// A step has ended and is in the store.
    StepEnded {
        /// The step.
        name: String,
        /// Operations per second; `None` for settling.
        rate: Option<f64>,
        /// `rows` or `queries`; empty for settling.
        unit: &'static str,
        /// How long it took.
        seconds: f64,
        /// What to know about its figures.
        warnings: Vec<String>,
    },
    /// A trial has ended well.
    TrialEnded,
    /// All trials are there.
    Ended,
}
