//! The blocks and seconds that decide the most steps within a budget.
//!
//! A plan has one length for all its timed steps and one number of rows, so there are few enough
//! choices to try them all: every length of a ladder with every number of blocks that fits.

use judge::{ENOUGH_BLOCKS, Looks, TrialCost, optimal_seconds};
use plan::{Plan, Sequence};

use super::evidence::{Evidence, KnownStep};
use crate::ReportError;

/// Lengths of timed steps to try, in seconds, in addition to the plan's. Below 10 s, startup and
/// the last partial second weigh too much.
const LENGTHS: [u32; 20] =
    [10, 12, 15, 20, 25, 30, 45, 60, 75, 90, 120, 150, 180, 240, 300, 450, 600, 900, 1800, 3600];
/// Multiples of the rows to try, if they may grow.
const ROWS: [u32; 8] = [1, 2, 3, 4, 6, 8, 12, 16];
/// Never advises more blocks than this: beyond it, longer steps show more than days of trials.
const MOST_BLOCKS: u32 = 200;

/// The goal and limits of the search.
pub(super) struct Wanted {
    /// Machine time in seconds.
    pub(super) budget: f64,
    /// The slowdown to confirm.
    pub(super) margin: f64,
    pub(super) scale_rows: bool,
}

/// The result of the search.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) blocks: u32,
    /// Seconds of each timed step.
    pub(super) seconds: u32,
    /// Multiple of the plan's rows.
    pub(super) rows: u32,
    /// Machine time for it, in seconds.
    pub(super) time: f64,
    /// In the order of [`Evidence::steps`].
    pub(super) steps: Vec<Expected>,
}

/// Expected results for a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub(super) seconds: Option<f64>,
    /// Optimal seconds by Kalibera and Jones, if the step could have a length of its own; infinite
    /// if trials do not differ.
    pub(super) optimal: Option<f64>,
    pub(super) half_width: Option<f64>,
    pub(super) detectable: Option<f64>,
    pub(super) decided: bool,
}

/// Tries everything.
pub(super) fn search(
    plan: &Plan,
    evidence: &Evidence,
    wanted: &Wanted,
) -> Result<Found, ReportError> {
    let now = plan.workload.seconds().unwrap_or(1);
    let lengths = lengths(evidence, now);
    let rows: &[u32] = if wanted.scale_rows { &ROWS } else { &ROWS[..1] };
    let enough = ENOUGH_BLOCKS as u32;
    // A plan without blocks has no looks.
    let levels: Vec<f64> =
        (0..=MOST_BLOCKS).map(|blocks| level(plan, evidence, blocks.max(1))).collect();
    let try_all = |least: u32| {
        let mut best: Option<Found> = None;
        for rows in rows {
            for length in &lengths {
                let cost = cost(plan, evidence, *length, *rows);
                let most = cost.blocks_in(wanted.budget).min(MOST_BLOCKS);
                for blocks in least..=most {
                    let level = levels[blocks as usize];
                    let found = Found {
                        blocks,
                        seconds: *length,
                        rows: *rows,
                        time: cost.of(blocks),
                        steps: expected(plan, evidence, wanted, (*length, *rows, blocks, level)),
                    };
                    if best.as_ref().is_none_or(|best| better(evidence, &found, best)) {
                        best = Some(found);
                    }
                }
            }
        }
        best
    };
    // Too few blocks only when the budget has no room for more.
    try_all(enough).or_else(|| try_all(2)).ok_or_else(|| {
        let shortest = lengths.first().copied().unwrap_or(now);
        ReportError::BudgetTooSmall {
            budget: duration(wanted.budget),
            needed: duration(cost(plan, evidence, shortest, 1).of(2)),
        }
    })
}

/// The largest p value that confirms the only slowdown in an experiment of this many blocks: 5%
/// over all its comparisons and looks (see [`judge::Comparison::detectable`]).
fn level(plan: &Plan, evidence: &Evidence, blocks: u32) -> f64 {
    let base = plan.base_index();
    let compared = |(place, it): (usize, &plan::Variant)| place != base && it.twin_of.is_none();
    let variants = plan.variants.iter().enumerate().filter(|one| compared(*one)).count();
    let comparisons = variants * evidence.steps.iter().filter(|step| !step.load).count();
    let confidence = Looks::new(&with_blocks(plan, blocks).looks()).confidence_at(blocks);
    (1.0 - confidence) / comparisons.max(1) as f64
}

/// The plan with another number of blocks.
pub(super) fn with_blocks(plan: &Plan, blocks: u32) -> Plan {
    let mut plan = plan.clone();
    plan.blocks = blocks;
    // An adaptive plan may not end before its first look.
    plan.max_blocks = plan.max_blocks.filter(|most| *most >= blocks);
    plan
}

