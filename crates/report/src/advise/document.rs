//! The output of `advise --format json`; `docs/trials-json.md` documents its shape.

use plan::{Labels, Plan, StepKey};
use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, KnownStep};
use super::search::{Found, Wanted, duration};
use super::slices::InSlices;

/// Version of the shape; it grows when a key is removed or changes its meaning.
const FORMAT: u32 = 1;

/// Advice on a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdviseDocument {
    /// Version of this shape: 1.
    pub format: u32,
    /// Name of the plan.
    pub plan: String,
    /// Number and name of the experiments that the variance comes from.
    pub experiments: Vec<String>,
    /// The budget in seconds.
    pub budget: f64,
    /// Expected duration of the advised plan in seconds, as far as is known.
    pub time: f64,
    /// The slowdown to confirm, as a fraction.
    pub margin: f64,
    /// Advised blocks.
    pub blocks: u32,
    /// Blocks of the plan.
    pub blocks_now: u32,
    /// Advised seconds of each timed step.
    pub read_write_seconds: u32,
    /// Advised rows: the workload's first number of rows.
    pub rows: u64,
    /// The plan's steps, for one number of clients after the other.
    pub steps: Vec<AdvisedStep>,
    /// Notes on the figures.
    pub notes: Vec<String>,
    /// The advised plan, without passwords.
    pub toml: String,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdvisedStep {
    /// Name, such as `l.i0`.
    pub name: String,
    /// Number of clients.
    pub dop: u32,
    /// The labels that distinguish it from other steps of its name.
    #[serde(default)]
    pub labels: Labels,
    /// Number of stored trials of the step.
    pub trials: usize,
    /// CV between trials beyond what their seconds explain. Here and below, `null` means not
    /// known.
    pub between: Option<f64>,
    /// CV of the seconds of a trial; `null` if it could not be separated.
    pub second: Option<f64>,
    /// Lag-1 autocorrelation of the seconds.
    pub autocorrelation: Option<f64>,
    /// Seconds in the plan as it is.
    pub seconds_now: Option<f64>,
    /// Seconds as advised.
    pub seconds: Option<f64>,
    /// The most efficient length in seconds, by Kalibera and Jones, if every step had its own;
    /// `null` where longer is always better.
    pub optimal: Option<f64>,
    /// Expected half width of the 95% interval of a ratio.
    pub half_width: Option<f64>,
    /// The smallest slowdown that is confirmed with a probability of 80% among all comparisons of
    /// the plan; `null` below 5 blocks.
    pub detectable: Option<f64>,
    /// True if `detectable` is at most the margin; `null` when not known.
    pub decided: Option<bool>,
    /// Half width of the interval if the same time is spent in slices; `null` where that is
    /// impossible, as for a step of the load.
    #[serde(default)]
    pub in_slices: Option<f64>,
}

impl AdvisedStep {
    /// Its key.
    pub(super) fn key(&self) -> StepKey {
        StepKey { name: self.name.clone(), dop: self.dop, labels: self.labels.clone() }
    }
}

pub(super) fn document(
    plan: &Plan,
    advised: &Plan,
    evidence: &Evidence,
    found: &Found,
    wanted: &Wanted,
    in_slices: Option<&InSlices>,
) -> AdviseDocument {
    let apart = |step: &KnownStep| step.variance.filter(|_| step.apart);
    let steps: Vec<AdvisedStep> = evidence
        .steps
        .iter()
        .zip(&found.steps)
        .enumerate()
        .map(|(place, (step, expected))| AdvisedStep {
            in_slices: in_slices.and_then(|in_slices| *in_slices.half_widths.get(place)?),
            name: step.key.name.clone(),
            dop: step.key.dop,
            labels: step.key.labels.clone(),
            trials: step.trials,
            between: step.variance.map(|variance| variance.between),
            second: apart(step).map(|variance| variance.second),
            autocorrelation: apart(step).map(|variance| variance.autocorrelation),
            seconds_now: step.seconds,
            seconds: expected.seconds,
            optimal: expected.optimal.filter(|optimal| optimal.is_finite()),
            half_width: expected.half_width,
            detectable: expected.detectable,
            decided: expected.half_width.map(|_| expected.decided),
        })
        .collect();
    AdviseDocument {
        format: FORMAT,
        plan: plan.name.clone(),
        experiments: evidence.experiments.clone(),
        budget: wanted.budget,
        time: found.time,
        margin: wanted.margin,
        blocks: found.blocks,
        blocks_now: plan.blocks,
        read_write_seconds: advised.workload.seconds().unwrap_or(0),
        rows: advised.workload.rows().first().copied().unwrap_or(0),
        notes: notes(plan, evidence, found, wanted, in_slices),
        steps,
        toml: advised.text_without_passwords(),
    }
}

fn notes(
    plan: &Plan,
    evidence: &Evidence,
    found: &Found,
    wanted: &Wanted,
    in_slices: Option<&InSlices>,
) -> Vec<String> {
    let mut notes = evidence.notes.clone();
    if let Some(InSlices { restarts, measured, .. }) = in_slices {
        let source = if *measured {
            "estimated from stored slices"
        } else {
            "estimated from typical slices"
        };
        notes.push(format!(
            "in slices, {} would allow about {restarts} restarts ({source}); for CPU-bound steps, remove \
             blocks, pairing and seconds from the plan and run it with --budget {0}",
            duration(wanted.budget)
        ));
    }
    if found.blocks < judge::ENOUGH_BLOCKS as u32 {
        notes.push(format!(
            "too few blocks for a verdict: only {} fit into {}; run at least {}",
            found.blocks,
            duration(wanted.budget),
            judge::ENOUGH_BLOCKS
        ));
    }
    let work =
        evidence.steps.iter().any(|step| !step.timed && !step.load && step.variance.is_some());
    if work && !wanted.scale_rows {
        notes.push(
            "the length of steps that end by work depends on their rows, which stay as planned because they decide what \
             fits in memory (--scale-rows lets them grow)"
                .to_owned(),
        );
    }
    if wanted.scale_rows && found.rows > 1 {
        notes.push(format!(
            "rows are {} times those of the plan so that steps that end by work last longer; check that the data still fits \
             where it should",
            found.rows
        ));
    }
    if let Some(last) = &plan.restore_after {
        notes.push(format!(
            "the steps up to {last} run once per variant (restore_after): they take time but are not judged"
        ));
    }
    notes
}
