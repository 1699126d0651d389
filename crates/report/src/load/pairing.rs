//! Which samples of a step count as slices.

use super::model::{Sample, StepResults, VariantStep};

/// Puts the samples in order of their blocks. The first blocks of a step may have run in slices
/// before they decided for turns: then none is of slices. Or they decided for frozen slices: then
/// only those count.
pub(super) fn settle_pairing(step: &mut StepResults) {
    let is_frozen = |variant: &VariantStep, sample: &Sample| {
        variant.value(sample, metrics::SLICE_SWITCH_MS.name).is_some()
    };
    let frozen = step.variants.iter().any(|it| it.samples.iter().any(|s| is_frozen(it, s)));
    for variant in step.variants.iter_mut().filter(|_| frozen) {
        let running: Vec<bool> = variant.samples.iter().map(|s| !is_frozen(variant, s)).collect();
        let of_running = variant.samples.iter_mut().zip(running).filter(|(_, running)| *running);
        of_running.for_each(|(sample, _)| sample.slices = None);
    }
    let samples = || step.variants.iter().flat_map(|variant| &variant.samples);
    let sliced = samples().filter(|sample| sample.slices.is_some()).count();
    let few = 2 * sliced < samples().count();
    for samples in step.variants.iter_mut().map(|variant| &mut variant.samples) {
        samples.sort_by_key(|sample| sample.block);
        samples.iter_mut().filter(|_| few).for_each(|sample| sample.slices = None);
    }
}
