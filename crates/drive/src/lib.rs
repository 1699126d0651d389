//! The load engine: clients, pacing, histograms, counts per second.
//!
//! A client is a thread with its own blocking socket. It builds each message once, patches drawn
//! values into it, and sends it with one system call. One more reads the answer, if it fits into
//! the buffer. The client checks every answer.
//!
//! [`prepare`] connects all clients of a step and has each parse its statements; nothing is
//! measured yet. [`Ready::go`] starts them at one moment. [`Running`] can be watched and ended.
//! [`Running::join`] returns an [`Outcome`] for each target.
//!
//! With several targets, every client is connected to each of them. The load moves between them by
//! a [`Timetable`] that each client follows by itself. The measurement in one slot of it is a
//! [`Slice`].
//!
//! [`IdleLoad`] keeps CPUs from becoming idle, with busy threads that take only idle time.
//!
//! Latency is measured from the time an operation was due. For a stream with a rate, that is the
//! scheduled time, so a stalled server cannot hide behind a client that waits for it ("coordinated
//! omission", Gil Tene).

mod bundle;
mod check;
mod client;
mod clock;
mod cost;
mod engine;
mod error;
mod gate;
mod idle;
mod lane;
mod load;
mod meter;
mod outcome;
mod player;
mod prepare;
mod process;
mod program;
mod remote;
mod round;
mod schedule;
mod script;
mod seat;
mod single;
mod slice;
mod sliced;
mod tally;
mod target;
mod thread;
mod timetable;
mod wire;

pub use clock::Moment;
pub use error::{Error, ErrorKind, ServerError};
pub use idle::IdleLoad;
pub use load::{Load, Ready, Running, Seat};
pub use meter::Course;
pub use outcome::{ClassOutcome, Failure, Outcome, Reported};
pub use prepare::prepare;
pub use process::run_before;
pub use program::{program, program_in_slices};
pub use remote::{play, serve};
pub use script::{Act, Script};
pub use single::{Prepared, Single};
pub use slice::{Measured, Slice, slices};
pub use target::{Connect, Reach, Target};
pub use timetable::{Slices, Slot, Timetable};
pub use wire::keyvalue::{Batch, Engine, Key};
pub use wire::mysql::Mysql;
pub use wire::postgres::Postgres;
pub use wire::{Address, Breaker, Handle, Reply, Session};
