//! The room on stored results: what is printed, written and documented.
//!
//! One binary for all, so that it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod advise;
mod common;
mod compare;
mod count;
mod count_docs;
mod docs;
mod explain;
mod gate;
mod history;
mod page;
mod previous;
mod published;
mod slices;
mod stolen;
mod sweeps;
mod trials_docs;
mod variance;
