//! Statements that variants execute by different plans.

use std::collections::{BTreeMap, BTreeSet};

use dbms::parse_plan;
use serde::{Deserialize, Serialize};

use super::model::{Noted, Results, StepResults};

/// A statement that a variant executes by another plan than the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedPlan {
    /// The statement, with `$1`, `$2`, … for its values.
    pub statement: String,
    /// The plans that the base chose, in any block.
    pub base: Vec<String>,
    /// The plans that the variant chose.
    pub plans: Vec<String>,
}

/// The statements of a step whose plans differ, whatever their values.
pub(crate) fn differing(
    results: &Results,
    step: &StepResults,
    base: usize,
    place: usize,
) -> Vec<ExplainedPlan> {
    let of = |place: usize| {
        let dbms = results.variants.get(place)?.variant.dbms.as_str();
        Some((dbms, &step.variant(place)?.plans))
    };
    of(base).zip(of(place)).map(|(base, other)| compared(base, other)).unwrap_or_default()
}

/// A system, and the plans that it chose for each statement.
type Chosen<'a> = (&'a str, &'a BTreeMap<String, BTreeSet<String>>);

fn compared((base, of_base): Chosen<'_>, (other, of_other): Chosen<'_>) -> Vec<ExplainedPlan> {
    let shapes = |dbms: &str, plans: &BTreeSet<String>| {
        plans.iter().map(|plan| parse_plan(dbms, plan).shape).collect::<BTreeSet<_>>()
    };
    let both = of_other.iter().filter_map(|(text, plans)| Some((text, of_base.get(text)?, plans)));
    let differ = both.filter(|(_, of_base, plans)| shapes(base, of_base) != shapes(other, plans));
    let explained = |(statement, base, plans): (&String, &BTreeSet<String>, &BTreeSet<String>)| {
        let [base, plans] = [base, plans].map(|plans| plans.iter().cloned().collect());
        ExplainedPlan { statement: statement.clone(), base, plans }
    };
    differ.map(explained).collect()
}

/// A warning for each step and variant in which a statement has another plan than in the base.
pub(crate) fn warnings(results: &Results) -> Vec<Noted> {
    let Some(base) = results.variant_named(&results.experiment.base) else { return Vec::new() };
    let mut noted = Vec::new();
    for step in &results.steps {
        for place in (0..step.variants.len()).filter(|place| *place != base) {
            let found = differing(results, step, base, place);
            let Some(first) = found.first() else { continue };
            let outlines = |place: usize, plans: &[String]| -> Vec<String> {
                let dbms: &str = &results.variants[place].variant.dbms;
                plans.iter().map(|plan| parse_plan(dbms, plan).outline).collect()
            };
            let what = moved(&outlines(base, &first.base), &outlines(place, &first.plans));
            let more = match found.len() {
                1 => String::new(),
                2 => " and another statement".to_owned(),
                count => format!(" and {} other statements", count - 1),
            };
            let text = format!(
                "uses another plan than {} for {}{more}: {what}",
                results.variant_name(base),
                first.statement.chars().take(80).collect::<String>()
            );
            noted.push(Noted::about(step, place, "plans-differ", text));
        }
    }
    noted
}

/// What another plan has and lacks, in words. If only one plan was chosen on both sides, what both
/// have is left out.
fn moved(from: &[String], to: &[String]) -> String {
    let whole = || format!("{} instead of {}", to.join(" or "), from.join(" or "));
    let ([from], [to]) = (from, to) else { return whole() };
    let nodes = |outline: &str| outline.split(", ").map(str::to_owned).collect::<Vec<_>>();
    let without = |all: &str, others: &str| {
        let (mut left, others) = (nodes(all), nodes(others));
        for node in others {
            if let Some(place) = left.iter().position(|it| *it == node) {
                left.remove(place);
            }
        }
        left.join(", ")
    };
    match (without(to, from), without(from, to)) {
        (new, old) if new.is_empty() && old.is_empty() => {
            format!("the same nodes in another order or with other conditions: {to}")
        }
        (new, old) if old.is_empty() => format!("{new} in addition"),
        (new, old) if new.is_empty() => format!("without {old}"),
        (new, old) => format!("{new} instead of {old}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_moved_is_told() {
        let of = |from: &str, to: &str| moved(&[from.to_owned()], &[to.to_owned()]);
        let (hash, merge) = (
            "Sort, Hash Join, Seq Scan on a, Hash, Seq Scan on b",
            "Sort, Merge Join, Sort, Seq Scan on a, Seq Scan on b",
        );
        assert_eq!(of(hash, merge), "Merge Join, Sort instead of Hash Join, Hash");
        assert_eq!(of("Seq Scan on a", "Limit, Seq Scan on a"), "Limit in addition");
        assert_eq!(of("Limit, Seq Scan on a", "Seq Scan on a"), "without Limit");
        let swapped = "Nested Loop, Seq Scan on b, Seq Scan on a";
        let told = of("Nested Loop, Seq Scan on a, Seq Scan on b", swapped);
        assert!(told.starts_with("the same nodes in another order") && told.ends_with(swapped));
        let two = ["x".to_owned(), "y".to_owned()];
        assert_eq!(moved(&two, &["z".to_owned()]), "z instead of x or y");
    }

    #[test]
    fn values_are_no_difference() {
        let chosen = |plan: &str| {
            BTreeMap::from([("SELECT c".to_owned(), BTreeSet::from([plan.to_owned()]))])
        };
        let one = chosen("Index Scan using pk on t\n  Index Cond: (id = 17)");
        let same = chosen("Index Scan using pk on t\n  Index Cond: (id = 4711)");
        let other = chosen("Seq Scan on t\n  Filter: (id = 17)");
        let postgres = |plans| compared(("postgres@15.15", &one), ("postgres@18.1", plans));
        assert_eq!(postgres(&same), []);
        let found = postgres(&other);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].plans, ["Seq Scan on t\n  Filter: (id = 17)"]);
        // Every word counts for a system about which nothing is known.
        assert_eq!(compared(("what", &one), ("what", &same)).len(), 1);
    }
}
