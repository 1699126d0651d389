//! Starts the clients of a step together, watches them and adds up what they counted.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use workload::{Class, Role, Step, stream_seed};

use crate::client::{Context, Lane, ThreadCost};
use crate::error::Error;
use crate::gate::Gate;
use crate::outcome::{Failure, Outcome, retried, sum};
use crate::tally::Tally;
use crate::target::Target;
use crate::wire::postgres::PostgresSession;
use crate::wire::{Breaker, Session};

/// Stack of a client thread. Only the pages it touches take memory.
const STACK: usize = 512 * 1024;
/// Results with fewer queries than this are not checked for their mean number of rows.
const MEAN_CHECKED_FROM: u64 = 100;

/// A step and where it is to run.
#[derive(Debug, Clone)]
pub struct Load {
    /// What to do.
    pub step: Arc<Step>,
    /// The systems under test. Every client connects to each; the load goes to one at a time.
    pub targets: Vec<Target>,
    /// The trial's seed: the same seed makes the same parameters.
    pub seed: u64,
}

/// What one client thread brings back.
struct Finished {
    class: Class,
    role: Role,
    ended: Duration,
    lanes: Vec<(Tally, ThreadCost)>,
}

/// All clients connected and waiting for the start.
#[derive(Debug)]
pub struct Ready(Running);

/// A step under way.
#[derive(Debug)]
pub struct Running {
    load: Load,
    gate: Arc<Gate>,
    threads: Vec<JoinHandle<Finished>>,
    breakers: Vec<Breaker>,
    /// The first failure of any client, and its class.
    failed: Arc<Mutex<Option<(Class, String, String)>>>,
}

/// Connects all clients and has their statements parsed. Nothing is measured yet.
///
/// # Errors
///
/// The first failure of any client; all others are then disconnected again.
pub fn prepare(load: &Load) -> Result<Ready, Error> {
    let step = &load.step;
    let leads = step.streams.iter().filter(|stream| stream.role == Role::Lead).count();
    let gate = Arc::new(Gate::new(load.targets.len(), step.cells, step.streams.len(), leads));
    let mut running = Running {
        load: load.clone(),
        gate: Arc::clone(&gate),
        threads: Vec::new(),
        breakers: Vec::new(),
        failed: Arc::default(),
    };
    let (sender, receiver) = mpsc::channel();
    for index in 0..step.streams.len() {
        let (load, gate, failed) = (load.clone(), Arc::clone(&gate), Arc::clone(&running.failed));
        let sender = sender.clone();
        let thread = thread::Builder::new()
            .name(format!("client-{index}"))
            .stack_size(STACK)
            .spawn(move || client_thread(&load, index, &gate, sender, &failed));
        match thread {
            Ok(thread) => running.threads.push(thread),
            Err(error) => {
                // The thread that wasn't started must not be waited for.
                for _ in index..step.streams.len() {
                    running.gate.thread_done();
                }
                running.stop();
                return Err(Error::Thread(error));
            }
        }
    }
    drop(sender);
    for connected in receiver {
        match connected {
            Ok(breakers) => running.breakers.extend(breakers),
            Err(error) => {
                running.stop();
                return Err(error);
            }
        }
    }
    Ok(Ready(running))
}

impl Ready {
    /// Starts all clients at `start`, best a few milliseconds ahead.
    pub fn go(self, start: Instant) -> Running {
        self.0.gate.open(start);
        self.0
    }
}

impl Running {
    /// Waits until all clients have ended, at most `limit`; tells whether they have.
    pub fn wait(&self, limit: Duration) -> bool {
        self.gate.wait_for_end(limit)
    }

    /// Operations so far on each target, of the class that the step counts.
    pub fn operations(&self) -> Vec<u64> {
        let counted = |(stream, done): (&workload::Stream, &crate::gate::Padded<_>)| {
            let done: i64 = std::sync::atomic::AtomicI64::load(&done.0, Ordering::Relaxed);
            if stream.class == self.load.step.counted { done as u64 } else { 0 }
        };
        self.gate
            .done
            .iter()
            .map(|streams| self.load.step.streams.iter().zip(streams).map(counted).sum())
            .collect()
    }

    /// Moves the load to another target, from each client's next operation on.
    pub fn select(&self, target: usize) {
        self.gate.select(target);
    }

    /// Ends the step: each client stops after the operation under way.
    pub fn stop(&self) {
        self.gate.stop();
    }

    /// Breaks all connections off, so that clients which wait for an answer end too.
    pub fn break_off(&self) {
        self.gate.stop();
        for breaker in &self.breakers {
            breaker.break_off();
        }
    }

    /// The clients' threads have ended or are told to: adds up what they counted, for each target.
    ///
    /// Waits for threads that still run; call [`Running::break_off`] before where that might take
    /// for ever.
    pub fn join(mut self) -> Vec<Outcome> {
        let threads = std::mem::take(&mut self.threads);
        let finished: Vec<_> = threads.into_iter().filter_map(|t| t.join().ok()).collect();
        let lost = finished.len() < self.load.step.streams.len();
        let fatal = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let step = &self.load.step;
        let seconds = step.seconds.unwrap_or_else(|| {
            let ends = finished.iter().filter(|f| f.role == Role::Lead).map(|f| f.ended);
            ends.max().unwrap_or_default().as_secs_f64()
        });
        (0..self.load.targets.len())
            .map(|target| {
                let mut outcome = self.outcome(target, &finished, seconds);
                if let Some((class, sqlstate, message)) = &fatal {
                    outcome.fatal = Some(message.clone());
                    outcome.failures.push(Failure {
                        class: *class,
                        sqlstate: sqlstate.clone(),
                        message: message.clone(),
                        count: 1,
                        retried: false,
                    });
                } else if lost {
                    outcome.fatal = Some("a client thread panicked; this is a bug".to_owned());
                }
                outcome
            })
            .collect()
    }

