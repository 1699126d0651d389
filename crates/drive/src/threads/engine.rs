//! Starts the clients of a step together, watches them and adds up their counts.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use workload::{Class, Role, Step, Stream};

use super::thread::{self, Failed, Finished, counted};
use crate::clients::bundle;
use crate::clients::gate::Gate;
use crate::clock::Moment;
use crate::error::Error;
use crate::slices::board::Board;
use crate::slices::slice::{self, Slice};
use crate::slices::timetable::Timetable;
use crate::step::load::{Load, Ready, Running};
use crate::step::outcome::{ClassOutcome, Failure, Outcome, failures, sum};
use crate::step::target::{Reach, Target};
use crate::wire::Breaker;

/// Stack of a client thread. Only the pages it touches take memory.
const STACK: usize = 512 * 1024;
/// With fewer queries than this, the mean number of rows is not checked.
const MEAN_CHECKED_FROM: u64 = 100;
/// If the rows found are this many standard deviations below their expectation, it is not by
/// chance: right answers get there once in three million steps.
const CHANCE: f64 = 5.0;

/// A step whose clients are threads of this process.
pub struct Clients {
    load: Load,
    gate: Arc<Gate>,
    threads: Vec<JoinHandle<Vec<Finished>>>,
    breakers: Vec<Breaker>,
    /// The processes that serve them, for each target.
    servers: Vec<Vec<u32>>,
    /// The clients' threads.
    tids: Vec<u32>,
    /// The first failure of any client.
    failed: Arc<Mutex<Option<Failed>>>,
}

impl Clients {
    /// Connects all clients and prepares their requests.
    pub fn connect(load: &Load) -> Result<Clients, Error> {
        let (targets, streams) = (load.targets.len(), load.step.streams.len());
        let board = Board::new(targets, streams, load.step.leads()).map_err(Error::Memory)?;
        Clients::connect_by(load, Arc::new(board), false)
    }

    /// The same, with this board; if `own_time` is set, they have its clock.
    pub fn connect_by(load: &Load, board: Arc<Board>, own_time: bool) -> Result<Clients, Error> {
        let step = &load.step;
        let gate = Arc::new(Gate::new(board, step.cells, step.log).timed(own_time));
        let mut clients = Clients {
            load: load.clone(),
            gate: Arc::clone(&gate),
            threads: Vec::new(),
            breakers: Vec::new(),
            servers: vec![Vec::new(); load.targets.len()],
            tids: Vec::new(),
            failed: Arc::default(),
        };
        let (sender, receiver) = mpsc::channel();
        let alone = |target: &Target| match &target.reach {
            Reach::Sessions(connect) => !connect.shares_threads(),
            Reach::Process(_) => true,
        };
        let scripted = step.streams.iter().any(|stream| stream.scripts.is_some());
        let apart = load.slices.is_some()
            || !load.seats.is_empty()
            || scripted
            || load.targets.iter().any(alone);
        let mut started = 0;
        for indexes in bundle::threads(&step.streams, apart) {
            let (load, gate, failed) =
                (load.clone(), Arc::clone(&gate), Arc::clone(&clients.failed));
            let sender = sender.clone();
            let (first, streams) = (indexes[0], indexes.len());
            let thread = Builder::new()
                .name(format!("client-{first}"))
                .stack_size(STACK)
                .spawn(move || thread::run(&load, &indexes, &gate, sender, &failed));
            match thread {
                Ok(thread) => {
                    started += streams;
                    clients.threads.push(thread);
                }
                Err(error) => {
                    // Don't wait for threads that weren't started.
                    for _ in started..step.streams.len() {
                        clients.gate.thread_done();
                    }
                    clients.stop();
                    return Err(Error::Thread(error));
                }
            }
        }
        drop(sender);
        for connected in receiver {
            match connected {
                Ok((tid, connections)) => {
                    if !clients.tids.contains(&tid) {
                        clients.tids.push(tid);
                    }
                    for (servers, (server, breaker)) in clients.servers.iter_mut().zip(connections)
                    {
                        servers.extend(server);
                        clients.breakers.push(breaker);
                    }
                }
                Err(error) => {
                    clients.stop();
                    return Err(error);
                }
            }
        }
        Ok(clients)
    }
}

impl Ready for Clients {
    fn go(self: Box<Self>, start: Instant) -> Box<dyn Running> {
        self.start(Moment::from(start))
    }

    fn servers(&self) -> Vec<Vec<u32>> {
        self.servers.clone()
    }

    fn clients(&self) -> Vec<u32> {
        self.tids.clone()
    }
}

impl Running for Clients {
    fn wait(&self, limit: Duration) -> bool {
        self.gate.wait_for_end(limit)
    }

