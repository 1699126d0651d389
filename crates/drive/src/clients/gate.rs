//! State shared by the threads of a step: the start, the stop, and whose turn it is.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use workload::{Padded, SentLog};

use super::order::Order;
use crate::clock::{Moment, SECOND};
use crate::slices::board::Board;
use crate::wire::Breaker;

/// The state that all threads of a step share.
#[derive(Debug)]
pub struct Gate {
    phase: Mutex<PhaseOfStep>,
    changed: Condvar,
    /// The numbers that whoever watches the step may read and set, even from another process.
    pub board: Arc<Board>,
    /// The clients' time is that of the board's clock.
    own_time: bool,
    measured: OnceLock<Duration>,
    completing: AtomicBool,
    /// Start and end (exclusive) of the seconds that are left out, in nanoseconds; the start is
    /// `u64::MAX` if there are none.
    left_out: (AtomicU64, AtomicU64),
    turn: AtomicUsize,
    /// Leading streams that have not finished their work on the current target.
    turn_leads: AtomicUsize,
    /// Leading streams of the step.
    all_leads: usize,
    /// For each target, the cells that its streams share.
    pub cells: Vec<Vec<Padded<AtomicI64>>>,
    /// The order between streams that send a log, on the only target.
    pub order: Order,
    /// Break connections that clients have made during the step.
    breakers: Mutex<Breakers>,
}

/// The latest connection of each thread that has made new ones.
#[derive(Default)]
struct Breakers(HashMap<ThreadId, Breaker>);

impl fmt::Debug for Breakers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} connections", self.0.len())
    }
}

#[derive(Debug, Clone, Copy)]
enum PhaseOfStep {
    Waiting,
    Started(Moment),
    Stopped,
}

impl Gate {
    /// A gate for the streams of a new board, with `cells` cells for each target, which
    /// send a `log`.
    pub fn new(board: Arc<Board>, cells: usize, log: Option<SentLog>) -> Gate {
        let leads = board.leads.load(Ordering::Acquire) as usize;
        let numbers = || (0..cells).map(|_| Padded::default()).collect();
        Gate {
            phase: Mutex::new(PhaseOfStep::Waiting),
            changed: Condvar::new(),
            own_time: false,
            measured: OnceLock::new(),
            completing: AtomicBool::new(false),
            left_out: (AtomicU64::new(u64::MAX), AtomicU64::new(0)),
            turn: AtomicUsize::new(0),
            turn_leads: AtomicUsize::new(leads),
            all_leads: leads,
            cells: (0..board.targets()).map(|_| numbers()).collect(),
            order: Order::new(log),
            breakers: Mutex::default(),
            board,
        }
    }

    /// The same; if `own_time` is set, the clients' clock is that of the board.
    pub fn timed(self, own_time: bool) -> Gate {
        Gate { own_time, ..self }
    }

    /// The clients' time.
    #[inline]
    pub fn now(&self) -> Moment {
        if self.own_time { self.board.clock.now() } else { Moment::now() }
    }

    /// Records how to break the calling thread's new connection; breaks it if the step has already
    /// ended.
    pub fn also_breaks(&self, breaker: Breaker) {
        let mut breakers = self.breakers.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stopped() {
            breaker();
        }
        breakers.0.insert(thread::current().id(), breaker);
    }

    /// Breaks the connections that clients have made during the step.
    pub fn break_off(&self) {
        let breakers = self.breakers.lock().unwrap_or_else(PoisonError::into_inner);
        breakers.0.values().for_each(|breaker| breaker());
    }

