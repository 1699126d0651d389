//! What the threads of one step share: the start, the stop, and whose turn it is.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A counter on a cache line of its own, so that clients on different cores don't share lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(pub T);

/// The state all threads of a step share.
#[derive(Debug)]
pub struct Gate {
    phase: Mutex<PhaseOfStep>,
    changed: Condvar,
    stopped: AtomicBool,
    leads: AtomicUsize,
    running: AtomicUsize,
    active: AtomicUsize,
    /// For each target the cells that its streams share.
    pub cells: Vec<Vec<Padded<AtomicI64>>>,
    /// For each target the operations counted so far, for progress.
    pub done: Vec<Vec<Padded<AtomicI64>>>,
}

#[derive(Debug, Clone, Copy)]
enum PhaseOfStep {
    Waiting,
    Started(Instant),
    Stopped,
}

impl Gate {
    /// A gate for `streams` threads, `leads` of them leading, with `cells` cells for each target.
    pub fn new(targets: usize, cells: usize, streams: usize, leads: usize) -> Gate {
        let numbers = |count| (0..count).map(|_| Padded::default()).collect();
        Gate {
            phase: Mutex::new(PhaseOfStep::Waiting),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            leads: AtomicUsize::new(leads),
            running: AtomicUsize::new(streams),
            active: AtomicUsize::new(0),
            cells: (0..targets).map(|_| numbers(cells)).collect(),
            done: (0..targets).map(|_| numbers(streams)).collect(),
        }
    }

    /// Lets all threads start at `start`.
    pub fn open(&self, start: Instant) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*phase, PhaseOfStep::Waiting) {
            *phase = PhaseOfStep::Started(start);
        }
        self.changed.notify_all();
    }

    /// Ends the step: waits become short, loops end after the operation under way.
    pub fn stop(&self) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        *phase = PhaseOfStep::Stopped;
        self.stopped.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Whether the step was ended.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Waits for the start; `None` when the step was ended before it began.
    pub fn wait_for_start(&self) -> Option<Instant> {
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
    pub fn sleep_until(&self, until: Instant) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        while !matches!(*phase, PhaseOfStep::Stopped) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            phase =
                self.changed.wait_timeout(phase, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The same, and wakes when all leading streams have done their work.
    pub fn sleep_or_leads_done(&self, until: Instant) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        while !matches!(*phase, PhaseOfStep::Stopped) && !self.leads_done() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            phase =
                self.changed.wait_timeout(phase, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A leading stream has done its work.
    pub fn lead_done(&self) {
        let _phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.leads.fetch_sub(1, Ordering::AcqRel);
        self.changed.notify_all();
    }

    /// Whether all leading streams have done their work.
    pub fn leads_done(&self) -> bool {
        self.leads.load(Ordering::Acquire) == 0
    }

    /// A thread has ended.
    pub fn thread_done(&self) {
        // Under the lock, so that a waiter can't miss it between its look and its sleep.
        let _phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.running.fetch_sub(1, Ordering::AcqRel);
        self.changed.notify_all();
    }

    /// Waits until all threads have ended, at most `limit`; tells whether they have.
    pub fn wait_for_end(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        while self.running.load(Ordering::Acquire) > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            phase =
                self.changed.wait_timeout(phase, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// The target that gets the load now.
    #[inline]
    pub fn active(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    /// Moves the load to another target from the next operation of each client on.
    pub fn select(&self, target: usize) {
        self.active.store(target, Ordering::Relaxed);
    }
}
