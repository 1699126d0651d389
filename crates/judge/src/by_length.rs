//! Do slices of two lengths agree, and what would endless ones say?

use crate::estimate::upper_point;
use crate::over_restarts::{estimate, mean_log};
use crate::slices::{ByLength, RestartRatio};
use crate::{CONFIDENCE, ENOUGH_BLOCKS, JudgeError, Margin, Warning, mean, t_quantile};

/// Differences smaller than this, as logs of ratios, between two lengths of slices or between the
/// middle and all of the slices cause no warning, however certain they are: half a percent, a
/// quarter of the default margin.
pub const SLICE_TOLERANCE: f64 = 0.005;

/// If slices of two lengths disagree: a warning, and the restarts by endless slices. They disagree
/// if the mean of `short - long` over the restarts is larger than [`SLICE_TOLERANCE`] and certain
/// at 95%. Differences between restarts affect both lengths and cancel out. Restarts that don't
/// have both lengths get the mean correction of the others; `None` also if these are too few.
///
/// # Errors
/// Never with at least one restart; see [`crate::compare_slices`].
pub(crate) fn disagreement(
    restarts: &[RestartRatio],
) -> Result<Option<(Warning, Vec<RestartRatio>)>, JudgeError> {
    let both: Vec<(ByLength, &RestartRatio)> =
        restarts.iter().filter_map(|restart| Some((restart.by_length?, restart))).collect();
    let of = |log: fn(&ByLength) -> f64, variance: fn(&ByLength) -> f64| -> Vec<RestartRatio> {
        let one = |(by, restart): &(ByLength, &RestartRatio)| RestartRatio {
            mean_log: log(by),
            variance: variance(by),
            freedom: by.freedom,
            ..**restart
        };
        both.iter().map(one).collect()
    };
    let differences = of(|by| by.short - by.long, |by| by.variance);
    if differences.is_empty() || differences.len() < restarts.len().min(ENOUGH_BLOCKS) {
        return Ok(None);
    }
    let difference = estimate(&differences, Margin::default(), CONFIDENCE)?;
    if !difference.excludes_one() || difference.mean_log.abs() <= SLICE_TOLERANCE {
        return Ok(None);
    }
    let [short, long] = [of(|by| by.short, |_| 0.0), of(|by| by.long, |_| 0.0)]
        .map(|restarts| mean_log(&restarts).map_or(f64::NAN, f64::exp));
    let corrections: Vec<f64> = both.iter().map(|(by, _)| by.endless(by.weight)).collect();
    let usual = mean(&corrections).unwrap_or_default();
    let endless = |restart: &RestartRatio| {
        let own = restart.by_length.map(|by| by.endless(by.weight));
        RestartRatio { variance: 0.0, ..restart.plus(own.unwrap_or(usual)) }
    };
    let endless = restarts.iter().map(endless).collect();
    Ok(Some((Warning::LengthsDisagree { short, long }, endless)))
}

/// The restarts that count, each in its place; `None` for those left out. A run whose slices turn
/// out to be too short goes on with longer ones. If restarts with slices of one length
/// ([`RestartRatio::slice_ms`]) certainly disagree with themselves (see
/// [`Warning::LengthsDisagree`]), and at least [`ENOUGH_BLOCKS`] restarts have longer slices, these
/// alone are judged. Otherwise all restarts count.
///
/// Long slices lose less, but not nothing, and they are too few to show it. So what they lose is
/// extrapolated from the shorter ones, with its interval ([`RestartRatio::endless`]).
///
/// # Errors
/// Never; see [`crate::compare_slices`].
pub fn long_enough(restarts: &[RestartRatio]) -> Result<Vec<Option<RestartRatio>>, JudgeError> {
    let mut lengths: Vec<f64> = restarts.iter().map(|restart| restart.slice_ms).collect();
    lengths.sort_by(f64::total_cmp);
    lengths.dedup();
    let mut counted: Vec<Option<RestartRatio>> = restarts.iter().copied().map(Some).collect();
    for [shorter, longer] in lengths.array_windows() {
        let is_short = |it: &&RestartRatio| it.slice_ms >= *shorter && it.slice_ms < *longer;
        let short: Vec<RestartRatio> = restarts.iter().filter(is_short).copied().collect();
        if disagreement(&short)?.is_none() {
            continue;
        }
        let Some(lost) = lost(&short)? else { continue };
        let is_long = |it: &RestartRatio| it.slice_ms >= *longer;
        let enough = restarts.iter().filter(|it| is_long(it)).count() >= ENOUGH_BLOCKS;
        for (counted, restart) in counted.iter_mut().zip(restarts) {
            let endless = Some(lost.map(|lost| lost * restart.weight));
            let counts = counted.is_some() && (is_long(restart) || !enough);
            *counted = counts.then_some(RestartRatio { endless, ..*restart });
        }
    }
    Ok(counted)
}

