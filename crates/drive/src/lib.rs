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
//! With [`prepare_frozen`], each target has clients of its own, and all targets but the one whose
//! slot it is are frozen. Every target then has its own time.
//!
//! [`IdleLoad`] keeps CPUs from becoming idle, with busy threads that take only idle time.
//!
//! Latency is measured from the time an operation was due. For a stream with a rate, that is the
//! scheduled time, so a stalled server cannot hide behind a client that waits for it ("coordinated
//! omission", Gil Tene).

mod clients;
mod clock;
mod error;
mod prepare;
mod processes;
mod slices;
mod step;
mod threads;
mod wire;

pub use clients::answers::{Answer, Asking};
pub use clients::single::{Prepared, Single};
pub use clock::Moment;
pub use error::{Error, ErrorKind, ServerError};
pub use prepare::{prepare, prepare_frozen};
pub use processes::idle::IdleLoad;
pub use processes::process::run_before;
pub use processes::program::{program, program_in_slices};
pub use processes::remote::{play, serve};
pub use processes::script::{Act, Script};
pub use slices::meter::Route;
pub use slices::slice::{Measured, Slice, slices};
pub use slices::timetable::{Slices, Slot, Timetable};
pub use step::load::{Load, Ready, Running, Seat};
pub use step::outcome::{ClassOutcome, Failure, Lag, Outcome, Reported};
pub use step::target::{Reach, Target};
pub use threads::frozen::Freezer;
pub use wire::keyvalue::{Batch, Key, KeyValueEngine};
pub use wire::mysql::Mysql;
pub use wire::postgres::Postgres;
pub use wire::{Address, Breaker, Connect, Digest, FloatSum, Handle, Reply, Session};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
