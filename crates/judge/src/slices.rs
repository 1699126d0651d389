//! Pairing by slices: the servers of all variants run at the same time and the load moves between
//! them in slices of a fraction of a second. In every round each variant has one slice, in random
//! order.
//!
//! The log ratio of round r is `d_r = ln(rate of the variant / rate of the base)`. Single rounds
//! are noisy (heavy tails, occasional disturbed slices, correlated neighbors). This file evaluates
//! one restart of the servers; `restarts.rs` combines several.

use crate::satterthwaite::satterthwaite;
use crate::trimmed::{Trimmed, batches, number_of_batches, variance_of_mean};
use crate::{JudgeError, Side};

/// Share of the rounds cut off at either end by the trimmed mean: the average is that of the middle
/// half.
///
/// Chosen by simulation; the table is in VALIDATION.md. With normal slices, its error is 1.02 to
/// 1.10 times that of the plain mean (median: 1.06 to 1.26). It is 0.79 times with the tails of
/// Student's t with 3 degrees of freedom (median: 0.88), 0.22 times with one slice in 20 disturbed
/// (median: 0.25), and 0.38 times with both (median: 0.40). So it is as robust as the median here,
/// and loses less where robustness isn't needed. Recorded slices of Postgres 14.3 against itself
/// (dop 1, 48 to 189 rounds of 20 ms and more, block bootstrap) agree. Standard errors of mean,
/// this and median were 0.90%, 0.37%, 0.41% and 0.89%, 0.63%, 0.56% for l.i0, and 0.42%, 0.38%,
/// 0.40% for qp100. Only where qp100 jumped between two speeds was the median better (2.5%, 3.0%,
/// 2.0%). Up to a quarter of the slices may be disturbed in one direction before any disturbed
/// value affects the mean as measured.
pub const TRIMMED: f64 = 0.25;

/// Fewest rounds from which there is an estimate: two batches of three.
pub const FEWEST_PAIRS: usize = 6;

/// The result of one restart of all servers for a variant and the base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RestartRatio {
    /// Trimmed mean of the log ratios of the rounds.
    pub mean_log: f64,
    /// Variance of `mean_log` within this restart, from batches of neighboring rounds.
    pub variance: f64,
    /// Degrees of freedom of `variance`: batches - 1.
    pub freedom: f64,
    /// Rounds in which both were measured and at least one of them did something.
    pub pairs: usize,
    /// Share of the rounds, 0 to 1, in which one of the two was set aside or not measured.
    pub set_aside: f64,
    /// Share of the rounds, 0 to 1, in which both were measured and neither did anything.
    pub idle: f64,
    /// `ln` of the ratio of the mean rates over the same rounds, less `mean_log`: the change if the
    /// slices cut off by the trimmed mean were included.
    pub tails_log: f64,
    /// Variance of `tails_log`, from the same batches.
    pub tails_variance: f64,
    /// Variance of `mean_log + tails_log`, the log ratio of all that was done, from the same
    /// batches.
    pub total_variance: f64,
    /// The side that did nothing in so many slices that the middle half of the rounds has no ratio.
    /// `mean_log` is then that of all operations, and `tails_log` is 0.
    pub stalled: Option<Side>,
    /// The same by slices of two lengths, where there are enough rounds of both.
    pub by_length: Option<ByLength>,
    /// Servers that had a slice in each round, these two included.
    pub servers: usize,
    /// The chosen length of its slices in milliseconds; 0 where all restarts have the same.
    pub slice_ms: f64,
    /// The mean of 1/length of its slices, weighted by length if the ratio is that of all
    /// operations, in the unit of [`Self::by_length`].
    pub weight: f64,
    /// The log ratio of endless slices less that of these, if shorter ones have shown it: lowest
    /// and highest.
    pub endless: Option<[f64; 2]>,
}

impl RestartRatio {
    /// A restart with this log ratio and variance, from this many batches of ten rounds, without
    /// stalls or idle rounds: for simulations and tests.
    pub fn even(mean_log: f64, variance: f64, batches: usize) -> Self {
        Self {
            mean_log,
            variance,
            freedom: batches.saturating_sub(1) as f64,
            pairs: 10 * batches,
            set_aside: 0.0,
            idle: 0.0,
            tails_log: 0.0,
            tails_variance: variance,
            total_variance: variance,
            stalled: None,
            by_length: None,
            servers: 2,
            slice_ms: 0.0,
            weight: 0.0,
            endless: None,
        }
    }

