//! The tables of counts, in the published shape: a legend, absolute values, relative values.

use store::CountRecord;

use super::counted::{
    CountVerdict, Counted, Difference, Group, Kind, in_phase, per_row, per_statement,
};
use super::document::{CountDocument, CountedVariant};
use super::functions::{FunctionDocument, WorkDocument};
use super::options::CountOptions;
use super::spread::{LEAST, Spread};
use crate::output::number::{
    UNKNOWN, exact_change, exact_relative, or_unknown, percent, repeated, signed_work, tenths, work,
};
use crate::output::sheet::{List, Part, Sheet};
use crate::output::table::{RELATIVE, Row, RowKind, Section, Table, distinct, one_line, texts};

/// A table wider than this has kinds as rows.
const WIDTH: usize = 100;
/// Heading of variants, as published tables have it.
const VERSION: &str = "version";

pub(super) fn sheet(counted: &Counted, document: &CountDocument, options: &CountOptions) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.notes(
        document.warnings.iter().map(|w| format!("{}: {}", w.code, one_line(&w.text))).collect(),
    );
    if !document.sentences.is_empty() {
        sheet.parts.push(Part::List(sentences(document)));
    }
    for (group, kinds) in counted.groups() {
        let mut tables = instructions(counted, group, kinds);
        tables.push(verdicts(counted, group, kinds));
        tables.extend(phases(counted, group, kinds));
        for table in tables.into_iter().filter(Table::says_something) {
            sheet.table(table);
        }
    }
    functions(counted, document, options, &mut sheet);
    sheet
}

fn sentences(document: &CountDocument) -> List {
    List {
        id: "count.words".to_owned(),
        title: "What changed".to_owned(),
        lead: "the kind that moved most, exact instruction counts:".to_owned(),
        items: document
            .sentences
            .iter()
            .map(|said| {
                let predicate = said.sentence.strip_prefix(&said.variant);
                let predicate = predicate.unwrap_or(&said.sentence).trim_start();
                (said.variant.clone(), predicate.to_owned())
            })
            .collect(),
        nothing: String::new(),
    }
}

/// Title of the part with absolute figures.
fn absolute(group: &Group) -> String {
    format!("instructions per {}", group.noun())
}

/// A part of the table of a group.
fn part(group: &Group, id: &str, title: &str, part: &str) -> Table {
    let id = format!("count.{}.{}.{id}", group.protocol, group.place);
    let title = format!("{title}: {}", group.words());
    Table { part: part.to_owned(), ..Table::new(Section::Other, id, title) }
}

/// Instructions per statement and per row, relative to the base, and how well they repeat.
fn instructions(counted: &Counted, group: &Group, kinds: &[Kind]) -> Vec<Table> {
    let variants = counted.counted(kinds);
    let mut legend = vec![
        match group.noun() {
            "call" => "instructions: everything the library executed in these calls, counted under Callgrind".to_owned(),
            _ => format!("instructions: everything the session's {} executed, counted under Callgrind", group.place),
        },
        format!("relative: value of the version / value of {}", counted.name(counted.base)),
        format!(
            "same: within the repeatability of both sides together, at least {}",
            repeated(LEAST)
        ),
        format!(
            "repeatability: +/- of the mean of all counts, 95%, by how far they scatter; {}",
            worst(counted, kinds)
        ),
    ];
    let more_than_two = |record: &CountRecord| record.counts.len() > 2;
    let scattered = kinds.iter().flat_map(|kind| &kind.counts).flatten().any(more_than_two);
    if scattered {
        legend.push("spread: (largest - smallest) / mean, of so many counts".to_owned());
    }
    let figure = |value: fn(&CountRecord) -> Option<f64>, print: fn(f64) -> String| {
        move |kind: &Kind, variant: usize| or_unknown(kind.count(variant).and_then(value), print)
    };
    let mut tables = Vec::new();
    let mut add = |id: &str, name: &str, cell: &dyn Fn(&Kind, usize) -> String, base: bool| {
        let mut table = part(group, id, "Instructions", name);
        table.legend.clone_from(&legend);
        let names = kinds.iter().map(|kind| kind.kind.as_str());
        table.columns = texts([VERSION].into_iter().chain(names));
        for variant in variants.iter().filter(|variant| base || **variant != counted.base) {
            let cells = kinds.iter().map(|kind| cell(kind, *variant));
            let row = Row::new(counted.name(*variant), cells);
            table.rows.push(row.of_kind(marked(counted, *variant)));
        }
        tables.extend(table.filled());
    };
    add("statement", &absolute(group), &figure(|record| Some(per_statement(record)), work), true);
    if kinds.iter().flat_map(|kind| &kind.counts).flatten().any(|record| record.rows > 0) {
        add("row", "instructions per row", &figure(per_row, work), true);
    }
    let relative = |kind: &Kind, variant: usize| match counted.difference(kind, variant) {
        Some(difference) if difference.certain() => exact_relative(difference.ratio),
        Some(_) => "same".to_owned(),
        None => UNKNOWN.to_owned(),
    };
    add("relative", RELATIVE, &relative, false);
    let repeats = figure(interval, repeated);
    add("repeatability", "repeatability", &repeats, true);
    if scattered {
        let spread = |kind: &Kind, variant: usize| {
            let Some(record) = kind.count(variant) else { return UNKNOWN.to_owned() };
            let range = repeated(Spread::of(&record.counts).range);
            format!("{range} of {}", record.counts.len())
        };
        add("spread", "spread of the counts", &spread, true);
    }
    let width = |table: &Table| -> usize {
        (0..table.columns.len()).map(|column| table.width(column) + 2).sum()
    };
    if tables.iter().any(|table| width(table) > WIDTH) {
        tables = tables.iter().map(|table| table.transposed("kind")).collect();
    }
    tables
}

