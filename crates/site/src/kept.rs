//! Briefs that were read before, with the marks of their experiments.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use report::catalog::Brief;
use serde::{Deserialize, Serialize};
use store::{Experiment, ExperimentId, Store};

use crate::Error;
use crate::mark::{mark, program};
use crate::workers::each;

/// Briefs that were read before. They hold only for the program that read them, and while the marks
/// of their experiments are the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    made_by: String,
    /// By number of the experiment.
    pub(crate) briefs: BTreeMap<i64, KeptBrief>,
}

/// A brief and the mark of its experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptBrief {
    pub(crate) mark: String,
    pub(crate) brief: Brief,
}

impl Kept {
    /// Reads what [`Kept::write`] wrote. Nothing is kept if there is no such file, or if it cannot
    /// be used.
    pub fn read(file: &Path) -> Self {
        let text = std::fs::read(file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// A name for the file with what is known of a database.
    pub fn file_name(database: &Path) -> String {
        format!("{}.json", mark([&*database.to_string_lossy()]))
    }

    /// Writes it to a file, which appears when it is complete.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        if let Some(folder) = file.parent() {
            let wrap = |source| Error::Io { action: "create", path: folder.to_owned(), source };
            std::fs::create_dir_all(folder).map_err(wrap)?;
        }
        Ok(archive::write_whole(file, &serde_json::to_vec(self)?)?)
    }

    /// Brings it up to date with a store: reads what is new or changed, and forgets what is gone.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) fn renewed(mut self, store: &Store) -> Result<Self, Error> {
        let program = program();
        if self.made_by != program {
            self = Self { made_by: program, briefs: BTreeMap::new() };
        }
        // Before what they mark: what is written meanwhile changes a mark later.
        let marks = store.marks()?;
        self.briefs.retain(|id, _| marks.contains_key(&ExperimentId(*id)));
        let known = |id: &ExperimentId, mark: &str| {
            self.briefs.get(&id.0).is_some_and(|kept| kept.mark == mark)
        };
        let marks = marks.into_iter().map(|(id, text)| (id, mark([text.as_str()])));
        let changed: HashMap<_, _> = marks.filter(|(id, mark)| !known(id, mark)).collect();
        if changed.is_empty() {
            return Ok(self);
        }
        // Some may have been removed meanwhile.
        self.briefs.retain(|id, _| !changed.contains_key(&ExperimentId(*id)));
        let mut experiments = store.all_experiments()?;
        experiments.retain(|experiment| changed.contains_key(&experiment.id));
        let read = |store: &Store, experiment: &Experiment| Ok(Brief::read(store, experiment)?);
        each(store, &experiments, read, |place, brief| {
            let id = experiments[place].id;
            let mark = changed.get(&id).cloned().unwrap_or_default();
            self.briefs.insert(id.0, KeptBrief { mark, brief });
            Ok(())
        })?;
        Ok(self)
    }

    /// The program that made it.
    pub(crate) fn made_by(&self) -> &str {
        &self.made_by
    }
}
