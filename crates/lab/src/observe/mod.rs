//! What is seen of a step: its figures, what disturbed it, and its profile.

pub mod disturbance;
pub mod figures;
pub mod fitness;
pub mod gauges;
pub mod looking;
pub mod noise;
pub mod profile;
pub mod profiling;
pub mod scheduler;
pub mod waits;
