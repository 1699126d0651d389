//! Many clients on one thread.
//!
//! A few clients get a thread each. With hundreds on a few cores, each thread would wake up for a
//! single answer, with caches full of other clients' data. Clients that send as fast as they get
//! answers then share threads. A thread waits for all its connections at once (epoll), reads the
//! available answers, and sends each client's next request right away.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use workload::{End, Pace, Rng, Stream};

use super::client::Context;
use super::lane::Lane;
use crate::clock::Moment;
use crate::error::Error;
use crate::step::cost::ThreadCost;

/// With more clients than this per core, they share threads, one per core.
const CLIENTS_PER_CORE: usize = 16;
/// Maximum number of answers to take at once.
const EVENTS: usize = 64;
/// How long a thread waits before it checks whether the step was ended.
const LOOK: u16 = 50;

/// The streams of each thread, by index. With `apart`, each stream has its own thread.
pub fn threads(streams: &[Stream], apart: bool) -> Vec<Vec<usize>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let together = |stream: &Stream| {
        stream.pace == Pace::Free
            && stream.end != End::CaughtUp
            && stream.refresh.is_none()
            && stream.reconnect.is_none()
            && stream.turns.is_empty()
            && !(stream.actions.is_empty() && stream.mix.is_empty())
            && !stream.rests()
    };
    let (shared, own): (Vec<usize>, Vec<usize>) =
        (0..streams.len()).partition(|index| !apart && together(&streams[*index]));
    if shared.len() <= CLIENTS_PER_CORE * cores {
        return (0..streams.len()).map(|index| vec![index]).collect();
    }
    let mut threads: Vec<Vec<usize>> = own.into_iter().map(|index| vec![index]).collect();
    let each = shared.len().div_ceil(cores);
    threads.extend(shared.chunks(each).map(<[usize]>::to_vec));
    threads
}

/// One of several clients on a thread.
struct Seat<'a> {
    context: &'a Context<'a>,
    lane: &'a mut Lane,
    /// When its round began, and the state of the generator at that time.
    begin: Moment,
    before: Rng,
    attempts: u32,
    /// The current action, and its request.
    at: usize,
    asked: usize,
    rows: u64,
    ended: Moment,
}

/// The clients of one thread.
struct Bundle {
    start: Moment,
    deadline: Moment,
    /// When clients stop beginning rounds.
    last: Moment,
    cost: ThreadCost,
    /// The point from which the thread's cost counts; `None` while it doesn't.
    since: Option<ThreadCost>,
}

