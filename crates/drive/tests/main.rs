//! Tests of the crate against real servers.
//!
//! One binary for all, so it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod beside_pgbench;
mod common;
mod example;
mod failures;
mod frozen;
mod load;
mod many;
mod memory;
mod mysql;
mod program;
mod scripts;
mod slices;
mod sweep;
mod sysbench;
mod tpcc;
mod tpch;
mod unmeasured;
mod workloads;
mod ycsb;
