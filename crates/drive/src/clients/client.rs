//! One client: a stream's loop over its session with one target, and code shared with the loop over
//! several ([`super::sliced`]).

use std::sync::atomic::Ordering;
use std::time::Duration;

use workload::{
    Action, Alternative, Cell, End, Expect, Pace, Refresh, Rng, Role, Source, Stream, Turn,
};

use super::check::check;
use super::gate::Gate;
use super::lane::Lane;
use super::round::Round;
use super::schedule::Schedule;
use crate::clock::Moment;
use crate::error::{Error, ErrorKind};
use crate::step::cost::ThreadCost;
use crate::wire::Reply;

/// Attempts at one round before a retryable error counts as fatal.
pub const ATTEMPTS: u32 = 100;
/// How long a stream that follows another sleeps if there is nothing to do yet.
pub const FOLLOW_PAUSE: Duration = Duration::from_millis(1);

/// The context of a stream's loop, apart from its lanes.
pub struct Context<'a> {
    pub stream: &'a Stream,
    /// The stream's index in the step.
    pub index: usize,
    pub gate: &'a Gate,
    /// True if it is one of the leading streams whose operations are the step's throughput.
    pub counted: bool,
    /// Measured time, if the step has a limit.
    pub limit: Option<Duration>,
    /// How long the stream continues after that without being counted.
    pub overtime: Duration,
    /// The shift of this stream's schedule as a fraction of its interval, 0 to 1, so clients with
    /// the same rate don't all insert at the same moment.
    pub phase: f64,
}

