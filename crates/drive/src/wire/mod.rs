//! Protocols and engines: what a client needs of a system under test, whichever it is. Each has
//! a folder here.

use std::os::fd::RawFd;

use workload::{Request, Source};

use crate::Error;

pub mod keyvalue;
pub mod postgres;

/// What a client's statement came back with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reply {
    /// Rows in the result.
    pub rows: u32,
    /// Rows that the server says it inserted, updated or deleted.
    pub affected: u64,
}

/// A request made ready by [`Session::prepare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle(pub usize);

/// One client's connection to one system under test.
///
/// Requests and answers go apart, so that several requests can be under way; answers come in the
/// order of the requests.
pub trait Session: Send {
    /// Makes a request ready: parsed by the server where it is to be prepared, its message built.
    ///
    /// # Errors
    ///
    /// What the system answered; [`Error::Unsupported`] for a request it does not have.
    fn prepare(&mut self, request: &Request) -> Result<Handle, Error>;

    /// Draws new values and sends the request.
    ///
    /// # Errors
    ///
    /// [`Error::Broken`].
    fn send(&mut self, handle: Handle, source: &mut Source<'_>) -> Result<(), Error>;

    /// Reads the whole answer to the oldest request that has none yet. `row` gets the integers of
    /// its last row: `None` for a NULL.
    ///
    /// # Errors
    ///
    /// [`Error::Broken`], or what the system answered.
    fn receive(&mut self, row: Option<&mut Vec<Option<i64>>>) -> Result<Reply, Error>;

    /// The descriptor that can be read when an answer comes, where answers have to be waited for.
    fn fd(&self) -> Option<RawFd>;

    /// Leaves a transaction that failed, if there is one.
    ///
    /// # Errors
    ///
    /// As [`Session::receive`].
    fn roll_back(&mut self) -> Result<(), Error>;

    /// The process that serves this connection, where it has one of its own on this machine.
    fn server_pid(&self) -> Option<u32>;

    /// What breaks the connection off from another thread, so that a client that waits for an
    /// answer ends. Where no answer ever has to be waited for, it may do nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Broken`].
    fn breaker(&self) -> Result<Breaker, Error>;

    /// Has the wall clock of the values it sends show `second` (since 1970) from now on.
    fn stop_clock(&mut self, second: i64);
}

/// Breaks a connection off; see [`Session::breaker`].
pub type Breaker = Box<dyn Fn() + Send + Sync>;
