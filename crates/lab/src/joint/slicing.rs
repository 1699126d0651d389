//! Which steps of a block are sliced, how long their slices are, and why.
//!
//! Some of this follows from the step itself ([`can_slice`], [`grows_alike`]). CPU use is measured
//! rather than assumed: the first block slices every step that can be sliced, and determines for
//! each server the share of the time with the load in which it and its clients were on CPU, or
//! wanted to be ([`Need`]). If that is below [`metrics::CPU_BOUND`] for one of them, the time went
//! to waiting (storage, locks), and the step runs in turns. Each of the first [`DECIDING`] blocks
//! counts, and later blocks go by the typical one of these.
//!
//! The first block also chooses the length, from rounds of several mixed lengths, unless the plan
//! sets one. All findings are those stored with the steps of finished trials, so a resumed run
//! decides the same.

use std::collections::BTreeMap;
use std::time::Duration;

use plan::{Pairing, Plan, StepKey};
use store::{ExperimentId, Scope, Store, StoreError};
use workload::{Effect, End, Pace, Role, Step, Stream};

use crate::joint::need::{self, Need, least, typical};

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
const OPERATIONS: f64 = 4.0;
/// With fewer rounds of slices than this, a step runs in turns.
const FEWEST_ROUNDS: f64 = 6.0;
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
        let lengths = [metrics::SLICE_MS.name, metrics::SLICE_SETTLED.name];
        let names = [&need::METRICS.map(|metric| metric.name)[..], &lengths].concat();
        for step in store.step_values(experiment, &names, Scope::Results)? {
            if let [share, wanted, others, steal, ms, settled] = step.values[..] {
                let need = Need::of([share, wanted, others, steal]);
                let length = (!ms.is_nan()).then_some((ms, settled > 0.0));
                slicing.learn(step.key, step.block, need, length);
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
            && !known.settled
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
    /// decide, and so far they find the step not CPU-bound.
    pub fn in_vain(&self, step: &Step, found: impl IntoIterator<Item = Need>) -> Option<Need> {
        let mut needs = self.needs(step);
        if self.pairing != Pairing::Auto || needs.len() >= DECIDING {
            return None;
        }
        needs.push(least(found, step)?);
        typical(&needs, step).filter(|need| !need.is_bound(step))
    }

    /// Says so if all blocks so far would have decided otherwise than the first ones did.
    pub fn another_way(&self, step: &Step) -> Option<String> {
        let needs = self.needs(step);
        let open = can_slice(step).and_then(|()| grows_alike(step)).is_ok();
        if self.pairing != Pairing::Auto || !open || needs.len() <= DECIDING {
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

    /// True if all servers but one are frozen in slices.
    pub fn is_frozen(&self) -> bool {
        self.pairing == Pairing::Frozen
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
            return (
                Way::InTurns,
                "a program can't run in slices of its server's own time".to_owned(),
            );
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

/// How a step runs in slices if one of its operations takes this long, in seconds: in longer ones,
/// or in turns if too few of them would fit into its time.
pub fn slices_of(way: Way, why: String, step: &Step, operation: f64) -> (Way, String) {
    let least = Duration::from_secs_f64((OPERATIONS * operation).min(1e6));
    let Way::Sliced { lengths, ms } = way else { return (way, why) };
    if lengths.iter().all(|length| *length >= least) {
        return (Way::Sliced { lengths, ms }, why);
    }
    if least.as_secs_f64() * FEWEST_ROUNDS > step.seconds.unwrap_or(f64::INFINITY) {
        let text = format!("an operation takes {operation:.2} s, too long for slices");
        return (Way::InTurns, text);
    }
    let lengths = lengths.into_iter().map(|length| length.max(least)).collect();
    let ms = ms.map(|ms| ms.max(least.as_secs_f64() * 1000.0));
    (Way::Sliced { lengths, ms }, why)
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

    fn need(share: f64) -> Need {
        Need::of([share, 0.0, 0.0, 0.0])
    }

    #[test]
    fn what_the_first_blocks_find_decides_for_the_others() {
        let step = first_step();
        let mut slicing = slicing(Pairing::Auto, None);
        assert_eq!(milliseconds(slicing.way(&step).0), (vec![10, 20, 40, 80, 160], None));
        let learn = |slicing: &mut Slicing, block, share| {
            slicing.learn(step.key.clone(), block, need(share), Some((20.0, true)));
        };
        learn(&mut slicing, 1, 0.93);
        assert_eq!(milliseconds(slicing.way(&step).0), (vec![20, 20, 20, 40], Some(20.0)));
        // The second server of the first block.
        learn(&mut slicing, 1, 0.4);
        let (way, why) = slicing.way(&step);
        assert_eq!(way, Way::InTurns);
        let only = "in the first block, a server and its clients needed only 0.40 of 1 CPU";
        assert!(why.ends_with(only), "{why}");
        // Two of three say otherwise.
        learn(&mut slicing, 2, 0.9);
        assert_eq!(slicing.way(&step).0, Way::InTurns);
        learn(&mut slicing, 3, 0.8);
        let (way, why) = slicing.way(&step);
        assert_eq!(milliseconds(way), (vec![20, 20, 20, 40], Some(20.0)));
        assert!(why.contains("in the first 3 blocks") && why.contains("0.80 of 1 CPU"), "{why}");
        // What later blocks find changes nothing, but is told.
        assert_eq!(slicing.another_way(&step), None);
        for block in 4..8 {
            learn(&mut slicing, block, 0.3);
            assert!(is_sliced(&slicing, &step));
        }
        let told = slicing.another_way(&step).unwrap();
        assert!(told.contains("CPU-bound, so it runs in slices; with later ones"), "{told}");
    }

    #[test]
    fn slices_are_in_vain_where_the_blocks_that_decide_do_without() {
        let step = first_step();
        let mut auto = slicing(Pairing::Auto, None);
        assert_eq!(auto.in_vain(&step, [need(0.9), need(0.4)]), Some(need(0.4)));
        assert_eq!(auto.in_vain(&step, [need(0.9)]), None);
        assert_eq!(slicing(Pairing::Slices, None).in_vain(&step, [need(0.4)]), None);
        for block in 1..4 {
            auto.learn(step.key.clone(), block, need(0.9), None);
        }
        assert_eq!(auto.in_vain(&step, [need(0.4)]), None, "it is decided");
    }

    #[test]
    fn longer_lengths_are_tried_until_one_is_long_enough() {
        let step = first_step();
        let mut slicing = slicing(Pairing::Slices, None);
        slicing.learn(step.key.clone(), 1, need(1.0), Some((160.0, false)));
        assert_eq!(milliseconds(slicing.way(&step).0), (vec![160, 320, 640], None));
        slicing.learn(step.key.clone(), 2, need(1.0), Some((10_000.0, false)));
        let way = milliseconds(slicing.way(&step).0);
        assert_eq!(way, (vec![10_000, 10_000, 10_000, 20_000], Some(10_000.0)));
    }

    #[test]
    fn the_length_of_the_plan_needs_no_search() {
        let step = first_step();
        let way = slicing(Pairing::Slices, Some(25.0)).way(&step).0;
        assert_eq!(milliseconds(way), (vec![25, 25, 25, 50], Some(25.0)));
    }

    #[test]
    fn slices_have_room_for_slow_operations() {
        let (step, slicing) =
            (Step { seconds: Some(5.0), ..first_step() }, slicing(Pairing::Slices, Some(40.0)));
        let of = |operation: f64| {
            let (way, why) = slicing.way(&step);
            slices_of(way, why, &step, operation)
        };
        assert_eq!(milliseconds(of(0.001).0), (vec![40, 40, 40, 80], Some(40.0)));
        assert_eq!(milliseconds(of(0.015).0), (vec![60, 60, 60, 80], Some(60.0)));
        assert_eq!(milliseconds(of(0.2).0), (vec![800, 800, 800, 800], Some(800.0)));
        let (way, why) = of(0.3);
        assert_eq!(way, Way::InTurns);
        assert!(why.contains("0.30 s, too long for slices"), "{why}");
    }
}
