//! The output of `count --format json`; `docs/count-json.md` documents its shape.

use serde::{Deserialize, Serialize};
use store::{CountRecord, ExperimentState, Warning};

use super::counted::{Counted, CountedKind, Group, in_phase, per_row, per_statement};
use super::functions::{FunctionDocument, functions, matched};
use super::spread::Spread;
use super::words::{self, SentenceDocument};
use crate::output::time::rfc3339;

/// Version of the shape; it grows when a key is removed or changes its meaning.
const FORMAT: u32 = 3;

/// Exact counts of instructions and other events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CountDocument {
    /// Version of this shape: 3.
    pub format: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the variant that the others are compared with.
    pub base: String,
    /// δ: certain differences up to this fraction are `equivalent`.
    pub margin: f64,
    /// What `counts` count: `instructions`, unless another event was asked for.
    pub event: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// True if everything was counted.
    pub finished: bool,
    /// Names, in the order of the plan.
    pub variants: Vec<String>,
    /// Kinds of statements; those of one protocol and place follow each other.
    pub counts: Vec<KindDocument>,
    /// The same kinds by all other events that were counted; empty without simulated caches.
    pub events: Vec<KindDocument>,
    /// A sentence about the changes in each variant except the base.
    pub sentences: Vec<SentenceDocument>,
    /// Notes on the figures.
    pub warnings: Vec<Warning>,
}

/// One event of statements of one kind, sent and counted in one way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KindDocument {
    /// Such as `insert-100`.
    pub kind: String,
    /// `simple` or `prepared`.
    pub protocol: String,
    /// The place that was counted: `backend` or `thread`, which serves a session, or `library`.
    pub place: String,
    /// The event: `instructions`, `L1 misses` and others.
    pub event: String,
    /// Those that have a count, in the order of the plan.
    pub variants: Vec<CountedVariant>,
}

impl KindDocument {
    /// What was counted: `insert-100 (simple)`.
    pub fn measure(&self) -> String {
        format!("{} ({})", self.kind, self.protocol)
    }
}

/// The count of one variant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CountedVariant {
    /// Its name.
    pub name: String,
    /// Number of statements counted.
    pub statements: u64,
    /// Rows that all of them wrote or asked for; `null` if the kind has no rows.
    pub rows: Option<u64>,
    /// Events in all statements in every count, in the order of the counts.
    pub counts: Vec<u64>,
    /// (largest - smallest) / mean of the counts.
    pub spread: f64,
    /// Half the width of the 95% interval of the mean, as a fraction of the mean; `null` for a
    /// single count.
    pub repeatability: Option<f64>,
    /// Events per statement, in the mean of the counts.
    pub per_statement: f64,
    /// Events per row; `null` if the kind has no rows.
    pub per_row: Option<f64>,
    /// Events per statement, divided by the base's; `null` for the base and if the base has
    /// no count or none of these events.
    pub relative: Option<f64>,
    /// How far `relative` has to be from 1 to be certain; `null` as above.
    pub threshold: Option<f64>,
    /// True if there is certainly a difference; `null` as above.
    pub certain: Option<bool>,
    /// `regression`, `improvement`, `equivalent`, `same` or `inconclusive`; `null` as above.
    pub verdict: Option<String>,
    /// In order; empty if they are not known.
    pub phases: Vec<PhaseDocument>,
    /// Sorted by how much their own events differ from the base's, largest first; for the base, by
    /// their own events.
    pub functions: Vec<FunctionDocument>,
}

/// A phase of a statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseDocument {
    /// The system's own name for it, such as `parse` or `execute`; the last is `other`.
    pub name: String,
    /// Events per statement in it.
    pub per_statement: f64,
    /// Share of the statement, 0 to 1.
    pub share: f64,
    /// Events per statement minus the base's; `null` for the base and if the base's are not
    /// known.
    pub difference: Option<f64>,
}

impl CountDocument {
    /// What is counted, as the beginning of a title.
    pub(super) fn titled(&self) -> String {
        let (first, rest) = self.event.split_at_checked(1).unwrap_or(("", &self.event));
        first.to_uppercase() + rest
    }

    /// Sentences about what was not counted.
    pub(crate) fn missing(&self) -> Vec<String> {
        let unfinished = "the count is not finished: run it again";
        let mut missing = Vec::from_iter((!self.finished).then(|| unfinished.to_owned()));
        let lacking = self.variants.iter().filter(|name| !self.has_counts_of(name));
        missing.extend(lacking.map(|name| format!("{name} has no count")));
        missing
    }

