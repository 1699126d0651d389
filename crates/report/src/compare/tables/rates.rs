//! The paced streams that a step does not count: target and actual rates.

use std::collections::{BTreeMap, BTreeSet};

use metrics::{DUE, LAG_CLIENT, LAG_SERVER, Metric, RATE, TARGET};

use super::throughput::NOT_HELD;
use super::view::{Point, VARIANT, View};
use crate::load::model::StepResults;
use crate::output::number::{or_unknown, rate};
use crate::output::table::{Row, RowKind, Section, Table};

/// If fewer statements were due in a block, one more or less is over 5% of the rate: as much as
/// makes a rate count as not held.
const FEW: f64 = 20.0;

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let steps = view.steps().map(|(_, step, _)| step);
    let steps: Vec<&StepResults> = steps.filter(|step| !step.paced().is_empty()).collect();
    let classes: BTreeSet<&str> = steps.iter().flat_map(|step| step.with(&RATE)).collect();
    // For the class that a step counts, the rate is its throughput.
    let beside = |class: &&str| steps.iter().any(|step| step.class != **class);
    let rates = classes.into_iter().rev().filter(beside).map(|class| stream(view, &steps, class));
    rates.chain(lag(view)).collect()
}

/// How late statements of a schedule began, and who was late.
fn lag(view: View<'_>) -> Option<Table> {
    let points: Vec<Point<'_>> = view.points(view.steps()).collect();
    let lines: Vec<(&Point<'_>, &str)> = points
        .iter()
        .flat_map(|at| at.figures.with(&LAG_CLIENT).into_iter().map(move |class| (at, class)))
        .collect();
    let of = |(at, class): &(&Point<'_>, &str), metric: &Metric| {
        or_unknown(at.figures.median(&metric.of(class)), rate)
    };
    let table = Table::new(Section::Rates, "lag", "Schedule lag")
        .explained([
            &format!(
                "p99 of how late statements of a schedule began, microseconds: {}",
                view.over_blocks("medians")
            ),
            "client: it had nothing else to do; server: the answer to the one before had not come",
        ])
        .listing(
            &lines,
            &[
                (VARIANT, &|(at, _)| at.name.to_owned()),
                ("client", &|line| of(line, &LAG_CLIENT)),
                ("server", &|line| of(line, &LAG_SERVER)),
                ("class", &|(_, class)| (*class).to_owned()),
                ("step", &|(at, _)| at.label.clone()),
            ],
        );
    table.filled()
}

fn stream(view: View<'_>, steps: &[&StepResults], class: &str) -> Table {
    let (rates, target) = (RATE.of(class), TARGET.of(class));
    let meaning = metrics::find(&rates).map_or("", |metric| metric.meaning);
    let mut title = format!("{class} rate");
    title.get_mut(..1).map(str::make_ascii_uppercase);
    let mut table = Table::new(Section::Rates, format!("rates.{class}"), title).explained([
        &format!("{meaning}, over all clients: {}", view.over_blocks("medians")),
        "target: the rate set by the step",
    ]);
    table.columns = view.step_columns(steps);
    let targets = steps.iter().map(|step| {
        or_unknown(step.variants.iter().find_map(|variant| variant.median(&target)), rate)
    });
    table.rows.push(Row::new("target", targets));
    let due = DUE.of(class);
    let mut fewest: BTreeMap<String, f64> = BTreeMap::new();
    for place in view.judged.order(view.results) {
        let mut marked = false;
        let cells = steps.iter().map(|step| {
            let figures = step.variant(place);
            let lost = figures.is_some_and(|figures| figures.not_held().contains(class));
            marked |= lost;
            let due = figures.into_iter().flat_map(|figures| figures.values(&due));
            let due = due.map(|(_, due)| due).min_by(f64::total_cmp).filter(|due| *due < FEW);
            if let Some(due) = due {
                let least = fewest.entry(view.results.step_label(step)).or_insert(due);
                *least = least.min(due);
            }
            let mark = match (lost, due) {
                (true, _) => "*",
                (false, Some(_)) => "~",
                (false, None) => "",
            };
            or_unknown(figures.and_then(|f| f.median(&rates)), |v| format!("{}{mark}", rate(v)))
        });
        let row = view.row(place, cells);
        table.rows.push(if marked { row.of_kind(Some(RowKind::Marked)) } else { row });
        if marked && table.notes.is_empty() {
            table.notes.push(NOT_HELD.to_owned());
        }
    }
    if !fewest.is_empty() {
        let fewest: Vec<String> =
            fewest.iter().map(|(step, due)| format!("{due:.0} in {step}")).collect();
        table.notes.push(format!(
            "~ fewer than {FEW} {class} statements were due in a block ({}), so one more or less changes the rate by over 5%",
            fewest.join(", ")
        ));
    }
    view.turned(table)
}
