//! The contents of `[workload.insert]`.

use serde::Serialize;

/// The steps of the insert benchmark, in their usual order.
pub const INSERT_STEPS: [&str; 10] =
    ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"];

/// Older names of steps, each with its current name. They imply dop 1.
pub(super) const ALIASES: [(&str, &str); 3] =
    [("q100.1", "qr100"), ("q500.1", "qr500"), ("q1000.1", "qr1000")];

/// Settings of the insert benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertPlan {
    /// Rows of l.i0, over all clients, > 0.
    pub rows: u64,
    /// Rows of l.i1 (4/5) and l.i2 (1/5) together, over all clients.
    pub indexed_rows: u64,
    /// Steps in the order in which they run, canonical names from [`INSERT_STEPS`], each at most
    /// once.
    pub steps: Vec<String>,
    /// Numbers of clients, each 1 to 10000, without repetition.
    pub dop: Vec<u32>,
    /// Duration of each read+write step in seconds, ≥ 1.
    pub read_write_seconds: u32,
    /// One table per client or one for all.
    pub tables: Tables,
    /// Delete the oldest rows at the rate of the inserts, from l.i1 on. Only with
    /// [`Tables::PerClient`].
    pub delete_per_insert: bool,
    /// Queries use prepared statements.
    pub prepared_queries: bool,
    /// Inserts use prepared statements.
    pub prepared_inserts: bool,
    /// Number of secondary indexes, 0 to 3.
    pub secondary_indexes: u32,
    /// Range partitions per table, 0 = a plain table.
    pub partitions: u32,
    /// Seconds for which each transaction is held open during the steps, 0 = none.
    pub hold_transaction_seconds: u32,
}

/// How the rows are spread over tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tables {
    /// `pi1`, `pi2`, …: every client has a table of its own.
    #[default]
    PerClient,
    /// All clients use `pi1`.
    Shared,
}

impl Default for InsertPlan {
    /// All ten steps on 200,000 + 50,000 rows, one client, 10 s per read+write step.
    fn default() -> Self {
        InsertPlan {
            rows: 200_000,
            indexed_rows: 50_000,
            steps: INSERT_STEPS.iter().map(|s| (*s).to_owned()).collect(),
            dop: vec![1],
            read_write_seconds: 10,
            tables: Tables::PerClient,
            delete_per_insert: false,
            prepared_queries: true,
            prepared_inserts: false,
            secondary_indexes: 3,
            partitions: 0,
            hold_transaction_seconds: 0,
        }
    }
}

/// True if a step needs the secondary indexes: without them every range query would sort the whole
/// table; l.i1 and l.i2 are defined with indexes.
pub(super) fn needs_index(step: &str) -> bool {
    step == "l.i1" || step == "l.i2" || step.starts_with("qr")
}

/// True for a read+write step (`qr…`, `qp…`).
pub(super) fn is_read_write(step: &str) -> bool {
    step.starts_with('q')
}
