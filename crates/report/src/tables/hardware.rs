//! Hardware per operation, absolute and relative, one pair of tables per step.

use metrics::{COSTS, Metric, OPS};

use super::throughput::NOT_HELD;
use super::{VARIANT, View, columns, says_something};
use crate::figures::{absolute, ratio};
use crate::number::{UNKNOWN, cost, or_unknown, rate, relative};
use crate::table::{Row, Section, Table};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, step) in view.results.steps.iter().enumerate() {
        let label = view.results.step_label(step);
        let mut absolutes = Table::new(
            Section::Hardware,
            format!("hardware.{label}.absolute"),
            format!("Hardware per operation: {label}"),
        );
        absolutes.step = Some(label.clone());
        absolutes.part = "absolute".to_owned();
        absolutes.legend = legend(view);
        absolutes.columns =
            columns(VARIANT, COSTS.into_iter().chain([&OPS]).map(|metric| metric.name));
        let mut relatives = Table {
            id: format!("hardware.{label}.relative"),
            part: view.relative_part(),
            ..absolutes.clone()
        };
        let base = step.variant(view.judged.base);
        for (place, name, figures) in view.variants(number) {
            let shown = |metric: &Metric| absolute(step, view.judged.base, place, metric.name);
            let mut cells: Vec<String> =
                COSTS.iter().map(|metric| or_unknown(shown(metric), cost)).collect();
            let mark = if figures.rate_not_held() { "*" } else { "" };
            cells.push(or_unknown(shown(&OPS), |value| format!("{}{mark}", rate(value))));
            if !mark.is_empty() && absolutes.notes.is_empty() {
                absolutes.notes.push(NOT_HELD.to_owned());
            }
            absolutes.rows.push(Row::new(name, cells).of_kind(view.kind(place)));
            if let Some(base) = base.filter(|_| place != view.judged.base) {
                let lost = figures.rate_not_held() || base.rate_not_held();
                let cells = COSTS.into_iter().chain([&OPS]).map(|metric| {
                    let mark = if lost && metric.name == OPS.name { "*" } else { "" };
                    or_unknown(ratio(step, view.judged.base, place, metric.name), |r| {
                        format!("{}{mark}", relative(r))
                    })
                });
                let cells = cells.collect();
                relatives.rows.push(Row::new(name, cells));
            }
        }
        let lacking: Vec<&str> = COSTS
            .iter()
            .enumerate()
            .filter(|(column, _)| {
                absolutes
                    .rows
                    .iter()
                    .any(|row| row.cells.get(*column).is_some_and(|c| c == UNKNOWN))
            })
            .map(|(_, metric)| metric.name)
            .collect();
        if !lacking.is_empty() {
            let note = format!("{UNKNOWN} could not be measured: {}", lacking.join(", "));
            absolutes.notes.push(note);
            for (_, name, figures) in view.variants(number) {
                absolutes.notes.extend(figures.notes.iter().map(|note| format!("{name}: {note}")));
            }
        }
        tables.extend([absolutes, relatives].into_iter().filter(says_something));
    }
    tables
}

fn legend(view: View<'_>) -> Vec<String> {
    let mut legend: Vec<String> = COSTS
        .into_iter()
        .chain([&OPS])
        .map(|Metric { name, published, meaning, .. }| match *published {
            "" => format!("{name} - {meaning}"),
            published => format!("{name} ({published}) - {meaning}"),
        })
        .collect();
    legend.push(view.means());
    legend
}
