//! A step on several targets of which all but one are frozen at any time.
//!
//! Each target has clients of its own, which never move. A client of a frozen target waits for an
//! answer, which comes in the target's next slot. So does the work that the target does in the
//! background: it falls into the target's own time.
//!
//! One thread follows the [`Timetable`]. At a slot's end, it freezes the target, then lets the next
//! one go on. Its order and lengths are those of the timetable, but not its times, since switching
//! takes time too. Each target has a clock that runs only in its slots (that of its [`Board`]),
//! from just before it is thawed until it is frozen. Its clients read no other, so durations,
//! schedules, series and the end of the step are in own time. A slot's measurement is the
//! operations counted by its end, divided by its length as measured.
//!
//! A timed step ends with a whole round, in which every target has had the planned time. Otherwise
//! each target has slots until its clients have done their work.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use workload::Step;

use super::engine::{Clients, operations};
use crate::clients::gate::Gate;
use crate::clock::Moment;
use crate::error::Error;
use crate::slices::board::Board;
use crate::slices::slice::Slice;
use crate::slices::timetable::{Slot, Timetable};
use crate::step::load::{Load, Ready, Running};
use crate::step::outcome::Outcome;
use crate::step::target::Target;

/// Freezes a target. Dropping it thaws the target.
///
/// An error is a sentence for people.
pub trait Freezer: Send {
    /// Returns when nothing of the target runs anymore.
    ///
    /// # Errors
    /// If that can't be achieved.
    fn freeze(&mut self) -> Result<(), String>;

    /// Lets the target go on.
    ///
    /// # Errors
    /// If that can't be achieved.
    fn thaw(&mut self) -> Result<(), String>;
}

/// The clients of one target, in whichever process they are.
pub trait Crew: Send + Sync {
    /// Lets them start; `start` is a time of their own clock.
    fn open(&self, start: Moment);

    /// Wakes those that sleep, because their clock runs again.
    fn wake(&self) {}

    /// Has each of them end after its current operation.
    fn stop(&self);

    /// Waits at most `limit` until all have ended or are told to.
    fn wait(&self, limit: Duration);

    /// True if nothing will be heard of them anymore.
    fn lost(&self) -> bool {
        false
    }
}

impl Crew for Gate {
    fn open(&self, start: Moment) {
        Gate::open(self, start);
    }

    fn wake(&self) {
        Gate::wake(self);
    }

    fn stop(&self) {
        Gate::stop(self);
    }

    fn wait(&self, limit: Duration) {
        self.wait_for_end_or_stop(limit);
    }
}

/// The connected clients of one target, whose time is that of the board.
pub struct Party {
    /// The numbers that they share with the thread that switches.
    pub board: Arc<Board>,
    /// How that thread reaches them.
    pub crew: Arc<dyn Crew>,
    /// How others watch and end them.
    pub running: Box<dyn Running>,
    /// As [`Ready::servers`].
    pub servers: Vec<u32>,
    /// As [`Ready::clients`].
    pub clients: Vec<u32>,
}

impl Party {
    /// Connects clients of this process.
    pub fn here(load: &Load) -> Result<Party, Error> {
        let board = Board::new(1, load.step.streams.len(), load.step.leads());
        let board = Arc::new(board.map_err(Error::Memory)?);
        let connected = Clients::connect_by(load, Arc::clone(&board), true)?;
        let servers = Ready::servers(&connected).concat();
        let (clients, crew) = (Ready::clients(&connected), connected.gate());
        Ok(Party { board, crew, running: Box::new(connected), servers, clients })
    }
}

/// The load of one target's own clients.
pub fn own_load(load: &Load, target: &Target) -> Load {
    // The slots end a timed step, not the clients.
    let step = Arc::new(Step { seconds: None, ..(*load.step).clone() });
    Load { seats: load.seats.clone(), ..Load::new(step, vec![target.clone()], load.seed) }
}

