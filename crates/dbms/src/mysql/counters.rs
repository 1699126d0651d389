//! The server's own counters, from SHOW GLOBAL STATUS and the tables that its version has.
//!
//! Only the enabled rows of innodb_metrics are read, because enabling more would change what is
//! measured.

use super::control::Control;
use super::gathered::Gathered;
use super::monitor::Monitor;
use super::names::listed;
use super::{moved, rocks};
use crate::{Error, Snapshot, Sql};

/// Counters per table and index, if performance_schema is on: table, columns of the object, and
/// what else identifies the rows.
const TABLE_WAITS: &str = "table_io_waits_summary_by_table";
const INDEX_WAITS: &str = "table_io_waits_summary_by_index_usage";

/// All counters; `objects` are tables of the connection's database.
pub(super) fn snapshot(control: &mut Control, objects: &[String]) -> Result<Snapshot, Error> {
    let existing = existing_tables(control)?;
    let has = |name: &str| existing.iter().any(|found| found.eq_ignore_ascii_case(name));
    let mut gathered = Gathered::default();
    let mut absent = Vec::new();

    for (name, value) in control.pairs("SHOW GLOBAL STATUS")? {
        gathered.add(moved::STATUS, "", &name, &value, moved::is_state(&name));
    }
    if has(moved::METRICS) {
        let metrics = control.table("SELECT * FROM information_schema.innodb_metrics")?;
        gathered.add_metrics(&metrics);
    } else {
        absent.push(moved::METRICS.to_owned());
    }
    // Last, so its figures win over others of the same name.
    gathered.add_monitor(Monitor::ask(control)?);
    if !objects.is_empty() {
        let waits = waits_are_counted(control)?;
        for (view, query) in
            [(TABLE_WAITS, table_query(objects)), (INDEX_WAITS, index_query(objects))]
        {
            if waits && has(view) {
                gathered.add_columns(view, &control.table(&query)?);
            } else {
                absent.push(view.to_owned());
            }
        }
    }
    if has(rocks::DDL) {
        rocks::count(control, objects, &has, &mut gathered, &mut absent)?;
    }
    Ok(gathered.into_snapshot(absent))
}

/// Those tables of the server's that not every version has.
fn existing_tables(control: &mut Control) -> Result<Vec<String>, Error> {
    let rows = control.query_rows(
        "SELECT table_name FROM information_schema.tables WHERE \
         table_schema = 'information_schema' AND table_name LIKE 'ROCKSDB%' OR \
         table_schema = 'information_schema' AND table_name = 'INNODB_METRICS' OR \
         table_schema = 'performance_schema' AND table_name LIKE 'table_io_waits_summary_by_%'",
    )?;
    Ok(rows.into_iter().flatten().flatten().collect())
}

/// True if performance_schema counts accesses to tables.
fn waits_are_counted(control: &mut Control) -> Result<bool, Error> {
    Ok(control.variable("performance_schema")?.as_deref() == Some("ON"))
}

fn table_query(objects: &[String]) -> String {
    format!(
        "SELECT object_name AS object, count_read, count_write, count_fetch, count_insert, \
         count_update, count_delete, sum_timer_wait FROM performance_schema.{TABLE_WAITS} \
         WHERE object_schema = database() AND object_name IN ({})",
        listed(objects)
    )
}

/// The row without an index counts accesses that used none.
fn index_query(objects: &[String]) -> String {
    format!(
        "SELECT concat(object_name, '/', index_name) AS object, count_read, count_write, \
         count_fetch, count_insert, count_update, count_delete, sum_timer_wait \
         FROM performance_schema.{INDEX_WAITS} WHERE object_schema = database() \
         AND index_name IS NOT NULL AND object_name IN ({})",
        listed(objects)
    )
}
