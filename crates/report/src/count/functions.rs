//! The functions of two builds, matched by name ([`super::namesakes`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use store::CountRecord;

/// The work of a function per statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkDocument {
    /// Events in the function itself.
    pub own: f64,
    /// Events in it and in everything it called.
    pub inclusive: f64,
    /// How often it was called.
    pub calls: f64,
}

/// A function, per statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionDocument {
    /// Its name.
    pub name: String,
    /// The program or library that contains it; the variant's if both have it.
    pub object: String,
    /// Work in the base; `null` if the base never executed it, and in the base's own list.
    pub base: Option<WorkDocument>,
    /// Work in the variant; `null` if the variant never executed it.
    pub variant: Option<WorkDocument>,
    /// Variant minus base; a missing value counts as 0. `null` in the list of the base itself.
    pub difference: Option<WorkDocument>,
}

type Found<'a> = (&'a str, WorkDocument);

/// The functions of a count by name. Functions with the same name (static functions of several
/// files, the same function of several libraries) are added up.
fn by_name(record: &CountRecord) -> BTreeMap<&str, Found<'_>> {
    let statements = record.statements as f64;
    let mut found: BTreeMap<&str, (&str, [u64; 3])> = BTreeMap::new();
    for function in &record.functions {
        let (_, sums) =
            found.entry(&function.name).or_insert_with(|| (function.object.as_str(), [0; 3]));
        // Whole numbers until the end, so that equal counts stay equal in any order.
        let figures = [function.own, function.inclusive, function.calls];
        for (sum, figure) in sums.iter_mut().zip(figures) {
            *sum = sum.saturating_add(figure);
        }
    }
    found
        .into_iter()
        .map(|(name, (object, sums))| {
            let [own, inclusive, calls] = sums.map(|sum| sum as f64 / statements);
            (name, (object, WorkDocument { own, inclusive, calls }))
        })
        .collect()
}

/// The functions of one count, those with the most own events first.
pub(crate) fn functions(record: &CountRecord) -> Vec<FunctionDocument> {
    let found = by_name(record).into_iter().map(|(name, (object, work))| FunctionDocument {
        name: name.to_owned(),
        object: object.to_owned(),
        base: None,
        variant: Some(work),
        difference: None,
    });
    sorted(found.collect())
}

/// The functions of both, those whose own events differ most first.
pub(crate) fn matched(base: &CountRecord, variant: &CountRecord) -> Vec<FunctionDocument> {
    let (mut before, mut after) = (by_name(base), by_name(variant));
    let mut found: Vec<FunctionDocument> = Vec::with_capacity(before.len().max(after.len()));
    let shared: Vec<&str> =
        before.keys().filter(|name| after.contains_key(*name)).copied().collect();
    let mut add = |name: &str, base: Option<Found<'_>>, variant: Option<Found<'_>>| {
        let object = variant.or(base).map_or("", |(object, _)| object).to_owned();
        let (base, variant) = (base.map(|(_, work)| work), variant.map(|(_, work)| work));
        let (b, v) = (base.unwrap_or_default(), variant.unwrap_or_default());
        let difference = WorkDocument {
            own: v.own - b.own,
            inclusive: v.inclusive - b.inclusive,
            calls: v.calls - b.calls,
        };
        let (name, difference) = (name.to_owned(), Some(difference));
        found.push(FunctionDocument { name, object, base, variant, difference });
    };
    for name in shared {
        add(name, before.remove(name), after.remove(name));
    }
    for (name, work) in before {
        add(name, Some(work), None);
    }
    for (name, work) in after {
        add(name, None, Some(work));
    }
    sorted(found)
}

fn sorted(mut functions: Vec<FunctionDocument>) -> Vec<FunctionDocument> {
    let size = |function: &FunctionDocument| {
        function.difference.or(function.variant).map_or(0.0, |work| work.own.abs())
    };
    functions.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    functions
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::CountFunction;

    fn record(statements: u64, functions: &[(&str, u64)]) -> CountRecord {
        let function = |(name, own): &(&str, u64)| CountFunction {
            name: (*name).to_owned(),
            object: "postgres".to_owned(),
            own: *own,
            inclusive: own * 2,
            calls: 3,
        };
        CountRecord {
            kind: "point".to_owned(),
            protocol: "simple".to_owned(),
            place: "backend".to_owned(),
            event: store::INSTRUCTIONS.to_owned(),
            statements,
            rows: 0,
            total: functions.iter().map(|(_, own)| own).sum(),
            counts: Vec::new(),
            phases: Vec::new(),
            functions: functions.iter().map(function).collect(),
        }
    }

    fn names(functions: &[FunctionDocument]) -> Vec<(&str, bool, bool)> {
        functions.iter().map(|f| (f.name.as_str(), f.base.is_some(), f.variant.is_some())).collect()
    }

    #[test]
    fn what_moved_most_comes_first() {
        let base = record(10, &[("a", 100), ("b", 1000), ("gone", 30)]);
        let variant = record(20, &[("a", 400), ("b", 2020), ("new", 10)]);
        let found = matched(&base, &variant);
        assert_eq!(
            names(&found),
            [("a", true, true), ("gone", true, false), ("b", true, true), ("new", false, true)]
        );
        let own: Vec<f64> = found.iter().map(|f| f.difference.unwrap().own).collect();
        assert_eq!(own, [10.0, -3.0, 1.0, 0.5]);
    }

    #[test]
    fn one_name_is_one_function() {
        let found = functions(&record(1, &[("compare", 5), ("x", 7), ("compare", 6)]));
        assert_eq!(names(&found), [("compare", false, true), ("x", false, true)]);
        let work = found[0].variant.unwrap();
        assert_eq!((work.own, work.inclusive, work.calls), (11.0, 22.0, 6.0));
    }
}
