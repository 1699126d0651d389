//! The divergence between the two sides of a cut, for every cut of a segment at once.

/// At most this many ends of the right side are tried, evenly spaced. The paper tries all, which
/// takes time proportional to the square of the length; a sixteenth of a segment more or less on
/// one side hardly changes a divergence.
const ENDS: usize = 16;

/// The values of one segment, prepared for finding the best cut of any order of them.
pub(super) struct Energy {
    values: Vec<f64>,
    /// Place of each value in sorted order, from 1.
    ranks: Vec<usize>,
    tree: Tree,
    /// `inside[k]`: sum of the distances of all pairs among the first k of the order at hand.
    inside: Vec<f64>,
}

/// A cut and the divergence of its two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut {
    /// Number of values before it.
    pub(super) at: usize,
    /// `Q`, in the unit of the values.
    pub(super) divergence: f64,
}

impl Energy {
    pub(super) fn new(values: &[f64]) -> Self {
        let mut places: Vec<usize> = (0..values.len()).collect();
        places.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        let mut ranks = vec![0; values.len()];
        for (rank, place) in places.iter().enumerate() {
            ranks[*place] = rank + 1;
        }
        let tree = Tree::new(values.len());
        Self { values: values.to_vec(), ranks, tree, inside: vec![0.0; values.len() + 1] }
    }

    /// Mean distance of two different values.
    pub(super) fn mean_distance(&mut self) -> f64 {
        let count = self.values.len();
        let order: Vec<usize> = (0..count).collect();
        self.sum_from_left(&order);
        2.0 * self.inside[count] / (count as f64 * (count as f64 - 1.0))
    }

    /// The cut with the largest divergence if the values are in this `order`; among equals, the
    /// first. `cuts` are the places allowed, `least` the number of values that both sides must
    /// have.
    ///
    /// `Q = mn/(m+n) · (2 E|X-Y| - E|X-X'| - E|Y-Y'|)`, expectations as means over the pairs
    /// (Matteson and James, *Journal of the American Statistical Association* 109, 2014, equations
    /// 5 to 7, with α = 1). The left side begins where the segment does; the right side begins at
    /// the cut and may end before the segment does, so a level that came back is found as well.
    /// Each side's sum of distances grows value by value, read from a tree over ranks: n log n for
    /// each end.
    pub(super) fn best_cut(
        &mut self,
        order: &[usize],
        cuts: &[usize],
        least: usize,
    ) -> Option<Cut> {
        self.sum_from_left(order);
        let mut best: Option<Cut> = None;
        for end in ends(order.len(), cuts) {
            self.tree.clear();
            let mut right = 0.0;
            let mut reached = end;
            for cut in cuts.iter().rev().filter(|cut| **cut + least <= end) {
                while reached > *cut {
                    reached -= 1;
                    right += self.take(order[reached]);
                }
                let (left, all) = (self.inside[*cut], self.inside[end]);
                let (m, n) = (*cut as f64, (end - cut) as f64);
                let divergence = 2.0 / (m + n) * (all - left - right)
                    - 2.0 * n / (m + n) * left / (m - 1.0)
                    - 2.0 * m / (m + n) * right / (n - 1.0);
                let close = 1e-12 * divergence.abs();
                if best.is_none_or(|best| {
                    divergence > best.divergence + close
                        || (divergence >= best.divergence - close && *cut < best.at)
                }) {
                    best = Some(Cut { at: *cut, divergence });
                }
            }
        }
        best
    }

    fn sum_from_left(&mut self, order: &[usize]) {
        self.tree.clear();
        for (place, unit) in order.iter().enumerate() {
            self.inside[place + 1] = self.inside[place] + self.take(*unit);
        }
    }

    /// Adds a value to the tree: the sum of its distances to those already there.
    fn take(&mut self, unit: usize) -> f64 {
        let (rank, value) = (self.ranks[unit], self.values[unit]);
        let distances = self.tree.distances(rank, value);
        self.tree.add(rank, value);
        distances
    }
}

