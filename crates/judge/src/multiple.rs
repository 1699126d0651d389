//! Many comparisons at once: the more steps are looked at, the more of them differ by chance.

use crate::{Comparison, FALSE_DISCOVERY_RATE, Verdict, Warning};

/// p values adjusted after Benjamini and Hochberg (*J. R. Statist. Soc.* B 57, 1995), in the order
/// given: rejecting those at most q keeps the expected share of false rejections at most q. NaN
/// stay NaN and are not counted.
pub fn adjusted_p_values(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|i| !p_values[*i].is_nan()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let tests = order.len() as f64;
    let mut adjusted = p_values.to_vec();
    let mut smallest = 1.0_f64;
    for (rank, index) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values[*index] * tests / (rank + 1) as f64);
        adjusted[*index] = smallest;
    }
    adjusted
}

/// Withdraws the regressions and improvements that exceed [`FALSE_DISCOVERY_RATE`]: they become
/// inconclusive and say why. Pass all comparisons of one experiment at once; a single one stays as
/// it is. Also fills in [`Comparison::adjusted_p`], which [`Comparison::confirmed`] uses, and
/// [`Comparison::detectable`] for this number of comparisons.
///
/// A comparison counts through its [`Comparison::margin_p`] and [`Comparison::difference_p`]; those
/// without an interval make no claim and are left out. If several looks share the error, the p
/// value at the look reached is multiplied by `5% / (1 - confidence of that look)`. The product is
/// a p value for all looks together: with looks at levels α₁ + … + αₙ = 5%, the chance that any
/// look j has `p ≤ u·αⱼ/5%` is at most `u`.
pub fn control_false_discoveries<'a>(comparisons: impl IntoIterator<Item = &'a mut Comparison>) {
    let mut tested: Vec<&mut Comparison> =
        comparisons.into_iter().filter(|comparison| comparison.margin_p.is_some()).collect();
    let adjusted = |p_of: fn(&Comparison) -> Option<f64>| {
        let p_values: Vec<f64> = tested
            .iter()
            .map(|one| {
                let looks = FALSE_DISCOVERY_RATE / (1.0 - one.confidence);
                p_of(one).map_or(f64::NAN, |p| (p * looks).min(1.0))
            })
            .collect();
        adjusted_p_values(&p_values)
    };
    let of_margin = adjusted(|one| one.margin_p);
    let of_difference = adjusted(|one| one.difference_p);
    let count = tested.len();
    for (place, comparison) in tested.iter_mut().enumerate() {
        comparison.adjusted_p = Some(of_difference[place]).filter(|p| !p.is_nan());
        comparison.detect_among(count);
        let adjusted_p = of_margin[place];
        let claims = matches!(comparison.verdict, Verdict::Regression | Verdict::Improvement);
        // A hair of tolerance: a p of exactly 5% alone was already decided by its interval.
        if claims && adjusted_p > FALSE_DISCOVERY_RATE * (1.0 + 1e-9) {
            comparison.verdict = Verdict::Inconclusive;
            comparison.further_blocks = None;
            comparison.warnings.push(Warning::NotAmongMany { comparisons: count, adjusted_p });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Margin, compare};

    /// The example of the paper (section 4.1, heart attacks): of 15 p values the procedure at 5%
    /// rejects the first four.
    #[test]
    fn the_papers_example() {
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let adjusted = adjusted_p_values(&p);
        let rejected = adjusted.iter().filter(|p| **p <= 0.05).count();
        assert_eq!(rejected, 4);
        assert!((adjusted[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-12);
        assert!(adjusted.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn order_does_not_matter_and_nan_stays() {
        let adjusted = adjusted_p_values(&[0.04, f64::NAN, 0.01]);
        assert!((adjusted[0] - 0.04).abs() < 1e-15);
        assert!(adjusted[1].is_nan());
        assert!((adjusted[2] - 0.02).abs() < 1e-15);
        assert_eq!(adjusted_p_values(&[]), Vec::<f64>::new());
    }

    #[test]
    fn a_weak_claim_falls_among_many_and_a_strong_one_stays() {
        let base = [100.0; 6];
        let weak =
            compare(&base, &[93.0, 97.0, 94.5, 98.0, 95.0, 95.5], Margin::default()).unwrap();
        let strong =
            compare(&base, &[90.0, 90.1, 89.9, 90.05, 90.0, 89.95], Margin::default()).unwrap();
        let nothing =
            compare(&base, &[100.1, 99.9, 100.2, 99.8, 100.0, 100.1], Margin::default()).unwrap();
        assert_eq!(weak.verdict, Verdict::Regression);

        let mut alone = [weak.clone()];
        control_false_discoveries(&mut alone);
        assert_eq!(alone[0].verdict, weak.verdict);
        assert!(alone[0].confirmed());

        let mut many = vec![nothing.clone(); 30];
        many.push(weak);
        many.push(strong);
        control_false_discoveries(&mut many);
        assert_eq!(many[30].verdict, Verdict::Inconclusive);
        assert!(matches!(many[30].warnings[..], [Warning::NotAmongMany { comparisons: 32, .. }]));
        assert_eq!(many[31].verdict, Verdict::Regression);
        assert_eq!(many[0].verdict, Verdict::Equivalent);
        assert!(many[31].confirmed() && !many[0].confirmed());
        assert!(many[0].detectable > nothing.detectable, "harder to confirm among many");
        assert!(
            many[30].confirmed(),
            "a difference for sure, though not for sure beyond the margin"
        );
    }
}
