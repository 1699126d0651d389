//! A client whose load moves between several targets by a timetable.
//!
//! Every client knows the current slot from the time, which it reads once per operation anyway. At
//! a slot's end, it finishes its operation and goes to the target whose slot it is by then. A
//! target that holds it beyond its slot takes that time from the others' slots, never the reverse,
//! and rounds do not drift.
//!
//! Time stands still for a target while the client is away: schedules and rests continue where they
//! stopped. How late a round is depends only on its own target.

use std::time::Duration;

use workload::{Action, End, Role};

use super::client::{Context, FOLLOW_PAUSE};
use super::lane::Lane;
use super::round::Round;
use super::schedule::Schedule;
use crate::clock::Moment;
use crate::error::Error;
use crate::slices::meter::Route;
use crate::slices::timetable::{Slices, Timetable};
use crate::step::cost::ThreadCost;

/// How long a client that completes a target waits before it checks the others again.
const COMPLETION_PAUSE: Duration = Duration::from_millis(10);

/// The state that a client keeps for a target while it is away.
struct Stay {
    schedule: Option<Schedule>,
    /// When the client left.
    left: Moment,
    /// The next action of a round that rests.
    at: usize,
    /// When its rest is over.
    rest: Option<Moment>,
    /// When its round began.
    begun: Option<Moment>,
    /// Attempts at its round that failed.
    attempts: u32,
}

/// The result of trying to do a round.
enum Did {
    /// A round, with its latency in nanoseconds.
    Round(u64),
    /// Nothing yet.
    Waited,
    /// The stream has no more to do.
    Ended,
}

/// A client on its way between its targets.
pub struct Tour<'a> {
    context: &'a Context<'a>,
    lanes: &'a mut [Lane],
    stays: Vec<Stay>,
    slices: &'a Slices,
    route: Route,
    /// The stream's rounds rest.
    rests: bool,
    start: Moment,
    /// The target the client is at.
    here: Option<usize>,
    now: Moment,
    /// When the latest round was begun.
    begun: Moment,
    since: ThreadCost,
    /// The measured part is over, and the targets are being completed.
    completing: bool,
    /// The step's time is over: what is done doesn't count.
    over: bool,
    ended: Moment,
}

