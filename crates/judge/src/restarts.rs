//! Combines several restarts of all servers.

use std::borrow::Cow;

use crate::by_length::{SLICE_TOLERANCE, disagreement, known_loss};
use crate::by_servers::crowding;
use crate::over_restarts::{beyond_chance, estimate, mean_log, within};
use crate::{
    Comparison, ENOUGH_BLOCKS, ENOUGH_FROZEN, ENOUGH_ROUNDS, JudgeError, Margin, RestartRatio,
    Verdict, Warning, mean,
};

/// A larger share of rounds set aside than this causes a warning: the rest may no longer be
/// typical.
pub const MUCH_SET_ASIDE: f64 = 0.2;

/// If neither server did anything in a larger share of rounds than this, there is a warning,
/// because that should hardly ever happen.
pub const MUCH_IDLE: f64 = 0.01;

/// Confidence of the tests behind warnings: 99%, so few warnings are false.
const SURE: f64 = 0.99;

/// Compares a variant with the base from restarts of all servers, each with its own slices.
///
/// The estimate is the mean of the restarts' log ratios, with equal weights. There are two
/// candidate intervals:
///
/// - from the scatter of the R restarts, `s/√R` with Student's t and R-1 degrees of freedom: it
///   contains all variation between restarts and within them, in any proportion (T. Kalibera and R.
///   Jones, *Rigorous Benchmarking in Reasonable Time*, ISMM 2013: only the highest repeated level
///   gives degrees of freedom);
/// - from the batches within the restarts, `√(Σ variance)/R` with Satterthwaite's degrees of
///   freedom.
///
/// With [`ENOUGH_BLOCKS`] restarts or more, the first counts. With fewer, the wider one does: the
/// second prevents false certainty when two or three restarts happen to agree. It does not count
/// later, because one restart beside a noisy neighbor, with few and very different batches, leaves
/// it about one degree of freedom. Ten restarts of point queries that differed by 0.6% would have
/// an interval of ±42%. With R = 1 there would be only the second, which contains the truth in just
/// half of the experiments in which restarts differ. So one restart, like one block, has neither
/// interval nor verdict, and a [`Warning::OneRestart`].
///
/// The typical slice doesn't cover everything. The comparison uses what [`deciding`] returns: all
/// operations if they certainly have another ratio, otherwise the typical slice. And nothing is
/// equivalent unless both are. So the one that is not compared is tested as well, with two
/// one-sided tests at 1 - `confidence`: its interval of twice that error has to lie within the
/// margin. Otherwise the verdict is open, with a [`Warning::TotalsOpen`] if the operations leave it
/// open. Without a typical slice, all operations decide alone.
///
/// Slices can be too short to say what long ones would, in either direction. If two lengths
/// certainly disagree, the interval becomes that of all slices and of endless ones together
/// ([`crate::ByLength`]), with a [`Warning::LengthsDisagree`], and a verdict stands only if both
/// share it. The same holds for restarts of which shorter slices have shown what they lose
/// ([`Warning::SlicesTooShort`]). If the restarts with the fewest servers certainly disagree with
/// the others, both are taken in like that, with a [`Warning::ServersDisagree`].
///
/// It is tempting to use the interval from the batches whenever it explains the spread of the
/// restarts. We tried that: a few restarts say so little about their spread that the interval
/// misses the truth too often (with R = 2 in 13%, with R = 3 in 7% of experiments), and thresholds
/// strict enough to keep 93% make it narrower by less than 10%.
///
/// [`Comparison::blocks`] is the number of restarts.
///
/// # Errors
/// Without restarts, or when the confidence is not between 0 and 1.
pub fn compare_slices(
    restarts: &[RestartRatio],
    margin: Margin,
    confidence: f64,
) -> Result<Comparison, JudgeError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(JudgeError::Confidence { confidence });
    }
    let (deciding, reason) = deciding(restarts);
    let mut outcome = estimate(&deciding, margin, confidence)?;
    let other = match reason {
        None => Some(totals(restarts)),
        Some(Warning::RareSlices { .. }) => Some(restarts.to_vec()),
        Some(_) => None,
    };
    if outcome.verdict == Verdict::Equivalent
        && let Some(other) = other
    {
        let one_sided = (2.0 * confidence - 1.0).max(0.0);
        if estimate(&other, margin, one_sided)?.verdict != Verdict::Equivalent {
            let other = estimate(&other, margin, confidence)?;
            let interval = other.low.zip(other.high).filter(|_| reason.is_none());
            outcome.take_in(&other);
            outcome.warnings.extend(interval.map(|(low, high)| Warning::TotalsOpen { low, high }));
        }
    }
    let mut disagree = Vec::new();
    let mut others = Vec::new();
    if let Some((warning, endless)) = disagreement(&deciding)? {
        others.push(endless);
        disagree.push(warning);
    } else if let Some((warning, endless)) = known_loss(&deciding) {
        others.extend(endless);
        disagree.extend(warning);
    }
    if let Some((warning, groups)) = crowding(&deciding)? {
        others.extend(groups);
        disagree.push(warning);
    }
    for other in others {
        let other = estimate(&other, margin, confidence)?;
        outcome.take_in(&other);
        // More blocks would not bring the two together.
        let [own, other] = [outcome.mean_log, other.mean_log].map(|at| margin.verdict(at, at));
        outcome.further_blocks = outcome.further_blocks.filter(|_| own == other);
    }
    match restarts.len() {
        1 => outcome.warnings.push(Warning::OneRestart),
        restarts @ 2..ENOUGH_BLOCKS => outcome.warnings.push(Warning::TooFewRestarts { restarts }),
        _ => {}
    }
    let logs: Vec<f64> = deciding.iter().map(|restart| restart.mean_log).collect();
    outcome.flip_signs(&logs);
    let rounds = restarts.iter().map(|restart| restart.pairs).min().unwrap_or_default();
    if rounds < ENOUGH_ROUNDS && restarts.len() < ENOUGH_BLOCKS {
        outcome.warnings.push(Warning::FewRounds { rounds });
    }
    let shares: Vec<f64> = restarts.iter().map(|restart| restart.set_aside).collect();
    if let Some(share) = mean(&shares).filter(|share| *share > MUCH_SET_ASIDE) {
        outcome.warnings.push(Warning::MuchSetAside { share });
    }
    let idle: Vec<f64> = restarts.iter().map(|restart| restart.idle).collect();
    if let Some(share) = mean(&idle).filter(|share| *share > MUCH_IDLE) {
        outcome.warnings.push(Warning::IdleRounds { share });
    }
    outcome.warnings.extend(reason);
    outcome.warnings.extend(disagree);
    Ok(outcome)
}

