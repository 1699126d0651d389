//! Waits until idle servers are quiet before another one is measured.
//!
//! This changes no server settings. Where the load is about to be shared, each server writes out
//! what it holds back, all in the same way. Then the host writes back its dirty pages, and we wait
//! until no server does any significant work.

use std::time::{Duration, Instant};

use probe::CpuMeter;

use crate::error::Error;
use crate::event::Event;
use crate::trial::attempt::{Attempt, at_once};
use crate::trial::conditions::Conditions;
use crate::trial::settle::{interruptible, wait_for_writeback, write_back};

/// CPU is looked at over this time: as long as the longest usual nap of a server's idle processes
/// (`bgwriter_delay` and `wal_writer_delay` of PostgreSQL are 200 ms).
const WINDOW: Duration = Duration::from_millis(200);
/// Servers that all together use less than this share of a core are at rest.
const AT_REST: f64 = 0.02;
/// How long to wait for quiet: autovacuum of what a step has loaded may take a while.
const PATIENCE: Duration = Duration::from_secs(60);

/// Before a sliced step: all servers write out what they hold back, then become quiet. If they were
/// `quiet` before and have only read since, that is waited for only if one of them is at work.
pub fn before_slices(
    conditions: &Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    quiet: bool,
) -> Result<(), Error> {
    let interrupted = conditions.interrupted;
    let ours = attempts.iter_mut().filter(|attempt| attempt.server.owned());
    let flushed = at_once(ours, |attempt| {
        interruptible(attempt.server.as_mut(), interrupted, |server| server.flush())
    });
    flushed.into_iter().collect::<Result<(), Error>>()?;
    before_turn(conditions, attempts, quiet)
}

/// Before a server has the machine to itself: dirty pages are written back, and all become quiet,
/// unless they were `quiet` before, have only read since, and none is at work.
pub fn before_turn(
    conditions: &Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    quiet: bool,
) -> Result<(), Error> {
    if attempts.iter().any(|attempt| attempt.server.owned()) {
        write_back(&conditions.options.data_dir);
        wait_for_writeback(conditions);
    }
    let is_idle = |attempt: &mut Attempt<'_>| {
        attempt.server.debt(&[]).is_ok_and(|debt| debt.running.is_empty())
    };
    if quiet && attempts.iter_mut().all(is_idle) {
        return Ok(());
    }
    let group = |attempt: &Attempt<'_>| attempt.cgroup()?.cpu_meter().ok();
    let meters: Vec<CpuMeter> = attempts.iter().filter_map(group).collect();
    let used = || meters.iter().filter_map(CpuMeter::read).sum::<Duration>();
    let begin = Instant::now();
    while !meters.is_empty() {
        conditions.go_on()?;
        let (before, at) = (used(), Instant::now());
        std::thread::sleep(WINDOW);
        let share = used().saturating_sub(before).as_secs_f64() / at.elapsed().as_secs_f64();
        if share < AT_REST {
            break;
        }
        if begin.elapsed() > PATIENCE {
            conditions.tell(Event::Note(format!(
                "  the servers did not become idle within {} s: idle, they use {:.0}% of a core",
                PATIENCE.as_secs(),
                100.0 * share
            )));
            break;
        }
    }
    Ok(())
}