impl<'a> Tour<'a> {
    /// A client that begins at `start`.
    pub fn new(
        context: &'a Context<'a>,
        lanes: &'a mut [Lane],
        slices: &'a Slices,
        start: Moment,
    ) -> Tour<'a> {
        let stay = |lane: &mut Lane| Stay {
            schedule: Schedule::new(&context.stream.pace, start, context.phase, &mut lane.rng),
            left: start,
            at: 0,
            rest: None,
            begun: None,
            attempts: 0,
        };
        Tour {
            context,
            stays: lanes.iter_mut().map(stay).collect(),
            route: if context.counted {
                Route::new(slices, lanes.len(), start, context.paced())
            } else {
                Route::unmeasured(slices, lanes.len(), start)
            },
            lanes,
            slices,
            start,
            here: None,
            now: start,
            begun: start,
            rests: context.stream.rests(),
            since: ThreadCost::default(),
            completing: false,
            over: false,
            ended: start,
        }
    }

    /// The target that the client is at.
    pub fn here(&self) -> usize {
        self.here.unwrap_or(0)
    }

    /// Runs the stream to its end. Returns when it ended, relative to the start.
    pub fn run(&mut self) -> Result<Duration, Error> {
        let (gate, overtime) = (self.context.gate, self.context.overtime);
        gate.sleep_until(self.start);
        self.now = Moment::now().max(self.start);
        let deadline = self.context.limit.map(|limit| self.start + limit);
        let measured = self.in_slots(deadline);
        let slices = self.route.finish(self.now);
        for (lane, slices) in self.lanes.iter_mut().zip(slices) {
            lane.tally.slices = slices;
        }
        measured?;
        if deadline.is_none() && !gate.stopped() {
            self.completing = true;
            self.complete()?;
        }
        self.leave();
        if let Some(deadline) = deadline.filter(|_| !gate.stopped()) {
            for (lane, stay) in self.lanes.iter_mut().zip(&self.stays) {
                if let Some(schedule) = &stay.schedule {
                    lane.tally.missed(schedule.waits_until(stay.left));
                }
            }
            if !overtime.is_zero() {
                self.over = true;
                self.lanes.iter_mut().for_each(Lane::end_of_time);
                let targets = self.lanes.len();
                self.route = Route::unmeasured(self.slices, targets, self.start);
                let last = deadline - self.start + overtime;
                // No target gets more of it than others.
                let last = self.start + Timetable::whole_rounds(self.slices, targets, last);
                self.in_slots(Some(last))?;
            }
        }
        Ok(self.ended - self.start)
    }

    /// Follows the timetable to the deadline, or until the first client has finished its work on
    /// one target.
    fn in_slots(&mut self, deadline: Option<Moment>) -> Result<(), Error> {
        let gate = self.context.gate;
        while !gate.stopped() && !gate.completing() {
            if deadline.is_some_and(|deadline| self.now >= deadline) {
                // Only what is said first counts.
                gate.measured(self.context.limit.unwrap_or_default());
                break;
            }
            let Some(slot) = self.route.go_on(self.now) else { break };
            self.go_to(slot.target);
            let slot_end = self.route.slot_end();
            if self.lanes[slot.target].session.is_absent() {
                self.route.waited();
                self.sleep_until(slot_end);
                continue;
            }
            if self.work_done(slot.target) {
                if deadline.is_none() {
                    gate.complete(self.now - self.start);
                    break;
                }
                if (0..self.lanes.len()).all(|target| self.work_done(target)) {
                    break;
                }
                self.route.waited();
                self.sleep_until(slot_end);
                continue;
            }
            match self.round(slot.target, slot_end)? {
                Did::Round(latency) => {
                    let operations = self.context.stream.operations_per_round;
                    let lane = &mut self.lanes[slot.target];
                    if self.over {
                        lane.tally.left_out(operations);
                    } else {
                        self.route.round(self.begun, self.now, operations);
                        self.ended = self.now;
                        let at = self.now.nanos_since(self.start);
                        lane.count(at, latency, operations, true);
                    }
                    self.context.count(lane, slot.target);
                    if deadline.is_none() && self.work_done(slot.target) {
                        gate.complete(self.now - self.start);
                    }
                }
                Did::Waited => self.route.waited(),
                Did::Ended => break,
            }
        }
        Ok(())
    }

    /// Finishes the work of all streams on one target after another. Not measured.
    fn complete(&mut self) -> Result<(), Error> {
        let gate = self.context.gate;
        let leads = self.context.stream.role == Role::Lead;
        for target in 0..self.lanes.len() {
            if leads {
                gate.wait_for_turn(target);
            }
            self.go_to(target);
            while !gate.stopped() {
                let done = if leads { self.work_done(target) } else { gate.turn() > target };
                if done || !self.complete_round(target)? {
                    break;
                }
            }
            if leads {
                gate.turn_done();
            }
        }
        if self.context.stream.end == End::CaughtUp {
            while !gate.stopped() && !gate.leads_done() {
                gate.sleep_or_leads_done(Moment::now() + COMPLETION_PAUSE);
            }
            for target in 0..self.lanes.len() {
                self.go_to(target);
                while !gate.stopped() && self.complete_round(target)? {}
            }
        }
        Ok(())
    }

    /// A round outside the measured part; `false` if the stream has nothing left to do there.
    fn complete_round(&mut self, target: usize) -> Result<bool, Error> {
        match self.round(target, self.now + COMPLETION_PAUSE)? {
            Did::Round(_) => {
                self.ended = self.now;
                let lane = &mut self.lanes[target];
                lane.tally.completed(self.context.stream.operations_per_round);
                self.context.count(lane, target);
                Ok(true)
            }
            Did::Waited => Ok(true),
            Did::Ended => Ok(false),
        }
    }

    /// True if this client has nothing left to do on a target.
    fn work_done(&self, target: usize) -> bool {
        match self.context.stream.end {
            End::Rounds(rounds) => self.lanes[target].rounds >= rounds,
            End::Time | End::CaughtUp => self.completing,
        }
    }

    /// Does a round that may begin before `until`, or waits for one at most until then.
    fn round(&mut self, target: usize, until: Moment) -> Result<Did, Error> {
        let context = self.context;
        let lane = &mut self.lanes[target];
        let stay = &mut self.stays[target];
        if stay.begun.is_some() {
            if context.gate.leads_done() {
                return Ok(Did::Ended);
            }
            return self.resume(target, until);
        }
        self.begun = self.now;
        if let Some(wait) = context.not_yet(lane, target) {
            if wait.is_none() {
                return Ok(Did::Ended);
            }
            context.gate.sleep_or_leads_done(until.min(self.now + FOLLOW_PAUSE));
            self.now = Moment::now();
            return Ok(Did::Waited);
        }
        let mut begin = None;
        if let Some(schedule) = &mut stay.schedule {
            let due = schedule.next;
            if due >= until {
                self.sleep_until(until);
                return Ok(Did::Waited);
            }
            if due > self.now {
                self.sleep_until(due);
                if self.now < due {
                    return Ok(Did::Waited);
                }
                self.begun = self.now;
            }
            begin = Some(due);
        }
        let lane = &mut self.lanes[target];
        let stay = &mut self.stays[target];
        if let Some(schedule) = &mut stay.schedule {
            schedule.advance();
        }
        if context.refresh_in_turn(lane, target)? {
            self.now = Moment::now();
        }
        if self.rests {
            return self.resume(target, until);
        }
        let begin = begin.unwrap_or(self.now);
        if !self.over && lane.gives_up(self.now - begin) {
            lane.rounds += 1;
            return Ok(Did::Waited);
        }
        let round = context.round(lane, target)?;
        self.now = Moment::now();
        let rows = match round {
            Round::Done(rows) => rows,
            Round::Failed => {
                lane.rounds += 1;
                return Ok(Did::Waited);
            }
            Round::Ended => return Ok(Did::Ended),
        };
        if !self.over {
            lane.took(self.now - begin);
            context.found(lane, target, rows);
        }
        lane.rounds += 1;
        Ok(Did::Round(self.now.nanos_since(begin)))
    }

    /// Continues a round that rests, until its next rest or its end. A transaction that it holds
    /// open stays open while the client is away.
    fn resume(&mut self, target: usize, until: Moment) -> Result<Did, Error> {
        let context = self.context;
        if self.stays[target].begun.is_none() {
            self.stays[target].begun = Some(self.now);
            context.begin(&mut self.lanes[target], target);
        }
        while let Some(action) = context.actions(&self.lanes[target]).get(self.stays[target].at) {
            if let Action::Rest(milliseconds) = action {
                let over = self.now + Duration::from_millis(*milliseconds);
                let over = *self.stays[target].rest.get_or_insert(over);
                self.sleep_until(over.min(until));
                if self.now < over {
                    return Ok(Did::Waited);
                }
                self.stays[target].rest = None;
            } else {
                let (lane, stay) = (&mut self.lanes[target], &mut self.stays[target]);
                match context.act(lane, action, target) {
                    Ok(rows) if !self.over => lane.tally.found.rows += rows,
                    Ok(_) => {}
                    Err(error) => {
                        stay.attempts += 1;
                        context.retry(lane, error, stay.attempts)?;
                        (stay.at, stay.begun) = (0, None);
                        return Ok(Did::Waited);
                    }
                }
                self.now = Moment::now();
            }
            self.stays[target].at += 1;
        }
        let stay = &mut self.stays[target];
        let begin = stay.begun.take().unwrap_or(self.now);
        (stay.at, stay.attempts) = (0, 0);
        self.lanes[target].rounds += 1;
        Ok(Did::Round(self.now.nanos_since(begin)))
    }

    /// Moves to a target, whose time continues from where it stopped.
    fn go_to(&mut self, target: usize) {
        if self.here == Some(target) {
            return;
        }
        self.leave();
        self.now = self.now.max(Moment::now());
        self.here = Some(target);
        self.since = ThreadCost::now();
        let stay = &mut self.stays[target];
        let away = self.now - stay.left;
        if let Some(schedule) = &mut stay.schedule {
            schedule.leave_out(away);
        }
        for moment in [&mut stay.rest, &mut stay.begun].into_iter().flatten() {
            *moment += away;
        }
    }

    /// Leaves the target, whose time now stands still.
    fn leave(&mut self) {
        if let Some(target) = self.here.take() {
            if !self.over {
                self.lanes[target].cost.add_since(self.since);
            }
            self.stays[target].left = self.now;
        }
    }

    /// Sleeps until `until`, or until the measured part or the step has ended.
    fn sleep_until(&mut self, until: Moment) {
        if self.completing {
            self.context.gate.sleep_until(until);
        } else {
            self.context.gate.sleep_while_measured(until);
        }
        self.now = Moment::now();
    }
}
