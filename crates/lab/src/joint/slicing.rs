//! Which steps of a block are sliced, how long their slices are, and why.
//!
//! Some of this follows from the step itself ([`can_slice`], [`grows_alike`]). CPU use is measured
//! rather than assumed: the first block slices every step that can be sliced, and determines for
//! each server the share of the time with the load in which it and its clients were on CPU
//! ([`cpu_share`](crate::observe::figures::cpu_share)). If that is below [`CPU_BOUND`] for one of
//! them, the time went to waiting (storage, locks), and later blocks run the step in turns.
//!
//! The first block also chooses the length, from rounds of several mixed lengths, unless the plan
//! sets one. The findings are stored with the steps of finished trials, where a resumed run finds
//! them.

use std::collections::BTreeMap;
use std::time::Duration;

use metrics::{CPU_BOUND, counted};
use plan::{Pairing, Plan, StepKey};
use store::{ExperimentId, Scope, Store, StoreError};
use workload::{Effect, End, Pace, Role, Step, Stream};

use crate::observe::figures::client_cpus;

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
    },
    /// On one server after another.
    InTurns,
}

/// The findings of earlier blocks about a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// The length of slices in ms; `None` if the step was not sliced.
    pub ms: Option<f64>,
    /// True if later blocks use this length; otherwise they try longer ones.
    pub settled: bool,
    /// The lowest share of any server; NaN if unknown.
    pub cpu_share: f64,
}

/// The decisions about slicing in an experiment.
#[derive(Debug)]
pub struct Slicing {
    pairing: Pairing,
    ms: Option<f64>,
    known: BTreeMap<StepKey, Known>,
}

