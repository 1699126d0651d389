//! Queries that a variant refuses, or answers otherwise than the base.

use std::collections::BTreeSet;

use metrics::{Difference, Identity};
use store::Warning;

use super::answers::differing;
use super::model::{Noted, Results, StepResults, VariantStep};

/// Code of the warning that a variant's answers differ from the base's.
pub(crate) const WRONG_RESULT: &str = "wrong-result";
/// Code of the warning that a variant refuses a query.
pub(crate) const QUERY_FAILED: &str = "query-failed";

/// How a variant's answers differ from the base's, in words; `None` if they don't, as far as they
/// are compared.
pub(crate) fn wrong(
    results: &Results,
    step: &StepResults,
    base: usize,
    place: usize,
) -> Option<String> {
    let (of_base, own) = (step.variant(base)?, step.variant(place)?);
    let (base, name) = (results.variant_name(base), results.variant_name(place));
    if let Some((block, [theirs, ours])) = uncompared(of_base, own) {
        return Some(format!(
            "its results were not compared: in block {block} there are {ours} answers of {name} \
             and {theirs} of {base}"
        ));
    }
    let mut blocks = Vec::new();
    let mut first = None;
    for (block, answers) in &own.answers {
        let Some(other) = of_base.answers.get(block) else { continue };
        if let Some(found) = differing(other, answers) {
            first.get_or_insert(found);
            blocks.push(*block);
        }
    }
    let (Some((number, difference, rows)), Some(block)) = (first, blocks.first()) else {
        return None;
    };
    let answer = match own.answers.values().map(|answers| answers.all.len()).max() {
        Some(all @ 2..) => format!(" in answer {number} of {all}"),
        _ => String::new(),
    };
    let what = match difference {
        Difference::Count => format!("{name} gives {} rows{answer}, {base} {}", rows.1, rows.0),
        Difference::Rows => {
            format!("{name} gives other rows than {base}{answer} (both {} rows)", rows.1)
        }
    };
    let when = match (blocks.len(), own.answers.len()) {
        (all, of) if all == of => String::new(),
        (some, of) => format!("; in {some} of {of} blocks, first in {block}"),
    };
    Some(format!("wrong result: {what}{when}"))
}

/// The first block that both have values of, and answers that can't be compared one by one: fewer
/// of one, or none that can be read. With the numbers of answers.
fn uncompared(base: &VariantStep, own: &VariantStep) -> Option<(u32, [usize; 2])> {
    let sides = [base, own];
    let asked: BTreeSet<u32> = sides.iter().flat_map(|it| it.answers.keys().copied()).collect();
    let measured = |side: &VariantStep, block| side.samples.iter().any(|it| it.block == block);
    let both = asked.into_iter().filter(|block| sides.iter().all(|it| measured(it, *block)));
    let counts = |block: u32| {
        sides.map(|side| side.answers.get(&block).map_or(0, |answers| answers.all.len()))
    };
    both.map(|block| (block, counts(block))).find(|(_, [base, own])| base != own || *own == 0)
}

/// Why a variant's query has no result in a step, although the trial has others; `None` if it has.
pub(crate) fn refused(results: &Results, step: &StepResults, places: [usize; 2]) -> Option<String> {
    let mut said: Vec<String> = Vec::new();
    for place in places {
        let Some(figures) = step.variant(place) else { continue };
        let words = figures.refused.values().find(|words| !words.is_empty());
        let Some(words) = words else { continue };
        let blocks = figures.refused.len();
        let all = blocks + figures.samples.len();
        let when =
            if blocks == all { String::new() } else { format!(" in {blocks} of {all} blocks") };
        said.push(format!("the query fails on {}{when}: {words}", results.variant_name(place)));
    }
    (!said.is_empty()).then(|| said.join("; "))
}

/// Warnings about answers: those that differ from the base's, or that can't be compared.
pub(crate) fn warnings(results: &Results) -> Vec<Noted> {
    let Some(base) = results.variant_named(&results.experiment.base) else { return Vec::new() };
    let mut noted = Vec::new();
    let mut families: BTreeSet<&str> = BTreeSet::new();
    for step in &results.steps {
        let mut note = |variant: usize, code: &str, text: String| {
            noted.push(Noted::about(step, variant, code, text));
        };
        for (place, figures) in step.variants.iter().enumerate() {
            families.extend(figures.answers.values().map(|answers| answers.family.as_str()));
            if place != base
                && let Some(text) = wrong(results, step, base, place)
            {
                note(place, WRONG_RESULT, text);
            }
            if let Some(text) = refused(results, step, [place; 2]) {
                note(place, QUERY_FAILED, text);
            }
            if let Some(text) = varies(figures) {
                note(place, "results-vary", text.to_owned());
            }
        }
    }
    if families.len() > 1 {
        let names = families.into_iter().collect::<Vec<_>>().join(", and of ");
        let text = format!(
            "the results of {names} have other types and text forms: between them, only the numbers \
             of rows were compared"
        );
        let warning = Warning { code: "results-by-count".to_owned(), text };
        noted.push(Noted { step: None, variant: None, block: None, warning });
    }
    noted
}

/// What can't be compared because a server did not give the same answer twice.
fn varies(figures: &VariantStep) -> Option<&'static str> {
    let mut all = figures.answers.values().flat_map(|answers| &answers.all);
    let has = |wanted: Identity| all.clone().any(|answer| answer.compared == wanted);
    let (count, rows) = (has(Identity::Varying), has(Identity::VaryingRows));
    all.next()?;
    if count {
        return Some(
            "the same server gives another number of rows the next time: its results were not \
             compared",
        );
    }
    rows.then_some(
        "the same server gives other rows the next time: only the number of rows was compared; \
         LIMIT without a complete ORDER BY does this, and so does the current time",
    )
}

#[cfg(test)]
mod tests {
    use metrics::Answer;
    use store::{StepId, TrialId};

    use super::*;
    use crate::load::answers::Answers;
    use crate::load::model::Sample;

    /// Values of these blocks, with so many answers where there are any.
    fn step(blocks: &[(u32, Option<usize>)]) -> VariantStep {
        let mut step = VariantStep::default();
        for (block, answers) in blocks {
            step.samples.push(Sample {
                block: *block,
                trial: TrialId(0),
                step: StepId(0),
                started_ms: 0,
                values: Vec::new(),
                slices: None,
            });
            if let Some(count) = answers {
                let all = vec![Answer::default(); *count];
                step.answers.insert(*block, Answers { all, ..Answers::default() });
            }
        }
        step
    }

    #[test]
    fn answers_that_are_missing_are_not_equal() {
        let whole = step(&[(1, Some(3)), (2, Some(3))]);
        assert_eq!(uncompared(&whole, &whole), None);
        for (other, found) in [
            (step(&[(1, Some(3)), (2, Some(2))]), Some((2, [3, 2]))),
            (step(&[(1, None), (2, Some(3))]), Some((1, [3, 0]))),
            (step(&[(1, Some(0)), (2, Some(3))]), Some((1, [3, 0]))),
            // Without a value of its own in block 2, nothing is compared there.
            (step(&[(1, Some(3))]), None),
        ] {
            assert_eq!(uncompared(&whole, &other), found);
            let reversed = found.map(|(block, [base, own])| (block, [own, base]));
            assert_eq!(uncompared(&other, &whole), reversed);
        }
        let damaged = step(&[(1, Some(0))]);
        assert_eq!(uncompared(&damaged, &damaged), Some((1, [0, 0])));
        let never = step(&[(1, None)]);
        assert_eq!(uncompared(&never, &never), None, "nothing was asked");
    }
}
