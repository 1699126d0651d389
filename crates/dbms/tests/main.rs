//! Tests of the crate on real servers and archives.
//!
//! One binary for all, so it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod building;
mod common;
mod conformance;
mod copies;
mod fetching;
mod images;
mod measuring;
mod mysql;
mod nothing;
mod packages;
mod postgres;
mod rocksdb;
mod transport;