/// What endless slices have more, as a log ratio per mean of 1/length: the interval over restarts.
fn lost(restarts: &[RestartRatio]) -> Result<Option<[f64; 2]>, JudgeError> {
    let known: Vec<RestartRatio> = restarts
        .iter()
        .filter_map(|restart| {
            let by = restart.by_length?;
            let variance = by.variance / (by.apart * by.apart);
            let mean_log = by.endless(1.0);
            Some(RestartRatio { mean_log, variance, freedom: by.freedom, ..*restart })
        })
        .collect();
    if known.is_empty() {
        return Ok(None);
    }
    let found = estimate(&known, Margin::default(), CONFIDENCE)?;
    let half = found.error_log.unwrap_or_default()
        * t_quantile(upper_point(CONFIDENCE), found.freedom.max(1.0));
    Ok(Some([found.mean_log - half, found.mean_log + half]))
}

/// If shorter slices have shown what each of these loses: the restarts by endless slices, for the
/// least and the most that it may be, and a warning if it is much.
pub(crate) fn known_loss(
    restarts: &[RestartRatio],
) -> Option<(Option<Warning>, [Vec<RestartRatio>; 2])> {
    let by = |end: usize| -> Option<Vec<RestartRatio>> {
        let endless = |restart: &RestartRatio| {
            Some(RestartRatio { variance: 0.0, ..restart.plus(restart.endless?[end]) })
        };
        restarts.iter().map(endless).collect()
    };
    let groups = [by(0)?, by(1)?];
    let measured = mean_log(restarts)?;
    let endless = 0.5 * (mean_log(&groups[0])? + mean_log(&groups[1])?);
    let warning = Warning::SlicesTooShort { measured: measured.exp(), endless: endless.exp() };
    Some((Some(warning).filter(|_| (measured - endless).abs() > SLICE_TOLERANCE), groups))
}

