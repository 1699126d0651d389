//! Tests of the script language: fixtures, mistakes, arbitrary text, and the real pgbench.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod distributions;
mod fixtures;
mod mistakes;
mod pgbench;
mod properties;
mod server;
mod speed;
