//! Loading once: the steps up to the plan's `restore_after` run once per variant and dop, and what they left is kept
//! while the run lasts, for its trials to begin on copies of it.
//!
//! A load is stored as a trial of its own, in [`LOAD_BLOCK`]: its steps are results, one of each variant, and none of
//! the blocks that verdicts come from. It draws its parameters from that block's seed, so all loads of a dop insert the
//! same values; the steps after it draw from their own block's.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dbms::{Loaded, Restored};
use plan::Plan;
use store::{StepKind, StepRecord, Store, Warning};
use workload::{Benchmark, Phase};

use crate::attempt::Attempt;
use crate::error::Error;
use crate::event::Event;
use crate::prepare::Subject;
use crate::trial::{Bench, Place};

/// The block in which loads are stored; those of trials begin with 1.
pub const LOAD_BLOCK: u32 = 0;

/// What was loaded and is kept, by variant (its position in the plan) and dop. Removed when this is dropped.
#[derive(Debug, Default)]
pub struct Loads {
    kept: Mutex<BTreeMap<(usize, u32), Arc<Loaded>>>,
}

impl Loads {
    /// The state in which a trial begins; `None`: on an empty server. So does a load.
    pub fn of(&self, place: Place) -> Option<Arc<Loaded>> {
        if place.block == LOAD_BLOCK { None } else { self.get(place.variant, place.dop) }
    }

    /// What is kept for the trials of this variant and dop.
    pub fn get(&self, variant: usize, dop: u32) -> Option<Arc<Loaded>> {
        self.lock().get(&(variant, dop)).cloned()
    }

    /// Whether trials of this variant and dop can begin.
    pub fn has(&self, variant: usize, dop: u32) -> bool {
        self.lock().contains_key(&(variant, dop))
    }

    /// Removes all that is kept.
    pub fn discard(&self) {
        // What cannot be removed stays in the ledger for the next run.
        self.lock().clear();
    }

