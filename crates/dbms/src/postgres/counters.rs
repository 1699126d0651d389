//! The server's own counters, from the statistics views that its version has.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::control::{APPLICATION, Control};
use super::moved;
use super::tables::tree;
use crate::{Counter, Error, Snapshot, Sql};

/// Views with one row, or with rows distinguished by the named columns.
const SERVER_VIEWS: [(&str, &str, &str); 5] = [
    ("pg_stat_bgwriter", "''", "true"),
    ("pg_stat_checkpointer", "''", "true"),
    ("pg_stat_wal", "''", "true"),
    ("pg_stat_io", moved::IO_OBJECT, "object <> 'wal'"),
    ("pg_stat_database", "''", "datname = current_database()"),
];

/// Views with a row per table.
const TABLE_VIEWS: [&str; 2] = ["pg_stat_all_tables", "pg_statio_all_tables"];

/// The view with a row per index.
const INDEX_VIEW: &str = "pg_stat_all_indexes";

/// From 15 on, statistics are in shared memory.
const SHARED_SINCE: u32 = 150_000;

/// Before, a separate process collects them and writes them to a file when a session reads them,
/// unless it has one that is at most 500 ms old (PGSTAT_STAT_INTERVAL in pgstat.c of PostgreSQL
/// 14).
const COLLECTOR_WAIT: Duration = Duration::from_millis(550);

/// How long to wait while none of the sessions ends whose clients have closed their connections.
const EXIT_WAIT: Duration = Duration::from_millis(150);

/// All counters; those of `tables` include partitions, summed under the given name.
pub(super) fn snapshot(control: &mut Control, tables: &[String]) -> Result<Snapshot, Error> {
    let version = control.version()?;
    await_statistics(control, version)?;
    let existing = existing_views(control)?;
    let mut gathered = Gathered::default();
    let mut absent = Vec::new();
    for (view, object, condition) in SERVER_VIEWS {
        if existing.iter().any(|name| name == view) {
            let sql = format!(
                "SELECT {object}, to_jsonb(t)::text FROM pg_catalog.{view} t WHERE {condition}"
            );
            gathered.add(view, &control.query_rows(&sql)?)?;
        } else {
            absent.push(view.to_owned());
        }
    }
    if version >= moved::WAL_IO_SINCE {
        gathered.add("pg_stat_wal", &control.query_rows(moved::WAL_IO)?)?;
        gathered.add(moved::WAL_VIEW, &control.query_rows(&moved::wal_rows())?)?;
    }
    absent.retain(|view| !gathered.has(view));
    if !tables.is_empty() {
        let tree = tree(tables);
        for view in TABLE_VIEWS {
            let sql = format!(
                "WITH RECURSIVE {tree} SELECT tree.root, to_jsonb(t)::text \
                 FROM pg_catalog.{view} t JOIN tree USING (relid)"
            );
            gathered.add(view, &control.query_rows(&sql)?)?;
        }
        gathered.add(INDEX_VIEW, &control.query_rows(&index_query(&tree))?)?;
    }
    control.has_read_statistics();
    Ok(Snapshot { rows: gathered.into_rows(), state: Vec::new(), absent })
}

/// Waits until what is read next has all that clients did who have closed their connections.
fn await_statistics(control: &mut Control, version: u32) -> Result<(), Error> {
    // A session hands over its last statistics when it ends, and leaves this view after that. Those
    // of other roles may not be shown.
    let others = format!(
        "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE client_port IS NOT NULL \
         AND application_name <> '{APPLICATION}'"
    );
    let (mut fewest, mut since) = (i64::MAX, Instant::now());
    while fewest > 0 && since.elapsed() < EXIT_WAIT {
        let now = control.query_i64(&others)?;
        if now < fewest {
            (fewest, since) = (now, Instant::now());
        } else {
            sleep(EXIT_WAIT / 15);
        }
    }
    if version >= SHARED_SINCE {
        // With the end of the next statement, this reports what the control connection itself has
        // done.
        return control.execute("SELECT pg_stat_force_next_flush()").map(drop);
    }
    sleep(COLLECTOR_WAIT.saturating_sub(control.since_statistics().unwrap_or(COLLECTOR_WAIT)));
    // Another session may have had the file written just before.
    if control.text("SELECT pg_stat_get_snapshot_timestamp() >= now()")? != "t" {
        sleep(COLLECTOR_WAIT);
    }
    Ok(())
}

