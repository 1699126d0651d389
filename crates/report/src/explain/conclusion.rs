//! The conclusion of an explanation: a paragraph that claims no more than its intervals do.

use judge::Comparison;
use metrics::{
    DBMS_CPU, Metric, READ_KB, READS, START_BYTES, START_DEAD, START_UNSEEN, SWITCHES, WRITTEN_KB,
    counted,
};

use super::shifts::ExplainedShift;
use crate::judging::sentence::{confidence, direction};
use crate::load::model::StepResults;
use crate::output::number::{changes, percent, relative, signed};

/// The costs that may explain a difference in throughput, in the order in which they are mentioned.
pub(super) const COSTS: [&Metric; 5] = [&DBMS_CPU, &READS, &READ_KB, &WRITTEN_KB, &SWITCHES];

/// Names of the differences at the start that are mentioned.
const START: [(&Metric, &str); 3] = [
    (&START_DEAD, "dead rows"),
    (&START_UNSEEN, "pages not known to be all-visible"),
    (&START_BYTES, "data and indexes"),
];

/// Counters to name at most.
const COUNTERS: usize = 3;

/// A cost that differs by less is not mentioned, however certain: a quarter of the default margin,
/// as for differences between slices ([`judge::SLICE_TOLERANCE`]).
const LEAST_COST: f64 = judge::SLICE_TOLERANCE;

/// How a step's fixed rates bear on what differs per operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pace {
    /// Nothing has a rate.
    Free,
    /// The operations that the step counts, of this class, came at a rate that was held: its
    /// throughput is given.
    Given(String),
    /// These classes come at a rate alongside what the step counts: the fewer operations it does,
    /// the more of their work falls on each.
    Beside(Vec<String>),
}

impl Pace {
    /// The pace of a variant and its base in a step.
    pub(super) fn of(step: &StepResults, not_held: &[&str]) -> Self {
        let (class, paced) = (step.class.as_str(), step.paced());
        let others: Vec<String> =
            paced.iter().filter(|it| **it != class).map(|it| (*it).to_owned()).collect();
        if paced.contains(class) && !not_held.contains(&class) {
            Self::Given(class.to_owned())
        } else if others.is_empty() {
            Self::Free
        } else {
            Self::Beside(others)
        }
    }

    /// Names those of the ratios per operation that lie between 1 and the inverse of the ratio of
    /// throughput: paced work that falls on fewer or more operations is enough to cause them.
    fn explains<'a>(
        &self,
        throughput: Option<&Comparison>,
        ratios: impl Iterator<Item = (&'a str, f64)>,
    ) -> Option<String> {
        let (Self::Beside(classes), Some(found)) = (self, throughput) else { return None };
        let (low, high) = found.low.zip(found.high).filter(|_| found.confirmed())?;
        let range = (1.0 / high).min(1.0)..=(1.0 / low).max(1.0);
        let names: Vec<&str> =
            ratios.filter(|(_, ratio)| range.contains(ratio)).map(|(name, _)| name).collect();
        let each = if found.ratio < 1.0 { "more" } else { "less" };
        (!names.is_empty()).then(|| {
            format!(
                "its {}s come at a fixed rate, so {each} of their work falls on each operation; that \
                 alone, an effect of throughput and no cause, may explain {}",
                classes.join("s and "),
                names.join(", ")
            )
        })
    }
}

