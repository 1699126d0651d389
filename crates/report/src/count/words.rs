//! Counts in plain words.

use serde::{Deserialize, Serialize};
use store::INSTRUCTIONS;

use super::counted::{
    CountVerdict, Counted, CountedKind, Difference, Group, in_phase, per_statement,
};
use super::functions::matched;
use super::spread::LEAST;
use crate::output::number::{digits, repeated};

/// A sentence about the changes in a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SentenceDocument {
    /// Its name.
    pub variant: String,
    /// The sentence; its subject is the variant.
    pub sentence: String,
}

/// A function is named if it makes up at least this share of the difference.
const NAMED_SHARE: f64 = 0.02;
/// Maximum number of functions to name.
pub(crate) const NAMED: usize = 3;

/// A sentence about the kind that moved most, for each variant with a count except the base.
pub(crate) fn sentences(counted: &Counted) -> Vec<SentenceDocument> {
    counted
        .counted()
        .filter(|variant| *variant != counted.base)
        .map(|variant| {
            let name = counted.name(variant);
            let said = predicate(counted, variant);
            SentenceDocument { variant: name.to_owned(), sentence: format!("{name} {said}") }
        })
        .collect()
}

/// The sentence about a variant, without its name.
fn predicate(counted: &Counted, variant: usize) -> String {
    let base = counted.name(counted.base);
    let compared: Vec<Difference> =
        counted.kinds.iter().filter_map(|kind| counted.difference(kind, variant)).collect();
    let Some((place, difference)) = counted.moved_most(Some(variant)) else {
        if compared.is_empty() {
            return format!("has no kind in common with {base}");
        }
        let most = compared.iter().map(|difference| difference.threshold).fold(LEAST, f64::max);
        let open = |it: &&Difference| it.verdict == CountVerdict::Inconclusive;
        let open = compared.iter().filter(open).count();
        if open > 0 {
            return format!(
                "can't be told from {base}: {open} of {} counts are not known well enough (to {})",
                compared.len(),
                repeated(most)
            );
        }
        return format!(
            "{} as many {} as {base}: no kind differs by more than counts are certain to ({})",
            verb(&counted.event),
            counted.event,
            repeated(most)
        );
    };
    let kind = &counted.kinds[place];
    let mut said = format!(
        "{} {} {} per {} of {} than {base}",
        verb(&counted.event),
        more(difference.ratio),
        counted.event,
        if has_rows(kind, counted.base, variant) { "row" } else { kind.group.noun() },
        named(counted, kind)
    );
    if let (Some(before), Some(after)) = (kind.count(counted.base), kind.count(variant)) {
        let rise = per_statement(after) - per_statement(before);
        let phases: Vec<(&str, f64)> = kind
            .phases()
            .into_iter()
            .filter_map(|name| Some((name, in_phase(after, name)? - in_phase(before, name)?)))
            .collect();
        said.push_str(&by_phase(&phases, rise));
        let functions: Vec<String> = matched(before, after)
            .into_iter()
            .map(|function| (function.difference.map_or(0.0, |work| work.own), function.name))
            .filter(|(moved, _)| moved / rise >= NAMED_SHARE)
            .take(NAMED)
            .map(|(_, name)| name)
            .collect();
        said.push_str(&by_function(&functions, rise));
    }
    let same = compared.iter().filter(|difference| !difference.certain()).count();
    if same > 0 {
        said.push_str(&format!("; {same} of {} counts are the same", compared.len()));
    }
    said
}

fn has_rows(kind: &CountedKind, base: usize, variant: usize) -> bool {
    let of = |place| kind.count(place).is_some_and(|record| record.rows > 0);
    of(base) && of(variant)
}

/// The kind, with its protocol (and place) if there are several.
fn named(counted: &Counted, kind: &CountedKind) -> String {
    let groups: Vec<&Group> = counted.groups().map(|(group, _)| group).collect();
    kind.group.named(&kind.kind, &groups)
}

/// What a build does with events: it executes instructions, and has others.
pub(super) fn verb(event: &str) -> &'static str {
    if event == INSTRUCTIONS { "executes" } else { "has" }
}

/// `7.3% more`, `6.6% fewer`, `2.4 times as many`.
pub(crate) fn more(ratio: f64) -> String {
    if ratio >= 10.0 {
        return format!("{ratio:.1} times as many");
    }
    let percent = (ratio - 1.0).abs() * 100.0;
    let percent = if percent >= 0.995 { format!("{percent:.1}") } else { digits(percent, 2) };
    format!("{percent}% {}", if ratio < 1.0 { "fewer" } else { "more" })
}

/// The phase with most of the difference.
fn by_phase(phases: &[(&str, f64)], rise: f64) -> String {
    let share = |(_, moved): &&(&str, f64)| moved / rise;
    let Some(most) = phases.iter().max_by(|a, b| share(a).total_cmp(&share(b))) else {
        return String::new();
    };
    let (phase, share) = (most.0, share(&most) * 100.0);
    if share.round() > 100.0 {
        let (moved, others) = if rise > 0.0 { ("rose", "fell") } else { ("fell", "rose") };
        return format!(
            "; {phase} {moved} by {share:.0}% of the difference while other phases {others}"
        );
    }
    format!("; {share:.0}% of the difference is in {phase}")
}

/// The functions that make up most of a difference.
pub(crate) fn by_function(names: &[String], rise: f64) -> String {
    let verb = if rise > 0.0 { "grew" } else { "shrank" };
    match names {
        [] => String::new(),
        [one] => format!("; {one} {verb} most"),
        [first @ .., last] => format!("; {} and {last} {verb} most", first.join(", ")),
    }
}
