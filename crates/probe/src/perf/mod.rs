//! Linux `perf`: where a group of processes spends its time, and what the CPUs and the scheduler
//! counted.
//!
//! [`Perf::find`] tells once what `perf` can do here: which version it is, whether this user may
//! look into the processes, and which events the machine counts (a virtual machine often has no
//! hardware counters; samples are then taken by the clock of the CPU, event `cpu-clock`).
//! [`Perf::record`] takes samples with call stacks until it is stopped, [`Recorded::fold`] makes
//! folded stacks of them: one line for each stack, outermost function first, with the number of
//! samples. [`Perf::count`] counts events between `resume` and `pause`.
//!
//! Everything is written into a directory that the caller gives and removes.

mod callgraph;
mod control;
mod error;
mod events;
mod program;
mod record;
mod stat;

pub use callgraph::CallGraph;
pub use error::PerfError;
pub use events::COUNTERS;
pub use program::Perf;
pub use record::{FREQUENCY, Recorded, Recorder};
pub use stat::Counting;