    fn outcome(&self, target: usize, finished: &[Finished], seconds: f64) -> Outcome {
        let step = &self.load.step;
        let tallies = |class: Class| {
            finished.iter().filter(move |f| f.class == class).map(move |f| &f.lanes[target].0)
        };
        let mut present: Vec<_> = step.streams.iter().map(|stream| stream.class).collect();
        present.sort_unstable();
        present.dedup();
        let classes: Vec<_> =
            present.iter().map(|class| sum(*class, tallies(*class), seconds)).collect();
        let costs = || finished.iter().map(|f| f.lanes[target].1);
        let counted = classes.iter().find(|c| c.class == step.counted).map_or(0, |c| c.operations);
        let mut outcome = Outcome {
            target: self.load.targets[target].name.clone(),
            seconds,
            operations: step.operations.unwrap_or(counted),
            classes,
            client_user_us: costs().map(|cost| cost.user_us).sum(),
            client_system_us: costs().map(|cost| cost.system_us).sum(),
            client_switches: costs().map(|cost| cost.switches).sum(),
            failures: retried(finished.iter().map(|f| (f.class, &f.lanes[target].0))),
            fatal: None,
        };
        outcome.fatal = self.too_few_rows(&outcome);
        outcome
    }

    /// Queries that found too little have looked in the wrong place, however fast they were.
    fn too_few_rows(&self, outcome: &Outcome) -> Option<String> {
        let least = self
            .load
            .step
            .streams
            .iter()
            .find_map(|stream| stream.least_mean_rows.map(|least| (stream.class, least)))?;
        let class = outcome.class(least.0)?;
        let mean = class.rows as f64 / class.statements as f64;
        (class.statements >= MEAN_CHECKED_FROM && mean < least.1).then(|| {
            format!(
                "wrong answers: queries found {mean:.2} rows in the mean, at least {} were expected; \
                 is the table what the steps before should have left?",
                least.1
            )
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            self.break_off();
            for thread in self.threads.drain(..) {
                let _ = thread.join();
            }
        }
    }
}

/// Connects, tells so, waits for the start, runs the stream.
fn client_thread(
    load: &Load,
    index: usize,
    gate: &Gate,
    connected: mpsc::Sender<Result<Vec<Breaker>, Error>>,
    failed: &Mutex<Option<(Class, String, String)>>,
) -> Finished {
    /// Also when the thread panics, nobody waits for it in vain.
    struct Done<'a>(&'a Gate);
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            self.0.thread_done();
        }
    }
    let _done = Done(gate);
    let stream = &load.step.streams[index];
    // Sleeps end within a microsecond or so of their time instead of 50, the kernel's default.
    let _ = nix::sys::prctl::set_timerslack(1);
    let context = Context {
        stream,
        index,
        gate,
        limit: load.step.seconds.map(Duration::from_secs_f64),
        phase: f64::from(stream.client) / f64::from(load.step.dop.max(1)),
    };
    let mut finished = Finished {
        class: stream.class,
        role: stream.role,
        ended: Duration::ZERO,
        lanes: Vec::new(),
    };
    let lanes = connect(load, index).and_then(|(mut lanes, breakers)| {
        context.first_refresh(&mut lanes)?;
        Ok((lanes, breakers))
    });
    let mut lanes = match lanes {
        Ok((lanes, breakers)) => {
            let _ = connected.send(Ok(breakers));
            // The preparing thread waits until all senders are gone.
            drop(connected);
            lanes
        }
        Err(error) => {
            let _ = connected.send(Err(error));
            return finished;
        }
    };
    if let Some(start) = gate.wait_for_start() {
        match context.run(&mut lanes, start) {
            Ok(ended) => finished.ended = ended,
            Err(error) => {
                // A connection broken off after the step was ended is no failure.
                if !gate.stopped() {
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    let state = error.sqlstate().unwrap_or_default().to_owned();
                    failed.get_or_insert((stream.class, state, error.to_string()));
                    gate.stop();
                }
            }
        }
        if stream.role == Role::Lead {
            gate.lead_done();
        }
    }
    finished.lanes = lanes.into_iter().map(|lane| (lane.tally, lane.cost)).collect();
    finished
}

type Lanes = Vec<Lane<PostgresSession>>;

/// One lane for each target.
fn connect(load: &Load, index: usize) -> Result<(Lanes, Vec<Breaker>), Error> {
    let stream = &load.step.streams[index];
    let seed =
        stream_seed(load.seed, &load.step.name, load.step.dop, stream.client, stream.class.name());
    let mut lanes = Vec::new();
    let mut breakers = Vec::new();
    for target in &load.targets {
        let session = PostgresSession::connect(target)?;
        breakers.push(session.breaker()?);
        lanes.push(Lane::new(session, stream, seed, load.step.seconds)?);
    }
    if lanes.is_empty() {
        let text = "a load without a target";
        return Err(Error::Broken(io::Error::new(io::ErrorKind::InvalidInput, text)));
    }
    Ok((lanes, breakers))
}
