//! The server's own counters, from SHOW GLOBAL STATUS and the tables that its version has.
//!
//! Of innodb_metrics, only what is enabled is read: to enable more would change what is measured.

use std::collections::BTreeMap;

use super::control::{Control, Table};
use super::monitor::Monitor;
use super::names::{bare, literal};
use super::{moved, rocks};
use crate::{Counter, Error, Snapshot, Sql};

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
    Ok(Snapshot {
        rows: into_counters(gathered.rows),
        state: into_counters(gathered.state),
        absent,
    })
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

/// Whether performance_schema counts accesses to tables.
fn waits_are_counted(control: &mut Control) -> Result<bool, Error> {
    Ok(control.variable("performance_schema")?.as_deref() == Some("ON"))
}

/// SQL of a list of tables' names.
pub(super) fn listed(objects: &[String]) -> String {
    objects.iter().map(|object| literal(&bare(object))).collect::<Vec<_>>().join(", ")
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

type Figures = BTreeMap<(String, String, String), f64>;

/// Figures by view, object and name: those that count up, and those that say how things are.
#[derive(Default)]
pub(super) struct Gathered {
    rows: Figures,
    state: Figures,
}

impl Gathered {
    /// Takes a figure under its name of today; what isn't a number is left out.
    pub(super) fn add(&mut self, view: &str, object: &str, name: &str, value: &str, state: bool) {
        let Some(value) = value.parse::<f64>().ok().filter(|value| value.is_finite()) else {
            return;
        };
        let (view, name) = moved::now(view, name);
        let key = (view.to_owned(), object.to_owned(), name.to_owned());
        let place =
            if state && !moved::counts_up(view, name) { &mut self.state } else { &mut self.rows };
        place.insert(key, value);
    }

    /// Adds to a figure, which counts from zero.
    pub(super) fn sum(&mut self, view: &str, object: &str, name: &str, value: f64, state: bool) {
        let key = (view.to_owned(), object.to_owned(), name.to_owned());
        let place = if state { &mut self.state } else { &mut self.rows };
        *place.entry(key).or_insert(0.0) += value;
    }

    /// Takes the enabled rows of innodb_metrics. Which these are is in the column STATUS in MySQL
    /// and older versions of MariaDB, in ENABLED in newer ones.
    fn add_metrics(&mut self, table: &Table) {
        let enabled = |row: &[Option<String>]| {
            let flag = table.value(row, "STATUS").or_else(|| table.value(row, "ENABLED"));
            matches!(flag, Some("enabled" | "1"))
        };
        for row in table.rows.iter().filter(|row| enabled(row)) {
            let (Some(name), Some(count)) = (table.value(row, "NAME"), table.value(row, "COUNT"))
            else {
                continue;
            };
            // A status variable of the same name has the same figure.
            let bare = name.trim_start_matches("innodb_").trim_start_matches("lock_");
            if self.has_status(&format!("Innodb_{bare}")) {
                continue;
            }
            let state = table.value(row, "TYPE") == Some("value") || moved::is_state(name);
            self.add(moved::METRICS, "", name, count, state);
        }
    }

    fn has_status(&self, name: &str) -> bool {
        let key = (moved::STATUS.to_owned(), String::new(), name.to_owned());
        self.rows.contains_key(&key) || self.state.contains_key(&key)
    }

    fn add_monitor(&mut self, monitor: Monitor) {
        for (name, value, state) in [
            ("lsn", monitor.lsn, false),
            ("checkpoint_lsn", monitor.checkpoint, false),
            ("checkpoint_age", monitor.age(), true),
            ("history_list_length", monitor.history, true),
        ] {
            // Some versions also have it elsewhere, and there only if it is enabled.
            let key = (moved::INNODB.to_owned(), String::new(), name.to_owned());
            self.rows.remove(&key);
            self.state.remove(&key);
            if let Some(value) = value {
                let place = if state { &mut self.state } else { &mut self.rows };
                place.insert(key, value);
            }
        }
    }

    /// Takes rows with the column `object` and counters in all others.
    fn add_columns(&mut self, view: &str, table: &Table) {
        for row in &table.rows {
            let Some(object) = table.value(row, "object") else { continue };
            for (name, value) in table.names.iter().zip(row) {
                if let Some(value) = value {
                    self.add(view, object, &name.to_ascii_lowercase(), value, false);
                }
            }
        }
    }
}

fn into_counters(figures: Figures) -> Vec<Counter> {
    let counter = |((view, object, name), value)| Counter { view, object, name, value };
    figures.into_iter().map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(text: &str) -> Snapshot {
        let mut gathered = Gathered::default();
        gathered.add_metrics(&Table::of_tsv(text));
        Snapshot {
            rows: into_counters(gathered.rows),
            state: into_counters(gathered.state),
            absent: Vec::new(),
        }
    }

    #[test]
    fn enabled_metrics_of_mysql_and_mariadb() {
        let mysql = metrics(include_str!("../../tests/fixtures/innodb-metrics-8.0.31.tsv"));
        let maria = metrics(include_str!("../../tests/fixtures/innodb-metrics-11.4.5.tsv"));
        let names = |rows: &[Counter]| rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&mysql.rows), ["dml_inserts", "lock_deadlocks"]);
        assert_eq!(mysql.get(moved::METRICS, "", "dml_inserts"), Some(174_042.0));
        // A value in MariaDB, although it counts up.
        assert_eq!(names(&maria.rows), ["buffer_pool_reads", "lock_deadlocks"]);
        for snapshot in [&mysql, &maria] {
            assert_eq!(names(&snapshot.state), ["history_list_length", "buffer_pool_pages_dirty"]);
        }
        assert_eq!(maria.get(moved::INNODB, "", "history_list_length"), Some(12.0));
    }

    #[test]
    fn what_is_a_status_variable_too_comes_once() {
        let mut gathered = Gathered::default();
        for name in ["Innodb_data_fsyncs", "Innodb_buffer_pool_reads", "Innodb_row_lock_time"] {
            gathered.add(moved::STATUS, "", name, "3", false);
        }
        gathered.add_metrics(&Table::of_tsv(
            "NAME\tCOUNT\tSTATUS\tTYPE\nos_data_fsyncs\t3\tenabled\tstatus_counter\n\
             buffer_pool_reads\t3\tenabled\tstatus_counter\n\
             lock_row_lock_time\t3\tenabled\tstatus_counter\n\
             lock_deadlocks\t1\tenabled\tcounter\n",
        ));
        let rows = into_counters(gathered.rows);
        let metrics: Vec<_> = rows.iter().filter(|row| row.view == moved::METRICS).collect();
        assert!(rows.len() == 4 && metrics.len() == 1, "{rows:?}");
        assert_eq!(metrics[0].name, "lock_deadlocks");
    }

    #[test]
    fn the_monitor_wins_over_a_figure_of_the_same_name() {
        let mut gathered = Gathered::default();
        gathered.add(moved::STATUS, "", "Innodb_lsn_current", "5", false);
        gathered.add(moved::STATUS, "", "Innodb_history_list_length", "7", true);
        gathered.add(moved::STATUS, "", "Rsa_public_key", "", false);
        gathered.add_monitor(Monitor { lsn: Some(9.0), ..Monitor::default() });
        let snapshot = Snapshot { rows: into_counters(gathered.rows), ..Snapshot::default() };
        assert_eq!(snapshot.get(moved::INNODB, "", "lsn"), Some(9.0));
        assert_eq!(snapshot.rows.len(), 1);
    }
}
