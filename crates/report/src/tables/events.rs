//! Events per operation as perf counted them, absolute and relative, one pair of tables per step that has any.

use super::{VARIANT, View, columns, says_something};
use crate::figures::ratio;
use crate::metrics::EVENTS;
use crate::number::{cost, or_unknown, relative};
use crate::table::{Row, Section, Table};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, step) in view.results.steps.iter().enumerate() {
        // What no variant has this machine does not count.
        let counted: Vec<&str> = EVENTS
            .into_iter()
            .filter(|event| step.variants.iter().any(|v| v.median(event).is_some()))
            .collect();
        if counted.is_empty() {
            continue;
        }
        let label = view.results.step_label(step);
        let mut absolute = Table::new(
            Section::Hardware,
            format!("events.{label}.absolute"),
            format!("Events per operation: {label}"),
        );
        absolute.step = Some(label.clone());
        absolute.part = "absolute".to_owned();
        absolute.legend = legend(view);
        absolute.columns = columns(VARIANT, counted.iter().map(|event| name(event)));
        let mut relatives = Table {
            id: format!("events.{label}.relative"),
            part: view.relative_part(),
            ..absolute.clone()
        };
        let base = step.variant(view.judged.base);
        for (place, variant, figures) in view.variants(number) {
            let cells = counted.iter().map(|event| or_unknown(figures.median(event), cost));
            absolute.rows.push(Row::new(variant, cells.collect()).of_kind(view.kind(place)));
            if let Some(base) = base.filter(|_| place != view.judged.base) {
                let cells =
                    counted.iter().map(|event| or_unknown(ratio(base, figures, event), relative));
                relatives.rows.push(Row::new(variant, cells.collect()));
            }
        }
        tables.extend([absolute, relatives].into_iter().filter(says_something));
    }
    tables
}

/// An event's name as perf has it.
pub(crate) fn name(metric: &str) -> &str {
    metric.trim_start_matches("perf.").trim_end_matches("/o")
}

fn legend(view: View<'_>) -> Vec<String> {
    vec![
        "of the DBMS's processes, per operation, counted by perf beside what is measured; task-clock in milliseconds of CPU"
            .to_owned(),
        view.blocks(),
    ]
}
