//! Several looks at a growing experiment, without raising the rate of false alarms.

use crate::{CONFIDENCE, Comparison, ENOUGH_BLOCKS, Verdict};

/// The planned looks of an adaptive experiment, and how the error rate of 5% is split over them.
///
/// It is split evenly: with n looks every interval has a confidence of `1 - 5%/n`. By Bonferroni's
/// inequality, the intervals of all looks then hold together with 95%, regardless of the look at
/// which an experiment stops, why it stops, and the number of blocks.
///
/// The boundaries of group-sequential designs (Pocock, *Biometrika* 64, 1977; O'Brien and Fleming,
/// *Biometrics* 35, 1979; the spending functions of Lan and DeMets, *Biometrika* 70, 1983) make use
/// of the fact that neighboring looks share most of their blocks. They are derived for many
/// observations, and have to be calibrated for t intervals of six. Pocock's boundaries then save
/// about a tenth of the blocks. O'Brien and Fleming's leave next to nothing for the first look,
/// where most adaptive runs should stop (the figures are in VALIDATION.md). That gain isn't worth
/// an error rate that holds only for normal noise and planned numbers of blocks.
///
/// An experiment with a budget does not know beforehand how many blocks it will have. It looks when
/// shares of its time are used ([`Looks::within`]). The first looks get little of the error: a
/// large difference passes them anyway, and the last look keeps half of it for the small ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Looks {
    /// Numbers of blocks, rising, each with its part of the error rate.
    planned: Vec<(u32, f64)>,
}

/// Shares of a budget after which a look is taken, each with its part of the error rate: together
/// 5%.
const SHARES: [(f64, f64); 5] =
    [(0.15, 0.0025), (0.3, 0.005), (0.5, 0.0075), (0.75, 0.01), (1.0, 0.025)];

/// No look is taken after fewer blocks of an experiment with a budget: two blocks have one degree
/// of freedom, and such an interval is useless.
const FEWEST_BLOCKS: usize = 3;

impl Looks {
    /// Looks after these numbers of blocks, in any order. Without any, there is one look at the
    /// end.
    pub fn new(planned: &[u32]) -> Self {
        let mut planned = planned.to_vec();
        planned.sort_unstable();
        planned.dedup();
        let error = (1.0 - CONFIDENCE) / planned.len().max(1) as f64;
        Self { planned: planned.into_iter().map(|blocks| (blocks, error)).collect() }
    }

    /// The looks of an experiment with this budget in seconds. `used` is the time used at the end
    /// of each block so far.
    ///
    /// A look is due after the first block that ends beyond its share of the budget. Looks that
    /// fall on the same block are one, with the error of all. The last look comes after a block
    /// that leaves no time for another one like it. If fewer than six blocks had run by then and
    /// another one, with shorter steps, followed, it was not the last look: so few blocks decide
    /// nothing, so its part of the error can be used again. All of this depends on times, never
    /// on results, so each look has its part of the error, regardless of what it finds.
    pub fn within(budget: f64, used: &[f64]) -> Self {
        let mut planned = Vec::new();
        let mut shares = SHARES.into_iter().peekable();
        let mut before = 0.0;
        for (place, end) in used.iter().enumerate() {
            let followed = place + 1 < ENOUGH_BLOCKS && place + 1 < used.len();
            let last = end + (end - before) > budget && !followed;
            before = *end;
            if place + 1 < FEWEST_BLOCKS && !last {
                continue;
            }
            let mut error = 0.0;
            while let Some((_, own)) = shares.next_if(|(share, _)| last || *end >= share * budget) {
                error += own;
            }
            if error > 0.0 {
                planned.push((place as u32 + 1, error));
            }
        }
        // A comparison with more blocks is on its way to the next look.
        planned.extend(shares.next().map(|(_, error)| (u32::MAX, error)));
        Self { planned }
    }

    /// True if a look is due after this number of blocks.
    pub fn is_due(&self, blocks: u32) -> bool {
        self.planned.iter().any(|(planned, _)| *planned == blocks)
    }

    /// True if no look comes after this number of blocks: all of the error is used, and the
    /// experiment has to end.
    pub fn is_over(&self, blocks: u32) -> bool {
        self.planned.last().is_some_and(|(last, _)| *last <= blocks)
    }

    /// Confidence, as a fraction, of the interval of a comparison that has `blocks` blocks.
    ///
    /// It is that of the first look at this many blocks or more. If a trial failed or the budget
    /// ended a run between two looks, the comparison takes the place of the later one; beyond the
    /// last look, it takes the place of the last. Each planned look must be used at most once.
    pub fn confidence_at(&self, blocks: u32) -> f64 {
        let next = self.planned.iter().find(|(planned, _)| *planned >= blocks);
        next.or(self.planned.last()).map_or(CONFIDENCE, |(_, error)| 1.0 - error)
    }

    /// The confidence of the last look of an experiment with a budget.
    pub fn last_confidence() -> f64 {
        1.0 - SHARES[SHARES.len() - 1].1
    }
}