/// Rows of the index view under `table/index`, the indexes of partitions under the name of the
/// partitioned index they belong to.
fn index_query(tree: &str) -> String {
    format!(
        "WITH RECURSIVE {tree}, family (name, indexrelid) AS (\
         SELECT c.relname::text, x.indexrelid FROM pg_catalog.pg_index x \
         JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid JOIN tree ON tree.relid = x.indrelid \
         WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhrelid = x.indexrelid) \
         UNION ALL SELECT family.name, i.inhrelid FROM pg_catalog.pg_inherits i \
         JOIN family ON i.inhparent = family.indexrelid) \
         SELECT tree.root || '/' || coalesce(family.name, t.indexrelname::text), to_jsonb(t)::text \
         FROM pg_catalog.{INDEX_VIEW} t JOIN tree USING (relid) LEFT JOIN family USING (indexrelid)"
    )
}

fn existing_views(control: &mut Control) -> Result<Vec<String>, Error> {
    let names: Vec<String> = SERVER_VIEWS.iter().map(|(view, _, _)| format!("'{view}'")).collect();
    let rows = control.query_rows(&format!(
        "SELECT relname FROM pg_catalog.pg_class WHERE relnamespace = 'pg_catalog'::regnamespace \
         AND relname IN ({})",
        names.join(", ")
    ))?;
    Ok(rows.into_iter().flatten().flatten().collect())
}

/// Figures summed by view, object and name.
#[derive(Default)]
struct Gathered(BTreeMap<(String, String, String), f64>);

impl Gathered {
    /// Takes rows of (object, JSON of the view's row); every numeric column is a counter. Ids come
    /// as text in that JSON and times as text too, so both are left out.
    fn add(&mut self, view: &str, rows: &[Vec<Option<String>>]) -> Result<(), Error> {
        for row in rows {
            let [Some(object), Some(json)] = row.as_slice() else { continue };
            let columns: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json)
                .map_err(|error| Error::answer(format!("a row of {view} as JSON"), error))?;
            let block = columns.get("op_bytes").and_then(|size| size.as_f64());
            for (name, value) in &columns {
                if let Some(value) = value.as_f64() {
                    let (view, name, times) = moved::now(view, name, block);
                    let key = (view.to_owned(), object.clone(), name.to_owned());
                    *self.0.entry(key).or_insert(0.0) += value * times;
                }
            }
        }
        Ok(())
    }

    fn has(&self, view: &str) -> bool {
        self.0.keys().any(|(known, ..)| known == view)
    }

    fn into_rows(self) -> Vec<Counter> {
        self.0
            .into_iter()
            .map(|((view, object, name), value)| Counter { view, object, name, value })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_summed_and_the_rest_left_out() {
        let mut gathered = Gathered::default();
        let row = |json: &str| vec![Some("pi1".to_owned()), Some(json.to_owned())];
        let rows = [
            row(
                r#"{"relid": "16385", "n_tup_ins": 5, "last_vacuum": null, "schemaname": "public"}"#,
            ),
            row(r#"{"relid": "16390", "n_tup_ins": 7.5}"#),
            vec![None, None],
        ];
        gathered.add("pg_stat_all_tables", &rows).unwrap();
        let rows = gathered.into_rows();
        assert_eq!(rows.len(), 1);
        let snapshot = Snapshot { rows, ..Snapshot::default() };
        assert_eq!(snapshot.get("pg_stat_all_tables", "pi1", "n_tup_ins"), Some(12.5));
    }
}
