//! The short output for a terminal: what each kind takes, and the functions that moved most.

use super::document::{CountDocument, CountedVariant, KindDocument};
use super::functions::FunctionDocument;
use crate::output::fit::wrapped;
use crate::output::number::{UNKNOWN, exact_relative, or_unknown, percent, signed_work, work};
use crate::output::sheet::{Part, Sheet};
use crate::output::table::{RowKind, Section, Table, distinct};

/// Up to this many counts get a line: with the functions, about as many lines as a terminal has.
const COUNTS: usize = 9;
/// Functions that are shown.
const FUNCTIONS: usize = 5;
/// Longest name of a function, in characters.
const LONGEST: usize = 48;

/// A kind and one of its counts.
type Count<'a> = (&'a KindDocument, &'a CountedVariant);

/// A line for each count that is compared with the base's, and the functions that moved most; of a
/// single variant, its counts and the functions that cost most. Nothing is wider than `width`
/// characters, as far as names allow.
pub(super) fn sheet(document: &CountDocument, width: usize) -> Sheet {
    let all = || {
        let kinds = document.counts.iter();
        kinds.flat_map(|kind| kind.variants.iter().map(move |one| (kind, one)))
    };
    let alone = distinct(all().map(|(_, one)| one.name.as_str())).len() < 2;
    let counts: Vec<Count<'_>> =
        all().filter(|(_, one)| alone || one.name != document.base).collect();
    let mut sheet = Sheet::default();
    let functions = functions(document, &counts);
    for table in [Some(lines(document, &counts, alone, width)), functions].into_iter().flatten() {
        let titled = |part| Table { title: wrapped(&table.title, width).join("\n"), ..part };
        table.in_columns(width).into_iter().for_each(|part| sheet.table(titled(part)));
    }
    let notes = notes(document, counts.len());
    sheet.parts.push(Part::Notes(notes.iter().flat_map(|note| wrapped(note, width - 2)).collect()));
    sheet
}

/// How far a count is from the base's.
fn moved((_, one): &Count<'_>) -> f64 {
    let certain = one.relative.filter(|_| one.certain == Some(true));
    certain.map_or(0.0, |ratio| ratio.ln().abs())
}

/// The counts that moved most, in their order.
fn lines(document: &CountDocument, counts: &[Count<'_>], alone: bool, width: usize) -> Table {
    let mut shown: Vec<usize> = (0..counts.len()).collect();
    shown.sort_by(|a, b| moved(&counts[*b]).total_cmp(&moved(&counts[*a])));
    shown.truncate(COUNTS);
    shown.sort_unstable();
    let groups = distinct(document.counts.iter().map(KindDocument::group));
    let places = distinct(groups.iter().map(|group| group.place.as_str())).len();
    let label = |kind: &KindDocument| match (groups.len(), places) {
        (0 | 1, _) => kind.kind.clone(),
        (_, 1) => format!("{} ({})", kind.kind, kind.protocol),
        _ => format!("{} ({}, {})", kind.kind, kind.protocol, kind.place),
    };
    let protocols = groups.iter().map(|group| group.protocol.as_str());
    let noun = super::counted::noun(protocols);
    let base = document.base.as_str();
    let title = match alone {
        true => format!("Instructions per {noun}"),
        false => format!(
            "Instructions per {noun} relative to {base}: exact counts, margin {}",
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
    let kind = |(kind, _): &Count<'_>| label(kind);
    let version = |(_, one): &Count<'_>| one.name.clone();
    let ratio = |(_, one): &Count<'_>| or_unknown(one.relative, exact_relative);
    let shown = || shown.iter().map(|place| counts[*place]);
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
                ("version", &version),
                ("instructions", &of_one),
                ("ratio", &ratio),
                ("verdict", &verdict),
            ],
        )
    };
    // The title already names the base.
    let named = table(base);
    if named.in_columns(width).len() > 1 { table("base") } else { named }
}

/// The functions that moved most in the count that moved most; without a difference, none.
fn functions(document: &CountDocument, counts: &[Count<'_>]) -> Option<Table> {
    let most =
        counts.iter().reduce(|most, next| if moved(next) > moved(most) { next } else { most });
    let (kind, one) = most.filter(|count| moved(count) > 0.0)?;
    let own =
        |side: Option<super::functions::WorkDocument>| or_unknown(side.map(|it| it.own), work);
    let name = |function: &&FunctionDocument| match function.name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &function.name[..end]),
        None => function.name.clone(),
    };
    let has_moved = |function: &&FunctionDocument| {
        function.difference.is_some_and(|it| signed_work(it.own) != "0")
    };
    let title = format!(
        "Functions of {} that moved most, {} compared with {}: own instructions",
        kind.kind, one.name, document.base
    );
    let id = format!("count.brief.functions.{}.{}", kind.kind, one.name);
    Table::new(Section::Other, id, title)
        .listing(
            one.functions.iter().filter(has_moved).take(FUNCTIONS),
            &[
                ("function", &name),
                ("base", &|function| own(function.base)),
                ("version", &|function| own(function.variant)),
                ("+/-", &|function| or_unknown(function.difference.map(|it| it.own), signed_work)),
            ],
        )
        .filled()
}

/// What is left out, and warnings.
fn notes(document: &CountDocument, counts: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if !document.finished {
        notes.push("the count is not finished: run it again".to_owned());
    }
    let codes = distinct(document.warnings.iter().map(|warning| warning.code.as_str()));
    if !codes.is_empty() {
        notes.push(format!("warnings: {}", codes.join(", ")));
    }
    let more = match counts.saturating_sub(COUNTS) {
        0 => String::new(),
        more => format!("{more} more counts moved less; "),
    };
    notes.push(format!("{more}all counts, phases, functions and warnings: --full"));
    notes
}