    fn operations(&self) -> Vec<u64> {
        operations(&self.load.step, &self.gate.board)
    }

    fn measured_until(&self) -> Option<Duration> {
        self.gate.measured_until()
    }

    fn leave_out(&self, seconds: Range<u64>) {
        self.gate.leave_out(seconds);
    }

    fn stop(&self) {
        self.gate.stop();
    }

    fn break_off(&self) {
        self.gate.stop();
        for breaker in &self.breakers {
            breaker();
        }
        self.gate.break_off();
    }

    fn join(mut self: Box<Self>) -> Vec<Outcome> {
        let threads = std::mem::take(&mut self.threads);
        let finished: Vec<_> =
            threads.into_iter().filter_map(|t| t.join().ok()).flatten().collect();
        let lost = finished.len() < self.load.step.streams.len();
        let fatal = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let seconds = self.gate.board.closed().or_else(|| self.load.limit()).unwrap_or_else(|| {
            let ends = finished.iter().filter(|f| f.role == Role::Lead).map(|f| f.ended);
            ends.max().unwrap_or_default()
        });
        let seconds = match (&self.load.slices, self.gate.measured_until()) {
            (Some(_), Some(measured)) => seconds.min(measured),
            _ => seconds,
        };
        let left_out = self.gate.left_out();
        (0..self.load.targets.len())
            .map(|target| {
                let mut outcome = self.outcome(target, &finished, seconds, &left_out);
                outcome.unfit &= fatal.is_none() && !lost;
                if let Some(failed) = &fatal {
                    outcome.fatal = Some(match &self.load.slices {
                        Some(_) => {
                            format!("{}: {}", self.load.targets[failed.target].name, failed.message)
                        }
                        None => failed.message.clone(),
                    });
                    if failed.target == target {
                        outcome.failures.push(Failure {
                            class: failed.class.clone(),
                            code: failed.code.clone(),
                            kind: failed.kind,
                            message: failed.message.clone(),
                            count: 1,
                            retried: false,
                        });
                    }
                } else if lost {
                    outcome.fatal = Some("a client thread panicked; this is a bug".to_owned());
                }
                outcome
            })
            .collect()
    }
}

