//! What the scheduler does for an operation: context switches, moves, wake-ups and timers.
//!
//! They are counted after a step's time, while its load goes on, first for the processes of the
//! server and the clients' threads, then for the whole machine. The first costs a sixth of the
//! throughput of point queries, because the kernel switches the counters with the tasks; the second
//! nothing that can be measured ([`Scope`] has the figures), and only it sees what the idle task
//! does, such as the timers that end its sleep.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use dbms::Ledger;
use drive::Running;
use metrics::Metric;
use probe::perf::{Counting, Perf, SCHEDULER, Scope};
use probe::{Recording, Sampler};
use store::Warning;
use workload::Counters;

use crate::observe::profile::Scratch;

/// What a window has besides the time in which events are counted: for `perf` to begin and end,
/// twice.
const BESIDES: Duration = Duration::from_millis(400);

/// The events that can be counted on this machine.
#[derive(Debug)]
pub struct Scheduler {
    perf: Perf,
    /// For processes, and for the machine.
    events: [Vec<String>; 2],
}

impl Scheduler {
    /// What can be counted here. The text says what can't be, and why.
    ///
    /// # Errors
    /// Why nothing can be counted.
    pub fn here() -> Result<(Scheduler, Option<String>), String> {
        let perf = Perf::find().map_err(|error| error.to_string())?;
        let own = [std::process::id()];
        let mut reasons = Vec::new();
        let mut countable = |scope| {
            let found = perf.countable(&SCHEDULER, scope).map_err(|error| error.to_string())?;
            for absent in found.absent {
                let reason = absent.to_string();
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            Ok::<_, String>(found.events)
        };
        let events = [countable(Scope::Processes(&own))?, countable(Scope::Machine)?];
        let why = (!reasons.is_empty()).then(|| reasons.join("; "));
        match (events.iter().all(Vec::is_empty), why) {
            (true, why) => Err(why.unwrap_or_else(|| "no event was found".to_owned())),
            (false, why) => Ok((Scheduler { perf, events }, why)),
        }
    }

    /// What to tell of events that can't be counted.
    pub fn warning(why: &str) -> Warning {
        Warning::new("no-scheduler-counts", format!("events of the scheduler are missing: {why}"))
    }
}

/// How long a step's load goes on so that events can be counted.
pub fn window(counters: Counters) -> Duration {
    Duration::from_secs(counters.seconds.into()) + BESIDES
}

/// Whose events are being counted.
const FAMILIES: [&Metric; 2] = [&metrics::SCHEDULED, &metrics::HOST_EVENT];

/// How far it is.
enum Stage {
    Before,
    /// Events of one family are counted, since so many operations.
    Counting {
        family: usize,
        counting: Option<Counting>,
        since: u64,
        until: Instant,
    },
    Over,
}

/// A step whose events are being counted.
pub struct Scheduling<'a> {
    scheduler: &'a Scheduler,
    // Before the directory in which it writes, so that it ends before that is removed.
    stage: Stage,
    scratch: Scratch,
    /// The clients' threads; the processes of the server are looked up when it begins.
    clients: Vec<u32>,
    root_pid: u32,
    begin: Instant,
    length: Duration,
    sampler: Option<Sampler>,
    recording: Option<Recording>,
    /// What was found: name and value of a metric.
    found: Vec<(String, f64)>,
    notes: Vec<String>,
}

/// The step whose events are to be counted.
pub struct Counted<'a> {
    /// What can be counted.
    pub scheduler: &'a Scheduler,
    /// How long.
    pub counters: Counters,
    /// The server's first process.
    pub root_pid: u32,
    /// The clients' threads.
    pub clients: Vec<u32>,
    /// When the step's time is over.
    pub begin: Instant,
}

impl<'a> Scheduling<'a> {
    /// Makes ready to count after a step's time; `perf` is to write into `path`.
    ///
    /// # Errors
    /// Why it can't be done.
    pub fn of(step: Counted<'a>, ledger: &Ledger, path: PathBuf) -> Result<Self, String> {
        let Counted { scheduler, counters, root_pid, clients, begin } = step;
        let scratch = Scratch::make(ledger, path, &scheduler.perf)
            .map_err(|error| format!("events of the scheduler were not counted: {error}"))?;
        Ok(Scheduling {
            scheduler,
            stage: Stage::Before,
            scratch,
            clients,
            root_pid,
            begin,
            length: Duration::from_secs(counters.seconds.into()) / FAMILIES.len() as u32,
            sampler: None,
            recording: None,
            found: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// The sampler of the step, which ends when counting begins.
    pub fn ends(&mut self, sampler: Option<Sampler>) {
        self.sampler = sampler;
    }

    /// Does what is due. Returns when there is something to do next.
    pub fn look(&mut self, running: &dyn Running) -> Option<Instant> {
        let now = Instant::now();
        match &mut self.stage {
            Stage::Before if now >= self.begin => {
                self.recording = self.sampler.take().map(Sampler::stop);
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

    /// Begins to count the events of a family.
    fn count(&mut self, family: usize, running: &dyn Running) {
        let counting = self.start(family).unwrap_or_else(|why| {
            self.notes.push(format!("events of the scheduler were not counted: {why}"));
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
        let mut tids = probe::members(self.root_pid).map_err(|error| error.to_string())?;
        tids.extend(&self.clients);
        let scope = if family == 0 { Scope::Threads(&tids) } else { Scope::Machine };
        // Each `perf` has a directory of its own.
        let directory = self.scratch.path.join(family.to_string());
        std::fs::create_dir(&directory).map_err(|error| error.to_string())?;
        let counting = self.scheduler.perf.count_events(events, scope, &directory);
        let mut counting = counting.map_err(|error| error.to_string())?;
        counting.resume().map_err(|error| error.to_string())?;
        Ok(Some(counting))
    }

    /// The events counted are those of so many operations.
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
                self.found.extend(counts.into_iter().map(metric));
            }
            Ok(_) => self.notes.push("events of the scheduler: no operation ended".to_owned()),
            Err(error) => self.notes.push(format!("events of the scheduler: {error}")),
        }
    }

    /// The load has ended: what the kernel said of the measured part.
    pub fn end(&mut self) -> Option<Recording> {
        self.recording.take().or_else(|| self.sampler.take().map(Sampler::stop))
    }

    /// What was found, and what is not known.
    pub fn finish(mut self) -> (Vec<(String, f64)>, Vec<String>) {
        if !matches!(self.stage, Stage::Over) {
            let early = "events of the scheduler: the load ended before all were counted";
            self.notes.push(early.to_owned());
        }
        (self.found, self.notes)
    }
}

/// Operations on all targets so far, measured or not.
fn done(running: &dyn Running) -> u64 {
    running.operations().iter().sum()
}
