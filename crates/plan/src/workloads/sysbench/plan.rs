//! The contents of `[workload.sysbench]`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::order::{Length, SysbenchOrder, length};

/// Settings of the sysbench microbenchmarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SysbenchPlan {
    /// Number of tables, ≥ 1.
    pub tables: u32,
    /// Rows of each table, > 0.
    pub rows: u64,
    /// Numbers of clients, each 1 to 10000, without repetition. Each test runs with each of them.
    pub dop: Vec<u32>,
    /// Number of clients that load and index, one table each; at most that many tables.
    pub load_dop: u32,
    /// The order of steps, where `steps` doesn't say.
    pub sequence: SysbenchOrder,
    /// Steps in the order in which they run, canonical names.
    pub steps: Vec<String>,
    /// Steps to leave out.
    pub drop: Vec<String>,
    /// Steps to run directly before a step.
    pub before: BTreeMap<String, Vec<String>>,
    /// Steps to run directly after a step.
    pub after: BTreeMap<String, Vec<String>>,
    /// Steps that `drop`, `before` and `after` name but that do not exist.
    pub missing: Vec<String>,
    /// Duration of each test that only reads, in seconds, ≥ 1.
    pub read_seconds: u32,
    /// Duration of each test that updates or deletes, in seconds, ≥ 1.
    pub write_seconds: u32,
    /// Duration of `insert`, in seconds, ≥ 1.
    pub insert_seconds: u32,
    /// How ids are drawn, except in `update-one` and `update-zipf`.
    pub distribution: Distribution,
    /// Statements are prepared, except in `insert`.
    pub prepared: bool,
    /// Tests that have a transaction begin and commit it; otherwise their statements commit one by
    /// one.
    pub transactions: bool,
    /// A secondary index on `id` instead of a primary key.
    pub secondary: bool,
    /// Replace a client's connection after this many rounds; `None`: never.
    pub reconnect: Option<u32>,
}

/// How ids are drawn from 1 to the number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// All alike.
    #[default]
    Uniform,
    /// The k-th in proportion to k^-0.8.
    Zipfian,
    /// A hundredth of them, in the middle, in three of four draws; the others normally distributed.
    Special,
}

impl Default for SysbenchPlan {
    /// The small sequence on 2 tables of 100,000 rows, one client, 5 s per test.
    fn default() -> Self {
        SysbenchPlan {
            tables: 2,
            rows: 100_000,
            dop: vec![1],
            load_dop: 2,
            sequence: SysbenchOrder::Small,
            steps: SysbenchOrder::Small.steps(),
            drop: Vec::new(),
            before: BTreeMap::new(),
            after: BTreeMap::new(),
            missing: Vec::new(),
            read_seconds: 5,
            write_seconds: 5,
            insert_seconds: 5,
            distribution: Distribution::Uniform,
            prepared: true,
            transactions: true,
            secondary: false,
            reconnect: None,
        }
    }
}

impl SysbenchPlan {
    /// How many clients load and index.
    pub fn load_clients(&self) -> u32 {
        self.load_dop.min(self.tables)
    }

    /// Rows of all tables after the load.
    pub fn all_rows(&self) -> u64 {
        self.rows.saturating_mul(u64::from(self.tables))
    }

    /// Duration of a step in seconds; `None` if it ends when its work is done.
    pub fn seconds_of(&self, step: &str) -> Option<u32> {
        Some(match length(step)? {
            Length::Reads => self.read_seconds,
            Length::Writes => self.write_seconds,
            Length::Inserts => self.insert_seconds,
        })
    }

    /// Applies `drop`, `before` and `after`.
    pub(super) fn arrange(&mut self) {
        let mut missing = Vec::new();
        for step in std::mem::take(&mut self.drop) {
            if !self.steps.contains(&step) {
                missing.push(step.clone());
            }
            self.steps.retain(|known| *known != step);
        }
        let before = std::mem::take(&mut self.before).into_iter().map(|it| (it, 0));
        let after = std::mem::take(&mut self.after).into_iter().map(|it| (it, 1));
        for ((anchor, moved), behind) in before.chain(after) {
            // One that is there already moves, another is added.
            self.steps.retain(|step| *step == anchor || !moved.contains(step));
            match self.steps.iter().position(|step| *step == anchor) {
                Some(place) => {
                    let moved = moved.into_iter().filter(|step| *step != anchor);
                    self.steps.splice(place + behind..place + behind, moved);
                }
                None => missing.push(anchor),
            }
        }
        self.missing = missing;
    }
}
