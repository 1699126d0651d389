//! Which steps of a block are sliced, how long their slices are, and why.
//!
//! Some of this follows from the step itself ([`crate::sharing`]). CPU use is measured
//! rather than assumed: the first block slices every step that can be sliced, and determines for
//! each server the share of the time with the load in which it and its clients were on CPU, or
//! wanted to be ([`Need`]). If that is below [`metrics::CPU_BOUND`] for one of them, the time went
//! to waiting (storage, locks), and the step runs in frozen slices, or where a server can't be
//! frozen in turns. Each of the first [`DECIDING`] blocks counts. For frozen slices one of them is
//! enough; for turns, later blocks go by the typical one.
//!
//! Steps whose work in the background could fall into another server's slices run in frozen slices
//! from the start.
//!
//! The first block also chooses the length, from rounds of several mixed lengths, unless the plan
//! sets one. All findings are those stored with the steps of finished trials, so a resumed run
//! decides the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plan::{Pairing, StepKey};
use store::{Scope, StoreError};
use workload::Step;

use crate::joint::need::{self, Need, least, typical};
use crate::sharing::{can_slice, grows_alike, runs_on, shares};
use crate::trial::conditions::Conditions;

/// How many blocks decide whether a step is CPU-bound.
const DECIDING: usize = 3;
/// Lengths that are mixed in the first block, in ms: from a few times what a process needs to come
/// back to warm caches to where the machine's own drift begins to show.
const CANDIDATES: [f64; 5] = [10.0, 20.0, 40.0, 80.0, 160.0];
/// If none of these is long enough, longer ones are tried: these multiples of the longest.
const LONGER: [f64; 3] = [1.0, 2.0, 4.0];
/// The longest length ever tried, in ms: the plan's own limit.
const LONGEST: f64 = 10_000.0;
/// The length in ms for a step that is too short to compare lengths, or the nearest one tried: a
/// dozen statements of most kinds, and far above the length that showed cold caches (7 ms).
pub const UNTESTED: f64 = 40.0;
/// The length in ms of slices in which the other servers are frozen.
const FROZEN: f64 = 50.0;
/// Operations that a slice should have room for: the first of them never counts.
pub const OPERATIONS: f64 = 4.0;
/// How many times longer slices become if operations don't fit into them.
pub const LENGTHENING: u32 = 4;
/// With fewer rounds of slices than this, a step runs in turns.
const FEWEST_ROUNDS: f64 = 6.0;
/// Rounds that a step in slices has time for, in a run that chooses its length: some may be set
/// aside, and [`judge::FEWEST_PAIRS`] are the fewest that have a ratio.
const PLANNED_ROUNDS: f64 = 8.0;
/// The most seconds for that.
const LONGEST_EXTENSION: f64 = 6.0;
/// The part of a slice before counting begins, in which its caches warm up again.
pub const LEAD_IN: f64 = 0.2;

/// The way a step of a block runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Way {
    /// With all servers, in slices.
    Sliced {
        /// Lengths of rounds, drawn with equal probability.
        lengths: Vec<Duration>,
        /// The length for estimates in ms; `None` if it is still to be chosen from these.
        ms: Option<f64>,
        /// True if all servers are frozen but the one that has the load.
        frozen: bool,
    },
    /// On one server after another.
    InTurns,
}

/// The findings of earlier blocks about a step.
#[derive(Debug, Clone, Default, PartialEq)]
struct Known {
    /// The length of slices in ms; `None` if the step was not sliced.
    ms: Option<f64>,
    /// True if later blocks use this length; otherwise they try longer ones.
    settled: bool,
    /// The need of each server, by block.
    needs: BTreeMap<u32, Vec<Need>>,
}

