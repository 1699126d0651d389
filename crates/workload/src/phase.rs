//! A whole benchmark, phase by phase.

use std::collections::BTreeMap;

use crate::command::Program;
use crate::step::Step;

/// A whole benchmark for one number of clients on one dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// Statements that create the empty tables, run one after another before the first phase.
    pub setup: Vec<String>,
    /// Statements that remove what the setup makes besides tables, if the server isn't removed.
    pub teardown: Vec<String>,
    /// The tables, for sizes, counters and settling.
    pub tables: Vec<String>,
    /// The phases to run, in order.
    pub phases: Vec<Phase>,
    /// Settings that the benchmark needs, by the system's own names; those of a plan override them.
    pub config: BTreeMap<String, String>,
}

/// One phase of a benchmark.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // few exist, none is moved in a hot path
pub enum Phase {
    /// A measured step.
    Step(Step),
    /// A step whose load is another program.
    Program(Program),
    /// Pay off the debt of the previous steps, in all tables.
    Settle {
        /// Number of rows in all tables by then, with which the pause grows. `None`: no pause.
        rows: Option<u64>,
    },
    /// Check that the data is right. If it is not, the step before does not count.
    Check(Vec<Condition>),
}

/// A condition that data must meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Its name, for people.
    pub name: String,
    /// A query with one row and one number: how many exceptions there are.
    pub exceptions: String,
}

impl Phase {
    /// The measured step, whatever its load.
    pub fn step(&self) -> Option<&Step> {
        match self {
            Phase::Step(step) | Phase::Program(Program { step, .. }) => Some(step),
            Phase::Settle { .. } | Phase::Check(_) => None,
        }
    }
}
