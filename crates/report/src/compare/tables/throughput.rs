//! Throughput, absolute and relative: the tables that are read first.

use judge::Method;
use metrics::OPS;
use store::Better;

use super::view::View;
use crate::judging::figures::{absolute, ratio_cell};
use crate::load::model::StepResults;
use crate::output::number::{or_unknown, rate, relative};
use crate::output::table::{Row, Section, Table, distinct};

/// The note under every table with a marked figure.
pub(crate) const NOT_HELD: &str = "* a rate was not held (under 95% of its target): the counted operations had an easier time than planned";

/// The note under every table with a ratio of one block.
pub(super) const SINGLE: &str =
    "(…) the ratio of a single block, without an interval and a verdict: it may be chance";
/// The same for a variant of another experiment.
pub(super) const ACROSS: &str = "(…) the ratio to another experiment, without an interval and a verdict: it may be the machine's";

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let groups = distinct(view.steps().map(|(_, step, _)| step.group.as_str()));
    groups.into_iter().flat_map(|group| of_group(view, group)).collect()
}

/// The tables of the steps that are shown together. Those of groups have a row for each step, as
/// published ones have.
fn of_group(view: View<'_>, group: &str) -> Vec<Table> {
    let (id, title) = match group {
        "" => ("throughput".to_owned(), "Throughput".to_owned()),
        group => (format!("throughput.{group}"), format!("Throughput: {group}")),
    };
    let of_group = view.steps().filter(|(_, step, _)| step.group == group);
    let (numbers, shown): (Vec<usize>, Vec<&StepResults>) =
        of_group.map(|(number, step, _)| (number, step)).unzip();
    let mut table = Table::new(Section::Absolute, id, title);
    let (costs, rates): (Vec<&StepResults>, Vec<&StepResults>) =
        shown.iter().partition(|step| step.better == Better::Less);
    let units = distinct(rates.iter().map(|step| step.unit.as_str()).filter(|it| !it.is_empty()));
    let mut what = Vec::new();
    if !rates.is_empty() {
        what.push(format!("operations/s ({})", units.join(" or ")));
    }
    if !costs.is_empty() {
        let each: Vec<String> = costs.iter().map(|step| label_with_unit(view, step)).collect();
        what.push(format!("{}, less is better", each.join(", ")));
    }
    table.legend = vec![format!("{}: {}", what.join("; "), view.over_blocks("geometric means"))];
    table.legend.extend(view.relative_legend());
    table.columns = view.step_columns(&shown);
    let [mut absolute, mut relative_table] = table.in_two_parts();
    relative_table.section = Section::Relative;
    for place in view.judged.order(view.results) {
        let cells = numbers.iter().map(|step| absolute_cell(view, *step, place));
        absolute.rows.push(view.row(place, cells));
        if place != view.judged.base {
            let cell = |step: &usize| {
                let finding = view.judged.finding(view.results, *step, place);
                (relative_cell(view, *step, place), finding.and_then(|finding| finding.verdict))
            };
            let row = Row::judged(view.results.variant_name(place), numbers.iter().map(cell));
            relative_table.rows.push(row.by_verdicts());
        }
    }
    let others = view.judged.order(view.results).into_iter().skip(1);
    let differing = others.flat_map(|place| numbers.iter().map(move |step| (*step, place)));
    relative_table.notes.extend(differing.filter_map(|(step, place)| quotient(view, step, place)));
    let mut tables = vec![absolute, relative_table];
    tables.retain(Table::says_something);
    for table in &mut tables {
        if table.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.ends_with('*')) {
            table.notes.push(NOT_HELD.to_owned());
        }
        table.notes.extend(without_verdict(view, &shown));
    }
    let view = View { rows_are_steps: view.rows_are_steps || !group.is_empty(), ..view };
    tables.into_iter().map(|table| view.turned(table)).collect()
}

/// The label of a step, with the unit of a time or another cost, which other programs may print.
pub(super) fn label_with_unit(view: View<'_>, step: &StepResults) -> String {
    let label = view.results.step_label(step);
    let has_unit = step.better == Better::Less && !step.unit.is_empty();
    if has_unit { format!("{label} in {}", step.unit) } else { label }
}

/// Notes which steps have no verdict because of the plan.
fn without_verdict(view: View<'_>, shown: &[&StepResults]) -> Vec<String> {
    let note = |of: fn(&StepResults) -> bool, why: &str| {
        let steps = shown.iter().filter(|step| of(step));
        let names: Vec<String> = steps.map(|step| view.results.step_label(step)).collect();
        (!names.is_empty()).then(|| format!("{}: {why}", names.join(", ")))
    };
    let load =
        "part of the load, which the plan runs once per variant; one value each, without a verdict";
    let notes = [
        note(|step| step.loaded_once, load),
        note(
            |step| step.prepares && !step.loaded_once,
            "only prepares for others; without a verdict",
        ),
        note(|step| step.warm_up, "only warms up caches; without a verdict"),
    ];
    notes.into_iter().flatten().collect()
}

/// A note if the absolute figures give a ratio that is outside the interval of the one that was
/// judged, or with too few blocks for an interval, if they differ by more than the margin. Rare
/// slices, the blocks' noise and CPU time that was stolen cause that.
pub(super) fn quotient(view: View<'_>, number: usize, place: usize) -> Option<String> {
    let (step, found) = (view.results.steps.get(number)?, view.judged.of(number, place)?);
    let base = view.judged.base_of(place);
    let of = |place: usize| absolute(step, base, place, OPS.name);
    let quotient = of(place)? / of(base)?;
    let (low, high) = (found.low?, found.high?);
    let what = match found.method {
        Method::Slices => "the ratio is that of neighboring slices",
        Method::Blocks => "the ratio is not that of operations per second",
    };
    let few = found.blocks < judge::ENOUGH_BLOCKS;
    let (differs, than) = match few {
        true => (
            (quotient / found.ratio).ln().abs() > found.margin.asked,
            format!("and not {}", relative(found.ratio)),
        ),
        false => {
            (!(low..=high).contains(&quotient), "outside the interval of the ratio".to_owned())
        }
    };
    (quotient.is_finite() && differs).then(|| {
        let (step, variant) = (view.results.step_label(step), view.results.variant_name(place));
        let quotient = relative(quotient);
        format!("{step} {variant}: the absolute figures give {quotient}, {than}; {what}")
    })
}

fn absolute_cell(view: View<'_>, number: usize, place: usize) -> String {
    let step = &view.results.steps[number];
    let mark = if step.variant(place).is_some_and(|v| !v.not_held().is_empty()) { "*" } else { "" };
    let value = absolute(step, view.judged.base, place, OPS.name);
    or_unknown(value, |value| format!("{}{mark}", rate(value)))
}

pub(super) fn relative_cell(view: View<'_>, number: usize, place: usize) -> String {
    let step = &view.results.steps[number];
    let mark = if view.judged.not_held(step, place).is_empty() { "" } else { "*" };
    let ratio = view.judged.throughput_ratio(view.results, number, place);
    ratio_cell(ratio, mark)
}