/// The paragraph about a variant and its base. Without a comparison of throughput it says why. It
/// names only those differences at the start and counters that are sure and differ by at least
/// `margin`, the size that the user calls small. Effects of a fixed rate are not named as causes.
pub(super) fn conclusion(
    [base, variant]: [&str; 2],
    throughput: Result<&Comparison, &str>,
    costs: &[(&'static Metric, &Comparison)],
    start: &[ExplainedShift],
    counters: &[ExplainedShift],
    pace: &Pace,
    margin: f64,
) -> String {
    let worth_telling = |shift: &&ExplainedShift| {
        shift.sure && shift.ratio.is_none_or(|ratio| (ratio - 1.0).abs() >= margin)
    };
    let of_throughput = match (pace, throughput) {
        (Pace::Given(class), Ok(_)) => format!(
            "throughput is given, since its {class}s come at a fixed rate: what follows is no cause \
             of it"
        ),
        _ => of_throughput(throughput),
    };
    let mut parts = vec![format!("{base} to {variant}: {of_throughput}")];
    let certain = || costs.iter().filter(|(_, comparison)| differs(comparison));
    let told: Vec<String> = certain()
        .map(|(metric, comparison)| {
            let words = metric.words;
            let size = percent((comparison.ratio - 1.0).abs());
            let direction = direction(comparison.ratio, words);
            format!("{} {size} {direction} {}", words.verb, words.what)
        })
        .collect();
    match &told[..] {
        [] if costs.is_empty() || throughput.is_ok_and(is_of_few) => {}
        [] => parts.push(format!(
            "no cost per operation is certain to differ by {} or more",
            percent(LEAST_COST)
        )),
        told => parts.push(format!("it {}", told.join(", "))),
    }
    let at_start = START.iter().filter_map(|(metric, what)| {
        let shift = start.iter().filter(worth_telling).find(|shift| shift.name == metric.name)?;
        Some(format!("{} {what}", times(shift)))
    });
    let at_start: Vec<String> = at_start.collect();
    if !at_start.is_empty() {
        parts.push(format!("it began with {}", at_start.join(", ")));
    }
    let moved = || counters.iter().filter(worth_telling).take(COUNTERS);
    let changes: Vec<String> =
        moved().map(|shift| format!("{} {}", shift.name, change(shift))).collect();
    if !changes.is_empty() {
        parts.push(format!("per operation, {}", changes.join(", ")));
    }
    let of_costs = certain().map(|(metric, comparison)| (metric.name, comparison.ratio));
    let of_counters = moved().filter_map(|shift| Some((shift.name.as_str(), shift.ratio?)));
    parts.extend(pace.explains(throughput.ok(), of_costs.chain(of_counters)));
    parts.join("; ")
}

/// True if a cost certainly differs by enough to be mentioned.
pub(super) fn differs(comparison: &Comparison) -> bool {
    !is_of_few(comparison) && comparison.confirmed() && (comparison.ratio - 1.0).abs() >= LEAST_COST
}

/// True if it has fewer blocks than a verdict needs.
fn is_of_few(comparison: &Comparison) -> bool {
    comparison.blocks < judge::ENOUGH_BLOCKS
}

fn of_throughput(throughput: Result<&Comparison, &str>) -> String {
    let comparison = match throughput {
        Ok(comparison) => comparison,
        Err(reason) => return format!("throughput can't be compared: {reason}"),
    };
    if is_of_few(comparison) {
        let (few, enough) = (counted(comparison.blocks, "block"), judge::ENOUGH_BLOCKS);
        let ratio = relative(comparison.ratio);
        return format!(
            "throughput × {ratio} in {few}; nothing is certain with fewer than {enough}"
        );
    }
    let Some((low, high)) = comparison.low.zip(comparison.high) else {
        return "throughput without an interval, so nothing is certain".to_owned();
    };
    let confidence = confidence(comparison.confidence);
    let interval = format!("{confidence} interval {}", changes(low, high));
    if comparison.confirmed() {
        let size = percent((comparison.ratio - 1.0).abs());
        let direction = if comparison.ratio < 1.0 { "down" } else { "up" };
        format!("throughput {direction} {size} ({interval})")
    } else {
        format!("no certain difference in throughput ({interval})")
    }
}

/// `9% more`, `3.2 times as many`.
fn times(shift: &ExplainedShift) -> String {
    match shift.ratio {
        Some(ratio) if ratio >= 2.0 => format!("{ratio:.1} times the"),
        Some(ratio) if ratio >= 1.0 => format!("{} more", percent(ratio - 1.0)),
        Some(ratio) => format!("{} less", percent(1.0 - ratio)),
        None => format!("{:.0} instead of no", shift.value),
    }
}

/// `+14%`.
fn change(shift: &ExplainedShift) -> String {
    shift.ratio.map_or_else(|| "from 0".to_owned(), |ratio| signed(ratio - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::model::{Sample, VariantStep};
    use judge::{Margin, compare};
    use store::{StepId, TrialId};

    fn compared(ratio: f64) -> Comparison {
        let base = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];
        let variant = base.map(|value| value * ratio);
        compare(&base, &variant, Margin::default()).unwrap()
    }

    fn shift(name: &str, base: f64, value: f64, sure: bool) -> ExplainedShift {
        let ratio = (base != 0.0).then(|| value / base);
        ExplainedShift { name: name.to_owned(), base, value, ratio, sure }
    }

    #[test]
    fn only_what_is_certain_is_told() {
        let (slower, reads, same) = (compared(0.8), compared(1.14), compared(1.0));
        let said = conclusion(
            ["17.7", "18.1"],
            Ok(&slower),
            &[(&READ_KB, &reads), (&WRITTEN_KB, &same)],
            &[
                shift(START_BYTES.name, 100.0, 109.0, true),
                shift(START_DEAD.name, 10.0, 40.0, false),
            ],
            &[
                shift("pg_stat_bgwriter.buffers_alloc", 1000.0, 1001.0, true),
                shift("pg_stat_wal.wal_bytes", 10.0, 12.7, true),
                shift("x.y", 1.0, 2.0, false),
            ],
            &Pace::Free,
            0.02,
        );
        assert_eq!(
            said,
            "17.7 to 18.1: throughput down 20.0% (95% interval −20.0% to −20.0%); it reads 14.0% \
             more from storage per operation; it began with 9.0% more data and indexes; per \
             operation, pg_stat_wal.wal_bytes +27.0%"
        );
        let failed = conclusion(["a", "b"], Err("b did nothing"), &[], &[], &[], &Pace::Free, 0.02);
        assert_eq!(failed, "a to b: throughput can't be compared: b did nothing");
        let nothing =
            conclusion(["a", "b"], Ok(&same), &[(&READ_KB, &same)], &[], &[], &Pace::Free, 0.02);
        assert!(nothing.starts_with("a to b: no certain difference in throughput (95%"));
        let no_cost = "; no cost per operation is certain to differ by 0.5% or more";
        assert!(nothing.ends_with(no_cost), "{nothing}");
        // A tiny difference is not mentioned, however certain, unless the user's margin is as
        // small.
        let tiny = compared(1.001);
        assert!(tiny.confirmed());
        let small = [shift("x.y", 1000.0, 1001.0, true)];
        let start = [shift(START_BYTES.name, 1000.0, 990.0, true)];
        let of = |margin| {
            conclusion(
                ["a", "b"],
                Ok(&same),
                &[(&READ_KB, &tiny)],
                &start,
                &small,
                &Pace::Free,
                margin,
            )
        };
        assert!(of(0.02).ends_with(no_cost), "{}", of(0.02));
        assert!(of(0.01).ends_with("; it began with 1.0% less data and indexes"), "{}", of(0.01));
        assert!(of(0.0009).ends_with("; per operation, x.y +0.1%"), "{}", of(0.0009));
        assert_eq!(times(&shift("x", 0.0, 7.0, true)), "7 instead of no");
        assert_eq!(times(&shift("x", 2.0, 7.0, true)), "3.5 times the");
    }
    #[test]
    fn effects_of_a_fixed_rate_are_no_causes() {
        let (slower, as_much, more) = (compared(0.8), compared(1.24), compared(1.5));
        let costs = [(&WRITTEN_KB, &as_much), (&DBMS_CPU, &more)];
        let counters = [shift("a.wal", 10.0, 12.4, true), shift("a.reads", 10.0, 30.0, true)];
        let said =
            |pace: Pace| conclusion(["a", "b"], Ok(&slower), &costs, &[], &counters, &pace, 0.02);
        let free = said(Pace::Free);
        let beside = said(Pace::Beside(vec!["insert".to_owned()]));
        assert_eq!(
            beside.strip_prefix(&free),
            Some(
                "; its inserts come at a fixed rate, so more of their work falls on each operation; \
                 that alone, an effect of throughput and no cause, may explain wKB/o, a.wal"
            )
        );
        let given = said(Pace::Given("insert".to_owned()));
        let begin = "a to b: throughput is given, since its inserts come at a fixed rate: what \
                     follows is no cause of it; it writes 24.0% more";
        assert!(given.starts_with(begin), "{given}");
    }

    #[test]
    fn a_rate_that_was_not_held_gives_no_throughput() {
        let metrics = ["insert.held", "insert.target"].map(str::to_owned).to_vec();
        let sample = Sample {
            block: 1,
            trial: TrialId(1),
            step: StepId(1),
            started_ms: 0,
            values: vec![1.0, 100.0],
            slices: None,
        };
        let figures = VariantStep {
            metrics: metrics.into(),
            samples: vec![sample],
            ..VariantStep::default()
        };
        let of = |class: &str| StepResults {
            class: class.to_owned(),
            variants: vec![figures.clone()],
            ..StepResults::default()
        };
        let insert = || "insert".to_owned();
        assert_eq!(Pace::of(&of("insert"), &[]), Pace::Given(insert()));
        assert_eq!(Pace::of(&of("insert"), &["insert"]), Pace::Free);
        assert_eq!(Pace::of(&of("query"), &[]), Pace::Beside(vec![insert()]));
    }
}
