//! The statements of the tests, and the rounds that consist of them.

use plan::Distribution;

use super::builder::{Builder, INSERT, SCAN, WRITE};
use super::round::Round;
use crate::class::Class;
use crate::draw::{Draw, Width};
use crate::request::{Expect, Piece, Statement};
use crate::sent::Sent;

/// Point selects in a transaction of the read-only and read-write tests.
const POINT_SELECTS: usize = 10;
/// Ids in the list of a test that has one size only.
const POINTS: u32 = 100;
/// Range of the range tests that have one size only.
const RANGE: u32 = 100;
/// Range of the tests with one aggregate each.
const AGGREGATE_RANGE: u32 = 1000;
/// A query has to find this share of the rows expected of it, on average. Ids drawn twice are found
/// once, and ranges end with the table.
const FOUND: f64 = 0.5;

/// `sbtest1` for table 0, and so on.
pub(super) fn table_name(table: u32) -> String {
    format!("sbtest{}", table + 1)
}

/// A range query of a transaction: its columns, and what follows its condition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranged {
    columns: &'static str,
    end: &'static str,
    /// True if it returns one row.
    sums: bool,
}

pub(super) const SIMPLE: Ranged = Ranged { columns: "c", end: "", sums: false };
pub(super) const SUM: Ranged = Ranged { columns: "SUM(k)", end: "", sums: true };
pub(super) const ORDER: Ranged = Ranged { columns: "c", end: " ORDER BY c", sums: false };
pub(super) const DISTINCT: Ranged =
    Ranged { columns: "DISTINCT c", end: " ORDER BY c", sums: false };
pub(super) const COUNT: Ranged = Ranged { columns: "count(c)", end: "", sums: true };

/// The number after `_range=`.
fn range_of(test: &str) -> Option<u32> {
    test.split_once("_range=")?.1.parse().ok()
}

