//! The run: blocks of trials in their random order, each finished one kept.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use dbms::{Ledger, ServerUser};
use plan::{Plan, Variant};
use store::{Experiment, ExperimentId, ExperimentState, FAILED, Purpose, Store, Warning, now_ms};
use workload::Counters;

use crate::error::Error;
use crate::event::Event;
use crate::experiment::blocks::Execution;
use crate::experiment::budget::beforehand;
use crate::experiment::data_dir::make_data_dir;
use crate::experiment::exclusive::Exclusive;
use crate::experiment::looks::conduct;
use crate::experiment::record::{begin, host};
use crate::lineup::line_up;
use crate::observe::profile::Profiler;
use crate::observe::scheduler::Scheduler;
use crate::options::Options;
use crate::systems::Systems;
use crate::trial::conditions::Conditions;
use crate::trial::loads::Loads;

/// A new run, or one to resume.
#[derive(Debug, Clone)]
pub enum Resume {
    /// A new experiment from this plan.
    New(Box<Plan>),
    /// This unfinished experiment, by its plan; see [`latest_unfinished`].
    Unfinished(Box<Plan>, Box<Experiment>),
}

/// Runs a plan and returns the experiment in the store.
///
/// `interrupted` may be set from a signal handler: the run then stops its clients and its server,
/// keeps everything finished and returns [`Error::Interrupted`].
///
/// # Errors
///
/// See [`Error`]. Nothing is left running in any case.
pub fn run(
    resume: Resume,
    options: &Options,
    systems: &dyn Systems,
    ledger: &Ledger,
    interrupted: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<ExperimentId, Error> {
    if let Resume::New(plan) = &resume
        && let Some(known) = beforehand(&options.results, plan)?
    {
        on_event(Event::Note(known));
    }
    let exclusive = Exclusive::take(options.allow_concurrent)?;
    sweep(ledger, on_event)?;
    let (plan, going_on) = match resume {
        Resume::New(plan) => (*plan, None),
        Resume::Unfinished(plan, experiment) => (*plan, Some(*experiment)),
    };
    let server_user = options.server_user.as_deref();
    // Servers that are already running need no user.
    let starts = !plan.variants.iter().all(Variant::is_running);
    let user = if starts { systems.user(server_user)? } else { ServerUser::caller() };
    let made = make_data_dir(options, starts.then_some(&user))?;
    let lineup = line_up(plan, systems, server_user, interrupted, on_event)?;
    let scheduler = scheduler(lineup.counters)?;
    // Opened only now, so that a plan that can't be run leaves no empty results behind.
    let store = Store::open(&options.results)?;
    let database = options.results.join(store::DATABASE);
    let resumed = going_on.is_some();
    let experiment = match going_on {
        Some(experiment) => experiment,
        None => {
            let seed = lineup.plan.seed.unwrap_or_else(fresh_seed);
            begin(&store, &lineup, options, Purpose::Run, seed)?
        }
    };
    let held = Exclusive::take_experiment(&database, experiment.id.0)?;
    if resumed {
        store.resume_experiment(experiment.id)?;
        // This may be another machine than the one on which the experiment began.
        store.record_host(experiment.id, &host(options))?;
    }
    let conditions = Conditions {
        lineup: &lineup,
        options,
        systems,
        ledger,
        user: &user,
        interrupted,
        store: &store,
        experiment: &experiment,
        profiler: Profiler::for_run(&lineup.plan, &store, experiment.id)?,
        scheduler: scheduler.0,
        loads: Loads::default(),
        lengths: RefCell::default(),
        longer_slices: RefCell::default(),
        listener: RefCell::new(on_event),
    };
    if let Some(warning) = scheduler.1 {
        conditions.warn_once(&warning)?;
    }
    let result = Execution::open(&conditions).and_then(|mut execution| conduct(&mut execution));
    conditions.loads.discard();
    match &result {
        Ok(()) => store.finish_experiment(experiment.id)?,
        Err(error) => record_failure(&store, experiment.id, error),
    }
    drop((made, held, exclusive));
    result.map(|()| {
        conditions.tell(Event::Ended);
        experiment.id
    })
}

/// Records that the experiment was interrupted, and why if it would fail again.
fn record_failure(store: &Store, experiment: ExperimentId, error: &Error) {
    // The store may be what failed; the error that came first is reported.
    if error.is_lasting() {
        let text = error.to_string().lines().next().unwrap_or_default().to_owned();
        store.warn(experiment, None, &Warning::new(FAILED, text)).unwrap_or(());
    }
    store.interrupt_experiment(experiment).unwrap_or(());
}

/// Finds the counter of the scheduler's events if a step wants one, and any warning about it.
fn scheduler(counters: Option<Counters>) -> Result<(Option<Scheduler>, Option<Warning>), Error> {
    let Some(counters) = counters else { return Ok((None, None)) };
    match Scheduler::here() {
        Ok((scheduler, why)) => Ok((Some(scheduler), why.as_deref().map(Scheduler::warning))),
        Err(reason) if counters.required => Err(Error::NoCounters { reason }),
        Err(why) => Ok((None, Some(Scheduler::warning(&why)))),
    }
}

/// Stops and removes what killed runs have left.
pub fn sweep(ledger: &Ledger, on_event: &mut dyn FnMut(Event)) -> Result<(), Error> {
    for swept in ledger.sweep(&probe::remove_directories)? {
        let mut text = format!("cleaned up what a killed run left of `{}`:", swept.name);
        for pid in &swept.ended {
            text.push_str(&format!(" ended process {pid};"));
        }
        for directory in &swept.removed {
            text.push_str(&format!(" removed {};", directory.display()));
        }
        for problem in &swept.problems {
            text.push_str(&format!(" could not clean: {problem};"));
        }
        on_event(Event::Note(text.trim_end_matches([';', ':']).to_owned()));
    }
    Ok(())
}

/// Finds the latest unfinished experiment in a results directory; with a plan, the latest
/// unfinished one of that plan.
///
/// # Errors
/// [`Error::Resume`] if there is none that could go on; if the results can't be read.
pub fn latest_unfinished(results: &Path, plan: Option<Box<Plan>>) -> Result<Resume, Error> {
    let store = Store::open_existing(results)?;
    // The stored plans have no passwords in them; the given one may.
    let given = plan.as_ref().map(|plan| plan.text_without_passwords());
    let unfinished = store.experiments()?.into_iter().filter(|experiment| {
        experiment.state != ExperimentState::Finished
            && given.as_ref().is_none_or(|text| *text == experiment.plan)
    });
    let mut failed = None;
    for experiment in unfinished {
        if let Some(why) = store.failed(experiment.id)? {
            let (id, name) = (experiment.id, &experiment.name);
            failed.get_or_insert(format!(
                "experiment {id} `{name}` would fail again if it were resumed: {why}. Correct that, and run it without --resume"
            ));
            continue;
        }
        let stored = Plan::parse(&experiment.plan, None, "the stored plan")
            .map_err(|error| Error::Resume(format!("the stored plan can't be read: {error}")))?;
        match plan {
            Some(plan) => return Ok(Resume::Unfinished(plan, Box::new(experiment))),
            None if experiment.plan.contains(reference::HIDDEN) => {
                return Err(Error::Resume(format!(
                    "passwords, commands and connection strings in the plan of `{}` were not stored; repeat the command with --resume",
                    stored.name
                )));
            }
            None => return Ok(Resume::Unfinished(Box::new(stored), Box::new(experiment))),
        }
    }
    Err(Error::Resume(match (failed, plan) {
        (Some(failed), _) => failed,
        (None, Some(plan)) => format!(
            "no unfinished experiment of this plan (`{}`) in the results directory; run it without --resume",
            plan.name
        ),
        (None, None) => {
            "no unfinished experiment in the results directory; name a plan to run".to_owned()
        }
    }))
}

/// A seed for a plan without one. Below 2^63, so that TOML and SQLite can hold it.
pub fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(now_ms()) >> 1
}
