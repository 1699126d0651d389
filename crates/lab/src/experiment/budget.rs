//! The time a run has used, and how long its next block will take.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use plan::{Pairing, Plan, SequenceKey};
use store::{ExperimentId, Scope, Step, Store, Trial, TrialId, TrialState};

use crate::error::Error;
use crate::experiment::blocks::Stint;
use crate::experiment::room::{self, Room};

/// The time of an experiment, over all the runs that have worked on it.
#[derive(Debug)]
pub struct Clock {
    /// Used by earlier runs.
    before: Duration,
    since: Instant,
}

impl Clock {
    /// Starts where earlier runs have left off.
    pub fn start(store: &Store, experiment: ExperimentId) -> Result<Clock, Error> {
        let since = Instant::now();
        let trials = store.trials(experiment)?;
        // A trial that was killed has no end; its last step had one.
        let mut ends: BTreeMap<TrialId, i64> = BTreeMap::new();
        for step in store.steps(experiment, Scope::All)? {
            let end = step.started_ms + (1e3 * step.seconds) as i64;
            ends.entry(step.trial).and_modify(|known| *known = end.max(*known)).or_insert(end);
        }
        let spans = trials.iter().filter_map(|trial| {
            Some((trial.started_ms, trial.ended_ms.or(ends.get(&trial.id).copied())?))
        });
        Ok(Clock { before: report::covered(spans.collect()), since })
    }

    /// Time used so far.
    pub fn used(&self) -> Duration {
        self.before + self.since.elapsed()
    }
}

/// What is known of the budget of a plan before its run starts; `None` if it has none.
///
/// # Errors
/// As [`room::check`].
pub fn beforehand(results: &Path, plan: &Plan) -> Result<Option<String>, Error> {
    let doubt = room::check(plan)?;
    let Some(budget) = plan.budget.filter(|_| doubt.is_none()) else { return Ok(doubt) };
    Ok(Some(match earlier(results, plan) {
        Some((experiment, used, block)) => {
            let room = Room { budget, done: 0, used, block };
            format!("as experiment {experiment} went, {}", room.text(plan))
        }
        None => room::at_first(plan),
    }))
}

/// The latest experiment in a results directory with the same variants, workload and design, the
/// time of its load, and that of its shortest block.
fn earlier(results: &Path, plan: &Plan) -> Option<(ExperimentId, Duration, Duration)> {
    let store = Store::open_read_only(results).ok()?;
    let trials_of_block = plan.block(0, 1).trials.len();
    let same = |stored: &Plan| {
        (&stored.variants, &stored.workload, &stored.restore_after, stored.pairing)
            == (&plan.variants, &plan.workload, &plan.restore_after, plan.pairing)
            && stored.designs_itself() == plan.designs_itself()
    };
    store.experiments().ok()?.into_iter().find_map(|experiment| {
        Plan::parse(&experiment.plan, None, "the stored plan").ok().filter(same)?;
        let mut trials = store.trials(experiment.id).ok()?;
        trials.retain(|trial| trial.state == TrialState::Finished);
        let of_block = |number: u32| {
            let spans = trials.iter().filter(|trial| trial.block == number);
            let spans = spans.filter_map(|trial| Some((trial.started_ms, trial.ended_ms?)));
            let spans: Vec<_> = spans.collect();
            (spans.len() == trials_of_block).then(|| report::covered(spans))
        };
        let blocks = trials.iter().map(|trial| trial.block).max()?;
        let shortest = (1..=blocks).filter_map(of_block).min()?;
        Some((experiment.id, report::time_used(&trials, 0), shortest))
    })
}

/// Expected time for these trials of a plan: that of the longest trials so far with the same
/// variants, sequences and steps. `None` if one of them has no example.
pub fn expected(
    store: &Store,
    experiment: ExperimentId,
    plan: &Plan,
    stints: &[Stint],
) -> Result<Option<Duration>, Error> {
    // Trials of the same sequence then run at the same time.
    let together = plan.pairing != Pairing::Blocks;
    let mut steps: BTreeMap<TrialId, Vec<Step>> = BTreeMap::new();
    for step in store.steps(experiment, Scope::Results)? {
        steps.entry(step.trial).or_default().push(step);
    }
    let names: BTreeMap<_, _> =
        store.variants(experiment)?.into_iter().map(|v| (v.id, v.name)).collect();
    let trials: Vec<Trial> = store
        .trials(experiment)?
        .into_iter()
        .filter(|trial| trial.state == TrialState::Finished && trial.block > 0)
        .collect();
    let sequences = plan.workload.sequences();
    let mut sums: BTreeMap<SequenceKey, i64> = BTreeMap::new();
    for stint in stints {
        let name = &plan.variants[stint.trial.variant].name;
        let sequence = sequences.iter().find(|sequence| sequence.key == stint.trial.sequence);
        let last = sequence.and_then(|s| s.steps.get(stint.steps.checked_sub(1)?));
        let same = |trial: &&Trial| {
            trial.sequence == stint.trial.sequence.number()
                && names.get(&trial.variant) == Some(name)
        };
        let longest = trials
            .iter()
            .filter(same)
            .filter_map(|trial| through(trial, steps.get(&trial.id)?, &last?.key.name))
            .max();
        let Some(longest) = longest else { return Ok(None) };
        let sum = sums.entry(stint.trial.sequence).or_default();
        *sum = if together { longest.max(*sum) } else { longest + *sum };
    }
    Ok(Some(milliseconds(sums.values().sum())))
}

/// Milliseconds that a trial would have taken if it had ended after the step `last`; all of its
/// time if it did not go further.
fn through(trial: &Trial, steps: &[Step], last: &str) -> Option<i64> {
    let ended_ms = trial.ended_ms?;
    let whole = ended_ms - trial.started_ms;
    let next = steps.iter().skip_while(|step| step.key.name != last).nth(1);
    let (Some(next), Some(end)) = (next, steps.last()) else { return Some(whole) };
    let stopping = ended_ms - end.started_ms - (1e3 * end.seconds) as i64;
    Some((next.started_ms - trial.started_ms + stopping.max(0)).min(whole))
}

fn milliseconds(number: i64) -> Duration {
    Duration::from_millis(u64::try_from(number).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::StepKey;
    use store::{StepId, StepKind, StepState, VariantId};

    #[test]
    fn a_shorter_trial_takes_as_long_as_its_steps() {
        let trial = Trial {
            id: TrialId(1),
            variant: VariantId(1),
            block: 1,
            position: 1,
            sequence: 1,
            attempt: 1,
            state: TrialState::Finished,
            started_ms: 1_000,
            ended_ms: Some(50_000),
            error: None,
        };
        let step = |ordinal, name: &str, kind, started_ms, seconds| Step {
            id: StepId(1),
            trial: TrialId(1),
            variant: VariantId(1),
            block: 1,
            ordinal,
            key: StepKey::new(name, 1),
            kind,
            state: StepState::Finished,
            started_ms,
            seconds,
            operations: 1,
            measure: Default::default(),
            absent: Vec::new(),
            notes: Vec::new(),
        };
        let steps = [
            step(0, "l.i2", StepKind::Measured, 3_000, 7.0),
            step(1, "settle", StepKind::Settle, 11_000, 8.0),
            step(2, "qr100", StepKind::Measured, 20_000, 28.0),
        ];
        // Start to the begin of settling, and 2 s for stopping.
        assert_eq!(through(&trial, &steps, "l.i2"), Some(12_000));
        assert_eq!(through(&trial, &steps, "qr100"), Some(49_000));
        assert_eq!(through(&trial, &steps, "qp100"), Some(49_000), "no example is longer");
    }
}
