//! Why a step costs what it costs: its costs per operation, the events and the functions behind
//! them, and what moved.

mod document;
mod tables;

pub use document::{ExplainDocument, ExplainedChild, ExplainedStep, ExplainedVariant};

use store::Store;

use crate::ReportError;
use crate::compare::{CompareOptions, compare};
use crate::model::{Results, StepResults};
use crate::profiles::{self, StepProfiles, facts};
use crate::sheet::Printable;
use crate::table::{Section, Table};

/// What to explain, and how much of it.
#[derive(Debug, Clone)]
pub struct ExplainOptions {
    /// A step, such as `l.i0`; `None`: every profiled step.
    pub step: Option<String>,
    /// The function whose callees are shown; `None`: the one in which the base's server executes
    /// what clients send.
    pub parent: Option<String>,
    /// How many of the functions that moved to show for each variant.
    pub functions: usize,
    /// Name of the variant to compare with; the plan's base when `None`.
    pub base: Option<String>,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        Self { step: None, parent: None, functions: 15, base: None }
    }
}

/// An explanation, ready to be printed.
pub type Explanation = Printable<ExplainDocument>;

/// Explains the steps of an experiment that were profiled, or one of them.
///
/// # Errors
/// When the step or base does not exist, nothing was profiled, or a profile can't be read.
pub fn explain(
    store: &Store,
    results: &Results,
    options: &ExplainOptions,
) -> Result<Explanation, ReportError> {
    let profiles = chosen(profiles::read(store, results)?, results, options)?;
    let costs = compare(
        results,
        &CompareOptions {
            base: options.base.clone(),
            sections: Some(vec![Section::Hardware]),
            ..CompareOptions::default()
        },
    )?;
    let base = results.variant_named(&costs.document.base).unwrap_or(0);
    let document = document::document(results, &profiles, base, options);
    let sheet = tables::sheet(&document, facts(results, base), &costs.shown());
    Ok(Explanation { document, sheet })
}

fn chosen(
    profiles: Vec<StepProfiles>,
    results: &Results,
    options: &ExplainOptions,
) -> Result<Vec<StepProfiles>, ReportError> {
    let Some(asked) = &options.step else {
        if profiles.is_empty() {
            let asked = format!("experiment {}", results.experiment.name);
            return Err(ReportError::NoProfiles { asked, notes: why_not(&results.steps) });
        }
        return Ok(profiles);
    };
    let names = |step: &StepResults| step.key.name == *asked || results.step_label(step) == *asked;
    if !results.steps.iter().any(names) {
        let mut known: Vec<String> =
            results.steps.iter().map(|step| results.step_label(step)).collect();
        known.dedup();
        return Err(ReportError::UnknownStep { asked: asked.clone(), known });
    }
    let wanted: Vec<_> = profiles
        .into_iter()
        .filter(|profiles| results.steps.get(profiles.step).is_some_and(names))
        .collect();
    if wanted.is_empty() {
        let steps: Vec<_> = results.steps.iter().filter(|step| names(step)).cloned().collect();
        let asked = format!("step {asked}");
        return Err(ReportError::NoProfiles { asked, notes: why_not(&steps) });
    }
    Ok(wanted)
}

/// The notes about profiles that could not be taken, each once.
fn why_not(steps: &[StepResults]) -> Vec<String> {
    let notes = steps.iter().flat_map(|step| &step.variants).flat_map(|variant| &variant.notes);
    let mut notes: Vec<String> = notes.filter(|note| note.contains("profile")).cloned().collect();
    notes.sort_unstable();
    notes.dedup();
    notes
}

/// The tables of one step for the page: callees of a backend's function, phases, functions that
/// moved.
pub(crate) fn step_tables(results: &Results, profiles: &StepProfiles, base: usize) -> Vec<Table> {
    let options = ExplainOptions::default();
    let parent = document::parent(results, base, &options);
    document::step(results, profiles, base, &options)
        .map(|step| tables::of_step(&step, &parent, facts(results, base)))
        .unwrap_or_default()
}
