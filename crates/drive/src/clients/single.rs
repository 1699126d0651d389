//! A connection that runs one request at a time, to count the cost of each for the system.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use workload::{Cell, Padded, Refresh, Request, Rng, Source, Statement};

use super::check::check;
use super::gate::Gate;
use super::player::Player;
use crate::error::Error;
use crate::slices::board::Board;
use crate::step::target::{Reach, Target};
use crate::wire::{Connect, Handle, Session};

/// A connection that executes requests one by one, as the load engine does.
///
/// Everything it sends follows from its seed, and its wall clock stands still ([`Single::CLOCK`]).
/// Two servers get the same bytes, and so does one server the second time.
pub struct Single {
    session: Box<dyn Session>,
    rng: Rng,
    cells: Vec<Padded<AtomicI64>>,
    requests: Vec<Ready>,
    /// The state that the clients of a step share.
    gate: Gate,
}

enum Ready {
    Request(Handle, Request),
    Script(Player),
}

/// A request prepared by a [`Single`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prepared(usize);

impl Single {
    /// The time of its wall clock, in seconds since 1970: 2022-06-16 10:00:00 UTC.
    pub const CLOCK: i64 = 1_655_373_600;

    /// Connects to `target`, with `cells` shared cells for the parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`], [`Error::Authentication`], or the server's error.
    pub fn connect(target: &Target, seed: u64, cells: usize) -> Result<Single, Error> {
        match &target.reach {
            Reach::Sessions(connect) => Single::new(connect.as_ref(), seed, cells),
            Reach::Process(_) => Err(Error::Load("its clients run elsewhere")),
        }
    }

    pub(crate) fn new(connect: &dyn Connect, seed: u64, cells: usize) -> Result<Single, Error> {
        let mut session = connect.connect()?;
        session.stop_clock(Self::CLOCK);
        let board = Board::new(1, 1, 1).map_err(Error::Memory)?;
        Ok(Single {
            session,
            rng: Rng::new(seed),
            cells: (0..cells).map(|_| Padded::default()).collect(),
            requests: Vec::new(),
            gate: Gate::new(Arc::new(board), 0, None),
        })
    }

    /// From now on, draws parameters like a new connection with this seed.
    pub fn reseed(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
    }

    /// Prepares a request: the server parses a statement if needed, and its message is built.
    ///
    /// # Errors
    ///
    /// The server's error, or [`Error::Broken`].
    pub fn prepare(&mut self, request: impl Into<Request>) -> Result<Prepared, Error> {
        let request = request.into();
        let session = self.session.as_mut();
        self.requests.push(match request {
            Request::Script(scripts) => {
                Ready::Script(Player::new(&scripts, session, 0, &mut self.rng)?)
            }
            request => Ready::Request(session.prepare(&request)?, request),
        });
        Ok(Prepared(self.requests.len() - 1))
    }

    /// Draws the parameters, executes the request and checks the answer.
    ///
    /// # Errors
    ///
    /// The server's error, [`Error::WrongAnswer`], [`Error::Broken`].
    pub fn run(&mut self, prepared: Prepared) -> Result<(), Error> {
        self.run_when(prepared, &mut || Ok(()))
    }

    /// As [`Single::run`], but calls `ready` before anything is sent: once for a request, and for
    /// each message of a script, which does not sleep.
    ///
    /// # Errors
    ///
    /// As [`Single::run`], and what `ready` returns.
    pub fn run_when(
        &mut self,
        prepared: Prepared,
        ready: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let session = self.session.as_mut();
        match self.requests.get_mut(prepared.0) {
            Some(Ready::Request(handle, request)) => {
                ready()?;
                let mut source = Source { rng: &mut self.rng, cells: &self.cells, kept: &[] };
                let reply = session.call(*handle, &mut source, None)?;
                check(&request.expect(), reply, || request.to_string())
            }
            Some(Ready::Script(player)) => {
                player.play(0, session, &mut self.rng, &self.gate, Some(ready)).map(drop)
            }
            None => Err(Error::Load("a request that was never prepared")),
        }
    }

    /// Executes a query whose row sets the cells.
    ///
    /// # Errors
    ///
    /// As [`Single::run`].
    pub fn refresh(&mut self, refresh: &Refresh) -> Result<(), Error> {
        let row = self.row(&refresh.statement)?;
        for (cell, value) in refresh.into.iter().zip(row) {
            if let (Some(cell), Some(value)) = (self.cells.get(cell.0), value) {
                cell.0.store(value, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Executes a query that returns one row of integers.
    ///
    /// # Errors
    ///
    /// As [`Single::run`].
    pub fn row(&mut self, statement: &Statement) -> Result<Vec<Option<i64>>, Error> {
        let handle = self.session.prepare(&statement.clone().into())?;
        let mut row = Vec::new();
        let mut source = Source { rng: &mut self.rng, cells: &self.cells, kept: &[] };
        let reply = self.session.call(handle, &mut source, Some(&mut row))?;
        check(&statement.expect, reply, || statement.numbered())?;
        Ok(row)
    }

    /// Calls the function at whose entry Callgrind writes its counts.
    pub(crate) fn mark(&mut self) -> Result<(), Error> {
        self.session.mark()
    }

    /// Adds to a cell.
    pub fn add(&mut self, cell: Cell, value: i64) {
        if let Some(cell) = self.cells.get(cell.0) {
            cell.0.fetch_add(value, Ordering::Relaxed);
        }
    }
}
