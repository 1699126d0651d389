//! Protocols and engines: what a client needs from any system under test. Each has a folder here.

use std::any::Any;
use std::fmt;
use std::os::fd::RawFd;

use workload::{Request, Source};

use crate::Error;

mod digest;
pub mod keyvalue;
mod layout;
pub mod mysql;
pub mod postgres;
mod received;
mod reply;
mod scripted;
mod socket;

pub use digest::{Digest, FloatSum};
pub use reply::Reply;
pub use scripted::{Kept, Scripted, shown};
pub use socket::Address;

/// Why a session cannot send a request and read its answer later.
const AT_ONCE: &str = "a system that answers at once cannot be sent a request ahead";

/// A request prepared by [`Session::prepare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle(pub usize);

/// How clients get sessions with a system: one implementation per protocol or engine.
pub trait Connect: fmt::Debug + Send + Sync {
    /// A new session, ready for requests.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`], [`Error::Authentication`], or the system's error.
    fn connect(&self) -> Result<Box<dyn Session>, Error>;

    /// True if its sessions have a descriptor to wait for ([`Session::fd`]), which lets many
    /// clients share a thread.
    fn shares_threads(&self) -> bool {
        false
    }
}

/// One client's connection to one system under test.
///
/// A session with a descriptor to wait for ([`Session::fd`]) has [`Session::send`] and
/// [`Session::receive`]. Several of its requests can be in progress, and answers come in the order
/// of the requests. Others have [`Session::call`].
pub trait Session: Send {
    /// Prepares a request: the server parses it if needed, and its message is built.
    ///
    /// # Errors
    ///
    /// The system's error; [`Error::Unsupported`] for a request it does not support.
    fn prepare(&mut self, request: &Request) -> Result<Handle, Error>;

    /// Gives away the requests that it has prepared, if they are all statements of a log, so that
    /// another session of the same system need not prepare them.
    fn leave(&mut self) -> Option<Box<dyn Any + Send>> {
        None
    }

    /// Takes over what [`Session::leave`] gave away; false if that is of another system.
    fn inherit(&mut self, _requests: Box<dyn Any + Send>) -> bool {
        false
    }

    /// Draws new values, sends the request and reads the whole answer. `row` gets the integers of
    /// its last row: `None` for a NULL.
    ///
    /// # Errors
    ///
    /// [`Error::Broken`], or the system's error.
    fn call(
        &mut self,
        handle: Handle,
        source: &mut Source<'_>,
        row: Option<&mut Vec<Option<i64>>>,
    ) -> Result<Reply, Error> {
        self.send(handle, source)?;
        self.receive(row)
    }

    /// Draws new values and sends the request.
    ///
    /// # Errors
    ///
    /// [`Error::Broken`].
    fn send(&mut self, _handle: Handle, _source: &mut Source<'_>) -> Result<(), Error> {
        Err(Error::Unsupported(AT_ONCE))
    }

    /// Reads the whole answer to the oldest unanswered request, as [`Session::call`] does.
    ///
    /// # Errors
    ///
    /// As [`Session::call`].
    fn receive(&mut self, _row: Option<&mut Vec<Option<i64>>>) -> Result<Reply, Error> {
        Err(Error::Unsupported(AT_ONCE))
    }

    /// Sends a query as text, reads the whole answer and digests its rows.
    ///
    /// # Errors
    ///
    /// As [`Session::call`]; [`Error::Unsupported`] for a system without SQL.
    fn digest(&mut self, _query: &str, _digest: &mut Digest) -> Result<Reply, Error> {
        Err(Error::Unsupported("only answers to SQL have rows"))
    }

    /// The descriptor that becomes readable when an answer arrives, if answers have to be waited
    /// for.
    fn fd(&self) -> Option<RawFd> {
        None
    }

    /// How it runs the statements of scripts, if it can.
    fn scripted(&mut self) -> Option<&mut dyn Scripted> {
        None
    }

    /// Leaves a transaction that failed, if there is one.
    ///
    /// # Errors
    ///
    /// As [`Session::receive`].
    fn roll_back(&mut self) -> Result<(), Error>;

    /// The process that serves this connection, if it has its own on this machine.
    fn server_pid(&self) -> Option<u32>;

    /// The thread that serves this connection, if it is on this machine and serves no other. The
    /// server may be asked for it.
    fn server_thread(&mut self) -> Option<u32> {
        self.server_pid()
    }

    /// A handle to break the connection from another thread, which ends a client that waits for an
    /// answer. If answers never have to be waited for, it may do nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Broken`].
    fn breaker(&self) -> Result<Breaker, Error>;

    /// True if it leads nowhere: the target has its clients in another process, and nothing is sent
    /// from here.
    fn is_absent(&self) -> bool {
        false
    }

    /// Has the system call the function at whose entry Callgrind writes its counts. For systems
    /// that speak SQL it is a statement.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`].
    fn mark(&mut self) -> Result<(), Error> {
        Err(Error::Unsupported("a system without a mark cannot be counted"))
    }

    /// From now on, the wall clock in the values it sends shows `second` (since 1970).
    fn stop_clock(&mut self, second: i64);
}

/// Breaks a connection; see [`Session::breaker`].
pub type Breaker = Box<dyn Fn() + Send + Sync>;
