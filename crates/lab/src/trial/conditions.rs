//! The conditions that all trials of an experiment share.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use dbms::{Ledger, ServerUser};
use plan::{Plan, SequenceKey, StepKey};
use store::{Experiment, Store, StoreError, TrialId, Warning};
use workload::stream_seed;

use crate::error::Error;
use crate::event::Event;
use crate::observe::profile::Profiler;
use crate::observe::scheduler::Scheduler;
use crate::options::Options;
use crate::subject::Lineup;
use crate::systems::Systems;
use crate::trial::attempt::Entered;
use crate::trial::loads::Loads;

/// Seconds of timed steps, by the sequence's key and the step's place in it.
pub type Lengths = BTreeMap<(SequenceKey, usize), f64>;

/// The conditions that all trials of an experiment share.
pub struct Conditions<'a> {
    pub lineup: &'a Lineup,
    pub options: &'a Options,
    pub systems: &'a dyn Systems,
    pub ledger: &'a Ledger,
    pub user: &'a ServerUser,
    pub interrupted: &'a AtomicBool,
    pub store: &'a Store,
    pub experiment: &'a Experiment,
    /// Takes profiles, where the plan wants them and this machine can.
    pub profiler: Option<Profiler>,
    /// Counts the scheduler's events, where the plan wants that and this machine can.
    pub scheduler: Option<Scheduler>,
    /// The loads that the trials begin on.
    pub loads: Loads,
    /// The lengths of timed steps, where the run itself chooses them.
    pub lengths: RefCell<Lengths>,
    /// Lengths in ms below which slices of a step were too short.
    pub longer_slices: RefCell<BTreeMap<StepKey, f64>>,
    /// Who is told what happens.
    pub listener: RefCell<&'a mut dyn FnMut(Event)>,
}

impl<'a> Conditions<'a> {
    pub fn plan(&self) -> &'a Plan {
        &self.lineup.plan
    }

    /// Reports an event.
    pub fn tell(&self, event: Event) {
        (self.listener.borrow_mut())(event);
    }

    /// Stores a warning about a trial, or about the experiment.
    pub fn warn(&self, trial: Option<TrialId>, code: &str, text: String) -> Result<(), StoreError> {
        self.store.warn(self.experiment.id, trial, &Warning::new(code, text))
    }

    /// Stores a warning about the experiment, unless an earlier run or trial has stored one of this
    /// kind.
    pub fn warn_once(&self, warning: &Warning) -> Result<(), StoreError> {
        self.warn_unless(warning, |known| known.code == warning.code)
    }

    /// Stores a warning about the experiment, unless the same is stored already.
    pub fn warn_if_new(&self, warning: &Warning) -> Result<(), StoreError> {
        self.warn_unless(warning, |known| known == warning)
    }

    fn warn_unless(
        &self,
        warning: &Warning,
        same: impl Fn(&Warning) -> bool,
    ) -> Result<(), StoreError> {
        let known = self.store.warnings(self.experiment.id)?;
        if known.iter().any(|stored| same(&stored.warning)) {
            return Ok(());
        }
        self.store.warn(self.experiment.id, None, warning)
    }

    /// An error once the user has ended the run.
    pub fn go_on(&self) -> Result<(), Error> {
        if self.interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// The seed of what is drawn in a block: the same for all variants.
    pub fn draw_seed(&self, block: u32) -> u64 {
        stream_seed(self.experiment.seed, "block", 0, block, "")
    }

    /// The seed of the order in which a trial visits its phases: the same for all variants.
    pub fn order_seed(&self, entered: Entered) -> u64 {
        let Entered { block, sequence, .. } = entered;
        stream_seed(self.experiment.seed, "order", sequence.number(), block, "")
    }
}
