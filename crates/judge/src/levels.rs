//! How much of the scatter lies between trials and how much within them, and how many trials of how
//! many seconds to run.
//!
//! A trial's throughput is its own level plus the mean of its seconds around it. More seconds make
//! only the second part smaller; more trials make both smaller. A trial costs a restart, a restore
//! and a load in addition to its seconds. Kalibera and Jones ("Rigorous benchmarking in reasonable
//! time", *ISMM* 2013) give the number of seconds that makes the best use of the time. Only trials
//! count as degrees of freedom.

use std::collections::BTreeMap;

use crate::verdict::fewest;
use crate::{CONFIDENCE, detectable_effect, mean, persistence, t_quantile, variance_inflation};

/// How a step scatters, as fractions of its throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepVariance {
    /// Deviation between trials that their seconds do not explain: 0.01 is 1%.
    pub between: f64,
    /// Deviation of single seconds around the level of their trial.
    pub second: f64,
    /// Lag-1 autocorrelation of the seconds of a trial, 0 to 0.99.
    pub autocorrelation: f64,
}

/// The seconds of one trial of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialSeconds<'a> {
    /// The variant (or another group with a common level), as any number.
    pub line: usize,
    /// The block. Trials of the same block ran under similar conditions, and are compared with each
    /// other.
    pub block: usize,
    /// Throughput second by second; NaN are gaps.
    pub seconds: &'a [f64],
}

/// Why variances cannot be separated.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum LevelsError {
    /// No two trials to compare.
    #[error(
        "expected at least two trials of the same variant, found {found}; run more blocks first"
    )]
    TooFewTrials {
        /// Number of usable trials.
        found: usize,
    },
    /// Trials too short to estimate the scatter of their seconds.
    #[error(
        "expected at least {SHORTEST_TRIAL} measured seconds in a trial, found {found}; run longer steps first"
    )]
    TooFewSeconds {
        /// Seconds of the longest trial.
        found: usize,
    },
}

/// The fewest seconds that a trial needs for an estimate of the scatter within it.
pub const SHORTEST_TRIAL: usize = 8;

impl StepVariance {
    /// Separates the variances of one step.
    ///
    /// The variance of seconds and the autocorrelation are pooled over trials, without the bias
    /// from dependence. The variance of the trials' means minus the part that their seconds
    /// explain, at least 0, is the variance between trials (the usual analysis of variance;
    /// Kalibera and Jones do the same level by level). If blocks have several lines, it is half the
    /// variance of the log ratios within blocks, as in a comparison, so a shift of a whole block
    /// doesn't count.
    ///
    /// Trials under [`SHORTEST_TRIAL`] seconds or with a mean that is not positive are left out.
    ///
    /// # Errors
    /// When the trials are too few or too short.
    pub fn estimate(trials: &[TrialSeconds<'_>]) -> Result<Self, LevelsError> {
        let trials: Vec<Measured> = {
            let all: Vec<Measured> = trials.iter().filter_map(Measured::of).collect();
            let longest = all.iter().map(|trial| trial.rest.len()).max().unwrap_or(0);
            if longest > 0 && longest < SHORTEST_TRIAL {
                return Err(LevelsError::TooFewSeconds { found: longest });
            }
            all.into_iter().filter(|trial| trial.rest.len() >= SHORTEST_TRIAL).collect()
        };
        let of_means =
            variance_of_means(&trials).ok_or(LevelsError::TooFewTrials { found: trials.len() })?;
        let count = |trial: &Measured| trial.rest.len() as f64;
        let all: f64 = trials.iter().map(count).sum();
        let rho = trials
            .iter()
            .map(|trial| count(trial) / all * persistence(&trial.rest).unwrap_or(0.0))
            .sum::<f64>()
            .clamp(0.0, 0.99);
        // The spread around the own mean is too small by the variance of that mean.
        let squares: f64 = trials.iter().flat_map(|trial| &trial.rest).map(|v| v * v).sum();
        let freedom: f64 =
            trials.iter().map(|trial| count(trial) - variance_inflation(rho, count(trial))).sum();
        let second = squares / freedom.max(1.0);
        let explained = trials
            .iter()
            .map(|trial| second * variance_inflation(rho, count(trial)) / count(trial))
            .sum::<f64>()
            / trials.len() as f64;
        Ok(Self {
            between: (of_means - explained).max(0.0).sqrt(),
            second: second.sqrt(),
            autocorrelation: rho,
        })
    }

    /// Deviation of the throughput of a trial of that many seconds, as a fraction.
    pub fn of_trial(&self, seconds: f64) -> f64 {
        let within = self.second.powi(2) * variance_inflation(self.autocorrelation, seconds);
        (self.between.powi(2) + within / seconds.max(1.0)).sqrt()
    }

    /// Standard error of the log ratio of two variants over that many blocks.
    pub fn error(&self, blocks: u32, seconds: f64) -> f64 {
        self.of_trial(seconds) * (2.0 / f64::from(blocks)).sqrt()
    }

    /// Expected half width of the 95% interval of a ratio, as a fraction: 0.02 is ±2%. `None` for
    /// fewer than two blocks.
    pub fn half_width(&self, blocks: u32, seconds: f64) -> Option<f64> {
        let freedom = f64::from(blocks.checked_sub(1).filter(|freedom| *freedom > 0)?);
        let t = t_quantile(0.5 + 0.5 * CONFIDENCE, freedom);
        Some((t * self.error(blocks, seconds)).exp_m1())
    }

    /// The smallest slowdown that is confirmed with a probability of 80%, as a fraction. `level` is
    /// the largest p value that confirms, see [`detectable_effect`]. Assumes that the variances are
    /// known as well as this many blocks determine them. `None` for fewer than five blocks.
    pub fn detectable(&self, blocks: u32, seconds: f64, level: f64) -> Option<f64> {
        let freedom = f64::from(blocks) - 1.0;
        detectable_effect(self.error(blocks, seconds), freedom, level)
    }

    /// The smallest whole number of seconds, between the shortest and the longest, with which a
    /// slowdown by `effect` is detectable in that many blocks; `None` if even `longest` is too
    /// short.
    pub fn seconds_for(&self, effect: f64, blocks: u32, spending: &Spending) -> Option<u32> {
        let enough = |seconds: u32| {
            self.detectable(blocks, f64::from(seconds), spending.level)
                .is_some_and(|found| found <= effect)
        };
        let (shortest, longest) = (spending.shortest, spending.longest);
        enough(longest).then(|| fewest(shortest, longest.max(shortest), enough))
    }

    /// Variance that the mean of a long trial of n seconds has because of its seconds, times n: `σ²
    /// (1 + ρ) / (1 - ρ)`.
    fn long_run(&self) -> f64 {
        let rho = self.autocorrelation;
        self.second.powi(2) * (1.0 + rho) / (1.0 - rho)
    }
}

/// The cost of running, in seconds of the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialCost {
    /// Per trial, outside its measured seconds: restart, restore, load, settling.
    pub trial: f64,
    /// Per measured second: 1, or more where something accompanies it.
    pub second: f64,
}

