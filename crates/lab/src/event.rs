//! Progress events of a run.

use std::time::Duration;

use plan::{Clients, StepKey};
use store::{Better, ExperimentId, StepRecord};
use workload::{End, Phase, Program, Step};

/// The dop of records made between the steps: no client is at work then.
pub(crate) const NO_CLIENTS: u32 = 0;

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A line for people: something fetched, cleaned up or unusual.
    Note(String),
    /// The experiment starts or continues.
    Began {
        /// Its number.
        experiment: ExperimentId,
        /// Its name.
        name: String,
        /// Number of trials.
        trials: usize,
        /// Trials already finished by an earlier run.
        finished: usize,
        /// Measured steps in each trial, at most; without those that load once.
        steps: usize,
        /// Its time budget, if the run designs itself.
        budget: Option<Duration>,
    },
    /// A trial begins.
    TrialBegan {
        /// Its number in the order of execution, from 1.
        number: usize,
        /// Its block, from 1.
        block: u32,
        /// The variant.
        variant: String,
        /// The clients of its steps.
        clients: Clients,
    },
    /// The load for the trials of a variant and sequence begins; its steps follow.
    LoadBegan {
        /// The variant.
        variant: String,
        /// The clients of the sequence's steps.
        clients: Clients,
    },
    /// A load has ended, and its data is kept.
    Kept {
        /// Digest of the content.
        digest: String,
        /// Number of files.
        files: usize,
        /// Bytes in them.
        bytes: u64,
        /// Time to flush and read them.
        seconds: f64,
    },
    /// A step begins.
    StepBegan {
        /// The step.
        name: String,
        /// Operations it will do, if known.
        operations: Option<u64>,
        /// Seconds it will take, if known.
        seconds: Option<f64>,
        /// `rows` or `queries`; empty for settling.
        unit: String,
    },
    /// Progress of a step.
    Progress {
        /// Operations so far.
        operations: u64,
        /// Time since its start.
        elapsed: Duration,
    },
    /// The servers are settled; what is left of settling is a wait for the host.
    Settling {
        /// The longest that all of settling takes, from its start.
        at_most: Duration,
    },
    /// A step has ended and is in the store.
    StepEnded {
        /// The step.
        name: String,
        /// The variant, if several trials are running.
        variant: Option<String>,
        /// Operations per second; `None` for settling.
        rate: Option<f64>,
        /// `rows` or `queries`; empty for settling.
        unit: String,
        /// Its duration.
        seconds: f64,
        /// Warnings about its figures.
        warnings: Vec<String>,
    },
    /// A trial has finished successfully.
    TrialEnded,
    /// An adaptive run has looked at its results and continues.
    Look(Look),
    /// A run with a budget ends with undecided comparisons.
    Enough {
        /// The budget that would help.
        budget: Duration,
        /// True if it would probably decide them. Before there are as many blocks as a verdict
        /// takes, that isn't known, and it has room for these.
        decides: bool,
    },
    /// A run that designs itself has restarted its servers once more.
    Narrowing {
        /// Restarts so far.
        restarts: u32,
        /// Time used so far.
        used: Duration,
        /// The state of the comparisons.
        rows: Vec<IntervalRow>,
    },
    /// Counting of instructions begins.
    CountBegan {
        /// Number of the experiment.
        experiment: ExperimentId,
        /// Its name.
        name: String,
        /// How many counts there will be.
        counts: usize,
    },
    /// The data of a variant is loaded.
    CountLoaded {
        /// The variant.
        variant: String,
    },
    /// A kind of statement was counted once.
    Counted {
        /// The variant.
        variant: String,
        /// The kind of statement, such as `insert-100`.
        kind: String,
        /// `simple` or `prepared`.
        protocol: &'static str,
        /// Instructions of one execution.
        instructions: u64,
    },
    /// Some counts did not agree and are repeated.
    CountAgain {
        /// Which, such as `insert-5 (simple) of pg18.1`.
        differ: Vec<String>,
        /// Number of counts, including those that have to run first on the same servers.
        counts: usize,
    },
    /// All trials or counts are finished.
    Ended,
}

