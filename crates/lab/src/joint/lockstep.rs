//! A joint block: the servers of all variants run at the same time and go through the steps in
//! lockstep.
//!
//! Sliced steps run on all of them at once. The others run in turns: one server after another in
//! random order, each with the machine to itself, after the idle ones have become quiet, unless all
//! have only read since they were.

use std::cmp::Reverse;
use std::sync::Arc;

use dbms::Endpoint;
use store::Warning;
use workload::{Benchmark, Dialect, Phase, Program, Rng, stream_seed};

use crate::error::Error;
use crate::event::{Event, phase_name};
use crate::joint::calm;
use crate::joint::sliced::{SlicedStep, sliced};
use crate::joint::slicing::{Slicing, Way, slices_of};
use crate::observe::fitness::Fitness;
use crate::sharing::changes_nothing;
use crate::subject::Subject;
use crate::trial::answers::ask;
use crate::trial::attempt::{Attempt, Entered};
use crate::trial::conditions::Conditions;
use crate::trial::phase::phase;
use crate::trial::phase_order::order;
use crate::trial::records::{new_record, record_failed};
use crate::trial::server::{Data, begin, set_up, stop};
use crate::trial::settle::settle;

/// Runs the trials of one block and sequence together. Every finished step is in the store when
/// this returns, whatever it returns.
pub fn run(conditions: &Conditions<'_>, trials: &[Entered]) -> Result<Fitness, Error> {
    let slicing = Slicing::open(conditions)?;
    let frozen = |subject: &Subject, benchmark: &Benchmark| {
        trials.len() > 1 && is_frozen(&slicing, subject, benchmark)
    };
    let (mut attempts, started) = begin(conditions, trials, &frozen);
    let mut result = started.and_then(|()| lockstep(conditions, &mut attempts, &slicing));
    let blamed = match &result {
        Err(Error::Step { variant, .. }) => Some(variant.clone()),
        _ => None,
    };
    let mut fitness = Fitness::Clean;
    attempts.iter().for_each(|attempt| fitness.and(attempt.fitness.clone()));
    // A failure of one server is explained when that server is stopped.
    let own = |attempt: &Attempt<'_>| blamed.as_deref() == Some(attempt.name());
    let results = attempts
        .iter()
        .map(|a| if own(a) { std::mem::replace(&mut result, Ok(())) } else { Ok(()) })
        .collect();
    for ended in stop(conditions, attempts, results, Data::Removed) {
        // A failure of the block itself says more than a failure to stop after it.
        result = result.and(ended.and_then(|left| Ok(left.discard()?)));
    }
    result.map(|()| fitness)
}

