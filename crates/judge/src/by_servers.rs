//! Does the ratio depend on how many servers share the machine?

use crate::by_length::SLICE_TOLERANCE;
use crate::over_restarts::{beyond_chance, estimate};
use crate::slices::RestartRatio;
use crate::{CONFIDENCE, JudgeError, Margin, Warning};

/// Fewest restarts on either side: two of the same would disagree in 11% of simulated experiments.
const LEAST: usize = 3;

/// Restarts with more servers, and those with the fewest.
pub(crate) type Groups = [Vec<RestartRatio>; 2];

/// If the restarts with the fewest servers certainly (95%) have another ratio than the others, by
/// more than [`SLICE_TOLERANCE`]: a warning, the others, and those restarts. If fewer than three
/// have the fewest, those with the next number belong to them. `None` also with fewer than three
/// others.
///
/// In a run of many variants, those that are decided drop out. The slices of the others then follow
/// each other more closely, and the caches of the CPU have fewer servers to hold.
///
/// # Errors
/// Never with at least one restart; see [`crate::compare_slices`].
pub(crate) fn crowding(restarts: &[RestartRatio]) -> Result<Option<(Warning, Groups)>, JudgeError> {
    let mut counts: Vec<usize> = restarts.iter().map(|restart| restart.servers).collect();
    counts.sort_unstable();
    // As many servers as it takes for enough restarts.
    let fewest = counts.get(LEAST - 1).copied().unwrap_or_default();
    let (few, many): (Vec<RestartRatio>, Vec<RestartRatio>) =
        restarts.iter().partition(|restart| restart.servers <= fewest);
    if few.len() < LEAST || many.len() < LEAST {
        return Ok(None);
    }
    let known = |restarts: &[RestartRatio]| estimate(restarts, Margin::default(), CONFIDENCE);
    let (alone, crowded) = (known(&few)?, known(&many)?);
    let errors = [&alone, &crowded].map(|one| (one.error_log.unwrap_or_default(), one.freedom));
    let difference = (alone.mean_log - crowded.mean_log).abs();
    let warning = Warning::ServersDisagree {
        servers: fewest,
        fewest: alone.mean_log.exp(),
        more: crowded.mean_log.exp(),
    };
    let disagree = difference > SLICE_TOLERANCE && beyond_chance(difference, errors, CONFIDENCE);
    Ok(disagree.then_some((warning, [many, few])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, Verdict, compare_frozen};

    const NOISE: [f64; 12] =
        [0.01, -0.02, 0.0, 0.015, -0.01, 0.005, -0.008, 0.012, -0.006, 0.004, -0.01, 0.008];

    /// Restarts with these numbers of servers and log ratios, which scatter by about 1%.
    fn restarts(groups: &[(usize, f64, usize)]) -> Vec<RestartRatio> {
        let one = |(servers, log, count): &(usize, f64, usize)| {
            let of = |own: &f64| RestartRatio {
                servers: *servers,
                ..RestartRatio::even(log + own, 1e-6, 20)
            };
            NOISE.iter().take(*count).map(of).collect::<Vec<_>>()
        };
        groups.iter().flat_map(one).collect()
    }

    fn judged(restarts: &[RestartRatio]) -> Comparison {
        compare_frozen(restarts, Margin::default(), CONFIDENCE).unwrap()
    }

    /// As PostgreSQL 13.23 over 15.19: 0.994 beside ten or three others, 0.944 alone.
    #[test]
    fn a_ratio_that_moves_when_others_leave_has_no_verdict() {
        let found = judged(&restarts(&[(12, -0.006, 7), (5, -0.006, 5), (2, -0.058, 12)]));
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert!(found.low.unwrap() < 0.94 && found.high.unwrap() > 0.99, "{found:?}");
        let [Warning::ServersDisagree { servers: 2, fewest, more }] = found.warnings[..] else {
            panic!("{found:?}")
        };
        assert!(fewest < 0.95 && more > 0.99, "{found:?}");
    }

    #[test]
    fn a_verdict_that_both_share_stands() {
        let found = judged(&restarts(&[(12, -0.08, 12), (2, -0.12, 12)]));
        assert_eq!((found.verdict, found.warnings.len()), (Verdict::Regression, 1));
        assert!(found.low.unwrap() < 0.89 && found.high.unwrap() > 0.92, "{found:?}");
    }

    #[test]
    fn the_fewest_are_at_least_three() {
        let found = judged(&restarts(&[(12, 0.0, 12), (5, -0.06, 12), (2, -0.06, 2)]));
        let [Warning::ServersDisagree { servers: 5, .. }] = found.warnings[..] else {
            panic!("{found:?}")
        };
    }

    #[test]
    fn what_agrees_or_is_not_known_moves_nothing() {
        let groups = [
            // Alike; certain but small; two others that are far off; all with as many servers.
            vec![(12, -0.05, 12), (2, -0.05, 12)],
            vec![(12, -0.05, 12), (2, -0.0495, 12)],
            vec![(12, -0.05, 2), (2, -0.2, 12)],
            vec![(3, -0.05, 12), (3, -0.12, 12)],
        ];
        for groups in groups {
            assert_eq!(crowding(&restarts(&groups)), Ok(None), "{groups:?}");
        }
        assert_eq!(crowding(&[]), Ok(None));
    }
}
