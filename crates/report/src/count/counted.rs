//! Counts from the store, by kind of statement and by event, and whether two of them differ.

use std::collections::HashSet;

use store::{
    CountRecord, Experiment, ExperimentId, ExperimentState, INSTRUCTIONS, Store, Variant, Warning,
};

use super::namesakes;
use super::spread::{LEAST, Spread, least};
use crate::ReportError;
use crate::judging::steps::fraction;
use crate::load::renames::Renames;
use crate::output::table::{distinct, place_of};

/// The counts of an experiment.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    pub(crate) experiment: Experiment,
    /// In the order of the plan.
    pub(crate) variants: Vec<Variant>,
    /// Place of the base among the variants.
    pub(crate) base: usize,
    /// δ as a fraction.
    pub(crate) margin: f64,
    pub(crate) warnings: Vec<Warning>,
    /// What the kinds count.
    pub(crate) event: String,
    /// Kinds of one group follow each other.
    pub(crate) kinds: Vec<CountedKind>,
    /// The same kinds by other events, in the order in which they were counted.
    pub(crate) others: Vec<CountedKind>,
}

/// A variant that was counted in an experiment.
#[derive(Debug, Clone, Copy)]
pub struct CountedIn<'a> {
    /// Where the experiment is.
    pub store: &'a Store,
    /// The experiment.
    pub experiment: ExperimentId,
    /// Name of the variant.
    pub variant: &'a str,
}

/// Statements of one kind, sent and counted in one way.
#[derive(Debug, Clone)]
pub(crate) struct CountedKind {
    pub(crate) kind: String,
    pub(crate) group: Group,
    /// The count of each variant, if it has one.
    pub(crate) counts: Vec<Option<CountRecord>>,
}

/// How statements were sent, in which process they were counted, and what of it. Figures of
/// different groups are not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) protocol: String,
    pub(crate) place: String,
    pub(crate) event: String,
}

impl Group {
    /// A kind of this group, with its protocol (and place) if there are several among `groups`.
    pub(super) fn named(&self, kind: &str, groups: &[&Group]) -> String {
        if groups.len() < 2 {
            return kind.to_owned();
        }
        let namesakes = groups.iter().filter(|group| group.protocol == self.protocol).count();
        let place = if namesakes > 1 { format!(", {}", self.place) } else { String::new() };
        format!("{kind} ({}{place})", self.protocol)
    }
}

/// A variant compared with the base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Difference {
    /// The variant's count per statement, divided by the base's.
    pub(crate) ratio: f64,
    /// How large a difference must be to count, as a fraction.
    pub(crate) threshold: f64,
    pub(crate) verdict: CountVerdict,
}

/// The outcome of comparing two exact counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub enum CountVerdict {
    /// Certainly more, by more than the margin.
    Regression,
    /// Certainly fewer, by more than the margin.
    Improvement,
    /// Certainly a difference, but within the margin.
    Equivalent,
    /// Indistinguishable, and no difference beyond the margin is possible.
    Same,
    /// The counts are not known well enough to say whether there is a difference beyond the margin.
    Inconclusive,
}

