//! Tests of reading: real output in `fixtures/`, what is wrong with output, arbitrary text.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(clippy::float_cmp, reason = "figures are as they were printed")]

mod failures;
mod fixtures;
mod fuzz;
mod names;
mod rocksdb_reports;
mod settings;
mod tables;
