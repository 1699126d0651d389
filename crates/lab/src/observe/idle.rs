//! Idle-priority processes that run alongside a step's load.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drive::{IdleLoad, Outcome};
use probe::Topology;
use store::StepRecord;
use workload::{Idle, Step};

use crate::observe::observer::{Found, Observer, Scene};
use crate::observe::sampling::Sampling;

/// Makes ready the processes of a step that wants them.
pub fn observe<'a>(scene: &mut Scene<'a, '_>, _: &mut Found) -> Option<Box<dyn Observer + 'a>> {
    let idle = scene.load.step.terms.idle?;
    Some(Box::new(Background { idle, end: None, thread: None }))
}

/// Idle-priority processes that run in a window of a step. Dropping this ends them.
struct Background {
    idle: Idle,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<Option<String>>>,
}

impl Observer for Background {
    /// Has the threads run from `idle.from` after `start` until `idle.to`.
    fn begin(&mut self, start: Instant) {
        let idle = self.idle;
        let threads = idle.threads.on(Topology::here().map_or(1, |it| it.cpus().len()));
        let (from, to) = (idle.from.unwrap_or(0.0), idle.to);
        let (end, ended) = channel::<()>();
        let work = move || {
            let wait = |seconds: Option<f64>| match seconds {
                Some(seconds) => {
                    let until = start + Duration::from_secs_f64(seconds);
                    let left = until.saturating_duration_since(Instant::now());
                    ended.recv_timeout(left) == Err(RecvTimeoutError::Timeout)
                }
                None => ended.recv().is_ok(),
            };
            if !wait(Some(from)) {
                return None;
            }
            match IdleLoad::start(threads) {
                Ok(load) => {
                    wait(to);
                    drop(load);
                    None
                }
                Err(error) => Some(format!("idle-priority processes: {error}")),
            }
        };
        self.thread = std::thread::Builder::new().name("background".to_owned()).spawn(work).ok();
        self.end = Some(end);
    }

    fn end(&mut self, _: &mut Sampling, found: &mut Found) {
        found.notes.extend(self.stop());
    }

    fn record(&mut self, record: &mut StepRecord, step: &Step, outcome: &Outcome) {
        record_window(record, &self.idle, step, outcome);
    }
}

impl Background {
    /// Ends the threads; says what went wrong with them.
    fn stop(&mut self) -> Option<String> {
        drop(self.end.take());
        match self.thread.take()?.join() {
            Ok(problem) => problem,
            Err(_) => Some("idle-priority processes: their thread panicked".to_owned()),
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Records the throughput before, during and after the time of the idle-priority processes, in
/// whole seconds.
fn record_window(record: &mut StepRecord, idle: &Idle, step: &Step, outcome: &Outcome) {
    let seconds = step.seconds.unwrap_or(outcome.seconds);
    let (from, to) = (idle.from.unwrap_or(0.0), idle.to.unwrap_or(seconds));
    record.add(metrics::IDLE_FROM.name, from);
    record.add(metrics::IDLE_TO.name, to);
    let Some(counted) = outcome.classes.iter().find(|class| class.class == step.counted) else {
        return;
    };
    let mean = |from: f64, to: f64| {
        let range = from as usize..(to as usize).min(counted.per_second.len());
        let part = counted.per_second.get(range).filter(|part| !part.is_empty())?;
        Some(part.iter().sum::<u64>() as f64 / part.len() as f64)
    };
    let (before, during, after) = (mean(0.0, from), mean(from, to), mean(to, seconds));
    let ratio = |part: Option<f64>| Some(part? / before.filter(|rate| *rate > 0.0)?);
    for (metric, value) in [
        (&metrics::RATE_BEFORE, before),
        (&metrics::RATE_DURING, during),
        (&metrics::RATE_AFTER, after),
        (&metrics::DURING_BEFORE, ratio(during)),
        (&metrics::AFTER_BEFORE, ratio(after)),
    ] {
        if let Some(value) = value {
            record.add(metric.name, value);
        }
    }
}
