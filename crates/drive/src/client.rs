//! One client: a stream's loop over its sessions, one for each target.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use workload::{Action, End, Expect, Pace, Refresh, Rng, Role, Statement, Stream};

use crate::error::Error;
use crate::gate::Gate;
use crate::tally::Tally;
use crate::wire::{Handle, Reply, Session, Source};

/// Attempts at one round before a retryable error counts as fatal.
const ATTEMPTS: u32 = 100;
/// How long a stream that follows another sleeps when there is nothing to do yet.
const FOLLOW_PAUSE: Duration = Duration::from_millis(1);
/// Missed rounds of one stream whose waiting is put into the histogram, at most.
const MISSED_RECORDED: u64 = 1_000_000;

/// CPU time and context switches of a thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadCost {
    pub user_us: u64,
    pub system_us: u64,
    pub switches: u64,
}

impl ThreadCost {
    /// Of the calling thread, since it began.
    fn now() -> ThreadCost {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return ThreadCost::default() };
        ThreadCost {
            user_us: usage.user_time().num_microseconds() as u64,
            system_us: usage.system_time().num_microseconds() as u64,
            switches: (usage.voluntary_context_switches() + usage.involuntary_context_switches())
                as u64,
        }
    }

    fn add_since(&mut self, earlier: ThreadCost) {
        let now = ThreadCost::now();
        self.user_us += now.user_us.saturating_sub(earlier.user_us);
        self.system_us += now.system_us.saturating_sub(earlier.system_us);
        self.switches += now.switches.saturating_sub(earlier.switches);
    }
}

/// A stream's connection to one target, and what it has counted there.
pub struct Lane<S> {
    session: S,
    statements: Vec<Handle>,
    refresh: Option<Handle>,
    rng: Rng,
    /// Rounds until the next refresh.
    until_refresh: u32,
    /// Rounds done, also those after the step's time.
    rounds: u64,
    row: Vec<Option<i64>>,
    pub tally: Tally,
    pub cost: ThreadCost,
}

impl<S: Session> Lane<S> {
    /// Has the session make all of the stream's statements ready.
    pub fn new(
        mut session: S,
        stream: &Stream,
        seed: u64,
        seconds: Option<f64>,
    ) -> Result<Lane<S>, Error> {
        let statements = stream
            .statements
            .iter()
            .map(|statement| session.prepare(statement))
            .collect::<Result<_, _>>()?;
        let refresh = match &stream.refresh {
            Some(refresh) => Some(session.prepare(&refresh.statement)?),
            None => None,
        };
        Ok(Lane {
            session,
            statements,
            refresh,
            rng: Rng::new(seed),
            until_refresh: 0,
            rounds: 0,
            row: Vec::new(),
            tally: Tally::new(seconds),
            cost: ThreadCost::default(),
        })
    }
}

/// What a stream's loop needs besides its lanes.
pub struct Context<'a> {
    pub stream: &'a Stream,
    /// The stream's index in the step.
    pub index: usize,
    pub gate: &'a Gate,
    /// Measured time, where the step has a limit.
    pub limit: Option<Duration>,
    /// Part of a schedule's interval by which this stream's schedule is shifted, from 0 to 1, so
    /// that clients with the same rate don't all insert at the same moment.
    pub phase: f64,
}