impl CountVerdict {
    /// The verdict on a count of `ratio` times the base's, if differences up to `threshold` are not
    /// certain, and those up to `margin` don't matter; all are fractions.
    pub fn of(ratio: f64, threshold: f64, margin: f64) -> Self {
        let (low, high) = (ratio - threshold, ratio + threshold);
        let moved = (ratio - 1.0).abs();
        if !low.is_finite() {
            Self::Inconclusive
        } else if low > 1.0 + margin {
            Self::Regression
        } else if high < 1.0 - margin {
            Self::Improvement
        } else if (threshold > LEAST || moved > LEAST.max(margin))
            && (low < 1.0 - margin || high > 1.0 + margin)
        {
            Self::Inconclusive
        } else if moved <= threshold {
            Self::Same
        } else {
            Self::Equivalent
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Improvement => "improvement",
            Self::Equivalent => "equivalent",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl Difference {
    /// Compares two counts of one kind. If the base has none of the event, the ratio is infinite;
    /// it is a regression if the variant certainly has some, and of a simulated event more than one
    /// per statement. `None` without statements.
    pub(crate) fn of(base: &CountRecord, variant: &CountRecord, margin: f64) -> Option<Self> {
        let (before, after) = (per_statement(base), per_statement(variant));
        if !before.is_finite() || !after.is_finite() {
            return None;
        }
        if before == 0.0 {
            let threshold = least(&base.event, 1.0);
            let by_chance = if threshold > LEAST { 1.0 } else { 0.0 };
            let low = after * (1.0 - Spread::of(&variant.counts).interval);
            let (ratio, verdict) = match after {
                0.0 => (1.0, CountVerdict::Same),
                _ if low > by_chance => (f64::INFINITY, CountVerdict::Regression),
                _ => (f64::INFINITY, CountVerdict::Inconclusive),
            };
            return Some(Self { ratio, threshold, verdict });
        }
        let ratio = after / before;
        let scatter = Spread::of(&base.counts).threshold(&Spread::of(&variant.counts), ratio);
        let threshold = scatter.max(least(&base.event, before));
        let verdict = CountVerdict::of(ratio, threshold, margin);
        Some(Self { ratio, threshold, verdict })
    }

    /// True if there is a difference.
    pub(crate) fn certain(self) -> bool {
        (self.ratio - 1.0).abs() > self.threshold
    }
}

/// Events per statement, in the mean of all counts.
pub(crate) fn per_statement(record: &CountRecord) -> f64 {
    Spread::of(&record.counts).mean / record.statements as f64
}

/// Events per row, where the kind has rows.
pub(crate) fn per_row(record: &CountRecord) -> Option<f64> {
    (record.rows > 0).then(|| Spread::of(&record.counts).mean / record.rows as f64)
}

impl Counted {
    /// Reads the counts of an experiment.
    ///
    /// # Errors
    /// As [`super::count`].
    pub(crate) fn read(
        store: &Store,
        id: ExperimentId,
        base: Option<&str>,
        margin: Option<f64>,
        event: Option<&str>,
    ) -> Result<Self, ReportError> {
        let experiment = store.experiment(id)?;
        let variants = store.variants(id)?;
        let base = match base {
            Some(asked) => variants.iter().position(|v| v.name == asked).ok_or_else(|| {
                let known = variants.iter().map(|variant| variant.name.clone()).collect();
                ReportError::UnknownBase { asked: asked.to_owned(), known }
            })?,
            // If the base was not counted, the first variant takes its place.
            None => variants.iter().position(|v| v.name == experiment.base).unwrap_or(0),
        };
        let place = |id| variants.iter().position(|known| known.id == id);
        let counts = store.counts(id)?.into_iter();
        let counts = counts.filter_map(|(id, record)| Some((place(id)?, record))).collect();
        let warnings = store.warnings(id)?.into_iter().map(|stored| stored.warning).collect();
        Self::of(experiment, variants, base, counts, warnings, (margin, event))
    }

    /// The counts of two variants of different experiments, the first as the base.
    ///
    /// # Errors
    /// As [`super::count_between`].
    pub(crate) fn between(
        ends: [CountedIn<'_>; 2],
        margin: Option<f64>,
        event: Option<&str>,
    ) -> Result<Self, ReportError> {
        let (mut variants, mut counts, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        let [before, after] = ends;
        let apart =
            before.experiment != after.experiment || !std::ptr::eq(before.store, after.store);
        for (place, CountedIn { store, experiment, variant }) in ends.into_iter().enumerate() {
            let all = store.variants(experiment)?;
            let Some(found) = all.iter().find(|known| known.name == variant) else {
                let known = all.iter().map(|variant| variant.name.clone()).collect();
                return Err(ReportError::UnknownBase { asked: variant.to_owned(), known });
            };
            let own = store.counts(experiment)?.into_iter().filter(|(id, _)| *id == found.id);
            counts.extend(own.map(|(_, record)| (place, record)));
            variants.push(found.clone());
            for warning in store.warnings(experiment)?.into_iter().map(|stored| stored.warning) {
                // How others of that experiment differ.
                let elsewhere = apart && warning.code.ends_with("-differ");
                if !elsewhere && !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        let before = before.store.experiment(before.experiment)?;
        let mut experiment = after.store.experiment(after.experiment)?;
        if before.state != ExperimentState::Finished {
            experiment.state = before.state;
        }
        Self::of(experiment, variants, 0, counts, warnings, (margin, event))
    }

    /// Counts by variant (its place), in order.
    fn of(
        experiment: Experiment,
        variants: Vec<Variant>,
        base: usize,
        counts: Vec<(usize, CountRecord)>,
        warnings: Vec<Warning>,
        (margin, event): (Option<f64>, Option<&str>),
    ) -> Result<Self, ReportError> {
        let margin = margin.unwrap_or(experiment.margin);
        fraction(margin).map_err(ReportError::BadMargin)?;
        let renames = Renames::of(&experiment.plan, variants.iter().map(|it| it.dbms.as_str()));
        let renames = {
            let functions = counts.iter().flat_map(|(_, record)| &record.functions);
            let names: HashSet<&str> = functions.map(|function| function.name.as_str()).collect();
            renames.needed(|name| names.contains(name))
        };
        let mut kinds: Vec<CountedKind> = Vec::new();
        for (place, mut record) in counts {
            for function in &mut record.functions {
                function.name = renames.name(&function.name).to_owned();
                // The same library is in another place for each version, and on each machine.
                if let Some((_, file)) = function.object.rsplit_once('/') {
                    function.object = file.to_owned();
                }
            }
            let group = Group {
                protocol: record.protocol.clone(),
                place: record.place.clone(),
                event: record.event.clone(),
            };
            let counts = vec![None; variants.len()];
            let kind = CountedKind { kind: record.kind.clone(), group, counts };
            let at = place_of(&mut kinds, kind, |known, new| {
                known.kind == new.kind && known.group == new.group
            });
            kinds[at].counts[place] = Some(record);
        }
        if kinds.is_empty() {
            return Err(ReportError::NoCounts(experiment.name));
        }
        for kind in &mut kinds {
            namesakes::align(kind.counts.iter_mut().flatten());
        }
        // In the order of counting; instructions are first.
        let known = distinct(kinds.iter().map(|kind| kind.group.event.clone()));
        let wanted = event.unwrap_or(INSTRUCTIONS);
        let Some(event) = known.iter().find(|known| known.eq_ignore_ascii_case(wanted)).cloned()
        else {
            return Err(ReportError::NotCounted { event: wanted.to_owned(), known });
        };
        kinds.sort_by_cached_key(|kind| {
            let place = known.iter().position(|known| *known == kind.group.event);
            (kind.group.order(), order(&kind.kind), place)
        });
        let (kinds, others) = kinds.into_iter().partition(|kind| kind.group.event == event);
        Ok(Self { experiment, variants, base, margin, warnings, event, kinds, others })
    }

    /// The groups with their kinds.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&Group, &[CountedKind])> {
        let groups = self.kinds.chunk_by(|one, next| one.group == next.group);
        groups.map(|kinds| (&kinds[0].group, kinds))
    }

    pub(crate) fn name(&self, variant: usize) -> &str {
        self.variants.get(variant).map_or("", |variant| variant.name.as_str())
    }

    /// Compares a variant with the base; `None` for the base itself, or if one of the two has no
    /// count.
    pub(crate) fn difference(&self, kind: &CountedKind, variant: usize) -> Option<Difference> {
        if variant == self.base {
            return None;
        }
        let (base, variant) = (kind.count(self.base)?, kind.count(variant)?);
        Difference::of(base, variant, self.margin)
    }

    /// The variants that have a count, in the order of the plan.
    pub(crate) fn counted(&self) -> impl Iterator<Item = usize> {
        let has = |variant: &usize| self.kinds.iter().any(|kind| kind.count(*variant).is_some());
        (0..self.variants.len()).filter(has)
    }

    /// Place of the kind whose count certainly differs most from the base's: in one variant,
    /// or in any.
    pub(crate) fn moved_most(&self, variant: Option<usize>) -> Option<(usize, Difference)> {
        let wanted = |place: &usize| variant.is_none_or(|variant| *place == variant);
        let size = |difference: &Difference| difference.ratio.ln().abs();
        let kinds = self.kinds.iter().enumerate();
        kinds
            .flat_map(|(place, kind)| {
                let variants = (0..self.variants.len()).filter(wanted);
                variants.filter_map(move |variant| Some((place, self.difference(kind, variant)?)))
            })
            .filter(|(_, difference)| difference.certain() && difference.ratio.is_finite())
            // The first of equal ones.
            .reduce(|most, next| if size(&next.1) > size(&most.1) { next } else { most })
    }
}

/// The sort key of a kind. Several are counted at a time, so the stored order means nothing. Kinds
/// of the workloads come in the order of a row's life, others by name. Numbers sort by value, and a
/// name with a further part (`-indexed`) comes after the name without it.
fn order(kind: &str) -> (usize, usize, Vec<(String, u64)>) {
    const FAMILIES: [&str; 5] = ["insert", "range", "point", "update", "delete"];
    let family = kind.split('-').next().unwrap_or_default();
    let rank = FAMILIES.iter().position(|known| *known == family);
    let parts = if rank.is_some() { kind.split('-').count() } else { 0 };
    (rank.unwrap_or(FAMILIES.len()), parts, chunks(kind))
}

/// Splits a name into texts and the numbers that follow them.
fn chunks(name: &str) -> Vec<(String, u64)> {
    let mut found: Vec<(String, u64)> = vec![(String::new(), 0)];
    let mut in_number = false;
    for c in name.chars() {
        if in_number && !c.is_ascii_digit() {
            found.push((String::new(), 0));
        }
        in_number = c.is_ascii_digit();
        let Some((text, number)) = found.last_mut() else { continue };
        match c.to_digit(10) {
            Some(digit) if in_number => {
                *number = number.saturating_mul(10).saturating_add(u64::from(digit));
            }
            _ => text.push(c),
        }
    }
    found
}

/// The protocol of calls of a library.
const CALL: &str = "call";

/// The noun for the things counted with these protocols: `call` or `statement`.
pub(crate) fn noun<'a>(protocols: impl IntoIterator<Item = &'a str>) -> &'static str {
    if protocols.into_iter().all(|protocol| protocol == CALL) { "call" } else { "statement" }
}

impl Group {
    /// The noun for the things counted in this group.
    pub(crate) fn noun(&self) -> &'static str {
        noun([self.protocol.as_str()])
    }

    /// The protocol and the place in words.
    pub(crate) fn words(&self) -> String {
        match self.protocol.as_str() {
            CALL => format!("calls of the {}", self.place),
            protocol => format!("{protocol} protocol, {}", self.place),
        }
    }

    /// The simple protocol comes first.
    fn order(&self) -> (bool, String, String) {
        (self.protocol != "simple", self.protocol.clone(), self.place.clone())
    }
}

impl CountedKind {
    /// True if this is another event of the same statements, sent and counted in the same way.
    pub(crate) fn is_also(&self, other: &Self) -> bool {
        let (own, theirs) = (&self.group, &other.group);
        self.kind == other.kind && own.protocol == theirs.protocol && own.place == theirs.place
    }

    pub(crate) fn count(&self, variant: usize) -> Option<&CountRecord> {
        self.counts.get(variant)?.as_ref()
    }

    /// Names of the phases of all variants, in order.
    pub(crate) fn phases(&self) -> Vec<&str> {
        let phases = self.counts.iter().flatten().flat_map(|record| &record.phases);
        distinct(phases.map(|phase| phase.name.as_str()))
    }
}

/// Events per statement in a phase; `None` where the phases are not known, 0 where only this
/// phase is missing.
pub(crate) fn in_phase(record: &CountRecord, phase: &str) -> Option<f64> {
    if record.phases.is_empty() {
        return None;
    }
    let found = record.phases.iter().find(|known| known.name == phase);
    Some(found.map_or(0.0, |found| found.total as f64) / record.statements as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::INSTRUCTIONS;

    #[test]
    fn a_verdict_is_about_the_whole_interval() {
        use CountVerdict::{Equivalent, Improvement, Inconclusive, Regression, Same};
        for (ratio, threshold, margin, verdict) in [
            (1.03, 0.0001, 0.02, Regression),
            (0.97, 0.0001, 0.02, Improvement),
            (1.03, 0.02, 0.02, Inconclusive),
            (1.000_05, 0.0001, 0.02, Same),
            (1.01, 0.0001, 0.02, Equivalent),
            (1.0, 0.03, 0.02, Inconclusive),
            (1.0, f64::INFINITY, 0.02, Inconclusive),
            (1.0, f64::NAN, 0.02, Inconclusive),
            // At the edge of the margin, and with a margin that counts can't be held to.
            (1.020_05, 0.0001, 0.02, Inconclusive),
            (1.0, 0.0001, 0.0, Same),
            (1.000_15, 0.0001, 0.0, Regression),
            (1.000_12, 0.0001, 0.000_05, Inconclusive),
        ] {
            let found = CountVerdict::of(ratio, threshold, margin);
            assert_eq!(found, verdict, "{ratio} ± {threshold}, margin {margin}");
        }
    }

    #[test]
    fn a_base_without_events_is_compared() {
        let record = |event: &str, total: u64| CountRecord {
            kind: "point".to_owned(),
            protocol: "simple".to_owned(),
            place: "backend".to_owned(),
            event: event.to_owned(),
            statements: 10,
            rows: 0,
            total,
            counts: vec![total; 2],
            phases: Vec::new(),
            functions: Vec::new(),
        };
        let of = |event: &str, base, variant| {
            Difference::of(&record(event, base), &record(event, variant), 0.02).unwrap().verdict
        };
        assert_eq!(of(INSTRUCTIONS, 0, 0), CountVerdict::Same);
        assert_eq!(of("system calls", 0, 500), CountVerdict::Regression);
        assert_eq!(of("LL misses", 0, 5), CountVerdict::Inconclusive);
        assert_eq!(of("LL misses", 0, 500), CountVerdict::Regression);
        assert_eq!(of("LL misses", 500, 0), CountVerdict::Improvement);
        // Seen in one of two counts, it may be none.
        let once = CountRecord { counts: vec![0, 500], ..record("system calls", 500) };
        let found = Difference::of(&record("system calls", 0), &once, 0.02).unwrap();
        assert_eq!(found.verdict, CountVerdict::Inconclusive);
    }

    #[test]
    fn kinds_stand_in_order_whatever_came_first() {
        let wanted = [
            "insert-1",
            "insert-5",
            "insert-50",
            "insert-100",
            "insert-5-indexed",
            "range-10",
            "range-pdc",
            "point",
            "delete-50",
            "Q1",
            "Q2",
            "Q2b",
            "Q10",
            "join",
        ];
        let mut found = wanted;
        found.reverse();
        found.sort_by_cached_key(|kind| order(kind));
        assert_eq!(found, wanted);
    }
}