/// True if servers are frozen in a step of the plan, as far as is known.
///
/// # Errors
/// If the store can't be read, or a benchmark can't be made.
pub fn freezes(conditions: &Conditions<'_>) -> Result<bool, Error> {
    let (slicing, lineup) = (Slicing::open(conditions)?, conditions.lineup);
    for sequence in lineup.plan.workload.sequences() {
        for subject in &lineup.subjects {
            let benchmark = subject.benchmark(&lineup.plan.workload, sequence.key)?;
            if lineup.subjects.len() > 1 && is_frozen(&slicing, subject, &benchmark) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn is_frozen(slicing: &Slicing, subject: &Subject, benchmark: &Benchmark) -> bool {
    let inside = subject.dialect == Dialect::KeyValue;
    slicing.freezes(inside, benchmark.phases.iter().filter_map(Phase::step))
}

fn lockstep(
    conditions: &Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    slicing: &Slicing,
) -> Result<(), Error> {
    different_servers(attempts)?;
    for attempt in attempts.iter_mut() {
        set_up(conditions, attempt)?;
    }
    in_order(conditions, attempts);
    let longest = attempts.first().map(|attempt| (Arc::clone(&attempt.benchmark), attempt.first));
    let Some((longest, first)) = longest else { return Ok(()) };
    let seed = attempts.first().map_or(0, |attempt| conditions.order_seed(attempt.entered));
    // True if the servers have only read since all of them were quiet.
    let mut quiet = false;
    for ordinal in order(&longest.phases, first..longest.phases.len(), seed) {
        let phase = &longest.phases[ordinal];
        let was_quiet = std::mem::take(&mut quiet);
        in_order(conditions, attempts);
        let going = attempts.partition_point(|a| a.benchmark.phases.len() > ordinal);
        let all_go = going == attempts.len();
        let attempts = &mut attempts[..going];
        let reads = attempts.iter().all(|attempt| changes_nothing_in(attempt, ordinal));
        let (mut way, mut why) = way(attempts, phase, ordinal, slicing);
        let mut able = attempts.len();
        let asking = phase.step().filter(|it| it.asks.is_some());
        let sliced_way = matches!(way, Way::Sliced { .. });
        if let Some(step) = asking.filter(|_| sliced_way) {
            let answered = ask(conditions, attempts, phase, ordinal as u32)?;
            able = first_of_all(attempts, &answered);
            let times = attempts[..able].iter().filter_map(|it| Some(it.asked.as_ref()?.time));
            let slowest = times.fold(0.0, f64::max);
            (way, why) = match able {
                0 | 1 => (Way::InTurns, "the other variants refuse its query".to_owned()),
                _ => slices_of(way, why, step, slowest),
            };
        }
        let all_go = all_go && able == attempts.len();
        let attempts = &mut attempts[..able];
        let frozen = matches!(way, Way::Sliced { frozen: true, .. });
        let running = phase.step().filter(|_| !frozen);
        if let Some(text) = running.and_then(|step| slicing.another_way(step)) {
            conditions.warn_if_new(&Warning::new("another-way", text))?;
        }
        match (way, phase) {
            (
                Way::Sliced { lengths, ms, frozen },
                Phase::Step(step) | Phase::Program(Program { step, .. }),
            ) => {
                calm::before_slices(conditions, attempts, was_quiet)?;
                // What a frozen server has put off comes when it is thawed.
                quiet = reads && !frozen && (was_quiet || all_go);
                let how = SlicedStep {
                    phase,
                    step: slicing.lasting(step, &lengths),
                    ordinal: ordinal as u32,
                    lengths,
                    ms,
                    frozen,
                    why,
                    slicing,
                };
                sliced(conditions, attempts, how)?;
                conditions.go_on()?;
            }
            (_, Phase::Settle { rows }) if all(attempts, phase, ordinal) => {
                together(conditions, attempts, phase, *rows, ordinal as u32)?;
            }
            _ => {
                in_turns(conditions, attempts, (phase, ordinal as u32), was_quiet && reads, &why)?;
                quiet = reads && (was_quiet || all_go);
            }
        }
    }
    Ok(())
}

/// The base first; those that end earlier last.
fn in_order(conditions: &Conditions<'_>, attempts: &mut [Attempt<'_>]) {
    let base = conditions.plan().base_index();
    attempts.sort_by_key(|attempt| {
        (Reverse(attempt.benchmark.phases.len()), attempt.entered.variant != base)
    });
}

/// Moves those for which it is true to the front, in their order; returns how many they are.
fn first_of_all(attempts: &mut [Attempt<'_>], which: &[bool]) -> usize {
    let trials: Vec<_> = attempts.iter().map(|attempt| attempt.entered.trial).collect();
    let is = |attempt: &Attempt<'_>| {
        let at = trials.iter().position(|trial| *trial == attempt.entered.trial);
        at.and_then(|at| which.get(at)).copied().unwrap_or(false)
    };
    attempts.sort_by_key(|attempt| !is(attempt));
    attempts.iter().take_while(|attempt| is(attempt)).count()
}

/// How a phase runs, and why.
fn way(
    attempts: &[Attempt<'_>],
    phase: &Phase,
    ordinal: usize,
    slicing: &Slicing,
) -> (Way, String) {
    let in_turns = |why: &str| (Way::InTurns, why.to_owned());
    if attempts.len() < 2 {
        return in_turns("there is no other variant to share the load with");
    }
    if !all(attempts, phase, ordinal) {
        return in_turns("its statements differ between the variants");
    }
    let step = match phase {
        Phase::Step(step) => step,
        Phase::Program(Program { step, slice: Some(slice), .. }) => {
            return slicing.way_of_program(step, *slice);
        }
        Phase::Program(_) => return in_turns("the plan has no slice_seconds for this program"),
        Phase::Settle { .. } | Phase::Check(_) => return in_turns("it is not measured"),
    };
    let inside = |it: &Attempt<'_>| matches!(it.server.endpoint(), Endpoint::Process(_));
    slicing.way(step, attempts.iter().any(inside))
}

/// True if all servers have this phase at this place.
fn all(attempts: &[Attempt<'_>], phase: &Phase, ordinal: usize) -> bool {
    attempts.iter().all(|attempt| attempt.benchmark.phases.get(ordinal) == Some(phase))
}

/// Settles all servers at the same time.
fn together(
    conditions: &Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    phase: &Phase,
    rows: Option<u64>,
    ordinal: u32,
) -> Result<(), Error> {
    conditions.tell(Event::untimed_began(phase_name(phase)));
    let records = attempts.iter().map(|_| new_record(phase, ordinal)).collect();
    let settled = settle(conditions, attempts, rows, records);
    let mut result = Ok(());
    for (attempt, settled) in attempts.iter_mut().zip(settled) {
        let clients = attempt.entered.clients;
        attempt.counted = None;
        match settled {
            Ok(record) => {
                conditions.store.record_step(attempt.entered.trial, &record)?;
                conditions.tell(Event::step_ended(&record, clients, Some(attempt.name())));
            }
            Err(error) => {
                record_failed(conditions, attempt.entered, phase, ordinal);
                let error = attempt.error(phase_name(phase), clients, error.into());
                result = result.and(Err(error));
            }
        }
    }
    result.and_then(|()| conditions.go_on())
}

/// True if all that the clients of an attempt's phase do is read, and its server goes on running.
fn changes_nothing_in(attempt: &Attempt<'_>, ordinal: usize) -> bool {
    let step = attempt.benchmark.phases.get(ordinal).and_then(Phase::step);
    step.is_some_and(|step| changes_nothing(step) && !step.terms.cold)
}

/// Runs a phase on one server after another. `quiet`: all were before, and it only reads.
fn in_turns(
    conditions: &Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    (next, ordinal): (&Phase, u32),
    quiet: bool,
    why: &str,
) -> Result<(), Error> {
    let block = attempts.first().map_or(0, |attempt| attempt.entered.block);
    let seed = stream_seed(conditions.experiment.seed, phase_name(next), ordinal, block, "turns");
    for at in shuffled(attempts.len(), seed) {
        calm::before_turn(conditions, attempts, quiet)?;
        let attempt = &mut attempts[at];
        // Each its own: other systems have other statements.
        let benchmark = Arc::clone(&attempt.benchmark);
        let next = benchmark.phases.get(ordinal as usize).unwrap_or(next);
        attempt.among = Some(format!("in turns, the other servers up and idle: {why}"));
        phase(conditions, attempt, next, ordinal)?;
    }
    Ok(())
}

/// The numbers below `count` in random order.
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    Rng::new(seed).shuffle(&mut order);
    order
}

/// Checks that each variant has a server of its own, which may not be true of attached servers.
fn different_servers(attempts: &[Attempt<'_>]) -> Result<(), Error> {
    for (at, one) in attempts.iter().enumerate() {
        for other in &attempts[..at] {
            if one.server.endpoint() == other.server.endpoint() {
                return Err(Error::SameServer {
                    one: other.name().to_owned(),
                    other: one.name().to_owned(),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_a_permutation_that_the_seed_decides() {
        let order = shuffled(5, 7);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
        assert_eq!(order, shuffled(5, 7));
        assert!((0..20).any(|seed| shuffled(5, seed) != order));
    }
}
