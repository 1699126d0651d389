//! Conditions of a step that are set from outside the load.

use plan::{IdleThreads, Pinning, Transport};
use serde::{Deserialize, Serialize};

/// Conditions of a step that are set from outside the load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Where clients and their servers run; `None`: the program that runs the step decides.
    pub pinning: Option<Pinning>,
    /// How clients reach the server; `None`: as usual.
    pub transport: Option<Transport>,
    /// Idle-priority processes that run alongside the load.
    pub idle: Option<Idle>,
    /// The scheduler's events to count, if any.
    pub counters: Option<Counters>,
    /// True if its server is started anew before it, with its files dropped from the page cache.
    pub cold: bool,
    /// True if it needs a server that steelyard starts, because it would change anything in a
    /// running one.
    pub ours: bool,
}

/// Events of the scheduler are counted after a step, while its load goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// For this many seconds.
    pub seconds: u32,
    /// True if the step can't run without them.
    pub required: bool,
}

/// Threads that take the time for which the CPUs would be idle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Idle {
    /// How many.
    pub threads: IdleThreads,
    /// Second of the step from which they run; `None`: its start.
    pub from: Option<f64>,
    /// Second until which they run; `None`: its end.
    pub to: Option<f64>,
}
