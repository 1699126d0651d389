//! The divergence of a segment's best cut if the order of its values means nothing.

use crate::random::Random;

use super::cuts::MIN_SEGMENT;
use super::energy::Energy;

/// With up to this many values, all orders are tried: 8! = 40,320.
const EXACT_UNITS: usize = 8;

/// The divergences of the best cuts over the orders of a segment's values, tried as needed.
pub(super) struct Null {
    energy: Energy,
    cuts: Vec<usize>,
    order: Vec<usize>,
    /// `None` if all orders are tried.
    random: Option<Random>,
    orders: usize,
    tried: Vec<f64>,
}

impl Null {
    /// All orders of at most [`EXACT_UNITS`] values, `permutations` random ones of more.
    pub(super) fn new(
        energy: Energy,
        cuts: Vec<usize>,
        count: usize,
        (permutations, seed): (u32, u64),
    ) -> Self {
        let exact = count <= EXACT_UNITS;
        let random = (!exact).then(|| Random::new(seed));
        let orders = if exact { (1..=count).product() } else { permutations as usize };
        Self { energy, cuts, order: (0..count).collect(), random, orders, tried: Vec::new() }
    }

    /// Share of the orders whose best cut reaches `divergence`. If that is over `limit`, the result
    /// may be smaller, but is over `limit` too: no order is tried once that is sure. With random
    /// orders, the observed one counts as one more; without it, the test would not keep its level
    /// (Phipson and Smyth, *Statistical Applications in Genetics and Molecular Biology* 9, 2010).
    pub(super) fn p(&mut self, divergence: f64, limit: f64) -> f64 {
        // Equal sums must count as equal although they were added in another order.
        let reached = divergence - 1e-9 * divergence.abs();
        let observed = usize::from(self.random.is_some());
        let share = |at_least| (at_least + observed) as f64 / (self.orders + observed) as f64;
        let mut at_least = self.tried.iter().filter(|other| **other >= reached).count();
        while share(at_least) <= limit && self.tried.len() < self.orders {
            match &mut self.random {
                Some(random) => random.shuffle(&mut self.order),
                None => next_order(&mut self.order),
            }
            let best = self.energy.best_cut(&self.order, &self.cuts, MIN_SEGMENT);
            self.tried.push(best.map_or(0.0, |cut| cut.divergence));
            at_least += usize::from(self.tried.last().is_some_and(|other| *other >= reached));
        }
        share(at_least)
    }
}

/// The next order as in a dictionary; after the last comes the first.
fn next_order(order: &mut [usize]) {
    let from = order.windows(2).rposition(|pair| pair[0] < pair[1]);
    if let Some(place) = from {
        let larger = order.iter().rposition(|other| *other > order[place]);
        order.swap(place, larger.unwrap_or(place));
    }
    order[from.map_or(0, |place| place + 1)..].reverse();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_once() {
        let mut order = [0, 1, 2, 3, 4];
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..120 {
            next_order(&mut order);
            seen.insert(order);
        }
        assert_eq!((seen.len(), order), (120, [0, 1, 2, 3, 4]));
    }

    /// A perfect step of 4 and 4 is reached by 4!·4! orders upwards and as many downwards: 2/70.
    #[test]
    fn the_smallest_p_of_eight_values() {
        let values = [1.0, 1.01, 0.99, 1.02, 2.0, 2.01, 1.99, 2.02];
        let cuts = [2, 3, 4, 5, 6];
        let mut energy = Energy::new(&values);
        let order: Vec<usize> = (0..8).collect();
        let best = energy.best_cut(&order, &cuts, 2).unwrap();
        let p = Null::new(energy, cuts.to_vec(), 8, (0, 0)).p(best.divergence, 0.05);
        assert!((p - 2.0 / 70.0).abs() < 1e-12, "{p}");
    }
}
