//! How long slices should be, by measurement: rounds of several lengths mixed in one step.
//!
//! Short slices follow each other closely, so that neighbors see the same state of the machine. But
//! their beginning is affected by the remains of the others (caches, sleeping processes), and an
//! operation may hardly fit in. Long ones suffer less from that and have fewer rounds in the same
//! time. So two things are measured for every length: its *bias* against the longest, and the
//! *variance* that the log ratio would have after the same machine time.

use std::fmt;

use crate::comparison::upper_point;
use crate::trimmed::{Trimmed, batches, variance_of_mean};
use crate::{CONFIDENCE, TRIMMED, mean, sd_sample, t_quantile};

/// Fewer operations in a slice than this rule a length out: where the slice begins and ends among
/// them would matter.
pub const ENOUGH_OPERATIONS: f64 = 5.0;

/// A length may read this much slower or faster than the longest: 1%, half of the default margin.
/// This applies to the level, not only to the ratio that a verdict is about: a slowdown of both
/// sides' slices cancels out of the ratio, but shows that something other than the statement itself
/// is measured.
pub const LEVEL_TOLERANCE: f64 = 0.01;

/// With a larger standard error of the level than this, nothing is known about a length: a bias of
/// 3% might go unnoticed.
const LEVEL_UNKNOWN: f64 = 0.015;

/// Where rates scatter too much to tell, slices of this many seconds are believed until something
/// speaks against them: with statements of l.i0, slices of 7 ms read 0.982 where 30 ms read 1.000,
/// and longer ones no different. The rounds of a second length look at it again in every block.
/// Longer slices would be no safer choice: their neighbors lie further apart, and on a machine
/// that noisy too few of them fit into a step.
const USUAL: f64 = 0.04;

/// Confidence at which a ratio that differs rules a length out. There is one per variant, the ratio
/// is noisier than the level, and a second length checks it again in later blocks.
const RATIO_SURE: f64 = 0.99;

/// Of the allowed lengths whose variance per machine time is within this factor of the best, the
/// longest is taken: the estimate is no better than that from a hundred rounds, and longer is never
/// worse in bias.
const AS_GOOD: f64 = 1.2;

/// Fewer rounds of a length than this say nothing about it.
const ROUNDS_OF_A_LENGTH: usize = 12;

/// Stretches of the step within which lengths are compared, at most.
const STRETCHES: usize = 20;

/// A measurement with one length.
#[derive(Debug, Clone, PartialEq)]
pub struct LengthTrial {
    /// The length in seconds.
    pub seconds: f64,
    /// Operations in a slice: the median over the rounds, of the variant with the fewest.
    pub operations: f64,
    /// Rates per variant, the base first, one for *every* round of the step in order; NaN where the
    /// round had another length, or the slice was set aside or not measured.
    pub rates: Vec<Vec<f64>>,
}

/// A difference of logs with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bias {
    /// The difference to the longest length, as a log: -0.03 reads 3% slower.
    pub log: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
}

impl Bias {
    /// True if it is at most [`LEVEL_TOLERANCE`], or no more than chance at `confidence`.
    fn allowed(&self, confidence: f64) -> bool {
        self.log.abs() <= LEVEL_TOLERANCE || self.log.abs() <= self.chance(confidence)
    }

    fn chance(&self, confidence: f64) -> f64 {
        t_quantile(upper_point(confidence), self.freedom) * self.error
    }
}

/// The known facts about one length.
#[derive(Debug, Clone, PartialEq)]
pub struct LengthFigures {
    /// The length in seconds.
    pub seconds: f64,
    /// Rounds in which all variants were measured.
    pub rounds: usize,
    /// Operations in a slice.
    pub operations: f64,
    /// Level against the level with the longest length, mean over the variants; `None` for the
    /// longest itself and where there are too few rounds.
    ///
    /// Levels are plain means. The middle of the rates will not do: what interrupts a server now
    /// and then is spread over long slices and concentrated in few short ones, which a robust
    /// center leaves out.
    pub level: Option<Bias>,
    /// Log ratio of every variant but the base against that with the longest length; empty where
    /// `level` is `None`.
    pub ratio: Vec<Bias>,
    /// Variance of the log ratio after one second of machine time, in seconds: divided by the
    /// seconds that all variants take together it is the variance of the center. Mean over the
    /// variants. `None` with too few rounds.
    pub cost: Option<f64>,
    /// Why the length is ruled out; `None` when it is allowed.
    pub ruled_out: Option<RuledOut>,
}

