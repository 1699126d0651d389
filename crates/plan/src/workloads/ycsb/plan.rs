//! The contents of `[workload.ycsb]`.

use serde::Serialize;

use crate::key::StepNames;

/// The steps, in the order that YCSB recommends for its workloads.
pub const YCSB_STEPS: [&str; 7] = ["load", "a", "b", "c", "f", "d", "e"];

pub(super) const NAMES: StepNames = StepNames { known: &YCSB_STEPS, aliases: &[], suffixes: false };

/// Settings of the workloads derived from YCSB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YcsbPlan {
    /// Records that `load` writes, > 0.
    pub records: u64,
    /// Fields of a record, 1 to 100.
    pub fields: u32,
    /// Bytes of a field, 1 to 65,535.
    pub field_bytes: u32,
    /// Numbers of clients, each 1 to 10000, without repetition.
    pub dop: Vec<u32>,
    /// Clients that load.
    pub load_dop: u32,
    /// Steps in the order in which they run.
    pub steps: Vec<String>,
    /// Seconds of each workload.
    pub seconds: u32,
    /// How the records of requests are drawn, if not as YCSB's workloads have it.
    pub distribution: Option<Requests>,
    /// The most records of a scan, 1 to 10000.
    pub max_scan: u32,
    /// Operations per second of all clients together; as many as they can if `None`.
    pub rate: Option<u32>,
    /// Statements are prepared.
    pub prepared: bool,
}

/// How the records of requests are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Requests {
    /// A few records, spread over all keys, are much likelier than the others.
    Zipfian,
    /// The newest records are.
    Latest,
    /// All alike.
    Uniform,
}

impl Requests {
    /// All of them, with their names in a plan.
    pub(super) const NAMED: [(&'static str, Requests); 3] = [
        ("zipfian", Requests::Zipfian),
        ("latest", Requests::Latest),
        ("uniform", Requests::Uniform),
    ];
}

impl Default for YcsbPlan {
    /// All steps on 100,000 records of 1,000 bytes, one client, 5 s per workload.
    fn default() -> Self {
        YcsbPlan {
            records: 100_000,
            fields: 10,
            field_bytes: 100,
            dop: vec![1],
            load_dop: 2,
            steps: YCSB_STEPS.map(str::to_owned).into(),
            seconds: 5,
            distribution: None,
            max_scan: 100,
            rate: None,
            prepared: true,
        }
    }
}
