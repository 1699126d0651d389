//! One trial: a variant's server is started, goes through the phases of the benchmark, and is
//! stopped.

pub mod answers;
pub mod attempt;
pub mod check;
pub mod conditions;
pub mod loads;
pub mod phase;
pub mod phase_order;
pub mod plans;
pub mod program;
pub mod records;
pub mod server;
pub mod settle;
pub mod step;
pub mod terms;
pub mod timers;
pub mod whole;
