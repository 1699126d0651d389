//! Other differences: the state in which a step began, and the DBMS's own counters per operation.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use judge::{FALSE_DISCOVERY_RATE, adjusted_p_values, mean, sd_sample, sign_flip_p, t_cdf};
use metrics::{
    Metric, START_BYTES, START_CACHED, START_DEAD, START_DIRTY, START_UNSEEN, START_WRITEBACK,
    WAITS,
};
use serde::{Deserialize, Serialize};
use store::{StepId, Store};

use crate::ReportError;
use crate::judging::figures::paired;
use crate::load::model::StepResults;
use crate::output::waits::spellings;

/// Figures of the state in which a step began.
const START: [&Metric; 6] =
    [&START_DEAD, &START_UNSEEN, &START_BYTES, &START_DIRTY, &START_WRITEBACK, &START_CACHED];

/// Differences are the same if their error is no more than this fraction of their mean.
const SAME: f64 = 1e-9;

/// Figures that differ by less than this fraction are the same.
const LEAST: f64 = 0.0005;

/// A figure that is not the same in the base and a variant: means over the blocks that both have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedShift {
    /// The metric, or the counter with its view: `pg_stat_wal.wal_bytes`.
    pub name: String,
    /// Mean in the base.
    pub base: f64,
    /// Mean in the variant.
    pub value: f64,
    /// The quotient of the two; `null` where the base's is 0.
    pub ratio: Option<f64>,
    /// True if the difference is more than chance: with all figures of its kind tested at once, at
    /// most 5% of those marked are expected to be wrong. Never true with a single block.
    pub sure: bool,
}

/// A shift, before the others are known.
struct Moved {
    shift: ExplainedShift,
    /// NaN if it is unknown.
    p: f64,
}

/// Compares the values of blocks; `None` if they are the same on average, to [`LEAST`].
fn moved(name: &str, base: &[f64], variant: &[f64]) -> Option<Moved> {
    let (of_base, of_variant) = (mean(base)?, mean(variant)?);
    if (of_variant - of_base).abs() <= LEAST * of_base.abs() {
        return None;
    }
    let ratio = (of_base != 0.0).then(|| of_variant / of_base);
    let shift = ExplainedShift {
        name: name.to_owned(),
        base: of_base,
        value: of_variant,
        ratio,
        sure: false,
    };
    Some(Moved { shift, p: paired_p(base, variant) })
}

/// The p value of Student's t test on the differences of pairs, of their logarithms where all
/// values are positive. Small counts may agree in all blocks by chance, which looks like certainty:
/// where a value is 0 or the differences have no spread, it is at least that of the sign flip test.
/// NaN with fewer than two pairs.
fn paired_p(base: &[f64], variant: &[f64]) -> f64 {
    let logs = base.iter().chain(variant).all(|value| *value > 0.0);
    let difference = |(base, variant): (&f64, &f64)| {
        if logs { variant.ln() - base.ln() } else { variant - base }
    };
    let differences: Vec<f64> = base.iter().zip(variant).map(difference).collect();
    let freedom = differences.len() as f64 - 1.0;
    let Some((middle, sd)) = mean(&differences).zip(sd_sample(&differences)) else {
        return f64::NAN;
    };
    let error = sd / (differences.len() as f64).sqrt();
    let spread = error > SAME * middle.abs();
    let p = if spread { 2.0 * t_cdf(-(middle / error).abs(), freedom) } else { 0.0 };
    if logs && spread {
        return p;
    }
    sign_flip_p(&differences).map_or(f64::NAN, |flipped| p.max(flipped))
}

/// Sorts by certainty, then by size, and marks what is sure.
fn ranked(mut all: Vec<Moved>) -> Vec<ExplainedShift> {
    let p_values: Vec<f64> = all.iter().map(|moved| moved.p).collect();
    for (moved, p) in all.iter_mut().zip(adjusted_p_values(&p_values)) {
        moved.shift.sure = p <= FALSE_DISCOVERY_RATE;
    }
    let size = |moved: &Moved| moved.shift.ratio.map_or(f64::INFINITY, |ratio| ratio.ln().abs());
    all.sort_by(|a, b| a.p.total_cmp(&b.p).then(size(b).total_cmp(&size(a))));
    all.into_iter().map(|moved| moved.shift).collect()
}