/// How the row of a variant is highlighted.
fn marked(counted: &Counted, variant: usize) -> Option<RowKind> {
    (variant == counted.base).then_some(RowKind::Base)
}

/// Uncertainty of the mean of the counts; `None` for a single count.
fn interval(record: &CountRecord) -> Option<f64> {
    Some(Spread::of(&record.counts).interval).filter(|interval| interval.is_finite())
}

/// The count of the group that repeats worst.
fn worst(counted: &Counted, kinds: &[Kind]) -> String {
    let all = kinds.iter().flat_map(|kind| {
        let records = kind.counts.iter().enumerate();
        records.filter_map(move |(variant, record)| {
            Some((interval(record.as_ref()?)?, kind.kind.as_str(), variant))
        })
    });
    let worst = all.reduce(|worst, next| if next.0 > worst.0 { next } else { worst });
    match worst {
        Some((value, kind, variant)) if value > 0.0 => {
            format!("the worst is {} ({kind}, {})", repeated(value), counted.name(variant))
        }
        _ => "all are 0%".to_owned(),
    }
}

/// Every kind and version compared with the base, with the smallest difference that counts.
fn verdicts(counted: &Counted, group: &Group, kinds: &[Kind]) -> Table {
    let pairs =
        kinds.iter().flat_map(|kind| (0..counted.variants.len()).map(move |place| (kind, place)));
    let compared =
        pairs.filter_map(|(kind, place)| Some((kind, place, counted.difference(kind, place)?)));
    let kind = |(.., found): &(&Kind, usize, Difference)| {
        let is = |verdict| found.verdict == verdict;
        RowKind::of(is(CountVerdict::Regression), is(CountVerdict::Improvement))
    };
    let (absolute, base) = (absolute(group), counted.name(counted.base));
    part(group, "verdicts", "Verdicts", "")
        .explained([
            &format!("relative, difference: {absolute} compared with {base}"),
            &format!(
                "repeatability: of both sides together, at least {}; a larger difference is certain",
                repeated(LEAST)
            ),
            &format!(
                "verdict: same if not certain; regression or improvement if it also exceeds {}, otherwise equivalent",
                percent(counted.margin)
            ),
        ])
        .listing_kinds(compared, kind, &[
            ("kind", &|(kind, ..)| kind.kind.clone()),
            (VERSION, &|(_, place, _)| counted.name(*place).to_owned()),
            ("relative", &|(.., found)| exact_relative(found.ratio)),
            ("difference", &|(.., found)| exact_change(found.ratio)),
            ("repeatability", &|(.., found)| repeated(found.threshold)),
            ("verdict", &|(.., found)| found.verdict.as_str().to_owned()),
        ])
}

/// Instructions of each phase, their shares, and how much they increased.
fn phases(counted: &Counted, group: &Group, kinds: &[Kind]) -> Vec<Table> {
    let names: Vec<&str> = distinct(kinds.iter().flat_map(Kind::phases));
    if names.is_empty() {
        return Vec::new();
    }
    let known: Vec<&str> = names.iter().copied().filter(|name| *name != "other").collect();
    let legend = vec![
        format!(
            "{}: instructions in these phases of a {} and in everything they call",
            known.join(", "),
            group.noun()
        ),
        "other: the rest, such as reading the statement".to_owned(),
    ];
    let base = counted.base;
    let mut tables = Vec::new();
    let mut add = |id: &str,
                   name: &str,
                   with_base: bool,
                   cell: &dyn Fn(&Kind, &CountRecord, Option<&str>) -> String| {
        let mut table = part(group, id, "Phases", name);
        table.legend.clone_from(&legend);
        let headings = ["kind", VERSION].into_iter().chain(names.iter().copied());
        table.columns = texts(headings.chain(["total"]));
        for kind in kinds {
            for variant in (0..counted.variants.len()).filter(|v| with_base || *v != base) {
                let Some(record) = kind.count(variant) else { continue };
                let phases = names.iter().map(|name| Some(*name)).chain([None]);
                let cells = std::iter::once(counted.name(variant).to_owned())
                    .chain(phases.map(|phase| cell(kind, record, phase)));
                let row = Row::new(&kind.kind, cells).of_kind(marked(counted, variant));
                table.rows.push(row);
            }
        }
        tables.extend(table.filled());
    };
    // A phase, or all of them.
    let of = |record: &CountRecord, phase: Option<&str>| match phase {
        Some(phase) => in_phase(record, phase),
        None => Some(per_statement(record)),
    };
    let absolute = absolute(group);
    add("phases", &absolute, true, &|_, record, phase| or_unknown(of(record, phase), work));
    add("shares", &format!("percent of the {}", group.noun()), true, &|_, record, phase| {
        let share = of(record, phase).map(|value| 100.0 * value / per_statement(record));
        or_unknown(share, tenths)
    });
    let title = format!("{absolute} above {}", counted.name(base));
    add("moved", &title, false, &|kind, record, phase| {
        let before = kind.count(base).and_then(|before| of(before, phase));
        let moved = of(record, phase).zip(before).map(|(after, before)| after - before);
        or_unknown(moved, signed_work)
    });
    tables
}

