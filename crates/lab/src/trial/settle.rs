//! Settling: the server's pending work, the host's dirty pages, and a rest.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dbms::{Settled, System};
use plan::Plan;
use store::{StepKind, StepRecord};

use crate::error::Error;
use crate::event::Event;
use crate::trial::attempt::{Attempt, at_once};
use crate::trial::conditions::Conditions;

/// Dirty pages that other software produces all the time, in KB; less than this counts as settled.
const CALM_KB: u64 = 4 * 1024;
/// The rest of a run that chooses its own lengths, at most: servers that are up together come to
/// rest before the next step anyway.
const SHORT_REST: Duration = Duration::from_millis(500);
/// Looks at the interrupt and at the dirty pages are this far apart.
const LOOK: Duration = Duration::from_millis(200);

/// Settles servers, all at the same time, and their host; the records say what was done and how
/// long it took.
pub fn settle(
    conditions: &Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    rows: Option<u64>,
    records: Vec<StepRecord>,
) -> Vec<Result<StepRecord, Error>> {
    let (interrupted, plan) = (conditions.interrupted, conditions.plan());
    let begin = Instant::now();
    let dirty = probe::dirty_pages_kb().ok();
    let settled = at_once(attempts.iter_mut(), |attempt| {
        let tables = &attempt.benchmark.tables;
        interruptible(attempt.server.as_mut(), interrupted, |server| server.settle(tables))
    });
    let rest = planned_rest(plan, rows);
    let at_most = |further: Duration| {
        conditions.tell(Event::Settling { at_most: begin.elapsed() + further + rest });
    };
    at_most(conditions.options.writeback_limit);
    let mut notes = Vec::new();
    let writeback = Instant::now();
    if attempts.iter().any(|attempt| attempt.server.owned()) {
        notes.push(write_back(&conditions.options.data_dir));
    }
    let left = wait_for_writeback(conditions);
    notes.push(match left {
        Some(left) => format!(
            "waited {:.1} s for writeback; {left} KB of dirty pages left",
            writeback.elapsed().as_secs_f64()
        ),
        None => "could not read the amount of dirty pages; did not wait".to_owned(),
    });
    at_most(Duration::ZERO);
    let until = Instant::now() + rest;
    while Instant::now() < until && !interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
    }
    notes.push(format!("rested {:.1} s", rest.as_secs_f64()));
    let complete = |(mut record, settled): (StepRecord, Result<Settled, Error>)| {
        let settled = settled?;
        record.kind = StepKind::Settle;
        record.notes.extend(settled.lines.into_iter().chain(notes.iter().cloned()));
        record.add(metrics::SETTLE_SECONDS.name, settled.seconds);
        let kb = |kb: Option<u64>| kb.map_or(f64::NAN, |kb| kb as f64);
        record.add(metrics::SETTLE_DIRTY.name, kb(dirty));
        record.add(metrics::SETTLE_LEFT.name, kb(left));
        record.seconds = begin.elapsed().as_secs_f64();
        Ok(record)
    };
    records.into_iter().zip(settled).map(complete).collect()
}

/// The rest of a plan after settling.
fn planned_rest(plan: &Plan, rows: Option<u64>) -> Duration {
    let rest = rows.map_or(Duration::ZERO, |rows| rest(rows, plan.settle_seconds_scale));
    if plan.designs_itself() { rest.min(SHORT_REST) } else { rest }
}

/// The rest after settling: 60 s and a second per million rows, 1200 s at most, times `scale`.
fn rest(rows: u64, scale: f64) -> Duration {
    let seconds = (60.0 + rows as f64 / 1e6).min(1200.0);
    Duration::from_secs_f64((seconds * scale).max(0.0))
}

/// Has the filesystem of the data written back now, instead of when the kernel finds it due.
pub fn write_back(directory: &Path) -> String {
    let synced = std::fs::File::open(directory)
        .and_then(|file| nix::unistd::syncfs(&file).map_err(std::io::Error::from));
    match synced {
        Ok(()) => "wrote back the filesystem's dirty pages".to_owned(),
        Err(error) => format!("could not write back dirty pages ({error})"),
    }
}

/// Waits until dirty pages are few or no longer decrease; returns how many KB are left.
pub fn wait_for_writeback(conditions: &Conditions<'_>) -> Option<u64> {
    let begin = Instant::now();
    let mut now = probe::dirty_pages_kb().ok()?;
    let mut fewest = now;
    let mut unchanged = Instant::now();
    while now > CALM_KB
        && begin.elapsed() < conditions.options.writeback_limit
        && conditions.go_on().is_ok()
    {
        std::thread::sleep(LOOK);
        now = probe::dirty_pages_kb().ok()?;
        if now < fewest {
            fewest = now;
            unchanged = Instant::now();
        } else if unchanged.elapsed() > Duration::from_secs(35) {
            // Longer than the kernel's default dirty_expire_centisecs: what is left stays, or
            // other software makes new ones as fast as old ones are written.
            break;
        }
    }
    Some(now)
}

/// Runs a long task of the server; on an interrupt, a server that we started aborts it.
pub fn interruptible<T>(
    server: &mut dyn System,
    interrupted: &AtomicBool,
    task: impl FnOnce(&mut dyn System) -> Result<T, dbms::Error>,
) -> Result<T, Error> {
    let interrupter = server.interrupter();
    let interrupt = || interrupter.iter().for_each(|interrupt| interrupt());
    let result = watched(interrupted, &interrupt, || task(server));
    if interrupted.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    Ok(result?)
}

/// Runs a long task; on an interrupt, another thread calls `interrupt`, which makes the task end.
pub fn watched<T>(
    interrupted: &AtomicBool,
    interrupt: &(dyn Fn() + Sync),
    task: impl FnOnce() -> T,
) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if interrupted.load(Ordering::Relaxed) {
                    return interrupt();
                }
                std::thread::park_timeout(LOOK / 4);
            }
        });
        let result = task();
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_grows_with_the_rows_and_is_capped() {
        assert_eq!(rest(0, 1.0), Duration::from_secs(60));
        assert_eq!(rest(500_000_000, 1.0), Duration::from_secs(560));
        assert_eq!(rest(5_000_000_000, 1.0), Duration::from_secs(1200));
        assert_eq!(rest(5_000_000_000, 0.0), Duration::ZERO);
        assert_eq!(rest(0, 0.01), Duration::from_millis(600));
    }
}
