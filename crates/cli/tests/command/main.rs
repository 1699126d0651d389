//! The built command on real servers: what it prints, with what code it exits, and that nothing is
//! left of it, whatever happens.
//!
//! One binary for all, so that it is linked once and its tests share the machine's cores.

#![allow(clippy::unwrap_used)] // a test fails by it

mod attached;
mod database;
mod failures;
mod interrupted;
mod own_server;
mod place;
mod plans;
mod requests;
mod whole;
mod workloads;
