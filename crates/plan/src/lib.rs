//! Reads and checks a plan (TOML) and expands it into blocks of trials.
//!
//! A plan names the *variants* to compare, the *workload* they run and how often. This crate knows
//! nothing about databases or result files: what `dbms = "postgres@13.7"` means is up to the crate
//! `dbms`; here it is a string that `reference` can name and strip of its password.
//!
//! ```
//! let text = r#"
//! name = "load-regression"
//! blocks = 2
//!
//! [variants."pg13.7"]
//! dbms = "postgres@13.7"
//!
//! [variants."pg14.3"]
//! dbms = "postgres@14.3"
//! config = { shared_buffers = "1GB" }
//!
//! [workload.insert]
//! rows = 200_000
//! steps = ["l.i0", "l.x", "qr100"]
//! "#;
//! let plan = plan::Plan::parse(text, None, "plans/example.toml")?;
//! assert_eq!(plan.base, "pg13.7"); // the first variant, unless `base` says otherwise
//! let blocks = plan.schedule(42);
//! assert_eq!(blocks.len(), 2);
//! assert_eq!(blocks[0].trials.len(), 2); // every variant once, in random order
//! # Ok::<(), plan::PlanError>(())
//! ```
//!
//! Every problem found is reported with its place, the offending key and the nearest known one:
//!
//! ```
//! let text = "[variants.a]\ndbms = \"postgres@14.3\"\n[workload.insert]\nrow = 5\n";
//! let error = plan::Plan::parse(text, None, "x.toml").unwrap_err().to_string();
//! assert!(error.starts_with("x.toml:4:1: unknown key `row` in [workload.insert]; did you mean"));
//! ```

mod adaptive;
mod beside;
mod check;
mod count;
mod data_directories;
mod duration;
mod edits;
mod family;
mod hide;
mod key;
mod keys;
mod kind;
mod layer;
mod near;
mod owned;
mod plan;
mod problem;
mod read;
mod schedule;
mod schema;
mod section;
mod share;
mod size;
mod step;
mod twins;
mod value;
mod workloads;
mod write;

pub use count::{CountPlan, DEFAULT_COUNT_ROWS, OwnStatements, Protocol};
pub use data_directories::DataDirectories;
pub use duration::{DurationError, format_duration, parse_duration};
pub use family::{Clients, PlannedStep, Sequence, SequenceKey};
pub use key::{CommandOption, Form};
pub use layer::Layer;
pub use near::nearest;
pub use plan::{
    BuildPlan, BuildSystem, DEFAULT_BLOCKS, DEFAULT_MARGIN, DEFAULT_PROFILE_SECONDS,
    DEFAULT_REPEATS, DEFAULT_STEAL_LIMIT, Durability, Given, Pairing, Plan, Variant,
};
pub use problem::{PlanError, Problem};
pub use schedule::{Block, Trial};
pub use schema::schema;
pub use share::parse_share;
pub use size::{SizeError, parse_size};
pub use step::{Labels, StepKey};
pub use workloads::WorkloadPlan;
pub use workloads::insert::{INSERT_STEPS, InsertPlan, Tables};
pub use workloads::kv::{KEY_BYTES, KV_STEPS, KvMode, KvPlan, kv_test};
pub use workloads::program::{INIT, ProgramPlan, ProgramStep, Run};
pub use workloads::queries::{Compared, QueriesPlan, Query, Syntax, split};
pub use workloads::replay::{Log, Order, ReplayPlan};
pub use workloads::script::{ScriptPlan, Source};
pub use workloads::select::{IdleThreads, Pinning, Point, SelectPlan, Transport};
pub use workloads::storage::{JOB, StoragePlan};
pub use workloads::sysbench::{
    Distribution, SYSBENCH_STEPS, SysbenchOrder, SysbenchPlan, sysbench_test,
};
#[cfg(any(test, feature = "toys"))]
pub use workloads::toy::ToyPlan;
pub use workloads::tpcc::{Home, Isolation, TPCC_STEPS, TpccMode, TpccPlan};
pub use workloads::tpch::{POWER, SETS, Scale, THROUGHPUT, TPCH_STEPS, TpchPlan};
pub use workloads::ycsb::{Requests, YCSB_STEPS, YcsbPlan};