/// Runs the streams of `contexts` on their lanes from `start` to their ends. Returns when each
/// ended, relative to the start, or the index of the one that failed.
pub fn run(
    contexts: &[Context<'_>],
    lanes: &mut [Lane],
    start: Moment,
) -> Result<Vec<Duration>, (usize, Error)> {
    let Some(first) = contexts.first() else { return Ok(Vec::new()) };
    let (gate, limit, overtime) = (first.gate, first.limit, first.overtime);
    gate.sleep_until(start);
    let now = gate.now().max(start);
    let deadline = limit.map_or(Moment::NEVER, |limit| start + limit);
    let mut bundle = Bundle {
        start,
        deadline,
        last: deadline + overtime,
        cost: ThreadCost::default(),
        since: Some(ThreadCost::now()),
    };
    let failed = |at: usize| move |error: nix::Error| (at, Error::Broken(error.into()));
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(failed(0))?;
    let mut seats = Vec::new();
    let mut open = 0;
    for (at, (context, lane)) in contexts.iter().zip(lanes.iter_mut()).enumerate() {
        let mut seat = Seat {
            context,
            before: lane.rng.clone(),
            lane,
            begin: now,
            attempts: 0,
            at: 0,
            asked: 0,
            rows: 0,
            ended: start,
        };
        if seat.next(&bundle, now).map_err(|error| (at, error))? {
            open += 1;
            if let Some(fd) = seat.lane.session.fd() {
                // SAFETY: the session, and with it the descriptor, outlives `epoll`.
                let fd = unsafe { BorrowedFd::borrow_raw(fd) };
                let event = EpollEvent::new(EpollFlags::EPOLLIN, at as u64);
                epoll.add(fd, event).map_err(failed(at))?;
            }
        }
        seats.push(seat);
    }
    let mut events = [EpollEvent::empty(); EVENTS];
    while open > 0 {
        let ready = match epoll.wait(&mut events, EpollTimeout::from(LOOK)) {
            Ok(ready) => ready,
            Err(nix::Error::EINTR) => 0,
            Err(error) => return Err(failed(0)(error)),
        };
        for event in &events[..ready] {
            let at = event.data() as usize;
            let Some(seat) = seats.get_mut(at) else { continue };
            match seat.answer(&mut bundle) {
                Ok(true) => continue,
                Ok(false) => {}
                // A connection broken after the end of the step is not a failure.
                Err(_) if gate.stopped() => {}
                Err(error) => return Err((at, error)),
            }
            // Further messages from its server are not answers, and would wake the thread for
            // nothing.
            open -= 1;
            if let Some(fd) = seat.lane.session.fd() {
                // SAFETY: as above.
                let _ = epoll.delete(unsafe { BorrowedFd::borrow_raw(fd) });
            }
        }
    }
    bundle.cost.count(&mut bundle.since, false);
    let ended = seats.iter().map(|seat| seat.ended - start).collect();
    if let Some(lane) = lanes.first_mut() {
        lane.cost = bundle.cost;
    }
    Ok(ended)
}

impl Seat<'_> {
    /// Begins a round, unless the stream has ended. Returns whether a request is in progress.
    fn next(&mut self, bundle: &Bundle, now: Moment) -> Result<bool, Error> {
        let done = match self.context.stream.end {
            End::Rounds(rounds) => self.lane.rounds >= rounds,
            End::Time | End::CaughtUp => false,
        };
        if done || self.context.gate.stopped() || now >= bundle.last {
            return Ok(false);
        }
        (self.begin, self.attempts) = (now, 0);
        self.before = self.lane.rng.clone();
        self.attempt()
    }

    /// Begins an attempt at a round.
    fn attempt(&mut self) -> Result<bool, Error> {
        (self.at, self.rows) = (0, 0);
        self.context.begin(self.lane, 0);
        self.ask()?;
        Ok(true)
    }

    fn ask(&mut self) -> Result<(), Error> {
        if let Some(action) = self.context.actions(self.lane).get(self.at) {
            self.asked = self.context.ask(self.lane, action, 0)?;
        }
        Ok(())
    }

    /// Takes the answer that arrived and continues. Returns whether another one is due.
    fn answer(&mut self, bundle: &mut Bundle) -> Result<bool, Error> {
        let context = self.context;
        match context.answer(self.lane, self.asked) {
            Ok(rows) => self.rows += rows,
            Err(error) => {
                self.attempts += 1;
                context.retry(self.lane, error, self.attempts)?;
                if context.gate.stopped() {
                    return Ok(false);
                }
                // The same parameters again.
                self.lane.rng = self.before.clone();
                return self.attempt();
            }
        }
        self.at += 1;
        if self.at < context.actions(self.lane).len() {
            self.ask()?;
            return Ok(true);
        }
        self.lane.rounds += 1;
        let now = context.gate.now();
        let at = now.nanos_since(bundle.start);
        let operations = context.stream.operations_per_round;
        let late = self.begin >= bundle.deadline;
        let left_out = late || context.gate.leaves_out(at);
        bundle.cost.count(&mut bundle.since, !left_out);
        if left_out {
            self.lane.tally.left_out(operations);
        } else {
            context.found(self.lane, 0, self.rows);
            let latency = now.nanos_since(self.begin);
            self.lane.count(at, latency, operations, now <= bundle.deadline);
        }
        if !late {
            self.ended = now;
        }
        context.count(self.lane, 0);
        self.next(bundle, now)
    }
}

#[cfg(test)]
mod tests {
    use workload::{Action, Class, Expect, Statement};

    use super::*;

    fn stream(pace: Pace) -> Stream {
        let requests = vec![Statement::plain("SELECT 1", Expect::Success).into()];
        let actions = vec![Action::Run(0)];
        Stream { requests, actions, pace, ..Stream::new(0, Class::QUERY) }
    }

    #[test]
    fn only_many_clients_without_a_rate_share_threads() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let few = CLIENTS_PER_CORE * cores;
        let mut streams = vec![stream(Pace::Free); few];
        streams.push(stream(Pace::Rate(1.0)));
        assert_eq!(threads(&streams, false).len(), few + 1);
        streams.push(stream(Pace::Free));
        let shared = threads(&streams, false);
        assert_eq!(shared.len(), 1 + cores);
        assert_eq!(shared[0], [few]);
        let mut all: Vec<usize> = shared.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..streams.len()));
        assert_eq!(threads(&streams, true).len(), streams.len());
    }
}
