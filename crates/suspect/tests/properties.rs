//! Properties that hold for any looks.

use proptest::prelude::*;
use suspect::{Candidate, Effort, Look, Posterior};

use crate::{changed, look, range};

const LAST: usize = 12;

fn looks() -> impl Strategy<Value = Vec<Look>> {
    let one = (1..=LAST, -0.05..0.05_f64, 0.0..0.02_f64, 1.0..40.0_f64);
    let one = one.prop_map(|(candidate, log_ratio, error, freedom)| Look {
        candidate,
        log_ratio,
        error,
        freedom,
    });
    prop::collection::vec(one, 0..20)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

proptest! {
    #[test]
    fn probabilities_sum_to_one(looks in looks()) {
        let range = range(LAST);
        let posterior = Posterior::new(&range, &looks).unwrap();
        let all = posterior.probabilities();
        prop_assert_eq!(all.len(), LAST + 1);
        prop_assert!(all.iter().all(|one| (0.0..=1.0).contains(one)), "{:?}", all);
        prop_assert!(near(all.iter().sum(), 1.0), "{:?}", all);
        for stretch in posterior.stretches() {
            prop_assert!((0.0..=1.0).contains(&stretch.moved));
            prop_assert!(stretch.first <= stretch.moved + 1e-9, "{:?}", stretch);
        }
    }

    #[test]
    fn the_order_of_looks_changes_nothing(
        (looks, shuffled) in looks().prop_flat_map(|l| (Just(l.clone()), Just(l).prop_shuffle()))
    ) {
        let range = range(LAST);
        let [one, other] = [looks, shuffled].map(|looks| Posterior::new(&range, &looks).unwrap());
        prop_assert_eq!(one.probabilities(), other.probabilities());
        prop_assert_eq!(one.verdict(), other.verdict());
    }

    /// Each look at the end that shows a larger change is more evidence for one.
    #[test]
    fn evidence_is_monotone(size in 0.012..0.1_f64, count in 1..6_usize) {
        let range = range(LAST);
        let nothing = |count, size| {
            Posterior::new(&range, &vec![look(LAST, size); count]).unwrap().nothing()
        };
        prop_assert!(nothing(count + 1, size) <= nothing(count, size) + 1e-9);
        prop_assert!(nothing(count, size * 1.1) <= nothing(count, size) + 1e-9);
    }

    #[test]
    fn what_fails_or_cannot_have_changed_is_left_out(
        looks in looks(), failing in prop::collection::vec(1..LAST, 0..6), same in 1..LAST
    ) {
        let range = changed(LAST, |number, candidate: &mut Candidate| {
            candidate.fails = failing.contains(&number);
            candidate.weight = if number == same { 0.0 } else { 1.0 };
        });
        let looks: Vec<Look> =
            looks.into_iter().filter(|look| !failing.contains(&look.candidate)).collect();
        let posterior = Posterior::new(&range, &looks).unwrap();
        let effort = Effort { error: 0.01, most: 8 };
        let many = posterior.next_many(effort, 4);
        prop_assert!(many.iter().all(|next| !failing.contains(&next.candidate)), "{:?}", many);
        prop_assert!(many.iter().all(|next| next.units <= 8 && next.bits >= 0.0));
        prop_assert!(near(posterior.probabilities()[same], 0.0));
        let verdict = posterior.verdict();
        prop_assert!(verdict.culprits.iter().all(|culprit| !culprit.suspects.contains(&same)));
        for culprit in &verdict.culprits {
            prop_assert!(culprit.low <= culprit.ratio && culprit.ratio <= culprit.high);
            let between = culprit.suspects[0]..*culprit.suspects.last().unwrap();
            prop_assert!(between.clone().all(|number| failing.contains(&number)), "{:?}", culprit);
        }
    }
}
