//! Asks a server something again and again while a step runs.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use drive::Outcome;
use store::StepRecord;
use workload::Step;

use crate::observe::observer::{Found, Observer};
use crate::observe::sampling::Sampling;

/// Answers of a server, added up.
pub trait Answers: Default + Send + 'static {
    /// Names the answers, for the note that they are not known.
    const WHAT: &'static str;
    /// The time between two questions.
    const APART: Duration;

    /// Adds them to a record.
    fn record(&self, record: &mut StepRecord, outcome: &Outcome);
}

/// Asks once, in a step that began at this time.
type Ask<A> = Box<dyn FnMut(Instant, &mut A) -> Result<(), dbms::Error> + Send>;

/// Asks on a thread of its own, from the start of a step.
pub struct Poll<A> {
    ask: Option<Ask<A>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<A, dbms::Error>>>,
    /// The answers, once the load has ended.
    pub answers: A,
}

impl<A: Answers> Poll<A> {
    /// Will call `ask`.
    pub fn of(
        ask: impl FnMut(Instant, &mut A) -> Result<(), dbms::Error> + Send + 'static,
    ) -> Poll<A> {
        Poll { ask: Some(Box::new(ask)), stop: None, thread: None, answers: A::default() }
    }
}

impl<A: Answers> Observer for Poll<A> {
    fn begin(&mut self, start: Instant) {
        let Some(ask) = self.ask.take() else { return };
        let (stop, stopped) = channel();
        self.stop = Some(stop);
        self.thread = Some(thread::spawn(move || poll(ask, start, &stopped)));
    }

    fn over(&mut self) {
        drop(self.stop.take());
    }

    fn end(&mut self, _: &mut Sampling, found: &mut Found) {
        self.over();
        let Some(thread) = self.thread.take() else { return };
        let answers = thread.join().map_err(|_| "its thread panicked".to_owned());
        let answers = answers.and_then(|it| it.map_err(|error| error.to_string()));
        self.answers = found.known(A::WHAT, answers);
    }

    fn record(&mut self, record: &mut StepRecord, _: &Step, outcome: &Outcome) {
        self.answers.record(record, outcome);
    }
}

/// Asks until it is stopped.
fn poll<A: Answers>(
    mut ask: Ask<A>,
    start: Instant,
    stopped: &Receiver<()>,
) -> Result<A, dbms::Error> {
    let mut answers = A::default();
    let mut next = start;
    loop {
        next += A::APART;
        let rest = next.saturating_duration_since(Instant::now());
        match stopped.recv_timeout(rest) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(answers),
        }
        ask(start, &mut answers)?;
        // A slow answer does not lead to extra questions.
        next = next.max(Instant::now() - A::APART);
    }
}
