//! A load: a step and where it runs, in any process.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use workload::Step;

use super::outcome::Outcome;
use super::target::Target;
use crate::error::Error;
use crate::slices::timetable::{Slices, Timetable};

/// A step and where to run it.
#[derive(Debug, Clone)]
pub struct Load {
    /// The step to run.
    pub step: Arc<Step>,
    /// The systems under test. Every client connects to each.
    pub targets: Vec<Target>,
    /// The trial's seed; the same seed gives the same parameters.
    pub seed: u64,
    /// How the load moves between targets; set if and only if there are several.
    pub slices: Option<Slices>,
    /// True if all targets are frozen but the one that has the load
    /// ([`prepare_frozen`](crate::prepare_frozen)).
    pub frozen: bool,
    /// How long the load continues, uncounted, after the measured time of a timed step. In this
    /// time, observing the server may cost something. Zero for a step that ends when its work is
    /// done (see [`Running::leave_out`]), and for targets that are frozen.
    pub overtime: Duration,
    /// Where each stream's client and the process that serves it run; empty: where the kernel puts
    /// them.
    pub seats: Vec<Seat>,
}

/// The CPUs for a client and the process that serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    /// That of the client's thread.
    pub client: usize,
    /// That of the process.
    pub server: usize,
    /// If false, it is no error if they can't be kept there.
    pub needed: bool,
}

impl Load {
    /// A step on these targets, measured as a whole.
    pub fn new(step: Arc<Step>, targets: Vec<Target>, seed: u64) -> Load {
        let (slices, overtime, seats) = (None, Duration::ZERO, Vec::new());
        Load { step, targets, seed, slices, frozen: false, overtime, seats }
    }

    /// How long a timed step is measured: the step's seconds for each target, in whole rounds of
    /// the timetable. `None` if it ends when its work is done.
    pub fn limit(&self) -> Option<Duration> {
        let limit = Duration::from_secs_f64(self.step.seconds?);
        Some(match &self.slices {
            Some(slices) => {
                let targets = self.targets.len();
                Timetable::whole_rounds(slices, targets, limit * targets as u32)
            }
            None => limit,
        })
    }
}

/// Checks that a load can run at all.
pub fn check(load: &Load) -> Result<(), Error> {
    let elsewhere = load.targets.iter().filter_map(Target::process).count();
    let text = match (load.targets.len(), &load.slices) {
        (0, _) => "it has no target",
        (2.., _) if elsewhere > 0 && elsewhere < load.targets.len() => {
            "clients of some systems run in their processes, those of others don't"
        }
        (2.., _) if elsewhere > 0 && !load.frozen && !load.step.is_timed() => {
            "clients in several processes need a step that ends by time"
        }
        _ if load.frozen && load.slices.is_none() => "targets that are frozen have slices",
        (1, None) => return Ok(()),
        (1, Some(_)) => "slices need several targets",
        (_, None) => "several targets need slices",
        (_, Some(slices)) if !(0.0..1.0).contains(&slices.lead_in) => {
            "the lead-in of a slice is a fraction of it, from 0 to below 1"
        }
        (targets, Some(slices)) if Timetable::new(slices, targets).next().is_none() => {
            "slices need a length"
        }
        _ => return Ok(()),
    };
    Err(Error::Load(text))
}

/// All clients connected and waiting for the start.
pub trait Ready: Send {
    /// Starts all clients at `start`, which is best a few milliseconds ahead.
    fn go(self: Box<Self>, start: Instant) -> Box<dyn Running>;

    /// The processes that serve the clients, for each target: those that are known and on this
    /// machine.
    fn servers(&self) -> Vec<Vec<u32>> {
        Vec::new()
    }

    /// The threads of this process that are clients.
    fn clients(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// A running step. Dropping it ends the step and waits for its clients.
pub trait Running: Send + Sync {
    /// Waits until all clients have ended, at most `limit`; returns true if they have.
    fn wait(&self, limit: Duration) -> bool;

    /// Operations so far on each target, of the class that the step counts.
    fn operations(&self) -> Vec<u64>;

    /// With several targets, when the measured part was over, relative to the step's start. `None`
    /// while it lasts.
    ///
    /// A step that ends when its work is done continues after that: the first target is done, and
    /// the others are brought to the same state one after another.
    fn measured_until(&self) -> Option<Duration>;

    /// Leaves whole seconds, counted from the start, out of a step that ends when its work is done:
    /// operations that end in them, their time, and the clients' cost. The outcome is that of a
    /// step without them. Call it once, before the first of them begins; not for loads in slices.
    fn leave_out(&self, seconds: Range<u64>);

    /// Ends the step: each client stops after its current operation.
    fn stop(&self);

    /// Breaks all connections, so clients that wait for an answer end too.
    fn break_off(&self);

    /// Adds up the counts of the clients for each target, after they ended or were told to end.
    ///
    /// Waits for running clients; if that might take forever, call [`Running::break_off`] first.
    fn join(self: Box<Self>) -> Vec<Outcome>;
}
