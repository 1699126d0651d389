//! The paced streams beside the queries: what was asked for and what was reached.

use super::throughput::NOT_HELD;
use super::{VARIANT, View, says_something};
use crate::metrics::{DELETE_RATE, INSERT_RATE, INSERT_TARGET};
use crate::number::{or_unknown, rate};
use crate::table::{Row, RowKind, Section, Table};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let steps: Vec<usize> =
        (0..view.results.steps.len()).filter(|s| view.results.steps[*s].is_read_write()).collect();
    let streams = [
        ("rates.insert", "Insert rate", "inserts/s", INSERT_RATE),
        ("rates.delete", "Delete rate", "deletes/s", DELETE_RATE),
    ];
    let mut tables: Vec<Table> = streams
        .into_iter()
        .map(|(id, title, unit, metric)| stream(view, &steps, id, title, unit, metric))
        .collect();
    tables.retain(|table| {
        // The target alone says nothing.
        let mut measured = table.clone();
        measured.rows.retain(|row| row.label != TARGET);
        says_something(&measured)
    });
    tables
}

const TARGET: &str = "target";

fn stream(
    view: View<'_>,
    steps: &[usize],
    id: &str,
    title: &str,
    unit: &str,
    metric: &str,
) -> Table {
    let mut table = Table::new(Section::Rates, id, title);
    table.legend = vec![
        format!("{unit} (rows) beside the queries, over all clients: {}", view.blocks()),
        "target: what the step asks for".to_owned(),
    ];
    let shown = || steps.iter().filter_map(|step| view.results.steps.get(*step));
    table.columns = std::iter::once(VARIANT.to_owned())
        .chain(shown().map(|step| view.results.step_label(step)))
        .collect();
    let targets = shown().map(|step| {
        let target = step.variants.iter().find_map(|v| v.median(INSERT_TARGET));
        or_unknown(target, rate)
    });
    table.rows.push(Row::new(TARGET, targets.collect()));
    for place in view.order() {
        let mut marked = false;
        let cells = shown().map(|step| {
            let figures = step.variant(place);
            let lost = metric == INSERT_RATE && figures.is_some_and(|f| f.rate_not_held());
            marked |= lost;
            let mark = if lost { "*" } else { "" };
            or_unknown(figures.and_then(|f| f.median(metric)), |v| format!("{}{mark}", rate(v)))
        });
        let row = Row::new(view.results.variant_name(place), cells.collect());
        table.rows.push(row.of_kind(if marked { Some(RowKind::Marked) } else { view.kind(place) }));
        if marked && table.notes.is_empty() {
            table.notes.push(NOT_HELD.to_owned());
        }
    }
    if view.rows_are_steps { table.transposed("step") } else { table }
}
