//! Relative figures of metrics without a verdict.

use crate::model::VariantStep;

/// The values of a metric in the blocks that both sides have: base first.
pub(crate) fn paired(
    base: &VariantStep,
    variant: &VariantStep,
    metric: &str,
) -> (Vec<f64>, Vec<f64>) {
    // In order of the blocks.
    let of_base = base.values(metric);
    variant
        .values(metric)
        .into_iter()
        .filter_map(|(block, value)| {
            let place = of_base.binary_search_by_key(&block, |(other, _)| *other).ok()?;
            of_base.get(place).map(|(_, base)| (*base, value))
        })
        .unzip()
}

/// A metric of the variant as a fraction of the base's: `exp(mean ln(variant / base))` over the paired blocks. Where
/// a block has none of it (0 reads), the quotient of the medians; `None` when the base has none at all.
pub(crate) fn ratio(base: &VariantStep, variant: &VariantStep, metric: &str) -> Option<f64> {
    let (base, variant) = paired(base, variant, metric);
    if base.iter().chain(&variant).all(|value| *value > 0.0) {
        let logs: Vec<f64> = base.iter().zip(&variant).map(|(b, v)| (v / b).ln()).collect();
        return judge::mean(&logs).map(f64::exp);
    }
    let (base, variant) = (judge::median(&base)?, judge::median(&variant)?);
    (base > 0.0).then(|| variant / base)
}
