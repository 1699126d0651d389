//! The short output for a terminal: the verdicts, and notes about them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use judge::Verdict;
use metrics::{OPS, counted};
use store::Better;

use super::sweeps::{SIGNS_MEAN, sign};
use super::throughput::label_with_unit;
use super::verdicts::{intervals, kind};
use super::view::{VARIANT, View};
use super::{notes, sweeps, throughput, twins};
use crate::compare::document::WarningDocument;
use crate::judging::figures::{absolute, doubted};
use crate::judging::judged::Finding;
use crate::output::fit::wrapped;
use crate::output::number::{UNKNOWN, cost, percent, rate, relative};
use crate::output::table::{Row, Section, Table, texts};
use crate::output::text::told;

/// Up to this many comparisons get a line each; more get a cell each.
const LINES: usize = 48;
/// The note on ratios in parentheses.
const FEW: &str =
    "(…) a ratio of fewer than 6 blocks, without an interval and a verdict: it may be chance";
/// Id of the table of verdicts.
const BRIEF: &str = "brief";

/// Verdicts on throughput, or on the metrics that were asked for; without variants to compare,
/// throughput. Then where throughput falls with more clients, and warnings, those of one kind
/// together. Nothing is wider than `width` characters, as far as names can be shortened.
pub(crate) fn tables(view: View<'_>, warnings: &[WarningDocument], width: usize) -> Vec<Table> {
    let of_metric = |judged| verdicts(View { judged, ..view }, width);
    let mut tables: Vec<Table> = view.verdicts.iter().flat_map(of_metric).collect();
    if tables.is_empty() {
        tables = alone(view);
    }
    if let Some(table) = tables.last_mut() {
        table.notes.extend(twins::line(view));
    }
    let cliffs = view.sweeps.iter().filter_map(|sweep| sweeps::cliffs(view, sweep)?.filled());
    tables.extend(cliffs.map(|mut table| {
        // The last column says in words what the other columns show.
        table.columns.pop();
        table.rows.iter_mut().for_each(|row| drop(row.cells.pop()));
        table
    }));
    for place in 0..tables.len() {
        if let Some((table, later)) = tables[place..].split_first_mut() {
            table.notes.retain(|note| later.iter().all(|other| !other.notes.contains(note)));
        }
    }
    let all: Vec<&Table> = tables.iter().collect();
    let mut narrow: Vec<Table> =
        (0..all.len()).flat_map(|place| narrowed(&all, place, width)).collect();
    let mut said = Table::new(Section::Other, "notes", "Notes");
    said.notes = notes::notes(view, warnings, width);
    narrow.extend((!said.notes.is_empty()).then_some(said));
    narrow
}

/// The parts of the table at `place`, none of them wider than the terminal.
fn narrowed(tables: &[&Table], place: usize, width: usize) -> Vec<Table> {
    let mut table = tables[place].clone();
    table.notes = table
        .notes
        .iter()
        .filter_map(|note| told(tables, place, note))
        .map(Cow::into_owned)
        .collect();
    table.step = None;
    let mut parts = table.with_spreads().without_empty_columns(&[]).in_columns(width);
    for (number, part) in parts.iter_mut().enumerate() {
        part.legend.clear();
        part.part.clear();
        // The first part has it for all.
        let title = part.title.lines().take_while(|_| number == 0);
        part.title = title.flat_map(|line| wrapped(line, width)).collect::<Vec<_>>().join("\n");
        part.notes = part.notes.iter().flat_map(|note| wrapped(note, width)).collect();
        if !part.fits(width) {
            *part = part.squeezed(width, &[0], "");
        }
    }
    parts
}