/// The seconds of each step of a trial that give the most precise ratios for the machine's time, if
/// all steps share the cost of a trial. The number of blocks then follows from the budget.
///
/// For one step `√(c_trial / c_second · σ²_second · τ / σ²_between)` (Kalibera and Jones, with
/// seconds as the lower level and trials as the upper). For several the sum of their variances for
/// a given time is smallest at `√(c_trial / c_second · σ²_s · τ_s / Σ σ²_between)`. Infinite if
/// trials differ only by their seconds: then a single long trial would do, except for the degrees
/// of freedom.
pub fn optimal_seconds(steps: &[StepVariance], cost: TrialCost) -> Vec<f64> {
    let between: f64 = steps.iter().map(|step| step.between.powi(2)).sum();
    let best = |step: &StepVariance| (cost.trial / cost.second * step.long_run() / between).sqrt();
    steps.iter().map(|step| if between > 0.0 { best(step) } else { f64::INFINITY }).collect()
}

/// The time to spend, and bounds on how to spend it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spending {
    /// The machine's time for the whole experiment, in seconds.
    pub budget: f64,
    /// Number of variants: trials in a block.
    pub variants: u32,
    /// The cost of running.
    pub cost: TrialCost,
    /// The fewest blocks (under [`crate::ENOUGH_BLOCKS`] is not advisable).
    pub least_blocks: u32,
    /// The most blocks.
    pub most_blocks: u32,
    /// The shortest step, in seconds.
    pub shortest: u32,
    /// The longest step, in seconds.
    pub longest: u32,
    /// The largest p value that confirms a slowdown: 5% over the number of comparisons and of
    /// looks.
    pub level: f64,
}

/// How to spend it.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// Number of blocks.
    pub blocks: u32,
    /// Seconds of each step.
    pub seconds: Vec<u32>,
    /// True for each step where a slowdown by the wanted effect is detectable.
    pub decided: Vec<bool>,
    /// The machine's time for it, in seconds.
    pub time: f64,
}

/// The blocks and seconds with which as many steps as possible can show a slowdown by `effect`
/// within the budget. `None` when not even the fewest blocks of the shortest steps fit.
///
/// Every number of blocks is tried. With a given number, each step needs a certain number of
/// seconds. All steps count the same, so those that need least get their time first; no other
/// choice decides more steps. If all steps are decided, the cheapest number of blocks is taken. If
/// not, the rest of the time is divided among the others by the square root of their variance. Of
/// the numbers of blocks that decide equally many steps, the one with the smallest detectable
/// effects of the others is taken.
pub fn allocate(steps: &[StepVariance], effect: f64, spending: &Spending) -> Option<Allocation> {
    (spending.least_blocks.max(2)..=spending.most_blocks)
        .map_while(|blocks| allocate_to(steps, effect, spending, blocks))
        .max_by(|a, b| {
            let served = |it: &Allocation| it.decided.iter().filter(|decided| **decided).count();
            // Of equals `max_by` takes the last: the larger is what is better.
            served(a).cmp(&served(b)).then_with(|| {
                if served(a) == steps.len() {
                    b.time.total_cmp(&a.time)
                } else {
                    let rest = |it: &Allocation| undetected(steps, it, spending.level);
                    rest(b).total_cmp(&rest(a))
                }
            })
        })
}

