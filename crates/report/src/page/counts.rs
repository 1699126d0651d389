//! The counts in the form that the page gets; its types are in `web/generated/page.ts`.

use std::collections::HashMap;

use serde::Serialize;
use store::{CountRecord, Experiment, ExperimentState, Purpose, Store, Warning};

use crate::ReportError;
use crate::count::counted::{Counted, CountedKind, noun, per_statement};
use crate::count::{SentenceDocument, Spread, words};
use crate::output::number::rounded;
use crate::output::time::rfc3339;

/// Functions that, with everything they call, take less than this share of the instructions in
/// every variant are left out of the page. The store and `steelyard count` have them all.
const LEAST_SHARE: f64 = 0.000_01;

/// A count of the results directory.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageCounts {
    experiment: String,
    started: String,
    finished: bool,
    /// δ as a fraction.
    margin: f64,
    variants: Vec<String>,
    /// Index of the base among them.
    base: usize,
    /// The noun for what is counted: statement or call.
    noun: &'static str,
    /// What the kinds count.
    event: String,
    kinds: Vec<PageKind>,
    /// The same kinds by other events that were counted.
    events: Vec<PageCountEvent>,
    /// Functions of all kinds: name and object. The columns of [`PageFunctions`] refer to them by
    /// index.
    functions: Vec<(String, String)>,
    sentences: Vec<SentenceDocument>,
    #[cfg_attr(test, ts(as = "Vec<crate::page::types_tests::PageCountWarning>"))]
    warnings: Vec<Warning>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct PageKind {
    kind: String,
    protocol: String,
    place: String,
    counts: Vec<PageCount>,
    /// Number of functions left out.
    left_out: usize,
}

/// One event of a kind: what each variant has per statement.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct PageCountEvent {
    /// Index of the kind.
    kind: usize,
    event: String,
    counts: Vec<PageEventOfVariant>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct PageEventOfVariant {
    variant: usize,
    per_statement: f64,
    repeatability: Option<f64>,
    relative: Option<f64>,
    #[cfg_attr(test, ts(as = "Option<crate::count::counted::CountVerdict>"))]
    verdict: Option<&'static str>,
}

/// The count of a variant. Totals and calls are those of all statements.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct PageCount {
    variant: usize,
    statements: u64,
    rows: u64,
    total: u64,
    repeatability: Option<f64>,
    relative: Option<f64>,
    #[cfg_attr(test, ts(as = "Option<crate::count::counted::CountVerdict>"))]
    verdict: Option<&'static str>,
    phases: Vec<(String, u64)>,
    functions: PageFunctions,
}

/// Stored by column, which takes half the size of one object per function.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct PageFunctions {
    id: Vec<usize>,
    own: Vec<u64>,
    inclusive: Vec<u64>,
    calls: Vec<u64>,
}

/// The counts of an experiment; `None` if it is a run.
pub(crate) fn of(
    store: &Store,
    experiment: &Experiment,
) -> Result<Option<PageCounts>, ReportError> {
    Ok(match experiment.purpose {
        Purpose::Run => None,
        Purpose::Count => {
            Some(page_counts(&Counted::read(store, experiment.id, None, None, None)?))
        }
    })
}