    /// The ratio of all operations. Every slice counts, so nothing is said about the typical slice,
    /// stalls, or rounds in which neither did anything.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self { idle: 0.0, stalled: None, ..self.in_total() }
    }

    /// Without the variances from batches of slices: only the scatter of restarts counts.
    pub(crate) fn between_restarts(&self) -> Self {
        Self { variance: 0.0, total_variance: 0.0, ..*self }
    }

    /// The ratio of all operations instead of that of the typical slice.
    pub(crate) fn in_total(&self) -> Self {
        let variance = self.total_variance;
        Self { variance, tails_log: 0.0, tails_variance: 0.0, ..*self }.plus(self.tails_log)
    }

    /// The same with a log ratio that is larger by this much.
    #[must_use]
    pub fn plus(self, more: f64) -> Self {
        Self { mean_log: self.mean_log + more, ..self }
    }
}

/// The log ratio of one restart by slices of the chosen length and by longer ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByLength {
    /// By slices of the chosen length.
    pub short: f64,
    /// By longer ones.
    pub long: f64,
    /// How much larger the mean of 1/length of the short slices is than that of the long ones.
    pub apart: f64,
    /// The mean of 1/length of all slices.
    pub weight: f64,
    /// Variance of `short - long` within this restart.
    pub variance: f64,
    /// Degrees of freedom of `variance`.
    pub freedom: f64,
}

impl ByLength {
    /// Two results, each with the mean of 1/length of its slices; `all` is that of the slices of
    /// the restart's ratio: weighted by length if that is the ratio of all operations. Any unit
    /// will do. `None` if one of the two has no typical slice.
    ///
    /// A slice of length L in which a server loses c at the beginning (cold caches, work that
    /// waited) has `1 - c/L` of its rate, so the log ratio is about linear in 1/L, and endless
    /// slices are at 0.
    pub fn of(
        (short, by_short): (&RestartRatio, f64),
        (long, by_long): (&RestartRatio, f64),
        all: f64,
    ) -> Option<Self> {
        if [short, long].iter().any(|part| part.stalled.is_some()) {
            return None;
        }
        let parts = [short, long].map(|part| (part.variance, part.freedom));
        let (variance, freedom) = satterthwaite(parts.into_iter());
        let apart = by_short - by_long;
        let (short, long) = (short.mean_log, long.mean_log);
        Some(Self { short, long, apart, weight: all, variance, freedom })
    }

    /// The log ratio of endless slices less that of slices with this mean of 1/length.
    pub(crate) fn endless(&self, weight: f64) -> f64 {
        (self.long - self.short) / self.apart * weight
    }
}

