//! Absolute and relative figures, computed so that a relative one is the quotient of two absolute
//! ones; for throughput see [`crate::judging::judged::Judged::throughput_ratio`].

use crate::load::model::{StepResults, VariantStep};
use crate::output::number::{or_unknown, relative};

/// The values of a metric in the blocks that both sides have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pairs {
    pub(crate) blocks: Vec<u32>,
    pub(crate) base: Vec<f64>,
    pub(crate) variant: Vec<f64>,
}

/// A figure as a fraction of the base's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    /// How many pairs of blocks or restarts it comes from.
    pub(crate) pairs: usize,
}

impl Ratio {
    /// True if it has fewer pairs than a verdict needs, so it may be chance.
    pub(crate) fn is_of_few(self) -> bool {
        self.pairs < judge::ENOUGH_BLOCKS
    }
}

/// A ratio for a cell, with a mark. One of a single pair is in parentheses, because nothing shows
/// how much of it is chance.
pub(crate) fn ratio_cell(ratio: Option<Ratio>, mark: &str) -> String {
    doubted(ratio, ratio.is_some_and(|ratio| ratio.pairs == 1), mark)
}

/// A ratio for a cell, with a mark, in parentheses if it is in `doubt`.
pub(crate) fn doubted(ratio: Option<Ratio>, doubt: bool, mark: &str) -> String {
    or_unknown(ratio.map(|ratio| ratio.value), |value| match doubt {
        true => format!("({}){mark}", relative(value)),
        false => format!("{}{mark}", relative(value)),
    })
}

/// Pairs the values of a metric by block, in order of the blocks.
pub(crate) fn paired(base: &VariantStep, variant: &VariantStep, metric: &str) -> Pairs {
    let of_base = base.values(metric);
    let mut pairs = Pairs::default();
    for (block, value) in variant.values(metric) {
        let Ok(place) = of_base.binary_search_by_key(&block, |(other, _)| *other) else { continue };
        pairs.blocks.push(block);
        pairs.base.push(of_base[place].1);
        pairs.variant.push(value);
    }
    pairs
}

/// The mean of values over blocks: geometric, like that of ratios; arithmetic if the value is 0 in
/// a block (0 reads), because a geometric mean would then be 0.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    if values.iter().all(|value| *value > 0.0) {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        return judge::mean(&logs).map(f64::exp);
    }
    judge::mean(values)
}

/// The figure shown for a variant in a step: the [`mean`] over the blocks in which it is paired
/// with the base (for the base, with any other), or over all of its blocks if there is no pair.
pub(crate) fn absolute(step: &StepResults, base: usize, place: usize, metric: &str) -> Option<f64> {
    let own = step.variant(place)?.values(metric);
    let others: Vec<Vec<(u32, f64)>> = step
        .variants
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != place && (place == base || *other == base))
        .map(|(_, other)| other.values(metric))
        .collect();
    let has = |block: u32| {
        others.iter().any(|other| other.binary_search_by_key(&block, |(block, _)| *block).is_ok())
    };
    let of = |wanted: &dyn Fn(u32) -> bool| -> Vec<f64> {
        own.iter().filter(|(block, _)| wanted(*block)).map(|(_, value)| *value).collect()
    };
    mean(&of(&has)).or_else(|| mean(&of(&|_| true)))
}

/// A metric of a variant as a fraction of the base's: the quotient of their [`mean`]s over the
/// paired blocks, which with positive values is `exp(mean ln(variant / base))`. `None` when the
/// base's value is 0, and without a pair.
pub(crate) fn ratio(step: &StepResults, base: usize, place: usize, metric: &str) -> Option<Ratio> {
    let pairs = paired(step.variant(base)?, step.variant(place)?, metric);
    let (base, variant) = (mean(&pairs.base)?, mean(&pairs.variant)?);
    (base > 0.0).then(|| Ratio { value: variant / base, pairs: pairs.blocks.len() })
}