/// The decisions about slicing in an experiment.
#[derive(Debug)]
pub struct Slicing {
    pairing: Pairing,
    /// The plan's length, in ms.
    given: Option<f64>,
    /// True if there is no time to compare lengths.
    short: bool,
    /// True if all servers can be frozen.
    freezable: bool,
    known: BTreeMap<StepKey, Known>,
    /// Lengths in ms below which slices were too short: two of them gave different ratios.
    longer: BTreeMap<StepKey, f64>,
}

impl Slicing {
    /// Reads the plan's choices and the findings of finished trials.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn open(conditions: &Conditions<'_>) -> Result<Slicing, StoreError> {
        let (plan, experiment) = (conditions.plan(), conditions.experiment.id);
        let mut slicing = Slicing {
            pairing: plan.pairing,
            given: plan.slice_ms.map(f64::from),
            // A run that designs itself has short steps and many restarts, over which the check by
            // a second length adds up.
            short: plan.designs_itself(),
            freezable: conditions.lineup.is_freezable(),
            known: BTreeMap::new(),
            longer: conditions.longer_slices.borrow().clone(),
        };
        if plan.pairing == Pairing::Blocks {
            return Ok(slicing);
        }
        let lengths = [metrics::SLICE_MS.name, metrics::SLICE_SETTLED.name];
        let names = [&need::METRICS.map(|metric| metric.name)[..], &lengths].concat();
        for step in conditions.store.step_values(experiment, &names, Scope::Results)? {
            if let [share, wanted, others, steal, ms, settled] = step.values[..] {
                let need = Need::of([share, wanted, others, steal]);
                let length = (!ms.is_nan()).then_some((ms, settled > 0.0));
                slicing.learn(StepKey::clone(&step.key), step.block, need, length);
            }
        }
        Ok(slicing)
    }

    /// Records the findings of a block on one server; `length`: that of its slices, and whether it
    /// is settled.
    fn learn(&mut self, step: StepKey, block: u32, need: Need, length: Option<(f64, bool)>) {
        if !need.is_known() && length.is_none() {
            return;
        }
        let known = self.known.entry(step).or_default();
        known.needs.entry(block).or_default().push(need);
        if let Some((ms, settled)) = length
            && (!known.settled || known.ms <= Some(ms))
        {
            (known.ms, known.settled) = (Some(ms), settled);
        }
    }

    /// The smallest need of any server, in each block so far.
    fn needs(&self, step: &Step) -> Vec<Need> {
        let blocks = self.known.get(&step.key).into_iter().flat_map(|known| known.needs.values());
        blocks.filter_map(|servers| least(servers.iter().copied(), step)).collect()
    }

    /// The need, if it makes the slices of its block useless: the block is one of those that
    /// decide, and so far they find the step not CPU-bound. Where servers can be frozen, one such
    /// block is enough.
    pub fn in_vain(&self, step: &Step, found: impl IntoIterator<Item = Need>) -> Option<Need> {
        let mut needs = self.needs(step);
        if self.pairing != Pairing::Auto || needs.len() >= DECIDING {
            return None;
        }
        let own = least(found, step)?;
        needs.push(own);
        let typical = if self.can_freeze(step) { Some(own) } else { typical(&needs, step) };
        typical.filter(|need| !need.is_bound(step))
    }

    /// How a step runs if it is not CPU-bound.
    pub fn otherwise(&self, step: &Step) -> &'static str {
        if self.can_freeze(step) { "in frozen slices" } else { "in turns" }
    }

    /// True if servers may be frozen in a step. A query can have a time limit, which goes by the
    /// clock while its server is frozen.
    fn can_freeze(&self, step: &Step) -> bool {
        self.freezable && step.asks.is_none()
    }

    /// True if servers are frozen in one of these steps. `inside`: clients are in the processes of
    /// the servers.
    pub fn freezes<'a>(&self, inside: bool, mut steps: impl Iterator<Item = &'a Step>) -> bool {
        steps.any(|step| runs_on(step).is_ok() && self.frozen(step, inside).is_some())
    }

    /// Why servers are frozen in a step, if they are.
    fn frozen(&self, step: &Step, inside: bool) -> Option<String> {
        match self.pairing {
            Pairing::Frozen => Some("the plan says so".to_owned()),
            Pairing::Auto if self.can_freeze(step) => {
                let unbound = || {
                    let mut needs = self.needs(step).into_iter().take(DECIDING);
                    needs.find_map(|need| need.limit(step, "one of the first blocks").err())
                };
                shares(step, inside).err().map(str::to_owned).or_else(unbound)
            }
            _ => None,
        }
    }

    /// Says so if all blocks so far would have decided otherwise than the first ones did.
    pub fn another_way(&self, step: &Step) -> Option<String> {
        let needs = self.needs(step);
        let open = self.pairing == Pairing::Auto && shares(step, false).is_ok();
        if !open || needs.len() <= DECIDING {
            return None;
        }
        let bound = |needs: &[Need]| typical(needs, step).is_some_and(|need| need.is_bound(step));
        let (name, was, is) = (&step.key.name, bound(&needs[..DECIDING]), bound(&needs));
        let found = if was { "CPU-bound" } else { "not CPU-bound" };
        let runs = if was { "slices" } else { "turns" };
        (was != is).then(|| {
            format!(
                "{name}: the first {DECIDING} blocks found it {found}, so it runs in {runs}; with \
                 later ones it would have been decided otherwise"
            )
        })
    }

    /// How a step runs, and why. `inside`: clients are in the processes of the servers.
    pub fn way(&self, step: &Step, inside: bool) -> (Way, String) {
        let in_turns = |why: &str| (Way::InTurns, why.to_owned());
        if let Some(why) = self.frozen(step, inside) {
            let limit = "a time limit of its query would go on while its server is frozen";
            let lasts = if step.asks.is_some() { Err(limit) } else { Ok(()) };
            return match runs_on(step).and(lasts) {
                Ok(()) => (self.checked(step, self.given.unwrap_or(FROZEN), true), why),
                Err(why) => in_turns(why),
            };
        }
        if let Err(why) = can_slice(step, inside) {
            return in_turns(why);
        }
        let growing = grows_alike(step).map_err(str::to_owned);
        match growing.map_or_else(|why| self.asked_for().ok_or(why), |()| self.bound(step)) {
            Ok(why) => (self.lengths(step), why),
            Err(why) => in_turns(&why),
        }
    }

    /// How a program runs that may run for `slice` seconds at a time, and why.
    pub fn way_of_program(&self, step: &Step, slice: u32) -> (Way, String) {
        if self.pairing == Pairing::Frozen {
            return (
                Way::InTurns,
                "a program can't run in slices of its server's own time".to_owned(),
            );
        }
        let length = Duration::from_secs(slice.into());
        match self.bound(step) {
            Ok(why) => {
                let ms = Some(length.as_secs_f64() * 1000.0);
                (Way::Sliced { lengths: vec![length], ms, frozen: false }, why)
            }
            Err(why) => (Way::InTurns, why),
        }
    }

    /// The reason to slice whatever can be sliced, where the plan asks for it.
    fn asked_for(&self) -> Option<String> {
        (self.pairing != Pairing::Auto).then(|| "the plan says so".to_owned())
    }

    /// Why a step is sliced or not, depending on whether it is CPU-bound.
    fn bound(&self, step: &Step) -> Result<String, String> {
        if let Some(why) = self.asked_for() {
            return Ok(why);
        }
        if !self.known.contains_key(&step.key) {
            return Ok("this block finds out whether it is CPU-bound".to_owned());
        }
        let mut needs = self.needs(step);
        needs.truncate(DECIDING);
        let when = match needs.len() {
            1 => "the first block".to_owned(),
            blocks => format!("the first {blocks} blocks"),
        };
        typical(&needs, step).map_or_else(
            || Ok("there is no sign that it is not CPU-bound".to_owned()),
            |need| need.limit(step, &when),
        )
    }

    /// True if the plan sets no length of slices.
    pub fn chooses_lengths(&self) -> bool {
        self.given.is_none()
    }

    /// The step, in a run that chooses how long it lasts: for as long as enough rounds of these
    /// lengths take.
    pub fn lasting(&self, step: &Step, lengths: &[Duration]) -> Arc<Step> {
        let mean = lengths.iter().sum::<Duration>().as_secs_f64() / lengths.len().max(1) as f64;
        let least = (PLANNED_ROUNDS * mean).min(LONGEST_EXTENSION);
        let mut step = step.clone();
        if self.short {
            step.seconds = step.seconds.map(|seconds| seconds.max(least));
        }
        Arc::new(step)
    }

    fn lengths(&self, step: &Step) -> Way {
        let known = self.known.get(&step.key);
        let length = |ms: f64| Duration::from_secs_f64(ms / 1000.0);
        let mixed = |all: &[f64]| Way::Sliced {
            lengths: all.iter().map(|ms| length(*ms)).collect(),
            ms: None,
            frozen: false,
        };
        // An earlier block may have found that operations need longer ones.
        let needed = |known: &Known| {
            let times = if known.settled { 1 } else { LENGTHENING };
            known.ms.map(|ms| (ms * f64::from(times)).min(LONGEST))
        };
        let untested = known.and_then(needed).unwrap_or(UNTESTED).max(UNTESTED);
        let chosen = match (self.given.or(self.short.then_some(untested)), known) {
            (Some(ms), _) => ms,
            (None, Some(Known { ms: Some(ms), settled, .. })) => {
                if !settled && *ms < LONGEST {
                    return mixed(&LONGER.map(|times| (ms * times).min(LONGEST)));
                }
                *ms
            }
            (None, _) => return mixed(&CANDIDATES),
        };
        self.checked(step, chosen, false)
    }

    /// Slices of this length, or longer where that was too short, and a quarter of the rounds twice
    /// as long: the check by a second length.
    fn checked(&self, step: &Step, ms: f64, frozen: bool) -> Way {
        let ms = self.longer.get(&step.key).map_or(ms, |longer| longer.max(ms));
        let length = |ms: f64| Duration::from_secs_f64(ms / 1000.0);
        let (one, two) = (length(ms), length(2.0 * ms));
        Way::Sliced { lengths: vec![one, one, one, two], ms: Some(ms), frozen }
    }
}