/// The verdicts on one metric. If they are many, those on the points of a sweep are in a table over
/// its clients.
fn verdicts(view: View<'_>, width: usize) -> Vec<Table> {
    let mut findings = view.judged.findings(view.results);
    let (mut over_clients, mut counts) = (Vec::new(), None);
    if findings.len() > LINES {
        counts = Some(tally(&findings));
        let swept = |finding: &Finding<'_>| view.sweep_of(finding.step).is_some();
        if findings.iter().any(swept) {
            let title = title(view, &findings);
            over_clients = sweeps::verdicts(view, &title);
        }
        findings.retain(|finding| !swept(finding));
    }
    let mut tables = match findings.len() {
        0 => Vec::new(),
        1..=LINES => vec![lines(view, &findings, width)],
        _ => vec![cells(view, &findings)],
    };
    tables.extend(over_clients);
    if let Some((first, counts)) = tables.first_mut().zip(counts) {
        first.title = format!("{}\n{counts}", first.title);
    }
    let cells = || tables.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells);
    let mut notes = Vec::new();
    notes.extend(cells().any(|it| it.ends_with(sweeps::SIGNS)).then_some(SIGNS_MEAN));
    notes.extend(cells().any(|it| it.starts_with('(')).then_some(FEW));
    if let Some(last) = tables.last_mut() {
        last.notes.extend(notes.into_iter().map(str::to_owned));
    }
    tables
}

/// Throughput without a comparison, and notes about the figures. If there are more steps than
/// variants, a row for each step.
fn alone(view: View<'_>) -> Vec<Table> {
    let rows_are_steps = view.rows_are_steps || view.results.variants.len() < view.steps().count();
    let mut tables = throughput::tables(View { rows_are_steps, ..view });
    tables.extend(sweeps::tables(view));
    tables.retain(|table| table.part == "absolute");
    for table in &mut tables {
        let spread = table.legend.iter().filter(|line| *line == sweeps::SPREAD);
        let what: Vec<String> = table.legend.first().into_iter().chain(spread).cloned().collect();
        table.notes.splice(0..0, what);
    }
    tables
}

fn title(view: View<'_>, findings: &[Finding<'_>]) -> String {
    let blocks = match findings.iter().any(|finding| finding.blocks > 0) {
        true => view.counted(findings.iter().map(|finding| finding.blocks)),
        false => "not measured in any block".to_owned(),
    };
    let what = match view.judged.metric.as_str() {
        name if name != OPS.name => name,
        _ if findings.iter().all(|it| is_cost(view, it)) => "Costs",
        _ => "Throughput",
    };
    let base = view.judged.base_name(view.results);
    if findings.iter().all(|finding| finding.judged().is_none()) {
        return format!("{what} relative to {base}: {blocks}");
    }
    let (intervals, margin) = (intervals(view.judged), percent(view.judged.margin));
    format!("{what} relative to {base}: {intervals} intervals, {blocks}, margin {margin}")
}

/// `Of 110 comparisons: 37 regressions, 12 improvements, 61 equivalent`.
fn tally(findings: &[Finding<'_>]) -> String {
    use Verdict::{Equivalent, Improvement, Inconclusive, Regression};
    let of = |wanted| findings.iter().filter(|found| found.verdict == Some(wanted)).count();
    let counts = [
        (of(Regression), counted(of(Regression), "regression")),
        (of(Improvement), counted(of(Improvement), "improvement")),
        (of(Equivalent), format!("{} equivalent", of(Equivalent))),
        (of(Inconclusive), format!("{} inconclusive", of(Inconclusive))),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, said)| said);
    format!("Of {} comparisons: {}", findings.len(), counts.collect::<Vec<_>>().join(", "))
}

/// True if less is better for the step of a finding.
fn is_cost(view: View<'_>, finding: &Finding<'_>) -> bool {
    view.results.steps[finding.step].better == Better::Less
}

/// The judged figure of a finding's base.
fn of_base(view: View<'_>, finding: &Finding<'_>) -> String {
    let (step, base) = (&view.results.steps[finding.step], view.judged.base_of(finding.variant));
    let metric = view.judged.metric_in(step);
    let value = metric.and_then(|metric| absolute(step, base, base, metric.name));
    let shown = if view.judged.metric == OPS.name { rate } else { cost };
    value.map(shown).unwrap_or_default()
}

