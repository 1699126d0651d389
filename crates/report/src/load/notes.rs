//! What people noted about the results, beside the warnings.

use store::{NOTED, Note, NoteKind, Store, Warning};

use super::model::{Noted, Results};
use crate::ReportError;
use crate::output::time::rfc3339;

/// A note in words.
pub fn told(note: &Note) -> String {
    let day: String = rfc3339(note.at_ms).chars().take(10).collect();
    let text = if note.text.is_empty() { String::new() } else { format!(": {}", note.text) };
    format!("{}{text} ({}, {day})", note.kind.as_str(), note.by)
}

/// Why a note can't be about an experiment: it says too little, or names a step or a variant that
/// the experiment does not have.
pub fn refused(results: &Results, note: &Note) -> Option<String> {
    let lacks = match note.kind {
        NoteKind::Bug => Some("which: its address or number"),
        NoteKind::Fixed => Some("in what: a version or commit"),
        NoteKind::Expected | NoteKind::Noise | NoteKind::Withdrawn => None,
    };
    if let Some(lacks) = lacks.filter(|_| note.text.trim().is_empty()) {
        return Some(format!("{} says {lacks}", note.kind.as_str()));
    }
    if let Some(name) = &note.variant
        && results.variant_named(name).is_none()
    {
        let known: Vec<&str> = results.variants.iter().map(|it| it.variant.name.as_str()).collect();
        return Some(format!("expected one of the variants {}, found {name}", known.join(", ")));
    }
    let keys = || results.steps.iter().map(|step| &step.key);
    if let Some(name) = &note.step
        && !keys().any(|key| key.name == *name && note.dop.is_none_or(|dop| dop == key.dop))
    {
        let mut known: Vec<&str> = keys().map(|key| key.name.as_str()).collect();
        known.dedup();
        return Some(format!("expected one of the steps {}, found {name}", known.join(", ")));
    }
    None
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