/// True if a comparison needs no further blocks: it has a verdict, or its interval is at most
/// `precision` to either side (a fraction of the base's throughput: 0.02 is ±2%, see
/// [`Comparison::half_width`]). With fewer than [`ENOUGH_BLOCKS`], it is never decided.
pub fn decided(comparison: &Comparison, precision: Option<f64>) -> bool {
    let exact = |wanted: f64| comparison.half_width().is_some_and(|half| half <= wanted);
    comparison.blocks >= ENOUGH_BLOCKS
        && (comparison.verdict != Verdict::Inconclusive || precision.is_some_and(exact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Margin, adjusted_p_values, compare_at, control_false_discoveries};

    #[test]
    fn the_error_is_split_over_the_looks() {
        for planned in [&[][..], &[8], &[8, 8]] {
            assert!((Looks::new(planned).confidence_at(8) - 0.95).abs() < 1e-12);
        }
        let looks = Looks::new(&[24, 6, 8, 11, 15, 20]);
        let blocks: Vec<u32> = looks.planned.iter().map(|(blocks, _)| *blocks).collect();
        assert_eq!(blocks, [6, 8, 11, 15, 20, 24]);
        let spent: f64 = blocks.iter().map(|k| 1.0 - looks.confidence_at(*k)).sum();
        assert!((spent - 0.05).abs() < 1e-12);
        assert!((looks.confidence_at(7) - looks.confidence_at(30)).abs() < 1e-12);
    }

    #[test]
    fn a_budget_is_looked_at_by_its_time() {
        let errors = |looks: &Looks| looks.planned.iter().map(|(_, error)| error).sum::<f64>();
        // Blocks of a twentieth of the budget.
        let even: Vec<f64> = (1..=20).map(|block| 5.0 * f64::from(block)).collect();
        let looks = Looks::within(100.0, &even);
        let due: Vec<u32> = (1..=20).filter(|block| looks.is_due(*block)).collect();
        assert_eq!(due, [3, 6, 10, 15, 20]);
        assert!(looks.is_over(20) && !looks.is_over(19));
        assert!((errors(&looks) - 0.05).abs() < 1e-12);
        assert!((looks.confidence_at(20) - Looks::last_confidence()).abs() < 1e-12);
        // Under way: the next look is not known, but its part of the error is.
        let under_way = Looks::within(100.0, &even[..7]);
        assert!((under_way.confidence_at(7) - 0.9925).abs() < 1e-12);
        assert!(!under_way.is_due(7) && under_way.is_due(6) && !under_way.is_over(7));
        // Long blocks: looks fall together, and the last one that fits has what is left.
        let long = Looks::within(100.0, &[35.0, 70.0]);
        assert!(!long.is_due(1) && long.is_due(2) && (errors(&long) - 0.05).abs() < 1e-12);
        assert!((long.confidence_at(2) - 0.95).abs() < 1e-12);
        // A shorter block may follow before there are six; then that one was not the last.
        let five = [16.0, 32.0, 48.0, 64.0, 83.0];
        let six = [&five[..], &[95.0]].concat();
        let (five, six) = (Looks::within(100.0, &five), Looks::within(100.0, &six));
        assert!(five.is_over(5) && six.is_over(6) && (errors(&six) - 0.05).abs() < 1e-12);
        assert!((six.confidence_at(6) - Looks::last_confidence()).abs() < 1e-12);
        assert!((Looks::within(100.0, &[]).confidence_at(1) - 0.9975).abs() < 1e-12);
    }

    #[test]
    fn a_verdict_or_a_narrow_interval_decides() {
        let base = [100.0; 6];
        let of = |variant: [f64; 6]| {
            compare_at(&base, &variant, Margin::default(), Looks::new(&[6, 8]).confidence_at(6))
                .unwrap()
        };
        let regression = of([90.0, 90.2, 89.9, 90.1, 90.0, 89.8]);
        assert!(decided(&regression, None));
        let edge = of([97.9, 98.1, 98.0, 98.2, 97.8, 98.0]);
        assert_eq!(edge.verdict, Verdict::Inconclusive);
        assert!(!decided(&edge, None) && decided(&edge, Some(0.01)));
        assert!(!decided(&edge, Some(0.0001)));
        let single = compare_at(&[1.0], &[1.0], Margin::default(), 0.95).unwrap();
        assert!(!decided(&single, Some(0.5)));
        let few = compare_at(&[1.0; 5], &[1.0; 5], Margin::default(), 0.95).unwrap();
        assert!(few.half_width() == Some(0.0) && !decided(&few, Some(0.5)));
    }

    /// The correction for many comparisons must not overturn a verdict that the interval of its
    /// look supports alone.
    #[test]
    fn a_look_has_its_own_level() {
        let looks = Looks::new(&[6, 8, 11]);
        let variant = [93.0, 97.0, 94.5, 98.0, 93.0, 94.0];
        for confidence in [0.95, looks.confidence_at(6)] {
            let found = compare_at(&[100.0; 6], &variant, Margin::default(), confidence).unwrap();
            let mut alone = [found.clone()];
            control_false_discoveries(&mut alone);
            assert_eq!(alone[0].verdict, found.verdict);
            assert_eq!(alone[0].confirmed(), found.excludes_one());
            let scaled = found.difference_p.unwrap() * 0.05 / (1.0 - confidence);
            let adjusted = adjusted_p_values(&[scaled])[0];
            assert!((alone[0].adjusted_p.unwrap() - adjusted).abs() < 1e-15);
        }
    }
}
