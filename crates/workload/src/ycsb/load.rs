//! The table, and the step that fills it.

use std::collections::BTreeMap;

use super::builder::{Builder, INSERTED, TABLE, TAKEN};
use crate::class::Class;
use crate::pgbench;
use crate::request::{Expect, Statement};
use crate::step::{End, Refresh, Step, Stream};

/// Records of one request of the load.
const BATCH: u64 = 100;

impl Builder<'_> {
    /// The statements that create the empty table.
    pub(super) fn create(&self) -> Vec<String> {
        let Some(sql) = self.sql else { return Vec::new() };
        let fields: String = (0..self.plan.fields).map(|it| format!(", field{it} text")).collect();
        vec![format!(
            "CREATE TABLE {TABLE} (ycsb_key varchar(255) NOT NULL{fields}, PRIMARY KEY (ycsb_key)){}",
            sql.table_options()
        )]
    }

    /// Settings of the system for so many clients.
    pub(super) fn config(&self, clients: u32) -> BTreeMap<String, String> {
        self.sql.and_then(|_| pgbench::room_for(clients)).into_iter().collect()
    }

    /// Inserts all records, the numbers in turn.
    pub(super) fn load(&self) -> Step {
        let (batches, rest) = (self.plan.records / BATCH, self.plan.records % BATCH);
        let clients = self.plan.load_dop;
        let stream = |client, rows: u64, rounds: u64| Stream {
            operations_per_round: rows,
            end: End::Rounds(rounds),
            ..Stream::repeating(client, Class::INSERT, self.insert(rows as u32, 0))
        };
        let share = |client: u32| {
            let (each, more) = (batches / u64::from(clients), batches % u64::from(clients));
            each + u64::from(u64::from(client) < more)
        };
        let whole = (0..clients).map(|client| stream(client, BATCH, share(client)));
        let last = (rest > 0).then(|| stream(0, rest, 1));
        let streams = whole.filter(|it| it.end != End::Rounds(0)).chain(last).collect();
        Step { cells: 2, ..Step::new("load", clients, Class::INSERT, streams) }
    }

    /// Sets the cells to the number of records before a step. RocksDB would have to read them all.
    pub(super) fn refresh(&self) -> Option<Refresh> {
        self.sql?;
        let rows = Expect::Rows { min: 1, max: 1 };
        let statement = Statement::plain(format!("SELECT count(*), count(*) FROM {TABLE}"), rows);
        Some(Refresh { every: u32::MAX, statement, into: vec![TAKEN, INSERTED] })
    }
}