    /// Lets all threads start at `start`.
    pub fn open(&self, start: Moment) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*phase, PhaseOfStep::Waiting) {
            *phase = PhaseOfStep::Started(start);
        }
        self.changed.notify_all();
    }

    /// Ends the step: waits become short, and loops end after the current operation.
    pub fn stop(&self) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if let PhaseOfStep::Started(start) = *phase {
            self.measured(self.now() - start);
        }
        *phase = PhaseOfStep::Stopped;
        self.board.stopped.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// True if the step was ended.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.board.stopped.load(Ordering::Relaxed)
    }

    /// Waits for the start; `None` if the step was ended before it began.
    pub fn wait_for_start(&self) -> Option<Moment> {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *phase {
                PhaseOfStep::Waiting => {
                    phase = self.changed.wait(phase).unwrap_or_else(PoisonError::into_inner);
                }
                PhaseOfStep::Started(start) => return Some(start),
                PhaseOfStep::Stopped => return None,
            }
        }
    }

    /// Sleeps until `until` or the step's end, whichever is first.
    pub fn sleep_until(&self, until: Moment) {
        self.sleep_unless(until, || false);
    }

    /// The same, but also wakes when all leading streams have finished their work.
    pub fn sleep_or_leads_done(&self, until: Moment) {
        self.sleep_unless(until, || self.leads_done());
    }

    /// The same, but also wakes when the measured part of the step is over.
    pub fn sleep_while_measured(&self, until: Moment) {
        self.sleep_unless(until, || self.completing());
    }

    fn sleep_unless(&self, until: Moment, awake: impl Fn() -> bool) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        while !matches!(*phase, PhaseOfStep::Stopped) && !awake() {
            let left = until - self.now();
            if left.is_zero() {
                return;
            }
            phase = if self.own_time && self.board.clock.stands() {
                self.changed.wait(phase).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.changed.wait_timeout(phase, left).unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }

    /// Wakes clients that sleep, because their clock runs again.
    pub fn wake(&self) {
        // Under the lock, so no client can miss it between looking and sleeping.
        let _phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.notify_all();
    }

    /// A leading stream has finished its work.
    pub fn lead_done(&self) {
        let _phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.board.leads.fetch_sub(1, Ordering::AcqRel);
        self.changed.notify_all();
    }

    /// True if all leading streams have finished their work.
    pub fn leads_done(&self) -> bool {
        self.board.leads_done()
    }

    /// The measured part was over `at` after the start; the first call counts.
    pub fn measured(&self, at: Duration) {
        let _ = self.measured.set(at);
    }

    /// The measured part was over `at` after the start. From now on, the targets are completed in
    /// turn.
    pub fn complete(&self, at: Duration) {
        self.measured(at);
        let _phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.completing.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// True if the targets are being completed.
    #[inline]
    pub fn completing(&self) -> bool {
        self.completing.load(Ordering::Relaxed)
    }

    /// The target that is being completed; after the last, the number of targets.
    pub fn turn(&self) -> usize {
        self.turn.load(Ordering::Acquire)
    }

    /// Waits until it is a target's turn to be completed, or the step's end.
    pub fn wait_for_turn(&self, target: usize) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        while !matches!(*phase, PhaseOfStep::Stopped) && self.turn() < target {
            phase = self.changed.wait(phase).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A leading stream has finished its work on the current target. After the last stream, it is
    /// the next target's turn.
    pub fn turn_done(&self) {
        let _phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if self.turn_leads.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.turn_leads.store(self.all_leads, Ordering::Release);
            self.turn.fetch_add(1, Ordering::AcqRel);
            self.changed.notify_all();
        }
    }

    /// When the measured part was over, relative to the start; `None` while it lasts.
    pub fn measured_until(&self) -> Option<Duration> {
        self.measured.get().copied()
    }

    /// Leaves these seconds after the start out of the measurement.
    pub fn leave_out(&self, seconds: Range<u64>) {
        self.left_out.1.store(seconds.end.saturating_mul(SECOND), Ordering::Release);
        self.left_out.0.store(seconds.start.saturating_mul(SECOND), Ordering::Release);
    }

    /// The seconds that are left out; empty if there are none.
    pub fn left_out(&self) -> Range<u64> {
        let begin = self.left_out.0.load(Ordering::Acquire);
        if begin == u64::MAX {
            return 0..0;
        }
        begin / SECOND..self.left_out.1.load(Ordering::Acquire) / SECOND
    }

    /// True if an operation that ends `at` nanoseconds after the start is left out.
    #[inline]
    pub fn leaves_out(&self, at: u64) -> bool {
        at >= self.board.closed.load(Ordering::Acquire)
            || (at >= self.left_out.0.load(Ordering::Acquire)
                && at < self.left_out.1.load(Ordering::Relaxed))
    }

    /// A thread has ended.
    pub fn thread_done(&self) {
        // Under the lock, so a waiter can't miss it between checking and sleeping.
        let _phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.board.running.fetch_sub(1, Ordering::AcqRel);
        self.changed.notify_all();
    }

    /// True if all threads have ended.
    pub fn ended(&self) -> bool {
        self.board.ended()
    }

    /// Waits until all threads have ended, at most `limit`. Returns whether they have.
    pub fn wait_for_end(&self, limit: Duration) -> bool {
        self.wait(limit, || self.ended())
    }

    /// The same, or until the step was ended.
    pub fn wait_for_end_or_stop(&self, limit: Duration) -> bool {
        self.wait(limit, || self.ended() || self.stopped())
    }

    fn wait(&self, limit: Duration, done: impl Fn() -> bool) -> bool {
        let until = Moment::now() + limit;
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        while !done() {
            let left = until - Moment::now();
            if left.is_zero() {
                return false;
            }
            phase =
                self.changed.wait_timeout(phase, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}
