//! Where a history may be cut, and where it is best cut.

use std::ops::Range;

use super::energy::{Cut, Energy};

/// The smallest number of units on each side of a change point; with one there is no spread.
pub const MIN_SEGMENT: usize = 2;

/// The places between runs, as numbers of units before them, in order.
pub(super) struct Cuts(pub(super) Vec<usize>);

impl Cuts {
    /// The cuts of a segment that leave enough on both sides, counted from its start.
    pub(super) fn within(&self, range: &Range<usize>) -> Vec<usize> {
        let (from, to) = (range.start + MIN_SEGMENT, range.end);
        self.0
            .iter()
            .filter(|cut| **cut >= from && **cut + MIN_SEGMENT <= to)
            .map(|cut| cut - range.start)
            .collect()
    }
}

/// The `count` best cuts, one after the other, without asking whether they are chance.
pub(super) fn best_cuts(values: &[f64], cuts: &Cuts, count: usize) -> Vec<usize> {
    let cut = |range: Range<usize>| {
        let mut energy = Energy::new(&values[range.clone()]);
        let order: Vec<usize> = (0..range.len()).collect();
        let best = energy.best_cut(&order, &cuts.within(&range), MIN_SEGMENT);
        best.map(|best| (range, best))
    };
    let mut open: Vec<(Range<usize>, Cut)> = cut(0..values.len()).into_iter().collect();
    let mut found = Vec::new();
    while found.len() < count {
        let Some(place) =
            (0..open.len()).max_by(|a, b| open[*a].1.divergence.total_cmp(&open[*b].1.divergence))
        else {
            break;
        };
        let (range, best) = open.swap_remove(place);
        let at = range.start + best.at;
        found.push(at);
        open.extend(cut(range.start..at));
        open.extend(cut(at..range.end));
    }
    found.sort_unstable();
    found
}
