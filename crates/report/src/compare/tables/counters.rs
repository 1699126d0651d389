//! The DBMS's own counters: how much each increased during a step. Rows are counters, columns are
//! variants.

use metrics::WAITS;

use super::view::View;
use crate::load::model::CounterFigure;
use crate::output::number::{UNKNOWN, count, or_unknown};
use crate::output::table::{Row, Section, Table, distinct, texts};
use crate::output::waits::spellings;

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, _, label) in view.steps() {
        let variants = view.variants(number);
        let counters = || variants.iter().flat_map(|(_, _, figures)| &figures.counters);
        for counted in distinct(counters().map(|counter| counter.view.as_str())) {
            let title = format!("{counted}: difference over {label}");
            let mut table = Table::of_step(Section::Counters, "counters", title, &label);
            table.id = format!("{}.{counted}", table.id);
            table.legend = vec![format!(
                "summed over databases, tables and indexes; counters that changed nowhere are left out; {}",
                view.over_blocks("medians")
            )];
            table.columns =
                texts(["counter"].into_iter().chain(variants.iter().map(|(_, name, _)| *name)));
            let of_view = counters().filter(|counter| counter.view == counted);
            let named = of_view.map(|counter| counter.name.as_str());
            let names: Vec<&str> = if counted == WAITS {
                spellings(named).into_values().collect()
            } else {
                distinct(named)
            };
            for name in names {
                let cells = variants.iter().map(|(_, _, figures)| {
                    let is_it =
                        |c: &&CounterFigure| c.view == counted && is_same(counted, &c.name, name);
                    let sum = figures.counters.iter().filter(is_it).map(|c| c.value);
                    or_unknown(sum.reduce(|sum, value| sum + value), count)
                });
                let row = Row::new(name, cells);
                if row.cells.iter().any(|cell| cell != "0" && cell != UNKNOWN) {
                    table.rows.push(row);
                }
            }
            let lacking = variants.iter().filter(|(_, _, v)| v.absent.contains(counted));
            table.notes = lacking.map(|(_, name, _)| format!("{name} has no {counted}")).collect();
            tables.extend(table.filled());
        }
    }
    tables
}

/// True if two names mean the same counter of a view.
fn is_same(view: &str, one: &str, other: &str) -> bool {
    one == other || view == WAITS && one.to_lowercase() == other.to_lowercase()
}
