//! How long slices should be, by measurement: rounds of several lengths mixed in one step.
//!
//! Short slices follow each other closely, so neighbors see the same state of the machine. But the
//! beginning of a slice is affected by the slice before (caches, sleeping processes), and a short
//! slice has room for few operations. Long slices suffer less from that, but give fewer rounds in
//! the same time. So two things are measured for every length: its *bias* compared with the
//! longest, and the *variance* that the log ratio would have after the same machine time.

use std::fmt;

use crate::estimate::upper_point;
use crate::trimmed::{Trimmed, batches, variance_of_mean};
use crate::{CONFIDENCE, TRIMMED, mean, sd_sample, t_quantile};

/// A length with fewer operations in a slice than this is ruled out, because it would matter where
/// among them the slice begins and ends.
pub const ENOUGH_OPERATIONS: f64 = 5.0;

/// A length may measure a level this much lower or higher than that of the longest: 1%, half of the
/// default margin. The limit applies to the level as well as to the ratio that a verdict is about.
/// If the slices of both sides are slower, that cancels out of the ratio, but shows that something
/// other than the statement itself is measured.
pub const LEVEL_TOLERANCE: f64 = 0.01;

/// If the standard error of the level is larger than this, nothing is known about a length: a bias
/// of 3% might go unnoticed.
const LEVEL_UNKNOWN: f64 = 0.015;

/// If rates scatter too much to tell, slices of this many seconds are trusted unless something
/// speaks against them: with statements of l.i0, slices of 7 ms gave 0.982 where those of 30 ms and
/// longer gave 1.000. The rounds of a second length check this in every block. Longer slices would
/// be no safer: neighbors are further apart, and on a machine with that much noise too few of them
/// fit into a step.
const USUAL: f64 = 0.04;

/// Confidence at which a different ratio rules a length out. It is high because there is a ratio
/// for each variant, ratios are noisier than levels, and a second length checks them again in later
/// blocks.
const RATIO_SURE: f64 = 0.99;

/// Of the allowed lengths whose variance per machine time is within this factor of the best, the
/// longest is taken: a hundred rounds give no better estimate of it, and a longer slice never has
/// more bias.
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
    /// The difference from the longest length, as a log: -0.03 is 3% slower.
    pub log: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
}

impl Bias {
    /// True if it is at most [`LEVEL_TOLERANCE`], or may be chance at `confidence`.
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
    /// Level compared with that of the longest length, mean over the variants. `None` for the
    /// longest itself, and with too few rounds.
    ///
    /// Levels are plain means. A robust center would not do: an occasional interruption of a server
    /// lowers all long slices a little, but only a few of the short ones, which a robust center
    /// leaves out.
    pub level: Option<Bias>,
    /// Log ratio of every variant except the base, compared with that of the longest length; empty
    /// if `level` is `None`.
    pub ratio: Vec<Bias>,
    /// Variance of the log ratio after one second of machine time, in seconds. Divided by the
    /// seconds that all variants take together, it is the variance of the center. Mean over the
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
    /// Shorter than usual, and rates scatter too much to show that the level is that of the
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

/// The chosen length and the figures behind the choice, which `Display` explains in a few lines.
#[derive(Debug, Clone, PartialEq)]
pub struct LengthChoice {
    /// The length in seconds.
    pub seconds: f64,
    /// True if a length shorter than the longest was allowed, which suggests that the longest has
    /// no bias. If false, longer ones should be tried.
    pub settled: bool,
    /// All lengths, by length.
    pub lengths: Vec<LengthFigures>,
}

/// Chooses the length of slices. A length is allowed if it has enough operations, if its level is
/// within 1% of that of the longest (or can't be told from it), and if its ratio doesn't differ
/// either. Of the allowed lengths, the one with the smallest variance for the same machine time is
/// best; of those about as good, the longest is taken. If nothing shorter is allowed, the longest
/// is taken. If there are too few rounds to tell, the first of at least 40 ms is taken. `None`
/// without trials.
///
/// If the level is hidden by scatter (standard error over 1.5%), only slices under 40 ms are ruled
/// out.
///
/// The ratio is what matters: if it is biased, the verdict is wrong. But base and variant are
/// usually biased alike, so the level shows that a length is too short long before the ratio does.
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

/// Variance that one round contributes to the trimmed mean: that of its winsorized log ratio.
/// Autocorrelation is ignored, because there are other rounds between those of one length.
fn variance(logs: &[f64]) -> Option<f64> {
    let known: Vec<f64> = logs.iter().copied().filter(|log| !log.is_nan()).collect();
    let spread = sd_sample(&Trimmed::of(&known, TRIMMED)?.influence(&known))?;
    Some(spread * spread)
}

/// The number of stretches of the step that there are enough rounds for.
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

/// The level of a length compared with that of the longest, mean over the variants. Levels are
/// compared within stretches of the step, so slow changes affect both.
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

/// The log ratio of a length compared with that of the longest, in the same way, with the extremes
/// pulled in as for the estimate itself.
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
    /// beginning. The ratio is 0.9, the machine drifts slowly, and `noise` gives the noise of a
    /// slice of some length.
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
