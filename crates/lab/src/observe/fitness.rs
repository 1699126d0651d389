//! Decides whether a trial that has run its steps counts as a result.
//!
//! A step that runs in slices never pollutes its trial, because the servers of all variants share
//! what the hypervisor leaves, and neighboring slices are compared. It keeps its figures and its
//! warning.

use store::{StepKind, StepRecord, StepState};

/// How wrong a share of stolen time can be for a step of one second. The kernel shows CPU time in
/// whole ticks of `USER_HZ`, 100 per second on Linux (proc(5)), so a difference may be one
/// tick per CPU too large; the number of CPUs cancels out of a share.
const TICK: f64 = 0.01;

/// The worth of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fitness {
    /// A result.
    #[default]
    Clean,
    /// Something outside the experiment took so much of the machine that it should be repeated.
    Polluted {
        /// The cause, in one clause.
        reason: String,
    },
}

impl Fitness {
    /// Judges a trial by one of its steps: polluted if the hypervisor took a larger share of the
    /// CPU time than `limit` (0 to 1) during a finished, measured step, by more than the kernel's
    /// ticks can be wrong.
    pub fn of_step(record: &StepRecord, limit: f64) -> Fitness {
        let measured = (record.kind, record.state) == (StepKind::Measured, StepState::Finished);
        match record.metric(metrics::STEAL.name) {
            Some(share) if measured && share > limit + TICK / record.seconds => Fitness::Polluted {
                reason: format!(
                    "the hypervisor took {:.1}% of the CPU time in {}, above the plan's `steal_limit` of {}%",
                    100.0 * share,
                    record.key.name,
                    percent(limit)
                ),
            },
            _ => Fitness::Clean,
        }
    }

    /// Adds another step's result; the first pollution of a trial is the one reported.
    pub fn and(&mut self, further: Fitness) {
        if *self == Fitness::Clean {
            *self = further;
        }
    }

    /// True if the trial should be repeated.
    pub fn is_polluted(&self) -> bool {
        *self != Fitness::Clean
    }
}

/// A share in percent, without digits that say nothing.
fn percent(share: f64) -> String {
    let text = format!("{:.2}", 100.0 * share);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(steal: f64, seconds: f64) -> StepRecord {
        let mut record = StepRecord::new(0, "l.i1", 1);
        record.seconds = seconds;
        record.add("steal", steal);
        record
    }

    #[test]
    fn steal_above_the_limit_pollutes() {
        let Fitness::Polluted { reason } = Fitness::of_step(&step(0.084, 60.0), 0.05) else {
            panic!("clean");
        };
        assert_eq!(
            reason,
            "the hypervisor took 8.4% of the CPU time in l.i1, above the plan's `steal_limit` of 5%"
        );
        assert_eq!(Fitness::of_step(&step(0.04, 60.0), 0.05), Fitness::Clean);
        assert_eq!(Fitness::of_step(&step(1.0, 60.0), 1.0), Fitness::Clean, "1 is off");
        assert!(Fitness::of_step(&step(0.001, 60.0), 0.0).is_polluted());
        assert_eq!(Fitness::of_step(&step(0.0, 60.0), 0.0), Fitness::Clean);
    }

    #[test]
    fn a_tick_in_a_short_step_does_not() {
        assert_eq!(Fitness::of_step(&step(0.1, 0.1), 0.05), Fitness::Clean);
        assert!(Fitness::of_step(&step(0.2, 0.1), 0.05).is_polluted());
    }

    #[test]
    fn only_measured_steps_that_went_well_count() {
        let mut settle = step(0.5, 60.0);
        settle.kind = StepKind::Settle;
        assert_eq!(Fitness::of_step(&settle, 0.05), Fitness::Clean);
        let mut failed = step(0.5, 60.0);
        failed.state = StepState::Failed;
        assert_eq!(Fitness::of_step(&failed, 0.05), Fitness::Clean);
        assert_eq!(Fitness::of_step(&StepRecord::new(0, "l.i0", 1), 0.0), Fitness::Clean);
    }

    #[test]
    fn the_first_reason_is_told() {
        let mut fitness = Fitness::Clean;
        fitness.and(Fitness::Clean);
        assert!(!fitness.is_polluted());
        let because = |reason: &str| Fitness::Polluted { reason: reason.to_owned() };
        fitness.and(because("one"));
        fitness.and(because("two"));
        assert_eq!(fitness, because("one"));
    }
}