/// How the state in which a step began differs.
pub(super) fn start(step: &StepResults, base: usize, place: usize) -> Vec<ExplainedShift> {
    let Some((of_base, variant)) = step.variant(base).zip(step.variant(place)) else {
        return Vec::new();
    };
    let of = |metric: &&Metric| {
        let pairs = paired(of_base, variant, metric.name);
        moved(metric.name, &pairs.base, &pairs.variant)
    };
    ranked(START.iter().filter_map(of).collect())
}

/// Counters per operation of every trial of one step, by block.
pub(super) struct Counted(Vec<BTreeMap<u32, BTreeMap<String, f64>>>);

impl Counted {
    /// Reads the shifts of all variants; `operations` has the number of operations of each of the
    /// experiment's steps.
    pub(super) fn read(
        store: &Store,
        operations: &HashMap<StepId, u64>,
        step: &StepResults,
    ) -> Result<Self, ReportError> {
        let mut all = Vec::new();
        for variant in &step.variants {
            let mut blocks = BTreeMap::new();
            for sample in &variant.samples {
                let done = operations.get(&sample.step).copied().unwrap_or(0);
                if done == 0 {
                    continue;
                }
                let mut sums: BTreeMap<String, f64> = BTreeMap::new();
                for counter in store.counters(sample.step)? {
                    let name = format!("{}.{}", counter.view, counter.name);
                    *sums.entry(name).or_default() += counter.value / done as f64;
                }
                blocks.insert(sample.block, sums);
            }
            all.push(blocks);
        }
        // A state in which no session was seen took no time.
        let of_waits = |name: &&String| name.split_once('.').is_some_and(|(view, _)| view == WAITS);
        let names = all.iter().flat_map(BTreeMap::values).flat_map(BTreeMap::keys);
        let waits: BTreeSet<String> = names.filter(of_waits).cloned().collect();
        let newest = spellings(waits.iter().map(String::as_str));
        for sums in all.iter_mut().flat_map(BTreeMap::values_mut) {
            for name in &waits {
                let time = sums.remove(name).unwrap_or_default();
                let newest = newest.get(&name.to_lowercase()).copied().unwrap_or(name);
                *sums.entry(newest.to_owned()).or_default() += time;
            }
        }
        Ok(Self(all))
    }

    /// How those that both variants have differ.
    pub(super) fn shifts(&self, base: usize, place: usize) -> Vec<ExplainedShift> {
        let Some((of_base, variant)) = self.0.get(base).zip(self.0.get(place)) else {
            return Vec::new();
        };
        let mut pairs: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for (block, values) in variant {
            let Some(other) = of_base.get(block) else { continue };
            for (name, value) in values {
                let Some(base) = other.get(name) else { continue };
                let pair = pairs.entry(name).or_default();
                pair.0.push(*base);
                pair.1.push(*value);
            }
        }
        let shifts = pairs.iter().filter_map(|(name, (base, value))| moved(name, base, value));
        ranked(shifts.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_against_its_spread_comes_first() {
        let base = [[10.0, 10.1, 9.9, 10.0], [1.0, 3.0, 2.0, 2.0], [5.0; 4], [0.0; 4]];
        let variant = [[11.0, 11.1, 10.9, 11.0], [3.0, 1.0, 9.0, 2.0], [5.0; 4], [0.0; 4]];
        let all = ["steady", "noisy", "same", "zero"];
        let shifts = all.iter().zip(base.iter().zip(&variant));
        let shifts = ranked(shifts.filter_map(|(name, (b, v))| moved(name, b, v)).collect());
        let names: Vec<_> = shifts.iter().map(|it| (it.name.as_str(), it.sure)).collect();
        assert_eq!(names, [("steady", true), ("noisy", false)]);
        assert!((shifts[0].ratio.unwrap() - 1.1).abs() < 1e-9);
    }

    #[test]
    fn one_block_is_never_sure() {
        let shifts = ranked(vec![moved("a", &[1.0], &[9.0]).unwrap()]);
        assert!(!shifts[0].sure);
    }

    #[test]
    fn the_same_difference_twice_is_not_sure() {
        let grown = |blocks| moved("a", &vec![0.0; blocks], &vec![0.1; blocks]).unwrap();
        assert_eq!((grown(2).shift.ratio, grown(2).p), (None, 0.5));
        assert!(!ranked(vec![grown(5)])[0].sure);
        assert!(ranked(vec![grown(6)])[0].sure);
        // One checkpoint each, in nearly as many operations.
        let rare = moved("a", &[0.0; 3], &[1.00e-5, 1.01e-5, 0.99e-5]).unwrap();
        assert!((rare.p - 0.25).abs() < 1e-12, "{}", rare.p);
    }
}