impl Builder<'_> {
    /// The requests of a client of a test, and the class that they count as.
    pub(super) fn round(&self, test: &str, client: u32, dop: u32) -> Option<(Class, Round)> {
        let tables = self.plan.tables;
        let one = |class: Class, statement: &dyn Fn(u32) -> Statement| {
            Some((class, Round::of(tables, statement)))
        };
        let points = |columns: &str, key: &str, count: u32| {
            let round = Round::of(tables, |table| self.points(table, columns, key, count));
            Some((Class::QUERY, round.finding(self.least(count))))
        };
        let range = |columns: &str, key: &str| {
            let round = Round::of(tables, |table| self.range(table, columns, key));
            Some((Class::QUERY, round.finding(self.least(RANGE))))
        };
        let reads = |ranges: &[Ranged], size: u32| {
            let mut round = Round::default();
            self.add_reads(&mut round, ranges, size);
            Some((Class::QUERY, round.in_transaction(self)))
        };
        let all = [SIMPLE, SUM, ORDER, DISTINCT];
        match test.split_once("_range=").map_or(test, |(test, _)| test) {
            "point-query" => one(Class::QUERY, &|table| self.point(table)),
            "random-points" => points("c", "id", range_of(test)?),
            "hot-points" => one(Class::QUERY, &|table| self.hot_points(table)),
            "points-covered-pk" => points("id", "id", POINTS),
            "points-notcovered-pk" => points("id, c", "id", POINTS),
            "points-covered-si" => points("k", "k", POINTS),
            "points-notcovered-si" => points("k, c", "k", POINTS),
            "range-covered-pk" => range("id", "id"),
            "range-notcovered-pk" => range("id, c", "id"),
            "range-covered-si" => range("k", "k"),
            "range-notcovered-si" => range("k, c", "k"),
            "read-only" => reads(&all, range_of(test)?),
            "read-only-simple" => reads(&[SIMPLE], AGGREGATE_RANGE),
            "read-only-sum" => reads(&[SUM], AGGREGATE_RANGE),
            "read-only-order" => reads(&[ORDER], AGGREGATE_RANGE),
            "read-only-distinct" => reads(&[DISTINCT], AGGREGATE_RANGE),
            "read-only-count" => {
                one(Class::QUERY, &|table| self.ranged(table, COUNT, AGGREGATE_RANGE))
            }
            "scan" => {
                let scan = Round::of(1, |_| self.scan(client % tables));
                Some((SCAN, Round { operations: self.plan.rows, ..scan }))
            }
            "update-inlist" => one(WRITE, &|table| self.update_inlist(table, POINTS)),
            "update-index" => one(WRITE, &|table| self.update_index(table, 1)),
            "update-nonindex" => one(WRITE, &|table| self.update_nonindex(table, self.id(), 1)),
            "update-one" => one(WRITE, &|table| self.update_nonindex(table, constant(1), 1)),
            "update-zipf" => one(WRITE, &|table| {
                self.update_nonindex(table, self.drawn(Distribution::Zipfian), 1)
            }),
            "write-only" => {
                let mut round = Round::default();
                self.add_writes(&mut round, dop);
                Some((WRITE, round.in_transaction(self)))
            }
            "read-write" => {
                let mut round = Round::default();
                self.add_reads(&mut round, &all, range_of(test)?);
                self.add_writes(&mut round, dop);
                Some((WRITE, round.in_transaction(self)))
            }
            "delete" => one(WRITE, &|table| self.delete(table)),
            "insert" => one(INSERT, &|table| self.insert(table)),
            _ => None,
        }
    }

    /// Ten point selects, and one query of each range.
    fn add_reads(&self, round: &mut Round, ranges: &[Ranged], size: u32) {
        let tables = self.plan.tables;
        let table = round.keep_table(tables);
        round.add((tables, table), POINT_SELECTS, |table| self.point(table));
        for ranged in ranges {
            let table = round.keep_table(tables);
            round.add((tables, table), 1, |table| self.ranged(table, *ranged, size));
        }
    }

    /// Two updates; a row is deleted and inserted again.
    fn add_writes(&self, round: &mut Round, dop: u32) {
        let tables = self.plan.tables;
        // Another client may have deleted the row at this moment.
        let least = u32::from(dop == 1);
        let table = round.keep_table(tables);
        round.add((tables, table), 1, |table| self.update_index(table, least));
        let table = round.keep_table(tables);
        round.add((tables, table), 1, |table| self.update_nonindex(table, self.id(), least));
        let (table, id) = (round.keep_table(tables), round.keep(self.id()));
        let id = Draw::Kept { index: id, plus: 0, width: Width::Four };
        round.add((tables, table), 1, |table| {
            let text = format!("DELETE FROM {} WHERE id=?", table_name(table));
            self.sql(&text, vec![id.clone()], self.changes(least, 1))
        });
        round.add((tables, table), 1, |table| {
            let into = table_name(table);
            let text = format!("INSERT INTO {into} (id, k, c, pad) VALUES (?, ?, ?, ?)");
            self.sql(&text, vec![id.clone(), self.id(), c(), pad()], Expect::affected(1))
        });
    }

    pub(super) fn create_table(&self, table: u32) -> Vec<String> {
        let name = table_name(table);
        let secondary = self.plan.secondary;
        let xid = format!("xid_{}", table + 1);
        let (id, early) = self.sql.serial(&xid, "id");
        let key = if secondary { &early } else { ", PRIMARY KEY (id)" };
        let create = format!(
            "CREATE TABLE {name} (id {id}, k INTEGER DEFAULT '0' NOT NULL, \
             c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL{key}){}",
            self.sql.table_options()
        );
        let index = format!("CREATE INDEX {xid} ON {name} (id)");
        [create].into_iter().chain((secondary && early.is_empty()).then_some(index)).collect()
    }

    pub(super) fn create_index(&self, table: u32) -> String {
        format!("CREATE INDEX k_{} ON {} (k)", table + 1, table_name(table))
    }

    /// This many rows of the load.
    pub(super) fn insert_rows(&self, table: u32, count: u32) -> Statement {
        let comma = || Piece::Text(",".to_owned());
        let k = Piece::Value(self.drawn(Distribution::Uniform));
        let row = vec![
            Piece::Text("(".to_owned()),
            k,
            comma(),
            Piece::Value(c()),
            comma(),
            Piece::Value(pad()),
            Piece::Text(")".to_owned()),
        ];
        let text = format!("INSERT INTO {} (k, c, pad) VALUES ", table_name(table));
        Statement {
            pieces: vec![Piece::Text(text), Piece::Rows { count, row }],
            sent: Sent::Text,
            expect: Expect::affected(u64::from(count)),
        }
    }

    pub(super) fn point(&self, table: u32) -> Statement {
        let text = format!("SELECT c FROM {} WHERE id=?", table_name(table));
        self.sql(&text, vec![self.id()], self.rows(1, 1))
    }

    /// Rows by a list of values, which may contain some of them twice.
    pub(super) fn points(&self, table: u32, columns: &str, key: &str, count: u32) -> Statement {
        let rows = match key {
            "id" => self.rows(1, count),
            // Any number of rows may have a value.
            _ => Expect::Rows { min: 0, max: u32::MAX },
        };
        self.in_list(table, columns, key, (0..count).map(|_| self.id()).collect(), rows)
    }

    /// Always the same rows, from the middle on.
    pub(super) fn hot_points(&self, table: u32) -> Statement {
        let (rows, first) = (self.plan.rows, self.plan.rows / 2 + 1);
        let draws = (first..first + u64::from(POINTS)).map(|id| constant(id as i64)).collect();
        let found = u64::from(POINTS).min(rows + 1 - first) as u32;
        self.in_list(table, "c", "id", draws, self.rows(found, found))
    }

    fn in_list(
        &self,
        table: u32,
        columns: &str,
        key: &str,
        draws: Vec<Draw>,
        rows: Expect,
    ) -> Statement {
        let list = vec!["?"; draws.len()].join(", ");
        let name = table_name(table);
        self.sql(&format!("SELECT {columns} FROM {name} WHERE {key} IN ({list})"), draws, rows)
    }

    /// Rows with keys from a drawn one to [`RANGE`] above it.
    pub(super) fn range(&self, table: u32, columns: &str, key: &str) -> Statement {
        let rows = match key {
            "id" => self.rows(1, RANGE + 1),
            _ => Expect::Rows { min: 0, max: u32::MAX },
        };
        let text =
            format!("SELECT {columns} FROM {} WHERE {key} BETWEEN ? AND ?", table_name(table));
        self.sql(&text, vec![self.id(), above(RANGE)], rows)
    }

    /// One of the range queries that transactions have: this many ids, starting with a drawn one.
    pub(super) fn ranged(&self, table: u32, ranged: Ranged, size: u32) -> Statement {
        let Ranged { columns, end, sums } = ranged;
        let name = table_name(table);
        let text = format!("SELECT {columns} FROM {name} WHERE id BETWEEN ? AND ?{end}");
        let rows = if sums { Expect::Rows { min: 1, max: 1 } } else { self.rows(1, size) };
        self.sql(&text, vec![self.id(), above(size - 1)], rows)
    }

    pub(super) fn scan(&self, table: u32) -> Statement {
        let text = format!("SELECT * FROM {} WHERE LENGTH(c) < 0", table_name(table));
        self.sql(&text, Vec::new(), Expect::Rows { min: 0, max: 0 })
    }

    pub(super) fn update_inlist(&self, table: u32, count: u32) -> Statement {
        let list = vec!["?"; count as usize].join(", ");
        let text = format!("UPDATE {} SET c=? WHERE id IN ({list})", table_name(table));
        let draws = [c()].into_iter().chain((0..count).map(|_| self.id())).collect();
        self.sql(&text, draws, self.changes(1, count))
    }

    pub(super) fn update_index(&self, table: u32, least: u32) -> Statement {
        let text = format!("UPDATE {} SET k=k+1 WHERE id=?", table_name(table));
        self.sql(&text, vec![self.id()], self.changes(least, 1))
    }

    pub(super) fn update_nonindex(&self, table: u32, id: Draw, least: u32) -> Statement {
        let text = format!("UPDATE {} SET c=? WHERE id=?", table_name(table));
        self.sql(&text, vec![c(), id], self.changes(least, 1))
    }

    /// The row may be gone already.
    pub(super) fn delete(&self, table: u32) -> Statement {
        let text = format!("DELETE FROM {} WHERE id=?", table_name(table));
        self.sql(&text, vec![self.id()], Expect::Affected { min: 0, max: 1 })
    }

    /// One row with a new id. Never prepared.
    pub(super) fn insert(&self, table: u32) -> Statement {
        let text = format!("INSERT INTO {} (k, c, pad) VALUES (?, ?, ?)", table_name(table));
        let draws = vec![self.id(), c(), pad()];
        Statement { sent: Sent::Text, ..self.sql(&text, draws, Expect::affected(1)) }
    }

    /// A statement with a draw for each `?`.
    fn sql(&self, text: &str, draws: Vec<Draw>, expect: Expect) -> Statement {
        let mut pieces = Vec::new();
        let mut draws = draws.into_iter();
        for part in text.split('?') {
            if !part.is_empty() {
                pieces.push(Piece::Text(part.to_owned()));
            }
            pieces.extend(draws.next().map(Piece::Value));
        }
        Statement { pieces, sent: self.sent(), expect }
    }

    /// This many rows; fewer if some were deleted.
    fn rows(&self, min: u32, max: u32) -> Expect {
        Expect::Rows { min: if self.deleted { 0 } else { min }, max }
    }

    /// This many rows changed; fewer if some were deleted.
    fn changes(&self, min: u32, max: u32) -> Expect {
        let min = if self.deleted { 0 } else { min };
        Expect::Affected { min: min.into(), max: max.into() }
    }

    /// How many rows a query for this many must find on average.
    fn least(&self, rows: u32) -> Option<f64> {
        let uniform = self.plan.distribution == Distribution::Uniform;
        // In a table that small, ids are drawn twice, and ranges end early.
        let large = self.plan.rows > 10 * u64::from(rows);
        (uniform && large && !self.deleted).then_some(FOUND * f64::from(rows))
    }
}

/// The value of column c: 119 characters.
fn c() -> Draw {
    Draw::Digits { groups: 10, digits: 11 }
}

/// The value of column pad: 59 characters.
fn pad() -> Draw {
    Draw::Digits { groups: 5, digits: 11 }
}

/// Always this number.
fn constant(number: i64) -> Draw {
    Draw::Uniform { low: number, high: number + 1, width: Width::Four }
}

/// The value before plus this.
fn above(more: u32) -> Draw {
    Draw::Earlier { back: 1, plus: i64::from(more), width: Width::Four }
}
