//! The parts that all tests share: their classes, how ids are drawn, how statements are sent.

use plan::{Distribution, SysbenchPlan};

use crate::class::{Class, Effect};
use crate::draw::{Draw, Skew, Width};
use crate::sent::Sent;
use crate::{Dialect, Error, Sql};

/// Statements that change rows, counted in statements.
pub(super) const WRITE: Class = Class::new("write", "writes", "queries", Effect::Changes);
/// Inserts, counted in statements of one row.
pub(super) const INSERT: Class = Class::new("insert", "inserts", "queries", Effect::Adds);
/// Full scans, counted in rows.
pub(super) const SCAN: Class = Class::new("scan", "scans", "rows", Effect::Reads);

/// Most rows per statement of the load.
pub(super) const LOAD_BATCH: u64 = 500;

/// The exponent of zipfian ids: sysbench's default.
const ZIPFIAN: Skew = Skew::Zipfian { exponent: 0.8 };
/// sysbench's defaults: 1% of the ids in 75% of the draws.
const SPECIAL: Skew = Skew::Special { ids: 0.01, draws: 0.75 };

/// The plan of a test, and the state that its streams have reached.
pub(super) struct Builder<'a> {
    pub(super) plan: &'a SysbenchPlan,
    pub(super) sql: Sql,
    /// True if rows may be missing from here on.
    pub(super) deleted: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(plan: &'a SysbenchPlan, dialect: Dialect) -> Result<Self, Error> {
        Ok(Builder { plan, sql: dialect.sql("sysbench")?, deleted: false })
    }

    /// How sysbench sends statements.
    pub(super) fn sent(&self) -> Sent {
        if self.plan.prepared { Sent::Described } else { Sent::Text }
    }

    /// An id, as the plan draws them.
    pub(super) fn id(&self) -> Draw {
        self.drawn(self.plan.distribution)
    }

    /// A number from 1 to the number of rows.
    pub(super) fn drawn(&self, distribution: Distribution) -> Draw {
        let (low, high, width) = (1, self.plan.rows as i64 + 1, Width::Four);
        match distribution {
            Distribution::Uniform => Draw::Uniform { low, high, width },
            Distribution::Zipfian => Draw::Skewed { low, high, by: ZIPFIAN, width },
            Distribution::Special => Draw::Skewed { low, high, by: SPECIAL, width },
        }
    }
}