/// The latest count of a store that is not empty.
pub(crate) fn latest(store: &Store) -> Result<Option<PageCounts>, ReportError> {
    for experiment in store.all_experiments()? {
        if experiment.purpose != Purpose::Count {
            continue;
        }
        match Counted::read(store, experiment.id, None, None, None) {
            Ok(counted) => return Ok(Some(page_counts(&counted))),
            // Started, but nothing counted yet.
            Err(ReportError::NoCounts(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn page_counts(counted: &Counted) -> PageCounts {
    let mut names = Names::default();
    let kinds = counted.kinds.iter().map(|kind| page_kind(counted, kind, &mut names)).collect();
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_unstable_by_key(|(_, place)| *place);
    PageCounts {
        experiment: counted.experiment.name.clone(),
        started: rfc3339(counted.experiment.created_ms),
        finished: counted.experiment.state == ExperimentState::Finished,
        margin: counted.margin,
        variants: counted.variants.iter().map(|variant| variant.name.clone()).collect(),
        base: counted.base,
        noun: noun(counted.groups().map(|(group, _)| group.protocol.as_str())),
        event: counted.event.clone(),
        kinds,
        events: page_events(counted),
        functions: names.into_iter().map(|(function, _)| function).collect(),
        sentences: words::sentences(counted),
        warnings: counted.warnings.clone(),
    }
}

/// The other events, in the order of the kinds.
fn page_events(counted: &Counted) -> Vec<PageCountEvent> {
    let of = |place: usize, other: &CountedKind| PageCountEvent {
        kind: place,
        event: other.group.event.clone(),
        counts: counts_of(other, |variant, record| {
            let found = counted.difference(other, variant);
            PageEventOfVariant {
                variant,
                per_statement: rounded(per_statement(record), 4),
                repeatability: repeatability(record),
                relative: found.filter(|it| it.ratio.is_finite()).map(|it| rounded(it.ratio, 8)),
                verdict: found.map(|found| found.verdict.as_str()),
            }
        }),
    };
    let kinds = counted.kinds.iter().enumerate();
    let events = kinds.flat_map(|(place, kind)| {
        let same = counted.others.iter().filter(move |other| other.is_also(kind));
        same.map(move |other| of(place, other))
    });
    events.collect()
}

/// What each variant with a count has.
fn counts_of<T>(kind: &CountedKind, mut of: impl FnMut(usize, &CountRecord) -> T) -> Vec<T> {
    let counts = kind.counts.iter().enumerate();
    counts.filter_map(|(variant, record)| Some(of(variant, record.as_ref()?))).collect()
}

/// How well the counts repeat; `None` for a single one.
fn repeatability(record: &CountRecord) -> Option<f64> {
    Some(Spread::of(&record.counts).interval).filter(|interval| interval.is_finite())
}

/// Name and object of functions, numbered in order of first appearance.
type Names = HashMap<(String, String), usize>;

fn page_kind(counted: &Counted, kind: &CountedKind, names: &mut Names) -> PageKind {
    // A function that is large in one variant is shown for all.
    let mut large: HashMap<&str, bool> = HashMap::new();
    for record in kind.counts.iter().flatten() {
        let least = (record.total as f64 * LEAST_SHARE) as u64;
        for function in &record.functions {
            *large.entry(&function.name).or_default() |=
                function.inclusive.max(function.own) > least;
        }
    }
    let left_out = large.values().filter(|large| !**large).count();
    let count = |variant: usize, record: &CountRecord| {
        let difference = counted.difference(kind, variant);
        let mut functions = PageFunctions::default();
        for function in &record.functions {
            if large.get(function.name.as_str()) == Some(&true) {
                let (key, next) = ((function.name.clone(), function.object.clone()), names.len());
                functions.id.push(*names.entry(key).or_insert(next));
                functions.own.push(function.own);
                functions.inclusive.push(function.inclusive);
                functions.calls.push(function.calls);
            }
        }
        PageCount {
            variant,
            statements: record.statements,
            rows: record.rows,
            total: record.total,
            repeatability: repeatability(record),
            relative: difference.filter(|it| it.ratio.is_finite()).map(|it| rounded(it.ratio, 8)),
            verdict: difference.map(|difference| difference.verdict.as_str()),
            phases: record.phases.iter().map(|p| (p.name.clone(), p.total)).collect(),
            functions,
        }
    };
    PageKind {
        kind: kind.kind.clone(),
        protocol: kind.group.protocol.clone(),
        place: kind.group.place.clone(),
        counts: counts_of(kind, count),
        left_out,
    }
}
