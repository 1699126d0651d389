//! The built command on real servers: its output, its exit codes, and that it leaves nothing
//! behind, whatever happens.
//!
//! One binary for all, so it is linked once and its tests share the machine's cores.

#![allow(clippy::unwrap_used)] // a test fails by it

mod adaptive;
mod archive;
mod attached;
mod bisect;
mod budget;
mod builds;
mod change;
mod count;
mod dash;
mod data_directories;
mod database;
mod debt;
mod digests;
mod doctor;
mod documents;
mod failures;
mod faults;
mod fleet;
mod frozen;
mod gate;
mod generate;
mod hints;
mod import;
mod interrupted;
mod kv;
mod live;
mod moto;
mod mysql;
mod own_server;
mod place;
mod plan_files;
mod plans;
mod polluted;
mod profile;
mod programs;
mod pull;
mod queries;
mod readme;
mod replay;
mod requests;
mod restore;
mod script;
mod secrets;
mod select;
mod service;
mod setup;
mod shared_builds;
mod site;
mod slices;
mod slurm;
mod storage;
mod tpcc;
mod tpch;
mod trials;
mod whole;
mod workloads;
mod ycsb;
