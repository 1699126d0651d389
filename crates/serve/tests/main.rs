//! Tests of the crate on real stores and sockets.
//!
//! One binary for all, so it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../../site/tests/common/mod.rs"]
mod common;
mod http;
mod paths;
mod prepared;
mod receive;
mod socket;