/// The same for two variants of which one was measured in another experiment: the quotient of their
/// means over all of their own blocks. It counts as one pair, because nothing shows how much of it
/// is chance. `None` if they can't be related at all.
pub(crate) fn ratio_across(
    step: &StepResults,
    base: usize,
    place: usize,
    metric: &str,
) -> Option<Ratio> {
    let both = [step.variant(base)?, step.variant(place)?];
    let mut elsewhere = both.iter().filter_map(|it| it.elsewhere.as_ref()).peekable();
    elsewhere.peek()?;
    if elsewhere.any(|it| it.apart.is_some()) {
        return None;
    }
    let of = |it: &VariantStep| -> Vec<f64> {
        it.values(metric).into_iter().map(|(_, value)| value).collect()
    };
    let [base, variant] = both.map(|it| mean(&of(it)));
    let base = base.filter(|base| *base > 0.0)?;
    Some(Ratio { value: variant? / base, pairs: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::model::Sample;
    use store::{StepId, TrialId};

    const OPS: &str = "o/s";

    fn step(variants: &[&[(u32, f64)]]) -> StepResults {
        let sample = |(block, value): &(u32, f64)| Sample {
            block: *block,
            trial: TrialId(1),
            step: StepId(1),
            started_ms: 0,
            values: vec![*value],
            slices: None,
        };
        let variants = variants.iter().map(|blocks| VariantStep {
            metrics: [OPS.to_owned()].into(),
            samples: blocks.iter().map(sample).collect(),
            ..VariantStep::default()
        });
        StepResults { variants: variants.collect(), ..StepResults::default() }
    }

    #[test]
    fn absolute_figures_divide_to_the_relative_one() {
        let skewed =
            step(&[&[(1, 100.0), (2, 110.0), (3, 400.0)], &[(1, 50.0), (2, 300.0), (3, 90.0)]]);
        let [base, variant] = [0, 1].map(|place| absolute(&skewed, 0, place, OPS).unwrap());
        assert!((base - (100.0_f64 * 110.0 * 400.0).cbrt()).abs() < 1e-9);
        assert!((variant / base - ratio(&skewed, 0, 1, OPS).unwrap().value).abs() < 1e-12);
    }

    #[test]
    fn blocks_without_a_pair_are_left_out_of_both() {
        let partial =
            step(&[&[(1, 100.0), (2, 100.0), (4, 900.0)], &[(1, 50.0), (2, 50.0), (3, 1.0)]]);
        assert!((absolute(&partial, 0, 0, OPS).unwrap() - 100.0).abs() < 1e-9);
        assert!((absolute(&partial, 0, 1, OPS).unwrap() - 50.0).abs() < 1e-9);
        let alone = step(&[&[(1, 100.0)], &[]]);
        assert!((absolute(&alone, 0, 0, OPS).unwrap() - 100.0).abs() < 1e-9);
        assert_eq!(absolute(&alone, 0, 1, OPS), None);
    }

    #[test]
    fn zeros_are_averaged_and_a_ratio_tells_its_pairs() {
        let zeros = step(&[&[(1, 4.0), (2, 4.0)], &[(1, 0.0), (2, 4.0)]]);
        assert_eq!(absolute(&zeros, 0, 1, OPS), Some(2.0));
        assert_eq!(ratio(&zeros, 0, 1, OPS), Some(Ratio { value: 0.5, pairs: 2 }));
        assert_eq!(ratio(&zeros, 1, 0, OPS), Some(Ratio { value: 2.0, pairs: 2 }));
        let none = step(&[&[(1, 0.0), (2, 0.0)], &[(1, 0.0), (2, 4.0)]]);
        assert_eq!(ratio(&none, 0, 1, OPS), None);
        let one = step(&[&[(1, 4.0)], &[(1, 2.0)]]);
        assert_eq!(ratio(&one, 0, 1, OPS), Some(Ratio { value: 0.5, pairs: 1 }));
        assert_eq!(ratio(&step(&[&[(1, 4.0)], &[(2, 2.0)]]), 0, 1, OPS), None);
    }
}
