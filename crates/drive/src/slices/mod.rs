//! Slices: whose turn it is, and what is measured in each turn.

pub mod meter;
pub mod slice;
pub mod timetable;