/// The log ratio of one restart from the rates of base and variant by round, in any unit; NaN marks
/// a slice set aside or not measured.
///
/// The center is the trimmed mean of `d_r` (see [`TRIMMED`]). A slice without any operation (rate
/// 0) counts as infinitely slow, so it is cut off if there are no more such slices than are cut
/// off. Otherwise the typical slice has no ratio; the ratio of all operations is used, and
/// [`RestartRatio::stalled`] says so. A round in which neither did anything has no ratio: it is
/// left out of the center, adds nothing to the totals, and is counted in [`RestartRatio::idle`].
/// The variance of the center allows for the correlation of neighboring rounds: it comes from the
/// means of batches of them, each of them six integrated autocorrelation times long if there are
/// enough rounds for 8 to 30 such batches.
///
/// So this compares the *typical* slice. A variant that is as fast as the base except for rare long
/// pauses has a ratio near 1 here; `tails_log` says how much the pauses amount to, and
/// [`crate::compare_slices`] judges by it.
///
/// # Errors
/// When the counts differ, fewer than [`FEWEST_PAIRS`] rounds have both, a rate is negative or
/// infinite, one side did nothing at all, or neither did anything in all but a few rounds.
pub fn restart_ratio(base: &[f64], variant: &[f64]) -> Result<RestartRatio, JudgeError> {
    if base.len() != variant.len() {
        return Err(JudgeError::Unpaired { base: base.len(), variant: variant.len() });
    }
    for (side, rates) in [(Side::Base, base), (Side::Variant, variant)] {
        let wrong = |(_, rate): &(usize, &f64)| **rate < 0.0 || rate.is_infinite();
        if let Some((place, value)) = rates.iter().enumerate().find(wrong) {
            return Err(JudgeError::Rate { side, round: place + 1, value: *value });
        }
    }
    let measured: Vec<Round> = base
        .iter()
        .zip(variant)
        .map(|(base, variant)| Round { base: *base, variant: *variant })
        .filter(|round| !round.base.is_nan() && !round.variant.is_nan())
        .collect();
    if measured.len() < FEWEST_PAIRS {
        return Err(JudgeError::TooFewRounds { pairs: measured.len(), needed: FEWEST_PAIRS });
    }
    let rounds: Vec<Round> = measured.iter().filter(|round| !round.is_idle()).copied().collect();
    let idle = |of: fn(&Round) -> f64| rounds.iter().filter(|round| of(round) == 0.0).count();
    let (of_base, of_variant) = (idle(|round| round.base), idle(|round| round.variant));
    let slower = if of_base > of_variant { Side::Base } else { Side::Variant };
    let total_log = total_log(&rounds);
    if rounds.len() < FEWEST_PAIRS {
        return Err(JudgeError::BothIdle { busy: rounds.len(), needed: FEWEST_PAIRS });
    }
    if !total_log.is_finite() {
        return Err(JudgeError::Idle { side: slower });
    }
    let logs: Vec<f64> = rounds.iter().map(Round::log).collect();
    let trimmed = Trimmed::of(&logs, TRIMMED);
    let total = total_influence(&rounds);
    let influence =
        trimmed.map(|trimmed| trimmed.influence(&logs)).unwrap_or_else(|| total.clone());
    let number = number_of_batches(&influence);
    let variance = |values: &[f64]| {
        variance_of_mean(&batches(values, number).filter_map(crate::mean).collect::<Vec<f64>>())
    };
    let tails: Vec<f64> = total.iter().zip(&influence).map(|(total, own)| total - own).collect();
    let mean_log = trimmed.map_or(total_log, |trimmed| trimmed.mean);
    let share = |count: usize| count as f64 / base.len() as f64;
    Ok(RestartRatio {
        mean_log,
        variance: variance(&influence),
        freedom: (number - 1) as f64,
        pairs: rounds.len(),
        set_aside: share(base.len() - measured.len()),
        idle: share(measured.len() - rounds.len()),
        tails_log: total_log - mean_log,
        tails_variance: variance(&tails),
        total_variance: variance(&total),
        stalled: trimmed.is_none().then_some(slower),
        by_length: None,
        servers: 2,
        slice_ms: 0.0,
        weight: 0.0,
        endless: None,
    })
}

/// The rates of one round.
#[derive(Debug, Clone, Copy)]
struct Round {
    base: f64,
    variant: f64,
}

impl Round {
    /// Infinite where one of the two did nothing.
    fn log(&self) -> f64 {
        (self.variant / self.base).ln()
    }

    fn is_idle(&self) -> bool {
        self.base + self.variant == 0.0
    }
}

/// The mean rates of base and variant.
fn mean_rates(rounds: &[Round]) -> (f64, f64) {
    let mean = |of: fn(&Round) -> f64| rounds.iter().map(of).sum::<f64>() / rounds.len() as f64;
    (mean(|round| round.base), mean(|round| round.variant))
}

/// `ln` of the ratio of the mean rates.
fn total_log(rounds: &[Round]) -> f64 {
    let (base, variant) = mean_rates(rounds);
    (variant / base).ln()
}