/// Why a length is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuledOut {
    /// Fewer than [`ENOUGH_OPERATIONS`] in a slice.
    FewOperations,
    /// Too few rounds to say anything.
    FewRounds,
    /// Shorter than usual, and rates scatter too much to say whether the level is that of the
    /// longest.
    Unknown,
    /// The level differs from that with the longest length by more than [`LEVEL_TOLERANCE`].
    Level,
    /// The ratio differs from that with the longest length.
    Ratio,
}

impl fmt::Display for RuledOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FewOperations => "too few operations in a slice",
            Self::FewRounds => "too few rounds",
            Self::Unknown => "rates vary too much to show its level",
            Self::Level => "level differs from that of the longest",
            Self::Ratio => "ratio differs from that of the longest",
        })
    }
}

/// The length chosen and what it was chosen by. Its `Display` explains the choice in a few lines.
#[derive(Debug, Clone, PartialEq)]
pub struct LengthChoice {
    /// The length in seconds.
    pub seconds: f64,
    /// True if a length shorter than the longest was allowed, which suggests that the longest has
    /// no more bias itself. If false, longer ones should be tried.
    pub settled: bool,
    /// All lengths, by length.
    pub lengths: Vec<LengthFigures>,
}

/// Chooses the length of slices: of those with operations enough, a level within 1% of that of the
/// longest (or not distinguishable from it) and a ratio that does not differ either, the one with
/// the smallest variance for the same machine time; and of those as good, the longest. Where
/// nothing shorter is allowed the longest is taken, and where there are too few rounds to say
/// anything the first of at least 40 ms. `None` without trials.
///
/// A level that scatter hides (standard error over 1.5%) rules out slices under 40 ms only.
///
/// The ratio is what matters, and a bias of it would be a wrong verdict. But base and variant are
/// usually biased alike, so that the level shows a length that is too short long before the ratio
/// does.
pub fn choose_length(trials: &[LengthTrial]) -> Option<LengthChoice> {
    let mut trials: Vec<&LengthTrial> = trials.iter().collect();
    trials.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let longest = *trials.last()?;
    let lengths: Vec<LengthFigures> = trials.iter().map(|trial| figures(trial, longest)).collect();
    let allowed = || lengths.iter().filter(|length| length.ruled_out.is_none());
    let best = allowed().filter_map(|length| length.cost).min_by(f64::total_cmp);
    let as_good = |length: &LengthFigures| {
        length.cost.zip(best).is_some_and(|(cost, best)| cost <= AS_GOOD * best)
    };
    let chosen = allowed().rfind(|length| as_good(length)).or_else(|| {
        lengths
            .iter()
            .find(|length| length.seconds >= USUAL && length.ruled_out == Some(RuledOut::FewRounds))
    });
    let seconds = chosen.map_or(longest.seconds, |length| length.seconds);
    let settled = allowed().any(|length| length.seconds < longest.seconds);
    Some(LengthChoice { seconds, settled, lengths })
}

fn figures(trial: &LengthTrial, longest: &LengthTrial) -> LengthFigures {
    let reference = std::ptr::eq(trial, longest);
    let ratios = log_ratios(trial);
    let rounds = ratios.iter().map(|logs| measured(logs)).min().unwrap_or_default();
    let variances: Vec<f64> = ratios.iter().filter_map(|logs| variance(logs)).collect();
    let machine_time = trial.seconds * trial.rates.len() as f64;
    let cost = mean(&variances)
        .filter(|_| rounds >= ROUNDS_OF_A_LENGTH)
        .map(|variance| variance * machine_time);
    let (mut level, mut ratio) = (None, Vec::new());
    if !reference {
        level = level_bias(trial, longest);
        if level.is_some() {
            let of_longest = log_ratios(longest);
            ratio = ratios.iter().zip(&of_longest).filter_map(|(a, b)| ratio_bias(a, b)).collect();
        }
    }
    let ruled_out = match level {
        _ if trial.operations < ENOUGH_OPERATIONS => Some(RuledOut::FewOperations),
        _ if cost.is_none() => Some(RuledOut::FewRounds),
        None => (!reference).then_some(RuledOut::FewRounds),
        Some(level) if level.error > LEVEL_UNKNOWN && trial.seconds < USUAL => {
            Some(RuledOut::Unknown)
        }
        Some(level) if !level.allowed(CONFIDENCE) => Some(RuledOut::Level),
        Some(_) if !ratio.iter().all(|bias| bias.allowed(RATIO_SURE)) => Some(RuledOut::Ratio),
        Some(_) => None,
    };
    LengthFigures {
        seconds: trial.seconds,
        rounds,
        operations: trial.operations,
        level,
        ratio,
        cost,
        ruled_out,
    }
}

