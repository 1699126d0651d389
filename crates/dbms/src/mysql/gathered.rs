//! Figures gathered for a snapshot, each under its name of today.

use std::collections::BTreeMap;

use super::control::Table;
use super::monitor::Monitor;
use super::moved;
use crate::{Counter, Snapshot};

type Figures = BTreeMap<(String, String, String), f64>;

/// Figures by view, object and name: those that count up, and those that say how things are.
#[derive(Default)]
pub(super) struct Gathered {
    rows: Figures,
    state: Figures,
}

impl Gathered {
    /// Takes a figure under its current name; text that isn't a number is left out.
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
    pub(super) fn add_metrics(&mut self, table: &Table) {
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

    pub(super) fn add_monitor(&mut self, monitor: Monitor) {
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
    pub(super) fn add_columns(&mut self, view: &str, table: &Table) {
        for row in &table.rows {
            let Some(object) = table.value(row, "object") else { continue };
            for (name, value) in table.names.iter().zip(row) {
                if let Some(value) = value {
                    self.add(view, object, &name.to_ascii_lowercase(), value, false);
                }
            }
        }
    }

    /// Everything gathered; views in `absent` are those that the server lacks.
    pub(super) fn into_snapshot(self, absent: Vec<String>) -> Snapshot {
        let [rows, state] = [self.rows, self.state].map(into_counters);
        Snapshot { rows, state, absent }
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
        gathered.into_snapshot(Vec::new())
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
        let rows = gathered.into_snapshot(Vec::new()).rows;
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
        let snapshot = gathered.into_snapshot(Vec::new());
        assert_eq!(snapshot.get(moved::INNODB, "", "lsn"), Some(9.0));
        assert_eq!(snapshot.rows.len(), 1);
    }
}
