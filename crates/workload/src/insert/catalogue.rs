//! The statements of the insert benchmark, for counting one kind at a time.

use std::collections::BTreeMap;

use super::{
    Builder, CELLS_PER_TABLE, INDEXES, INSERT_BATCH, LOAD_BATCH, SMALL_BATCH, highest_id,
    lowest_id, table_name,
};
use crate::class::Class;
use crate::kinds::{Catalogue, Kind, Load, State};
use crate::request::{Expect, Statement};
use crate::step::Refresh;
use crate::{Dialect, Error};

/// The statements of the benchmark for one client, on a table of `rows` rows.
///
/// Inserts of 1, 5, 50 and 100 rows go into a table without secondary indexes, as in l.i0. Those of
/// l.i1 (50) and l.i2 (5), named `…-indexed`, go into one with indexes. Queries and deletes run
/// with the indexes.
///
/// # Errors
///
/// [`Error::TooOld`] if the server's version lacks partitions.
pub fn catalogue(plan: &plan::InsertPlan, rows: u64, dialect: Dialect) -> Result<Catalogue, Error> {
    let plan = plan::InsertPlan { rows, indexed_rows: 0, ..plan.clone() };
    let builder = Builder { plan: &plan, dop: 1, sql: dialect.sql("insert")? };
    let setup = builder.benchmark()?.setup;
    let name = table_name(0);
    let insert = |batch, state, suffix: &str| Kind {
        name: format!("insert-{batch}{suffix}"),
        class: Class::INSERT,
        request: builder.insert_statement(0, batch).into(),
        rows: u64::from(batch),
        state,
        reads_only: false,
        adds: None,
    };
    let mut kinds: Vec<Kind> = [1, SMALL_BATCH, INSERT_BATCH, LOAD_BATCH]
        .map(|batch| insert(batch, State::Loaded, ""))
        .into();
    let indexes = INDEXES.get(..plan.secondary_indexes as usize).unwrap_or_default();
    if !indexes.is_empty() {
        kinds.extend(
            [SMALL_BATCH, INSERT_BATCH].map(|batch| insert(batch, State::Indexed, "-indexed")),
        );
    }
    // The range queries are in the order of the indexes that answer them.
    kinds.extend(builder.range_statements(0).into_iter().zip(indexes).map(
        |(statement, (index, _))| Kind {
            name: format!("range-{index}"),
            class: Class::QUERY,
            request: statement.into(),
            rows: 0,
            state: State::Indexed,
            reads_only: true,
            adds: None,
        },
    ));
    kinds.push(Kind {
        name: "point".to_owned(),
        class: Class::QUERY,
        request: builder.point_statement(0).into(),
        rows: 0,
        state: State::Indexed,
        reads_only: true,
        adds: None,
    });
    kinds.push(Kind {
        name: format!("delete-{INSERT_BATCH}"),
        class: Class::DELETE,
        request: builder.delete_statement(0, INSERT_BATCH).into(),
        rows: u64::from(INSERT_BATCH),
        state: State::Indexed,
        reads_only: false,
        adds: Some((lowest_id(0), i64::from(INSERT_BATCH))),
    });
    Ok(Catalogue {
        setup,
        load: vec![Load {
            request: builder.insert_statement(0, LOAD_BATCH).into(),
            times: rows.div_ceil(u64::from(LOAD_BATCH)),
            adds: None,
        }],
        index: builder.index_table(0),
        cells: CELLS_PER_TABLE,
        refresh: Some(Refresh {
            every: 1,
            statement: Statement::plain(
                format!("SELECT min(transactionid), max(transactionid) FROM {name}"),
                Expect::Rows { min: 1, max: 1 },
            ),
            into: vec![lowest_id(0), highest_id(0)],
        }),
        config: BTreeMap::new(),
        kinds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(secondary_indexes: u32) -> Vec<String> {
        let plan = plan::InsertPlan { secondary_indexes, ..plan::InsertPlan::default() };
        let catalogue = catalogue(&plan, 20_000, Dialect::postgres(14)).unwrap();
        catalogue.kinds.into_iter().map(|kind| kind.name).collect()
    }

    #[test]
    fn every_statement_of_the_benchmark_is_a_kind() {
        assert_eq!(
            names(3),
            [
                "insert-1",
                "insert-5",
                "insert-50",
                "insert-100",
                "insert-5-indexed",
                "insert-50-indexed",
                "range-marketsegment",
                "range-registersegment",
                "range-pdc",
                "point",
                "delete-50"
            ]
        );
        assert_eq!(
            names(0),
            ["insert-1", "insert-5", "insert-50", "insert-100", "point", "delete-50"]
        );
    }

    #[test]
    fn the_table_is_filled_to_the_row() {
        let plan = plan::InsertPlan::default();
        let catalogue = catalogue(&plan, 20_000, Dialect::postgres(14)).unwrap();
        let [load] = &catalogue.load[..] else { panic!("{:?}", catalogue.load) };
        assert_eq!((load.request.expect(), load.times), (Expect::affected(100), 200));
        assert_eq!(catalogue.index.len(), 3);
        assert!(catalogue.setup[0].starts_with("CREATE TABLE pi1 "), "{:?}", catalogue.setup);
    }

    #[test]
    fn deletes_go_on_where_the_last_one_ended() {
        let plan = plan::InsertPlan::default();
        let catalogue = catalogue(&plan, 20_000, Dialect::postgres(14)).unwrap();
        let delete = catalogue.kinds.iter().find(|kind| kind.class == Class::DELETE).unwrap();
        assert_eq!(delete.adds, Some((lowest_id(0), 50)));
        assert_eq!(catalogue.refresh.unwrap().into[0], lowest_id(0));
    }
}
