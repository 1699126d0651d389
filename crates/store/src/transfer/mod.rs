//! An experiment as a unit: its identity, and copying it into another store.
//!
//! `shape` reads from the schema which tables make up an experiment. `copy` copies its rows,
//! `identity` hashes them, `artifacts` says which files belong to it, and `incoming` brings an
//! experiment with its files into a results directory, all of it or nothing.

mod artifacts;
mod copy;
mod identity;
mod incoming;
mod shape;

pub use artifacts::NewIds;
pub use incoming::Incoming;