impl Context<'_> {
    /// Sets the shared cells of the stream's refresh before the step starts.
    pub fn first_refresh(&self, lanes: &mut [Lane]) -> Result<(), Error> {
        if let Some(refresh) = &self.stream.refresh {
            for (target, lane) in lanes.iter_mut().enumerate() {
                self.refresh(refresh, lane, target)?;
            }
        }
        Ok(())
    }

    /// Runs the stream on its only target from `start` to its end. Returns when it ended, relative
    /// to the start.
    // As a separate function, it keeps its numbers in registers.
    #[inline(never)]
    pub fn run(&self, lane: &mut Lane, start: Moment) -> Result<Duration, Error> {
        self.gate.sleep_until(start);
        let deadline = self.limit.map_or(Moment::NEVER, |limit| start + limit);
        // Rounds that begin between the two are not counted.
        let last = lane.thinks_until(deadline + self.overtime);
        let rounds = if let End::Rounds(rounds) = self.stream.end { rounds } else { u64::MAX };
        let mut schedule = Schedule::new(&self.stream.pace, start, self.phase, &mut lane.rng);
        // The point from which the thread's cost counts; `None` while it doesn't.
        let mut since = Some(ThreadCost::now());
        let mut over = false;
        let mut now = self.gate.now().max(start);
        let mut ended = start;
        while !self.gate.stopped() && now < last && lane.rounds < rounds {
            let due = schedule.as_ref().map(|schedule| schedule.next);
            if let Some(due) = due {
                let Some(begun) = self.wait(lane, due, now, last) else { break };
                now = begun;
            }
            if now >= deadline && !over {
                over = true;
                self.end_of_time(lane, schedule.as_ref(), deadline, &mut since);
            }
            if let Some(schedule) = &mut schedule {
                schedule.advance();
            }
            if let Some(wait) = self.not_yet(lane, 0) {
                if wait.is_none() {
                    break;
                }
                self.gate.sleep_or_leads_done(now + FOLLOW_PAUSE);
                now = self.gate.now();
                continue;
            }
            let refreshed = self.refresh_in_turn(lane, 0)?;
            if self.keeps_order(lane)? || refreshed {
                now = self.gate.now();
            }
            if let Some(due) = due
                && lane.gives_up(now - due)
            {
                lane.rounds += 1;
                continue;
            }
            // A free stream's operation begins when it is sent; a scheduled one when it was due.
            let begin = due.unwrap_or(now);
            let round = self.round(lane, 0)?;
            now = self.gate.now();
            self.ends_round(lane);
            let rows = match round {
                Round::Done(rows) => rows,
                Round::Failed => {
                    ended = if self.stream.turns.is_empty() || over { ended } else { now };
                    continue;
                }
                Round::Ended => {
                    lane.rounds -= 1;
                    break;
                }
            };
            let at = now.nanos_since(start);
            let left_out = over || self.gate.leaves_out(at);
            lane.cost.count(&mut since, !left_out);
            if left_out {
                lane.tally.left_out(self.stream.operations_per_round);
                if !self.stream.turns.is_empty() {
                    // What a log finds is compared whole.
                    self.found(lane, 0, rows);
                }
            } else {
                self.done(lane, rows, (begin, now), at, now <= deadline);
            }
            if !over {
                ended = now;
            }
            self.count(lane, 0);
        }
        self.leave(lane);
        if let Some(closed) = self.gate.board.closed() {
            self.end_of_time(lane, schedule.as_ref(), start + closed, &mut since);
        } else if self.limit.is_some() && !over && !self.gate.stopped() {
            self.end_of_time(lane, schedule.as_ref(), deadline, &mut since);
        } else {
            lane.cost.count(&mut since, false);
        }
        Ok(ended - start)
    }

    /// Waits until a round is due, and records how late it begins and because of whom. `None` if
    /// the stream ends before, at `last`.
    fn wait(&self, lane: &mut Lane, due: Moment, now: Moment, last: Moment) -> Option<Moment> {
        if due <= now {
            lane.tally.begins(now.nanos_since(due), false);
            return Some(now);
        }
        self.gate.sleep_until(due.min(last));
        if due >= last || self.gate.stopped() {
            return None;
        }
        lane.tally.begins(self.gate.now().nanos_since(due), true);
        Some(due)
    }

    /// Counts a round that began and ended at these moments.
    #[inline(always)]
    fn done(
        &self,
        lane: &mut Lane,
        rows: u64,
        (begin, end): (Moment, Moment),
        at: u64,
        in_time: bool,
    ) {
        self.found(lane, 0, rows);
        let latency = end.nanos_since(begin + lane.thought());
        lane.took(end - begin);
        lane.count(at, latency, self.stream.operations_per_round, in_time);
    }

    /// The measured time is over. Rounds that were scheduled in it but never began are counted as
    /// missed. The thread's cost no longer counts.
    fn end_of_time(
        &self,
        lane: &mut Lane,
        schedule: Option<&Schedule>,
        deadline: Moment,
        since: &mut Option<ThreadCost>,
    ) {
        if let Some(schedule) = schedule {
            lane.tally.missed(schedule.waits_until(deadline));
        }
        lane.end_of_time();
        lane.cost.count(since, false);
    }

    /// Tells the target's other streams and any watchers that a round was done.
    #[inline]
    pub fn count(&self, lane: &Lane, target: usize) {
        let adds_to = self.alternative(lane).map_or(self.stream.adds_to, |it| it.adds_to);
        if let Some(cell) = adds_to.and_then(|cell| self.gate.cells[target].get(cell.0)) {
            cell.0.fetch_add(self.stream.operations_per_round as i64, Ordering::Relaxed);
        }
        let done = &self.gate.board.done(target)[self.index].0;
        done.store((lane.tally.operations + lane.tally.left_out) as i64, Ordering::Relaxed);
    }

    /// True if the stream has a rate.
    pub fn paced(&self) -> bool {
        matches!(self.stream.pace, Pace::Rate(_) | Pace::Poisson(_) | Pace::At(_))
    }

    /// For a stream that follows another: `Some(Some(()))` if it has to wait, `Some(None)` if it is
    /// done, `None` if it may continue.
    pub fn not_yet(&self, lane: &Lane, target: usize) -> Option<Option<()>> {
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
            Pace::Free | Pace::Rate(_) | Pace::Poisson(_) | Pace::At(_) => ending.then_some(None),
        }
    }

    /// Replaces a lane's connection if its stream does so before this round.
    #[inline]
    pub fn reconnect(&self, lane: &mut Lane) -> Result<(), Error> {
        match self.stream.reconnect {
            Some(every) if lane.rounds > 0 && lane.rounds.is_multiple_of(every) => {
                lane.renew(self.stream, self.gate)
            }
            _ if self.turn(lane).is_some_and(|turn| turn.connects) => {
                lane.renew(self.stream, self.gate)
            }
            _ => Ok(()),
        }
    }

    /// The current round, if it was known beforehand.
    #[inline]
    pub fn turn(&self, lane: &Lane) -> Option<&Turn> {
        self.stream.turns.get(lane.rounds as usize)
    }

    /// One round of the stream.
    #[inline]
    pub fn round(&self, lane: &mut Lane, target: usize) -> Result<Round, Error> {
        self.reconnect(lane)?;
        if let Some(player) = &mut lane.player {
            lane.alternative = player.choose(&mut lane.rng);
            let (which, session) = (lane.alternative, lane.session.as_mut());
            return player.transaction(which, session, &mut lane.rng, self.gate, &mut lane.tally);
        }
        if let Some(turn) = self.turn(lane).copied() {
            let round = match self.attempt(lane, target) {
                Err(error @ Error::Server { .. }) => {
                    lane.failed(&error);
                    Round::Failed
                }
                other => other?,
            };
            lane.tally.differ += u64::from((round == Round::Failed) != turn.failed);
            return Ok(round);
        }
        let before = lane.rng.clone();
        self.attempt(lane, target).or_else(|error| self.again(lane, target, &before, error))
    }

    /// Repeats a round that failed, until it succeeds or has failed too often.
    #[cold]
    fn again(
        &self,
        lane: &mut Lane,
        target: usize,
        before: &Rng,
        mut error: Error,
    ) -> Result<Round, Error> {
        for attempt in 1.. {
            self.retry(lane, error, attempt)?;
            // The same parameters again.
            lane.rng = before.clone();
            if self.gate.stopped() {
                break;
            }
            match self.attempt(lane, target) {
                Ok(round) => return Ok(round),
                Err(next) => error = next,
            }
        }
        Ok(Round::Ended)
    }

    /// Prepares a lane for another attempt at its round, if the error of the last one can be
    /// retried.
    #[cold]
    pub fn retry(&self, lane: &mut Lane, error: Error, attempt: u32) -> Result<(), Error> {
        let Error::Server { error, statement } = error else { return Err(error) };
        let again = match error.kind {
            ErrorKind::Retryable => true,
            // Another client has removed the row and put it back in the meantime; or the number of
            // rows is not the next number, because some are missing.
            ErrorKind::Duplicate => self.stream.actions.len() > 1 || !self.stream.mix.is_empty(),
            _ => false,
        };
        if !again {
            return Err(Error::Server { error, statement });
        }
        if attempt >= ATTEMPTS {
            return Err(Error::RetriesExhausted { attempts: attempt, error, statement });
        }
        lane.tally.retried(&Error::Server { error, statement });
        lane.session.roll_back()
    }

    #[inline(always)]
    fn attempt(&self, lane: &mut Lane, target: usize) -> Result<Round, Error> {
        let mut rows = 0;
        self.begin(lane, target);
        for action in self.actions(lane) {
            if let Action::Rest(milliseconds) = action {
                if self.rest(Duration::from_millis(*milliseconds)) {
                    continue;
                }
                return Ok(Round::Ended);
            }
            rows += self.act(lane, action, target)?;
        }
        Ok(Round::Done(rows))
    }

    /// Rests; returns `false` if the step, and with it the stream, ended in the meantime.
    #[cold]
    fn rest(&self, time: Duration) -> bool {
        let until = self.gate.now() + time;
        self.gate.sleep_or_leads_done(until);
        self.gate.now() >= until || self.stream.role != Role::Background
    }

    /// Records the rows that a round found, and how many it had to find.
    #[inline]
    pub fn found(&self, lane: &mut Lane, target: usize, rows: u64) {
        lane.tally.found.rows += rows;
        if let Some((_, tally)) = lane.mix.get_mut(lane.alternative) {
            tally.found.rows += rows;
        }
        let stream = &self.stream.finds;
        if let Some(finds) = self.alternative(lane).map_or(stream, |it| &it.finds) {
            let cells = &self.gate.cells[target];
            let value = |cell: Cell| cells.get(cell.0).map_or(0, |c| c.0.load(Ordering::Relaxed));
            lane.tally.found.least += finds.least(value);
            lane.tally.found.variance += finds.scatter().powi(2);
        }
    }

    /// What the current round does, where rounds differ.
    #[inline]
    fn alternative(&self, lane: &Lane) -> Option<&Alternative> {
        self.stream.mix.get(lane.alternative)
    }

    /// The actions of the current round.
    #[inline]
    pub fn actions(&self, lane: &Lane) -> &[Action] {
        let own = self.alternative(lane).filter(|_| self.stream.turns.is_empty());
        own.map_or(&self.stream.actions, |it| &it.actions)
    }

    /// Draws what a round does, and the numbers that its requests share.
    #[inline]
    pub fn begin(&self, lane: &mut Lane, target: usize) {
        if let Some(turn) = self.turn(lane) {
            lane.alternative = turn.alternative as usize;
        } else if self.stream.in_order {
            lane.alternative = lane.rounds as usize % self.stream.mix.len().max(1);
        } else if !self.stream.mix.is_empty() {
            lane.alternative = lane.rng.weighted(self.stream.mix.iter().map(|it| it.weight));
        }
        if !lane.keeps.is_empty() {
            self.keep_all(lane, target);
        }
    }

    fn keep_all(&self, lane: &mut Lane, target: usize) {
        lane.kept.clear();
        for sampler in &lane.keeps {
            let cells = &self.gate.cells[target];
            let number =
                sampler.number(&mut Source { rng: &mut lane.rng, cells, kept: &[] }, &lane.kept);
            lane.kept.push(number);
        }
    }

    /// Sends the request of an action and reads its answer; returns the rows in it.
    #[inline(always)]
    pub fn act(&self, lane: &mut Lane, action: &Action, target: usize) -> Result<u64, Error> {
        let index = choose(lane, action);
        let mut source =
            Source { rng: &mut lane.rng, cells: &self.gate.cells[target], kept: &lane.kept };
        let (handle, expect) = &lane.requests[index];
        let reply = lane.session.call(*handle, &mut source, None)?;
        self.rows(index, expect, reply)
    }

    /// Sends the request of an action; returns its index.
    #[inline]
    pub fn ask(&self, lane: &mut Lane, action: &Action, target: usize) -> Result<usize, Error> {
        let index = choose(lane, action);
        let mut source =
            Source { rng: &mut lane.rng, cells: &self.gate.cells[target], kept: &lane.kept };
        lane.session.send(lane.requests[index].0, &mut source)?;
        Ok(index)
    }

    /// Reads the answer to the request with this index; returns the rows in it.
    #[inline]
    pub fn answer(&self, lane: &mut Lane, index: usize) -> Result<u64, Error> {
        let reply = lane.session.receive(None)?;
        self.rows(index, &lane.requests[index].1, reply)
    }

    /// The rows in the answer to the request with this index, if it is right.
    #[inline]
    fn rows(&self, index: usize, expect: &Expect, reply: Reply) -> Result<u64, Error> {
        check(expect, reply, || self.stream.requests[index].to_string())?;
        Ok(u64::from(reply.rows))
    }

    /// Refreshes the cells before this round if it is time to. Returns whether it was.
    #[inline]
    pub fn refresh_in_turn(&self, lane: &mut Lane, target: usize) -> Result<bool, Error> {
        let Some(refresh) = &self.stream.refresh else { return Ok(false) };
        let due = lane.until_refresh == 0;
        if due {
            self.refresh(refresh, lane, target)?;
        }
        lane.until_refresh -= 1;
        Ok(due)
    }

    /// Runs the side query and sets the cells from its row.
    #[cold]
    fn refresh(&self, refresh: &Refresh, lane: &mut Lane, target: usize) -> Result<(), Error> {
        lane.until_refresh = refresh.every.max(1);
        let Some(handle) = lane.refresh else { return Ok(()) };
        let cells = &self.gate.cells[target];
        let mut source = Source { rng: &mut lane.rng, cells, kept: &[] };
        let reply = lane.session.call(handle, &mut source, Some(&mut lane.row))?;
        check(&refresh.statement.expect, reply, || refresh.statement.numbered())?;
        for (cell, value) in refresh.into.iter().zip(&lane.row) {
            if let (Some(cell), Some(value)) = (cells.get(cell.0), value) {
                cell.0.store(*value, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// The index of an action's request.
#[inline]
fn choose(lane: &mut Lane, action: &Action) -> usize {
    if let Action::Run(index) = action { *index } else { draw(lane, action) }
}

/// The same for an action that has several.
#[inline(never)]
fn draw(lane: &mut Lane, action: &Action) -> usize {
    let (place, among) = match action {
        Action::InTurn(among) => (lane.rounds as usize % among.len().max(1), among),
        Action::Choose(among) => (lane.rng.below(among.len() as u64) as usize, among),
        Action::Kept { number, among } => {
            let kept = lane.kept.get(*number).and_then(|kept| usize::try_from(*kept).ok());
            (kept.unwrap_or(usize::MAX), among)
        }
        Action::Run(_) | Action::Rest(_) => return 0,
    };
    among.get(place).copied().unwrap_or(0)
}