/// The result of a look after which the run continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Blocks so far.
    pub blocks: u32,
    /// How many comparisons are decided.
    pub decided: usize,
    /// Number of comparisons, including those that can't be judged.
    pub all: usize,
    /// Those that are undecided, such as `pg14.3 l.i1 ±3.1%`.
    pub open: Vec<String>,
    /// Those that can't be judged, with the reason; further blocks can't help.
    pub unjudged: Vec<String>,
    /// The blocks until the next look, such as `2 more blocks of pg13.7, pg14.3, up to l.i1`.
    pub next: String,
    /// Number of trials in them.
    pub trials: usize,
    /// Number of measured steps in the trials still to run.
    pub steps: usize,
}

/// The state of a comparison during a run.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalRow {
    /// The step.
    pub step: String,
    /// The variant.
    pub variant: String,
    /// Its throughput as a fraction of the base's.
    pub ratio: f64,
    /// The interval of the ratio, at the confidence of the next look; `None` after few restarts.
    pub interval: Option<(f64, f64)>,
    /// The margin, as a fraction.
    pub margin: f64,
    /// The verdict if this were a look; `None` if undecided.
    pub verdict: Option<&'static str>,
}

impl Event {
    /// A phase of a sequence with these clients begins, on this many servers at once.
    pub(crate) fn phase_began(phase: &Phase, clients: Clients, servers: usize) -> Event {
        match phase {
            Phase::Step(step) | Phase::Program(Program { step, .. }) => Event::StepBegan {
                name: shown(&step.key, clients),
                operations: planned(step).map(|operations| operations * servers as u64),
                seconds: step.seconds.map(|seconds| seconds * servers as f64),
                unit: of_figure(&step.unit, step.less_is_better),
            },
            Phase::Settle { .. } | Phase::Check(_) => Event::untimed_began(phase_name(phase)),
        }
    }

    /// Something of unknown duration begins between the steps.
    pub(crate) fn untimed_began(name: &str) -> Event {
        Event::StepBegan {
            name: name.to_owned(),
            operations: None,
            seconds: None,
            unit: String::new(),
        }
    }

    /// A phase of a sequence with these clients, or something between the steps, has succeeded;
    /// names the variant if several are running.
    pub(crate) fn step_ended(
        record: &StepRecord,
        clients: Clients,
        variant: Option<&str>,
    ) -> Event {
        Event::StepEnded {
            name: shown(&record.key, clients),
            variant: variant.map(str::to_owned),
            rate: record.metric(metrics::OPS.name),
            unit: of_figure(&record.measure.unit, record.measure.better == Better::Less),
            seconds: record.seconds,
            warnings: record.warnings.iter().map(|warning| warning.text.clone()).collect(),
        }
    }
}

/// A step's name with what distinguishes it from others of its sequence.
fn shown(key: &StepKey, clients: Clients) -> String {
    key.label(key.dop != NO_CLIENTS && clients.only().is_none())
}

/// The unit of a step's figure: operations per second, or that of a cost.
fn of_figure(unit: &str, cost: bool) -> String {
    if cost { unit.to_owned() } else { format!("{unit}/s") }
}

/// The name of a phase in results.
pub(crate) fn phase_name(phase: &Phase) -> &str {
    match phase {
        Phase::Step(step) | Phase::Program(Program { step, .. }) => &step.key.name,
        Phase::Settle { .. } => "settle",
        Phase::Check(_) => "check",
    }
}

/// Operations of a step that ends by work; `None` for one that can't show its progress.
pub(crate) fn planned(step: &Step) -> Option<u64> {
    if step.operations.is_some() {
        return None;
    }
    step.streams
        .iter()
        .filter(|stream| stream.class == step.counted)
        .map(|stream| match stream.end {
            End::Rounds(rounds) => Some(rounds * stream.operations_per_round),
            End::Time | End::CaughtUp => None,
        })
        .sum()
}
