//! Tests of the crate on real stores.
//!
//! One binary for all, so it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod catalog;
mod common;
mod renewal;