/// The ratio of a finding, marked if a rate was not held, and in parentheses if it may be chance.
fn ratio(view: View<'_>, finding: &Finding<'_>) -> String {
    let step = &view.results.steps[finding.step];
    let held = view.judged.not_held(step, finding.variant).is_empty();
    doubted(finding.ratio, finding.is_of_few(), if held { "" } else { "*" })
}

fn lines(view: View<'_>, findings: &[Finding<'_>], width: usize) -> Table {
    // The unit of a cost is with its step, and another metric is in the title.
    let throughput = view.judged.metric == OPS.name;
    let costs = findings.iter().any(|it| is_cost(view, it));
    let unit = if costs || !throughput { "" } else { OPS.name };
    let of = |base: &str| format!("{base} {unit}").trim_end().to_owned();
    let ends = |(low, high)| format!("{} to {}", relative(low), relative(high));
    let interval = |it: &Finding<'_>| {
        it.judged().and_then(|found| found.low.zip(found.high)).map(ends).unwrap_or_default()
    };
    let range = |it: &Finding<'_>| {
        let few = it.is_of_few() && it.blocks > 1;
        let found = view.judged.ratios(view.results, it.step, it.variant);
        let ratios = || found.iter().map(|(_, ratio)| *ratio);
        let range = ratios().min_by(f64::total_cmp).zip(ratios().max_by(f64::total_cmp));
        range.filter(|_| few).map(ends).unwrap_or_default()
    };
    let verdict = |it: &Finding<'_>| it.verdict.filter(|_| !it.is_of_few());
    let table = Table::new(Section::Verdicts, BRIEF, title(view, findings)).listing_kinds(
        findings,
        |finding| kind(view, view.judged, finding),
        &[
            ("step", &|it| label_with_unit(view, &view.results.steps[it.step])),
            (&of(view.judged.base_name(view.results)), &|it| of_base(view, it)),
            (VARIANT, &|it| view.results.variant_name(it.variant).to_owned()),
            ("ratio", &|it| ratio(view, it)),
            ("range of blocks", &|it| range(it)),
            ("interval", &|it| interval(it)),
            ("verdict", &|it| verdict(it).map_or("", Verdict::as_str).to_owned()),
        ],
    );
    let mut table = table.without_empty_columns(&[]);
    if table.fits(width) {
        return table;
    }
    // The title already names the base.
    let base = of(view.judged.base_name(view.results));
    table.columns.iter_mut().filter(|head| **head == base).for_each(|head| *head = of("base"));
    let names = table.columns.iter().enumerate();
    let names: Vec<usize> = names
        .filter(|(_, head)| ["step", VARIANT].contains(&head.as_str()))
        .map(|it| it.0)
        .collect();
    table.squeezed(width, &names, view.judged.base_name(view.results))
}

fn cells(view: View<'_>, findings: &[Finding<'_>]) -> Table {
    let variants: BTreeSet<usize> = findings.iter().map(|finding| finding.variant).collect();
    let names = variants.iter().map(|variant| view.results.variant_name(*variant));
    let mut table = Table::new(Section::Verdicts, BRIEF, title(view, findings));
    table.columns = texts(std::iter::once("step").chain(names));
    for (number, _, label) in view.steps() {
        let cell = |variant: &usize| {
            let of = |finding: &&Finding<'_>| (finding.step, finding.variant) == (number, *variant);
            let of_pair = findings.iter().find(of);
            let verdict = of_pair.and_then(|finding| finding.verdict);
            let sign = of_pair.and_then(Finding::judged).map_or("", |_| sign(verdict));
            let ratio = of_pair.map_or_else(|| UNKNOWN.to_owned(), |finding| ratio(view, finding));
            (format!("{ratio}{sign}"), verdict)
        };
        let row = Row::judged(label, variants.iter().map(cell));
        table.rows.extend(Some(row).filter(|row| row.verdicts.iter().any(|it| !it.is_empty())));
    }
    // As in the published tables, variants are rows if there are more of them than steps.
    if variants.len() > table.rows.len() { table.transposed(VARIANT) } else { table }
}
