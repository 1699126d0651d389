//! The statements of the tests, for counting one kind at a time.

use std::collections::BTreeMap;

use super::builder::{Builder, INSERT, LOAD_BATCH, SCAN, WRITE};
use super::statements::{COUNT, DISTINCT, ORDER, SIMPLE, SUM, table_name};
use crate::class::Class;
use crate::draw::{Cell, Draw};
use crate::kinds::{Catalogue, Kind, Load, State};
use crate::request::{Expect, Piece, Statement};
use crate::sent::Sent;
use crate::step::Refresh;
use crate::{Dialect, Error};

/// The lowest id that is left.
const LOWEST: Cell = Cell(0);

/// The statements of all tests on one table of `rows` rows, rounded up to whole statements of the
/// load. A kind has the name of its test; the range queries of the transactions have names of their
/// own: `range-simple-100`. `BEGIN` and `COMMIT` are not kinds: they would put the following
/// statements into a transaction.
///
/// # Errors
/// [`Error::Unfit`] if the system does not speak SQL.
pub fn catalogue(
    plan: &plan::SysbenchPlan,
    rows: u64,
    dialect: Dialect,
) -> Result<Catalogue, Error> {
    let statements = rows.div_ceil(LOAD_BATCH);
    let plan = plan::SysbenchPlan { tables: 1, rows: statements * LOAD_BATCH, ..plan.clone() };
    let builder = Builder::new(&plan, dialect)?;
    let kind = |name: String, class: Class, statement: Statement| Kind {
        reads_only: class == Class::QUERY || class == SCAN,
        rows: u64::from(class == WRITE || class == INSERT),
        name,
        class,
        request: statement.into(),
        state: State::Indexed,
        adds: None,
    };
    let read = |name: &str, statement| kind(name.to_owned(), Class::QUERY, statement);
    let mut kinds = vec![read("point-query", builder.point(0))];
    for count in [10, 100, 1000] {
        let name = format!("random-points-{count}");
        kinds.push(read(&name, builder.points(0, "c", "id", count)));
    }
    kinds.push(read("hot-points", builder.hot_points(0)));
    for (cover, more) in [("covered", ""), ("notcovered", ", c")] {
        for (index, key) in [("pk", "id"), ("si", "k")] {
            let columns = format!("{key}{more}");
            let points = builder.points(0, &columns, key, 100);
            kinds.push(read(&format!("points-{cover}-{index}"), points));
            let range = builder.range(0, &columns, key);
            kinds.push(read(&format!("range-{cover}-{index}"), range));
        }
    }
    let ranges = [
        ("simple", SIMPLE),
        ("sum", SUM),
        ("order", ORDER),
        ("distinct", DISTINCT),
        ("count", COUNT),
    ];
    for size in [100, 1000] {
        for (name, ranged) in ranges {
            let name = format!("range-{name}-{size}");
            kinds.push(read(&name, builder.ranged(0, ranged, size)));
        }
    }
    kinds.push(kind("scan".to_owned(), SCAN, builder.scan(0)));
    let write = |name: &str, statement| kind(name.to_owned(), WRITE, statement);
    let inlist = write("update-inlist", builder.update_inlist(0, 100));
    kinds.push(Kind { rows: 100, ..inlist });
    kinds.push(write("update-index", builder.update_index(0, 1)));
    kinds.push(write("update-nonindex", builder.update_nonindex(0, builder.id(), 1)));
    // Each row once: the next one that is left.
    let delete = vec![
        Piece::Text(format!("DELETE FROM {} WHERE id=", table_name(0))),
        Piece::Value(Draw::Value(LOWEST)),
    ];
    let delete = Statement { pieces: delete, sent: Sent::Prepared, expect: Expect::affected(1) };
    kinds.push(Kind { adds: Some((LOWEST, 1)), ..write("delete", delete) });
    kinds.push(kind("insert".to_owned(), INSERT, builder.insert(0)));
    Ok(Catalogue {
        setup: builder.create_table(0),
        load: vec![Load {
            request: builder.insert_rows(0, LOAD_BATCH as u32).into(),
            times: statements,
            adds: None,
        }],
        index: vec![builder.create_index(0)],
        cells: 1,
        refresh: Some(Refresh {
            every: 1,
            statement: Statement::plain(
                format!("SELECT min(id) FROM {}", table_name(0)),
                Expect::Rows { min: 1, max: 1 },
            ),
            into: vec![LOWEST],
        }),
        config: BTreeMap::new(),
        kinds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_is_a_kind() {
        let plan = plan::SysbenchPlan::default();
        let catalogue = catalogue(&plan, 10_000, Dialect::postgres(15)).unwrap();
        let names: Vec<&str> = catalogue.kinds.iter().map(|kind| kind.name.as_str()).collect();
        for (place, name) in names.iter().enumerate() {
            assert!(!names[..place].contains(name), "{name}");
        }
        for name in ["point-query", "points-notcovered-si", "range-covered-pk", "range-sum-1000"] {
            assert!(names.contains(&name), "{names:?}");
        }
        let [load] = &catalogue.load[..] else { panic!("{:?}", catalogue.load) };
        assert_eq!((load.request.expect(), load.times), (Expect::affected(500), 20));
        assert_eq!(catalogue.index, ["CREATE INDEX k_1 ON sbtest1 (k)"]);
    }
}
