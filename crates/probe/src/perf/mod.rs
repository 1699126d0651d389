//! Linux `perf`: where a group of processes spends its time, and counts from the CPUs and the
//! scheduler.
//!
//! [`Perf::find`] finds out once what `perf` can do here: its version, whether this user has
//! permission, and which events the machine counts. A virtual machine often has no hardware
//! counters; samples are then taken by CPU time, event `cpu-clock`. [`Perf::record`] takes samples
//! with call stacks until it is stopped. [`Recorded::fold`] folds them: one line per stack,
//! outermost function first, with the number of samples. [`Perf::count`] and
//! [`Perf::count_events`] count events between `resume` and `pause`; [`Perf::countable`] says
//! beforehand which events can be counted, and why others cannot.
//!
//! Everything is written to a directory that the caller provides and removes.

mod callgraph;
mod control;
mod countable;
mod error;
mod events;
mod program;
mod record;
mod stat;

pub use callgraph::CallGraph;
pub use countable::{Countable, Scope, Uncountable};
pub use error::PerfError;
pub use program::Perf;
pub use record::{FREQUENCY, Recorded, Recorder};
pub use stat::Counting;