    /// Sentences about kinds of which a variant that has counts lacks one, or a verdict on it.
    pub(super) fn unjudged(&self) -> impl Iterator<Item = String> {
        let lacks = |kind: &KindDocument, name: &String| match kind.of(name) {
            None => Some("count"),
            Some(own) if *name == self.base || own.verdict.is_some() => None,
            Some(_) => kind.of(&self.base).map(|_| "verdict"),
        };
        let counted = || self.variants.iter().filter(|name| self.has_counts_of(name));
        self.counts.iter().flat_map(move |kind| {
            counted().filter_map(move |name| {
                let what = lacks(kind, name)?;
                Some(format!("{}: {name} has no {what}", kind.measure()))
            })
        })
    }

    fn has_counts_of(&self, name: &str) -> bool {
        self.counts.iter().any(|kind| kind.of(name).is_some())
    }
}

impl KindDocument {
    /// The count of the variant with this name.
    pub(super) fn of(&self, name: &str) -> Option<&CountedVariant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// True if this is another event of the same statements, sent and counted in the same way.
    pub(super) fn is_also(&self, other: &Self) -> bool {
        self.kind == other.kind && self.protocol == other.protocol && self.place == other.place
    }

    /// Its protocol, place and event.
    pub(super) fn group(&self) -> Group {
        Group {
            protocol: self.protocol.clone(),
            place: self.place.clone(),
            event: self.event.clone(),
        }
    }
}

/// Computes all figures, with up to this many functions for each count.
pub(super) fn document(counted: &Counted, limit: usize) -> CountDocument {
    let documents = |kinds: &[CountedKind]| {
        kinds.iter().map(|kind| kind_document(counted, kind, limit)).collect()
    };
    CountDocument {
        format: FORMAT,
        experiment: counted.experiment.name.clone(),
        base: counted.name(counted.base).to_owned(),
        margin: counted.margin,
        event: counted.event.clone(),
        started: rfc3339(counted.experiment.created_ms),
        finished: counted.experiment.state == ExperimentState::Finished,
        variants: counted.variants.iter().map(|variant| variant.name.clone()).collect(),
        counts: documents(&counted.kinds),
        events: documents(&counted.others),
        sentences: words::sentences(counted),
        warnings: counted.warnings.clone(),
    }
}

fn kind_document(counted: &Counted, kind: &CountedKind, limit: usize) -> KindDocument {
    let variants = (0..counted.variants.len()).filter_map(|place| {
        let record = kind.count(place)?;
        let base = kind.count(counted.base).filter(|_| place != counted.base);
        let difference = counted.difference(kind, place);
        let mut moved = match base {
            Some(base) => matched(base, record),
            None => functions(record),
        };
        moved.truncate(limit);
        let spread = Spread::of(&record.counts);
        Some(CountedVariant {
            name: counted.name(place).to_owned(),
            statements: record.statements,
            rows: (record.rows > 0).then_some(record.rows),
            counts: record.counts.clone(),
            spread: spread.range,
            repeatability: spread.interval.is_finite().then_some(spread.interval),
            per_statement: per_statement(record),
            per_row: per_row(record),
            relative: difference.map(|found| found.ratio).filter(|ratio| ratio.is_finite()),
            threshold: difference.map(|difference| difference.threshold),
            certain: difference.map(|difference| difference.certain()),
            verdict: difference.map(|difference| difference.verdict.as_str().to_owned()),
            phases: phases(kind, base, record),
            functions: moved,
        })
    });
    KindDocument {
        kind: kind.kind.clone(),
        protocol: kind.group.protocol.clone(),
        place: kind.group.place.clone(),
        event: kind.group.event.clone(),
        variants: variants.collect(),
    }
}

fn phases(
    kind: &CountedKind,
    base: Option<&CountRecord>,
    record: &CountRecord,
) -> Vec<PhaseDocument> {
    let found = kind.phases().into_iter().filter_map(|name| {
        let (here, all) = (in_phase(record, name)?, per_statement(record));
        let before = base.and_then(|base| in_phase(base, name));
        Some(PhaseDocument {
            name: name.to_owned(),
            per_statement: here,
            share: if all > 0.0 { here / all } else { 0.0 },
            difference: before.map(|before| here - before),
        })
    });
    found.collect()
}
