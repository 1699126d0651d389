//! One step: clients connected, kernel and counters watched, everything into one record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dbms::{Endpoint, Host, Server, Snapshot};
use drive::{Address, Load, Outcome, Running, Target};
use probe::{Device, Group, Recording, Sampler, Targets};
use store::{Counter, StepRecord, StepState, TableSize};
use workload::Step;

use crate::event::Event;
use crate::figures::{self, Scope};

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

/// What a step needs of its trial.
pub struct Surroundings<'a> {
    /// The server under test.
    pub server: &'a mut dyn Server,
    /// Its variant's name.
    pub variant: &'a str,
    /// How the kernel knows it.
    pub group: Option<Group>,
    /// The device that holds its data.
    pub device: Option<Device>,
    /// The tables of the benchmark.
    pub tables: &'a [String],
    /// The server's counters as the step before left them; `None` where something else came
    /// between. To read them takes a good half second, in which the server's last numbers arrive.
    pub counted: &'a mut Option<Snapshot>,
    /// The trial's seed.
    pub seed: u64,
    /// How long an answer may be overdue.
    pub answer_limit: Duration,
    /// Whether the user wants the run to end.
    pub interrupted: &'a AtomicBool,
}

impl Surroundings<'_> {
    /// Runs a step. The record is complete also where the step failed; [`StepRecord::state`] and
    /// the trouble beside it tell.
    pub fn run(
        &mut self,
        step: &Arc<Step>,
        mut record: StepRecord,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(StepRecord, Option<Trouble>), Trouble> {
        let before = match self.counted.take() {
            Some(counted) => counted,
            None => self.server.counters(self.tables)?,
        };
        let load = Load {
            step: Arc::clone(step),
            targets: vec![target(self.variant, self.server.endpoint())],
            seed: self.seed,
        };
        let ready = drive::prepare(&load).map_err(|error| Trouble::Failed(error.to_string()))?;
        let start = Instant::now() + LEAD_TIME;
        record.started_ms = store::now_ms();
        let scope = if self.group.is_some() { Scope::Local } else { Scope::Remote };
        let targets =
            Targets { device: self.device.clone(), dbms: self.group.clone(), driver: true };
        let sampler = Sampler::start(targets, start, Duration::from_secs(1));
        let running = ready.go(start);
        let trouble = self.watch(&running, step, start, on_event);
        let recording = sampler.stop();
        let outcome = running.join().into_iter().next();
        let Some(outcome) = outcome else {
            return Err(Trouble::Failed("the load had no target".to_owned()));
        };
        figures::fill(&mut record, step, &outcome, &recording, scope);
        let trouble = trouble
            .or_else(|| cut_off(&outcome).then(|| self.death(DEATH)).flatten())
            .or_else(|| outcome.fatal.clone().map(Trouble::Failed));
        if trouble.is_none() {
            self.afterwards(&mut record, &before)?;
        }
        self.check(&mut record, &outcome, &recording);
        record.state = if trouble.is_none() { StepState::Finished } else { StepState::Failed };
        Ok((record, trouble))
    }

    /// Watches a running step until it has ended or has to be ended.
    fn watch(
        &mut self,
        running: &Running,
        step: &Step,
        start: Instant,
        on_event: &mut dyn FnMut(Event),
    ) -> Option<Trouble> {
        let limit = step
            .seconds
            .map(|seconds| start + Duration::from_secs_f64(seconds) + self.answer_limit);
        while !running.wait(LOOK) {
            if self.interrupted.load(Ordering::Relaxed) {
                running.break_off();
                return Some(Trouble::Interrupted);
            }
            if !self.server.alive() {
                // The clients see it too, and their connections tell more exactly when.
                running.wait(NOTICE);
                running.break_off();
                return self.death(Duration::ZERO);
            }
            if limit.is_some_and(|limit| Instant::now() > limit) {
                running.break_off();
                return Some(Trouble::Failed(format!(
                    "the server did not answer within {} s after the step's time",
                    self.answer_limit.as_secs()
                )));
            }
            on_event(Event::Progress {
                operations: running.operations().iter().sum(),
                elapsed: start.elapsed(),
            });
        }
        self.death(Duration::ZERO)
    }

    /// How the server died, if it did or does so within `limit`.
    fn death(&mut self, limit: Duration) -> Option<Trouble> {
        let begin = Instant::now();
        while self.server.alive() {
            if begin.elapsed() >= limit {
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let how = self.server.died().unwrap_or_else(|| "no reason known".to_owned());
        Some(Trouble::Failed(format!("the server died ({how})")))
    }

    /// What the server counted over the step, and how large the tables are now.
    fn afterwards(&mut self, record: &mut StepRecord, before: &Snapshot) -> Result<(), Trouble> {
        let after = self.server.counters(self.tables)?;
        record.counters = after
            .difference(before)
            .into_iter()
            .map(|c| Counter { view: c.view, object: c.object, name: c.name, value: c.value })
            .collect();
        record.absent.clone_from(&after.absent);
        *self.counted = Some(after);
        record.sizes = self
            .server
            .sizes(self.tables)?
            .into_iter()
            .map(|size| TableSize {
                table: size.table,
                index_bytes: size.index,
                rel_bytes: size.rel,
                total_bytes: size.total,
            })
            .collect();
        Ok(())
    }

    /// Notes what is not known and why.
    fn check(&self, record: &mut StepRecord, outcome: &Outcome, recording: &Recording) {
        if self.group.is_none() {
            record.notes.push(
                "the server's processes are not on this machine or can't be found: CPU, context \
                 switches and storage figures are absent"
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
                    class.missed,
                    class.class.name()
                ));
            }
        }
    }
}

/// Whether a client lost its connection: no SQLSTATE at all, or one by which a server ends
/// connections (class 57P, as in 57P01 admin_shutdown).
fn cut_off(outcome: &Outcome) -> bool {
    let last = outcome.failures.iter().rev().find(|failure| !failure.retried);
    outcome.fatal.is_some()
        && last.is_some_and(|last| last.sqlstate.is_empty() || last.sqlstate.starts_with("57P"))
}

/// Where clients connect to.
fn target(variant: &str, endpoint: Endpoint) -> Target {
    match endpoint {
        Endpoint::Postgres { host, port, user, password, database } => Target {
            name: variant.to_owned(),
            address: match host {
                Host::SocketDirectory(path) => Address::Unix(path.join(format!(".s.PGSQL.{port}"))),
                Host::Tcp(host) => Address::Tcp(host, port),
            },
            user,
            password: password.map(|secret| secret.reveal().to_owned()),
            database,
        },
        // The enum is open for systems to come; each brings its own address.
        _ => Target {
            name: variant.to_owned(),
            address: Address::Tcp("unsupported".to_owned(), 0),
            user: String::new(),
            password: None,
            database: String::new(),
        },
    }
}