/// A step of clients that are connected, one party for each target.
pub fn prepare(
    load: &Load,
    parties: Vec<Party>,
    freezers: Vec<Box<dyn Freezer>>,
) -> Result<Box<dyn Ready>, Error> {
    let Some(slices) = load.slices.as_ref().filter(|_| freezers.len() == parties.len()) else {
        return Err(Error::Load("each of several targets needs slices and a freezer"));
    };
    let seat = |(party, freezer): (&Party, Box<dyn Freezer>)| Seat {
        board: Arc::clone(&party.board),
        crew: Arc::clone(&party.crew),
        freezer,
        step: Arc::clone(&load.step),
        done: 0,
        slices: Vec::new(),
    };
    let seats: Vec<Seat> = parties.iter().zip(freezers).map(seat).collect();
    let names = load.targets.iter().map(|target| target.name.clone()).collect();
    let state = Arc::new(State::default());
    let switcher = Switcher {
        timetable: Timetable::new(slices, seats.len()),
        limit: load.limit(),
        seats,
        state: Arc::clone(&state),
        switches: Switches::default(),
    };
    Ok(Box::new(Connected { names, parties, switcher, state }))
}

/// The state that the switching thread shares with whoever watches the step.
#[derive(Debug, Default)]
struct State {
    known: Mutex<Known>,
    changed: Condvar,
    /// The step is to end.
    ending: AtomicBool,
}

#[derive(Debug, Default, Clone, Copy)]
struct Known {
    /// When the last slot was over, relative to the start.
    measured: Option<Duration>,
    /// All targets are thawed, and the thread ends.
    over: bool,
}

impl State {
    fn tell(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    fn known(&self) -> Known {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until_over(&self, limit: Duration) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(known, limit, |known| !known.over);
        waited.unwrap_or_else(PoisonError::into_inner).0.over
    }
}

/// Tells that the thread ends, however it does.
struct Over(Arc<State>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.tell(|known| known.over = true);
    }
}

/// The cost of the switches.
#[derive(Debug, Default)]
struct Switches {
    count: u32,
    total: Duration,
    /// When the previous target was to be frozen.
    since: Option<Moment>,
}

impl Switches {
    fn mean_ms(&self) -> f64 {
        1000.0 * self.total.as_secs_f64() / f64::from(self.count.max(1))
    }
}

/// A target, as the switching thread knows it.
struct Seat {
    board: Arc<Board>,
    crew: Arc<dyn Crew>,
    freezer: Box<dyn Freezer>,
    step: Arc<Step>,
    /// Operations up to its latest slot.
    done: u64,
    slices: Vec<Slice>,
}

impl Seat {
    /// Operations since it was last asked.
    fn operations(&mut self) -> u64 {
        let done = operations(&self.step, &self.board).iter().sum::<u64>();
        done.saturating_sub(std::mem::replace(&mut self.done, done))
    }

    /// True if its clients have ended.
    fn ended(&self) -> bool {
        self.board.ended() || self.crew.lost()
    }

    /// True if its clients were told to end, or can't go on.
    fn stopped(&self) -> bool {
        self.board.stopped.load(Ordering::Acquire) || self.crew.lost()
    }

    /// Records a slot that began at `begin` and that it had for `own`.
    fn record(&mut self, slot: &Slot, begin: Duration, own: Duration) {
        let (operations, seconds) = (self.operations(), own.as_secs_f64());
        let Slot { round, length, .. } = *slot;
        self.slices.push(Slice { round, begin, length, operations, seconds, held: 0.0 });
    }

    /// Adds operations that a client has counted since the last slot to that slot.
    fn complete(&mut self) {
        let operations = self.operations();
        if let Some(last) = self.slices.iter_mut().rfind(|slice| slice.seconds > 0.0) {
            last.operations += operations;
        }
    }
}

/// A slot of a target that had nothing left to do.
fn unmeasured(round: u32, begin: Duration, length: Duration) -> Slice {
    Slice { round, begin, length, operations: 0, seconds: 0.0, held: 0.0 }
}

/// The thread that freezes and thaws.
struct Switcher {
    timetable: Timetable,
    /// The end of the last planned slot of a timed step.
    limit: Option<Duration>,
    seats: Vec<Seat>,
    state: Arc<State>,
    switches: Switches,
}

