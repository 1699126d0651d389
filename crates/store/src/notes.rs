//! What people say about results: a verdict is expected, a known bug, fixed, or noise.
//!
//! Notes are rows of `warning` whose code is [`NOTED`], so they are shown where warnings are, and
//! go wherever their experiment goes. They are about results and not part of them, so the content
//! hash leaves them out. None is changed: a later one about the same takes its place.

use std::collections::{BTreeMap, BTreeSet};

use reference::without_passwords;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::records::ExperimentId;
use crate::step::Warning;
use crate::store::Store;

/// The code of a warning that is a note; its text is a [`Note`] as JSON.
pub const NOTED: &str = "noted";

/// A note about an experiment, or a part of it. What is `None` stands for all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Name of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Number of clients of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dop: Option<u32>,
    /// Name of the variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What it says.
    pub kind: NoteKind,
    /// More about it, such as the address of a bug.
    pub text: String,
    /// Who wrote it.
    pub by: String,
    /// When, milliseconds since 1970 (UTC).
    pub at_ms: i64,
}

/// What a note says of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoteKind {
    /// It is meant to be there.
    Expected,
    /// It is a bug, which the text names.
    Bug,
    /// It is fixed in what the text names.
    Fixed,
    /// It is chance.
    Noise,
    /// What was noted before does not hold.
    Withdrawn,
}

impl NoteKind {
    /// All, with their words.
    pub const NAMED: [(&str, NoteKind); 5] = [
        ("expected", NoteKind::Expected),
        ("bug", NoteKind::Bug),
        ("fixed", NoteKind::Fixed),
        ("noise", NoteKind::Noise),
        ("withdrawn", NoteKind::Withdrawn),
    ];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        let named = Self::NAMED.into_iter().find(|(_, kind)| *kind == self);
        named.map_or("", |(name, _)| name)
    }
}

impl Note {
    /// What it is about.
    fn about(&self) -> (Option<String>, Option<u32>, Option<String>) {
        (self.step.clone(), self.dop, self.variant.clone())
    }
}

/// Notes on experiments.
impl Store {
    /// Adds a note to an experiment.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn note(&self, experiment: ExperimentId, note: &Note) -> Result<()> {
        let note = Note { text: without_passwords(&note.text), ..note.clone() };
        let text = serde_json::to_string(&note).unwrap_or_default();
        self.warn(experiment, None, &Warning { code: NOTED.to_owned(), text })
    }

    /// All notes on an experiment, the oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn all_notes(&self, experiment: ExperimentId) -> Result<Vec<Note>> {
        let noted = self.warnings(experiment)?.into_iter().map(|stored| stored.warning);
        let noted = noted.filter(|warning| warning.code == NOTED);
        // One of a later version, with a kind that is not known here, is left out.
        let mut found: Vec<Note> =
            noted.filter_map(|warning| serde_json::from_str(&warning.text).ok()).collect();
        found.sort_by_key(|note| note.at_ms);
        Ok(found)
    }

    /// The notes that hold: the last about each part of an experiment, unless it was withdrawn.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn notes(&self, experiment: ExperimentId) -> Result<Vec<Note>> {
        let mut last = BTreeMap::new();
        for note in self.all_notes(experiment)? {
            last.insert(note.about(), note);
        }
        last.retain(|_, note| note.kind != NoteKind::Withdrawn);
        Ok(last.into_values().collect())
    }

    /// Marks of all notes, short texts that are the same in every store.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn note_marks(&self, experiment: ExperimentId) -> Result<BTreeSet<String>> {
        let mark = |note: &Note| {
            let sum = Sha256::digest(serde_json::to_vec(note).unwrap_or_default());
            sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
        };
        Ok(self.all_notes(experiment)?.iter().map(mark).collect())
    }

    /// Adds the notes that the same experiment has in another store. Returns how many were new.
    ///
    /// # Errors
    /// If a database cannot be read or written.
    pub fn merge_notes(
        &self,
        experiment: ExperimentId,
        other: &Store,
        same: ExperimentId,
    ) -> Result<usize> {
        let known = self.all_notes(experiment)?;
        let notes = other.all_notes(same)?;
        let new: Vec<&Note> = notes.iter().filter(|note| !known.contains(note)).collect();
        self.at_once(|| new.iter().try_for_each(|note| self.note(experiment, note)))?;
        Ok(new.len())
    }
}
