//! All events beside each other: instructions, and what simulated caches and branches add.

use super::counted::noun;
use super::document::{CountDocument, CountedVariant, KindDocument};
use crate::output::number::{exact_relative, or_unknown, repeated, work};
use crate::output::table::{Column, RowKind, Section, Table, VARIANT, distinct};

/// A kind by one event, and the count of one variant.
pub(super) type Count<'a> = (&'a KindDocument, &'a CountedVariant);

/// The text of a column's cell.
type Cell<'a, 'd> = &'a dyn Fn(&Count<'d>) -> String;

/// What the events mean, for the table's legend.
const MEANING: [&str; 3] = [
    "L1 misses, LL misses: of simulated caches (32 KiB each, 1 MiB), without prefetching, other \
     processes and the kernel",
    "certain from: the scatter of both sides, at least what other code elsewhere in a program moves \
     (0.5% to 7%) or one per statement",
    "estimated cycles: instructions + 10 L1 misses + 100 LL misses + 10 mispredicted branches",
];

/// The counts of all events, a table for each protocol and place. Of `most` rows at most, those
/// that moved most are kept, in their order. Empty if only one event was counted.
pub(super) fn tables(document: &CountDocument, most: Option<usize>) -> Vec<Table> {
    if document.events.is_empty() {
        return Vec::new();
    }
    let place = |kind: &KindDocument| (kind.protocol.clone(), kind.place.clone());
    let places = distinct(document.counts.iter().map(place));
    let of = |wanted: &(String, String)| table(document, most, |kind| place(kind) == *wanted);
    places.iter().filter_map(of).collect()
}

fn table<'d>(
    document: &'d CountDocument,
    most: Option<usize>,
    wanted: impl Fn(&KindDocument) -> bool,
) -> Option<Table> {
    let (base, counts) = (document.base.as_str(), document.counts.iter());
    // Each kind's events follow each other, those that are shown in detail first.
    let kinds: Vec<&KindDocument> = counts
        .filter(|kind| wanted(kind))
        .flat_map(|kind| {
            let same = move |other: &&KindDocument| other.is_also(kind);
            std::iter::once(kind).chain(document.events.iter().filter(same))
        })
        .collect();
    let group = kinds.first()?.group();
    let all = kinds.iter().flat_map(|kind| kind.variants.iter().map(|one| (*kind, one)));
    let mut rows: Vec<Count<'d>> = all.clone().filter(|(_, one)| one.name != base).collect();
    let alone = rows.is_empty();
    if alone {
        rows = all.collect();
    }
    if let Some(most) = most {
        rows = foremost(&rows, most);
    }
    let title = format!("Events per {}: {}", noun([group.protocol.as_str()]), group.words());
    let id = format!("count.{}.{}.events", group.protocol, group.place);
    let kind = |(kind, _): &Count<'d>| kind.kind.clone();
    let event = |(kind, _): &Count<'d>| kind.event.clone();
    let variant = |(_, one): &Count<'d>| one.name.clone();
    let verdict = |(_, one): &Count<'d>| one.verdict.clone().unwrap_or_default();
    let here = |(_, one): &Count<'d>| work(one.per_statement);
    let there = |count: &Count<'d>| or_unknown(count.0.of(base).map(|it| it.per_statement), work);
    let ratio = |(_, one): &Count<'d>| or_unknown(one.relative, exact_relative);
    let apart = |(_, one): &Count<'d>| or_unknown(one.threshold, repeated);
    let own = |(_, one): &Count<'d>| or_unknown(one.repeatability, repeated);
    let mut columns: Vec<Column<'_, Count<'d>>> = vec![("kind", &kind), ("event", &event)];
    let variants = distinct(rows.iter().map(|(_, one)| one.name.as_str()));
    match &variants[..] {
        _ if alone => columns.extend([("count", &here as Cell<'_, 'd>), ("repeatability", &own)]),
        // With a column of its own, its name need not be in each row.
        [one] => columns.extend([(base, &there as Cell<'_, 'd>), (*one, &here)]),
        _ => {
            columns.extend([(base, &there as Cell<'_, 'd>), (VARIANT, &variant), ("count", &here)])
        }
    }
    if !alone {
        columns.push(("relative", &ratio));
        if most.is_none() {
            columns.push(("certain from", &apart));
        }
        columns.push(("verdict", &verdict));
    }
    let highlight =
        |it: &Count<'d>| RowKind::of(verdict(it) == "regression", verdict(it) == "improvement");
    let table = Table::new(Section::Other, id, title).explained(MEANING);
    table.listing_kinds(rows.iter().copied(), highlight, &columns).filled()
}

/// The counts that moved most, regressions before others, in their order; as many as given at most.
pub(super) fn foremost<'a>(counts: &[Count<'a>], most: usize) -> Vec<Count<'a>> {
    let mut shown: Vec<usize> = (0..counts.len()).collect();
    let rank = |place: &usize| (is_regression(&counts[*place]), moved(&counts[*place]));
    shown.sort_by(|a, b| {
        let ((a_worse, a), (b_worse, b)) = (rank(a), rank(b));
        b_worse.cmp(&a_worse).then(b.total_cmp(&a))
    });
    shown.truncate(most);
    shown.sort_unstable();
    shown.into_iter().map(|place| counts[place]).collect()
}

pub(super) fn is_regression((_, one): &Count<'_>) -> bool {
    one.verdict.as_deref() == Some("regression")
}

/// How far a count is from the base's, if that is certain.
pub(super) fn moved((_, one): &Count<'_>) -> f64 {
    let certain = one.relative.filter(|_| one.certain == Some(true));
    certain.map_or(0.0, |ratio| ratio.ln().abs())
}