/// The length in milliseconds, at most `most`, with which slices of `slice_ms` would have to go on
/// if they and those twice as long have these ratios: what endless ones have more is then below
/// [`SLICE_TOLERANCE`], if `most` allows it. A power of two of what they were; `None` if they can't
/// become longer.
pub fn longer_slices(slice_ms: f64, short: f64, long: f64, most: f64) -> Option<f64> {
    // A loss c makes a difference of c/2L, and 7/8 c/L from endless ones.
    let times = 1.75 * (short / long).ln().abs() / SLICE_TOLERANCE;
    let wanted = times.max(1.5).log2().ceil();
    let possible = (most / slice_ms).log2().floor();
    let longer = wanted.min(possible);
    (longer >= 1.0).then(|| slice_ms * longer.exp2())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Verdict, compare_frozen};

    fn part(mean_log: f64) -> RestartRatio {
        RestartRatio::even(mean_log, 1e-6, 20)
    }

    /// Restarts by slices of lengths 1 and 2, which together have these log ratios.
    fn restarts(by: [(f64, f64); 6]) -> [RestartRatio; 6] {
        by.map(|(short, long)| RestartRatio {
            by_length: ByLength::of((&part(short), 1.0), (&part(long), 0.5), 0.75),
            ..part(0.5 * short + 0.5 * long)
        })
    }

    fn judged(restarts: &[RestartRatio]) -> crate::Comparison {
        compare_frozen(restarts, Margin::default(), CONFIDENCE).unwrap()
    }

    #[test]
    fn what_is_lost_at_each_beginning_is_extrapolated_away() {
        // 5 of 50 ms, 5 of 100 ms.
        let endless = |long: (f64, f64), all: f64| {
            let by = ByLength::of((&part(-0.1), 0.02), (&part(long.0), long.1), all).unwrap();
            by.endless(by.weight)
        };
        assert!((endless((-0.05, 0.01), 0.015) - 0.075).abs() < 1e-12);
        assert!((endless((-0.02, 0.004), 0.012) - 0.06).abs() < 1e-12);
        let stalled = RestartRatio { stalled: Some(crate::Side::Base), ..part(-0.1) };
        assert_eq!(ByLength::of((&stalled, 0.02), (&part(0.0), 0.01), 0.015), None);
    }

    /// As twelve releases of PostgreSQL were measured: 1.25 by 50 ms, 1.08 by 100 ms, 0.86 alone.
    #[test]
    fn lengths_that_disagree_have_no_verdict() {
        let noise = [0.01, -0.02, 0.0, 0.015, -0.01, 0.005];
        let found = judged(&restarts(noise.map(|noise| (0.22 + noise, 0.08 - noise))));
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert!(found.low.unwrap() < 0.95 && found.high.unwrap() > 1.16, "{found:?}");
        assert_eq!((found.difference_p, found.further_blocks), (Some(1.0), None));
        let [Warning::LengthsDisagree { short, long }] = found.warnings[..] else {
            panic!("{found:?}")
        };
        assert!(short > 1.24 && long < 1.09);
    }

    #[test]
    fn a_verdict_that_endless_slices_share_stands() {
        let noise = [0.001, -0.002, 0.0, 0.0015, -0.001, 0.0005];
        let found = judged(&restarts(noise.map(|noise| (-0.12 + noise, -0.10 - noise))));
        assert_eq!(found.verdict, Verdict::Regression);
        // Endless slices: -0.08.
        assert!(found.low.unwrap() < 0.9 && found.high.unwrap() > 0.92, "{found:?}");
        assert!(found.confirmed() && found.warnings.len() == 1);
    }

    #[test]
    fn lengths_are_compared_within_their_restarts() {
        // Restarts that differ by 5%, lengths that agree.
        let logs = [0.05, 0.0, 0.02, -0.03, 0.01, 0.04];
        let agree = |restarts: &[RestartRatio]| disagreement(restarts).unwrap().is_none();
        let own = [0.0005, -0.001, 0.0003, 0.0, -0.0002, 0.0004];
        let with = |bias: f64, scale: f64| {
            let of = |at: usize| (logs[at] + bias, logs[at] + scale * own[at]);
            restarts([0, 1, 2, 3, 4, 5].map(of))
        };
        assert!(agree(&with(0.0, 1.0)) && !agree(&with(-0.02, 1.0)));
        // Sure but small; large but not sure; unknown.
        assert!(agree(&with(0.004, 0.1)) && agree(&with(0.02, 60.0)));
        assert!(agree(&[part(0.02); 6]) && agree(&[]));
    }

    #[test]
    fn slices_that_disagree_give_way_to_longer_ones() {
        let noise = [0.01, -0.02, 0.0, 0.015, -0.01, 0.005];
        let of = |slice_ms: f64, apart: f64| {
            let all = restarts(noise.map(|noise| (apart + noise, -noise)));
            all.map(|restart| RestartRatio { slice_ms, ..restart })
        };
        let counted = |parts: &[&[RestartRatio]]| long_enough(&parts.concat()).unwrap();
        let least = |parts: &[&[RestartRatio]]| {
            let lengths = counted(parts).into_iter().flatten().map(|it| it.slice_ms);
            lengths.min_by(f64::total_cmp).unwrap_or_default()
        };
        let (bad, fine) = (of(50.0, 0.14), of(50.0, 0.0));
        let [longer, longest] = [of(400.0, 0.0), of(800.0, 0.0)];
        assert!((least(&[&bad, &longer]) - 400.0).abs() < 1e-9);
        assert!((least(&[&longer, &bad]) - 400.0).abs() < 1e-9, "in any order");
        assert!((least(&[&bad]) - 50.0).abs() < 1e-9, "there are no others");
        assert!((least(&[&bad, &longer[..5]]) - 50.0).abs() < 1e-9, "five are too few");
        assert!((least(&[&fine, &longer]) - 50.0).abs() < 1e-9);
        assert!((least(&[&fine, &of(400.0, 0.14), &longest]) - 800.0).abs() < 1e-9);
        assert!(counted(&[]).is_empty());
        let found = counted(&[&bad, &longer]);
        assert!(found[..6].iter().all(Option::is_none) && found[6..].iter().all(Option::is_some));
    }

    /// 5 ms are lost of 50 and 100 ms: 1.1% of 400 and 800 ms, of which one in four is long, and
    /// too little to be seen by these alone.
    #[test]
    fn what_longer_slices_lose_is_known_from_shorter_ones() {
        let noise = [0.002, -0.004, 0.001, 0.003, -0.002, 0.001];
        let of = |ms: f64, noise: f64| {
            let by = |ms: f64| (part(noise * noise - 5.0 / ms), 1.0 / ms);
            let (short, long) = (by(ms), by(2.0 * ms));
            let weight = 0.875 / ms;
            RestartRatio {
                by_length: ByLength::of((&short.0, short.1), (&long.0, long.1), weight),
                slice_ms: ms,
                weight,
                ..part(noise - 5.0 * weight)
            }
        };
        let short = noise.map(|noise| of(50.0, noise));
        let long = noise.map(|noise| RestartRatio { by_length: None, ..of(400.0, noise) });
        let counted = |long: &[RestartRatio]| -> Vec<RestartRatio> {
            let all = long_enough(&[&short[..], long].concat()).unwrap();
            all.into_iter().flatten().collect()
        };
        let found = judged(&counted(&long));
        assert_eq!(found.blocks, 6);
        assert!(found.low.unwrap() < 0.988 && found.high.unwrap() > 1.001, "{found:?}");
        let Some(Warning::SlicesTooShort { measured, endless }) = found.disagreement() else {
            panic!("{found:?}")
        };
        assert!((measured - 0.9891).abs() < 1e-3 && (endless - 1.0).abs() < 1e-3);
        // As long as there are too few, the short ones count with what they lose.
        let few = judged(&counted(&long[..5]));
        assert!(few.blocks == 11 && few.low.unwrap() < 0.96 && few.high.unwrap() > 1.0, "{few:?}");
        // A tenth of that is no reason to doubt it.
        let little: Vec<RestartRatio> = counted(&long)
            .iter()
            .map(|it| {
                let endless = it.endless.map(|ends| ends.map(|end| 0.1 * end));
                RestartRatio { endless, ..*it }
            })
            .collect();
        assert!(judged(&little).disagreement().is_none());
    }

    #[test]
    fn slices_become_as_long_as_their_disagreement_takes() {
        let times = |apart: f64, most: f64| longer_slices(50.0, apart.exp(), 1.0, 50.0 * most);
        for (apart, most, expected) in [
            (0.005, 16.0, Some(2.0)),
            (-0.009, 16.0, Some(4.0)),
            (0.15, 100.0, Some(64.0)),
            (0.15, 12.0, Some(8.0)),
            (0.15, 1.9, None),
        ] {
            let found = times(apart, most).map(|ms| (ms / 50.0).round());
            assert_eq!(found, expected, "{apart} {most}");
        }
    }

    #[test]
    fn restarts_of_one_length_get_the_mean_correction() {
        let noise = [0.01, -0.02, 0.0, 0.015, -0.01, 0.005];
        let both = restarts(noise.map(|noise| (0.22 + noise, 0.08 - noise)));
        let mixed: Vec<RestartRatio> = both.iter().copied().chain([part(0.15); 4]).collect();
        let (_, endless) = disagreement(&mixed).unwrap().unwrap();
        assert_eq!(endless.len(), 10);
        assert!((endless[9].mean_log - (0.15 - 0.75 * 0.28)).abs() < 1e-12, "{endless:?}");
        assert!(disagreement(&mixed[1..]).unwrap().is_none(), "five restarts are too few");
    }
}
