//! The tables of counts, in the published shape: a legend, absolute values, relative values.

use super::counted::Group;
use super::document::{CountDocument, CountedVariant, KindDocument};
use super::events;
use super::functions::{FunctionDocument, WorkDocument};
use super::options::CountOptions;
use super::spread::{LEAST, least};
use crate::output::number::{
    UNKNOWN, exact_change, exact_relative, or_unknown, percent, repeated, signed_work, tenths, work,
};
use crate::output::sheet::{List, Part, Sheet};
use crate::output::table::{
    RELATIVE, Row, RowKind, Section, Table, VARIANT, distinct, one_line, texts,
};

/// A table wider than this has kinds as rows.
const WIDTH: usize = 100;

/// `most`: the kind that moved most, if any did.
pub(super) fn sheet(
    document: &CountDocument,
    most: Option<usize>,
    options: &CountOptions,
) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.notes(
        document.warnings.iter().map(|w| format!("{}: {}", w.code, one_line(&w.text))).collect(),
    );
    if !document.sentences.is_empty() {
        sheet.parts.push(Part::List(sentences(document)));
    }
    for kinds in document.counts.chunk_by(|one, next| one.group() == next.group()) {
        let counts = Counts { document, kinds, group: kinds[0].group() };
        let mut tables = counts.counts();
        tables.push(counts.verdicts());
        tables.extend(counts.phases());
        for table in tables.into_iter().filter(Table::says_something) {
            sheet.table(table);
        }
    }
    events::tables(document, None).into_iter().for_each(|table| sheet.table(table));
    functions(document, most, options, &mut sheet);
    sheet
}

