//! The contents of `[workload.tpch]`.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::key::StepNames;

/// The steps, in their usual order. The last four are not usual.
pub const TPCH_STEPS: [&str; 28] = [
    "load", "index", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12",
    "q13", "q14", "q15", "q16", "q17", "q18", "q19", "q20", "q21", "q22", "rf1", "rf2", "power",
    THROUGHPUT,
];

/// The step in which several streams of queries run at the same time.
pub const THROUGHPUT: &str = "throughput";

/// The step in which all queries run once, between the refresh functions.
pub const POWER: &str = "power";

/// Number of sets of orders: each is the same share of all.
pub const SETS: u32 = 1000;

/// The refresh functions: new orders come, and old ones go.
pub(super) const REFRESHES: [&str; 2] = ["rf1", "rf2"];

pub(super) const NAMES: StepNames = StepNames { known: &TPCH_STEPS, aliases: &[], suffixes: false };

/// Settings of the queries derived from TPC-H.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TpchPlan {
    /// Size of the data.
    pub scale: Scale,
    /// Sets of values that each query runs with, in turn, 1 to 100.
    pub substitutions: u32,
    /// Steps in the order in which they run.
    pub steps: Vec<String>,
    /// Clients that load, and that send a query at the same time, 1 to 10000.
    pub clients: u32,
    /// Seconds of each query.
    pub seconds: u32,
    /// Sets of orders that a refresh function adds or removes, 1 to 1000.
    pub refreshes: u32,
    /// Streams of queries in `throughput`, 1 to 100; `None`: as many as the specification wants at
    /// least.
    pub streams: Option<u32>,
    /// How long one execution may take.
    pub timeout: Option<Duration>,
    /// At scale factor 1, the answers of the specification are checked.
    pub check: bool,
}

impl Default for TpchPlan {
    /// The load and all queries at scale factor 1, one client, 5 s.
    fn default() -> Self {
        TpchPlan {
            scale: Scale(100),
            substitutions: 1,
            steps: TPCH_STEPS[..24].iter().map(|step| (*step).to_owned()).collect(),
            clients: 1,
            seconds: 5,
            refreshes: 50,
            streams: None,
            timeout: None,
            check: true,
        }
    }
}

impl TpchPlan {
    /// Streams of queries in `throughput`. Without a number, those that the specification wants at
    /// least (clause 5.3.4).
    pub fn streams(&self) -> u32 {
        const MORE_ABOVE: [f64; 9] =
            [1.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0, 10_000.0, 30_000.0];
        let more = || MORE_ABOVE.iter().filter(|scale| self.scale.factor() > **scale).count();
        self.streams.unwrap_or_else(|| 2 + more() as u32)
    }

    /// True if it has a step of this name.
    pub fn has(&self, name: &str) -> bool {
        self.steps.iter().any(|step| step == name)
    }

    /// Sets of orders that `power` and `throughput` use: the first ones.
    pub fn reserved(&self) -> u32 {
        match self.has(THROUGHPUT) {
            true => 1 + self.streams(),
            false => u32::from(self.has(POWER)),
        }
    }
}

/// A scale factor, in hundredths. At some others below 0.023, the formula of clause 4.2.3 gives a
/// part the same supplier twice, against the primary key of `partsupp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale(pub u32);

impl Scale {
    /// The factors that there are.
    pub(super) const BOUNDS: RangeInclusive<f64> = 0.01..=100_000.0;

    /// The scale factor, if it is a multiple of 0.01.
    pub(super) fn of(factor: f64) -> Result<Scale, String> {
        let hundredths = (factor * 100.0).round();
        if (factor * 100.0 - hundredths).abs() > 1e-6 {
            return Err(format!("expected a multiple of 0.01, found {factor}"));
        }
        Ok(Scale(hundredths as u32))
    }

    /// The factor.
    pub fn factor(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.factor())
    }
}