/// Compares like [`compare_slices`], by restarts in which one server at a time ran and the others
/// were frozen. Give it [`RestartRatio::whole`].
///
/// A burst of work in the background falls into a few slices and comes back, so batches of slices
/// say nothing about the scatter of totals: the interval is that of the restarts alone. A burst
/// that comes less often than once per restart may be missing from all of them, and they then
/// agree too well. So `equivalent` needs [`ENOUGH_FROZEN`] restarts; with fewer, the verdict is
/// open, with a [`Warning::TooFewFrozen`].
///
/// # Errors
/// As [`compare_slices`].
pub fn compare_frozen(
    restarts: &[RestartRatio],
    margin: Margin,
    confidence: f64,
) -> Result<Comparison, JudgeError> {
    let alone: Vec<RestartRatio> = restarts.iter().map(RestartRatio::between_restarts).collect();
    let mut outcome = compare_slices(&alone, margin, confidence)?;
    let restarts = restarts.len();
    if outcome.verdict == Verdict::Equivalent && restarts < ENOUGH_FROZEN {
        outcome.verdict = Verdict::Inconclusive;
        outcome.further_blocks = u32::try_from(ENOUGH_FROZEN - restarts).ok();
        outcome.warnings.push(Warning::TooFewFrozen { restarts });
    }
    Ok(outcome)
}

/// The restarts, by the figures that decide: their typical slices, as they are, or all of their
/// operations, with the reason. That is [`Warning::Stalled`] if one of the two did nothing in more
/// than a quarter of its slices in some restart, so no slice is typical, or
/// [`Warning::RareSlices`] if all operations certainly have another ratio.
pub fn deciding(restarts: &[RestartRatio]) -> (Cow<'_, [RestartRatio]>, Option<Warning>) {
    let stalled = restarts.iter().find_map(|restart| restart.stalled);
    let reason = stalled.map(|side| Warning::Stalled { side }).or_else(|| tails(restarts));
    match reason {
        Some(_) => (totals(restarts).into(), reason),
        None => (restarts.into(), None),
    }
}

/// The restarts by all of their operations.
pub fn totals(restarts: &[RestartRatio]) -> Vec<RestartRatio> {
    restarts.iter().map(RestartRatio::in_total).collect()
}

