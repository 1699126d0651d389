//! An experiment as a unit: its identity, and copying it into another store.
//!
//! `shape` reads from the schema which tables make up an experiment. `copy` copies its rows,
//! `identity` hashes them, `artifacts` says which files belong to it, `incoming` brings an
//! experiment with its files into a results directory, all of it or nothing, `append` puts together
//! one that was run in parts, and `remove` takes it out.

mod append;
mod artifacts;
mod copy;
mod identity;
mod incoming;
mod remove;
mod shape;

pub use append::Whole;
pub use artifacts::NewIds;
pub use incoming::Incoming;
