//! Stalls, failures and warnings.

use std::collections::{BTreeSet, HashMap};

use metrics::{STALL_COUNT, STALL_SHARE, counted};
use plan::StepKey;
use store::Failure;

use super::view::{Point, VARIANT, View};
use crate::load::model::{FailedTrial, Noted, StepResults};
use crate::output::number::{UNKNOWN, or_unknown, tenths};
use crate::output::table::{Section, Table, distinct, one_line, place_of, yes_or_no};
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
            or_unknown(share.map(|share| share * 100.0), tenths)
        });
        table.rows.push(view.row(place, cells));
    }
    any.then(|| view.turned(table))
}

/// The failed statements, each with its step and variant.
pub(super) fn failed(view: View<'_>) -> Vec<(String, &str, &Failure)> {
    let mut found = Vec::new();
    for Point { label, name, figures, .. } in view.points(view.every_step()) {
        found.extend(figures.failures.iter().map(|failure| (label.clone(), name, failure)));
    }
    found
}

fn failures(view: View<'_>) -> Option<Table> {
    Table::new(Section::Other, "failures", "Failed statements")
        .explained([
            "all blocks together; state: the server's code; retried: tried again, not lost",
        ])
        .listing(
            failed(view),
            &[
                ("step", &|(label, ..)| label.clone()),
                (VARIANT, &|(_, name, _)| (*name).to_owned()),
                ("class", &|(.., failure)| failure.class.clone()),
                ("state", &|(.., failure)| match failure.code.as_str() {
                    "" => UNKNOWN.to_owned(),
                    code => code.to_owned(),
                }),
                ("count", &|(.., failure)| failure.count.to_string()),
                ("retried", &|(.., failure)| yes_or_no(failure.retried)),
                ("first message", &|(.., failure)| one_line(&failure.message)),
            ],
        )
        .marked()
        .filled()
}

/// `3 insert statements failed and were tried again (40P01): deadlock detected`.
pub(super) fn failure_in_words(failure: &Failure) -> String {
    let what = counted(failure.count as usize, &format!("{} statement", failure.class));
    let again = if failure.retried { " and were tried again" } else { "" };
    let code = if failure.code.is_empty() { "" } else { &format!(" ({})", failure.code) };
    format!("{what} failed{again}{code}: {}", one_line(&failure.message))
}

/// Trials without results for the same reason.
pub(super) struct Lost<'a> {
    pub(super) state: &'static str,
    /// The reason of the first one; may be empty.
    pub(super) why: String,
    variants: BTreeSet<&'a str>,
    blocks: BTreeSet<u32>,
    trials: usize,
}

/// The trials without results, by state and reason.
pub(super) fn lost(view: View<'_>) -> Vec<Lost<'_>> {
    let digits = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let mut found: Vec<Lost<'_>> = Vec::new();
    for FailedTrial { variant, block, state, error, .. } in &view.results.failed {
        let (why, variants, blocks) = (one_line(error), BTreeSet::new(), BTreeSet::new());
        let new = Lost { state, why, variants, blocks, trials: 0 };
        let place = place_of(&mut found, new, |known, new| {
            known.state == new.state && digits(&known.why) == digits(&new.why)
        });
        found[place].variants.insert(view.results.variant_name(*variant));
        found[place].blocks.insert(*block);
        found[place].trials += 1;
    }
    found
}

impl Lost<'_> {
    /// `pg13.7: 2 trials of blocks 2, 3 were polluted: the hypervisor took …`.
    pub(super) fn in_words(&self, why: &str) -> String {
        let variants: Vec<&str> = self.variants.iter().copied().collect();
        let blocks: Vec<String> = self.blocks.iter().map(u32::to_string).collect();
        let many = |count: usize| if count == 1 { "" } else { "s" };
        let state = match (self.state, self.trials) {
            ("failed", _) => "failed".to_owned(),
            (state, 1) => format!("was {state}"),
            (state, _) => format!("were {state}"),
        };
        format!(
            "{}: {} of block{} {} {state}{}",
            variants.join(", "),
            counted(self.trials, "trial"),
            many(self.blocks.len()),
            blocks.join(", "),
            if why.is_empty() { String::new() } else { format!(": {why}") }
        )
    }
}

