//! A stream's connection to one target, with its counts there.

use std::sync::Arc;
use std::time::Duration;

use workload::{Class, Expect, Request, Rng, Sampler, Stream};

use super::gate::Gate;
use super::opening::open;
use super::player::Player;
use crate::clock::Moment;
use crate::error::Error;
use crate::step::cost::ThreadCost;
use crate::step::tally::Tally;
use crate::wire::{Connect, Handle, Session};

/// A session that has prepared all of a stream's requests.
struct Prepared {
    session: Box<dyn Session>,
    requests: Vec<(Handle, Expect)>,
    refresh: Option<Handle>,
}

impl Prepared {
    fn connect(connect: &dyn Connect, stream: &Stream) -> Result<Prepared, Error> {
        let mut session = connect.connect()?;
        open(session.as_mut(), &stream.opening)?;
        let prepare = |request: &Request| {
            if let Request::Copy(copy) = request {
                copy.make_ready();
            }
            Ok((session.prepare(request)?, request.expect()))
        };
        let requests = stream.requests.iter().map(prepare).collect::<Result<_, Error>>()?;
        let refresh = match &stream.refresh {
            Some(refresh) => Some(session.prepare(&Request::Sql(refresh.statement.clone()))?),
            None => None,
        };
        Ok(Prepared { session, requests, refresh })
    }
}

/// A stream's connection to one target, and its counts there.
pub struct Lane {
    pub session: Box<dyn Session>,
    /// How it gets a new session.
    connect: Arc<dyn Connect>,
    pub requests: Vec<(Handle, Expect)>,
    pub refresh: Option<Handle>,
    pub rng: Rng,
    /// Rounds until the next refresh.
    pub until_refresh: u32,
    /// Rounds done, including those after the step's time.
    pub rounds: u64,
    /// The place of its next link.
    pub link: usize,
    pub row: Vec<Option<i64>>,
    /// Runs the stream's scripts, if it has any.
    pub player: Option<Player>,
    /// How to draw the numbers that are kept for a round, and this round's numbers.
    pub keeps: Vec<Sampler>,
    pub kept: Vec<i64>,
    pub tally: Tally,
    /// The same by what a round did, where they differ; and what the current one does.
    pub mix: Vec<(Class, Tally)>,
    pub alternative: usize,
    pub cost: ThreadCost,
}

impl Lane {
    /// Connects, and makes the session prepare all of the stream's requests.
    pub fn new(
        connect: &Arc<dyn Connect>,
        stream: &Stream,
        seed: u64,
        seconds: Option<f64>,
    ) -> Result<Lane, Error> {
        let Prepared { mut session, requests, refresh } =
            Prepared::connect(connect.as_ref(), stream)?;
        let mut rng = Rng::new(seed);
        let player = match &stream.scripts {
            Some(scripts) => Some(Player::new(scripts, session.as_mut(), stream.client, &mut rng)?),
            None => None,
        };
        Ok(Lane {
            session,
            connect: Arc::clone(connect),
            requests,
            refresh,
            rng,
            player,
            until_refresh: 0,
            rounds: 0,
            link: 0,
            row: Vec::new(),
            keeps: stream.keeps.iter().map(Sampler::from).collect(),
            kept: Vec::new(),
            tally: Tally::new(seconds),
            mix: stream.mix.iter().map(|it| (it.class.clone(), Tally::new(seconds))).collect(),
            alternative: 0,
            cost: ThreadCost::default(),
        })
    }

    /// True if a round that is this late is skipped, because it could not end within its time
    /// limit. Skipped rounds are counted.
    pub fn gives_up(&mut self, late: Duration) -> bool {
        let limit = self.player.as_ref().and_then(Player::limit);
        let gives_up = limit.is_some_and(|limit| late > limit);
        self.tally.skipped += u64::from(gives_up);
        gives_up
    }

    /// Records how long a round took.
    pub fn took(&mut self, time: Duration) {
        let limit = self.player.as_ref().and_then(Player::limit);
        self.tally.late += u64::from(limit.is_some_and(|limit| time > limit));
    }

    /// The step's time is over.
    pub fn end_of_time(&mut self) {
        let mix = self.mix.iter_mut().map(|(_, tally)| tally);
        mix.chain([&mut self.tally]).for_each(|tally| tally.over = true);
    }

    /// Has its user think until `last` at most; returns `last`.
    pub fn thinks_until(&mut self, last: Moment) -> Moment {
        if let Some(player) = &mut self.player {
            player.last = last;
        }
        last
    }

    /// The part of the latest round in which its user thought.
    #[inline]
    pub fn thought(&self) -> Duration {
        self.player.as_ref().map_or(Duration::ZERO, |player| player.thought)
    }

    /// Counts a round, as [`Tally::round`].
    #[inline]
    pub fn count(&mut self, at: u64, latency: u64, operations: u64, in_time: bool) {
        self.tally.round(at, latency, operations, in_time);
        if let Some((_, tally)) = self.mix.get_mut(self.alternative) {
            tally.round(at, latency, operations, in_time);
        }
    }

    /// Counts a round that failed.
    #[cold]
    pub fn failed(&mut self, error: &Error) {
        self.tally.failed(error);
        if let Some((_, tally)) = self.mix.get_mut(self.alternative) {
            tally.failed(error);
        }
    }

    /// Replaces its connection.
    #[cold]
    pub fn renew(&mut self, stream: &Stream, gate: &Gate) -> Result<(), Error> {
        // The server parses what it has to when it is sent.
        if !stream.turns.is_empty()
            && let Some(requests) = self.session.leave()
        {
            let mut session = self.connect.connect()?;
            open(session.as_mut(), &stream.opening)?;
            if session.inherit(requests) {
                self.session = session;
                gate.also_breaks(self.session.breaker()?);
                return Ok(());
            }
        }
        let new = Prepared::connect(self.connect.as_ref(), stream)?;
        (self.session, self.requests, self.refresh) = (new.session, new.requests, new.refresh);
        if let Some(player) = &mut self.player {
            player.renew(self.session.as_mut())?;
        }
        gate.also_breaks(self.session.breaker()?);
        Ok(())
    }
}
