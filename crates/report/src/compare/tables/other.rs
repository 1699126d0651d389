//! Stalls, failures and warnings.

use std::collections::{BTreeSet, HashMap};

use metrics::{STALL_COUNT, STALL_SHARE};
use plan::StepKey;

use super::view::{VARIANT, View};
use crate::load::model::{Noted, StepResults};
use crate::output::number::{UNKNOWN, or_unknown};
use crate::output::table::{Row, RowKind, Section, Table, distinct, one_line, place_of, texts};
use crate::sweep::Sweep;

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    [stalls(view), failures(view), trials(view), warnings(view)].into_iter().flatten().collect()
}

fn stalls(view: View<'_>) -> Option<Table> {
    let mut table = Table::new(Section::Other, "stalls", "Stalls");
    table.legend = vec![format!(
        "percentage of a step's seconds with throughput below a quarter of its median: {}",
        view.over_blocks("medians")
    )];
    let steps: Vec<&StepResults> = view.steps().map(|(_, step, _)| step).collect();
    table.columns = view.step_columns(&steps);
    let mut any = false;
    for place in view.judged.order(view.results) {
        let cells = steps.iter().map(|step| {
            let figures = step.variant(place);
            any |= figures
                .is_some_and(|f| f.values(STALL_COUNT.name).iter().any(|(_, count)| *count > 0.0));
            let share = figures.and_then(|f| f.median(STALL_SHARE.name));
            or_unknown(share, |share| format!("{:.1}", share * 100.0))
        });
        let row = Row::new(view.results.variant_name(place), cells.collect());
        table.rows.push(row.of_kind(view.kind(place)));
    }
    any.then(|| view.turned(table))
}