/// The influence of each round on the logarithm of the ratio of the mean rates (the delta method).
/// It is finite even for a round in which one side did nothing. The influences add up to 0.
fn total_influence(rounds: &[Round]) -> Vec<f64> {
    let (base, variant) = mean_rates(rounds);
    rounds.iter().map(|round| round.variant / variant - round.base / base).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_constant_ratio_is_found_exactly() {
        let base: Vec<f64> = (0..40).map(|round| 1000.0 + f64::from(round * 37 % 11)).collect();
        let variant: Vec<f64> = base.iter().map(|rate| rate * 0.97).collect();
        let found = restart_ratio(&base, &variant).unwrap();
        assert!((found.mean_log.exp() - 0.97).abs() < 1e-12);
        assert!(found.variance < 1e-24 && found.tails_log.abs() < 1e-12);
        assert_eq!(found.pairs, 40);
        assert!((found.freedom - 7.0).abs() < 1e-15 && found.set_aside == 0.0);
    }

    #[test]
    fn order_of_base_and_variant_only_turns_the_sign() {
        let mut random = Random::new(11);
        let mut rates =
            || -> Vec<f64> { (0..200).map(|_| (0.1 * random.normal()).exp()).collect() };
        let (base, variant) = (rates(), rates());
        let there = restart_ratio(&base, &variant).unwrap();
        let back = restart_ratio(&variant, &base).unwrap();
        assert!((there.mean_log + back.mean_log).abs() < 1e-14);
        assert!((there.variance / back.variance - 1.0).abs() < 1e-9);
        assert!((there.tails_log + back.tails_log).abs() < 1e-14);
    }

    #[test]
    fn disturbed_slices_do_not_move_the_centre_but_show_in_the_tails() {
        let mut random = Random::new(12);
        let base: Vec<f64> = (0..400).map(|_| (0.02 * random.normal()).exp()).collect();
        let mut variant: Vec<f64> = (0..400).map(|_| (0.02 * random.normal()).exp()).collect();
        for place in (3..400).step_by(10) {
            variant[place] = 0.1;
        }
        variant[50] = 0.0;
        let found = restart_ratio(&base, &variant).unwrap();
        assert!(found.mean_log.abs() < 0.006, "{found:?}");
        // A tenth of the slices lacks 90% of its operations.
        assert!((found.tails_log - 0.91_f64.ln()).abs() < 0.02, "{found:?}");
        assert!(found.tails_log.abs() > 5.0 * found.tails_variance.sqrt(), "{found:?}");
    }

    #[test]
    fn what_was_set_aside_is_counted() {
        let mut base = vec![100.0; 50];
        let mut variant = vec![101.0; 50];
        base[3] = f64::NAN;
        variant[3] = f64::NAN;
        variant[7] = f64::NAN;
        base[9] = 0.0;
        variant[9] = 0.0;
        let found = restart_ratio(&base, &variant).unwrap();
        assert_eq!(found.pairs, 47);
        assert!((found.set_aside - 0.04).abs() < 1e-12 && (found.idle - 0.02).abs() < 1e-12);
    }

    /// A round in which neither side did anything doesn't change the result.
    #[test]
    fn rounds_in_which_neither_did_anything_move_nothing() {
        let mut random = Random::new(14);
        let mut rates =
            || -> Vec<f64> { (0..200).map(|_| (0.1 * random.normal()).exp()).collect() };
        let (base, variant) = (rates(), rates());
        let bare = restart_ratio(&base, &variant).unwrap();
        let with_idle = |rates: &[f64]| -> Vec<f64> {
            rates.chunks(2).flat_map(|two| [two[0], two[1], 0.0]).collect()
        };
        let found = restart_ratio(&with_idle(&base), &with_idle(&variant)).unwrap();
        assert!((found.idle - 1.0 / 3.0).abs() < 1e-12 && found.set_aside == 0.0);
        assert_eq!(RestartRatio { idle: 0.0, ..found }, bare);
    }

    #[test]
    fn who_stalls_in_more_than_a_quarter_of_the_slices_is_judged_by_all_of_them() {
        let base: Vec<f64> = (0..400).map(|round| 1000.0 + f64::from(round % 7)).collect();
        let mut variant = base.clone();
        for place in 0..160 {
            variant[place * 5 / 2] = 0.0;
        }
        let found = restart_ratio(&base, &variant).unwrap();
        assert_eq!(found.stalled, Some(Side::Variant));
        assert!((found.mean_log - 0.6_f64.ln()).abs() < 0.001, "{found:?}");
        assert!(found.variance > 0.0 && found.variance.sqrt() < 0.1, "{found:?}");
        assert_eq!(found, found.in_total());
        let back = restart_ratio(&variant, &base).unwrap();
        assert_eq!(back.stalled, Some(Side::Base));
        assert!((back.mean_log + found.mean_log).abs() < 1e-12);
    }

    /// A stall of many slices in a row fills whole batches; its effect on the tails must stay a
    /// number.
    #[test]
    fn a_long_stall_is_in_the_tails_and_their_variance() {
        let base = vec![1000.0; 300];
        let mut variant = base.clone();
        variant[100..160].fill(0.0);
        let found = restart_ratio(&base, &variant).unwrap();
        assert!(found.stalled.is_none() && found.mean_log.abs() < 1e-12);
        assert!((found.tails_log - 0.8_f64.ln()).abs() < 1e-12, "{found:?}");
        // One stall of a fifth of the time does not prove that there will be another.
        assert!(found.tails_variance.sqrt() > 0.05, "{found:?}");
    }

    #[test]
    fn what_cannot_be_estimated() {
        assert_eq!(
            restart_ratio(&[1.0; 5], &[1.0; 4]),
            Err(JudgeError::Unpaired { base: 5, variant: 4 })
        );
        let mut few = [1.0; 9];
        few[..4].fill(f64::NAN);
        assert_eq!(
            restart_ratio(&few, &[1.0; 9]),
            Err(JudgeError::TooFewRounds { pairs: 5, needed: FEWEST_PAIRS })
        );
        assert_eq!(restart_ratio(&[], &[]), Err(JudgeError::TooFewRounds { pairs: 0, needed: 6 }));
        let mut wrong = [1.0; 9];
        for value in [-1.0, f64::INFINITY] {
            wrong[2] = value;
            let error = |side| Err(JudgeError::Rate { side, round: 3, value });
            assert_eq!(restart_ratio(&wrong, &[1.0; 9]), error(Side::Base));
            assert_eq!(restart_ratio(&[1.0; 9], &wrong), error(Side::Variant));
        }
        let error = |side| Err(JudgeError::Idle { side });
        assert_eq!(restart_ratio(&[1.0; 9], &[0.0; 9]), error(Side::Variant));
        assert_eq!(restart_ratio(&[0.0; 9], &[1.0; 9]), error(Side::Base));
        // Neither is blamed for what both did.
        let idle = |busy| Err(JudgeError::BothIdle { busy, needed: FEWEST_PAIRS });
        assert_eq!(restart_ratio(&[0.0; 9], &[0.0; 9]), idle(0));
        let mut twice = [0.0; 9];
        twice[3..5].fill(1.0);
        assert_eq!(restart_ratio(&twice, &twice), idle(2));
        let mut busy = [0.0; 9];
        busy[..7].fill(1.0);
        assert_eq!(restart_ratio(&busy, &[0.0; 9]), error(Side::Variant));
    }

    /// Coverage of the interval from the batches of one restart; the long form is in the crate
    /// `validate`.
    #[test]
    fn the_interval_of_one_restart_covers_the_truth() {
        let mut random = Random::new(13);
        for (rho, rounds) in [(0.0, 60), (0.5, 300), (0.8, 600)] {
            let covered = (0..1000)
                .filter(|_| {
                    let noise = random.autoregression(rounds, rho);
                    let variant: Vec<f64> = noise
                        .iter()
                        .map(|d| {
                            // Tails of Student's t with 3 degrees of freedom.
                            let tail = (0..3).map(|_| random.normal().powi(2)).sum::<f64>() / 3.0;
                            (0.05 * d / tail.sqrt()).exp()
                        })
                        .collect();
                    let found = restart_ratio(&vec![1.0; rounds], &variant).unwrap();
                    let t = crate::t_quantile(0.975, found.freedom);
                    found.mean_log.abs() <= t * found.variance.sqrt()
                })
                .count();
            assert!((930..=985).contains(&covered), "{rho}, {rounds} rounds: {covered} of 1000");
        }
    }
}
