//! The divergence between the two sides of a cut, for every cut of a segment at once.

/// At most this many ends of the right side are tried, evenly spaced. The paper tries all, which
/// takes time proportional to the square of the length; a sixteenth of a segment more or less on
/// one side hardly changes a divergence.
const ENDS: usize = 16;

/// Sums are added up in this many parts at once.
const LANES: usize = 8;

/// The values of one segment, prepared for finding the best cut of any order of them.
pub(super) struct Energy {
    values: Vec<f64>,
    /// The values in the order at hand.
    ordered: Vec<f64>,
    /// `after[k]`: sum of the distances from value k of the order to those that follow it, of those
    /// taken so far.
    after: Vec<f64>,
    /// `inside[k]`: sum of the distances of all pairs among the first k of the order.
    inside: Vec<f64>,
    /// For each cut, with one end of the right side.
    sides: Vec<Sides>,
}

/// Both sides of a cut.
#[derive(Debug, Clone, Copy, Default)]
struct Sides {
    /// Number of values before the cut.
    m: f64,
    /// Sums of the distances of all pairs of each side.
    left: f64,
    right: f64,
    divergence: f64,
}

/// A cut and the divergence of its two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut {
    /// Number of values before it.
    pub(super) at: usize,
    /// `Q`, in the unit of the values.
    pub(super) divergence: f64,
}

impl Cut {
    /// Divergences that differ less are equal but for rounding.
    fn close(&self) -> f64 {
        1e-12 * self.divergence.abs()
    }
}

impl Energy {
    pub(super) fn new(values: &[f64]) -> Self {
        let count = values.len();
        Self {
            values: values.to_vec(),
            ordered: Vec::with_capacity(count),
            after: vec![0.0; count],
            inside: vec![0.0; count + 1],
            sides: Vec::new(),
        }
    }

    /// Mean distance of two different values. In sorted order, the k-th from 0 is added k times and
    /// subtracted once for each that follows.
    pub(super) fn mean_distance(&self) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len() as f64 - 1.0;
        let all: f64 =
            sorted.iter().enumerate().map(|(k, value)| (2.0 * k as f64 - last) * value).sum();
        2.0 * all / (sorted.len() as f64 * last)
    }

    /// The cut with the largest divergence if the values are in this `order`; among equals, the
    /// first. `cuts` are the places allowed, `least` the number of values that both sides must
    /// have.
    ///
    /// `Q = mn/(m+n) · (2 E|X-Y| - E|X-X'| - E|Y-Y'|)`, expectations as means over the pairs
    /// (Matteson and James, *Journal of the American Statistical Association* 109, 2014, equations
    /// 5 to 7, with α = 1). The left side begins where the segment does; the right side begins at
    /// the cut and may end before the segment does, so a level that came back is found as well.
    /// Every pair is taken once for all ends: with hundreds of values, the square of their number
    /// costs less than sorted structures do.
    pub(super) fn best_cut(
        &mut self,
        order: &[usize],
        cuts: &[usize],
        least: usize,
    ) -> Option<Cut> {
        self.ordered.clear();
        self.ordered.extend(order.iter().map(|unit| self.values[*unit]));
        self.sides.clear();
        let mut best: Option<Cut> = None;
        let mut taken = 0;
        for end in ends(order.len(), cuts) {
            (taken..end).for_each(|next| self.take(next));
            taken = end;
            let allowed = &cuts[..cuts.partition_point(|cut| *cut + least <= end)];
            let most = self.divide(end, allowed);
            if best.is_some_and(|best| most < best.divergence - best.close()) {
                continue;
            }
            for (at, sides) in allowed.iter().zip(&self.sides).rev() {
                let divergence = sides.divergence;
                if best.is_none_or(|best| {
                    divergence > best.divergence + best.close()
                        || (divergence >= best.divergence - best.close() && *at < best.at)
                }) {
                    best = Some(Cut { at: *at, divergence });
                }
            }
        }
        best
    }

    /// Computes the divergences of all cuts whose right side has this end, and returns the largest.
    fn divide(&mut self, end: usize, cuts: &[usize]) -> f64 {
        let known = self.sides.len();
        let new = cuts[known..].iter();
        self.sides.extend(new.map(|cut| Sides {
            m: *cut as f64,
            left: self.inside[*cut],
            ..Sides::default()
        }));
        let (mut right, mut reached) = (0.0, end);
        for (cut, sides) in cuts.iter().zip(&mut self.sides).rev() {
            right += self.after[*cut..reached].iter().rev().sum::<f64>();
            (sides.right, reached) = (right, *cut);
        }
        let (all, count) = (self.inside[end], end as f64);
        let scale = 2.0 * (1.0 / count);
        let mut most = f64::NEG_INFINITY;
        for Sides { m, left, right, divergence } in &mut self.sides {
            let n = count - *m;
            let between = all - *left - *right;
            let within = n * (1.0 / (*m - 1.0)) * *left + *m * (1.0 / (n - 1.0)) * *right;
            *divergence = scale * (between - within);
            most = if *divergence > most { *divergence } else { most };
        }
        most
    }

    /// Adds the distances between a value of the order and all before it.
    fn take(&mut self, next: usize) {
        let value = self.ordered[next];
        let add = |other: &f64, after: &mut f64, sum: &mut f64| {
            let distance = (other - value).abs();
            *after += distance;
            *sum += distance;
        };
        let (earlier, few) = self.ordered[..next].as_chunks::<LANES>();
        let (after, after_few) = self.after[..next].as_chunks_mut::<LANES>();
        let mut sums = [0.0; LANES];
        for (others, after) in earlier.iter().zip(after) {
            for lane in 0..LANES {
                add(&others[lane], &mut after[lane], &mut sums[lane]);
            }
        }
        for ((other, after), sum) in few.iter().zip(after_few).zip(&mut sums) {
            add(other, after, sum);
        }
        self.after[next] = 0.0;
        self.inside[next + 1] = self.inside[next] + sums.iter().sum::<f64>();
    }
}

/// Where right sides end: at the segment's end and at up to [`ENDS`] - 1 of the cuts, evenly
/// chosen.
fn ends(count: usize, cuts: &[usize]) -> impl Iterator<Item = usize> {
    let chosen = cuts.len().min(ENDS - 1);
    (1..=chosen).map(move |i| cuts[i * cuts.len() / (chosen + 1)]).chain([count])
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