/// The results of a [`Switcher`].
struct Switched {
    slices: Vec<Vec<Slice>>,
    switch_ms: f64,
    /// The target that could not be frozen or thawed, and why.
    failed: Option<(usize, String)>,
}

impl Switcher {
    fn run(mut self, start: Moment) -> Switched {
        let _over = Over(Arc::clone(&self.state));
        // Slots end within about a microsecond of their time, instead of 50, the kernel's default.
        let _ = nix::sys::prctl::set_timerslack(1);
        let mut failed = self.all_slots(start).err();
        self.state.tell(|known| known.measured = Some(Moment::now() - start));
        let whole = self.limit.is_some() && failed.is_none() && !self.is_ending();
        for seat in &mut self.seats {
            if seat.ended() {
                seat.complete();
                continue;
            }
            if whole {
                // What is under way doesn't count.
                seat.board.close(start);
            }
            // It is told before it goes on.
            seat.board.stopped.store(true, Ordering::Release);
            seat.crew.stop();
        }
        // What is under way comes to its end.
        for (target, seat) in self.seats.iter_mut().enumerate() {
            if let Err(problem) = seat.freezer.thaw() {
                failed.get_or_insert((target, problem));
            }
        }
        let slices = self.seats.iter_mut().map(|seat| std::mem::take(&mut seat.slices));
        Switched { slices: slices.collect(), switch_ms: self.switches.mean_ms(), failed }
    }

    /// True if the step is to end before its time.
    fn is_ending(&self) -> bool {
        self.state.ending.load(Ordering::Acquire) || self.seats.iter().any(|seat| seat.stopped())
    }

    fn all_slots(&mut self, start: Moment) -> Result<(), (usize, String)> {
        for (target, seat) in self.seats.iter_mut().enumerate() {
            seat.board.clock.stand_at(start);
            seat.freezer.freeze().map_err(|problem| (target, problem))?;
        }
        let pause = start - Moment::now();
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        self.seats.iter().for_each(|seat| seat.crew.open(start));
        let limit = self.limit;
        let within = |slot: &Slot| limit.is_none_or(|limit| slot.end() <= limit);
        for slot in self.timetable.clone().take_while(within) {
            if self.is_ending() || self.seats.iter().all(|seat| seat.ended()) {
                break;
            }
            self.slot(&slot, start).map_err(|problem| (slot.target, problem))?;
        }
        Ok(())
    }

    /// Lets a target have its slot, and freezes it again.
    fn slot(&mut self, slot: &Slot, start: Moment) -> Result<(), String> {
        let seat = &mut self.seats[slot.target];
        let thawed = Moment::now();
        if seat.ended() {
            seat.slices.push(unmeasured(slot.round, thawed - start, slot.length));
            return Ok(());
        }
        // After its leading clients have done their work, it completes the others'.
        let measured = !seat.board.leads_done();
        seat.board.clock.go_on(thawed);
        seat.freezer.thaw()?;
        if let Some(since) = self.switches.since {
            self.switches.total += Moment::now() - since;
            self.switches.count += 1;
        }
        seat.crew.wake();
        seat.crew.wait(slot.length.saturating_sub(Moment::now() - thawed));
        self.switches.since = Some(Moment::now());
        seat.freezer.freeze()?;
        let frozen = seat.board.clock.stop();
        if measured {
            seat.record(slot, thawed - start, frozen - thawed);
        } else {
            seat.slices.push(unmeasured(slot.round, thawed - start, slot.length));
        }
        Ok(())
    }
}

/// A step whose clients are connected.
struct Connected {
    names: Vec<String>,
    parties: Vec<Party>,
    switcher: Switcher,
    state: Arc<State>,
}

/// A step that runs.
struct Frozen {
    names: Vec<String>,
    parties: Vec<Box<dyn Running>>,
    thread: Option<JoinHandle<Switched>>,
    state: Arc<State>,
}

