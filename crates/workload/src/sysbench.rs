//! The sysbench microbenchmarks: some thirty small tests in an order that builds up and pays off
//! MVCC debt.
//!
//! An operation is a query, as sysbench counts: each statement of a transaction, `BEGIN` and
//! `COMMIT` included. Only `scan` counts the rows of its table.

mod builder;
mod catalogue;
mod round;
mod statements;

pub use catalogue::catalogue;

use std::collections::BTreeMap;

use plan::{SysbenchPlan, sysbench_test};

use crate::class::Class;
use crate::phase::{Benchmark, Phase};
use crate::request::Request;
use crate::step::{Action, End, Step, Stream};
use crate::{Dialect, Error};
use builder::{Builder, LOAD_BATCH};
use round::Round;
use statements::table_name;

/// The benchmark of `plan`.
///
/// # Errors
/// [`Error::Unfit`] if the system does not speak SQL, [`Error::UnknownStep`] for a step that is not
/// in [`plan::SYSBENCH_STEPS`].
pub fn benchmark(plan: &SysbenchPlan, dialect: Dialect) -> Result<Benchmark, Error> {
    Builder::new(plan, dialect)?.benchmark()
}

impl Builder<'_> {
    fn benchmark(mut self) -> Result<Benchmark, Error> {
        let mut phases = Vec::new();
        for name in &self.plan.steps {
            match sysbench_test(name) {
                "load" => phases.push(Phase::Step(self.load(name))),
                "index" => phases.push(Phase::Step(self.index(name))),
                "settle" => phases.push(Phase::Settle { rows: Some(self.plan.all_rows()) }),
                test => {
                    for dop in &self.plan.dop {
                        phases.push(Phase::Step(self.test(name, test, *dop)?));
                        self.deleted |= test == "delete";
                    }
                }
            }
        }
        Ok(Benchmark {
            setup: (0..self.plan.tables).flat_map(|table| self.create_table(table)).collect(),
            teardown: Vec::new(),
            tables: (0..self.plan.tables).map(table_name).collect(),
            phases,
            config: BTreeMap::new(),
        })
    }

    /// Multi-row inserts, several tables at a time.
    fn load(&self, name: &str) -> Step {
        let clients = self.plan.load_clients();
        let (whole, rest) = (self.plan.rows / LOAD_BATCH, self.plan.rows % LOAD_BATCH);
        let stream = |client: u32, batch: u64, rounds: u64| {
            let tables: Vec<u32> = (client..self.plan.tables).step_by(clients as usize).collect();
            let insert = |table: &u32| Request::from(self.insert_rows(*table, batch as u32));
            let count = tables.len() as u64;
            Stream {
                actions: (0..tables.len()).map(Action::Run).collect(),
                requests: tables.iter().map(insert).collect(),
                operations_per_round: batch * count,
                end: End::Rounds(rounds),
                ..Stream::new(client, Class::INSERT)
            }
        };
        let mut streams: Vec<Stream> = Vec::new();
        for client in 0..clients {
            streams.extend((whole > 0).then(|| stream(client, LOAD_BATCH, whole)));
            streams.extend((rest > 0).then(|| stream(client, rest, 1)));
        }
        Step::new(name, clients, Class::INSERT, streams)
    }

    /// Each client indexes its tables one after another.
    fn index(&self, name: &str) -> Step {
        let clients = self.plan.load_clients();
        let tables = |client| (client..self.plan.tables).step_by(clients as usize);
        let create = |client| tables(client).map(|table| self.create_index(table)).collect();
        Step::define(name, clients, (0..clients).map(create).collect(), self.plan.all_rows())
    }

    /// A test with this many clients.
    fn test(&self, name: &str, test: &str, dop: u32) -> Result<Step, Error> {
        let unknown = || Error::UnknownStep {
            workload: "sysbench",
            step: name.to_owned(),
            known: plan::SYSBENCH_STEPS.join(", "),
        };
        let mut streams = Vec::new();
        let mut counted = Class::QUERY;
        for client in 0..dop {
            let (class, round) = self.round(test, client, dop).ok_or_else(unknown)?;
            let Round { keeps, requests, actions, finds, operations } = round;
            counted = class.clone();
            streams.push(Stream {
                keeps,
                requests,
                actions,
                finds,
                operations_per_round: operations,
                reconnect: self.plan.reconnect.map(u64::from),
                ..Stream::new(client, class)
            });
        }
        let mut step = Step::new(name, dop, counted, streams);
        step.seconds = self.plan.seconds_of(name).map(f64::from);
        Ok(step)
    }
}

#[cfg(test)]
mod tests;
