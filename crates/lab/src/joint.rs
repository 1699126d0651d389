//! A joint block: the servers of all variants are up together and go through the steps in lockstep.
//!
//! Steps that are sliced run on all of them at once. The others run in turns: one server after
//! another in random order, the machine to itself, after the idle ones have come to rest.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use store::Store;
use workload::{Benchmark, Phase, Rng, stream_seed};

use crate::attempt::Attempt;
use crate::calm;
use crate::error::Error;
use crate::event::Event;
use crate::fitness::Fitness;
use crate::sliced::SlicedStep;
use crate::slicing::{Slicing, Way};
use crate::trial::{Bench, Place, phase_name};

impl Bench<'_> {
    /// Runs the trials of one block and dop together. Every finished step is in the store when this
    /// returns, whatever it returns. Where one is polluted and they can be run again, they end with
    /// the step that showed it.
    pub fn joint(
        &self,
        places: &[Place],
        slicing: &mut Slicing,
        store: &Store,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Fitness, Error> {
        let mut attempts = Vec::new();
        let mut result = places
            .iter()
            .try_for_each(|place| {
                self.begin_and_tell(*place, store, on_event).map(|attempt| attempts.push(attempt))
            })
            .and_then(|()| self.lockstep(&mut attempts, slicing, store, on_event));
        let blamed = match &result {
            Err(Error::Step { variant, .. }) => Some(variant.clone()),
            _ => None,
        };
        let mut fitness = Fitness::Clean;
        for attempt in attempts {
            fitness.and(attempt.fitness.clone());
            // A failure of the block itself says more than one of a stop after it.
            let own = blamed.as_ref() == Some(&attempt.subject.variant.name);
            let so_far = if own { std::mem::replace(&mut result, Ok(())) } else { Ok(()) };
            let ended = self.end(attempt, so_far, store);
            if result.is_ok() {
                result = ended;
            }
        }
        result.map(|()| fitness)
    }

    fn lockstep(
        &self,
        attempts: &mut [Attempt<'_>],
        slicing: &mut Slicing,
        store: &Store,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        different_servers(attempts)?;
        for attempt in attempts.iter_mut() {
            self.set_up(attempt, store)?;
        }
        // The base first; those that end earlier last.
        let base = self.prepared.plan.base_index();
        attempts.sort_by_key(|attempt| {
            (Reverse(attempt.benchmark.phases.len()), attempt.place.variant != base)
        });
        let longest =
            attempts.first().map(|attempt| (Arc::clone(&attempt.benchmark), attempt.first));
        let Some((longest, first)) = longest else { return Ok(()) };
        for (ordinal, phase) in longest.phases.iter().enumerate().skip(first) {
            let going = attempts.partition_point(|a| a.benchmark.phases.len() > ordinal);
            let attempts = &mut attempts[..going];
            let (way, why) = self.way(attempts, phase, ordinal, slicing);
            match (way, phase) {
                (Way::Sliced { lengths, ms }, Phase::Step(step)) => {
                    let dop = step.dop;
                    let first = slicing.is_new(&step.name, dop);
                    calm::before_slices(attempts, self, on_event)?;
                    let sliced = SlicedStep {
                        phase,
                        step: &Arc::new(step.clone()),
                        ordinal: ordinal as u32,
                        lengths,
                        ms,
                        why,
                        on_trial: first && self.prepared.plan.pairing == plan::Pairing::Auto,
                    };
                    let known = self.sliced(attempts, sliced, store, on_event)?;
                    slicing.learn(&step.name, dop, known, first);
                    if self.interrupted.load(Ordering::Relaxed) {
                        return Err(Error::Interrupted);
                    }
                }
                _ => self.in_turns(attempts, phase, ordinal as u32, &why, store, on_event)?,
            }
            if attempts.iter().any(Attempt::in_vain) {
                break;
            }
        }
        Ok(())
    }

    /// How a phase runs, and why.
    fn way(
        &self,
        attempts: &[Attempt<'_>],
        phase: &Phase,
        ordinal: usize,
        slicing: &Slicing,
    ) -> (Way, String) {
        let Phase::Step(step) = phase else {
            return (Way::InTurns, "settling is not measured".to_owned());
        };
        if attempts.len() < 2 {
            return (Way::InTurns, "there is no other variant to share it with".to_owned());
        }
        let same = |benchmark: &Benchmark| benchmark.phases.get(ordinal) == Some(phase);
        if !attempts.iter().all(|attempt| same(&attempt.benchmark)) {
            return (Way::InTurns, "its statements differ between the variants".to_owned());
        }
        slicing.way(step)
    }

    /// Runs a phase on one server after another.
    fn in_turns(
        &self,
        attempts: &mut [Attempt<'_>],
        phase: &Phase,
        ordinal: u32,
        why: &str,
        store: &Store,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        let block = attempts.first().map_or(0, |attempt| attempt.place.block);
        let seed = stream_seed(self.seed, phase_name(phase), ordinal, block, "turns");
        for at in shuffled(attempts.len(), seed) {
            calm::before_turn(attempts, self, on_event)?;
            let attempt = &mut attempts[at];
            attempt.among = Some(format!("in turns, the other servers up and idle: {why}"));
            self.phase(attempt, phase, ordinal, store, on_event)?;
            if attempt.in_vain() {
                break;
            }
        }
        Ok(())
    }
}

/// The numbers below `count` in random order (Fisher and Yates).
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut rng = Rng::new(seed);
    for last in (1..count).rev() {
        order.swap(last, rng.below(last as u64 + 1) as usize);
    }
    order
}

/// Makes sure that each variant has a server of its own, which one that runs already may not be.
fn different_servers(attempts: &[Attempt<'_>]) -> Result<(), Error> {
    for (at, one) in attempts.iter().enumerate() {
        for other in &attempts[..at] {
            if one.server.endpoint() == other.server.endpoint() {
                return Err(Error::SameServer {
                    one: other.subject.variant.name.clone(),
                    other: one.subject.variant.name.clone(),
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