impl Ready for Connected {
    fn go(self: Box<Self>, start: Instant) -> Box<dyn Running> {
        let Connected { names, parties, switcher, state } = *self;
        let parties = parties.into_iter().map(|party| party.running).collect();
        let start = Moment::from(start);
        let thread = Builder::new().name("switcher".to_owned());
        let thread = thread.spawn(move || switcher.run(start)).ok();
        let running = Frozen { names, parties, thread, state };
        if running.thread.is_none() {
            running.stop();
            running.state.tell(|known| known.over = true);
        }
        Box::new(running)
    }

    fn servers(&self) -> Vec<Vec<u32>> {
        self.parties.iter().map(|party| party.servers.clone()).collect()
    }

    fn clients(&self) -> Vec<u32> {
        self.parties.iter().flat_map(|party| party.clients.clone()).collect()
    }
}

impl Running for Frozen {
    fn wait(&self, limit: Duration) -> bool {
        let until = Moment::now() + limit;
        self.state.wait_until_over(limit)
            && self.parties.iter().all(|party| party.wait(until - Moment::now()))
    }

    fn operations(&self) -> Vec<u64> {
        self.parties.iter().flat_map(|party| party.operations()).collect()
    }

    fn measured_until(&self) -> Option<Duration> {
        self.state.known().measured
    }

    fn leave_out(&self, _: Range<u64>) {}

    fn stop(&self) {
        self.state.ending.store(true, Ordering::Release);
        self.parties.iter().for_each(|party| party.stop());
    }

    fn break_off(&self) {
        self.state.ending.store(true, Ordering::Release);
        self.parties.iter().for_each(|party| party.break_off());
    }

    fn join(mut self: Box<Self>) -> Vec<Outcome> {
        let switched = self.thread.take().and_then(|thread| thread.join().ok());
        let switched = switched.unwrap_or_else(|| {
            self.stop();
            let slices = vec![Vec::new(); self.parties.len()];
            let problem = "the thread that freezes it could not run; this is a bug".to_owned();
            Switched { slices, switch_ms: 0.0, failed: Some((0, problem)) }
        });
        let Switched { slices, switch_ms, failed } = switched;
        let outcomes = std::mem::take(&mut self.parties).into_iter().map(|party| {
            let outcome = party.join().into_iter().next();
            outcome.unwrap_or_else(|| Outcome::empty(""))
        });
        let mut outcomes: Vec<Outcome> = outcomes.collect();
        let rounds = slices.iter().map(Vec::len).max().unwrap_or_default();
        for (outcome, own) in outcomes.iter_mut().zip(slices) {
            outcome.slices = whole(own, rounds, outcome.seconds);
            outcome.switch_ms = Some(switch_ms);
        }
        let met = |(name, outcome): (&String, &Outcome)| {
            outcome.fatal.as_ref().map(|fatal| format!("{name}: {fatal}"))
        };
        let frozen = failed.map(|(target, problem)| format!("{}: {problem}", self.names[target]));
        let fatal = frozen.or_else(|| self.names.iter().zip(&outcomes).find_map(met));
        if let Some(fatal) = fatal {
            outcomes.iter_mut().for_each(|outcome| outcome.fatal = Some(fatal.clone()));
        }
        outcomes
    }
}

/// A target's slices in this many rounds. The last that was measured ends with the target's work,
/// after `seconds` in all.
fn whole(mut slices: Vec<Slice>, rounds: usize, seconds: f64) -> Vec<Slice> {
    let measured: f64 = slices.iter().map(|slice| slice.seconds).sum();
    if let Some(last) = slices.iter_mut().rfind(|slice| slice.seconds > 0.0) {
        last.seconds = (last.seconds - (measured - seconds).max(0.0)).max(0.0);
    }
    for round in slices.len()..rounds {
        slices.push(unmeasured(round as u32, Duration::ZERO, Duration::ZERO));
    }
    slices
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.break_off();
        if let Some(thread) = self.thread.take() {
            // It thaws what it has frozen.
            let _ = thread.join();
        }
    }
}
