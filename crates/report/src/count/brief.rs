//! The short output for a terminal: what each kind takes, and the functions that moved most.

use super::document::{CountDocument, KindDocument};
use super::events::{self, Count, foremost, is_regression, moved};
use super::functions::FunctionDocument;
use crate::output::fit::{shortened, wrapped};
use crate::output::number::{UNKNOWN, exact_relative, or_unknown, percent, signed_work, work};
use crate::output::sheet::{Part, Sheet};
use crate::output::table::{RowKind, Section, Table, VARIANT, distinct};

/// Up to this many counts get a line: with the functions, about as many lines as a terminal has.
const COUNTS: usize = 9;
/// Functions that are shown.
const FUNCTIONS: usize = 5;
/// Longest name of a function, in characters.
const LONGEST: usize = 48;

/// A line for each count that is compared with the base's, and the functions that moved most; of a
/// single variant, its counts. Nothing is wider than `width` characters, as far as names allow.
pub(super) fn sheet(document: &CountDocument, width: usize) -> Sheet {
    let all = || {
        let kinds = document.counts.iter();
        kinds.flat_map(|kind| kind.variants.iter().map(move |one| (kind, one)))
    };
    let alone = distinct(all().map(|(_, one)| one.name.as_str())).len() < 2;
    let counts: Vec<Count<'_>> =
        all().filter(|(_, one)| alone || one.name != document.base).collect();
    let mut sheet = Sheet::default();
    let lines = std::iter::once(lines(document, &counts, alone, width));
    let events = events::tables(document, Some(COUNTS));
    for table in lines.chain(events).chain(functions(document, &counts)) {
        let titled = |part| Table { title: wrapped(&table.title, width).join("\n"), ..part };
        table.in_columns(width).into_iter().for_each(|part| sheet.table(titled(part)));
    }
    let notes = notes(document, &counts);
    sheet.parts.push(Part::Notes(notes.iter().flat_map(|note| wrapped(note, width - 2)).collect()));
    sheet
}

/// The counts that moved most, regressions before others, in their order.
fn lines(document: &CountDocument, counts: &[Count<'_>], alone: bool, width: usize) -> Table {
    let shown = foremost(counts, COUNTS);
    let groups = distinct(document.counts.iter().map(KindDocument::group));
    let all: Vec<_> = groups.iter().collect();
    let protocols = groups.iter().map(|group| group.protocol.as_str());
    let noun = super::counted::noun(protocols);
    let base = document.base.as_str();
    let title = match alone {
        true => format!("{} per {noun}", document.titled()),
        false => format!(
            "{} per {noun} relative to {base}: exact counts, margin {}",
            document.titled(),
            percent(document.margin)
        ),
    };
    let verdict = |(_, one): &Count<'_>| one.verdict.clone().unwrap_or_default();
    let kind_of = |count: &Count<'_>| {
        let verdict = verdict(count);
        RowKind::of(verdict == "regression", verdict == "improvement")
    };
    let of_base =
        |(kind, _): &Count<'_>| or_unknown(kind.of(base).map(|one| one.per_statement), work);
    let of_one = |(_, one): &Count<'_>| work(one.per_statement);
    let kind = |(kind, _): &Count<'_>| kind.group().named(&kind.kind, &all);
    let variant = |(_, one): &Count<'_>| one.name.clone();
    let ratio = |(_, one): &Count<'_>| or_unknown(one.relative, exact_relative);
    let shown = || shown.iter().copied();
    let table = |head: &str| {
        let table = Table::new(Section::Other, "count.brief", title.clone());
        if alone {
            let name = counts.first().map_or(UNKNOWN, |(_, one)| one.name.as_str());
            return table.listing(shown(), &[("kind", &kind), (name, &of_one)]);
        }
        table.listing_kinds(
            shown(),
            kind_of,
            &[
                ("kind", &kind),
                (head, &of_base),
                (VARIANT, &variant),
                (&document.event, &of_one),
                ("ratio", &ratio),
                ("verdict", &verdict),
            ],
        )
    };
    // The title already names the base.
    let named = table(base);
    if named.fits(width) { named } else { table("base") }
}

/// The functions that moved most in the count that moved most; without a difference, none.
fn functions(document: &CountDocument, counts: &[Count<'_>]) -> Option<Table> {
    let most =
        counts.iter().reduce(|most, next| if moved(next) > moved(most) { next } else { most });
    let (kind, one) = most.filter(|count| moved(count) > 0.0)?;
    let own =
        |side: Option<super::functions::WorkDocument>| or_unknown(side.map(|it| it.own), work);
    let has_moved = |function: &&FunctionDocument| {
        function.difference.is_some_and(|it| signed_work(it.own) != "0")
    };
    let title = format!(
        "Functions of {} that moved most, {} compared with {}: own {}",
        kind.kind, one.name, document.base, document.event
    );
    let id = format!("count.brief.functions.{}.{}", kind.kind, one.name);
    let functions: Vec<_> = one.functions.iter().filter(has_moved).take(FUNCTIONS).collect();
    let names: Vec<String> = functions.iter().map(|function| function.name.clone()).collect();
    Table::new(Section::Other, id, title)
        .listing(
            shortened(&names, LONGEST).into_iter().zip(functions),
            &[
                ("function", &|(name, _)| name.clone()),
                ("base", &|(_, function)| own(function.base)),
                (VARIANT, &|(_, function)| own(function.variant)),
                ("+/-", &|(_, function)| {
                    or_unknown(function.difference.map(|it| it.own), signed_work)
                }),
            ],
        )
        .filled()
}

/// Notes on what is left out, and warnings.
fn notes(document: &CountDocument, counts: &[Count<'_>]) -> Vec<String> {
    let mut notes = document.missing();
    let codes = distinct(document.warnings.iter().map(|warning| warning.code.as_str()));
    if !codes.is_empty() {
        notes.push(format!("warnings: {}", codes.join(", ")));
    }
    let regressions = counts.iter().filter(|count| is_regression(count)).count();
    if regressions > COUNTS {
        notes.push(format!("{regressions} regressions in all"));
    }
    let more = match counts.len().saturating_sub(COUNTS) {
        0 => String::new(),
        more => format!("{more} more counts; "),
    };
    notes.push(format!("{more}all counts, phases, functions and warnings: --full"));
    notes
}