fn sentences(document: &CountDocument) -> List {
    List {
        id: "count.words".to_owned(),
        title: "What changed".to_owned(),
        lead: format!("the kind that moved most, exact counts of {}:", document.event),
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

/// The kinds of one group.
struct Counts<'a> {
    document: &'a CountDocument,
    kinds: &'a [KindDocument],
    group: Group,
}

/// Part of a table: its id, its title, and its cell for a count.
type Figure<'a> = (&'static str, &'a str, fn(&CountedVariant) -> String);

impl Counts<'_> {
    /// Title of the part with absolute figures.
    fn absolute(&self) -> String {
        format!("{} per {}", self.document.event, self.group.noun())
    }

    /// Their counts, each with its kind.
    fn all(&self) -> impl Iterator<Item = (&KindDocument, &CountedVariant)> {
        self.kinds.iter().flat_map(|kind| kind.variants.iter().map(move |one| (kind, one)))
    }

    /// The row of a variant.
    fn row(&self, name: &str, label: &str, cells: impl Iterator<Item = String>) -> Row {
        let is_base = name == self.document.base;
        Row::new(label, cells).of_kind(is_base.then_some(RowKind::Base))
    }

    /// Counts per statement and per row, relative to the base, and how well they repeat.
    fn counts(&self) -> Vec<Table> {
        let (place, base) = (&self.group.place, &self.document.base);
        let event = &self.document.event;
        let scattered = self.all().any(|(_, one)| one.counts.len() > 2);
        let mut legend = vec![
            match self.group.noun() {
                "call" => format!(
                    "{event}: everything the library executed in these calls, counted under Callgrind"
                ),
                _ => format!(
                    "{event}: everything the session's {place} executed, counted under Callgrind"
                ),
            },
            format!("relative: value of the variant / value of {base}"),
            format!("same: within {}, and within the margin", self.certain()),
            format!(
                "repeatability: +/- of the mean of all counts, 95%, by how far they scatter; {}",
                self.worst()
            ),
        ];
        if scattered {
            legend.push("spread: (largest - smallest) / mean, of so many counts".to_owned());
        }
        let (absolute, per_row) = (self.absolute(), format!("{event} per row"));
        let figures: [Figure<'_>; 5] = [
            ("statement", &absolute, |one| or_unknown(Some(one.per_statement), work)),
            ("row", &per_row, |one| or_unknown(one.per_row, work)),
            ("relative", RELATIVE, |one| match one.relative {
                Some(_) if one.verdict.as_deref() == Some("same") => "same".to_owned(),
                relative => or_unknown(relative, exact_relative),
            }),
            ("repeatability", "repeatability", |one| or_unknown(one.repeatability, repeated)),
            ("spread", "spread of the counts", |one| {
                format!("{} of {}", repeated(one.spread), one.counts.len())
            }),
        ];
        let table = |(id, name, cell): Figure<'_>| {
            let mut table = part(&self.group, id, &self.document.titled(), name);
            table.legend.clone_from(&legend);
            let kinds = self.kinds.iter().map(|kind| kind.kind.as_str());
            table.columns = texts([VARIANT].into_iter().chain(kinds));
            let counted = |name: &&String| self.kinds.iter().any(|kind| kind.of(name).is_some());
            let wanted = |name: &&String| id != "relative" || *name != base;
            for name in self.document.variants.iter().filter(counted).filter(wanted) {
                let cells = self.kinds.iter().map(|kind| kind.of(name));
                let cells = cells.map(|one| one.map_or_else(|| UNKNOWN.to_owned(), cell));
                table.rows.push(self.row(name, name, cells));
            }
            table
        };
        let rows = self.all().any(|(_, one)| one.rows.is_some());
        let shown = |(id, ..): &Figure<'_>| match *id {
            "row" => rows,
            "spread" => scattered,
            _ => true,
        };
        let tables = figures.into_iter().filter(shown).map(table).filter_map(Table::filled);
        let tables: Vec<Table> = tables.collect();
        let width = |table: &Table| -> usize {
            (0..table.columns.len()).map(|column| table.width(column) + 2).sum()
        };
        match tables.iter().any(|table| width(table) > WIDTH) {
            true => tables.iter().map(|table| table.transposed("kind")).collect(),
            false => tables,
        }
    }

    /// From which difference on there certainly is one.
    fn certain(&self) -> String {
        let least = least(&self.document.event, f64::INFINITY);
        let one = if least > LEAST { " or one per statement" } else { "" };
        format!("the repeatability of both sides together, at least {}{one}", repeated(least))
    }

    /// The count of the group that repeats worst.
    fn worst(&self) -> String {
        let all = self.all().filter_map(|(kind, one)| Some((one.repeatability?, kind, one)));
        match all.reduce(|worst, next| if next.0 > worst.0 { next } else { worst }) {
            Some((value, kind, one)) if value > 0.0 => {
                format!("the worst is {} ({}, {})", repeated(value), kind.kind, one.name)
            }
            _ => "all are 0%".to_owned(),
        }
    }

    /// Every kind and version compared with the base, with the smallest difference that counts.
    fn verdicts(&self) -> Table {
        let compared = self.all().filter_map(|(kind, one)| Some((kind, one, one.threshold?)));
        let verdict = |one: &CountedVariant| one.verdict.clone().unwrap_or_default();
        let row = |(_, one, ..): &(&KindDocument, &CountedVariant, f64)| {
            RowKind::of(verdict(one) == "regression", verdict(one) == "improvement")
        };
        let (absolute, base) = (self.absolute(), &self.document.base);
        part(&self.group, "verdicts", "Verdicts", "")
            .explained([
                &format!("relative, difference: {absolute} compared with {base}"),
                &format!("certain from: {}", self.certain()),
                &format!(
                    "verdict: regression or improvement if it certainly exceeds {}; inconclusive if it may; otherwise equivalent, or same if not certain",
                    percent(self.document.margin)
                ),
            ])
            .listing_kinds(compared, row, &[
                ("kind", &|(kind, ..)| kind.kind.clone()),
                (VARIANT, &|(_, one, ..)| one.name.clone()),
                ("relative", &|(_, one, _)| or_unknown(one.relative, exact_relative)),
                ("difference", &|(_, one, _)| or_unknown(one.relative, exact_change)),
                ("certain from", &|(.., threshold)| repeated(*threshold)),
                ("verdict", &|(_, one, ..)| verdict(one)),
            ])
    }

    /// Counts of each phase, their shares, and how much they increased.
    fn phases(&self) -> Vec<Table> {
        let phases = self.all().flat_map(|(_, one)| &one.phases);
        let names: Vec<&str> = distinct(phases.map(|phase| phase.name.as_str()));
        if names.is_empty() {
            return Vec::new();
        }
        let known: Vec<&str> = names.iter().copied().filter(|name| *name != "other").collect();
        let (known, noun) = (known.join(", "), self.group.noun());
        let legend = format!(
            "{known}: {} in these phases of a {noun} and in everything they call",
            self.document.event
        );
        let (absolute, base) = (self.absolute(), &self.document.base);
        let table = |id: &str, name: &str, cell: PhaseCell| {
            let mut table = part(&self.group, id, "Phases", name)
                .explained([&legend, "other: the rest, such as reading the statement"]);
            let headings = ["kind", VARIANT].into_iter().chain(names.iter().copied());
            table.columns = texts(headings.chain(["total"]));
            let wanted = |one: &CountedVariant| id != "moved" || one.name != *base;
            for (kind, one) in self.all().filter(|(_, one)| wanted(one)) {
                let phases = names.iter().map(|name| Some(*name)).chain([None]);
                let cells = phases.map(|phase| cell(kind.of(base), one, phase));
                let cells = std::iter::once(one.name.clone()).chain(cells);
                table.rows.push(self.row(&one.name, &kind.kind, cells));
            }
            table.filled()
        };
        let tables = [
            table("phases", &absolute, |_, one, phase| or_unknown(in_phase(one, phase), work)),
            table("shares", &format!("percent of the {noun}"), |_, one, phase| {
                let share = in_phase(one, phase).map(|value| 100.0 * value / one.per_statement);
                or_unknown(share, tenths)
            }),
            table("moved", &format!("{absolute} above {base}"), |base, one, phase| {
                let before = base.and_then(|base| in_phase(base, phase));
                let moved = in_phase(one, phase).zip(before).map(|(after, before)| after - before);
                or_unknown(moved, signed_work)
            }),
        ];
        tables.into_iter().flatten().collect()
    }
}

