//! Tests of the crate on stored results: printed output, written files and documents.
//!
//! One binary for all, so it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod across;
mod advise;
mod asked;
mod brief;
mod change;
mod classes;
mod common;
mod compare;
mod count;
mod count_docs;
mod docs;
mod explain;
mod gate;
mod history;
mod machines;
mod means;
mod page;
mod previous;
mod published;
mod slices;
mod stolen;
mod sweeps;
mod trials_docs;
mod variance;
