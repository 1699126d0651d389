//! Tests of the crate through its public interface: properties, and experiments with known truth.
//!
//! One binary for all, so it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod properties;
mod simulation;