/// With more numbers of clients than this, only the least and the most are named.
const MANY_DOPS: usize = 8;

fn trials(view: View<'_>) -> Option<Table> {
    let clients = |trial: &FailedTrial| {
        let steps = view.results.steps.iter();
        let of_trial = steps.filter(|step| step.sequence == Some(trial.sequence));
        let dops = distinct(of_trial.map(|step| step.key.dop));
        match (dops.iter().min(), dops.iter().max()) {
            (Some(least), Some(most)) if dops.len() > MANY_DOPS => format!("{least} to {most}"),
            (None, _) => UNKNOWN.to_owned(),
            _ => dops.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        }
    };
    Table::new(Section::Other, "trials", "Trials without results")
        .explained(["none of their steps count"])
        .listing(
            &view.results.failed,
            &[
                (VARIANT, &|trial| view.results.variant_name(trial.variant).to_owned()),
                ("block", &|trial| trial.block.to_string()),
                ("clients", &|trial| clients(trial)),
                ("state", &|trial| trial.state.to_owned()),
                ("reason", &|trial| one_line(&trial.error)),
            ],
        )
        .marked()
        .filled()
}

/// A warning, and where it occurs again.
struct Repeated<'a> {
    noted: &'a Noted,
    sweep: Option<&'a Sweep>,
    blocks: BTreeSet<u32>,
    /// Indexes.
    steps: BTreeSet<usize>,
}

fn warnings(view: View<'_>) -> Option<Table> {
    let places: HashMap<&StepKey, usize> =
        view.results.steps.iter().enumerate().map(|(place, step)| (&step.key, place)).collect();
    // The same warning in several blocks takes one line, and in several points of a sweep.
    let mut grouped: Vec<Repeated<'_>> = Vec::new();
    for noted in &view.results.warnings {
        let step = noted.step.as_ref().and_then(|key| places.get(key).copied());
        let sweep = step.and_then(|step| view.sweep_of(step));
        let new = Repeated { noted, sweep, blocks: BTreeSet::new(), steps: BTreeSet::new() };
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
    let first = |one: &Repeated<'_>| one.steps.first().map(|place| &view.results.steps[*place]);
    let about = |one: &Repeated<'_>| match (one.sweep, first(one)) {
        (Some(sweep), _) if one.steps.len() > 1 => {
            format!("{}, {} points", sweep.name, one.steps.len())
        }
        (_, Some(step)) => view.results.step_label(step),
        _ => "all".to_owned(),
    };
    let variant = |place: Option<usize>| place.map_or("all", |it| view.results.variant_name(it));
    Table::new(Section::Other, "warnings", "Warnings")
        .explained([
            "what to know about the figures they affect",
            "blocks: in how many of those with results, and which; text: from the first one",
        ])
        .listing(
            grouped,
            &[
                ("warning", &|one| one.noted.warning.code.clone()),
                ("step", &about),
                (VARIANT, &|one| variant(one.noted.variant).to_owned()),
                ("blocks", &|one| {
                    let all = blocks_with_results(view, first(one), one.noted.variant);
                    in_blocks(&one.blocks, all)
                }),
                ("text", &|one| one_line(&one.noted.warning.text)),
            ],
        )
        .filled()
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
fn in_blocks(blocks: &BTreeSet<u32>, all: usize) -> String {
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
        let said = |blocks: &[u32], all| in_blocks(&blocks.iter().copied().collect(), all);
        assert_eq!(said(&[], 6), "all");
        assert_eq!(said(&[1], 1), "1");
        assert_eq!(said(&[3, 1, 2, 2], 3), "all 3");
        assert_eq!(said(&[5, 1], 6), "2 of 6: 1 5");
        // A load is block 0, in addition to the blocks of trials.
        assert_eq!(said(&[0], 6), "1 of 6: 0");
    }
}
