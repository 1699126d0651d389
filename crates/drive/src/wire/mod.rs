//! The protocols: what a client needs of a system under test, whichever it is.

use std::sync::atomic::AtomicI64;

use workload::{Rng, Statement};

use crate::Error;
use crate::gate::Padded;

pub mod postgres;

/// What a client's statement came back with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reply {
    /// Rows in the result.
    pub rows: u32,
    /// Rows that the server says it inserted, updated or deleted.
    pub affected: u64,
}

/// Where the values of an execution come from.
pub struct Source<'a> {
    /// The stream's generator.
    pub rng: &'a mut Rng,
    /// The cells that the target's streams share.
    pub cells: &'a [Padded<AtomicI64>],
}

/// A statement made ready by [`Session::prepare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle(pub usize);

/// One client's connection to one system under test.
pub trait Session {
    /// Makes a statement ready: parsed by the server where it is to be prepared, its message built.
    fn prepare(&mut self, statement: &Statement) -> Result<Handle, Error>;

    /// Draws new values, sends the statement and reads the whole answer.
    fn execute(&mut self, handle: Handle, source: Source<'_>) -> Result<Reply, Error>;

    /// The same, and keeps the integers of the (last) row: `None` for a NULL.
    fn execute_row(
        &mut self,
        handle: Handle,
        source: Source<'_>,
        row: &mut Vec<Option<i64>>,
    ) -> Result<Reply, Error>;

    /// Leaves a transaction that failed, if there is one.
    fn roll_back(&mut self) -> Result<(), Error>;

    /// A copy of the connection's handle through which another thread can break it off.
    fn breaker(&self) -> Result<Breaker, Error>;
}

/// Breaks a connection off from another thread, so that a client that waits for an answer ends.
#[derive(Debug)]
pub enum Breaker {
    /// A unix socket.
    Unix(std::os::unix::net::UnixStream),
    /// A TCP connection.
    Tcp(std::net::TcpStream),
}

impl Breaker {
    /// Shuts the connection down in both directions.
    pub fn break_off(&self) {
        // An error says that the connection is gone already, which is what was wanted.
        let _ = match self {
            Breaker::Unix(socket) => socket.shutdown(std::net::Shutdown::Both),
            Breaker::Tcp(socket) => socket.shutdown(std::net::Shutdown::Both),
        };
    }
}
