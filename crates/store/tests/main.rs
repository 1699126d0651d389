//! Tests of the crate on real files.
//!
//! One binary for all, so it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod bulk;
mod common;
mod counts;
mod crash;
mod notes;
mod opening;
mod round_trip;
mod transfer;
mod upgrade;
