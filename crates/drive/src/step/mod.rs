//! A load: its targets, its counts and its outcome.

pub mod cost;
pub mod histogram;
pub mod load;
pub mod outcome;
pub mod tally;
pub mod target;
