//! The answer as a page: the report of what was found beside the one before it, with the levels of
//! all that was looked at.

use std::collections::BTreeMap;

use anyhow::Context;
use report::{
    ChangeDocument, HistoryDocument, HistoryPoint, HistoryRun, HistoryStep, LineDocument, Which,
};
use store::{ExperimentId, Store};

use super::document::{Document, Moved, Named};
use super::state::{Method, State};
use super::text;
use crate::version;

/// The page.
pub fn page(document: &Document, state: &State, store: &Store) -> anyhow::Result<String> {
    let experiment = shown(document, state).context("nothing was looked at")?;
    let results = report::load(store, Which::RunOrCount(ExperimentId(experiment)))?;
    let history = history(document, state);
    Ok(report::html(store, &results, Some(&history), &version::SHORT)?)
}

/// The experiment that compares the largest change with what was before it, or else the last look.
fn shown(document: &Document, state: &State) -> Option<i64> {
    let size = |culprit: &Named| {
        culprit.moved.iter().map(|moved| moved.ratio.ln().abs()).fold(0.0, f64::max)
    };
    let largest = document.culprits.iter().max_by(|one, other| size(one).total_cmp(&size(other)));
    let of_it = |before, after| largest.is_some_and(|it| it.ends == (before, after));
    let mut pairs = state.pairs.iter().filter(|pair| pair.method == document.method);
    let pair = pairs.rfind(|pair| of_it(pair.before, pair.after));
    pair.map(|pair| pair.experiment).or_else(|| Some(state.looks.last()?.experiment))
}

/// What was looked at, in the order of the candidates, with what was found.
fn history(document: &Document, state: &State) -> HistoryDocument {
    let measures: Vec<(&str, BTreeMap<usize, Vec<f64>>)> =
        state.measures().into_iter().map(|measure| (measure, levels(state, measure))).collect();
    let mut places: Vec<usize> =
        measures.iter().flat_map(|(_, levels)| levels.keys().copied()).collect();
    places.sort_unstable();
    places.dedup();
    let run = |place: &usize| {
        let candidate = &state.candidates()[*place];
        let looks = state.looks.iter().filter(|look| look.candidate == *place);
        HistoryRun {
            name: candidate.short().to_owned(),
            started: candidate.commit.as_ref().map_or(String::new(), |commit| commit.date.clone()),
            experiments: looks.map(|look| look.experiment.to_string()).collect(),
            versions: Vec::new(),
        }
    };
    let steps = measures.iter().map(|(measure, levels)| HistoryStep {
        name: (*measure).to_owned(),
        dop: 1,
        exchanged: "run".to_owned(),
        points: points(state, levels, &places),
        changes: changes(document, measure, &places),
        ..HistoryStep::default()
    });
    let line = LineDocument {
        line: document.good.noun().to_owned(),
        workload: String::new(),
        machine: String::new(),
        steps: steps.collect(),
    };
    HistoryDocument {
        format: 1,
        order: "bisection".to_owned(),
        metric: match document.method {
            Method::Count => "instructions per statement".to_owned(),
            Method::Run => format!("{} / that of the good end", text::metric(document)),
        },
        runs: places.iter().map(run).collect(),
        lines: vec![line],
        notes: notes(document),
    }
}

/// What was found, and what has to be said of it.
fn notes(document: &Document) -> Vec<String> {
    let mut notes = Vec::new();
    for culprit in &document.culprits {
        notes.extend(text::several(culprit));
        notes.extend(culprit.suspects.iter().map(|suspect| match &suspect.commit {
            Some(commit) => format!("{}, {}", suspect.titled(), commit.author),
            None => suspect.titled(),
        }));
        notes.extend(text::besides(culprit));
        notes.extend(text::instructions_only(culprit));
    }
    notes.extend(document.unconfirmed.iter().map(|reason| format!("not confirmed: {reason}")));
    notes.extend(document.rest.iter().map(|rest| format!("{}: {}", rest.measure, rest.says)));
    notes.extend(text::left_out(document));
    notes
}

