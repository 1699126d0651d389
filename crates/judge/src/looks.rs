//! Looking several times at an experiment that grows, without raising false alarms by it.

use crate::{CONFIDENCE, Comparison, Verdict};

/// The planned looks of an adaptive experiment, and how the error rate of 5% is split over them.
///
/// It is split evenly: with n looks every interval has a confidence of `1 - 5%/n`. By Bonferroni's
/// inequality the intervals of all looks then hold together with 95%, whichever look an experiment
/// stops at, for whatever reason it stops, and however few blocks there are.
///
/// The boundaries of group-sequential designs (Pocock, *Biometrika* 64, 1977; O'Brien and Fleming,
/// *Biometrics* 35, 1979; the spending functions of Lan and DeMets, *Biometrika* 70, 1983) use that
/// neighbouring looks share most of their blocks. They are derived for many observations, and have
/// to be calibrated for t intervals of six. Pocock's then save about a tenth of the blocks, O'Brien
/// and Fleming's leave next to nothing for the first look, which is where an adaptive run wants to
/// stop (the figures stand in VALIDATION.md). That is not worth an error rate that holds for normal
/// noise and planned numbers of blocks only. An even split also gives p values for all looks
/// together, see [`crate::control_false_discoveries`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looks {
    /// Numbers of blocks, rising.
    planned: Vec<u32>,
}

impl Looks {
    /// Looks after these numbers of blocks, in any order. None at all is one look at the end.
    pub fn new(planned: &[u32]) -> Self {
        let mut planned = planned.to_vec();
        planned.sort_unstable();
        planned.dedup();
        Self { planned }
    }

    /// Confidence, as a fraction, of the interval of a comparison that has `blocks` blocks at the
    /// look that is reached.
    ///
    /// The same at every look, and for numbers of blocks that were not planned: when a trial failed
    /// or the budget ended a run between two looks, the comparison takes the place of the later
    /// one, and beyond the last look that of the last. Each planned look must be used once at most.
    pub fn confidence_at(&self, _blocks: u32) -> f64 {
        1.0 - (1.0 - CONFIDENCE) / self.planned.len().max(1) as f64
    }
}

/// Whether a comparison needs no further blocks: it has a verdict, or its interval is at most
/// `precision` to either side (a fraction of the base's throughput: 0.02 is ±2%, see
/// [`Comparison::half_width`]).
pub fn decided(comparison: &Comparison, precision: Option<f64>) -> bool {
    let exact = |wanted: f64| comparison.half_width().is_some_and(|half| half <= wanted);
    comparison.verdict != Verdict::Inconclusive || precision.is_some_and(exact)
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
        assert_eq!(looks.planned, [6, 8, 11, 15, 20, 24]);
        let spent: f64 = looks.planned.iter().map(|k| 1.0 - looks.confidence_at(*k)).sum();
        assert!((spent - 0.05).abs() < 1e-12);
        assert!((looks.confidence_at(7) - looks.confidence_at(30)).abs() < 1e-12);
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
    }

    /// What the interval of its look decides alone, the correction for many comparisons must not
    /// take back.
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