/// Sum of the detectable effects of the steps that are not decided.
fn undetected(steps: &[StepVariance], allocation: &Allocation, level: f64) -> f64 {
    (0..steps.len())
        .filter(|step| !allocation.decided[*step])
        .filter_map(|step| {
            let seconds = f64::from(allocation.seconds[step]);
            steps[step].detectable(allocation.blocks, seconds, level)
        })
        .sum()
}

fn allocate_to(
    steps: &[StepVariance],
    effect: f64,
    spending: &Spending,
    blocks: u32,
) -> Option<Allocation> {
    let trials = f64::from(blocks) * f64::from(spending.variants);
    let cost = spending.cost;
    let mut left = (spending.budget / trials - cost.trial) / cost.second
        - f64::from(spending.shortest) * steps.len() as f64;
    if left < 0.0 {
        return None;
    }
    let mut seconds = vec![spending.shortest; steps.len()];
    let mut decided = vec![false; steps.len()];
    let mut needs: Vec<(u32, usize)> = steps
        .iter()
        .enumerate()
        .filter_map(|(place, step)| {
            let needed = step.seconds_for(effect, blocks, spending)?;
            Some((needed, place))
        })
        .collect();
    needs.sort_unstable();
    for (needed, place) in needs {
        let further = f64::from(needed - spending.shortest);
        if further <= left {
            left -= further;
            seconds[place] = needed;
            decided[place] = true;
        }
    }
    let weight = |place: usize| steps[place].long_run().sqrt();
    let others: Vec<usize> = (0..steps.len()).filter(|place| !decided[*place]).collect();
    let weights: f64 = others.iter().map(|place| weight(*place)).sum();
    if weights > 0.0 {
        for place in &others {
            let further = (left * weight(*place) / weights).floor() as u32;
            seconds[*place] = seconds[*place].saturating_add(further).min(spending.longest);
        }
    }
    for place in others {
        decided[place] = steps[place]
            .detectable(blocks, f64::from(seconds[place]), spending.level)
            .is_some_and(|found| found <= effect);
    }
    let measured: f64 = seconds.iter().map(|seconds| f64::from(*seconds)).sum();
    let time = trials * (cost.trial + cost.second * measured);
    Some(Allocation { blocks, seconds, decided, time })
}

/// A trial as its level and the differences of its seconds from it.
struct Measured {
    line: usize,
    block: usize,
    log_level: f64,
    rest: Vec<f64>,
}

impl Measured {
    fn of(trial: &TrialSeconds<'_>) -> Option<Self> {
        let seconds: Vec<f64> = trial.seconds.iter().copied().filter(|v| v.is_finite()).collect();
        let level = mean(&seconds).filter(|level| *level > 0.0)?;
        let rest = seconds.iter().map(|v| v / level - 1.0).collect();
        Some(Self { line: trial.line, block: trial.block, log_level: level.ln(), rest })
    }
}

/// Variance of the log levels of trials: within blocks if blocks have several lines, otherwise
/// within lines.
fn variance_of_means(trials: &[Measured]) -> Option<f64> {
    let mut lines: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
    for trial in trials {
        lines.entry(trial.line).or_default().insert(trial.block, trial.log_level);
    }
    let lines: Vec<BTreeMap<usize, f64>> = lines.into_values().collect();
    let pairs: Vec<Vec<f64>> = lines
        .iter()
        .enumerate()
        .flat_map(|(place, one)| lines[place + 1..].iter().map(move |other| (one, other)))
        .map(|(one, other)| {
            one.iter().filter_map(|(block, a)| other.get(block).map(|b| a - b)).collect()
        })
        .collect();
    // A difference of two has twice the variance of one.
    pooled_variance(&pairs).map(|variance| 0.5 * variance).or_else(|| {
        let single: Vec<Vec<f64>> =
            lines.iter().map(|line| line.values().copied().collect()).collect();
        pooled_variance(&single)
    })
}

/// Variance around the mean of each group, over all groups; `None` if none has two values.
fn pooled_variance(groups: &[Vec<f64>]) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0);
    for group in groups.iter().filter(|group| group.len() > 1) {
        let level = mean(group)?;
        squares += group.iter().map(|v| (v - level) * (v - level)).sum::<f64>();
        freedom += group.len() - 1;
    }
    (freedom > 0).then(|| squares / freedom as f64)
}

#[cfg(test)]
#[path = "levels_tests.rs"]
mod tests;
