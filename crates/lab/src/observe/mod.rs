//! Observations of a step. `observers` lists everything that watches a step while it runs, each in
//! a file of its own; the other files turn observations into figures, warnings and verdicts on a
//! trial.

pub mod attach;
pub mod contention;
pub mod disturbances;
pub mod figures;
pub mod fitness;
pub mod gauges;
pub mod idle;
pub mod observer;
pub mod observers;
pub mod poll;
pub mod power;
pub mod profile;
pub mod profiling;
pub mod sampling;
pub mod scheduler;
pub mod scheduling;
pub mod set_aside;
pub mod waits;
pub mod watch;
