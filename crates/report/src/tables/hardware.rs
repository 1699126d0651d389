//! Hardware per operation, absolute and relative, one pair of tables per step.

use super::throughput::NOT_HELD;
use super::{VARIANT, View, columns, says_something};
use crate::figures::{absolute, ratio};
use crate::metrics::{COSTS, OPS, find};
use crate::number::{UNKNOWN, cost, or_unknown, rate, relative};
use crate::table::{Row, Section, Table};

/// The names that published insert benchmark reports use for the same figures.
const INSERT_NAMES: [(&str, &str); 5] = [
    ("cpu/o", "cpupq"),
    ("cs/o", "csecpq"),
    ("r/o", "rpq"),
    ("rKB/o", "rkbpq"),
    ("wKB/o", "wkbpi"),
];

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
        absolutes.columns = columns(VARIANT, COSTS.into_iter().chain([OPS]));
        let mut relatives = Table {
            id: format!("hardware.{label}.relative"),
            part: view.relative_part(),
            ..absolutes.clone()
        };
        let base = step.variant(view.judged.base);
        for (place, name, figures) in view.variants(number) {
            let shown = |metric: &str| absolute(step, view.judged.base, place, metric);
            let mut cells: Vec<String> =
                COSTS.iter().map(|metric| or_unknown(shown(metric), cost)).collect();
            let mark = if figures.rate_not_held() { "*" } else { "" };
            cells.push(or_unknown(shown(OPS), |value| format!("{}{mark}", rate(value))));
            if !mark.is_empty() && absolutes.notes.is_empty() {
                absolutes.notes.push(NOT_HELD.to_owned());
            }
            absolutes.rows.push(Row::new(name, cells).of_kind(view.kind(place)));
            if let Some(base) = base.filter(|_| place != view.judged.base) {
                let lost = figures.rate_not_held() || base.rate_not_held();
                let cells = COSTS.iter().chain([&OPS]).map(|metric| {
                    let mark = if lost && *metric == OPS { "*" } else { "" };
                    or_unknown(ratio(step, view.judged.base, place, metric), |r| {
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
            .map(|(_, metric)| *metric)
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
    let insert = view.results.experiment.workload == "insert";
    let mut legend: Vec<String> = COSTS
        .iter()
        .chain([&OPS])
        .map(|metric| {
            let meaning = find(metric).map_or("", |metric| metric.meaning);
            let published = INSERT_NAMES.iter().find(|(name, _)| name == metric).filter(|_| insert);
            match published {
                Some((_, name)) => format!("{metric} ({name}) - {meaning}"),
                None => format!("{metric} - {meaning}"),
            }
        })
        .collect();
    legend.push(view.means());
    legend
}
