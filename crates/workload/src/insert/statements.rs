//! The benchmark's statements.

use super::{Builder, INDEXES, POINT_IDS, highest_id, lowest_id, table_name};
use crate::draw::{Draw, Width};
use crate::request::{Expect, Piece, Statement};
use crate::sent::Sent;

impl Builder<'_> {
    /// The insert of this many rows into a table.
    pub(super) fn insert_statement(&self, table: usize, batch: u32) -> Statement {
        let int = |high| Piece::Value(Draw::Uniform { low: 0, high, width: Width::Four });
        let comma = || Piece::Text(",".to_owned());
        let row = vec![
            Piece::Text("(".to_owned()),
            Piece::Value(Draw::Now),
            comma(),
            int(1000),
            comma(),
            int(100_000),
            comma(),
            int(10_000),
            comma(),
            int(500),
            comma(),
            Piece::Value(Draw::Text { min: 10, max: 20 }),
            Piece::Text(")".to_owned()),
        ];
        let text = format!(
            "INSERT INTO {} (dateandtime, cashregisterid, customerid, productid, price, data) VALUES ",
            table_name(table)
        );
        Statement {
            pieces: vec![Piece::Text(text), Piece::Rows { count: batch, row }],
            sent: Sent::prepared(self.plan.prepared_inserts),
            expect: Expect::affected(u64::from(batch)),
        }
    }

    /// Deletes the oldest rows of a table.
    ///
    /// It starts at the lowest id known to remain. Looking for the minimum from the start of the
    /// index would read everything that was deleted but not yet vacuumed.
    pub(super) fn delete_statement(&self, table: usize, batch: u32) -> Statement {
        let name = table_name(table);
        let [before, after] = self.sql.delete_lowest(&name, "transactionid", batch);
        Statement {
            pieces: vec![
                Piece::Text(before),
                Piece::Value(Draw::Value(lowest_id(table))),
                Piece::Text(after),
            ],
            sent: Sent::prepared(self.plan.prepared_inserts),
            expect: Expect::affected(u64::from(batch)),
        }
    }

    /// One range query for each index, in the order of [`super::INDEXES`].
    pub(super) fn range_statements(&self, table: usize) -> Vec<Statement> {
        let name = table_name(table);
        let conditions = [("productid >=", 10_000), ("cashregisterid >", 1000), ("price >=", 500)];
        let query = |(place, (condition, high)): (usize, (&str, i64))| {
            let (index, columns) = INDEXES[place];
            // Without it, MySQL sometimes reads the whole table.
            let force = self.sql.force_index(&format!("{name}_{index}"));
            let force = if place < self.plan.secondary_indexes as usize { &*force } else { "" };
            Statement {
                pieces: vec![
                    Piece::Text(format!("SELECT {columns} FROM {name}{force} WHERE ({condition} ")),
                    Piece::Value(Draw::Uniform { low: 0, high, width: Width::Four }),
                    Piece::Text(format!(") ORDER BY {columns} LIMIT 10")),
                ],
                sent: Sent::prepared(self.plan.prepared_queries),
                expect: Expect::Rows { min: 0, max: 10 },
            }
        };
        conditions.into_iter().enumerate().map(query).collect()
    }

    /// A query for ten rows by their ids.
    pub(super) fn point_statement(&self, table: usize) -> Statement {
        let name = table_name(table);
        let (low, high) = (lowest_id(table), highest_id(table));
        let mut pieces = vec![Piece::Text(format!(
            "SELECT transactionid, productid, data FROM {name} WHERE transactionid IN ("
        ))];
        for index in 0..POINT_IDS {
            if index > 0 {
                pieces.push(Piece::Text(", ".to_owned()));
            }
            pieces.push(Piece::Value(Draw::Between { low, high }));
        }
        pieces.push(Piece::Text(")".to_owned()));
        Statement {
            pieces,
            sent: Sent::prepared(self.plan.prepared_queries),
            expect: Expect::Rows { min: 0, max: POINT_IDS as u32 },
        }
    }
}
