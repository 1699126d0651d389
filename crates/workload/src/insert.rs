//! The insert benchmark: inserts in primary key order without and with secondary indexes, then
//! range and point queries with concurrent rate-limited inserts.
//!
//! Rows are counted over all clients. Each client's share is rounded up to whole statements, so a
//! step may insert a few more rows than requested.

mod catalogue;
mod statements;

pub use catalogue::catalogue;

use std::collections::BTreeMap;

use plan::{INSERT_STEPS, InsertPlan, Tables};

use crate::class::Class;
use crate::draw::{Cell, Draw};
use crate::phase::{Benchmark, Phase};
use crate::request::{Expect, Piece, Request, Statement};
use crate::sent::Sent;
use crate::step::{Action, End, Finds, Pace, Refresh, Role, Step, Stream};
use crate::{Dialect, Error, Sql};

/// Rows per statement and commit of l.i0.
const LOAD_BATCH: u32 = 100;
/// Rows per statement and commit of l.i1, and of the insert streams during queries.
const INSERT_BATCH: u32 = 50;
/// Rows per statement and commit of l.i2.
const SMALL_BATCH: u32 = 5;
/// Rounds between two checks of the table's current minimum or maximum.
const REFRESH_EVERY: u32 = 100;
/// Ids in one point query.
const POINT_IDS: usize = 10;
/// Minimum mean number of rows that range queries must find, out of 10 at most. Fewer mean that
/// they ran against an empty or wrong table. Tables with fewer than [`LEAST_ROWS_CHECKED`] rows are
/// exempt.
const LEAST_MEAN_ROWS: f64 = 5.0;
/// See [`LEAST_MEAN_ROWS`].
const LEAST_ROWS_CHECKED: u64 = 50_000;

/// Name and columns of the secondary indexes, in the order of creation.
const INDEXES: [(&str, &str); 3] = [
    ("marketsegment", "productid, customerid, price"),
    ("registersegment", "cashregisterid, customerid, price"),
    ("pdc", "price, dateandtime, customerid"),
];

/// Cells that each table has.
const CELLS_PER_TABLE: usize = 3;

fn lowest_id(table: usize) -> Cell {
    Cell(table * CELLS_PER_TABLE)
}
fn highest_id(table: usize) -> Cell {
    Cell(table * CELLS_PER_TABLE + 1)
}
fn inserted_rows(table: usize) -> Cell {
    Cell(table * CELLS_PER_TABLE + 2)
}

/// The benchmark of `plan` for `dop` clients.
///
/// # Errors
///
/// [`Error::TooOld`] if the server's version lacks partitions, [`Error::UnknownStep`] for a step
/// that is not in [`INSERT_STEPS`].
pub fn benchmark(plan: &InsertPlan, dop: u32, dialect: Dialect) -> Result<Benchmark, Error> {
    Builder { plan, dop, sql: dialect.sql("insert")? }.benchmark()
}

struct Builder<'a> {
    plan: &'a InsertPlan,
    dop: u32,
    sql: Sql,
}