/// Where right sides end: at the segment's end and at up to [`ENDS`] - 1 of the cuts, evenly
/// chosen.
fn ends(count: usize, cuts: &[usize]) -> impl Iterator<Item = usize> {
    let chosen = cuts.len().min(ENDS - 1);
    (1..=chosen).map(move |i| cuts[i * cuts.len() / (chosen + 1)]).chain([count])
}

/// Counts and sums over ranks (P. M. Fenwick, *Software: Practice and Experience* 24, 1994).
struct Tree {
    nodes: Vec<(f64, f64)>,
    all: (f64, f64),
}

impl Tree {
    fn new(size: usize) -> Self {
        Self { nodes: vec![(0.0, 0.0); size + 1], all: (0.0, 0.0) }
    }

    fn clear(&mut self) {
        self.nodes.fill((0.0, 0.0));
        self.all = (0.0, 0.0);
    }

    fn add(&mut self, rank: usize, value: f64) {
        let mut node = rank;
        while node < self.nodes.len() {
            self.nodes[node].0 += 1.0;
            self.nodes[node].1 += value;
            node += node & node.wrapping_neg();
        }
        self.all.0 += 1.0;
        self.all.1 += value;
    }

    /// Sum of the distances from a value to all that were added.
    fn distances(&self, rank: usize, value: f64) -> f64 {
        let (mut count, mut sum) = (0.0, 0.0);
        let mut node = rank;
        while node > 0 {
            count += self.nodes[node].0;
            sum += self.nodes[node].1;
            node &= node - 1;
        }
        (count * value - sum) + (self.all.1 - sum) - (self.all.0 - count) * value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The definition, pair by pair.
    fn by_definition(left: &[f64], right: &[f64]) -> f64 {
        let sum = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).sum()
        };
        let (m, n) = (left.len() as f64, right.len() as f64);
        let energy = 2.0 * sum(left, right) / (m * n)
            - sum(left, left) / (m * (m - 1.0))
            - sum(right, right) / (n * (n - 1.0));
        m * n / (m + n) * energy
    }

    #[test]
    fn equals_the_definition_in_any_order() {
        let mut random = Random::new(1);
        for length in [4, 5, 12, 33] {
            let mut values = random.autoregression(length, 0.3);
            values[1] = values[0];
            let mut order: Vec<usize> = (0..length).collect();
            random.shuffle(&mut order);
            let ordered: Vec<f64> = order.iter().map(|place| values[*place]).collect();
            let mut energy = Energy::new(&values);
            for at in 2..=length - 2 {
                let found = energy.best_cut(&order, &[at], 2).unwrap().divergence;
                let expected = by_definition(&ordered[..at], &ordered[at..]);
                assert!((found - expected).abs() < 1e-12, "{length} {at}: {found} {expected}");
            }
            let cuts: Vec<usize> = (2..=length - 2).collect();
            let best = energy.best_cut(&order, &cuts, 2).unwrap();
            let ends: Vec<usize> = ends(length, &cuts).collect();
            let all: Vec<f64> = cuts
                .iter()
                .flat_map(|at| ends.iter().filter(|end| **end >= *at + 2).map(|end| (*at, *end)))
                .map(|(at, end)| by_definition(&ordered[..at], &ordered[at..end]))
                .collect();
            let largest = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!((best.divergence - largest).abs() < 1e-12, "{best:?} {largest}");
        }
    }

    #[test]
    fn a_step_is_cut_where_it_is() {
        let values = [1.0, 1.1, 0.9, 1.0, 2.0, 2.1, 1.9];
        let order: Vec<usize> = (0..7).collect();
        let best = Energy::new(&values).best_cut(&order, &[2, 3, 4, 5], 2).unwrap();
        assert_eq!(best.at, 4);
        assert_eq!(Energy::new(&values).best_cut(&order, &[], 2), None);
    }

    #[test]
    fn a_level_that_came_back_is_cut_where_it_left() {
        let values = [1.0, 1.1, 0.9, 1.0, 2.0, 2.1, 1.9, 2.0, 1.1, 1.0, 0.9];
        let order: Vec<usize> = (0..11).collect();
        let cuts: Vec<usize> = (2..=9).collect();
        assert_eq!(Energy::new(&values).best_cut(&order, &cuts, 2).unwrap().at, 4);
    }
}
