//! A connection that runs one statement at a time, to count what each costs the server.

use std::sync::atomic::{AtomicI64, Ordering};

use workload::{Cell, Padded, Refresh, Request, Rng, Source, Statement};

use crate::client::check;
use crate::error::Error;
use crate::target::{Reach, Target};
use crate::wire::{Handle, Session};

/// A connection that executes statements one by one, with the messages that the load engine sends.
///
/// Everything it sends follows from its seed, and its wall clock stands still ([`Single::CLOCK`]).
/// Two servers get the same bytes, and so does one server the second time.
pub struct Single {
    session: Box<dyn Session>,
    rng: Rng,
    cells: Vec<Padded<AtomicI64>>,
    statements: Vec<Statement>,
}

/// A statement prepared by a [`Single`].
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
        let Reach::Sessions(connect) = &target.reach else {
            return Err(Error::Load("its clients run elsewhere"));
        };
        let mut session = connect.connect()?;
        session.stop_clock(Self::CLOCK);
        Ok(Single {
            session,
            rng: Rng::new(seed),
            cells: (0..cells).map(|_| Padded::default()).collect(),
            statements: Vec::new(),
        })
    }

    /// From now on, draws parameters like a new connection with this seed.
    pub fn reseed(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
    }

    /// Prepares a statement: the server parses it if needed, and its message is built.
    ///
    /// # Errors
    ///
    /// The server's error, or [`Error::Broken`].
    pub fn prepare(&mut self, statement: &Statement) -> Result<Prepared, Error> {
        let Handle(index) = self.session.prepare(&Request::Sql(statement.clone()))?;
        self.statements.push(statement.clone());
        Ok(Prepared(index))
    }

    /// Draws the parameters, executes the statement and checks the answer.
    ///
    /// # Errors
    ///
    /// The server's error, [`Error::WrongAnswer`], [`Error::Broken`].
    pub fn run(&mut self, prepared: Prepared) -> Result<(), Error> {
        let mut source = Source { rng: &mut self.rng, cells: &self.cells, kept: &[] };
        self.session.send(Handle(prepared.0), &mut source)?;
        let reply = self.session.receive(None)?;
        match self.statements.get(prepared.0) {
            Some(statement) => check(statement.expect, reply, || statement.numbered()),
            None => Ok(()),
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
        let prepared = self.prepare(statement)?;
        let mut row = Vec::new();
        let mut source = Source { rng: &mut self.rng, cells: &self.cells, kept: &[] };
        self.session.send(Handle(prepared.0), &mut source)?;
        let reply = self.session.receive(Some(&mut row))?;
        check(statement.expect, reply, || statement.numbered())?;
        Ok(row)
    }

    /// Adds to a cell.
    pub fn add(&mut self, cell: Cell, value: i64) {
        if let Some(cell) = self.cells.get(cell.0) {
            cell.0.fetch_add(value, Ordering::Relaxed);
        }
    }
}
