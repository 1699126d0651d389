//! Kinds of requests that are counted separately.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind of requests that is counted separately: its name, the name of its operations, and their
/// effect on the data. Several workloads use the ones below; a workload may have others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Class {
    /// The name in results, such as `query`.
    pub name: Cow<'static, str>,
    /// Several of its requests: `queries`.
    pub plural: Cow<'static, str>,
    /// The name of its operations, for tables: `queries`, `rows`.
    pub unit: Cow<'static, str>,
    /// The effect of its requests.
    pub effect: Effect,
}

/// The effect of a class's requests on the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Effect {
    /// They don't change it.
    Reads,
    /// They add to it.
    Adds,
    /// They change or remove data, and leave something to clean up.
    Changes,
    /// They define something, such as an index: few requests, each of which takes long.
    Defines,
    /// They hold something open, and are not throughput.
    Holds,
}

impl Class {
    /// Inserts, counted in rows.
    pub const INSERT: Class = Class::new("insert", "inserts", "rows", Effect::Adds);
    /// Deletes, counted in rows.
    pub const DELETE: Class = Class::new("delete", "deletes", "rows", Effect::Changes);
    /// Queries, counted in statements.
    pub const QUERY: Class = Class::new("query", "queries", "queries", Effect::Reads);
    /// Definitions such as `CREATE INDEX`, counted in statements.
    pub const DEFINE: Class = Class::new("define", "definitions", "statements", Effect::Defines);
    /// A transaction held open.
    pub const HOLD: Class = Class::new("hold", "holds", "statements", Effect::Holds);

    /// A class for a single workload.
    pub const fn new(
        name: &'static str,
        plural: &'static str,
        unit: &'static str,
        effect: Effect,
    ) -> Class {
        let [name, plural, unit] =
            [Cow::Borrowed(name), Cow::Borrowed(plural), Cow::Borrowed(unit)];
        Class { name, plural, unit, effect }
    }

    /// True if its requests are many and alike, so their times and their number per second are
    /// meaningful.
    pub fn is_steady(&self) -> bool {
        !matches!(self.effect, Effect::Defines | Effect::Holds)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