/// Warns if all slices together give a different result than their middle half.
fn tails(restarts: &[RestartRatio]) -> Option<Warning> {
    let tails: Vec<RestartRatio> = restarts
        .iter()
        .map(|restart| RestartRatio {
            mean_log: restart.tails_log,
            variance: restart.tails_variance,
            ..*restart
        })
        .collect();
    let (middle, all) = (mean_log(restarts)?, mean_log(&tails)?);
    (all.abs() > SLICE_TOLERANCE && beyond_chance(all.abs(), [within(&tails)], SURE))
        .then(|| Warning::RareSlices { middle: middle.exp(), all: (middle + all).exp() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;
    use crate::random::Random;
    use crate::t_quantile;
    use crate::{Method, Side, Verdict};

    fn restart(mean_log: f64, error: f64) -> RestartRatio {
        RestartRatio::even(mean_log, error * error, 20)
    }

    fn half(outcome: &Comparison) -> f64 {
        0.5 * (outcome.high.unwrap() / outcome.low.unwrap()).ln()
    }

    fn judged(restarts: &[RestartRatio]) -> Comparison {
        compare_slices(restarts, Margin::default(), CONFIDENCE).unwrap()
    }

    #[test]
    fn restarts_that_scatter_decide_alone() {
        let logs = [-0.031, -0.024, -0.035, -0.028, -0.03, -0.027];
        let outcome = judged(&logs.map(|log| restart(log, 0.0005)));
        let blocks = crate::compare(&[1.0; 6], &logs.map(f64::exp), Margin::default()).unwrap();
        assert_eq!(outcome.method, Method::Slices);
        assert!((half(&outcome) - half(&blocks)).abs() < 1e-12);
        assert!((outcome.freedom - 5.0).abs() < 1e-12);
        assert_eq!((outcome.verdict, &outcome.warnings[..]), (Verdict::Regression, &[][..]));
        let few = judged(&logs.map(|log| restart(log, 0.0005))[..5]);
        assert!(few.high.unwrap() < 0.98 && few.further_blocks == Some(1));
        assert_eq!(few.verdict, Verdict::Inconclusive);
        assert_eq!(few.warnings, [Warning::TooFewRestarts { restarts: 5 }]);
    }

    #[test]
    fn restarts_that_happen_to_agree_are_not_certainty() {
        let outcome = judged(&[restart(0.001, 0.004), restart(0.00101, 0.004)]);
        let expected = t_quantile(0.975, 38.0) * 0.004 / 2.0_f64.sqrt();
        assert!((half(&outcome) - expected).abs() < 1e-12);
        assert!((outcome.freedom - 38.0).abs() < 1e-9);
        assert!(!outcome.confirmed());
    }

    #[test]
    fn frozen_restarts_that_agree_are_equivalent_only_if_there_are_twelve() {
        let frozen = |count: usize, log: f64| {
            let one = |number: usize| restart(log + 1e-4 * (number % 3) as f64, 0.2);
            let restarts: Vec<RestartRatio> = (0..count).map(one).collect();
            compare_frozen(&restarts, Margin::default(), CONFIDENCE).unwrap()
        };
        let few = frozen(11, 0.001);
        assert_eq!((few.verdict, few.further_blocks), (Verdict::Inconclusive, Some(1)));
        assert_eq!(few.warnings, [Warning::TooFewFrozen { restarts: 11 }]);
        let enough = frozen(12, 0.001);
        assert_eq!((enough.verdict, &enough.warnings[..]), (Verdict::Equivalent, &[][..]));
        assert!(half(&enough) < 1e-3, "batches have no say");
        assert_eq!(frozen(6, -0.1).verdict, Verdict::Regression);
    }

    #[test]
    fn one_restart_decides_nothing() {
        for log in [-3.0, -0.05, 0.0, 0.1] {
            let outcome = judged(&[restart(log, 0.0001)]);
            assert_eq!(outcome.verdict, Verdict::Inconclusive);
            assert_eq!((outcome.low, outcome.high, outcome.detectable), (None, None, None));
            assert_eq!((outcome.difference_p, outcome.margin_p), (None, None));
            assert_eq!((outcome.blocks, outcome.sd_log, outcome.further_blocks), (1, None, None));
            assert!((outcome.mean_log - log).abs() < 1e-15 && !outcome.confirmed());
            assert_eq!(outcome.warnings, [Warning::OneRestart]);
        }
    }

    #[test]
    fn restarts_with_stalls_are_compared_by_all_that_was_done() {
        let stalls = |log: f64| RestartRatio { stalled: Some(Side::Variant), ..restart(log, 0.01) };
        // The third stalled less: its typical slice is as fast as the base's, its total is not.
        let third = RestartRatio { tails_log: -0.2, total_variance: 1e-4, ..restart(0.0, 1e-3) };
        let outcome = judged(&[stalls(-0.5), stalls(-0.52), third]);
        assert!((outcome.mean_log + 1.22 / 3.0).abs() < 1e-12, "{outcome:?}");
        let few = Warning::TooFewRestarts { restarts: 3 };
        assert_eq!(outcome.warnings, [few, Warning::Stalled { side: Side::Variant }]);
        let alike = judged(&[-0.5, -0.52, -0.49, -0.5, -0.51, -0.48].map(stalls));
        assert_eq!(alike.verdict, Verdict::Regression);
    }

    /// A restart of ten rounds beside a noisy neighbor: its few batches differ by far more than
    /// those of the others, so all batches together have hardly more than one degree of freedom.
    #[test]
    fn one_disturbed_restart_of_many_does_not_hide_the_others() {
        let logs = [0.003, -0.004, 0.002, 0.005, -0.003, -0.001, 0.004, 0.0, -0.002, -0.025];
        let restarts = logs.map(|log| match log < -0.01 {
            true => RestartRatio::even(log, 0.04 * 0.04, 3),
            false => RestartRatio::even(log, 0.003 * 0.003, 3),
        });
        let found = |restarts: &[RestartRatio]| {
            half(&compare_slices(restarts, Margin::default(), 0.997).unwrap())
        };
        let alone = restarts.map(|restart| restart.between_restarts());
        assert!((found(&restarts) - found(&alone)).abs() < 1e-15 && found(&restarts) < 0.015);
        assert!(found(&restarts[5..]) > 0.1, "too few to know how they differ");
    }

    #[test]
    fn more_confidence_is_a_wider_interval() {
        let restarts = [restart(0.0, 0.002), restart(0.003, 0.002), restart(-0.002, 0.002)];
        let sure = compare_slices(&restarts, Margin::default(), 0.99).unwrap();
        assert!(half(&sure) > half(&judged(&restarts)));
        assert!(compare_slices(&restarts, Margin::default(), 1.0).is_err());
        assert_eq!(compare_slices(&[], Margin::default(), 0.95), Err(JudgeError::NoBlocks));
    }

    #[test]
    fn what_to_know_beside_it() {
        let mut few = restart(0.0, 0.002);
        few.pairs = 29;
        few.set_aside = 0.3;
        few.idle = 0.01;
        few.tails_log = -0.04;
        few.tails_variance = 1e-5;
        let warnings = judged(&[few, restart(0.0, 0.002)]).warnings;
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        let too_few = Warning::TooFewRestarts { restarts: 2 };
        assert_eq!(warnings[..2], [too_few, Warning::FewRounds { rounds: 29 }]);
        assert!(matches!(warnings[2], Warning::RareSlices { all, .. } if all < 0.985));
        let warnings = judged(&[few, few]).warnings;
        assert!(warnings.contains(&Warning::MuchSetAside { share: 0.3 }), "{warnings:?}");
        let idle = RestartRatio { idle: 0.03, ..restart(0.0, 0.002) };
        assert_eq!(judged(&[idle; 6]).warnings, [Warning::IdleRounds { share: 0.03 }]);
    }

    /// A confirmed difference in all operations decides, regardless of the typical slice.
    #[test]
    fn totals_that_are_sure_decide() {
        let lacking = |log: f64| RestartRatio {
            tails_log: -0.06,
            tails_variance: 1e-6,
            total_variance: 1e-5,
            ..restart(log, 0.001)
        };
        let outcome = judged(&[0.0, 0.002, -0.002, 0.001, -0.001, 0.0].map(lacking));
        assert_eq!(outcome.verdict, Verdict::Regression);
        assert!((outcome.mean_log + 0.06).abs() < 1e-12 && outcome.high.unwrap() < 0.98);
        assert!(matches!(outcome.warnings[..], [Warning::RareSlices { .. }]), "{outcome:?}");
    }

    /// Equivalent needs both: the typical slice, and all operations.
    #[test]
    fn what_may_lack_operations_is_not_equivalent() {
        let logs = [0.0, 0.002, -0.002, 0.001, -0.001, 0.0];
        let of = |tails: [f64; 6], error: f64| {
            let one = |(log, tails_log): (f64, f64)| RestartRatio {
                tails_log,
                tails_variance: error * error,
                total_variance: error * error,
                ..restart(log, 0.001)
            };
            judged(&std::array::from_fn::<_, 6, _>(|at| one((logs[at], tails[at]))))
        };
        assert_eq!(of([0.0; 6], 0.001).verdict, Verdict::Equivalent);
        // One restart of six lost a fifth of its operations.
        let once = of([0.0, 0.0, 0.0, -0.2, 0.0, 0.0], 0.05);
        assert_eq!(once.verdict, Verdict::Inconclusive);
        assert!(once.low.unwrap() < 0.98 && once.high.unwrap() > 1.0, "{once:?}");
        assert!(
            (once.difference_p, once.confirmed()) == (Some(1.0), false) && once.mean_log == 0.0
        );
        assert!(once.further_blocks.is_none_or(|further| further > 0));
        let typical = of([0.0; 6], 0.001).detectable;
        assert!(once.detectable > typical, "as little as all operations allow: {once:?}");
        let [Warning::TotalsOpen { low, high }] = once.warnings[..] else { panic!("{once:?}") };
        assert!(low < 0.93 && high > 1.0);
        // Two one-sided tests: 90% within the margin are enough where 95% are not.
        let close = 0.02 / t_quantile(0.975, 5.0) * 6.0_f64.sqrt() * 1.05;
        let at_95 = of([close, -close, close, -close, close, -close].map(|e| 0.91 * e), 0.0);
        assert_eq!(at_95.verdict, Verdict::Equivalent, "{at_95:?}");
        // All operations are beyond the margin, but not sure to differ from the typical slice: no
        // number of blocks is known to bring them together.
        let beyond = |log: f64| RestartRatio {
            tails_log: -0.033,
            tails_variance: 0.032 * 0.032,
            total_variance: 0.028 * 0.028,
            ..restart(log - 0.012, 0.001)
        };
        let outcome = judged(&logs.map(beyond));
        assert_eq!((outcome.verdict, outcome.further_blocks), (Verdict::Inconclusive, None));
        assert!(matches!(outcome.warnings[..], [Warning::TotalsOpen { .. }]), "{outcome:?}");
    }

    /// The base stalls, so all operations are about equal; the typical slice is not.
    #[test]
    fn equal_totals_do_not_hide_a_slower_typical_slice() {
        let stalling_base = |log: f64| RestartRatio {
            tails_log: 0.04,
            tails_variance: 1e-6,
            total_variance: 1e-6,
            ..restart(log - 0.04, 0.001)
        };
        let outcome = judged(&[0.0, 0.002, -0.002, 0.001, -0.001, 0.0].map(stalling_base));
        assert_eq!(outcome.verdict, Verdict::Inconclusive, "{outcome:?}");
        assert!(outcome.low.unwrap() < 0.97 && outcome.high.unwrap() > 0.99, "{outcome:?}");
        assert!(matches!(outcome.warnings[..], [Warning::RareSlices { .. }]), "{outcome:?}");
    }

    #[test]
    fn few_restarts_are_said_like_few_blocks_whatever_their_rounds() {
        for count in 1..9 {
            let log = |n: usize| 0.001 * ((n * 7 % 5) as f64 - 1.9);
            let restarts: Vec<_> = (0..count).map(|n| restart(log(n), 0.002)).collect();
            assert!(restarts.iter().all(|restart| restart.pairs >= ENOUGH_ROUNDS));
            let warnings = judged(&restarts).warnings;
            let expected = match count {
                1 => vec![Warning::OneRestart],
                2..6 => vec![Warning::TooFewRestarts { restarts: count }],
                _ => vec![],
            };
            assert_eq!(warnings, expected, "{count} restarts");
        }
    }

    /// Coverage over R restarts for several proportions of the scatter between them to that within.
    #[test]
    fn the_interval_covers_the_truth_for_every_scatter_of_restarts() {
        let mut random = Random::new(21);
        for restarts in [2, 3, 6, 10] {
            for between in [0.0, 0.5, 1.0, 3.0] {
                let covered = (0..2000)
                    .filter(|_| {
                        let seen: Vec<RestartRatio> = (0..restarts)
                            .map(|_| {
                                let chance = (0..19).map(|_| random.normal().powi(2)).sum::<f64>();
                                let spread = (chance / 19.0).sqrt();
                                let log = random.normal() + between * random.normal();
                                restart(0.003 * log, 0.003 * spread)
                            })
                            .collect();
                        let outcome = judged(&seen);
                        outcome.low.unwrap() <= 1.0 && outcome.high.unwrap() >= 1.0
                    })
                    .count();
                // 93% less three Monte Carlo errors.
                assert!(covered >= 1826, "{restarts} restarts, {between}: {covered} of 2000");
            }
        }
    }
}
