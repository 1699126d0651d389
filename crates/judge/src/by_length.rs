//! Do slices of two lengths agree, and what would endless ones say?

use crate::over_restarts::{estimate, mean_log};
use crate::slices::{ByLength, RestartRatio};
use crate::{CONFIDENCE, ENOUGH_BLOCKS, JudgeError, Margin, Warning, mean};

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
    let corrections: Vec<f64> = both.iter().map(|(by, _)| by.endless).collect();
    let usual = mean(&corrections).unwrap_or_default();
    let endless = |restart: &RestartRatio| {
        let endless = restart.plus(restart.by_length.map_or(usual, |by| by.endless));
        RestartRatio { variance: 0.0, ..endless }
    };
    let endless = restarts.iter().map(endless).collect();
    Ok(Some((Warning::LengthsDisagree { short, long }, endless)))
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
            ByLength::of((&part(-0.1), 0.02), (&part(long.0), long.1), all).unwrap().endless
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