/// Log ratios of every variant but the base, by round.
fn log_ratios(trial: &LengthTrial) -> Vec<Vec<f64>> {
    let Some((base, others)) = trial.rates.split_first() else { return Vec::new() };
    others
        .iter()
        .map(|rates| rates.iter().zip(base).map(|(rate, base)| (rate / base).ln()).collect())
        .collect()
}

fn measured(logs: &[f64]) -> usize {
    logs.iter().filter(|log| !log.is_nan()).count()
}

/// Variance that one round contributes to the trimmed mean: that of its winsorised log ratio.
/// Between rounds of one length lie others, so that autocorrelation is not looked at.
fn variance(logs: &[f64]) -> Option<f64> {
    let known: Vec<f64> = logs.iter().copied().filter(|log| !log.is_nan()).collect();
    let spread = sd_sample(&Trimmed::of(&known, TRIMMED)?.influence(&known))?;
    Some(spread * spread)
}

/// How many stretches of the step there are rounds enough for.
fn stretches(of: &[f64], against: &[f64]) -> Option<usize> {
    let fewest = measured(of).min(measured(against));
    (fewest >= ROUNDS_OF_A_LENGTH).then(|| (fewest / 3).min(STRETCHES))
}

/// Means of the known values in each stretch.
fn stretch_means(values: &[f64], count: usize) -> Vec<Option<f64>> {
    batches(values, count).map(known_mean).collect()
}

fn known_mean(values: &[f64]) -> Option<f64> {
    let known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    mean(&known)
}

fn bias(differences: &[f64]) -> Option<Bias> {
    (differences.len() > 3).then(|| Bias {
        log: mean(differences).unwrap_or_default(),
        error: variance_of_mean(differences).sqrt(),
        freedom: (differences.len() - 1) as f64,
    })
}

/// The level of a length against that of the longest, mean over the variants. Levels are compared
/// within stretches of the step, so that what changes slowly hits both.
fn level_bias(of: &LengthTrial, longest: &LengthTrial) -> Option<Bias> {
    let variants: Vec<(&Vec<f64>, &Vec<f64>)> = of.rates.iter().zip(&longest.rates).collect();
    let counts = variants.iter().map(|(of, longest)| stretches(of, longest));
    let count = counts.collect::<Option<Vec<usize>>>()?.into_iter().min()?;
    let of_variants = variants
        .iter()
        .map(|(of, longest)| {
            let level = known_mean(longest)?;
            let pairs = stretch_means(of, count).into_iter().zip(stretch_means(longest, count));
            Some(pairs.map(|(of, longest)| Some((of? - longest?) / level)).collect())
        })
        .collect::<Option<Vec<Vec<Option<f64>>>>>()?;
    let differences: Vec<f64> = (0..count)
        .filter_map(|stretch| {
            let known: Vec<f64> =
                of_variants.iter().filter_map(|of| of.get(stretch).copied().flatten()).collect();
            mean(&known)
        })
        .collect();
    bias(&differences).map(|bias| Bias { log: bias.log.max(-0.99).ln_1p(), ..bias })
}

