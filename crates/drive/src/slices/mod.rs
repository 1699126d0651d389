//! Slices: the order of turns, and the measurements in each turn.

pub mod board;
pub mod meter;
pub mod own;
pub mod slice;
pub mod timetable;
