//! Profiles of a run's steps: what they need, found once, and where they are kept.
//!
//! Judged time is never profiled. A timed step continues for a while after its time
//! ([`Profiler::window`]), and the result of a step that ends by work excludes some seconds in its
//! middle (see [`crate::observe::profiling`]). Profiles are taken in the first [`BLOCKS`] blocks,
//! and those of a step and variant are combined: the profile of one trial is that of one server
//! start, and shares differ between starts by more than chance. Three starts show most of that, and
//! more would only take time.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dbms::{Entry, Ledger};
use plan::Plan;
use probe::perf::{CallGraph, Perf, PerfError};
use store::{ExperimentId, Scope, StepRecord, Store, TrialId, Warning};
use workload::Step;

/// Profiles are taken up to this block.
const BLOCKS: u32 = 3;
/// Time that a window needs besides sampling: to count events, and for `perf` to begin and to write
/// its data.
const BESIDES: Duration = Duration::from_secs(2);
/// How long `perf script` may take for a profile: it unwinds some thousand stacks a second.
const UNWIND_LIMIT: Duration = Duration::from_secs(120);
/// Above this share of samples in functions without a name, a profile says little.
const NAMELESS: f64 = 0.5;

/// Everything that the profiles of a run need.
#[derive(Debug)]
pub struct Profiler {
    /// The program.
    pub perf: Perf,
    /// How long each takes.
    length: Duration,
    /// Where they are kept.
    directory: PathBuf,
    call_graphs: Mutex<BTreeMap<PathBuf, CallGraph>>,
}

/// The results of profiling a step.
#[derive(Debug, Default)]
pub struct Profiled {
    /// Events and how many there were for each operation; `task-clock` in milliseconds.
    pub events: Vec<(String, f64)>,
    /// Folded stacks.
    pub folded: Option<String>,
    /// Says what is missing, and why.
    pub notes: Vec<String>,
}

/// Checks that this user can profile on this machine, before anything is fetched or started.
///
/// # Errors
/// Why not.
pub fn check_profiler() -> Result<(), PerfError> {
    Perf::find().map(drop)
}

impl Profiler {
    /// The profiler of a run, where the plan wants profiles; what can't be had is told once for the
    /// experiment.
    ///
    /// # Errors
    ///
    /// When the warning can't be stored.
    pub fn for_run(
        plan: &Plan,
        store: &Store,
        experiment: ExperimentId,
    ) -> Result<Option<Profiler>, store::StoreError> {
        if !plan.profile {
            return Ok(None);
        }
        let found = Perf::find();
        let warning = match &found {
            Ok(perf) if perf.missing.is_empty() => None,
            Ok(perf) => {
                let missing = perf.missing.join(", ");
                let text = format!(
                    "this machine can't count {missing}; profiles use {} instead",
                    perf.event
                );
                Some(Warning::new("not-counted", text))
            }
            Err(error) => {
                let text = format!("no profiles and no counts of events: {error}");
                Some(Warning::new("no-perf", text))
            }
        };
        if let Some(warning) = warning {
            // A run that was resumed has said it before.
            let known = store.warnings(experiment)?;
            if !known.iter().any(|other| other.trial.is_none() && other.warning == warning) {
                store.warn(experiment, None, &warning)?;
            }
        }
        Ok(found.ok().map(|perf| Profiler {
            perf,
            length: Duration::from_secs(plan.profile_seconds.into()),
            directory: report::profiles_directory(store.directory(), experiment),
            call_graphs: Mutex::default(),
        }))
    }

    /// How long a step's load has to go on for a profile.
    pub fn window(&self) -> Duration {
        self.length + BESIDES
    }

    /// How long the load of a step goes on after its time.
    pub fn overtime(&self, step: &Step, block: u32) -> Duration {
        let profiled = step.seconds.is_some() && in_block(block);
        if profiled { self.window() } else { Duration::ZERO }
    }

