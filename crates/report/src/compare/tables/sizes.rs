//! Sizes of tables and indexes at the end of each step.

use std::collections::BTreeSet;

use super::view::{VARIANT, View};
use crate::output::number::{megabytes, or_unknown};
use crate::output::table::{Section, Table, texts};

/// Everything on disk besides tables, then the total, in display order.
const BESIDES: [&str; 8] =
    ["wal", "redo", "undo", "system", "temporary", "binlog", "other", "disk"];

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, step, label) in view.steps() {
        let title = format!("Table and index sizes: at the end of {label}");
        let mut table = Table::of_step(Section::Size, "size", title, &label).explained([
            &format!("all sizes are in MB unless marked G (GB); {}", view.over_blocks("medians")),
            "index: all indexes; rel: only the tables; total: everything that belongs to them",
        ]);
        let sizes: BTreeSet<&str> =
            step.variants.iter().flat_map(|v| v.sizes.keys().map(String::as_str)).collect();
        let mut sizes: Vec<&str> = sizes.into_iter().collect();
        sizes.sort_by_key(|size| BESIDES.iter().position(|known| known == size));
        if sizes.contains(&"disk") {
            table.legend.push(
                "disk: all files, which total and the columns between add up to; system: the \
                 server's own tablespaces, in old versions with undo; other: all other files"
                    .to_owned(),
            );
        }
        table.columns = texts([VARIANT].into_iter().chain(sizes.iter().copied()));
        for (place, _, figures) in view.variants(number) {
            let cell = |size: &&str| {
                or_unknown(figures.sizes.get(*size).map(|bytes| *bytes as f64), megabytes)
            };
            table.rows.push(view.row(place, sizes.iter().map(cell)));
        }
        tables.extend(Some(table).filter(Table::says_something));
    }
    tables
}
