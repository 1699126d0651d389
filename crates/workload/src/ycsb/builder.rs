//! The parts that all operations share: where they run, how records are numbered and chosen.

use plan::{Requests, YcsbPlan};

use crate::draw::{Cell, Draw, Skew, Width};
use crate::{Dialect, Error, Sql};

/// The table; on a system without tables, the column family.
pub(super) const TABLE: &str = "usertable";
pub(super) const FAMILY: &str = "default";

/// Numbers of records taken by inserts, and inserted.
pub(super) const TAKEN: Cell = Cell(0);
pub(super) const INSERTED: Cell = Cell(1);

/// The plan, and where it runs.
pub(super) struct Builder<'a> {
    pub(super) plan: &'a YcsbPlan,
    /// `None` in a system that stores values by key.
    pub(super) sql: Option<Sql>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(plan: &'a YcsbPlan, dialect: Dialect) -> Result<Self, Error> {
        let sql = match dialect {
            Dialect::Sql(sql) => Some(sql),
            Dialect::KeyValue => None,
            _ => return Err(Error::Unfit { workload: "ycsb", needs: "records" }),
        };
        Ok(Builder { plan, sql })
    }

    /// The number of a record to ask for.
    pub(super) fn number(&self, by: Requests) -> Draw {
        let (low, high, width) = (0, self.plan.records as i64, Width::Eight);
        match by {
            Requests::Uniform => Draw::Uniform { low, high, width },
            Requests::Zipfian => Draw::Skewed { low, high, by: Skew::Scrambled, width },
            Requests::Latest => Draw::Latest { from: self.before(), cell: INSERTED },
        }
    }

    /// The records that the cells don't count when a step begins.
    pub(super) fn before(&self) -> i64 {
        if self.sql.is_some() { 0 } else { self.plan.records as i64 }
    }

    /// A key, by its number.
    pub(super) fn key(&self, of: Draw) -> Draw {
        Draw::Hashed { of: Box::new(of), prefix: self.sql.map(|_| "user".to_owned()) }
    }
}