    fn keep(&self, place: Place, loaded: Loaded) {
        self.lock().insert((place.variant, place.dop), Arc::new(loaded));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(usize, u32), Arc<Loaded>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many of a benchmark's phases belong to the load: those up to the plan's `restore_after`, and the settling that
/// follows it. 0 where every trial loads.
pub fn load_phases(plan: &Plan, benchmark: &Benchmark) -> usize {
    let steps = plan.workload.steps().get(..plan.loaded_steps()).unwrap_or_default();
    let in_load = |phase: &Phase| match phase {
        Phase::Step(step) => steps.contains(&step.name),
        Phase::Settle { .. } => true,
    };
    benchmark.phases.iter().take_while(|phase| in_load(phase)).count()
}

/// Checks that what a plan wants to have kept can be kept.
///
/// # Errors
///
/// [`Error::NoCopy`] for a server that already runs.
pub fn check(plan: &Plan, subjects: &[Subject]) -> Result<(), Error> {
    let running = subjects.iter().find(|subject| subject.installation.bin_dir.is_none());
    match (&plan.restore_after, running) {
        (Some(_), Some(subject)) => Err(Error::NoCopy { variant: subject.variant.name.clone() }),
        _ => Ok(()),
    }
}

impl<'a> Bench<'a> {
    /// [`Bench::begin`], telling of the copy that is made where the plan loads once.
    pub fn begin_and_tell(
        &self,
        place: Place,
        store: &Store,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Attempt<'a>, Error> {
        if self.loads.of(place).is_some() {
            on_event(Event::StepBegan {
                name: "restore".to_owned(),
                dop: place.dop,
                operations: None,
                seconds: None,
                unit: String::new(),
            });
        }
        let attempt = self.begin(place, store)?;
        if let Some(record) = &attempt.restored {
            on_event(Event::StepEnded {
                name: record.name.clone(),
                variant: None,
                rate: None,
                unit: String::new(),
                seconds: record.seconds,
                warnings: Vec::new(),
            });
        }
        Ok(attempt)
    }

    /// Loads for a variant and dop, and keeps the state for its trials in place of one that was kept before. Every
    /// finished step is in the store when this returns, whatever it returns.
    pub fn load(
        &self,
        place: Place,
        store: &Store,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        let mut attempt = self.begin(place, store)?;
        let benchmark = Arc::clone(&attempt.benchmark);
        let phases = load_phases(&self.prepared.plan, &benchmark);
        let result = self.set_up(&mut attempt, store).and_then(|()| {
            benchmark.phases.iter().zip(0..).take(phases).try_for_each(|(phase, ordinal)| {
                self.phase(&mut attempt, phase, ordinal, store, on_event)
            })
        });
        let stopped = self.stop(attempt, result, store)?;
        let mut record = between("keep", phases, place.dop);
        let loaded = stopped.keep(self.interrupted)?;
        let manifest = loaded.manifest();
        record.seconds = (store::now_ms() - record.started_ms) as f64 / 1000.0;
        record.notes = vec![format!(
            "kept as load {}: {} files, {}",
            manifest.digest(),
            manifest.files(),
            size(manifest.bytes())
        )];
        record.metrics = vec![("load.bytes".to_owned(), manifest.bytes() as f64)];
        store.record_step(place.trial, &record)?;
        on_event(Event::Kept {
            digest: manifest.digest(),
            files: manifest.files(),
            bytes: manifest.bytes(),
            seconds: record.seconds,
        });
        self.loads.keep(place, loaded);
        Ok(())
    }
}

/// The record of making the copy on which a trial begins, before its first phase of its own, `first`.
pub fn restore_record(restored: &Restored, first: usize, dop: u32, started_ms: i64) -> StepRecord {
    // The load has at least one phase, else there would be nothing to restore.
    let mut record = between("restore", first.saturating_sub(1), dop);
    record.started_ms = started_ms;
    record.seconds = restored.copy_seconds + restored.check_seconds + restored.read_seconds;
    let how = if restored.shared { "sharing its blocks" } else { "every byte copied" };
    record.notes = vec![
        format!(
            "copy of load {}: {} files, {}, {how}, in {:.1} s",
            restored.digest,
            restored.files,
            size(restored.bytes),
            restored.copy_seconds
        ),
        format!("the same to the byte, checked in {:.1} s", restored.check_seconds),
    ];
    if restored.read_seconds > 0.0 {
        record.notes.push(format!(
            "read by the server's control group in {:.1} s, so that its memory limit holds for cached pages",
            restored.read_seconds
        ));
    }
    record.metrics = vec![
        ("restore.copy".to_owned(), restored.copy_seconds),
        ("restore.check".to_owned(), restored.check_seconds),
        ("restore.read".to_owned(), restored.read_seconds),
        ("load.bytes".to_owned(), restored.bytes as f64),
    ];
    record
}

/// What to know about all intervals of an experiment that loads once.
pub fn one_load(plan: &Plan) -> Option<Warning> {
    let step = plan.restore_after.as_ref()?;
    Some(Warning {
        code: "one-load".to_owned(),
        text: format!(
            "all trials of a variant began on copies of one load (up to {step}): what differs between loads by chance \
             is not in the intervals"
        ),
    })
}

/// What to know where a run went on with another load.
pub fn loaded_again(variant: &str, dop: u32, loaded: &Loaded) -> Warning {
    Warning {
        code: "loaded-again".to_owned(),
        text: format!(
            "{variant}, dop {dop}: loaded again when the run went on; its trials from then on began on load {}",
            loaded.manifest().digest()
        ),
    }
}

/// A record of something done between the steps.
fn between(name: &str, ordinal: usize, dop: u32) -> StepRecord {
    let mut record = StepRecord::new(ordinal as u32, name, dop);
    record.kind = StepKind::Settle;
    record.started_ms = store::now_ms();
    record
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Dialect;

    /// Names of the phases that belong to the load, of a plan with these lines.
    fn load(whole: &str, workload: &str) -> Vec<String> {
        let text = format!(
            "{whole}\n[variants.a]\ndbms = \"postgres@14.3\"\n[workload.insert]\nrows = 1000\n{workload}\n"
        );
        let plan = Plan::parse(&text, None, "test").unwrap();
        let plan::WorkloadPlan::Insert(insert) = &plan.workload;
        let benchmark = workload::insert::benchmark(insert, 1, Dialect::postgres(14)).unwrap();
        let phases = benchmark.phases.iter().take(load_phases(&plan, &benchmark));
        phases.map(|phase| crate::trial::phase_name(phase).to_owned()).collect()
    }

    #[test]
    fn the_load_ends_with_its_step_and_the_settling_after_it() {
        assert_eq!(load("", ""), Vec::<String>::new());
        assert_eq!(load("restore_after = \"l.i0\"", ""), ["l.i0"]);
        assert_eq!(load("restore_after = \"l.x\"", ""), ["l.i0", "l.x"]);
        assert_eq!(load("restore_after = \"l.i1\"", ""), ["l.i0", "l.x", "l.i1"]);
        assert_eq!(load("restore_after = \"l.i2\"", ""), ["l.i0", "l.x", "l.i1", "l.i2", "settle"]);
    }

    #[test]
    fn what_is_recorded_of_a_copy() {
        let restored = Restored {
            digest: "0123456789abcdef".to_owned(),
            files: 1003,
            bytes: 1_280_000_000,
            shared: true,
            copy_seconds: 0.2,
            check_seconds: 0.5,
            read_seconds: 0.0,
        };
        let record = restore_record(&restored, 2, 4, 77);
        assert_eq!((record.ordinal, record.dop, record.kind), (1, 4, StepKind::Settle));
        assert!((record.seconds - 0.7).abs() < 1e-9);
        assert_eq!(
            record.notes[0],
            "copy of load 0123456789abcdef: 1003 files, 1.3 GB, sharing its blocks, in 0.2 s"
        );
        assert_eq!(record.notes.len(), 2);
    }
}
