//! What is seen of a step. `observers` has the list of what watches one while it runs, each in a
//! file of its own; the other files make figures, warnings and verdicts on a trial of it.

pub mod disturbance;
pub mod figures;
pub mod fitness;
pub mod gauges;
pub mod idle;
pub mod noise;
pub mod observer;
pub mod observers;
pub mod poll;
pub mod power;
pub mod profile;
pub mod profiling;
pub mod sampling;
pub mod scheduler;
pub mod scheduling;
pub mod waits;
pub mod watch;
