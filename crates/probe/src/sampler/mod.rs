//! A thread that takes a row of figures every period, and exact totals.

mod joined;
mod series;
mod snapshot;
mod targets;
mod totals;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use series::Series;
pub use targets::{Group, Targets};
pub use totals::{DeviceTotals, GroupTotals, HostTotals, Totals};

use crate::processes::this_thread_us;
use crate::throttle::{Throttle, throttle_counts};
use series::Interval;
use snapshot::{Snapshot, Sources};

/// The result of a sampler.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// The metrics; all have one value per period. An incomplete last period is included if at
    /// least half of it passed; its values are rates over its true length.
    pub series: Vec<Series>,
    /// Differences over the whole recording.
    pub totals: Totals,
    /// The page cache at its start.
    pub page_cache: PageCache,
    /// The sources that could not be read, each reported once.
    pub notes: Vec<String>,
}

/// The state of the host's page cache, in KiB; `None` for what could not be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageCache {
    /// All of it (Cached of `/proc/meminfo`; tmpfs and shared memory included).
    pub cached_kb: Option<u64>,
    /// Waiting to be written (Dirty).
    pub dirty_kb: Option<u64>,
    /// Being written (Writeback).
    pub writeback_kb: Option<u64>,
}

/// A running sampler. Dropping it stops it without a result.
#[derive(Debug)]
pub struct Sampler {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Recording>>,
}

impl Sampler {
    /// Starts sampling at `start + n · period` on an absolute schedule. When this returns, the
    /// first snapshot has been taken, or will be taken at `start` if that is in the future. Periods
    /// that passed before the call, or while the machine stood still, are NaN.
    pub fn start(targets: Targets, start: Instant, period: Duration) -> Sampler {
        // A period of zero would never let the thread sleep.
        let period = period.max(Duration::from_millis(1));
        let mut sources = Sources::open(targets);
        let throttle = throttle_counts();
        let first = (start <= Instant::now()).then(|| sources.snapshot());
        let (stop, stopped) = channel();
        let mut run = Run { sources, start, period, stopped };
        let thread = std::thread::Builder::new().name("sampler".to_owned()).spawn(move || {
            let first = first.or_else(|| run.wait_for_start());
            run.record(first, throttle)
        });
        Sampler { stop: Some(stop), thread: thread.ok() }
    }

    /// Takes the last snapshot and returns the recording.
    pub fn stop(mut self) -> Recording {
        self.end().unwrap_or_else(|| Recording {
            notes: vec![
                "the sampler's thread could not start: is there a limit on threads?".to_owned(),
            ],
            ..Recording::default()
        })
    }

    fn end(&mut self) -> Option<Recording> {
        drop(self.stop.take());
        self.thread.take()?.join().ok()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.end();
    }
}

struct Run {
    sources: Sources,
    start: Instant,
    period: Duration,
    stopped: Receiver<()>,
}

impl Run {
    /// Sleeps until `until`; true if stopped before.
    fn stopped_before(&self, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        !matches!(self.stopped.recv_timeout(left), Err(RecvTimeoutError::Timeout))
    }

    /// `None` if stopped before the start.
    fn wait_for_start(&mut self) -> Option<Snapshot> {
        (!self.stopped_before(self.start)).then(|| self.sources.snapshot())
    }

    /// Adds rows of unknown values for the whole periods before `at` that had no snapshot. Returns
    /// the number of these periods.
    fn fill(&self, rows: &mut Vec<Vec<f64>>, at: Instant) -> usize {
        let periods = whole_periods(at - self.start.min(at), self.period);
        while rows.len() < periods {
            rows.push(series::empty_row());
        }
        periods
    }

    fn record(mut self, first: Option<Snapshot>, throttle_before: Option<Throttle>) -> Recording {
        let Some(first) = first else {
            let mut notes = self.sources.into_notes();
            notes.push("stopped before it started: nothing was sampled".to_owned());
            return Recording { notes, ..Recording::default() };
        };
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut before = first.clone();
        loop {
            // The end of the last snapshot's period.
            let periods = self.fill(&mut rows, before.at);
            let until = self.start + self.period.saturating_mul(count(periods + 1));
            let stopped = self.stopped_before(until);
            let after = self.sources.snapshot();
            let length = after.at - before.at;
            if !stopped || length * 2 >= self.period {
                rows.push(series::row(&Interval {
                    before: &before,
                    after: &after,
                    seconds: length.as_secs_f64(),
                }));
            }
            if stopped {
                self.fill(&mut rows, after.at);
                let mut totals = Totals::between(&first, &after);
                totals.sampler_cpu_us = this_thread_us();
                totals.throttle = throttled(throttle_before, throttle_counts());
                return Recording {
                    series: series::from_rows(&rows),
                    totals,
                    page_cache: PageCache {
                        cached_kb: first.memory.cached_kb,
                        dirty_kb: first.memory.dirty_kb,
                        writeback_kb: first.memory.writeback_kb,
                    },
                    notes: self.sources.into_notes(),
                };
            }
            before = after;
        }
    }
}

fn whole_periods(elapsed: Duration, period: Duration) -> usize {
    usize::try_from(elapsed.as_nanos() / period.as_nanos().max(1)).unwrap_or(usize::MAX)
}

fn count(periods: usize) -> u32 {
    u32::try_from(periods).unwrap_or(u32::MAX)
}

fn throttled(before: Option<Throttle>, after: Option<Throttle>) -> Option<Throttle> {
    let (before, after) = (before?, after?);
    Some(Throttle {
        core: after.core.saturating_sub(before.core),
        package: after.package.saturating_sub(before.package),
    })
}
