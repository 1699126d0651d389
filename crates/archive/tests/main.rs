//! Tests of the crate on real files and a real server for object storage.
//!
//! One binary for all, so it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod builds;
mod common;
mod files;
