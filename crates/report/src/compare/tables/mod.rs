//! The tables of a comparison, one kind per file.

pub(crate) mod brief;
mod classes;
mod counters;
mod empty;
mod hardware;
mod latency;
mod machines;
mod means;
mod notes;
mod other;
mod rates;
mod sizes;
mod slices;
mod summary;
mod sweeps;
mod throughput;
mod twins;
mod verdicts;
mod view;

use crate::output::table::{RELATIVE, Section, Table};

pub(crate) use view::{COMMAND, View};

/// Why requested kinds of tables are missing, a sentence each.
pub(crate) fn missing(view: View<'_>, tables: &[Table]) -> Vec<String> {
    let asked = view.sections.unwrap_or_default().iter();
    let lacking = asked.filter(|asked| tables.iter().all(|table| table.section != **asked));
    lacking.map(|section| empty::why(view.results, *section)).collect()
}

/// The tables with a row for each machine, one for each metric.
pub(crate) fn by_machine(view: View<'_>) -> Vec<Table> {
    view.verdicts.iter().filter_map(|judged| machines::rows(view, judged)).collect()
}

/// The tables with a row for each class of statements, one for each step.
pub(crate) fn by_class(view: View<'_>) -> Vec<Table> {
    classes::tables(view)
}

/// All tables that apply, in reading order.
pub(crate) fn all(view: View<'_>) -> Vec<Table> {
    let mut tables = throughput::tables(view);
    tables.extend(sweeps::tables(view));
    tables.extend(verdicts::tables(view));
    tables.extend(means::table(view));
    tables.extend(machines::table(view));
    tables.extend(slices::table(view));
    tables.extend(twins::table(view));
    tables.extend(summary::tables(view));
    tables.extend(rates::tables(view));
    tables.extend(hardware::tables(view));
    tables.extend(latency::tables(view));
    tables.extend(sweeps::figures(view));
    tables.extend(sizes::tables(view));
    tables.extend(counters::tables(view));
    tables.extend(other::tables(view));
    tables.retain(|table| table.rows.is_empty() || table.says_something());
    let ratios = |it: &&mut Table| {
        matches!(it.section, Section::Relative | Section::Verdicts) || it.part == RELATIVE
    };
    for table in tables.iter_mut().filter(ratios) {
        let single = |cell: &String| {
            cell.strip_prefix('(')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        if table.rows.iter().flat_map(|row| &row.cells).any(single) {
            let across = view.results.has_other_experiments();
            let single = (!across || view.too_few().is_some()).then_some(throughput::SINGLE);
            let notes = single.into_iter().chain(across.then_some(throughput::ACROSS));
            table.notes.extend(notes.map(str::to_owned));
        }
    }
    if view.judged.bases.iter().any(|base| *base != view.judged.base) {
        for table in tables.iter_mut().filter(|table| table.part == RELATIVE) {
            table.part = "relative to previous".to_owned();
        }
    }
    tables
}
