//! Snapshots of a system's own counters, and their differences.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One figure at one time, or its change between two times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// Its view: `pg_stat_wal`.
    pub view: String,
    /// Its object: a table, `table/index`, `backend type/object/context`; empty for the whole
    /// server.
    pub object: String,
    /// Its name in the view: `wal_bytes`.
    pub name: String,
    /// The figure, in the system's unit.
    pub value: f64,
}

/// A system's counters at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The figures, in the order of view, object, name.
    pub rows: Vec<Counter>,
    /// Figures that describe the state at this time; their changes mean nothing.
    #[serde(default)]
    pub state: Vec<Counter>,
    /// Views that this version of the system does not have.
    pub absent: Vec<String>,
}

impl Snapshot {
    /// Changes since `earlier`. A new row (for a table or index created since) counts from zero; a
    /// row that is gone is left out. Gauges (such as `n_live_tup`) give their change, which may be
    /// negative.
    pub fn difference(&self, earlier: &Self) -> Vec<Counter> {
        let before: BTreeMap<(&str, &str, &str), f64> = earlier
            .rows
            .iter()
            .map(|row| ((&*row.view, &*row.object, &*row.name), row.value))
            .collect();
        self.rows
            .iter()
            .map(|row| {
                let start =
                    before.get(&(&*row.view, &*row.object, &*row.name)).copied().unwrap_or(0.0);
                Counter { value: row.value - start, ..row.clone() }
            })
            .collect()
    }

    /// The figure of one view, object and name.
    pub fn get(&self, view: &str, object: &str, name: &str) -> Option<f64> {
        let mut all = self.rows.iter().chain(&self.state);
        all.find(|row| row.view == view && row.object == object && row.name == name)
            .map(|row| row.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(object: &str, value: f64) -> Counter {
        Counter { view: "v".to_owned(), object: object.to_owned(), name: "n".to_owned(), value }
    }

    #[test]
    fn new_rows_count_from_zero_and_vanished_ones_are_left_out() {
        let of = |rows, state| Snapshot { rows, state, absent: Vec::new() };
        let earlier = of(vec![row("a", 10.0), row("gone", 5.0)], Vec::new());
        let later = of(vec![row("a", 12.5), row("new", 3.0)], vec![row("now", 7.0)]);
        assert_eq!(later.difference(&earlier), [row("a", 2.5), row("new", 3.0)]);
        assert_eq!(later.get("v", "new", "n"), Some(3.0));
        assert_eq!(later.get("v", "gone", "n"), None);
        assert_eq!(later.get("v", "now", "n"), Some(7.0));
    }
}
