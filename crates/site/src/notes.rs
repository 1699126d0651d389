//! Adding notes to experiments, for people who look at the pages.

use std::path::Path;

use report::{ReportError, Which};
use store::{ExperimentId, Note, Store, StoreError};

/// Why a note was not added.
#[derive(Debug, thiserror::Error)]
pub enum NoteError {
    /// There is no experiment of this number.
    #[error("there is no such experiment")]
    NoExperiment,
    /// It says too little, or is about something that the experiment does not have.
    #[error("{0}")]
    Refused(String),
    /// The store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Adds a note to an experiment of a results directory.
///
/// # Errors
/// As [`NoteError`] says.
pub fn add_note(results: &Path, experiment: i64, note: &Note) -> Result<(), NoteError> {
    let (store, id) = (Store::open_existing(results)?, ExperimentId(experiment));
    if !store.all_experiments()?.iter().any(|it| it.id == id) {
        return Err(NoteError::NoExperiment);
    }
    let found = report::load(&store, Which::RunOrCount(id)).map_err(|error| match error {
        ReportError::Store(error) => NoteError::Store(error),
        other => NoteError::Refused(other.to_string()),
    })?;
    match report::refused_note(&found, note) {
        Some(why) => Err(NoteError::Refused(why)),
        None => Ok(store.note(id, note)?),
    }
}
