//! Hardware per operation, absolute and relative, one pair of tables per step.

use super::throughput::NOT_HELD;
use super::{VARIANT, View, columns, says_something};
use crate::figures::ratio;
use crate::metrics::{COSTS, OPS};
use crate::number::{UNKNOWN, cost, or_unknown, rate, relative};
use crate::table::{Row, Section, Table};

const MEANING: [(&str, &str); 8] = [
    ("cpu/o", "CPU per operation: us + sy of the whole host in percent / (o/s); not microseconds"),
    ("cs/o", "context switches per operation"),
    ("r/o", "reads from storage per operation"),
    ("rKB/o", "KB read from storage per operation"),
    ("wKB/o", "KB written to storage per operation"),
    ("dbms.cpu/o", "CPU microseconds per operation of the DBMS's processes alone"),
    ("client.cpu/o", "CPU microseconds per operation of the benchmark client alone"),
    ("o/s", "operations/s, throughput"),
];

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
        let mut absolute = Table::new(
            Section::Hardware,
            format!("hardware.{label}.absolute"),
            format!("Hardware per operation: {label}"),
        );
        absolute.step = Some(label.clone());
        absolute.part = "absolute".to_owned();
        absolute.legend = legend(view);
        absolute.columns = columns(VARIANT, COSTS.into_iter().chain([OPS]));
        let mut relatives = Table {
            id: format!("hardware.{label}.relative"),
            part: view.relative_part(),
            ..absolute.clone()
        };
        let base = step.variant(view.judged.base);
        for (place, name, figures) in view.variants(number) {
            let mut cells: Vec<String> =
                COSTS.iter().map(|metric| or_unknown(figures.median(metric), cost)).collect();
            let mark = if figures.rate_not_held() { "*" } else { "" };
            cells.push(or_unknown(figures.median(OPS), |value| format!("{}{mark}", rate(value))));
            if !mark.is_empty() && absolute.notes.is_empty() {
                absolute.notes.push(NOT_HELD.to_owned());
            }
            absolute.rows.push(Row::new(name, cells).of_kind(view.kind(place)));
            if let Some(base) = base.filter(|_| place != view.judged.base) {
                let lost = figures.rate_not_held() || base.rate_not_held();
                let cells = COSTS.iter().chain([&OPS]).map(|metric| {
                    let mark = if lost && *metric == OPS { "*" } else { "" };
                    or_unknown(ratio(base, figures, metric), |r| format!("{}{mark}", relative(r)))
                });
                let cells = cells.collect();
                relatives.rows.push(Row::new(name, cells));
            }
        }
        let lacking: Vec<&str> = COSTS
            .iter()
            .enumerate()
            .filter(|(column, _)| {
                absolute.rows.iter().any(|row| row.cells.get(*column).is_some_and(|c| c == UNKNOWN))
            })
            .map(|(_, metric)| *metric)
            .collect();
        if !lacking.is_empty() {
            let note = format!("{UNKNOWN} could not be measured: {}", lacking.join(", "));
            absolute.notes.push(note);
            for (_, name, figures) in view.variants(number) {
                absolute.notes.extend(figures.notes.iter().map(|note| format!("{name}: {note}")));
            }
        }
        tables.extend([absolute, relatives].into_iter().filter(says_something));
    }
    tables
}

fn legend(view: View<'_>) -> Vec<String> {
    let insert = view.results.experiment.workload == "insert";
    let mut legend: Vec<String> = MEANING
        .iter()
        .map(|(metric, meaning)| {
            let published = INSERT_NAMES.iter().find(|(name, _)| name == metric).filter(|_| insert);
            match published {
                Some((_, name)) => format!("{metric} ({name}) - {meaning}"),
                None => format!("{metric} - {meaning}"),
            }
        })
        .collect();
    legend.push(view.blocks());
    legend
}
