//! Sizes of tables and indexes at the end of each step.

use super::{VARIANT, View, columns, says_something};
use crate::number::{megabytes, or_unknown};
use crate::table::{Row, Section, Table};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, step) in view.results.steps.iter().enumerate() {
        let label = view.results.step_label(step);
        let mut table = Table::new(
            Section::Size,
            format!("size.{label}"),
            format!("Table and index sizes: at the end of {label}"),
        );
        table.step = Some(label);
        table.legend = vec![
            format!("all sizes are in MB unless indicated with G (for GB); {}", view.blocks()),
            "index is value from pg_indexes_size".to_owned(),
            "rel is value from pg_relation_size".to_owned(),
            "total is value from pg_total_relation_size".to_owned(),
        ];
        table.columns = columns(VARIANT, ["index", "rel", "total"]);
        for (place, name, figures) in view.variants(number) {
            let size = |name| figures.sizes.get(name).map(|bytes| *bytes as f64);
            let cells = ["index", "rel", "total"].map(|name| or_unknown(size(name), megabytes));
            let cells = cells.into();
            table.rows.push(Row::new(name, cells).of_kind(view.kind(place)));
        }
        tables.extend(Some(table).filter(says_something));
    }
    tables
}