impl Clients {
    /// The state that its threads share.
    pub fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gate)
    }

    /// Starts all clients at `start`.
    pub fn start(self: Box<Self>, start: Moment) -> Box<dyn Running> {
        self.gate.open(start);
        self
    }

    /// The outcome of one target in a step that lasted `whole`, including the seconds that are left
    /// out.
    fn outcome(
        &self,
        target: usize,
        finished: &[Finished],
        whole: Duration,
        left_out: &Range<u64>,
    ) -> Outcome {
        let measured = without(whole, left_out);
        let step = &self.load.step;
        let tallies = |class: &Class| {
            let class = class.clone();
            let all = finished.iter().flat_map(move |f| {
                let counts = &f.lanes[target];
                let mix = counts.mix.iter().map(|(class, tally)| (class, tally));
                std::iter::once((&f.class, &counts.tally)).chain(mix)
            });
            all.filter(move |(of, _)| **of == class).map(|(_, tally)| tally)
        };
        let of = |stream: &Stream| {
            let mix = stream.mix.iter().map(|it| it.class.clone());
            std::iter::once(stream.class.clone()).chain(mix).collect::<Vec<_>>()
        };
        let mut present: Vec<_> = step.streams.iter().flat_map(of).collect();
        present.sort_unstable();
        present.dedup();
        let classes: Vec<_> = present
            .iter()
            .map(|class| sum(class, tallies(class), whole.as_secs_f64()).without(left_out))
            .collect();
        let costs = || finished.iter().map(|f| f.lanes[target].cost);
        let counted = classes.iter().find(|c| c.class == step.counted).map_or(0, |c| c.operations);
        let slices = self.slices(target, finished, measured);
        let mut outcome = Outcome {
            target: self.load.targets[target].name.clone(),
            seconds: match &self.load.slices {
                // Not `sum`, which returns -0 for an empty list.
                Some(_) => slices.iter().fold(0.0, |sum, slice| sum + slice.seconds),
                None => measured.as_secs_f64(),
            },
            operations: step.operations.unwrap_or(counted),
            classes,
            client_user_us: costs().map(|cost| cost.user_us).sum(),
            client_system_us: costs().map(|cost| cost.system_us).sum(),
            client_switches: costs().map(|cost| cost.switches).sum(),
            slices,
            switch_ms: None,
            reported: None,
            failures: failures(finished.iter().map(|f| (&f.class, &f.lanes[target].tally))),
            fatal: None,
            unfit: false,
        };
        outcome.fatal = Self::too_few_rows(&outcome);
        if outcome.fatal.is_none() {
            outcome.fatal = self.unmeasured(&outcome, measured);
            outcome.unfit = outcome.fatal.is_some();
        }
        if outcome.fatal.is_none() {
            outcome.fatal = Self::all_failed(&outcome, &step.counted)
                .or_else(|| Self::too_different(&outcome, step));
        }
        outcome
    }

    /// The measurements in each of a target's slots.
    fn slices(&self, target: usize, finished: &[Finished], measured: Duration) -> Vec<Slice> {
        let Some(slices) = &self.load.slices else { return Vec::new() };
        let targets = self.load.targets.len();
        let counted = |f: &&Finished| counted(&f.class, f.role, &self.load.step);
        let clients: Vec<_> =
            finished.iter().filter(counted).map(|f| &f.lanes[target].tally.slices[..]).collect();
        slice::slices(Timetable::new(slices, targets), targets, target, measured, &clients)
    }

    /// An error if there is no usable slice: there is then no rate, and 0 would be wrong.
    fn unmeasured(&self, outcome: &Outcome, measured: Duration) -> Option<String> {
        let says = |slice: &Slice| slice.rate().is_some();
        if self.load.slices.is_none() || self.gate.stopped() || outcome.slices.iter().any(says) {
            return None;
        }
        let seconds = measured.as_secs_f64();
        Some(match outcome.slices.len() {
            0 => format!(
                "no slice was measured: the step ended after {seconds:.2} s, before every server had the load once, so it has no rate; set shorter slices (slice_ms in the plan)"
            ),
            rounds => format!(
                "no slice was measured: in none of {rounds} rounds did every client finish a second operation in its slot, so the step has no rate; set longer ones (slice_ms in the plan)"
            ),
        })
    }

    /// An error if every transaction failed: their rate is then not a result.
    fn all_failed(outcome: &Outcome, counted: &Class) -> Option<String> {
        let class = outcome.class(counted)?;
        let failure = outcome.last_failure()?;
        (class.operations == 0).then(|| {
            format!("all {} transactions failed, the last with: {}", class.failed, failure.message)
        })
    }

    /// An error if too much of a log went otherwise than when it was written.
    fn too_different(outcome: &Outcome, step: &Step) -> Option<String> {
        let differ = outcome.class(&step.counted)?.differ;
        let said = outcome.unlike_log(step)?;
        (differ > step.log?.may_differ).then(|| {
            format!(
                "{said}; are the data those that the log was written with? --may-fail (`may_fail` in the plan) allows more"
            )
        })
    }

    /// An error if queries found too few rows: they looked in the wrong place.
    fn too_few_rows(outcome: &Outcome) -> Option<String> {
        let lacks = |class: &&ClassOutcome| {
            class.statements >= MEAN_CHECKED_FROM
                && (class.rows as f64) < class.least_rows - CHANCE * class.scatter
        };
        let class = outcome.classes.iter().find(lacks)?;
        let mean = |rows: f64| rows / class.statements as f64;
        Some(format!(
            "wrong answers: queries found {:.2} rows on average, expected at least {:.2}; did the previous steps leave the table as they should?",
            mean(class.rows as f64),
            mean(class.least_rows),
        ))
    }
}

/// Operations so far on each target, of the class that the step counts.
pub fn operations(step: &Step, board: &Board) -> Vec<u64> {
    let counted = |(stream, done): (&Stream, &workload::Padded<_>)| {
        let done: i64 = std::sync::atomic::AtomicI64::load(&done.0, Ordering::Relaxed);
        if stream.class == step.counted { done as u64 } else { 0 }
    };
    let of_target = |target| step.streams.iter().zip(board.done(target)).map(counted).sum();
    (0..board.targets()).map(of_target).collect()
}

/// A time since a step's start, minus the seconds that are left out.
fn without(whole: Duration, left_out: &Range<u64>) -> Duration {
    let (begin, end) = (Duration::from_secs(left_out.start), Duration::from_secs(left_out.end));
    whole - (whole.min(end).saturating_sub(whole.min(begin)))
}

impl Drop for Clients {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            self.break_off();
            for thread in self.threads.drain(..) {
                let _ = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_that_are_left_out_take_no_time() {
        let ms = Duration::from_millis;
        assert_eq!(without(ms(9500), &(0..0)), ms(9500));
        assert_eq!(without(ms(9500), &(3..6)), ms(6500));
        assert_eq!(without(ms(4200), &(3..6)), ms(3000), "it ended while they went on");
        assert_eq!(without(ms(2900), &(3..6)), ms(2900), "or before");
    }
}