fn failures(view: View<'_>) -> Option<Table> {
    let mut table = Table::new(Section::Other, "failures", "Failed statements");
    table.legend =
        texts(["all blocks together; state: the server's code; retried: tried again, not lost"]);
    table.columns =
        texts(["step", "version", "class", "state", "count", "retried", "first message"]);
    for (number, _, label) in view.every_step() {
        for (_, name, figures) in view.variants(number) {
            for failure in &figures.failures {
                let state = if failure.code.is_empty() { UNKNOWN } else { failure.code.as_str() };
                let cells = vec![
                    name.to_owned(),
                    failure.class.clone(),
                    state.to_owned(),
                    failure.count.to_string(),
                    if failure.retried { "yes" } else { "no" }.to_owned(),
                    one_line(&failure.message),
                ];
                let row = Row::new(&label, cells);
                table.rows.push(row.of_kind(Some(RowKind::Marked)));
            }
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// With more numbers of clients than this, only the least and the most are named.
const MANY_DOPS: usize = 8;

fn trials(view: View<'_>) -> Option<Table> {
    let mut table = Table::new(Section::Other, "trials", "Trials without results");
    table.legend = vec!["none of their steps count".to_owned()];
    table.columns = texts([VARIANT, "block", "clients", "state", "reason"]);
    table.rows = view
        .results
        .failed
        .iter()
        .map(|trial| {
            let steps = view.results.steps.iter();
            let of_trial = steps.filter(|step| step.sequence == Some(trial.sequence));
            let dops = distinct(of_trial.map(|step| step.key.dop));
            let dops = match (dops.iter().min(), dops.iter().max()) {
                (Some(least), Some(most)) if dops.len() > MANY_DOPS => format!("{least} to {most}"),
                (None, _) => UNKNOWN.to_owned(),
                _ => dops.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
            };
            let cells =
                vec![trial.block.to_string(), dops, trial.state.to_owned(), one_line(&trial.error)];
            Row::new(view.results.variant_name(trial.variant), cells).of_kind(Some(RowKind::Marked))
        })
        .collect();
    (!table.rows.is_empty()).then_some(table)
}

/// A warning, and where it occurs again.
struct Repeated<'a> {
    noted: &'a Noted,
    sweep: Option<&'a Sweep>,
    blocks: Vec<u32>,
    /// Indexes.
    steps: BTreeSet<usize>,
}

fn warnings(view: View<'_>) -> Option<Table> {
    let mut table = Table::new(Section::Other, "warnings", "Warnings");
    table.legend = vec![
        "what to know about the figures they affect".to_owned(),
        "blocks: in how many of those with results, and which; text: from the first one".to_owned(),
    ];
    table.columns = texts(["warning", "step", "version", "blocks", "text"]);
    let places: HashMap<&StepKey, usize> =
        view.results.steps.iter().enumerate().map(|(place, step)| (&step.key, place)).collect();
    // The same warning in several blocks takes one line, and in several points of a sweep.
    let mut grouped: Vec<Repeated<'_>> = Vec::new();
    for noted in &view.results.warnings {
        let step = noted.step.as_ref().and_then(|key| places.get(key).copied());
        let sweep = step.and_then(|step| view.sweep_of(step));
        let new = Repeated { noted, sweep, blocks: Vec::new(), steps: BTreeSet::new() };
        let place = place_of(&mut grouped, new, |known, new| {
            let same_step = match (known.sweep, new.sweep) {
                (Some(one), Some(other)) => one.name == other.name,
                _ => known.noted.step == noted.step,
            };
            same_step
                && known.noted.variant == noted.variant
                && known.noted.warning.code == noted.warning.code
                // Without a block, there may be several texts of one kind.
                && (noted.block.is_some() || known.noted.warning.text == noted.warning.text)
        });
        grouped[place].blocks.extend(noted.block);
        grouped[place].steps.extend(step);
    }
    for Repeated { noted, sweep, blocks, steps } in grouped {
        let step = steps.first().and_then(|place| view.results.steps.get(*place));
        let about = match (sweep, step) {
            (Some(sweep), _) if steps.len() > 1 => {
                format!("{}, {} points", sweep.name, steps.len())
            }
            (_, Some(step)) => view.results.step_label(step),
            _ => "all".to_owned(),
        };
        let cells = vec![
            about,
            noted.variant.map_or("all", |place| view.results.variant_name(place)).to_owned(),
            in_blocks(blocks, blocks_with_results(view, step, noted.variant)),
            one_line(&noted.warning.text),
        ];
        table.rows.push(Row::new(noted.warning.code.clone(), cells));
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The number of blocks in which a variant has results: in a step, or in any.
fn blocks_with_results(
    view: View<'_>,
    step: Option<&StepResults>,
    variant: Option<usize>,
) -> usize {
    let steps = view.results.steps.iter();
    let blocks: BTreeSet<u32> = steps
        .filter(|other| step.is_none_or(|step| std::ptr::eq(*other, step)))
        .flat_map(|step| step.variants.iter().enumerate())
        .filter(|(place, _)| variant.is_none_or(|variant| *place == variant))
        .flat_map(|(_, figures)| figures.samples.iter().map(|sample| sample.block))
        .collect();
    blocks.len()
}

/// `all 6`, or `2 of 6: 1 4`; `all` without blocks.
fn in_blocks(mut blocks: Vec<u32>, all: usize) -> String {
    blocks.sort_unstable();
    blocks.dedup();
    let count = blocks.len();
    let list: Vec<String> = blocks.iter().map(u32::to_string).collect();
    match count {
        0 => "all".to_owned(),
        1 if all <= 1 => list.concat(),
        _ if count >= all => format!("all {count}"),
        _ => format!("{count} of {all}: {}", list.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::in_blocks;

    #[test]
    fn blocks_are_counted_and_named() {
        assert_eq!(in_blocks(vec![], 6), "all");
        assert_eq!(in_blocks(vec![1], 1), "1");
        assert_eq!(in_blocks(vec![3, 1, 2, 2], 3), "all 3");
        assert_eq!(in_blocks(vec![5, 1], 6), "2 of 6: 1 5");
        // A load is block 0, in addition to the blocks of trials.
        assert_eq!(in_blocks(vec![0], 6), "1 of 6: 0");
    }
}
