//! The interface of anything that watches a step or runs alongside its load, and its inputs.

use std::fmt::Display;
use std::path::Path;
use std::time::Instant;

use dbms::{Ledger, System};
use drive::{Load, Outcome, Ready, Running};
use plan::Plan;
use probe::{Device, Group};
use store::{StepRecord, TrialId};
use workload::Step;

use crate::observe::profile::Profiler;
use crate::observe::sampling::Sampling;
use crate::observe::scheduler::Scheduler;
use crate::observe::set_aside::Seen;

/// Watches a step, or runs something alongside its load. Dropping it ends that.
pub trait Observer {
    /// The step starts at `start`, in a moment.
    fn begin(&mut self, start: Instant);

    /// Does what is due while the load runs. Returns when there is something to do next, if that is
    /// known.
    fn look(&mut self, _running: &dyn Running, _sampling: &mut Sampling) -> Option<Instant> {
        None
    }

    /// The measured time is over, and the load goes on for a while.
    fn over(&mut self) {}

    /// The load has ended.
    fn end(&mut self, sampling: &mut Sampling, found: &mut Found);

    /// The step went well: does what takes seconds, before the server is asked what it counted.
    fn finish(&mut self) {}

    /// Adds the findings to an otherwise complete record, one for each server.
    fn record(&mut self, _record: &mut StepRecord, _step: &Step, _outcome: &Outcome) {}
}

/// A step whose clients are connected.
pub struct Scene<'a, 's> {
    /// Its load.
    pub load: &'s Load,
    /// Its clients.
    pub ready: &'s dyn Ready,
    /// The servers that it runs on.
    pub servers: Vec<Server<'s>>,
    /// The CPUs of clients and servers in slices.
    pub cpus: &'s [usize],
    /// The plan it belongs to.
    pub plan: &'s Plan,
    /// Where temporary directories are made.
    pub data_dir: &'s Path,
    /// Where they are recorded.
    pub ledger: &'s Ledger,
    /// Takes profiles, where the plan wants them and this machine can.
    pub profiler: Option<&'a Profiler>,
    /// Counts the scheduler's events, where the plan wants that and this machine can.
    pub scheduler: Option<&'a Scheduler>,
}

/// A server that a step runs on.
pub struct Server<'s> {
    /// Its variant.
    pub name: &'s str,
    /// The block of its trial.
    pub block: u32,
    /// Its trial.
    pub trial: TrialId,
    /// The server itself.
    pub system: &'s mut dyn System,
    /// Its processes, where they are on this machine.
    pub group: Option<&'s Group>,
    /// The device that holds its data.
    pub device: Option<&'s Device>,
}

/// Findings about a step that are not in its record.
#[derive(Debug, Default)]
pub struct Found {
    /// The servers' activity while others had the load; `None` if it was not watched.
    pub seen: Option<Seen>,
    /// How it ran, and what is unknown.
    pub notes: Vec<String>,
}

impl Found {
    /// Returns what was found, or the default and a note of why: a failed explanation never fails
    /// the step.
    pub fn known<T: Default>(&mut self, what: &str, found: Result<T, impl Display>) -> T {
        found.unwrap_or_else(|error| {
            self.notes.push(format!("{what} is not known: {error}"));
            T::default()
        })
    }
}

/// Operations on all targets so far, measured or not.
pub fn done(running: &dyn Running) -> u64 {
    running.operations().iter().sum()
}
