//! The order in which a trial visits its phases.

use std::ops::Range;

use workload::{Phase, Rng};

/// The places of these phases in the order in which a trial visits them. Neighbors that may come in
/// any order come in a random one, so that what changes with time doesn't look like a property of a
/// point.
pub fn order(phases: &[Phase], within: Range<usize>, seed: u64) -> Vec<usize> {
    let free = |place: &usize| phases[*place].step().is_some_and(|step| step.any_order);
    let mut order: Vec<usize> = within.collect();
    let mut random = Rng::new(seed);
    for run in order.chunk_by_mut(|one, next| free(one) && free(next)) {
        random.shuffle(run);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Dialect;

    #[test]
    fn only_points_change_places() {
        let plan = plan::SelectPlan { clients: (1..=8).collect(), ..plan::SelectPlan::default() };
        let phases = workload::select::benchmark(&plan, Dialect::postgres(16)).unwrap().phases;
        let first = order(&phases, 0..phases.len(), 1);
        assert_eq!(first[..4], [0, 1, 2, 3], "load, index, settle, warm-up");
        assert_ne!(first, (0..phases.len()).collect::<Vec<_>>());
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..phases.len()));
        assert_eq!(order(&phases, 0..phases.len(), 1), first);
        assert_ne!(order(&phases, 0..phases.len(), 2), first);
        assert_eq!(order(&phases, 1..3, 9), [1, 2]);
    }
}
