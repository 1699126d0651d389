//! Whether the operations of a step fit into its slices.

use std::time::Duration;

use drive::{ClassOutcome, Outcome};
use workload::Class;

use crate::joint::slicing::OPERATIONS;

/// Operations don't fit if a larger part of a server's slices than this has no rate.
const MOST_UNMEASURED: f64 = 0.25;
/// A server stood still if an operation took a larger part of all slices than this.
const LONGEST_STALL: f64 = 0.25;

/// True if the typical operation of a server is too long for slices of `length`, so many of the
/// slices that are at least as long have no rate. The others are no fair sample then: they are
/// those in which operations were short. `counted` is the class of operations that the step counts.
///
/// If slices have no rate because a server stood still now and then, it is false: that is a result.
pub fn are_too_short(length: Duration, outcomes: &[&Outcome], counted: &Class) -> bool {
    let unmeasured = |outcome: &&Outcome| {
        let slices = || outcome.slices.iter().filter(|slice| slice.length >= length);
        let missed = slices().filter(|slice| slice.rate().is_none()).count();
        (outcome.unfit || outcome.fatal.is_none())
            && missed as f64 > MOST_UNMEASURED * slices().count() as f64
    };
    let all: f64 = outcomes.iter().map(|outcome| loaded(outcome)).sum();
    let works = |class: &ClassOutcome| {
        class.statements > 1 && (class.latency.max() as f64) < LONGEST_STALL * all * 1e9
    };
    let is_slow = |class: &ClassOutcome| {
        let typical = class.latency.value_at_quantile(0.5) as f64 / 1e9;
        OPERATIONS * typical > length.as_secs_f64()
    };
    let classes = || outcomes.iter().map(|outcome| outcome.class(counted));
    outcomes.iter().any(unmeasured)
        && classes().all(|class| class.is_some_and(works))
        && classes().flatten().any(is_slow)
}

/// Seconds in which a target had the load.
pub fn loaded(outcome: &Outcome) -> f64 {
    outcome.slices.iter().map(|slice| slice.length.as_secs_f64()).sum()
}
