//! Throughput, absolute and relative: the first tables anyone reads.

use judge::Verdict;
use metrics::OPS;

use super::{VARIANT, View, says_something};
use crate::figures::{absolute, ratio};
use crate::judged::Outcome;
use crate::model::VariantStep;
use crate::number::{or_unknown, rate, relative};
use crate::table::{Row, RowKind, Section, Table};

/// The note under every table with a marked figure.
pub(crate) const NOT_HELD: &str = "* a rate was not held (under 95% of its target): what is counted had an easier time than was asked for";

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut absolute = Table::new(Section::Absolute, "throughput.absolute", "Throughput");
    absolute.part = "absolute".to_owned();
    absolute.legend = vec![format!("operations/s ({}): {}", units(view), view.means())];
    absolute.legend.extend(view.relative_legend());
    absolute.columns = std::iter::once(VARIANT.to_owned())
        .chain(view.results.steps.iter().map(|step| view.results.step_label(step)))
        .collect();
    let mut relative_table = Table {
        section: Section::Relative,
        id: "throughput.relative".to_owned(),
        part: view.relative_part(),
        ..absolute.clone()
    };
    for place in view.order() {
        let label = view.results.variant_name(place);
        let cells =
            (0..view.results.steps.len()).map(|step| absolute_cell(view, step, place)).collect();
        absolute.rows.push(Row::new(label, cells).of_kind(view.kind(place)));
        if place != view.judged.base {
            let cells = (0..view.results.steps.len())
                .map(|step| relative_cell(view, step, place))
                .collect();
            relative_table.rows.push(Row::new(label, cells).of_kind(kind(view, place)));
        }
    }
    if !says_something(&relative_table) {
        absolute.notes.extend(view.too_few());
    }
    let mut tables = vec![absolute, relative_table];
    tables.retain(says_something);
    for table in &mut tables {
        if table.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.ends_with('*')) {
            table.notes.push(NOT_HELD.to_owned());
        }
        table.notes.extend(loaded_once(view));
        if view.rows_are_steps {
            *table = table.transposed("step");
        }
    }
    tables
}

/// Which steps have a single value by the plan's own wish.
fn loaded_once(view: View<'_>) -> Option<String> {
    let steps = view.results.steps.iter().filter(|step| step.loaded_once);
    let names: Vec<String> = steps.map(|step| view.results.step_label(step)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{}: the load, which the plan runs once per variant; one value each, without a verdict",
            names.join(", ")
        )
    })
}

fn units(view: View<'_>) -> String {
    let mut units: Vec<&str> = Vec::new();
    for step in &view.results.steps {
        if !step.unit.is_empty() && !units.contains(&step.unit.as_str()) {
            units.push(&step.unit);
        }
    }
    units.join(" or ")
}

fn mark(step: &VariantStep) -> &'static str {
    if step.rate_not_held() { "*" } else { "" }
}

fn absolute_cell(view: View<'_>, step: usize, place: usize) -> String {
    let Some(step) = view.results.steps.get(step) else { return String::new() };
    let mark = step.variant(place).map_or("", mark);
    let value = absolute(step, view.judged.base, place, OPS.name);
    or_unknown(value, |value| format!("{}{mark}", rate(value)))
}

fn relative_cell(view: View<'_>, number: usize, place: usize) -> String {
    let Some(step) = view.results.steps.get(number) else { return String::new() };
    let base = view.judged.base;
    let held = [base, place].into_iter().filter_map(|place| step.variant(place));
    let mark = if held.clone().all(|figures| !figures.rate_not_held()) { "" } else { "*" };
    let ratio = match view.judged.steps.get(number).and_then(|step| step.get(place)) {
        Some(Outcome::Compared(found)) => found.low.map(|_| found.ratio),
        // Twins are not judged against the base.
        Some(Outcome::Aside) => ratio(step, base, place, OPS.name),
        Some(Outcome::Unjudged(_)) | None => None,
    };
    or_unknown(ratio, |ratio| format!("{}{mark}", relative(ratio)))
}

fn kind(view: View<'_>, place: usize) -> Option<RowKind> {
    let has = |verdict| {
        let mut steps = 0..view.results.steps.len();
        steps.any(|step| {
            let found = view.judged.finding(view.results, step, place);
            found.is_some_and(|found| found.verdict == Some(verdict))
        })
    };
    match (has(Verdict::Regression), has(Verdict::Improvement)) {
        (true, false) => Some(RowKind::Regression),
        (false, true) => Some(RowKind::Improvement),
        _ => None,
    }
}
