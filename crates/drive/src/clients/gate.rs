//! State shared by the threads of a step: the start, the stop, and whose turn it is.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use workload::Padded;

use crate::clock::{Moment, SECOND};
use crate::wire::Breaker;

/// The state that all threads of a step share.
#[derive(Debug)]
pub struct Gate {
    phase: Mutex<PhaseOfStep>,
    changed: Condvar,
    stopped: AtomicBool,
    leads: AtomicUsize,
    running: AtomicUsize,
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
    /// For each target, the operations counted so far, for progress.
    pub done: Vec<Vec<Padded<AtomicI64>>>,
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
    /// A gate for `streams` threads, of which `leads` are leading, with `cells` cells for each
    /// target.
    pub fn new(targets: usize, cells: usize, streams: usize, leads: usize) -> Gate {
        let numbers = |count| (0..count).map(|_| Padded::default()).collect();
        Gate {
            phase: Mutex::new(PhaseOfStep::Waiting),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            leads: AtomicUsize::new(leads),
            running: AtomicUsize::new(streams),
            measured: OnceLock::new(),
            completing: AtomicBool::new(false),
            left_out: (AtomicU64::new(u64::MAX), AtomicU64::new(0)),
            turn: AtomicUsize::new(0),
            turn_leads: AtomicUsize::new(leads),
            all_leads: leads,
            cells: (0..targets).map(|_| numbers(cells)).collect(),
            done: (0..targets).map(|_| numbers(streams)).collect(),
            breakers: Mutex::default(),
        }
    }

    /// Takes note of how to break the calling thread's new connection; breaks it if the step has
    /// already ended.
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
            self.measured(Moment::now() - start);
        }
        *phase = PhaseOfStep::Stopped;
        self.stopped.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// True if the step was ended.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
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
            let left = until - Moment::now();
            if left.is_zero() {
                return;
            }
            phase =
                self.changed.wait_timeout(phase, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A leading stream has finished its work.
    pub fn lead_done(&self) {
        let _phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.leads.fetch_sub(1, Ordering::AcqRel);
        self.changed.notify_all();
    }

    /// True if all leading streams have finished their work.
    pub fn leads_done(&self) -> bool {
        self.leads.load(Ordering::Acquire) == 0
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
        at >= self.left_out.0.load(Ordering::Acquire)
            && at < self.left_out.1.load(Ordering::Relaxed)
    }

    /// A thread has ended.
    pub fn thread_done(&self) {
        // Under the lock, so a waiter can't miss it between checking and sleeping.
        let _phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.running.fetch_sub(1, Ordering::AcqRel);
        self.changed.notify_all();
    }

    /// Waits until all threads have ended, at most `limit`. Returns whether they have.
    pub fn wait_for_end(&self, limit: Duration) -> bool {
        let until = Moment::now() + limit;
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        while self.running.load(Ordering::Acquire) > 0 {
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
