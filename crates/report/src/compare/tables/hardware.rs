//! Costs per operation and the events that perf counted: a pair of tables per step, absolute and
//! relative.

use metrics::{COSTS, EVENT, EVENTS, Metric, OPS};

use super::throughput::{NOT_HELD, quotient};
use super::view::{VARIANT, View};
use crate::judging::figures::{absolute, ratio_cell};
use crate::output::number::{UNKNOWN, cost, or_unknown, rate};
use crate::output::table::{Row, Section, Table, has_content, texts};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let all: Vec<&Metric> = COSTS.into_iter().chain([&OPS]).collect();
    let named = |metric: &Metric| match *metric {
        Metric { name, published: "", meaning, .. } => format!("{name} - {meaning}"),
        Metric { name, published, meaning, .. } => format!("{name} ({published}) - {meaning}"),
    };
    let legend: Vec<String> = all
        .iter()
        .map(|metric| named(metric))
        .chain([view.over_blocks("geometric means")])
        .collect();
    let mut tables = Vec::new();
    for (number, step, label) in view.steps() {
        let headings: Vec<(&str, String)> =
            all.iter().map(|metric| (metric.name, metric.name.to_owned())).collect();
        let title = format!("Hardware per operation: {label}");
        let mut table = Table::of_step(Section::Hardware, "hardware", title, &label);
        table.legend.clone_from(&legend);
        let [mut absolutes, mut relatives] = pair(view, number, table, &headings);
        // Otherwise the throughput table has shown it.
        if !view.shows(Section::Relative) {
            let variants = view.variants(number).into_iter();
            let said = variants.filter_map(|(place, ..)| quotient(view, number, place));
            relatives.notes.extend(said);
        }
        if step.variants.iter().any(|figures| !figures.not_held().is_empty()) {
            absolutes.notes.push(NOT_HELD.to_owned());
        }
        let unknown =
            |column: &usize| absolutes.rows.iter().any(|row| row.cells[*column] == UNKNOWN);
        let lacking: Vec<&str> =
            (0..COSTS.len()).filter(unknown).map(|column| COSTS[column].name).collect();
        if !lacking.is_empty() {
            let note = format!("{UNKNOWN} could not be measured: {}", lacking.join(", "));
            absolutes.notes.push(note);
            for (_, name, figures) in view.variants(number) {
                absolutes.notes.extend(figures.notes.iter().map(|note| format!("{name}: {note}")));
            }
        }
        tables.extend([absolutes, relatives].into_iter().filter(has_costs));
    }
    tables.extend(events(view).into_iter().filter(Table::says_something));
    tables
}

/// True if a table has more than the throughput, which is in its last column.
fn has_costs(table: &Table) -> bool {
    let mut costs = table.rows.iter().flat_map(|row| row.cells.iter().take(COSTS.len()));
    costs.any(|cell| has_content(cell))
}

fn events(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, step, label) in view.steps() {
        // An event that no variant has is one this machine can't count.
        let known = |event: &str| step.variants.iter().any(|v| !v.values(event).is_empty());
        let counted: Vec<(&str, String)> = EVENTS
            .iter()
            .map(|event| (*event, EVENT.of(event)))
            .filter(|(_, e)| known(e))
            .collect();
        let title = format!("Events per operation: {label}");
        let table = Table::of_step(Section::Hardware, "events", title, &label).explained([
            "of the DBMS's processes, per operation, counted by perf outside the measured time; task-clock in milliseconds of CPU",
            &view.over_blocks("geometric means"),
        ]);
        tables.extend(pair(view, number, table, &counted));
    }
    tables
}

/// The absolute and the relative table; `metrics`: heading and name.
fn pair(view: View<'_>, number: usize, mut table: Table, metrics: &[(&str, String)]) -> [Table; 2] {
    table.columns = texts([VARIANT].into_iter().chain(metrics.iter().map(|(heading, _)| *heading)));
    let [mut absolutes, mut relatives] = table.in_two_parts();
    let base = view.judged.base;
    for (place, name, figures) in view.variants(number) {
        let step = &view.results.steps[number];
        let shown = |(_, metric): &(&str, String)| {
            let value = absolute(step, base, place, metric);
            if metric != OPS.name {
                return or_unknown(value, cost);
            }
            let mark = if figures.not_held().is_empty() { "" } else { "*" };
            or_unknown(value, |value| format!("{}{mark}", rate(value)))
        };
        absolutes.rows.push(view.row(place, metrics.iter().map(shown)));
        if place == base {
            continue;
        }
        let lost = !view.judged.not_held(step, place).is_empty();
        let beside = |(_, metric): &(&str, String)| {
            let mark = if lost && metric == OPS.name { "*" } else { "" };
            let ratio = view.judged.ratio_of(view.results, number, place, metric);
            ratio_cell(ratio, mark)
        };
        relatives.rows.push(Row::new(name, metrics.iter().map(beside)));
    }
    [absolutes, relatives]
}
