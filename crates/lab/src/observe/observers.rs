//! All observers, and how a step goes through them.

use std::time::{Duration, Instant};

use drive::{Outcome, Running};
use probe::{Recording, Targets};
use store::StepRecord;
use workload::Step;

use crate::observe::observer::{Found, Observer, Scene};
use crate::observe::sampling::Sampling;
use crate::observe::{contention, gauges, idle, power, profiling, scheduling, waits, watch};

/// Prepares an observer if a step wants it, and notes what it can't have.
type Prepare = for<'a> fn(&mut Scene<'a, '_>, &mut Found) -> Option<Box<dyn Observer + 'a>>;

/// All observers, in the order in which they begin, look and end: first those that must cover the
/// load and nothing else.
const ALL: [Prepare; 8] = [
    power::observe,
    idle::observe,
    scheduling::observe,
    profiling::observe,
    waits::observe,
    gauges::observe,
    contention::observe,
    watch::observe,
];

/// The observers of a step. Their samplers begin before all others and end after them.
pub struct Observers<'a> {
    sampling: Sampling,
    wanted: Vec<Box<dyn Observer + 'a>>,
    /// How long the measured time of a load is that goes on after it.
    limit: Option<Duration>,
    /// When that is over.
    over: Option<Instant>,
}

impl<'a> Observers<'a> {
    /// Prepares those that a step wants.
    pub fn prepare(mut scene: Scene<'a, '_>, found: &mut Found) -> Observers<'a> {
        let alone = scene.servers.len() == 1;
        let sampling = Sampling::of(scene.servers.iter().map(|server| Targets {
            device: server.device.filter(|_| alone).cloned(),
            dbms: server.group.cloned(),
            driver: alone,
        }));
        // A program ends when it does, and goes on by being started again.
        let goes_on = !scene.load.overtime.is_zero() && !scene.load.step.streams.is_empty();
        let limit = scene.load.limit().filter(|_| goes_on);
        let wanted = ALL.iter().filter_map(|prepare| prepare(&mut scene, found)).collect();
        Observers { sampling, wanted, limit, over: None }
    }

    /// The step starts at `start`, in a moment.
    pub fn begin(&mut self, start: Instant) {
        self.sampling.begin(start);
        self.over = self.limit.map(|limit| start + limit);
        for observer in &mut self.wanted {
            observer.begin(start);
        }
    }

    /// Does what is due. Returns when there is something to do next, where that is known.
    pub fn look(&mut self, running: &dyn Running) -> Option<Instant> {
        let Observers { sampling, wanted, over, .. } = self;
        if over.is_some_and(|over| Instant::now() >= over) {
            *over = None;
            sampling.stop();
            wanted.iter_mut().for_each(|observer| observer.over());
        }
        let due = wanted.iter_mut().filter_map(|observer| observer.look(running, sampling));
        due.chain(*over).min()
    }

    /// Ends with the load. Returns the kernel's figures for each server.
    pub fn end(&mut self, found: &mut Found) -> Vec<Recording> {
        for observer in &mut self.wanted {
            observer.end(&mut self.sampling, found);
        }
        self.sampling.end()
    }

    /// The step went well. This takes seconds where it was profiled.
    pub fn finish(&mut self) {
        for observer in &mut self.wanted {
            observer.finish();
        }
    }

    /// Adds the findings to the otherwise complete record of a server.
    pub fn record(&mut self, record: &mut StepRecord, step: &Step, outcome: &Outcome) {
        for observer in &mut self.wanted {
            observer.record(record, step, outcome);
        }
    }
}