/// The log ratio of a length against that of the longest, likewise, with the extremes pulled in as
/// for the estimate itself.
fn ratio_bias(of: &[f64], longest: &[f64]) -> Option<Bias> {
    let count = stretches(of, longest)?;
    let means = |logs: &[f64]| {
        let known: Vec<f64> = logs.iter().copied().filter(|log| !log.is_nan()).collect();
        let trimmed = Trimmed::of(&known, TRIMMED)?;
        Some((trimmed.mean, stretch_means(&trimmed.influence(logs), count)))
    };
    let ((center, of), (center_of_longest, of_longest)) = (means(of)?, means(longest)?);
    let differences: Vec<f64> = of
        .into_iter()
        .zip(of_longest)
        .filter_map(|(of, longest)| Some(of? - longest? + center - center_of_longest))
        .collect();
    bias(&differences)
}

impl fmt::Display for LengthChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slices of {}", milliseconds(self.seconds))?;
        for length in &self.lengths {
            write!(
                f,
                "\n{}: {} rounds, {:.0} operations per slice",
                milliseconds(length.seconds),
                length.rounds,
                length.operations
            )?;
            let largest = length.ratio.iter().max_by(|a, b| a.log.abs().total_cmp(&b.log.abs()));
            for (bias, what) in [(length.level.as_ref(), "level"), (largest, "ratio")] {
                if let Some(bias) = bias {
                    let (of, half) = (bias.log.exp_m1(), bias.chance(CONFIDENCE));
                    write!(f, ", {what} {:+.2}% ± {:.2}%", of * 100.0, half * 100.0)?;
                }
            }
            if let Some(cost) = length.cost {
                // The gain from a minute of the machine, all variants together.
                let half = 1.96 * (cost / 60.0).sqrt();
                write!(f, ", ratio within ±{:.2}% in a minute", half * 100.0)?;
            }
            match length.ruled_out {
                Some(reason) => write!(f, ": {reason}")?,
                None if length.seconds.total_cmp(&self.seconds).is_ne() => {}
                None => f.write_str(": chosen")?,
            }
        }
        if !self.settled {
            f.write_str(
                "\nno shorter length is known to agree with the longest, so it may be too short itself: set slice_ms to a larger value and check that the ratio stays the same",
            )?;
        }
        Ok(())
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{} ms", (seconds * 1e6).round() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const LENGTHS: [f64; 4] = [0.01, 0.02, 0.04, 0.08];

    /// Rounds of the four lengths in turn, base and variant. Each slice loses `cold` seconds at its
    /// begin; the ratio is 0.9, the machine drifts slowly and a slice has noise as `noise` says for
    /// its length.
    fn trials(rounds: usize, cold: [f64; 2], noise: impl Fn(f64) -> f64) -> Vec<LengthTrial> {
        let mut random = Random::new(31);
        let drift = random.autoregression(rounds, 0.99);
        let mut rates = vec![vec![vec![f64::NAN; rounds]; 2]; LENGTHS.len()];
        for round in 0..rounds {
            let place = (round * 7 + round / 4) % LENGTHS.len();
            for variant in 0..2 {
                let length = LENGTHS[place];
                let level = [100_000.0, 90_000.0][variant] * (1.0 - cold[variant] / length);
                let chance = noise(length) * random.normal() + 0.05 * drift[round];
                rates[place][variant][round] = level * chance.exp();
            }
        }
        LENGTHS
            .iter()
            .zip(rates)
            .map(|(seconds, rates)| LengthTrial { seconds: *seconds, operations: 900.0, rates })
            .collect()
    }

    #[test]
    fn without_bias_the_cheapest_is_taken() {
        // Noise that does not shrink with the length: the shorter the better.
        let choice = choose_length(&trials(1600, [0.0; 2], |_| 0.02)).unwrap();
        assert!((choice.seconds - 0.01).abs() < 1e-12, "{choice}");
        assert!(choice.settled);
        // Noise as of independent operations: all the same, so the longest.
        let choice = choose_length(&trials(1600, [0.0; 2], |s| 0.02 * (0.01 / s).sqrt())).unwrap();
        assert!((choice.seconds - 0.08).abs() < 1e-12, "{choice}");
    }

    #[test]
    fn cold_caches_rule_short_slices_out() {
        // 0.6 ms lost: 6%, 3%, 1.5% and 0.75%, that is 5.3%, 2.3% and 0.8% against the longest.
        let choice = choose_length(&trials(1600, [0.0006; 2], |_| 0.02)).unwrap();
        let reasons: Vec<_> = choice.lengths.iter().map(|length| length.ruled_out).collect();
        assert_eq!(reasons, [Some(RuledOut::Level), Some(RuledOut::Level), None, None], "{choice}");
        assert!((choice.seconds - 0.04).abs() < 1e-12, "{choice}");
        let bias = choice.lengths[0].level.unwrap();
        assert!((bias.log + 0.0541).abs() < 4.0 * bias.error + 1e-3, "{bias:?}");
        assert!(bias.error < 0.005, "the drift of 5% must cancel out: {bias:?}");
    }

    #[test]
    fn a_biased_ratio_is_seen_where_only_one_is_slowed() {
        let choice = choose_length(&trials(1600, [0.0, 0.0006], |_| 0.02)).unwrap();
        assert!(choice.lengths[0].ratio[0].log < -0.04, "{choice}");
        // The level is the mean of both.
        let level = choice.lengths[0].level.unwrap();
        assert!((level.log + 0.027).abs() < 4.0 * level.error + 1e-3, "{level:?}");
    }

    #[test]
    fn a_bias_everywhere_is_not_settled() {
        // 5 ms lost: even 40 ms read 6% slower than 80 ms.
        let choice = choose_length(&trials(1600, [0.005; 2], |_| 0.02)).unwrap();
        assert!((choice.seconds - 0.08).abs() < 1e-12);
        assert!(!choice.settled);
        assert!(choice.to_string().contains("may be too short itself"), "{choice}");
    }

    #[test]
    fn what_interrupts_is_no_bias() {
        // Every 100 ms, on average, something takes 5 ms: one in ten slices of 10 ms loses half of
        // its operations.
        let mut random = Random::new(32);
        let mut trials = trials(3200, [0.0; 2], |_| 0.01);
        for trial in &mut trials {
            let (often, lost) = (trial.seconds / 0.1, 0.005 / trial.seconds);
            for rate in trial.rates.iter_mut().flatten() {
                let events = if often < 1.0 {
                    // A normal number under its quantile happens as often as `often` says.
                    f64::from(u8::from(crate::normal_cdf(random.normal()) < often))
                } else {
                    often
                };
                *rate *= 1.0 - events * lost;
            }
        }
        let choice = choose_length(&trials).unwrap();
        assert!(choice.lengths.iter().all(|length| length.ruled_out.is_none()), "{choice}");
    }

    #[test]
    fn scatter_that_hides_a_bias_rules_out() {
        let choice = choose_length(&trials(200, [0.0; 2], |_| 0.4)).unwrap();
        assert_eq!(choice.lengths[0].ruled_out, Some(RuledOut::Unknown), "{choice}");
        assert_eq!(choice.lengths[1].ruled_out, Some(RuledOut::Unknown), "{choice}");
        // The usual length is taken until something speaks against it.
        assert!((choice.seconds - 0.04).abs() < 1e-12, "{choice}");
    }

    #[test]
    fn too_little_to_judge_by() {
        assert_eq!(choose_length(&[]), None);
        let mut few = trials(1600, [0.0; 2], |_| 0.02);
        few[0].operations = 4.0;
        let choice = choose_length(&few).unwrap();
        assert_eq!(choice.lengths[0].ruled_out, Some(RuledOut::FewOperations));
        assert!((choice.seconds - 0.02).abs() < 1e-12, "{choice}");
        let choice = choose_length(&trials(30, [0.0; 2], |_| 0.02)).unwrap();
        assert!((choice.seconds - 0.04).abs() < 1e-12 && !choice.settled, "{choice}");
        assert!(choice.lengths.iter().all(|l| l.ruled_out == Some(RuledOut::FewRounds)));
    }

    #[test]
    fn the_choice_explains_itself() {
        let text = choose_length(&trials(1600, [0.0006; 2], |_| 0.02)).unwrap().to_string();
        assert!(
            text.starts_with(
                "slices of 40 ms\n10 ms: 400 rounds, 900 operations per slice, level -5."
            ),
            "{text}"
        );
        assert!(text.contains("in a minute: chosen\n80 ms"), "{text}");
        assert!(!text.contains("may be too short"), "{text}");
    }
}