/// By candidate, what each look at it, or at one with the same code, found.
fn levels(state: &State, measure: &str) -> BTreeMap<usize, Vec<f64>> {
    let mut good = state.looks.iter().filter(|look| look.candidate == 0);
    let base = good.find_map(|look| look.figures.get(measure)).map_or(1.0, |it| it.log.exp());
    let mut levels = BTreeMap::from([(0, vec![base])]);
    for seen in state.seen(measure) {
        levels.entry(seen.candidate).or_default().push(base * seen.log_ratio.exp());
    }
    levels
}

fn points(
    state: &State,
    levels: &BTreeMap<usize, Vec<f64>>,
    places: &[usize],
) -> Vec<HistoryPoint> {
    let good = levels.get(&0).and_then(|good| good.first()).copied();
    let point = |(run, place): (usize, &usize)| {
        let trials = levels.get(place)?.clone();
        let median = judge::median(&trials)?;
        Some(HistoryPoint {
            run,
            versions: vec![state.candidates()[*place].titled()],
            trials,
            median,
            relative: good.map(|good| median / good),
        })
    };
    places.iter().enumerate().filter_map(point).collect()
}

/// What was found by a measure, as changes between those that were looked at.
fn changes(document: &Document, measure: &str, places: &[usize]) -> Vec<ChangeDocument> {
    let index = |place: usize| places.partition_point(|it| *it < place);
    let culprits = document.culprits.iter();
    let found: Vec<(&Named, &Moved)> = culprits
        .filter_map(|it| Some((it, it.moved.iter().find(|moved| moved.measure == measure)?)))
        .collect();
    let change = |(number, (culprit, moved)): (usize, &(&Named, &Moved))| {
        let next = found.get(number + 1).map_or(places.len(), |(next, _)| index(next.ends.1));
        let first = number.checked_sub(1).and_then(|it| found.get(it));
        let first = first.map_or(0, |(last, _)| index(last.ends.1));
        let run = index(culprit.ends.1);
        ChangeDocument {
            run,
            before: [first, index(culprit.ends.0)],
            after: [run, next.saturating_sub(1)],
            ratio: moved.ratio,
            low: moved.low,
            high: moved.high,
            p: 1.0 - moved.probability,
            dependent_p: None,
            sentence: text::said(document, moved),
            bisect: None,
        }
    };
    found.iter().enumerate().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::super::document::document;
    use super::super::search::{Ended, verdicts};
    use super::super::state::Pair;
    use super::super::state::tests::{look, state};
    use super::*;

    #[test]
    fn all_looks_and_what_was_found_are_on_the_page() {
        let mut state = state(Method::Count, 8);
        let logs = [(0, 10.0), (8, 10.2), (4, 10.05), (2, 10.0), (3, 10.05), (6, 10.05), (7, 10.2)];
        state.looks = logs.iter().map(|(place, log)| look(*place, *log)).collect();
        state.looks.extend([look(1, 10.0), look(5, 10.05)]);
        let document = document(&state, &verdicts(&state).unwrap(), Ended::Done);
        let found = history(&document, &state);
        assert_eq!(found.runs.len(), 9);
        let [step] = &found.lines[0].steps[..] else { panic!("{found:?}") };
        let runs: Vec<usize> = step.points.iter().map(|point| point.run).collect();
        assert_eq!(runs, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert!((step.points[8].median.ln() - 10.2).abs() < 1e-9);
        assert!((step.points[3].relative.unwrap().ln() - 0.05).abs() < 1e-9);
        let spans: Vec<_> = step.changes.iter().map(|it| (it.before, it.run, it.after)).collect();
        assert_eq!(spans, [([0, 2], 3, [3, 6]), ([3, 6], 7, [7, 8])]);
        assert!(step.changes[0].sentence.starts_with("a: +5.13% instructions"), "{step:?}");
        assert!(found.notes[0].starts_with("pg-3"), "{:?}", found.notes);
        assert!(found.notes[1].starts_with("instructions only: no time"), "{:?}", found.notes);
        assert_eq!(shown(&document, &state), Some(state.looks[8].experiment));
        let (before, after, method) = (6, 7, Method::Count);
        let largest = Pair { method, before, after, experiment: 50 };
        let run = Pair { method: Method::Run, experiment: 51, ..largest };
        let smaller = Pair { before: 2, after: 3, experiment: 52, ..largest };
        state.pairs = vec![largest, run, smaller];
        assert_eq!(shown(&document, &state), Some(50));
    }
}
