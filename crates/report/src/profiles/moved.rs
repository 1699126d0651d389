//! Functions whose share of the samples differs between two profiles.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Folded;

/// 97.5% quantile of the normal distribution, for an interval of 95%.
const QUANTILE: f64 = 1.96;

/// A function whose share of the samples differs from the base's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedMove {
    /// The function.
    pub function: String,
    /// Share of all samples in the function itself, in the base.
    pub base_own: f64,
    /// In the variant.
    pub own: f64,
    /// Half width of the 95% interval of their difference, from the number of samples alone: the
    /// interval for two independent proportions. Server starts differ by more.
    pub error: f64,
    /// Share including what it called, in the base.
    pub base_inclusive: f64,
    /// In the variant.
    pub inclusive: f64,
    /// Difference of CPU microseconds per operation in the function itself: the shares times
    /// `dbms.cpu/o`.
    pub cpu_us: Option<f64>,
}

impl ExplainedMove {
    /// How far the own share moved.
    pub(crate) fn difference(&self) -> f64 {
        self.own - self.base_own
    }
}

/// All functions of two profiles, those whose own share moved most first. Empty if one has no
/// samples. `cpu`: microseconds per operation of base and variant.
pub(crate) fn moved(
    base: &Folded,
    variant: &Folded,
    cpu: Option<(f64, f64)>,
) -> Vec<ExplainedMove> {
    let (before, after) = (base.samples() as f64, variant.samples() as f64);
    if before <= 0.0 || after <= 0.0 {
        return Vec::new();
    }
    let (of_base, of_variant) = (counts(base), counts(variant));
    let names: BTreeSet<&str> = of_base.keys().chain(of_variant.keys()).copied().collect();
    let one = |name: &str| {
        let (b, v) = (of_base.get(name).copied(), of_variant.get(name).copied());
        let (b, v) = (b.unwrap_or_default(), v.unwrap_or_default());
        let (base_own, own) = (b.own as f64 / before, v.own as f64 / after);
        let variance = base_own * (1.0 - base_own) / before + own * (1.0 - own) / after;
        ExplainedMove {
            function: name.to_owned(),
            base_own,
            own,
            error: QUANTILE * variance.sqrt(),
            base_inclusive: b.inclusive as f64 / before,
            inclusive: v.inclusive as f64 / after,
            cpu_us: cpu.map(|(base, variant)| own * variant - base_own * base),
        }
    };
    let mut all: Vec<ExplainedMove> = names.into_iter().map(one).collect();
    all.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
    all
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    own: u64,
    inclusive: u64,
}

/// Samples of each function; a recursive function counts once per sample.
fn counts(folded: &Folded) -> BTreeMap<&str, Counts> {
    let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
    for (stack, samples) in folded.stacks() {
        if let Some(leaf) = stack.last() {
            counts.entry(*leaf).or_default().own += samples;
        }
        let distinct: BTreeSet<&str> = stack.into_iter().collect();
        for function in distinct {
            counts.entry(function).or_default().inclusive += samples;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_most_comes_first() {
        let base = Folded::of("m;f;g 50\nm;f 30\nm;f;f;h 20\n");
        let variant = Folded::of("m;f;g 110\nm;f 60\nm;i 30\n");
        let found = moved(&base, &variant, None);
        let names: Vec<_> = found.iter().map(|moved| moved.function.as_str()).collect();
        assert_eq!(names, ["h", "i", "g", "f", "m"]);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(found[0].difference(), -0.2) && close(found[1].difference(), 0.15));
        let f = &found[3];
        assert!(close(f.base_inclusive, 1.0) && close(f.inclusive, 0.85) && close(f.base_own, 0.3));
        // 1.96 * sqrt(0.5 * 0.5 / 100 + 0.55 * 0.45 / 200)
        assert!((found[2].error - 0.119_82).abs() < 1e-4, "{}", found[2].error);
        assert!(moved(&base, &Folded::default(), None).is_empty());
    }
}