/// The lengths to try. Where the variance of seconds could not be separated, steps don't get
/// shorter than measured, because the effect would be unknown.
fn lengths(evidence: &Evidence, now: u32) -> Vec<u32> {
    let timed = || evidence.steps.iter().filter(|step| step.timed);
    if timed().next().is_none() {
        return vec![now];
    }
    let known = timed().filter(|step| !step.apart).filter_map(|step| step.measured);
    let shortest = known.fold(0.0, f64::max).floor();
    let mut lengths: Vec<u32> =
        LENGTHS.into_iter().chain([now]).filter(|length| f64::from(*length) >= shortest).collect();
    if lengths.is_empty() {
        lengths.push(shortest as u32);
    }
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// True if a choice is better than the best so far: more steps decided; on a tie, less time if all
/// are decided, otherwise narrower intervals.
fn better(evidence: &Evidence, found: &Found, best: &Found) -> bool {
    let decided = |it: &Found| it.steps.iter().filter(|step| step.decided).count();
    let all = evidence.steps.iter().filter(|step| step.variance.is_some() && !step.load).count();
    let open = |it: &Found| -> f64 {
        let open = it.steps.iter().filter(|step| !step.decided);
        open.filter_map(|step| step.half_width).map(f64::ln).sum()
    };
    let shorter = found.time < best.time - 1e-9;
    match decided(found).cmp(&decided(best)) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal if decided(found) == all => shorter,
        std::cmp::Ordering::Equal => {
            let (one, other) = (open(found), open(best));
            one < other - 1e-12 || (shorter && one < other + 1e-12)
        }
    }
}

/// The cost of an experiment, in seconds.
pub(super) struct Cost {
    /// Before the first block: the load that runs once for every variant.
    once: f64,
    block: f64,
}

impl Cost {
    fn of(&self, blocks: u32) -> f64 {
        self.once + self.block * f64::from(blocks)
    }

    fn blocks_in(&self, budget: f64) -> u32 {
        let blocks = ((budget - self.once) / self.block).floor();
        if blocks > 0.0 { blocks.min(f64::from(MOST_BLOCKS)) as u32 } else { 0 }
    }
}

/// The cost with timed steps of this length and this multiple of the rows.
fn cost(plan: &Plan, evidence: &Evidence, length: u32, rows: u32) -> Cost {
    let variants = plan.variants.len() as f64;
    let (mut once, mut block) = (0.0, 0.0);
    for Sequence { key, .. } in plan.workload.sequences() {
        let known = &evidence.overhead;
        let overhead = known.get(&key).or(known.values().next()).copied().unwrap_or_default();
        block += variants * overhead;
        for step in evidence.steps.iter().filter(|step| step.sequence == key) {
            let seconds = variants * seconds(step, length, rows).unwrap_or_default();
            if step.load {
                once += seconds;
            } else {
                block += seconds;
            }
        }
        if evidence.steps.iter().any(|step| step.load) {
            once += variants * overhead;
        }
    }
    Cost { once, block: block.max(1e-3) }
}

fn seconds(step: &KnownStep, length: u32, rows: u32) -> Option<f64> {
    if step.timed { Some(f64::from(length)) } else { Some(step.seconds? * f64::from(rows)) }
}

fn expected(
    plan: &Plan,
    evidence: &Evidence,
    wanted: &Wanted,
    (length, rows, blocks, level): (u32, u32, u32, f64),
) -> Vec<Expected> {
    let mut all: Vec<Expected> = evidence
        .steps
        .iter()
        .map(|step| {
            let seconds = seconds(step, length, rows);
            let known = step.variance.filter(|_| !step.load).zip(seconds);
            let detectable =
                known.and_then(|(variance, seconds)| variance.detectable(blocks, seconds, level));
            Expected {
                seconds,
                optimal: None,
                half_width: known
                    .and_then(|(variance, seconds)| variance.half_width(blocks, seconds)),
                detectable,
                decided: detectable.is_some_and(|effect| effect <= wanted.margin),
            }
        })
        .collect();
    for Sequence { key, .. } in plan.workload.sequences() {
        let timed: Vec<usize> = (0..evidence.steps.len())
            .filter(|place| {
                let step = &evidence.steps[*place];
                step.sequence == key
                    && step.timed
                    && !step.load
                    && step.apart
                    && step.variance.is_some()
            })
            .collect();
        let variances: Vec<_> =
            timed.iter().filter_map(|place| evidence.steps[*place].variance).collect();
        let beside: f64 = evidence
            .steps
            .iter()
            .filter(|step| step.sequence == key && !step.timed && !step.load)
            .filter_map(|step| seconds(step, length, rows))
            .sum();
        let overhead = evidence.overhead.get(&key).copied().unwrap_or_default();
        let cost = TrialCost { trial: overhead + beside, second: 1.0 };
        for (place, optimal) in timed.iter().zip(optimal_seconds(&variances, cost)) {
            all[*place].optimal = Some(optimal);
        }
    }
    all
}

/// `7h52m`: to the minute from an hour on.
pub(super) fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    let rounded = if seconds >= 3600 { seconds / 60 * 60 } else { seconds };
    plan::format_duration(std::time::Duration::from_secs(rounded))
}
