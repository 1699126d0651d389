//! One step: clients connected, kernel and counters watched, everything into one record.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dbms::{Endpoint, Host, Snapshot};
use drive::{Address, ErrorKind, Load, Outcome, Postgres, Running, Slices, Target};
use probe::{Recording, Sampler, Targets};
use store::{Counter, Size, StepRecord, StepState};
use workload::Step;

use crate::attempt::Attempt;
use crate::disturbance::{Seen, Watch};
use crate::event::Event;
use crate::figures::{self, Scope};
use crate::fitness::Fitness;
use crate::pin::Pin;
use crate::profile::Profiled;
use crate::profiling::Profiling;
use crate::slicing::{cpu_share, free_clients};
use crate::trial::Bench;

/// How long before its start a step is announced to the clients, so that all are awake.
const LEAD_TIME: Duration = Duration::from_millis(20);
/// How often a running step is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// After the server has died, clients get this long to notice by themselves.
const NOTICE: Duration = Duration::from_secs(2);

/// A dying server's connections break before its end can be seen, by at most this.
const DEATH: Duration = Duration::from_millis(500);

/// Why a step has no result.
#[derive(Debug)]
pub enum Trouble {
    /// The user ended the run.
    Interrupted,
    /// Something failed; the text says what.
    Failed(String),
}

impl From<dbms::Error> for Trouble {
    fn from(error: dbms::Error) -> Trouble {
        Trouble::Failed(error.to_string())
    }
}

/// What went wrong in a step that runs on one server or on several.
#[derive(Debug)]
pub struct Fault {
    /// Whose trial it is to be told of: its index among those that ran the step.
    pub at: usize,
    /// What it is.
    pub trouble: Trouble,
}

/// What came of a step on one server.
#[derive(Debug)]
pub struct Measured {
    /// What the clients counted.
    pub outcome: Outcome,
    /// What the kernel said.
    pub recording: Recording,
    /// The server's counters before the step.
    before: Snapshot,
    /// What came of its profiling, where it was wanted.
    profiled: Option<Profiled>,
}

/// What came of a step on all servers that it ran on.
#[derive(Debug)]
pub struct Ran {
    /// When it began, in milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// One for each server, in their order.
    pub measured: Vec<Measured>,
    /// What the servers did while others had the load; `None` where there was only one.
    pub seen: Option<Seen>,
    /// What else there is to know of how it ran.
    pub notes: Vec<String>,
    /// Why the step has no result, where it has none.
    pub fault: Option<Fault>,
}