    /// How long loads went on for profiles in a block: a window for each.
    ///
    /// # Errors
    ///
    /// When the store can't be read.
    pub fn taken(
        &self,
        store: &Store,
        experiment: ExperimentId,
        block: u32,
    ) -> Result<Duration, store::StoreError> {
        // Counted everywhere, in each window.
        let event = metrics::EVENT.of("task-clock");
        let steps = store.step_values(experiment, &[&event], Scope::Results)?;
        let counted = |step: &&store::StepValues| {
            step.block == block && !step.values.iter().all(|it| it.is_nan())
        };
        Ok(self.window() * steps.iter().filter(counted).count() as u32)
    }

    /// How the call stacks of a process can be followed.
    pub fn call_graph(&self, pid: u32) -> CallGraph {
        let link = PathBuf::from(format!("/proc/{pid}/exe"));
        let program = fs::read_link(&link).unwrap_or_else(|_| link.clone());
        let mut known = self.call_graphs.lock().unwrap_or_else(PoisonError::into_inner);
        // Through the link, in case the program was replaced meanwhile.
        *known
            .entry(program)
            .or_insert_with(|| CallGraph::of_program(&link).unwrap_or(CallGraph::Dwarf))
    }

    /// Adds the results of profiling to a step's record, and keeps its stacks among the artifacts.
    pub fn keep(
        &self,
        record: &mut StepRecord,
        profiled: Profiled,
        variant: &str,
        block: u32,
        trial: TrialId,
    ) {
        let Profiled { events, folded, notes } = profiled;
        record.notes.extend(notes);
        for (event, cost) in events {
            record.add(metrics::EVENT.of(&event), cost);
        }
        let Some(folded) = folded else { return };
        let file = report::folded_file(&record.key, variant, block, trial);
        let path = self.directory.join(file);
        let mut read = report::Folded::default();
        if let Err(error) = read.add(&folded, &path) {
            record.notes.push(error.to_string());
        }
        if let Some(share) = read.nameless().filter(|share| *share > NAMELESS) {
            record.warn("few-symbols", format!(
                    "{:.0}% of the profile's samples are in functions without a name: the server has no symbols for them",
                    share * 100.0
                ));
        }
        let parent = path.parent().unwrap_or(&self.directory);
        let kept = fs::create_dir_all(parent).and_then(|()| fs::write(&path, folded));
        if let Err(error) = kept {
            record.notes.push(format!("could not keep the profile: {error}"));
        }
    }

    /// Folds what was recorded.
    ///
    /// # Errors
    ///
    /// As [`probe::perf::Recorded::fold`].
    pub fn fold(&self, recorded: probe::perf::Recorded) -> Result<String, PerfError> {
        recorded.fold(&self.perf, UNWIND_LIMIT)
    }
}

/// True if profiles are taken in this block; the load that runs once is block 0.
pub fn in_block(block: u32) -> bool {
    block <= BLOCKS
}

/// A directory for what `perf` writes, recorded so that it and a `perf` at work in it are found
/// after we were killed.
pub struct Scratch {
    /// The directory.
    pub path: PathBuf,
    entry: Option<Entry>,
}

impl Scratch {
    /// Makes it.
    ///
    /// # Errors
    ///
    /// When it can't be made or recorded.
    pub fn make(ledger: &Ledger, path: PathBuf, perf: &Perf) -> Result<Scratch, dbms::Error> {
        let mut entry = ledger.enter("profile")?;
        entry.make_directory(&path, 0o700)?;
        let path = std::path::absolute(&path).unwrap_or(path);
        entry.update(|record| {
            record.program = fs::canonicalize(&perf.path).ok();
            record.work_directory = Some(path.clone());
        })?;
        Ok(Scratch { path, entry: Some(entry) })
    }

    /// Removes it, once nothing writes into it.
    pub fn remove(&mut self) {
        if let Some(entry) = self.entry.take() {
            // What can't be removed stays in the ledger for the next sweep.
            let _ = entry.remove();
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.remove();
    }
}
