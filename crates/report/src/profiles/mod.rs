//! Reads, compares and draws the profiles of an experiment: folded stacks among its artifacts.
//!
//! `artifacts/profiles/EXPERIMENT/STEP.dopN/VARIANT.bBLOCK.tTRIAL.folded` holds the samples of one
//! trial. Those of a step and variant are read together, but only for trials with results. The
//! flamegraphs drawn from them are in the same directory: `VARIANT.svg`, and
//! `BASE-VARIANT.diff.svg`, in which red has grown and blue has shrunk from base to variant.

mod children;
mod draw;
mod folded;
mod moved;

use std::fs;
use std::path::{Path, PathBuf};

use plan::StepKey;
use store::{ExperimentId, Store, TrialId};

pub(crate) use children::{Children, OTHER, children, facts};
use draw::{differential, flamegraph};
pub use folded::Folded;
pub use moved::ExplainedMove;
pub(crate) use moved::moved;

use crate::ReportError;
use crate::load::model::{Results, StepResults};
use crate::load::renames::Renames;

/// Directory of an experiment's profiles, in a results directory.
pub fn profiles_directory(results: &Path, experiment: ExperimentId) -> PathBuf {
    results.join("artifacts").join("profiles").join(experiment.to_string())
}

/// Path in it of the folded stacks of a trial's step.
pub fn folded_file(step: &StepKey, variant: &str, block: u32, trial: TrialId) -> PathBuf {
    step_directory(step).join(format!("{variant}.b{block}.t{trial}.folded"))
}

fn step_directory(StepKey { name, dop, labels }: &StepKey) -> PathBuf {
    let labels = labels.iter().map(|(label, value)| format!(".{label}={value}"));
    PathBuf::from(format!("{name}.dop{dop}{}", labels.collect::<String>().replace('/', "_")))
}

/// The profiles of one step.
#[derive(Debug, Clone)]
pub(crate) struct StepProfiles {
    /// Index in [`Results::steps`].
    pub(crate) step: usize,
    /// One per variant, in the order of [`Results::variants`]; empty without a profile.
    pub(crate) variants: Vec<Folded>,
    /// How many trials each comes from.
    pub(crate) trials: Vec<usize>,
}

impl StepProfiles {
    /// The empty profiles of a step that was not profiled.
    pub(crate) fn none(step: usize, variants: usize) -> Self {
        Self { step, variants: vec![Folded::default(); variants], trials: vec![0; variants] }
    }
}

/// Reads all profiles of finished trials, for the steps that have any.
///
/// # Errors
/// When a file exists but can't be read, or is not a file of folded stacks.
pub(crate) fn read(store: &Store, results: &Results) -> Result<Vec<StepProfiles>, ReportError> {
    let directory = profiles_directory(store.directory(), results.experiment.id);
    let mut all = Vec::new();
    if !directory.is_dir() {
        return Ok(all);
    }
    let systems = results.variants.iter().map(|it| it.variant.dbms.as_str());
    let renames = Renames::of(&results.experiment.plan, systems);
    for (number, step) in results.steps.iter().enumerate() {
        let mut texts: Vec<(usize, PathBuf, String)> = Vec::new();
        for (place, figures) in step.variants.iter().enumerate() {
            for sample in &figures.samples {
                let name = results.variant_name(place);
                let file = folded_file(&step.key, name, sample.block, sample.trial);
                let path = directory.join(file);
                match fs::read_to_string(&path) {
                    Ok(text) => texts.push((place, path, text)),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(source) => return Err(ReportError::ReadProfile { path, source }),
                }
            }
        }
        let renames = renames.needed(|name| texts.iter().any(|(.., text)| text.contains(name)));
        let mut profiles = StepProfiles::none(number, step.variants.len());
        for (place, path, text) in &texts {
            profiles.variants[*place].add(&renames.in_stacks(text), path)?;
            profiles.trials[*place] += 1;
        }
        if !texts.is_empty() {
            all.push(profiles);
        }
    }
    Ok(all)
}

/// Draws the flamegraphs of an experiment next to its profiles, replacing existing ones: one of
/// each variant, and one of the difference between the plan's base and each other variant. Returns
/// how many.
///
/// # Errors
/// When profiles can't be read or flamegraphs can't be written.
pub fn draw_flamegraphs(store: &Store, results: &Results) -> Result<usize, ReportError> {
    let directory = profiles_directory(store.directory(), results.experiment.id);
    let base = results.variant_named(&results.experiment.base).unwrap_or(0);
    let mut drawn = 0;
    for profiles in read(store, results)? {
        let Some(step) = results.steps.get(profiles.step) else { continue };
        let folder = directory.join(step_directory(&step.key));
        for Flame { variant, base, svg } in flames(results, step, &profiles, base)? {
            let name = results.variant_name(variant);
            let path = folder.join(match base {
                None => format!("{name}.svg"),
                Some(base) => format!("{}-{name}.diff.svg", results.variant_name(base)),
            });
            fs::write(&path, svg).map_err(|source| ReportError::Write { path, source })?;
            drawn += 1;
        }
    }
    Ok(drawn)
}

/// A flamegraph: of a variant, or of the difference between the base and a variant.
pub(crate) struct Flame {
    pub(crate) variant: usize,
    pub(crate) base: Option<usize>,
    pub(crate) svg: String,
}

/// The flamegraphs of a step: those of the variants, then the differences.
pub(crate) fn flames(
    results: &Results,
    step: &StepResults,
    profiles: &StepProfiles,
    base: usize,
) -> Result<Vec<Flame>, ReportError> {
    let label = results.step_label(step);
    let mut found = Vec::new();
    for (variant, folded) in profiles.variants.iter().enumerate() {
        let svg = flamegraph(folded, &format!("{label}: {}", results.variant_name(variant)))?;
        found.extend(svg.map(|svg| Flame { variant, base: None, svg }));
    }
    let Some(of_base) = profiles.variants.get(base) else { return Ok(found) };
    for (variant, folded) in profiles.variants.iter().enumerate().filter(|(p, _)| *p != base) {
        let (from, to) = (results.variant_name(base), results.variant_name(variant));
        let svg = differential(of_base, folded, &format!("{label}: from {from} to {to}"))?;
        found.extend(svg.map(|svg| Flame { variant, base: Some(base), svg }));
    }
    Ok(found)
}
