//! Tests of the crate on the real kernel, with real programs.
//!
//! One binary for all, so it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod callgrind;
mod groups;
mod perf;
mod power;
mod sampling;
mod storm;
mod topology;
