//! Events per operation as perf counted them, absolute and relative, one pair of tables per step that has any.

use super::{VARIANT, View, columns, says_something};
use crate::figures::{absolute, ratio};
use crate::number::{cost, or_unknown, relative};
use crate::table::{Row, Section, Table};
use metrics::{EVENT, EVENTS};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, step) in view.results.steps.iter().enumerate() {
        // What no variant has this machine does not count.
        let known = |event: &str| step.variants.iter().any(|v| !v.values(event).is_empty());
        let counted: Vec<&str> =
            EVENTS.into_iter().filter(|event| known(&EVENT.of(event))).collect();
        if counted.is_empty() {
            continue;
        }
        let label = view.results.step_label(step);
        let mut absolutes = Table::new(
            Section::Hardware,
            format!("events.{label}.absolute"),
            format!("Events per operation: {label}"),
        );
        absolutes.step = Some(label.clone());
        absolutes.part = "absolute".to_owned();
        absolutes.legend = legend(view);
        absolutes.columns = columns(VARIANT, counted.iter().copied());
        let mut relatives = Table {
            id: format!("events.{label}.relative"),
            part: view.relative_part(),
            ..absolutes.clone()
        };
        for (place, variant, _) in view.variants(number) {
            let shown = |event: &str| absolute(step, view.judged.base, place, &EVENT.of(event));
            let cells = counted.iter().map(|event| or_unknown(shown(event), cost));
            absolutes.rows.push(Row::new(variant, cells.collect()).of_kind(view.kind(place)));
            if place != view.judged.base {
                let of = |event: &&str| ratio(step, view.judged.base, place, &EVENT.of(event));
                let cells = counted.iter().map(|event| or_unknown(of(event), relative));
                relatives.rows.push(Row::new(variant, cells.collect()));
            }
        }
        tables.extend([absolutes, relatives].into_iter().filter(says_something));
    }
    tables
}

fn legend(view: View<'_>) -> Vec<String> {
    vec![
        "of the DBMS's processes, per operation, counted by perf beside what is measured; task-clock in milliseconds of CPU"
            .to_owned(),
        view.means(),
    ]
}
