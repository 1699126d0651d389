//! Throughput by the DBMS's own CPU time, for machines whose hypervisor takes some away.

use judge::Margin;
use metrics::{CPU_BOUND, CPU_SHARE, DBMS_CPU, Metric, STEAL};

use super::figures::{Pairs, paired};
use crate::load::model::VariantStep;

/// Operations per second of the DBMS's own CPU time in the same blocks, and the largest share of
/// CPU that was stolen: for a CPU-bound step in which a hypervisor took more than a plan allows by
/// default. Stolen time lengthens a step without costing the server anything.
///
/// CPU time doesn't show waiting. So both must have been on CPU for the same share of the time that
/// was not stolen, within the margin.
pub(crate) fn pairs(
    base: &VariantStep,
    variant: &VariantStep,
    blocks: &[u32],
    (margin, confidence): (Margin, f64),
) -> Option<(Pairs, f64)> {
    let of = |metric: &Metric| {
        Some(paired(base, variant, metric.name)).filter(|pairs| pairs.blocks == blocks)
    };
    let (stolen, shares, mut costs) = (of(&STEAL)?, of(&CPU_SHARE)?, of(&DBMS_CPU)?);
    let most = stolen.base.iter().chain(&stolen.variant).copied().fold(0.0, f64::max);
    if most <= plan::DEFAULT_STEAL_LIMIT {
        return None;
    }
    let used = |shares: &[f64], stolen: &[f64]| -> Vec<f64> {
        shares.iter().zip(stolen).map(|(share, stolen)| share / (1.0 - stolen)).collect()
    };
    let used = [used(&shares.base, &stolen.base), used(&shares.variant, &stolen.variant)];
    let bound = used.iter().flatten().all(|share| (CPU_BOUND..f64::INFINITY).contains(share));
    let alike = judge::compare_at(&used[0], &used[1], margin, confidence).ok()?;
    let (below, above) = margin.edges();
    let same = alike.low.zip(alike.high).is_some_and(|(low, high)| low >= below && high <= above);
    if !bound || !same {
        return None;
    }
    let costs_of_both = costs.base.iter_mut().chain(&mut costs.variant);
    costs_of_both.for_each(|cost| *cost = 1.0 / *cost);
    let finite = costs.base.iter().chain(&costs.variant).all(|rate| rate.is_finite());
    finite.then_some((costs, most))
}