/// A cell for a phase of a count, or for all of them, with the base's count.
type PhaseCell = fn(Option<&CountedVariant>, &CountedVariant, Option<&str>) -> String;

/// Events per statement in a phase, or in all of them; `None` where phases are not known.
fn in_phase(one: &CountedVariant, phase: Option<&str>) -> Option<f64> {
    let Some(name) = phase else { return Some(one.per_statement) };
    let found = one.phases.iter().find(|known| known.name == name);
    (!one.phases.is_empty()).then(|| found.map_or(0.0, |found| found.per_statement))
}

/// A part of the table of a group.
fn part(group: &Group, id: &str, title: &str, part: &str) -> Table {
    let id = format!("count.{}.{}.{id}", group.protocol, group.place);
    let title = format!("{title}: {}", group.words());
    Table { part: part.to_owned(), ..Table::new(Section::Other, id, title) }
}

/// The functions that moved, for the kind that moved most or for all kinds; for a single variant,
/// the functions that cost most.
fn functions(
    document: &CountDocument,
    most: Option<usize>,
    options: &CountOptions,
    sheet: &mut Sheet,
) {
    let counts = || document.counts.iter().flat_map(|kind| &kind.variants);
    if options.functions == 0 || counts().all(|one| one.functions.is_empty()) {
        return;
    }
    let alone = distinct(counts().map(|one| &one.name)).len() < 2;
    let wanted = |place: usize| options.every_kind || most == Some(place) || alone && place == 0;
    let shown = document.counts.iter().enumerate().filter(|(place, _)| wanted(*place));
    let shown = shown.flat_map(|(_, kind)| kind.variants.iter().map(move |one| (kind, one)));
    let tables: Vec<Table> = shown
        .filter(|(_, one)| (one.relative.is_some() || alone) && !one.functions.is_empty())
        .map(|(kind, one)| function_table(kind, one, &document.base))
        .filter(Table::says_something)
        .collect();
    if tables.is_empty() {
        sheet.notes(vec!["no kind moved, so no functions are shown".to_owned()]);
    }
    tables.into_iter().for_each(|table| sheet.table(table));
}

/// A column of a table of functions, and its figure.
type WorkColumn = (&'static str, fn(WorkDocument) -> f64);

fn function_table(kind: &KindDocument, variant: &CountedVariant, base: &str) -> Table {
    let compared = variant.relative.is_some();
    let with = if compared { format!(" compared with {base}") } else { String::new() };
    let group = kind.group();
    let mut table = part(
        &group,
        &format!("functions.{}.{}", kind.kind, variant.name),
        &format!("Functions of {}, {}{with}", kind.kind, variant.name),
        "",
    );
    // Callgrind does not see calls on all processors.
    let seen = |work: WorkDocument| work.calls > 0.0;
    let calls = variant.functions.iter().any(|it| it.variant.or(it.base).is_some_and(seen));
    let also = match calls {
        true => "; incl: including everything it called; calls: how often it was called",
        false => "",
    };
    let own = format!("per {}; own: {} in the function itself{also}", group.noun(), kind.event);
    let figures: &[WorkColumn] =
        &[("own", |work| work.own), ("incl", |work| work.inclusive), ("calls", |work| work.calls)];
    let figures = if calls { figures } else { &figures[..1] };
    let rose = format!("+/-: increase; sorted by how far own {} moved", kind.event);
    table.legend = std::iter::once(own).chain(compared.then_some(rose)).collect();
    table.step = Some(kind.kind.clone());
    table.columns.push("function".to_owned());
    for (figure, _) in figures {
        if compared {
            table.columns.extend([
                format!("{figure} {base}"),
                format!("{figure} {}", variant.name),
                format!("{figure} +/-"),
            ]);
        } else {
            table.columns.push((*figure).to_owned());
        }
    }
    let moved = |function: &&FunctionDocument| {
        let still = |work: WorkDocument| {
            [work.own, work.inclusive, work.calls].map(signed_work) == ["0", "0", "0"]
        };
        !compared || function.difference.is_none_or(|work| !still(work))
    };
    for function in variant.functions.iter().filter(moved) {
        let cells = figures.iter().flat_map(|(_, figure)| {
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