/// The longest slices in ms of which enough rounds fit into so many seconds of a step; `None`: into
/// as many as it may last.
pub fn longest_within(seconds: Option<f64>) -> f64 {
    seconds.unwrap_or(LONGEST_EXTENSION) / seconds_of(1.0)
}

/// The seconds of enough rounds with slices of so many ms, of which a quarter are twice as long.
pub fn seconds_of(ms: f64) -> f64 {
    PLANNED_ROUNDS * 1.25 * ms / 1000.0
}

/// How a step runs in slices if one of its operations takes this long, in seconds: in longer ones,
/// or in turns if too few of them would fit into its time.
pub fn slices_of(way: Way, why: String, step: &Step, operation: f64) -> (Way, String) {
    let least = Duration::from_secs_f64((OPERATIONS * operation).min(1e6));
    let Way::Sliced { lengths, ms, frozen } = way else { return (way, why) };
    if lengths.iter().all(|length| *length >= least) {
        return (Way::Sliced { lengths, ms, frozen }, why);
    }
    if least.as_secs_f64() * FEWEST_ROUNDS > step.seconds.unwrap_or(f64::INFINITY) {
        let text = format!("an operation takes {operation:.2} s, too long for slices");
        return (Way::InTurns, text);
    }
    let lengths = lengths.into_iter().map(|length| length.max(least)).collect();
    let ms = ms.map(|ms| ms.max(least.as_secs_f64() * 1000.0));
    (Way::Sliced { lengths, ms, frozen }, why)
}

#[cfg(test)]
mod tests;
