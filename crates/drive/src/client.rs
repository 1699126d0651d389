//! One client: a stream's loop over its session with one target, and what the loop over several
//! ([`crate::sliced`]) shares with it.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use workload::{Action, Cell, End, Expect, Pace, Refresh, Rng, Role, Statement, Stream};

use crate::error::Error;
use crate::gate::Gate;
use crate::schedule::Schedule;
use crate::tally::Tally;
use crate::wire::{Handle, Reply, Session, Source};

/// Attempts at one round before a retryable error counts as fatal.
pub const ATTEMPTS: u32 = 100;
/// How long a stream that follows another sleeps when there is nothing to do yet.
pub const FOLLOW_PAUSE: Duration = Duration::from_millis(1);

/// CPU time and context switches of a thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadCost {
    pub user_us: u64,
    pub system_us: u64,
    pub switches: u64,
}

impl ThreadCost {
    /// Of the calling thread, since it began.
    pub fn now() -> ThreadCost {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return ThreadCost::default() };
        ThreadCost {
            user_us: usage.user_time().num_microseconds() as u64,
            system_us: usage.system_time().num_microseconds() as u64,
            switches: (usage.voluntary_context_switches() + usage.involuntary_context_switches())
                as u64,
        }
    }

    pub fn add_since(&mut self, earlier: ThreadCost) {
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
    pub until_refresh: u32,
    /// Rounds done, also those after the step's time.
    pub rounds: u64,
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
    /// Whether it is one of the leading streams whose operations are the step's throughput.
    pub counted: bool,
    /// Measured time, where the step has a limit.
    pub limit: Option<Duration>,
    /// How long the stream goes on after that without being counted.
    pub overtime: Duration,
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

    /// Runs the stream on its only target from `start` to its end. Returns when it ended, after the
    /// start.
    pub fn run<S: Session>(&self, lane: &mut Lane<S>, start: Instant) -> Result<Duration, Error> {
        self.gate.sleep_until(start);
        let deadline = self.limit.map(|limit| start + limit);
        let mut schedule = Schedule::new(&self.stream.pace, start, self.phase);
        let mut since = ThreadCost::now();
        let mut left_out = false;
        let mut now = Instant::now().max(start);
        let mut ended = Duration::ZERO;
        while !self.gate.stopped() {
            if deadline.is_some_and(|deadline| now >= deadline) {
                break;
            }
            if let End::Rounds(rounds) = self.stream.end
                && lane.rounds >= rounds
            {
                break;
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
            if let Some(wait) = self.not_yet(lane, 0) {
                if wait.is_none() {
                    break;
                }
                self.gate.sleep_or_leads_done(now + FOLLOW_PAUSE);
                now = Instant::now();
                continue;
            }
            if let Some(refresh) = &self.stream.refresh {
                if lane.until_refresh == 0 {
                    self.refresh(refresh, lane, 0)?;
                    now = Instant::now();
                }
                lane.until_refresh -= 1;
            }
            // A free stream's operation begins when it is sent; a scheduled one when it was due.
            let begin = if schedule.is_some() { begin } else { now };
            let found = lane.tally.found;
            let done = self.round(lane, 0)?;
            now = Instant::now();
            if !done {
                break;
            }
            lane.rounds += 1;
            ended = now - start;
            if self.gate.leaves_out(ended) != left_out {
                left_out = !left_out;
                // What the thread used meanwhile is left out as well.
                if left_out { lane.cost.add_since(since) } else { since = ThreadCost::now() }
            }
            if left_out {
                lane.tally.found = found;
                lane.tally.left_out(self.stream.operations_per_round);
            } else {
                let in_time = deadline.is_none_or(|deadline| now <= deadline);
                lane.tally.round(ended, now - begin, self.stream.operations_per_round, in_time);
            }
            self.count(lane, 0);
        }
        if !left_out {
            lane.cost.add_since(since);
        }
        let Some(deadline) = deadline.filter(|_| !self.gate.stopped()) else { return Ok(ended) };
        if let Some(schedule) = &schedule {
            lane.tally.missed(schedule.waits_until(deadline));
        }
        if !self.overtime.is_zero() && Instant::now() >= deadline {
            self.go_on(lane, schedule, deadline + self.overtime)?;
        }
        Ok(ended)
    }

    /// Goes on with the stream until `end` or the end of the step; nothing is measured any more.
    #[cold]
    fn go_on<S: Session>(
        &self,
        lane: &mut Lane<S>,
        mut schedule: Option<Schedule>,
        end: Instant,
    ) -> Result<(), Error> {
        while !self.gate.stopped() && Instant::now() < end {
            if let Some(schedule) = &mut schedule {
                self.gate.sleep_until(schedule.next.min(end));
                if schedule.next >= end || self.gate.stopped() {
                    return Ok(());
                }
                schedule.advance();
            }
            match self.not_yet(lane, 0) {
                Some(None) => return Ok(()),
                Some(Some(())) => {
                    self.gate.sleep_or_leads_done(Instant::now() + FOLLOW_PAUSE);
                    continue;
                }
                None => {}
            }
            if let Some(refresh) = &self.stream.refresh {
                if lane.until_refresh == 0 {
                    self.refresh(refresh, lane, 0)?;
                }
                lane.until_refresh -= 1;
            }
            let found = lane.tally.found;
            if !self.round(lane, 0)? {
                return Ok(());
            }
            lane.tally.found = found;
            lane.rounds += 1;
            lane.tally.left_out(self.stream.operations_per_round);
            self.count(lane, 0);
        }
        Ok(())
    }

    /// Tells the target's other streams and whoever watches that a round was done.
    #[inline]
    pub fn count<S>(&self, lane: &Lane<S>, target: usize) {
        if let Some(cell) = self.stream.adds_to.and_then(|c| self.gate.cells[target].get(c.0)) {
            cell.0.fetch_add(self.stream.operations_per_round as i64, Ordering::Relaxed);
        }
        let done = &self.gate.done[target][self.index].0;
        done.store((lane.tally.operations + lane.tally.left_out) as i64, Ordering::Relaxed);
    }

    /// Whether the stream has a rate.
    pub fn paced(&self) -> bool {
        matches!(self.stream.pace, Pace::Rate(_))
    }

    /// For a stream that follows another: `Some(Some(()))` when it has to wait, `Some(None)` when
    /// it is done, `None` when it may go on.
    pub fn not_yet<S>(&self, lane: &Lane<S>, target: usize) -> Option<Option<()>> {
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
    pub fn round<S: Session>(&self, lane: &mut Lane<S>, target: usize) -> Result<bool, Error> {
        let before = lane.rng.clone();
        for attempt in 1.. {
            match self.script(lane, target) {
                Ok(done) => return Ok(done),
                Err(error) => self.retry(lane, error, attempt)?,
            }
            // The same parameters again.
            lane.rng = before.clone();
            if self.gate.stopped() {
                break;
            }
        }
        Ok(false)
    }

    /// Makes a lane ready for another attempt at its round, where the error of the last one lets
    /// hope for it.
    #[cold]
    pub fn retry<S: Session>(
        &self,
        lane: &mut Lane<S>,
        error: Error,
        attempt: u32,
    ) -> Result<(), Error> {
        let Error::Server { error, statement } = error else { return Err(error) };
        if !error.retryable() {
            return Err(Error::Server { error, statement });
        }
        if attempt >= ATTEMPTS {
            return Err(Error::RetriesExhausted { attempts: attempt, error, statement });
        }
        lane.tally.retried(&Error::Server { error, statement });
        lane.session.roll_back()
    }

    #[inline]
    fn script<S: Session>(&self, lane: &mut Lane<S>, target: usize) -> Result<bool, Error> {
        let mut rows = 0;
        for action in &self.stream.script {
            if let Action::Rest(milliseconds) = action {
                let until = Instant::now() + Duration::from_millis(*milliseconds);
                self.gate.sleep_or_leads_done(until);
                if Instant::now() < until && self.stream.role == Role::Background {
                    return Ok(false);
                }
                continue;
            }
            rows += self.act(lane, action, target)?;
        }
        lane.tally.found.rows += rows;
        if let Some(finds) = &self.stream.finds {
            let cells = &self.gate.cells[target];
            let value = |cell: Cell| cells.get(cell.0).map_or(0, |c| c.0.load(Ordering::Relaxed));
            lane.tally.found.least += finds.least(value);
            lane.tally.found.variance += finds.scatter().powi(2);
        }
        Ok(true)
    }

    /// Runs the statement of an action; returns the rows in its result. A rest is none.
    #[inline]
    pub fn act<S: Session>(
        &self,
        lane: &mut Lane<S>,
        action: &Action,
        target: usize,
    ) -> Result<u64, Error> {
        let index = match action {
            Action::Run(index) => *index,
            Action::Choose(among) => {
                let choice = lane.rng.below(among.len() as u64) as usize;
                among.get(choice).copied().unwrap_or(0)
            }
            Action::Rest(_) => return Ok(0),
        };
        let source = Source { rng: &mut lane.rng, cells: &self.gate.cells[target] };
        let reply = lane.session.execute(lane.statements[index], source)?;
        check(&self.stream.statements[index], reply)?;
        Ok(u64::from(reply.rows))
    }

    /// Runs the side query and sets the cells from its row.
    #[cold]
    pub fn refresh<S: Session>(
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
pub fn check(statement: &Statement, reply: Reply) -> Result<(), Error> {
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
