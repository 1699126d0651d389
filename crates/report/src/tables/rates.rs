//! The paced streams that a step does not count: target and actual rates.

use std::collections::BTreeSet;

use metrics::{RATE, TARGET};

use super::View;
use super::throughput::NOT_HELD;
use crate::model::StepResults;
use crate::number::{or_unknown, rate};
use crate::table::{Row, RowKind, Section, Table};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let steps = view.steps().map(|(_, step, _)| step);
    let steps: Vec<&StepResults> = steps.filter(|step| !step.paced().is_empty()).collect();
    let classes: BTreeSet<&str> = steps.iter().flat_map(|step| step.with(&RATE)).collect();
    // For the class that a step counts, the rate is its throughput.
    let beside = |class: &&str| steps.iter().any(|step| step.class != **class);
    classes.into_iter().rev().filter(beside).map(|class| stream(view, &steps, class)).collect()
}

fn stream(view: View<'_>, steps: &[&StepResults], class: &str) -> Table {
    let (rates, target) = (RATE.of(class), TARGET.of(class));
    let meaning = metrics::find(&rates).map_or("", |metric| metric.meaning);
    let mut title = format!("{class} rate");
    title.get_mut(..1).map(str::make_ascii_uppercase);
    let mut table = Table::new(Section::Rates, format!("rates.{class}"), title);
    table.legend = vec![
        format!("{meaning}, over all clients: {}", view.over_blocks("medians")),
        "target: the rate set by the step".to_owned(),
    ];
    table.columns = view.step_columns(steps);
    let targets = steps.iter().map(|step| {
        or_unknown(step.variants.iter().find_map(|variant| variant.median(&target)), rate)
    });
    table.rows.push(Row::new("target", targets.collect()));
    for place in view.judged.order(view.results) {
        let mut marked = false;
        let cells = steps.iter().map(|step| {
            let figures = step.variant(place);
            let lost = figures.is_some_and(|figures| figures.not_held().contains(class));
            marked |= lost;
            let mark = if lost { "*" } else { "" };
            or_unknown(figures.and_then(|f| f.median(&rates)), |v| format!("{}{mark}", rate(v)))
        });
        let row = Row::new(view.results.variant_name(place), cells.collect());
        table.rows.push(row.of_kind(if marked { Some(RowKind::Marked) } else { view.kind(place) }));
        if marked && table.notes.is_empty() {
            table.notes.push(NOT_HELD.to_owned());
        }
    }
    view.turned(table)
}
