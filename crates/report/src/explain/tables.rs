//! The tables of an explanation, in the shape of published ones: variants are columns, functions
//! rows.

use std::collections::BTreeMap;

use dbms::ProfileFacts;
use metrics::counted;

use super::document::{ExplainDocument, ExplainedStep, ExplainedVariant};
use super::shifts::ExplainedShift;
use crate::load::plans::ExplainedPlan;
use crate::output::number::{UNKNOWN, cost, digits, or_unknown, relative};
use crate::output::sheet::{Part, Sheet};
use crate::output::table::{Row, Section, Table, VARIANT, texts};
use crate::profiles::{ExplainedMove, OTHER};

/// All tables, step by step; `costs` are the tables of costs and events of all steps. Lists of
/// shifts have at most `rows`.
pub(super) fn sheet(
    document: &ExplainDocument,
    facts: Option<&ProfileFacts>,
    costs: &[&Table],
    rows: usize,
) -> Sheet {
    let mut sheet = Sheet::default();
    for step in &document.steps {
        for table in costs.iter().filter(|table| table.step.as_ref() == Some(&step.label)) {
            sheet.table((*table).clone());
        }
        why(step, rows).into_iter().for_each(|table| sheet.table(table));
        sheet.parts.extend(plans(step).map(|text| Part::Verbatim {
            title: "A statement with another plan",
            language: "text",
            text,
        }));
        if step.variants.iter().any(|variant| variant.samples > 0) {
            for table in of_step(step, &document.parent, facts) {
                sheet.table(table);
            }
        }
        sheet.notes(step.in_order(&step.conclusion).map(|(_, said)| said.clone()).collect());
    }
    sheet
}

/// The state in which a step began, and the DBMS's counters: at most `rows` that differ, for each
/// variant.
pub(crate) fn why(step: &ExplainedStep, rows: usize) -> Vec<Table> {
    let tables = |all: &BTreeMap<String, Vec<ExplainedShift>>, kind: Shifts| {
        let ordered =
            step.in_order(all).map(|(name, shifts)| shifted(step, name, shifts, kind, rows));
        ordered.collect::<Vec<_>>()
    };
    [tables(&step.start, START), tables(&step.counters, COUNTERS)].concat()
}

/// The statements with other plans than in the base, and these plans.
fn plans(step: &ExplainedStep) -> impl Iterator<Item = String> {
    let all = step.in_order(&step.plans);
    all.flat_map(move |(name, plans)| plans.iter().map(move |one| plan_of(step, name, one)))
}

