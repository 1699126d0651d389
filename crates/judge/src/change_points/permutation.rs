//! The divergence of a segment's best cut if the order of its values means nothing.

use crate::random::Random;

use super::cuts::MIN_SEGMENT;
use super::energy::Energy;

/// With up to this many values, all orders are tried: 8! = 40,320.
const EXACT_UNITS: usize = 8;

/// The divergences of the best cuts over the orders of a segment's values.
pub(super) struct Null {
    sorted: Vec<f64>,
    exact: bool,
}

impl Null {
    /// All orders of at most [`EXACT_UNITS`] values, `permutations` random ones of more.
    pub(super) fn new(
        energy: &mut Energy,
        cuts: &[usize],
        count: usize,
        search: (u32, u64),
    ) -> Self {
        let mut order: Vec<usize> = (0..count).collect();
        let mut sorted = Vec::new();
        let exact = count <= EXACT_UNITS;
        let mut try_order = |order: &[usize]| {
            sorted
                .push(energy.best_cut(order, cuts, MIN_SEGMENT).map_or(0.0, |cut| cut.divergence));
        };
        if exact {
            every_order(&mut order, count, &mut try_order);
        } else {
            let (permutations, seed) = search;
            let mut random = Random::new(seed);
            for _ in 0..permutations {
                random.shuffle(&mut order);
                try_order(&order);
            }
        }
        sorted.sort_by(f64::total_cmp);
        Self { sorted, exact }
    }

    /// Share of the orders whose best cut reaches `divergence`. With random orders, the observed
    /// order counts as one more; without it, the test would not keep its level (Phipson and Smyth,
    /// *Statistical Applications in Genetics and Molecular Biology* 9, 2010).
    pub(super) fn p(&self, divergence: f64) -> f64 {
        // Equal sums must count as equal although they were added in another order.
        let reached = divergence - 1e-9 * divergence.abs();
        let at_least = self.sorted.len() - self.sorted.partition_point(|other| *other < reached);
        if self.exact {
            at_least as f64 / self.sorted.len() as f64
        } else {
            (at_least + 1) as f64 / (self.sorted.len() + 1) as f64
        }
    }
}

/// Heap's algorithm (*The Computer Journal* 6, 1963): every order of the first `count` places, each
/// once.
fn every_order(order: &mut [usize], count: usize, visit: &mut impl FnMut(&[usize])) {
    if count <= 1 {
        visit(order);
        return;
    }
    for place in 0..count {
        every_order(order, count - 1, visit);
        if place + 1 < count {
            order.swap(if count.is_multiple_of(2) { place } else { 0 }, count - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_once() {
        let mut seen = std::collections::BTreeSet::new();
        let mut count = 0;
        every_order(&mut [0, 1, 2, 3, 4], 5, &mut |order| {
            seen.insert(order.to_vec());
            count += 1;
        });
        assert_eq!((seen.len(), count), (120, 120));
    }

    /// A perfect step of 4 and 4 is reached by 4!·4! orders upwards and as many downwards: 2/70.
    #[test]
    fn the_smallest_p_of_eight_values() {
        let values = [1.0, 1.01, 0.99, 1.02, 2.0, 2.01, 1.99, 2.02];
        let cuts = [2, 3, 4, 5, 6];
        let mut energy = Energy::new(&values);
        let order: Vec<usize> = (0..8).collect();
        let best = energy.best_cut(&order, &cuts, 2).unwrap();
        let p = Null::new(&mut energy, &cuts, 8, (0, 0)).p(best.divergence);
        assert!((p - 2.0 / 70.0).abs() < 1e-12, "{p}");
    }
}
