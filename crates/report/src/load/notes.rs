//! What people noted about the results, beside the warnings.

use store::{NOTED, Note, Store, Warning};

use super::model::{Noted, Results};
use crate::ReportError;
use crate::output::time::rfc3339;

/// A note in words.
pub fn told(note: &Note) -> String {
    let day: String = rfc3339(note.at_ms).chars().take(10).collect();
    let text = if note.text.is_empty() { String::new() } else { format!(": {}", note.text) };
    format!("{}{text} ({}, {day})", note.kind.as_str(), note.by)
}

/// The notes on an experiment, at the steps and variants that it has.
pub(crate) fn noted(store: &Store, results: &Results) -> Result<Vec<Noted>, ReportError> {
    let mut found = Vec::new();
    for note in store.notes(results.experiment.id)? {
        let variant = note.variant.as_deref().map(|name| results.variant_named(name));
        // It is about something that is not here.
        let Some(variant) = variant.map_or(Some(None), |place| place.map(Some)) else { continue };
        let warning = Warning { code: NOTED.to_owned(), text: told(&note) };
        let new = |step| Noted { step, variant, block: None, warning: warning.clone() };
        let Some(name) = &note.step else {
            found.push(new(None));
            continue;
        };
        let of_note = results.steps.iter().map(|step| &step.key);
        let of_note =
            of_note.filter(|key| key.name == *name && note.dop.is_none_or(|dop| dop == key.dop));
        found.extend(of_note.map(|key| new(Some(key.clone()))));
    }
    Ok(found)
}

impl Results {
    /// What is noted about a variant in a step.
    pub(crate) fn note_on(&self, step: usize, variant: usize) -> Option<&str> {
        let key = &self.steps.get(step)?.key;
        let about = |noted: &&Noted| {
            noted.warning.code == NOTED
                && noted.step.as_ref().is_none_or(|it| it == key)
                && noted.variant.is_none_or(|it| it == variant)
        };
        self.warnings.iter().find(about).map(|noted| noted.warning.text.as_str())
    }
}
