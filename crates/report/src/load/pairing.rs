//! How the variants of a step shared the machine, and which samples count as slices.

use std::collections::BTreeMap;

use super::model::{Sample, StepResults, VariantStep};

/// How the variants of a step shared the machine in a trial. Figures of two ways are not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Way {
    /// Each had the load for the whole step.
    #[default]
    Whole,
    /// The load moved between servers that were all running.
    Sliced,
    /// The load moved between servers, and those without it were frozen.
    Frozen,
}

impl Way {
    /// That of a trial with these lengths of a slice and of a switch, NaN where it has none.
    pub(crate) fn of(slice_ms: f64, switch_ms: f64) -> Self {
        match (slice_ms.is_nan(), switch_ms.is_nan()) {
            (true, _) => Self::Whole,
            (false, true) => Self::Sliced,
            (false, false) => Self::Frozen,
        }
    }

    /// What follows the name of a step.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Sliced => " (slices)",
            Self::Frozen => " (frozen slices)",
        }
    }
}

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
    count_servers(step);
}

/// Tells the slices of each block how many servers shared it.
fn count_servers(step: &mut StepResults) {
    let mut servers: BTreeMap<u32, usize> = BTreeMap::new();
    let slices = step.variants.iter().flat_map(|variant| &variant.samples);
    slices
        .filter(|sample| sample.slices.is_some())
        .for_each(|sample| *servers.entry(sample.block).or_default() += 1);
    for sample in step.variants.iter_mut().flat_map(|variant| &mut variant.samples) {
        if let Some((slices, servers)) = sample.slices.as_mut().zip(servers.get(&sample.block)) {
            slices.servers = *servers;
        }
    }
}