impl Slicing {
    /// Reads the plan's choices and the findings of finished trials.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn open(
        plan: &Plan,
        store: &Store,
        experiment: ExperimentId,
    ) -> Result<Slicing, StoreError> {
        let mut slicing = Slicing {
            pairing: plan.pairing,
            // A run that designs itself has short steps and many restarts, over which the check by
            // a second length adds up.
            ms: plan.slice_ms.map(f64::from).or_else(|| match plan.pairing {
                Pairing::Frozen => Some(FROZEN),
                _ => plan.designs_itself().then_some(UNTESTED),
            }),
            known: BTreeMap::new(),
        };
        if plan.pairing == Pairing::Blocks {
            return Ok(slicing);
        }
        let mut blocks: BTreeMap<StepKey, u32> = BTreeMap::new();
        let known = [metrics::SLICE_MS.name, metrics::SLICE_SETTLED.name, metrics::CPU_SHARE.name];
        for step in store.step_values(experiment, &known, Scope::Results)? {
            let [ms, settled, share] = step.values[..] else { continue };
            if ms.is_nan() && share.is_nan() {
                continue;
            }
            let found = Known {
                ms: (!ms.is_nan()).then_some(ms),
                settled: settled > 0.0,
                // Where its slices count, it was found CPU-bound, however busy the machine.
                cpu_share: if ms.is_nan() { share } else { share.max(CPU_BOUND) },
            };
            // As in an uninterrupted run: the first block decides whether, a later one how long.
            let first = *blocks.entry(step.key.clone()).or_insert(step.block);
            slicing.learn(step.key, found, step.block == first);
        }
        Ok(slicing)
    }

    /// Records the findings of a block; `first` if it was the first to run the step.
    pub fn learn(&mut self, step: StepKey, found: Known, first: bool) {
        let known = self.known.entry(step).or_insert(found);
        if first {
            known.cpu_share = known.cpu_share.min(found.cpu_share);
        }
        if found.ms.is_some() && !known.settled {
            (known.ms, known.settled) = (found.ms, found.settled);
        }
    }

    /// True if nothing is known about a step yet.
    pub fn is_new(&self, step: &Step) -> bool {
        !self.known.contains_key(&step.key)
    }

    /// How a step runs, and why.
    pub fn way(&self, step: &Step) -> (Way, String) {
        let in_turns = |why: &str| (Way::InTurns, why.to_owned());
        if self.pairing == Pairing::Frozen {
            return match runs_on(step) {
                Ok(()) => (checked(self.ms.unwrap_or(FROZEN)), "the plan says so".to_owned()),
                Err(why) => in_turns(why),
            };
        }
        if let Err(why) = can_slice(step) {
            return in_turns(why);
        }
        let growing = grows_alike(step).map_err(str::to_owned);
        match growing.map_or_else(|why| self.asked_for().ok_or(why), |()| self.bound(step)) {
            Ok(why) => (self.lengths(self.known.get(&step.key)), why),
            Err(why) => in_turns(&why),
        }
    }

    /// How a program runs that may run for `slice` seconds at a time, and why.
    pub fn way_of_program(&self, step: &Step, slice: u32) -> (Way, String) {
        if self.pairing == Pairing::Frozen {
            return (Way::InTurns, "programs have no slices of their servers' own time".to_owned());
        }
        let length = Duration::from_secs(slice.into());
        match self.bound(step) {
            Ok(why) => {
                let ms = Some(length.as_secs_f64() * 1000.0);
                (Way::Sliced { lengths: vec![length], ms }, why)
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
        match self.known.get(&step.key) {
            Some(known) if known.cpu_share < CPU_BOUND => Err(format!(
                "it is not CPU-bound: in the first block, a server and its clients needed only {}",
                cpus_needed(step, known.cpu_share)
            )),
            Some(known) if known.cpu_share >= CPU_BOUND => Ok(format!(
                "it is CPU-bound: in the first block, each server and its clients needed {} or more",
                cpus_needed(step, known.cpu_share)
            )),
            Some(_) => Ok("there is no sign that it is not CPU-bound".to_owned()),
            None => Ok("this block finds out whether it is CPU-bound".to_owned()),
        }
    }

    fn lengths(&self, known: Option<&Known>) -> Way {
        let length = |ms: f64| Duration::from_secs_f64(ms / 1000.0);
        let mixed = |all: &[f64]| Way::Sliced {
            lengths: all.iter().map(|ms| length(*ms)).collect(),
            ms: None,
        };
        let chosen = match (self.ms, known) {
            (Some(ms), _) => ms,
            (None, Some(Known { ms: Some(ms), settled, .. })) => {
                if !settled && *ms < LONGEST {
                    return mixed(&LONGER.map(|times| (ms * times).min(LONGEST)));
                }
                *ms
            }
            (None, _) => return mixed(&CANDIDATES),
        };
        checked(chosen)
    }
}

/// Slices of this length, and a quarter of the rounds twice as long: the check by a second length.
fn checked(ms: f64) -> Way {
    let length = |ms: f64| Duration::from_secs_f64(ms / 1000.0);
    let (one, two) = (length(ms), length(2.0 * ms));
    Way::Sliced { lengths: vec![one, one, one, two], ms: Some(ms) }
}

/// A share in CPUs, and how many CPUs the step's clients can keep busy: `0.93 of 1 CPU`. A server's
/// background work and time taken by others can add up to more than all of them.
pub fn cpus_needed(step: &Step, share: f64) -> String {
    let cpus = client_cpus(step);
    let all = counted(cpus, "CPU");
    if share >= 1.0 {
        format!("all of {all}")
    } else {
        format!("{:.2} of {all}", share * cpus as f64)
    }
}

/// Checks that a step is more than one operation. The error is the reason why it has no slices.
fn runs_on(step: &Step) -> Result<(), &'static str> {
    let once = |stream: &Stream| {
        stream.role == Role::Lead
            && (stream.class.effect == Effect::Defines || stream.end == End::Rounds(1))
    };
    if step.streams.iter().any(once) {
        return Err("its operations run once and take long");
    }
    Ok(())
}