impl Context<'_> {
    /// Sets the shared cells that the stream's refresh keeps, before the step starts.
    pub fn first_refresh<S: Session>(&self, lanes: &mut [Lane<S>]) -> Result<(), Error> {
        if let Some(refresh) = &self.stream.refresh {
            for (target, lane) in lanes.iter_mut().enumerate() {
                self.refresh(refresh, lane, target)?;
            }
        }
        Ok(())
    }

    /// Runs the stream from `start` to its end. Returns when it ended, after the start.
    pub fn run<S: Session>(
        &self,
        lanes: &mut [Lane<S>],
        start: Instant,
    ) -> Result<Duration, Error> {
        self.gate.sleep_until(start);
        let deadline = self.limit.map(|limit| start + limit);
        let mut schedule = Schedule::new(&self.stream.pace, start, self.phase);
        let mut target = usize::MAX;
        let mut since = ThreadCost::now();
        let mut now = Instant::now().max(start);
        let mut ended = Duration::ZERO;
        while !self.gate.stopped() {
            let active = self.gate.active().min(lanes.len() - 1);
            if active != target {
                if let Some(lane) = lanes.get_mut(target) {
                    lane.cost.add_since(since);
                }
                since = ThreadCost::now();
                target = active;
                now = Instant::now();
            }
            if deadline.is_some_and(|deadline| now >= deadline) {
                break;
            }
            if let End::Rounds(rounds) = self.stream.end
                && lanes[target].rounds >= rounds
            {
                if lanes.iter().all(|lane| lane.rounds >= rounds) {
                    break;
                }
                self.gate.sleep_until(now + FOLLOW_PAUSE);
                now = Instant::now();
                continue;
            }
            let begin = match &mut schedule {
                Some(schedule) => {
                    let due = schedule.next;
                    if deadline.is_some_and(|deadline| due >= deadline) {
                        self.gate.sleep_until(deadline.unwrap_or(due));
                        break;
                    }
                    if due > now {
                        self.gate.sleep_until(due);
                        if self.gate.stopped() {
                            break;
                        }
                    }
                    schedule.advance();
                    due
                }
                None => now,
            };
            let lane = &mut lanes[target];
            if let Some(wait) = self.not_yet(lane, target) {
                if wait.is_none() {
                    break;
                }
                self.gate.sleep_or_leads_done(now + FOLLOW_PAUSE);
                now = Instant::now();
                continue;
            }
            if let Some(refresh) = &self.stream.refresh {
                if lane.until_refresh == 0 {
                    self.refresh(refresh, lane, target)?;
                    now = Instant::now();
                }
                lane.until_refresh -= 1;
            }
            // A free stream's operation begins when it is sent; a scheduled one when it was due.
            let begin = if schedule.is_some() { begin } else { now };
            let done = self.round(lane, target)?;
            now = Instant::now();
            if !done {
                break;
            }
            lane.rounds += 1;
            ended = now - start;
            let in_time = deadline.is_none_or(|deadline| now <= deadline);
            let operations = self.stream.operations_per_round;
            lane.tally.round(ended, now - begin, operations, in_time);
            if let Some(cell) = self.stream.adds_to.and_then(|c| self.gate.cells[target].get(c.0)) {
                cell.0.fetch_add(operations as i64, Ordering::Relaxed);
            }
            self.gate.done[target][self.index]
                .0
                .store(lane.tally.operations as i64, Ordering::Relaxed);
        }
        if let Some(lane) = lanes.get_mut(target) {
            lane.cost.add_since(since);
            if let (Some(schedule), Some(deadline)) = (&schedule, deadline)
                && !self.gate.stopped()
            {
                lane.tally.missed(schedule.waits_until(deadline));
            }
        }
        Ok(ended)
    }

    /// For a stream that follows another: `Some(Some(()))` when it has to wait, `Some(None)` when
    /// it is done, `None` when it may go on.
    fn not_yet<S>(&self, lane: &Lane<S>, target: usize) -> Option<Option<()>> {
        let ending = self.stream.end == End::CaughtUp && self.gate.leads_done();
        match &self.stream.pace {
            Pace::Follow(leader) => {
                let step = self.stream.operations_per_round;
                let leader = self.gate.cells[target]
                    .get(leader.0)
                    .map_or(0, |c| c.0.load(Ordering::Relaxed));
                let ahead = leader - (lane.rounds * step) as i64;
                if ahead >= step as i64 { None } else { Some(if ending { None } else { Some(()) }) }
            }
            Pace::Free | Pace::Rate(_) => ending.then_some(None),
        }
    }

    /// One round of the script; `false` when the step ended in the middle of it.
    #[inline]
    fn round<S: Session>(&self, lane: &mut Lane<S>, target: usize) -> Result<bool, Error> {
        let before = lane.rng.clone();
        for attempt in 1.. {
            match self.script(lane, target) {
                Ok(done) => return Ok(done),
                Err(Error::Server { error, statement }) if error.retryable() => {
                    if attempt >= ATTEMPTS {
                        return Err(Error::RetriesExhausted {
                            attempts: attempt,
                            error,
                            statement,
                        });
                    }
                    lane.tally.retried(&Error::Server { error, statement });
                    lane.session.roll_back()?;
                    // The same parameters again.
                    lane.rng = before.clone();
                }
                Err(error) => return Err(error),
            }
            if self.gate.stopped() {
                break;
            }
        }
        Ok(false)
    }

    #[inline]
    fn script<S: Session>(&self, lane: &mut Lane<S>, target: usize) -> Result<bool, Error> {
        let mut rows = 0;
        for action in &self.stream.script {
            let index = match action {
                Action::Run(index) => *index,
                Action::Choose(among) => {
                    let choice = lane.rng.below(among.len() as u64) as usize;
                    among.get(choice).copied().unwrap_or(0)
                }
                Action::Rest(milliseconds) => {
                    let until = Instant::now() + Duration::from_millis(*milliseconds);
                    self.gate.sleep_or_leads_done(until);
                    if Instant::now() < until && self.stream.role == Role::Background {
                        return Ok(false);
                    }
                    continue;
                }
            };
            let source = Source { rng: &mut lane.rng, cells: &self.gate.cells[target] };
            let reply = lane.session.execute(lane.statements[index], source)?;
            check(&self.stream.statements[index], reply)?;
            rows += u64::from(reply.rows);
        }
        lane.tally.rows += rows;
        Ok(true)
    }

    /// Runs the side query and sets the cells from its row.
    #[cold]
    fn refresh<S: Session>(
        &self,
        refresh: &Refresh,
        lane: &mut Lane<S>,
        target: usize,
    ) -> Result<(), Error> {
        lane.until_refresh = refresh.every.max(1);
        let Some(handle) = lane.refresh else { return Ok(()) };
        let cells = &self.gate.cells[target];
        let source = Source { rng: &mut lane.rng, cells };
        let reply = lane.session.execute_row(handle, source, &mut lane.row)?;
        check(&refresh.statement, reply)?;
        for (cell, value) in refresh.into.iter().zip(&lane.row) {
            if let (Some(cell), Some(value)) = (cells.get(cell.0), value) {
                cell.0.store(*value, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// Whether the answer is what the statement must bring.
#[inline]
fn check(statement: &Statement, reply: Reply) -> Result<(), Error> {
    let right = match statement.expect {
        Expect::Rows { min, max } => (min..=max).contains(&reply.rows),
        Expect::Affected(rows) => reply.affected == rows,
        Expect::Success => true,
    };
    if right { Ok(()) } else { Err(wrong(statement, reply)) }
}

#[cold]
fn wrong(statement: &Statement, reply: Reply) -> Error {
    let (expected, found) = match statement.expect {
        Expect::Rows { min, max } if min == max => (format!("{min} rows"), reply.rows.to_string()),
        Expect::Rows { min, max } => (format!("{min} to {max} rows"), reply.rows.to_string()),
        Expect::Affected(rows) => (format!("{rows} rows affected"), reply.affected.to_string()),
        Expect::Success => ("success".to_owned(), "failure".to_owned()),
    };
    let statement = statement.numbered().chars().take(120).collect();
    Error::WrongAnswer { expected, found, statement }
}

/// The times at which a stream with a rate is due.
struct Schedule {
    next: Instant,
    first: Instant,
    interval: f64,
    rounds: u64,
}

impl Schedule {
    fn new(pace: &Pace, start: Instant, phase: f64) -> Option<Schedule> {
        let Pace::Rate(rate) = pace else { return None };
        let interval = 1.0 / rate.max(1e-6);
        let first = start + Duration::from_secs_f64(interval * phase);
        Some(Schedule { next: first, first, interval, rounds: 0 })
    }

    /// From the first time and not from the last, so that rounding doesn't add up.
    fn advance(&mut self) {
        self.rounds += 1;
        self.next = self.first + Duration::from_secs_f64(self.interval * self.rounds as f64);
    }

    /// How long the rounds that were due and not begun have waited by `end`.
    fn waits_until(&self, end: Instant) -> impl Iterator<Item = Duration> {
        let waited = end.saturating_duration_since(self.next);
        let overdue = end > self.next;
        let count = if overdue { (waited.as_secs_f64() / self.interval) as u64 + 1 } else { 0 };
        let interval = self.interval;
        (0..count.min(MISSED_RECORDED)).map(move |index| {
            waited.saturating_sub(Duration::from_secs_f64(interval * index as f64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_does_not_drift() {
        let start = Instant::now();
        let mut schedule = Schedule::new(&Pace::Rate(3.0), start, 0.0).unwrap();
        for _ in 0..3000 {
            schedule.advance();
        }
        let off = (schedule.next - start).as_secs_f64() - 1000.0;
        assert!(off.abs() < 1e-6, "{off}");
    }

    #[test]
    fn rounds_that_never_began_have_waited() {
        let start = Instant::now();
        let schedule = Schedule::new(&Pace::Rate(2.0), start, 0.0).unwrap();
        let waits: Vec<_> = schedule
            .waits_until(start + Duration::from_millis(1200))
            .map(|w| w.as_millis())
            .collect();
        assert_eq!(waits, [1200, 700, 200]);
        assert_eq!(schedule.waits_until(start).count(), 0);
    }
}