fn plan_of(step: &ExplainedStep, variant: &str, one: &ExplainedPlan) -> String {
    let mut text = format!("{}\n", one.statement);
    for (name, plans) in [(base(step), &one.base), (variant, &one.plans)] {
        for plan in plans {
            text.push_str(&format!("\n{name}:\n"));
            plan.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
    }
    text
}

/// A kind of shifts: the table's id, its title, and the meaning of its values.
type Shifts = (&'static str, &'static str, &'static str);

const START: Shifts = ("start", "What the step began with", "means over the blocks that both have");
const COUNTERS: Shifts = (
    "shifts",
    "Counters of the DBMS per operation that differ",
    "increase per operation, summed over tables and indexes; means over the blocks that both have",
);

/// Shifts from the base to a variant, the most certain first.
fn shifted(
    step: &ExplainedStep,
    variant: &str,
    shifts: &[ExplainedShift],
    (id, title, legend): Shifts,
    rows: usize,
) -> Table {
    let base = base(step);
    let title = format!("{title}, from {base} to {variant}: {}", step.label);
    let id = format!("{id}.{variant}");
    let sure = "sure: of the differences marked yes, at most 5% are expected to be chance";
    let mut table = Table::of_step(Section::Hardware, &id, title, &step.label)
        .explained([legend, sure])
        .listing(
            shifts.iter().take(rows),
            &[
                ("", &|shift| shift.name.clone()),
                (base, &|shift| cost(shift.base)),
                (variant, &|shift| cost(shift.value)),
                ("ratio", &|shift| or_unknown(shift.ratio, relative)),
                ("sure", &|shift| if shift.sure { "yes" } else { "" }.to_owned()),
            ],
        );
    if shifts.len() > rows {
        table.notes.push(format!("{} more differ", shifts.len() - rows));
    } else if shifts.is_empty() {
        table.notes.push("nothing differs".to_owned());
    }
    table
}

/// The tables of one step's profiles.
pub(crate) fn of_step(
    step: &ExplainedStep,
    parent: &str,
    facts: Option<&ProfileFacts>,
) -> Vec<Table> {
    let worker = facts.filter(|facts| facts.worker == parent);
    let mut tables = vec![callees(step, parent, worker)];
    tables.extend(worker.and_then(|worker| phases(step, worker)));
    tables.extend(step.moved.iter().map(|(variant, moves)| moved(step, variant, moves)));
    tables
}

fn callees(step: &ExplainedStep, parent: &str, worker: Option<&ProfileFacts>) -> Table {
    let title = format!("Percentage of samples for children of {parent}: {}", step.label);
    let mut table = Table::of_step(Section::Hardware, "children", title, &step.label);
    table.legend = vec![
        format!(
            "100% is all samples with {parent} in their call stack; the row {parent}: samples in the function itself"
        ),
        samples(step, parent),
    ];
    let variants = step.variants.iter().map(|variant| variant.name.as_str());
    table.columns = texts(["function"].into_iter().chain(variants));
    for child in &step.children {
        let cells = child.shares.iter().map(|share| or_unknown(*share, percent));
        table.rows.push(Row::new(&child.function, cells));
    }
    if let Some(ProfileFacts { dispatchers: [first, ..], .. }) = worker {
        table.legend.push(format!(
            "skips functions that only dispatch messages ({first} …) or have no name"
        ));
    }
    if table.rows.is_empty() {
        table.notes.push(format!("no sample has {parent} in its call stack"));
    }
    table
}

/// `pg13.7: 2301 samples of 3 trials, 93.10% of them in main; …`
fn samples(step: &ExplainedStep, parent: &str) -> String {
    let one = |variant: &ExplainedVariant| {
        let share = or_unknown(variant.in_parent, percent);
        let trials = counted(variant.trials, "trial");
        format!(
            "{}: {} samples of {trials}, {share}% of them in {parent}",
            variant.name, variant.samples
        )
    };
    step.variants.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// `step plan parse analyze execute`, with a row for each variant.
fn phases(step: &ExplainedStep, worker: &ProfileFacts) -> Option<Table> {
    let title = format!("Percentage of samples by phase of a statement: {}", step.label);
    let mut table = Table::of_step(Section::Hardware, "phases", title, &step.label);
    table.legend = vec![format!(
        "of the samples in {}: {}; {OTHER}: the rest, such as messages to and from the client and starting and ending transactions",
        worker.worker, worker.named
    )];
    let names = || worker.phases.iter().map(|(name, _)| *name).chain([OTHER]);
    table.columns = texts([VARIANT].into_iter().chain(names()));
    for variant in &step.variants {
        let Some(phases) = &variant.phases else { continue };
        let cells = names().map(|name| or_unknown(phases.get(name).copied(), percent));
        table.rows.push(Row::new(&variant.name, cells));
    }
    table.filled()
}

fn moved(step: &ExplainedStep, variant: &str, moves: &[ExplainedMove]) -> Table {
    let base = base(step);
    let title = format!("Functions that moved from {base} to {variant}: {}", step.label);
    let id = format!("moved.{variant}");
    Table::of_step(Section::Hardware, &id, title, &step.label)
        .explained([
            "own: percentage of all samples in the function itself; total: including what it called",
            "moved: difference of own in points; ±: 95% interval from the number of samples alone; restarts differ by more",
            "us/o: difference of CPU microseconds per operation in the function itself (own × dbms.cpu/o)",
        ])
        .listing(moves, &[
            ("function", &|moved| moved.function.clone()),
            (&format!("own {base}"), &|moved| percent(moved.base_own)),
            (&format!("own {variant}"), &|moved| percent(moved.own)),
            ("moved", &|moved| format!("{:+.2}", moved.difference() * 100.0)),
            ("±", &|moved| percent(moved.error)),
            ("us/o", &|moved| or_unknown(moved.cpu_us, signed)),
            (&format!("total {base}"), &|moved| percent(moved.base_inclusive)),
            (&format!("total {variant}"), &|moved| percent(moved.inclusive)),
        ])
}

/// The name of the base, which comes first.
fn base(step: &ExplainedStep) -> &str {
    step.variants.first().map_or(UNKNOWN, |variant| variant.name.as_str())
}

fn percent(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", digits(value, 3)) } else { digits(value, 3) }
}
