//! One trial: a variant on a fresh server going through the steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dbms::{Ledger, ServerUser};
use store::{ExperimentId, StepRecord, StepState, Store, TrialId};
use workload::{Phase, stream_seed};

use crate::attempt::Attempt;
use crate::error::Error;
use crate::event::Event;
use crate::fitness::Fitness;
use crate::options::Options;
use crate::prepare::Prepared;
use crate::profile::Profiler;
use crate::restore::Loads;
use crate::settle::{rest, settle};
use crate::step::Trouble;

/// What all trials of a run share.
pub struct Bench<'a> {
    pub prepared: &'a Prepared,
    pub options: &'a Options,
    pub ledger: &'a Ledger,
    pub user: &'a ServerUser,
    pub interrupted: &'a AtomicBool,
    pub seed: u64,
    /// Takes profiles, where the plan wants them and this machine can.
    pub profiler: Option<Profiler>,
    /// What was loaded for the trials to begin on.
    pub loads: Loads,
}

/// Which trial it is.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub experiment: ExperimentId,
    pub trial: TrialId,
    pub variant: usize,
    pub block: u32,
    pub dop: u32,
    /// How many of the workload's steps it goes through, from the first.
    pub steps: usize,
    /// Whether it is run again where it turns out polluted; it is broken off then.
    pub again: bool,
}

impl Bench<'_> {
    /// Runs one trial; every finished step is in the store when this returns, whatever it returns. One
    /// that is polluted and can be run again ends with the step that showed it.
    pub fn trial(
        &self,
        place: Place,
        store: &Store,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Fitness, Error> {
        let mut attempt = self.begin_and_tell(place, store, on_event)?;
        let result = self.set_up(&mut attempt, store).and_then(|()| {
            let benchmark = Arc::clone(&attempt.benchmark);
            for (phase, ordinal) in benchmark.phases.iter().zip(0..).skip(attempt.first) {
                self.phase(&mut attempt, phase, ordinal, store, on_event)?;
                if attempt.in_vain() {
                    break;
                }
            }
            Ok(())
        });
        let fitness = attempt.fitness.clone();
        self.end(attempt, result, store)?;
        Ok(fitness)
    }

    /// Has a trial go through one phase, and records it.
    pub fn phase(
        &self,
        attempt: &mut Attempt<'_>,
        phase: &Phase,
        ordinal: u32,
        store: &Store,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        let place = attempt.place;
        let name = phase_name(phase);
        let mut record = StepRecord::new(ordinal, name, place.dop);
        record.started_ms = store::now_ms();
        record.notes.extend(attempt.among.clone());
        on_event(began(phase, place.dop));
        let outcome = match phase {
            Phase::Settle { rows } => self.settle(attempt, *rows, record),
            Phase::Step(step) => self.step(attempt, &Arc::new(step.clone()), record, on_event),
        };
        let trouble = match outcome {
            Ok((record, trouble)) => {
                store.record_step(place.trial, &record)?;
                if trouble.is_none() {
                    let name = &attempt.subject.variant.name;
                    on_event(ended(phase, &record, attempt.among.as_ref().map(|_| &**name)));
                }
                trouble
            }
            Err(trouble) => {
                record_failed(place, name, ordinal, store);
                Some(trouble)
            }
        };
        match trouble {
            None if self.interrupted.load(Ordering::Relaxed) => Err(Error::Interrupted),
            None => Ok(()),
            Some(Trouble::Interrupted) => Err(Error::Interrupted),
            Some(Trouble::Failed(reason)) => Err(attempt.failed(name, reason)),
        }
    }

    fn settle(
        &self,
        attempt: &mut Attempt<'_>,
        rows: u64,
        record: StepRecord,
    ) -> Result<(StepRecord, Option<Trouble>), Trouble> {
        attempt.counted = None;
        let pause = rest(rows, self.prepared.plan.settle_seconds_scale);
        let ours = attempt.owned();
        let directory = ours.then_some(self.options.data_dir.as_path());
        let tables = &attempt.benchmark.tables;
        let server = attempt.server.as_mut();
        settle(server, ours, tables, directory, pause, self.interrupted, record)
            .map(|record| (record, None))
            .map_err(|error| match error {
                Error::Interrupted => Trouble::Interrupted,
                error => Trouble::Failed(error.to_string()),
            })
    }

    /// The seed of what is drawn in a block: the same for all variants.
    pub fn draw_seed(&self, block: u32) -> u64 {
        stream_seed(self.seed, "block", 0, block, "")
    }
}

/// The name of a phase in results.
pub fn phase_name(phase: &Phase) -> &str {
    match phase {
        Phase::Step(step) => &step.name,
        Phase::Settle { .. } => "settle",
    }
}

/// Records a phase of which there is nothing but that it failed.
pub fn record_failed(place: Place, name: &str, ordinal: u32, store: &Store) {
    let mut record = StepRecord::new(ordinal, name, place.dop);
    record.started_ms = store::now_ms();
    record.state = StepState::Failed;
    // The trouble is what to tell, even where it can't be stored.
    let _ = store.record_step(place.trial, &record);
}

/// The event for a phase that begins.
pub fn began(phase: &Phase, dop: u32) -> Event {
    match phase {
        Phase::Step(step) => Event::StepBegan {
            name: step.name.clone(),
            dop,
            operations: planned(step),
            seconds: step.seconds,
            unit: step.unit.to_string(),
        },
        Phase::Settle { .. } => Event::StepBegan {
            name: "settle".to_owned(),
            dop,
            operations: None,
            seconds: None,
            unit: String::new(),
        },
    }
}

/// Operations of a step that ends by its work; `None` for one that can't show how far it is.
pub fn planned(step: &workload::Step) -> Option<u64> {
    if step.operations.is_some() {
        return None;
    }
    step.streams
        .iter()
        .filter(|stream| stream.class == step.counted)
        .map(|stream| match stream.end {
            workload::End::Rounds(rounds) => Some(rounds * stream.operations_per_round),
            workload::End::Time | workload::End::CaughtUp => None,
        })
        .sum()
}

/// The event for a phase that ended well; it names the variant where several are under way.
pub fn ended(phase: &Phase, record: &StepRecord, variant: Option<&str>) -> Event {
    let rate = record.metrics.iter().find(|(name, _)| name == "o/s").map(|(_, rate)| *rate);
    let unit = match phase {
        Phase::Step(step) => step.unit.to_string(),
        Phase::Settle { .. } => String::new(),
    };
    Event::StepEnded {
        name: record.name.clone(),
        variant: variant.map(str::to_owned),
        rate,
        unit,
        seconds: record.seconds,
        warnings: record.warnings.iter().map(|warning| warning.text.clone()).collect(),
    }
}
