//! Counts the scheduler's work per operation: context switches, moves, wake-ups and timers.
//!
//! They are counted after a step's time, while its load goes on, first for the processes of the
//! server and the clients' threads, then for the whole machine. The first costs a sixth of the
//! throughput of point queries, because the kernel switches the counters with the tasks. The second
//! costs nothing that can be measured ([`Scope`] has the figures). Only it sees what the idle task
//! does, such as the timers that end its sleep.

use std::time::{Duration, Instant};

use drive::{Outcome, Running};
use metrics::Metric;
use probe::perf::{Counting, Scope};
use store::StepRecord;
use workload::Step;

use crate::observe::attach::attach;
use crate::observe::observer::{Found, Observer, Scene, Server, done};
use crate::observe::profile::Scratch;
use crate::observe::sampling::Sampling;
use crate::observe::scheduler::Scheduler;

/// Prepares to count after the time of a timed step on one server.
pub fn observe<'a>(scene: &mut Scene<'a, '_>, found: &mut Found) -> Option<Box<dyn Observer + 'a>> {
    let (scheduler, counters) = (scene.scheduler?, scene.load.step.terms.counters?);
    let limit = scene.load.limit()?;
    let [Server { group: Some(group), trial, .. }] = &scene.servers[..] else { return None };
    let path = scene.data_dir.join(format!("{}-t{trial}-sched", std::process::id()));
    let scratch = Scratch::make(scene.ledger, path, &scheduler.perf)
        .map_err(|error| found.notes.push(not_counted(&error.to_string())))
        .ok()?;
    Some(Box::new(Scheduling {
        scheduler,
        stage: Stage::Before,
        scratch,
        clients: scene.ready.clients(),
        root_pid: group.root_pid(),
        begin: Instant::now(),
        limit,
        length: Duration::from_secs(counters.seconds.into()) / FAMILIES.len() as u32,
        counts: Vec::new(),
        notes: Vec::new(),
    }))
}

fn not_counted(why: &str) -> String {
    format!("events of the scheduler were not counted: {why}")
}

/// Whose events are being counted.
const FAMILIES: [&Metric; 2] = [&metrics::SCHEDULED, &metrics::HOST_EVENT];

/// The progress of counting.
enum Stage {
    Before,
    /// Events of one family are being counted, beginning at this number of operations.
    Counting {
        family: usize,
        counting: Option<Counting>,
        since: u64,
        until: Instant,
    },
    Over,
}

/// A step whose events are being counted.
struct Scheduling<'a> {
    scheduler: &'a Scheduler,
    // Before the directory in which it writes, so that it ends before that is removed.
    stage: Stage,
    scratch: Scratch,
    /// The clients' threads; the processes of the server are looked up when it begins.
    clients: Vec<u32>,
    root_pid: u32,
    /// When the step's time is over.
    begin: Instant,
    /// The step's time.
    limit: Duration,
    length: Duration,
    /// The counts so far: name and value of a metric.
    counts: Vec<(String, f64)>,
    notes: Vec<String>,
}

impl Observer for Scheduling<'_> {
    fn begin(&mut self, start: Instant) {
        self.begin = start + self.limit;
    }

    fn look(&mut self, running: &dyn Running, sampling: &mut Sampling) -> Option<Instant> {
        let now = Instant::now();
        match &mut self.stage {
            Stage::Before if now >= self.begin => {
                sampling.stop();
                self.count(0, running);
            }
            Stage::Counting { family, counting, since, until } if now >= *until => {
                let (family, since, counting) = (*family, *since, counting.take());
                self.counted(family, counting, done(running).saturating_sub(since));
                if family + 1 < FAMILIES.len() {
                    self.count(family + 1, running);
                } else {
                    self.stage = Stage::Over;
                }
            }
            _ => {}
        }
        match &self.stage {
            Stage::Before => Some(self.begin),
            Stage::Counting { until, .. } => Some(*until),
            Stage::Over => None,
        }
    }

    fn end(&mut self, sampling: &mut Sampling, found: &mut Found) {
        sampling.stop();
        if !matches!(self.stage, Stage::Over) {
            let early = "events of the scheduler: the load ended before all were counted";
            self.notes.push(early.to_owned());
        }
        self.stage = Stage::Over;
        self.scratch.remove();
        found.notes.append(&mut self.notes);
    }

    fn record(&mut self, record: &mut StepRecord, _: &Step, _: &Outcome) {
        for (name, value) in &self.counts {
            record.add(name, *value);
        }
    }
}

impl Scheduling<'_> {
    /// Begins to count the events of a family.
    fn count(&mut self, family: usize, running: &dyn Running) {
        let counting = self.start(family).unwrap_or_else(|why| {
            self.notes.push(not_counted(&why));
            None
        });
        let (since, until) = (done(running), Instant::now() + self.length);
        self.stage = Stage::Counting { family, counting, since, until };
    }

    fn start(&self, family: usize) -> Result<Option<Counting>, String> {
        let events = &self.scheduler.events[family];
        if events.is_empty() {
            return Ok(None);
        }
        // Each `perf` has a directory of its own.
        let directory = self.scratch.path.join(family.to_string());
        std::fs::create_dir(&directory).map_err(|error| error.to_string())?;
        let count = |scope: Scope<'_>| self.scheduler.perf.count_events(events, scope, &directory);
        let mut counting = match family {
            0 => attach(self.root_pid, |pids| {
                count(Scope::Threads(&[pids, &self.clients].concat()))
            })?,
            _ => count(Scope::Machine).map_err(|error| error.to_string())?,
        };
        counting.resume().map_err(|error| error.to_string())?;
        Ok(Some(counting))
    }

    /// Records the counted events as those of this many operations.
    fn counted(&mut self, family: usize, counting: Option<Counting>, operations: u64) {
        let Some(mut counting) = counting else { return };
        match counting.pause().and_then(|()| counting.finish()) {
            Ok(counts) if operations > 0 => {
                let wanted = self.scheduler.events[family].iter();
                let missed = wanted.filter(|event| !counts.iter().any(|(name, _)| name == *event));
                self.notes.extend(missed.map(|event| {
                    format!("events of the scheduler: perf found no time to count {event}")
                }));
                let metric = |(event, count): (String, f64)| {
                    // Without the tracepoint's subsystem.
                    let name = event.rsplit(':').next().unwrap_or(&event);
                    (FAMILIES[family].of(name), count / operations as f64)
                };
                self.counts.extend(counts.into_iter().map(metric));
            }
            Ok(_) => self.notes.push("events of the scheduler: no operation ended".to_owned()),
            Err(error) => self.notes.push(format!("events of the scheduler: {error}")),
        }
    }
}
