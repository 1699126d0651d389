//! A load, where it goes, what is counted and what came of it.

pub mod cost;
pub mod load;
pub mod outcome;
pub mod tally;
pub mod target;