impl Bench<'_> {
    /// Runs a step on one server that has the machine to itself. The record is complete also where
    /// the step failed; [`StepRecord::state`] and the trouble beside it tell.
    pub fn step(
        &self,
        attempt: &mut Attempt<'_>,
        step: &Arc<Step>,
        mut record: StepRecord,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(StepRecord, Option<Trouble>), Trouble> {
        let ran = self
            .run(std::slice::from_mut(attempt), step, None, on_event)
            .map_err(|fault| fault.trouble)?;
        let trouble = ran.fault.map(|fault| fault.trouble);
        let Some(mut measured) = ran.measured.into_iter().next() else {
            return Err(Trouble::Failed("the load had no target".to_owned()));
        };
        record.started_ms = ran.started_ms;
        let scope = if attempt.group.is_some() { Scope::Local } else { Scope::Remote };
        attempt.complete(&mut record, step, &measured, scope, trouble.is_none())?;
        record.notes.extend(ran.notes);
        if let (Some(profiler), Some(profiled), None) =
            (&self.profiler, measured.profiled.take(), &trouble)
        {
            profiler.keep(attempt, &mut record, profiled);
        }
        Ok((record, trouble))
    }

    /// Runs a step on all servers of `attempts`, the load moving between them by `slices` where they
    /// are several. What was measured is there also where something went wrong on the way.
    pub fn run(
        &self,
        attempts: &mut [Attempt<'_>],
        step: &Arc<Step>,
        slices: Option<Slices>,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Ran, Fault> {
        let mut before = Vec::new();
        for (at, attempt) in attempts.iter_mut().enumerate() {
            before.push(match attempt.counted.take() {
                Some(counted) => counted,
                None => attempt
                    .server
                    .counters(&attempt.benchmark.tables)
                    .map_err(|error| Fault { at, trouble: error.into() })?,
            });
        }
        let endpoint = |attempt: &Attempt<'_>| {
            target(&attempt.subject.variant.name, attempt.server.endpoint())
        };
        let load = Load {
            step: Arc::clone(step),
            targets: attempts.iter().map(endpoint).collect(),
            seed: self.draw_seed(attempts.first().map_or(0, |attempt| attempt.place.block)),
            slices,
            overtime: self.overtime(attempts, step),
        };
        let pin = load.slices.as_ref().and_then(|_| Pin::servers(attempts, free_clients(step)));
        let ready = match &pin {
            Some(pin) => pin.beside(|| drive::prepare(&load)),
            None => drive::prepare(&load),
        };
        let ready = ready.map_err(|error| {
            let at = attempts.iter_mut().position(|attempt| !attempt.server.alive()).unwrap_or(0);
            Fault { at, trouble: Trouble::Failed(error.to_string()) }
        })?;
        let (mut profiling, mut notes) = match self.profiling(attempts, step) {
            Ok(profiling) => (Some(profiling), Vec::new()),
            Err(notes) => (None, notes),
        };
        let start = Instant::now() + LEAD_TIME;
        let started_ms = store::now_ms();
        let alone = attempts.len() == 1;
        let targets = |attempt: &Attempt<'_>| {
            let device = if alone { attempt.device.clone() } else { None };
            Targets { device, dbms: attempt.group.clone(), driver: alone }
        };
        let sample =
            |attempt: &Attempt<'_>| Sampler::start(targets(attempt), start, Duration::from_secs(1));
        let mut samplers: Vec<_> = attempts.iter().map(sample).collect();
        if let (Some(profiling), [attempt]) = (&mut profiling, &*attempts)
            && let Some(sampler) = samplers.pop()
        {
            profiling.begin(start, targets(attempt), sampler);
        }
        let watch = load.slices.as_ref().map(|slices| Watch::start(attempts, slices, start));
        let running = ready.go(start);
        let fault = self.watch(&running, attempts, &load, start, profiling.as_mut(), on_event);
        let seen = watch.map(Watch::stop);
        let mut recordings: Vec<_> = samplers.into_iter().map(Sampler::stop).collect();
        recordings.extend(profiling.as_mut().and_then(Profiling::end));
        let outcomes = running.join();
        let fault = fault.or_else(|| {
            let cut_off = outcomes.iter().any(cut_off);
            cut_off.then(|| death(attempts, DEATH)).flatten()
        });
        let fault = fault.or_else(|| {
            let failed = |outcome: &Outcome| outcome.fatal.clone().map(Trouble::Failed);
            let mut fatal = outcomes.iter().map(failed).enumerate();
            fatal.find_map(|(at, trouble)| Some(Fault { at, trouble: trouble? }))
        });
        let mut measured: Vec<_> = outcomes
            .into_iter()
            .zip(recordings)
            .zip(before)
            .map(|((outcome, recording), before)| Measured {
                outcome,
                recording,
                before,
                profiled: None,
            })
            .collect();
        if let (Some(profiling), [measured], None) = (profiling, &mut measured[..], &fault) {
            measured.profiled = Some(profiling.finish());
        }
        notes.extend(pin.iter().map(Pin::note));
        Ok(Ran { started_ms, measured, seen, notes, fault })
    }

    /// Watches a running step until it has ended or has to be ended.
    fn watch(
        &self,
        running: &Running,
        attempts: &mut [Attempt<'_>],
        load: &Load,
        start: Instant,
        mut profiling: Option<&mut Profiling<'_>>,
        on_event: &mut dyn FnMut(Event),
    ) -> Option<Fault> {
        let answer_limit = self.options.answer_limit;
        let limit = load.limit().map(|limit| start + limit + load.overtime + answer_limit);
        loop {
            let due = profiling.as_mut().and_then(|profiling| profiling.look(running));
            let look = due.map_or(LOOK, |due| due.saturating_duration_since(Instant::now()));
            if running.wait(look.min(LOOK)) {
                break;
            }
            if self.interrupted.load(Ordering::Relaxed) {
                running.break_off();
                return Some(Fault { at: 0, trouble: Trouble::Interrupted });
            }
            if attempts.iter_mut().any(|attempt| !attempt.server.alive()) {
                // The clients see it too, and their connections tell more exactly when.
                running.wait(NOTICE);
                running.break_off();
                return death(attempts, Duration::ZERO);
            }
            if limit.is_some_and(|limit| Instant::now() > limit) {
                running.break_off();
                let text = format!(
                    "the server did not answer within {} s after the step's time",
                    answer_limit.as_secs()
                );
                return Some(Fault { at: 0, trouble: Trouble::Failed(text) });
            }
            on_event(Event::Progress {
                operations: running.operations().iter().sum(),
                elapsed: start.elapsed(),
            });
        }
        death(attempts, Duration::ZERO)
    }
}

/// Which server died and how, if one did or does so within `limit`.
fn death(attempts: &mut [Attempt<'_>], limit: Duration) -> Option<Fault> {
    let begin = Instant::now();
    loop {
        for (at, attempt) in attempts.iter_mut().enumerate() {
            if !attempt.server.alive() {
                let how = attempt.server.died().unwrap_or_else(|| "no reason known".to_owned());
                let text = format!("the server died ({how})");
                return Some(Fault { at, trouble: Trouble::Failed(text) });
            }
        }
        if begin.elapsed() >= limit {
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Attempt<'_> {
    /// Completes the record of a step: figures, and for one that went well the server's counters and
    /// sizes; then its state and what is not known of it.
    pub fn complete(
        &mut self,
        record: &mut StepRecord,
        step: &Step,
        measured: &Measured,
        scope: Scope,
        well: bool,
    ) -> Result<(), Trouble> {
        let Measured { outcome, recording, before, profiled: _ } = measured;
        figures::fill(record, step, outcome, recording, scope);
        if let Some(share) = share_on_cpu(step, measured) {
            record.metrics.push(("cpu.share".to_owned(), share));
        }
        if well {
            self.afterwards(record, before)?;
        }
        self.check(record, outcome, recording, scope);
        record.state = if well { StepState::Finished } else { StepState::Failed };
        // What is stolen from a step in slices meets all servers alike.
        if outcome.slices.is_empty() {
            self.fitness.and(Fitness::of_step(record, self.steal_limit));
        }
        Ok(())
    }

    /// What the server counted over the step, and how large the tables are now.
    fn afterwards(&mut self, record: &mut StepRecord, before: &Snapshot) -> Result<(), Trouble> {
        let tables = &self.benchmark.tables;
        let after = self.server.counters(tables)?;
        record.counters = after
            .difference(before)
            .into_iter()
            .map(|c| Counter { view: c.view, object: c.object, name: c.name, value: c.value })
            .collect();
        record.absent.clone_from(&after.absent);
        self.counted = Some(after);
        record.sizes = self
            .server
            .sizes(tables)?
            .into_iter()
            .flat_map(|size| {
                [("index", size.index), ("rel", size.rel), ("total", size.total)].map(
                    |(name, bytes)| Size {
                        object: size.table.clone(),
                        name: name.to_owned(),
                        bytes,
                    },
                )
            })
            .collect();
        Ok(())
    }

    /// Notes what is not known and why.
    fn check(
        &self,
        record: &mut StepRecord,
        outcome: &Outcome,
        recording: &Recording,
        scope: Scope,
    ) {
        if self.group.is_none() {
            record.notes.push(
                "the server's processes are not on this machine or can't be found: CPU, context \
                 switches and storage figures are absent"
                    .to_owned(),
            );
        } else if scope == Scope::Shared {
            record.notes.push(
                "all variants' servers were up and shared the load in slices: figures of the host \
                 as a whole (cpu/o, cs/o, r/o, rKB/o, w/o, wKB/o) can't be split among them and are \
                 absent"
                    .to_owned(),
            );
        } else if recording.totals.device.is_none() {
            record.notes.push(
                "no block device is known below the data directory: storage figures are absent"
                    .to_owned(),
            );
        }
        for class in &outcome.classes {
            if class.missed > 0 {
                record.notes.push(format!(
                    "{} scheduled {}s were not begun in the step's time",
                    class.missed, class.class.name
                ));
            }
        }
    }
}

/// The share of the time in which the server and its clients were on CPU, where it is known.
fn share_on_cpu(step: &Step, measured: &Measured) -> Option<f64> {
    let Measured { outcome, recording, .. } = measured;
    let dbms = recording.totals.dbms.as_ref()?;
    let client = outcome.client_user_us + outcome.client_system_us;
    let busy_us = dbms.user_us? + dbms.system_us? + client;
    // Per operation, since a server may work outside of the time in which it is measured, too.
    let busy = busy_us as f64 / 1e6 / outcome.operations as f64 * outcome.rate();
    Some(cpu_share(step, busy)).filter(|share| share.is_finite())
}

/// Whether a client lost its connection.
fn cut_off(outcome: &Outcome) -> bool {
    let last = outcome.failures.iter().rev().find(|failure| !failure.retried);
    outcome.fatal.is_some() && last.is_some_and(|last| last.kind == ErrorKind::Disconnected)
}

/// Where clients connect to.
pub fn target(variant: &str, endpoint: Endpoint) -> Target {
    Target { name: variant.to_owned(), connect: Arc::new(postgres(endpoint)) }
}

/// How clients reach a PostgreSQL server.
pub fn postgres(endpoint: Endpoint) -> Postgres {
    match endpoint {
        Endpoint::Postgres { host, port, user, password, database } => Postgres {
            address: match host {
                Host::SocketDirectory(path) => Address::Unix(path.join(format!(".s.PGSQL.{port}"))),
                Host::Tcp(host) => Address::Tcp(host, port),
            },
            user,
            password: password.map(|secret| secret.reveal().to_owned()),
            database,
        },
    }
}
