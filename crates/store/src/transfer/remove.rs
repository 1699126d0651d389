//! Removing an experiment, with the files that belong to it.

use std::fs;
use std::io::ErrorKind;

use crate::error::{Result, StoreError};
use crate::records::ExperimentId;
use crate::store::Store;
use crate::transfer::artifacts::{NewIds, entries};

impl Store {
    /// Removes an experiment: its artifacts, then its rows. Data that experiments share (names,
    /// facts about machines) stays. If it is interrupted, the experiment can be removed again.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if there is none, or if something cannot be removed.
    pub fn remove_experiment(&self, experiment: ExperimentId) -> Result<()> {
        self.require(&self.connection, "experiment", experiment.0)?;
        for (_, file) in self.artifacts_of(experiment, &NewIds::same(self, experiment)?)? {
            fs::remove_file(&file).map_err(|source| StoreError::from_io(&file, source))?;
        }
        for kind in entries(&self.artifacts())? {
            let directory = kind.join(experiment.to_string());
            if let Err(error) = fs::remove_dir_all(&directory)
                && !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
            {
                return Err(StoreError::from_io(&directory, error));
            }
        }
        self.transaction(|connection| {
            // Everything else refers to it, and is deleted along.
            let removed =
                connection.execute("DELETE FROM experiment WHERE id = ?1", [experiment.0]);
            self.wrap(removed).map(drop)
        })
    }
}