impl Builder<'_> {
    fn benchmark(&self) -> Result<Benchmark, Error> {
        let setup = (0..self.table_count()).map(|table| self.create_table(table));
        let setup = setup.collect::<Result<Vec<_>, _>>()?.concat();
        let mut phases = Vec::new();
        let mut rows = 0;
        // Minimum per table.
        let mut held = 0;
        // Work that loading leaves behind would fall into steps that read: autovacuum, hint bits,
        // pages that are not yet known to be visible to all.
        let mut owed = false;
        for name in &self.plan.steps {
            let loads = name.starts_with("l.");
            if owed && !loads {
                phases.push(Phase::Settle { rows: Some(rows) });
            }
            owed = loads && name != "l.i2";
            match name.as_str() {
                "l.i0" => {
                    let step = self.load(name, self.plan.rows, LOAD_BATCH, false);
                    rows += inserted_by(&step);
                    held += self.each_gets(&step);
                    phases.push(Phase::Step(step));
                }
                "l.x" if self.plan.secondary_indexes == 0 => {}
                "l.x" => phases.push(Phase::Step(self.create_indexes(rows))),
                "l.i1" => {
                    let share = self.plan.indexed_rows - self.plan.indexed_rows / 5;
                    let step = self.load(name, share, INSERT_BATCH, true);
                    rows += self.kept(inserted_by(&step));
                    held += self.kept(self.each_gets(&step));
                    phases.push(Phase::Step(step));
                }
                "l.i2" => {
                    let step = self.load(name, self.plan.indexed_rows / 5, SMALL_BATCH, true);
                    rows += self.kept(inserted_by(&step));
                    held += self.kept(self.each_gets(&step));
                    phases.push(Phase::Step(step));
                    phases.push(Phase::Settle { rows: Some(rows) });
                }
                _ => phases.push(Phase::Step(self.read_write(name, rows, held)?)),
            }
        }
        Ok(Benchmark {
            setup,
            teardown: Vec::new(),
            tables: (0..self.table_count()).map(table_name).collect(),
            phases,
            config: BTreeMap::new(),
        })
    }

    /// Rows by which the tables grow if this many are inserted.
    fn kept(&self, inserted: u64) -> u64 {
        if self.plan.delete_per_insert { 0 } else { inserted }
    }

    /// Minimum number of rows that a load step inserts into each table.
    fn each_gets(&self, step: &Step) -> u64 {
        match self.plan.tables {
            Tables::Shared => inserted_by(step),
            Tables::PerClient => step.streams.iter().filter_map(inserts).min().unwrap_or_default(),
        }
    }

    fn table_count(&self) -> usize {
        match self.plan.tables {
            Tables::PerClient => self.dop as usize,
            Tables::Shared => 1,
        }
    }

    fn table_of(&self, client: u32) -> usize {
        match self.plan.tables {
            Tables::PerClient => client as usize,
            Tables::Shared => 0,
        }
    }

    fn create_table(&self, table: usize) -> Result<Vec<String>, Error> {
        let name = table_name(table);
        let sql = self.sql;
        let (id, time, options) = (sql.big_serial(), sql.time(), sql.table_options());
        let create = format!(
            "CREATE TABLE {name} (transactionid {id}, dateandtime {time}, \
             cashregisterid int NOT NULL, customerid int NOT NULL, productid int NOT NULL, \
             price int NOT NULL, data varchar(4000), PRIMARY KEY (transactionid)){options}"
        );
        let (by, parts) = self.partitions(&name)?;
        let cached = sql.cache_serial(&name, "transactionid");
        Ok([create + &by].into_iter().chain(parts).chain(cached).collect())
    }

    /// The end of a table's definition if it has range partitions, and statements that make them.
    fn partitions(&self, table: &str) -> Result<(String, Vec<String>), Error> {
        let partitions = self.plan.partitions;
        if partitions == 0 {
            return Ok(Default::default());
        }
        let all = self.plan.rows + self.plan.indexed_rows;
        let share = all.div_ceil(self.table_count() as u64).div_ceil(u64::from(partitions));
        // Above the last row of a partition.
        let ends = (1..partitions).map(|part| (u64::from(part) * share + 1).to_string());
        let ends: Vec<String> = ends.chain(["MAXVALUE".to_owned()]).collect();
        self.sql.partitions(table, "transactionid", &ends)
    }

    /// Creates the secondary indexes of a table.
    fn index_table(&self, table: usize) -> Vec<String> {
        let name = table_name(table);
        let indexes = INDEXES[..self.plan.secondary_indexes as usize].iter();
        let indexes: Vec<_> =
            indexes.map(|(index, columns)| (format!("{name}_{index}"), *columns)).collect();
        self.sql.create_indexes(&name, &indexes)
    }

    /// l.i0, l.i1, l.i2: inserts as fast as possible until all rows are in.
    fn load(&self, name: &str, rows: u64, batch: u32, indexed: bool) -> Step {
        let statements = rows.div_ceil(u64::from(batch));
        let dop = u64::from(self.dop);
        let mut streams = Vec::new();
        for client in 0..self.dop {
            let share = statements / dop + u64::from(u64::from(client) < statements % dop);
            streams.push(self.insert(client, batch, Pace::Free, End::Rounds(share), Role::Lead));
            if indexed && self.plan.delete_per_insert {
                streams.push(self.delete(client, batch));
            }
        }
        if indexed {
            streams.extend(self.hold());
        }
        self.step(name, Class::INSERT, streams)
    }

    /// l.x: each client indexes its own table.
    fn create_indexes(&self, rows: u64) -> Step {
        let statements = (0..self.table_count()).map(|table| self.index_table(table));
        Step::define("l.x", self.dop, statements.collect(), rows)
    }

    /// qr… and qp…: queries as fast as possible with concurrent inserts at a fixed rate, on tables
    /// that have `rows` rows together and at least `held` each.
    fn read_write(&self, name: &str, rows: u64, held: u64) -> Result<Step, Error> {
        let unknown = || Error::UnknownStep {
            workload: "insert",
            step: name.to_owned(),
            known: INSERT_STEPS.join(", "),
        };
        let (range, rate) = match name.split_at_checked(2) {
            Some(("qr", rate)) => (true, rate),
            Some(("qp", rate)) => (false, rate),
            _ => return Err(unknown()),
        };
        let rate: u32 = rate.parse().map_err(|_| unknown())?;
        if rate == 0 {
            return Err(unknown());
        }
        let mut streams = Vec::new();
        for client in 0..self.dop {
            streams.push(if range {
                self.range_queries(client, rows / (self.table_count() as u64))
            } else {
                self.point_queries(client, held)
            });
            let pace = Pace::Rate(f64::from(rate) / f64::from(INSERT_BATCH));
            streams.push(self.insert(client, INSERT_BATCH, pace, End::Time, Role::Lead));
            if self.plan.delete_per_insert {
                streams.push(self.delete(client, INSERT_BATCH));
            }
        }
        streams.extend(self.hold());
        let mut step = self.step(name, Class::QUERY, streams);
        step.seconds = Some(f64::from(self.plan.read_write_seconds));
        Ok(step)
    }

    fn step(&self, name: &str, counted: Class, streams: Vec<Stream>) -> Step {
        let cells = self.table_count() * CELLS_PER_TABLE;
        Step { cells, ..Step::new(name, self.dop, counted, streams) }
    }

    fn insert(&self, client: u32, batch: u32, pace: Pace, end: End, role: Role) -> Stream {
        let table = self.table_of(client);
        Stream {
            role,
            operations_per_round: u64::from(batch),
            pace,
            end,
            adds_to: Some(inserted_rows(table)),
            ..Stream::repeating(client, Class::INSERT, self.insert_statement(table, batch))
        }
    }

    /// Deletes as many rows as the client's inserts have added.
    fn delete(&self, client: u32, batch: u32) -> Stream {
        let table = self.table_of(client);
        let name = table_name(table);
        let lowest = lowest_id(table);
        let minimum = Statement {
            pieces: vec![
                Piece::Text(format!(
                    "SELECT min(transactionid) FROM {name} WHERE transactionid >= "
                )),
                Piece::Value(Draw::Value(lowest)),
            ],
            sent: Sent::Text,
            expect: Expect::Rows { min: 1, max: 1 },
        };
        Stream {
            role: Role::Background,
            operations_per_round: u64::from(batch),
            pace: Pace::Follow(inserted_rows(table)),
            end: End::CaughtUp,
            refresh: Some(Refresh { every: REFRESH_EVERY, statement: minimum, into: vec![lowest] }),
            adds_to: Some(lowest),
            ..Stream::repeating(client, Class::DELETE, self.delete_statement(table, batch))
        }
    }

    fn range_queries(&self, client: u32, rows: u64) -> Stream {
        let finds = (rows >= LEAST_ROWS_CHECKED).then_some(Finds::Mean(LEAST_MEAN_ROWS));
        self.queries(client, self.range_statements(self.table_of(client)), None, finds)
    }

    fn point_queries(&self, client: u32, rows: u64) -> Stream {
        let table = self.table_of(client);
        let name = table_name(table);
        let (low, high) = (lowest_id(table), highest_id(table));
        // With deletes, the delete stream keeps the minimum. Asking the server for it would read
        // the dead entries at the low end of the index and charge that to the queries.
        let (columns, into) = if self.plan.delete_per_insert {
            ("max(transactionid)", vec![high])
        } else {
            ("min(transactionid), max(transactionid)", vec![low, high])
        };
        let refresh = Refresh {
            every: REFRESH_EVERY,
            statement: Statement::plain(
                format!("SELECT {columns} FROM {name}"),
                Expect::Rows { min: 1, max: 1 },
            ),
            into,
        };
        let deleted = self.plan.delete_per_insert.then(|| inserted_rows(table));
        let finds = Finds::Ids { ids: POINT_IDS as u32, rows, low, high, deleted };
        self.queries(client, vec![self.point_statement(table)], Some(refresh), Some(finds))
    }

    fn queries(
        &self,
        client: u32,
        statements: Vec<Statement>,
        refresh: Option<Refresh>,
        finds: Option<Finds>,
    ) -> Stream {
        let actions = match statements.len() {
            1 => vec![Action::Run(0)],
            count => vec![Action::Choose((0..count).collect())],
        };
        Stream {
            requests: statements.into_iter().map(Request::from).collect(),
            actions,
            refresh,
            finds,
            ..Stream::new(client, Class::QUERY)
        }
    }

    /// A connection that keeps a snapshot open, so nothing it could see can be vacuumed.
    fn hold(&self) -> Option<Stream> {
        let seconds = self.plan.hold_transaction_seconds;
        if seconds == 0 {
            return None;
        }
        let snapshot = format!("SELECT transactionid FROM {} LIMIT 1", table_name(0));
        Some(Stream {
            role: Role::Background,
            requests: vec![
                Statement::plain(self.sql.begin_snapshot(), Expect::Success).into(),
                Statement::plain(snapshot, Expect::Rows { min: 0, max: 1 }).into(),
                Statement::plain("COMMIT", Expect::Success).into(),
            ],
            actions: vec![
                Action::Run(0),
                Action::Run(1),
                Action::Rest(u64::from(seconds) * 1000),
                Action::Run(2),
            ],
            end: End::CaughtUp,
            ..Stream::new(self.dop, Class::HOLD)
        })
    }
}

/// `pi1` for table 0, and so on.
fn table_name(table: usize) -> String {
    format!("pi{}", table + 1)
}

/// Rows that the insert streams of a load step insert.
fn inserted_by(step: &Step) -> u64 {
    step.streams.iter().filter_map(inserts).sum()
}

/// Rows that a stream of a load step inserts, if any.
fn inserts(stream: &Stream) -> Option<u64> {
    match stream.end {
        End::Rounds(rounds) if stream.class == Class::INSERT => {
            Some(rounds * stream.operations_per_round)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
