//! What a run tells while it goes on.

use std::time::Duration;

use report::labelled;
use store::StepRecord;
use workload::{End, Phase, Program, Step};

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
        /// Measured steps in each trial, with their dop apart; without those that load once.
        steps: usize,
        /// Its time, where the run chooses itself how to spend it.
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
        /// Number of clients.
        dop: u32,
    },
    /// The load for the trials of a variant and dop begins: steps follow.
    LoadBegan {
        /// The variant.
        variant: String,
        /// Number of clients.
        dop: u32,
    },
    /// A load has ended, and what it left is kept.
    Kept {
        /// Names the content.
        digest: String,
        /// Number of files.
        files: usize,
        /// Bytes in them.
        bytes: u64,
        /// How long it took to flush and read them.
        seconds: f64,
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
        unit: String,
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
        /// The variant, where several trials are under way.
        variant: Option<String>,
        /// Operations per second; `None` for settling.
        rate: Option<f64>,
        /// `rows` or `queries`; empty for settling.
        unit: String,
        /// How long it took.
        seconds: f64,
        /// What to know about its figures.
        warnings: Vec<String>,
    },
    /// A trial has ended well.
    TrialEnded,
    /// An adaptive run has looked at its results and goes on.
    Look {
        /// Blocks so far.
        blocks: u32,
        /// How many comparisons are decided.
        decided: usize,
        /// Of how many.
        all: usize,
        /// Those that are not, such as `pg14.3 l.i1 ±3.1%`.
        open: Vec<String>,
        /// What comes until the next look, such as `2 more blocks of pg13.7, pg14.3, up to l.i1`.
        next: String,
        /// How many trials that is.
        trials: usize,
        /// How many measured steps the missing ones of these have together.
        steps: usize,
    },
    /// A run that designs itself has restarted its servers once more.
    Narrowing {
        /// Restarts so far.
        restarts: u32,
        /// Time used so far.
        used: Duration,
        /// How the comparisons stand.
        rows: Vec<IntervalRow>,
    },
    /// Counting of instructions begins.
    CountBegan {
        /// Name of the experiment.
        name: String,
        /// How many counts there will be.
        counts: usize,
    },
    /// The data of a variant are there for its statements to be counted.
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
    /// Some counts did not agree, and come once more.
    CountAgain {
        /// Which, such as `insert-5 (simple) of pg18.1`.
        differ: Vec<String>,
        /// How many counts that is, with those that have to come before on the same servers.
        counts: usize,
    },
    /// All trials or counts are there.
    Ended,
}

/// How a comparison stands while a run goes on.
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
    /// The word for what the interval would mean if this were a look; `None` where nothing is
    /// decided.
    pub verdict: Option<&'static str>,
}

impl Event {
    /// A phase begins, on so many servers at once.
    pub(crate) fn phase_began(phase: &Phase, dop: u32, servers: usize) -> Event {
        match phase {
            Phase::Step(step) | Phase::Program(Program { step, .. }) => Event::StepBegan {
                name: labelled(&step.name, None, &step.labels),
                dop,
                operations: planned(step).map(|operations| operations * servers as u64),
                seconds: step.seconds.map(|seconds| seconds * servers as f64),
                unit: step.unit.to_string(),
            },
            Phase::Settle { .. } => Event::untimed_began(phase_name(phase), dop),
        }
    }

    /// Something between the steps begins, of which nobody knows how long it takes.
    pub(crate) fn untimed_began(name: &str, dop: u32) -> Event {
        Event::StepBegan {
            name: name.to_owned(),
            dop,
            operations: None,
            seconds: None,
            unit: String::new(),
        }
    }

    /// A phase, or something between the steps, has ended well; it names the variant where several
    /// are under way.
    pub(crate) fn step_ended(record: &StepRecord, variant: Option<&str>) -> Event {
        Event::StepEnded {
            name: labelled(&record.name, None, &record.measure.labels),
            variant: variant.map(str::to_owned),
            rate: record.metric(metrics::OPS.name),
            unit: record.measure.unit.clone(),
            seconds: record.seconds,
            warnings: record.warnings.iter().map(|warning| warning.text.clone()).collect(),
        }
    }
}

/// The name of a phase in results.
pub(crate) fn phase_name(phase: &Phase) -> &str {
    phase.step().map_or("settle", |step| &step.name)
}

/// Operations of a step that ends by its work; `None` for one that can't show how far it is.
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
