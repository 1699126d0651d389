//! The benchmarks as data: tables, steps, statements and how their parameters are drawn.
//!
//! This crate turns the workload part of a plan into a [`Benchmark`]. It says what to create and
//! then, for each [`Phase`], what each client sends, how fast, until when, and which answer is
//! right. It opens no socket and reads no clock. The load engine does that, and doesn't know the
//! benchmarks' names.
//!
//! ```
//! use workload::{insert, Dialect, Phase};
//! let plan = plan::InsertPlan { rows: 1000, indexed_rows: 500, ..plan::InsertPlan::default() };
//! let benchmark = insert::benchmark(&plan, 1, Dialect::postgres(14)).unwrap();
//! let Phase::Step(first) = &benchmark.phases[0] else { panic!() };
//! assert_eq!(first.key.name, "l.i0");
//! ```

mod class;
mod command;
mod copy;
mod dialect;
mod draw;
mod error;
pub mod insert;
pub mod kinds;
pub mod kv;
mod messages;
mod own_data;
pub mod pgbench;
mod phase;
pub mod program;
pub mod queries;
pub mod replay;
mod request;
mod rng;
pub mod script;
mod scripts;
pub mod select;
mod sent;
mod step;
pub mod storage;
pub mod sysbench;
mod terms;
#[cfg(feature = "toys")]
pub mod toy;
pub mod tpcc;
pub mod tpch;
pub mod ycsb;

pub use class::{Class, Effect};
pub use command::{Figures, Output, Program, fill};
pub use copy::{Column, Content, Copy, Generated, Generator, Numbered};
pub use dialect::{Dialect, Sql, StorageEngine};
pub use draw::{Cell, Draw, Padded, Sampler, Skew, Source, Width};
pub use error::Error;
pub use kinds::{Catalogue, Kind, Load, State};
pub use phase::{Benchmark, Condition, Phase};
pub use trace::Bound;

pub use request::{Expect, KeyAction, KeyValue, Piece, Request, Scan, Statement};
pub use rng::{Rng, stream_seed};
pub use scripts::Scripts;
pub use sent::Sent;
pub use step::{
    Action, Alternative, Asks, End, Finds, Link, Pace, Refresh, Role, SentLog, Step, Stream, Turn,
};
pub use terms::{Counters, Idle, Terms};

/// The benchmark of one sequence of a plan's workload.
///
/// # Errors
/// [`Error`] if it cannot run on such a server.
pub fn benchmark(
    plan: &plan::WorkloadPlan,
    sequence: plan::SequenceKey,
    dialect: Dialect,
) -> Result<Benchmark, Error> {
    // Of the workloads that have a sequence for each number of clients.
    let clients = sequence.number();
    match plan {
        plan::WorkloadPlan::Insert(plan) => insert::benchmark(plan, clients, dialect),
        plan::WorkloadPlan::Sysbench(plan) => sysbench::benchmark(plan, dialect),
        plan::WorkloadPlan::Kv(plan) => kv::benchmark(plan, dialect),
        plan::WorkloadPlan::Script(plan) => script::benchmark(plan, clients, dialect),
        plan::WorkloadPlan::Select(plan) => select::benchmark(plan, dialect),
        plan::WorkloadPlan::Queries(plan) => queries::benchmark(plan, dialect),
        plan::WorkloadPlan::Replay(plan) => replay::benchmark(plan, dialect),
        plan::WorkloadPlan::Tpcc(plan) => tpcc::benchmark(plan, dialect),
        plan::WorkloadPlan::Tpch(plan) => tpch::benchmark(plan, dialect),
        plan::WorkloadPlan::Ycsb(plan) => ycsb::benchmark(plan, dialect),
        plan::WorkloadPlan::Storage(plan) => storage::benchmark(plan, dialect),
        plan::WorkloadPlan::Program(plan) => Ok(program::benchmark(plan)),
        #[cfg(feature = "toys")]
        plan::WorkloadPlan::Toy(plan) => toy::benchmark(plan, dialect),
    }
}

/// The requests that `steelyard count` counts: the user's own statements if there are any,
/// otherwise the workload's.
///
/// # Errors
/// As [`benchmark`].
pub fn catalogue(
    plan: &plan::WorkloadPlan,
    count: &plan::CountPlan,
    dialect: Dialect,
) -> Result<Catalogue, Error> {
    match (count.own(), plan) {
        (Some(own), _) => dialect.sql("[count] file").map(|_| kinds::own(&own)),
        (None, plan::WorkloadPlan::Insert(plan)) => insert::catalogue(plan, count.rows, dialect),
        (None, plan::WorkloadPlan::Sysbench(plan)) => {
            sysbench::catalogue(plan, count.rows, dialect)
        }
        (None, plan::WorkloadPlan::Select(plan)) => select::catalogue(plan, count.rows, dialect),
        (None, plan::WorkloadPlan::Script(plan)) => script::catalogue(plan, count, dialect),
        (None, plan::WorkloadPlan::Queries(plan)) => queries::catalogue(plan, dialect),
        (None, plan::WorkloadPlan::Tpcc(plan)) => tpcc::catalogue(plan, dialect),
        (None, plan::WorkloadPlan::Tpch(plan)) => tpch::catalogue(plan, dialect),
        (None, plan::WorkloadPlan::Ycsb(plan)) => ycsb::catalogue(plan, count.rows, dialect),
        (None, plan::WorkloadPlan::Kv(plan)) => kv::catalogue(plan, count.rows, dialect),
        (None, _) => {
            Err(Error::Unfit { workload: "count without [count] file", needs: "statements" })
        }
    }
}