/// Checks that a step's work can move from server to server at all. The error is the reason it
/// can't.
pub fn can_slice(step: &Step) -> Result<(), &'static str> {
    runs_on(step)?;
    let mut leading = step.streams.iter().filter(|stream| stream.role == Role::Lead);
    if step.streams.iter().any(|stream| stream.class.effect == Effect::Holds) {
        return Err("it holds a transaction open");
    }
    if leading.clone().any(|stream| stream.reconnect.is_some()) {
        return Err("its clients reconnect");
    }
    if leading.all(|stream| stream.pace != Pace::Free) {
        return Err("its rate is fixed");
    }
    Ok(())
}

/// Checks that a step leaves the data as it found it, or makes it grow in the same way on all
/// servers. The error is the reason it doesn't.
pub fn grows_alike(step: &Step) -> Result<(), &'static str> {
    let reads_or_adds = |s: &Stream| matches!(s.class.effect, Effect::Reads | Effect::Adds);
    if step.streams.iter().all(reads_or_adds) {
        Ok(())
    } else {
        Err("it changes rows: work for vacuum builds up and can fall into any slice")
    }
}

/// True if the clients that send as fast as they get answers only read.
pub fn only_reads(step: &Step) -> bool {
    let writes = |stream: &Stream| {
        stream.role == Role::Lead
            && stream.pace == Pace::Free
            && stream.class.effect != Effect::Reads
    };
    !step.streams.iter().any(writes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Benchmark, Dialect, Phase};

    fn benchmark(plan: plan::InsertPlan) -> Benchmark {
        workload::insert::benchmark(&plan, 1, Dialect::postgres(14)).unwrap()
    }

    fn steps(benchmark: &Benchmark) -> impl Iterator<Item = &Step> {
        benchmark.phases.iter().filter_map(Phase::step)
    }

    fn slicing(pairing: Pairing, ms: Option<f64>) -> Slicing {
        Slicing { pairing, ms, known: BTreeMap::new() }
    }

    fn is_sliced(slicing: &Slicing, step: &Step) -> bool {
        matches!(slicing.way(step).0, Way::Sliced { .. })
    }

    fn small() -> plan::InsertPlan {
        plan::InsertPlan { rows: 1000, indexed_rows: 500, ..plan::InsertPlan::default() }
    }

    #[test]
    fn auto_slices_what_reads_and_what_adds() {
        let growing = benchmark(plan::InsertPlan { delete_per_insert: false, ..small() });
        for step in steps(&growing) {
            assert_eq!(is_sliced(&slicing(Pairing::Auto, None), step), step.key.name != "l.x");
        }
        let deleting = benchmark(plan::InsertPlan { delete_per_insert: true, ..small() });
        for step in steps(&deleting) {
            let deletes = step.key.name != "l.i0" && step.key.name != "l.x";
            assert_eq!(is_sliced(&slicing(Pairing::Auto, None), step), step.key.name == "l.i0");
            assert_eq!(
                grows_alike(step).is_err() && step.key.name != "l.x",
                deletes,
                "{}",
                step.key.name
            );
            // Asked for, what can be sliced is.
            assert_eq!(is_sliced(&slicing(Pairing::Slices, None), step), step.key.name != "l.x");
        }
    }

    #[test]
    fn queries_beside_paced_inserts_only_read() {
        let benchmark = benchmark(small());
        let reading: Vec<_> =
            steps(&benchmark).filter(|step| only_reads(step)).map(|step| &*step.key.name).collect();
        assert_eq!(reading, ["qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"]);
    }

    #[test]
    fn frozen_servers_share_all_that_is_more_than_one_operation() {
        let deleting =
            plan::InsertPlan { delete_per_insert: true, hold_transaction_seconds: 1, ..small() };
        let frozen = slicing(Pairing::Frozen, None);
        for step in steps(&benchmark(deleting)) {
            assert_eq!(is_sliced(&frozen, step), step.key.name != "l.x", "{}", step.key.name);
        }
        let way = milliseconds(frozen.way(&first_step()).0);
        assert_eq!(way, (vec![50, 50, 50, 100], Some(50.0)));
        let way = milliseconds(slicing(Pairing::Frozen, Some(200.0)).way(&first_step()).0);
        assert_eq!(way, (vec![200, 200, 200, 400], Some(200.0)));
    }

    #[test]
    fn a_held_transaction_belongs_to_one_server() {
        let plan = plan::InsertPlan { hold_transaction_seconds: 1, ..small() };
        let benchmark = benchmark(plan);
        let step = steps(&benchmark).find(|step| step.key.name == "qr100").unwrap();
        assert!(!is_sliced(&slicing(Pairing::Slices, None), step));
    }

    fn first_step() -> Step {
        steps(&benchmark(small())).next().unwrap().clone()
    }

    fn milliseconds(way: Way) -> (Vec<u128>, Option<f64>) {
        let Way::Sliced { lengths, ms } = way else { panic!("in turns") };
        (lengths.iter().map(Duration::as_millis).collect(), ms)
    }

    #[test]
    fn what_the_first_block_finds_decides_for_the_others() {
        let step = first_step();
        let mut slicing = slicing(Pairing::Auto, None);
        assert_eq!(milliseconds(slicing.way(&step).0), (vec![10, 20, 40, 80, 160], None));
        let found = Known { ms: Some(20.0), settled: true, cpu_share: 0.93 };
        slicing.learn(step.key.clone(), found, true);
        assert_eq!(milliseconds(slicing.way(&step).0), (vec![20, 20, 20, 40], Some(20.0)));
        // What a later block finds changes nothing.
        let later = Known { ms: Some(80.0), settled: true, cpu_share: 0.4 };
        slicing.learn(step.key.clone(), later, false);
        assert_eq!(milliseconds(slicing.way(&step).0), (vec![20, 20, 20, 40], Some(20.0)));
        // The second server of the first block does.
        slicing.learn(step.key.clone(), Known { cpu_share: 0.4, ..found }, true);
        let (way, why) = slicing.way(&step);
        assert_eq!(way, Way::InTurns);
        assert!(why.ends_with("needed only 0.40 of 1 CPU"), "{why}");
    }

    #[test]
    fn no_step_needs_more_cpus_than_its_clients_can_use() {
        let step = first_step();
        let mut slicing = slicing(Pairing::Auto, None);
        for (share, needed) in [(1.37, "all of 1 CPU"), (0.93, "0.93 of 1 CPU")] {
            let found = Known { ms: None, settled: true, cpu_share: share };
            slicing.learn(step.key.clone(), found, true);
            let why = slicing.way(&step).1;
            assert!(why.ends_with(&format!("needed {needed} or more")), "{why}");
        }
    }

    #[test]
    fn longer_lengths_are_tried_until_one_is_long_enough() {
        let step = first_step();
        let mut slicing = slicing(Pairing::Slices, None);
        let found = |ms, settled| Known { ms: Some(ms), settled, cpu_share: 1.0 };
        slicing.learn(step.key.clone(), found(160.0, false), true);
        assert_eq!(milliseconds(slicing.way(&step).0), (vec![160, 320, 640], None));
        slicing.learn(step.key.clone(), found(10_000.0, false), false);
        let way = milliseconds(slicing.way(&step).0);
        assert_eq!(way, (vec![10_000, 10_000, 10_000, 20_000], Some(10_000.0)));
    }

    #[test]
    fn the_length_of_the_plan_needs_no_search() {
        let step = first_step();
        let way = slicing(Pairing::Slices, Some(25.0)).way(&step).0;
        assert_eq!(milliseconds(way), (vec![25, 25, 25, 50], Some(25.0)));
    }
}