/// The functions that moved, for the kind that moved most or for all kinds; for a single variant,
/// the functions that cost most.
fn functions(
    counted: &Counted,
    document: &CountDocument,
    options: &CountOptions,
    sheet: &mut Sheet,
) {
    if options.functions == 0 {
        return;
    }
    let most = counted.moved_most(None).map(|(kind, _)| kind);
    let alone = counted.counted(&counted.kinds).len() < 2;
    let mut any = false;
    for (kind, shown) in counted.kinds.iter().zip(&document.counts) {
        let wanted = options.every_kind
            || most.is_some_and(|most| std::ptr::eq(most, kind))
            || (alone && std::ptr::eq(kind, &counted.kinds[0]));
        if !wanted {
            continue;
        }
        for variant in &shown.variants {
            let compared = variant.relative.is_some();
            if (compared || alone) && !variant.functions.is_empty() {
                let table = function_table(kind, variant, &document.base);
                if table.says_something() {
                    any = true;
                    sheet.table(table);
                }
            }
        }
    }
    let known = document.counts.iter().flat_map(|kind| &kind.variants);
    if !any && known.clone().any(|variant| !variant.functions.is_empty()) {
        let said = "no kind moved, so no functions are shown";
        sheet.notes(vec![said.to_owned()]);
    }
}

fn function_table(kind: &Kind, variant: &CountedVariant, base: &str) -> Table {
    let compared = variant.relative.is_some();
    let with = if compared { format!(" compared with {base}") } else { String::new() };
    let mut table = part(
        &kind.group,
        &format!("functions.{}.{}", kind.kind, variant.name),
        &format!("Functions of {}, {}{with}", kind.kind, variant.name),
        "",
    );
    let own = format!(
        "per {}; own: instructions in the function itself; incl: including everything it called; \
         calls: how often it was called",
        kind.group.noun()
    );
    let rose = "+/-: increase; sorted by how far own instructions moved";
    table.legend = std::iter::once(own).chain(compared.then(|| rose.to_owned())).collect();
    table.step = Some(kind.kind.clone());
    table.columns.push("function".to_owned());
    for figure in ["own", "incl", "calls"] {
        if compared {
            table.columns.extend([
                format!("{figure} {base}"),
                format!("{figure} {}", variant.name),
                format!("{figure} +/-"),
            ]);
        } else {
            table.columns.push(figure.to_owned());
        }
    }
    let moved = |function: &&FunctionDocument| {
        let still = |work: WorkDocument| {
            [work.own, work.inclusive, work.calls].map(signed_work) == ["0", "0", "0"]
        };
        !compared || function.difference.is_none_or(|work| !still(work))
    };
    let figures: [fn(WorkDocument) -> f64; 3] = [|w| w.own, |w| w.inclusive, |w| w.calls];
    for function in variant.functions.iter().filter(moved) {
        let cells = figures.iter().flat_map(|figure| {
            let side = |done: Option<WorkDocument>| or_unknown(done.map(figure), work);
            if compared {
                let moved = or_unknown(function.difference.map(figure), signed_work);
                vec![side(function.base), side(function.variant), moved]
            } else {
                vec![side(function.variant)]
            }
        });
        let one_sided = compared && (function.base.is_none() || function.variant.is_none());
        let row = Row::new(&function.name, cells);
        table.rows.push(row.of_kind(one_sided.then_some(RowKind::Marked)));
    }
    let lacks = |name: &str, of: fn(&FunctionDocument) -> bool| {
        let found = variant.functions.iter().filter(|function| of(function)).count();
        (found > 0).then(|| format!("{UNKNOWN} {found} not executed in {name}"))
    };
    if compared {
        table.notes.extend(lacks(base, |function| function.base.is_none()));
        table.notes.extend(lacks(&variant.name, |function| function.variant.is_none()));
    }
    table
}
