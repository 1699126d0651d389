//! Which files among the artifacts belong to an experiment.
//!
//! By their names: `KIND/EXPERIMENT/…`, or `KIND/….bBLOCK….tTRIAL.EXTENSION`. A file of the first
//! form may also name its trial in that way.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use crate::error::{Result, StoreError};
use crate::records::{ExperimentId, TrialId};
use crate::store::Store;

/// The ids of an experiment and its trials in two stores: in the first, in the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIds {
    /// Ids of the experiment.
    pub experiment: (ExperimentId, ExperimentId),
    /// Ids of its trials.
    pub trials: BTreeMap<TrialId, TrialId>,
}

impl NewIds {
    /// Ids of an experiment that stays where it is.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn same(store: &Store, experiment: ExperimentId) -> Result<Self> {
        let trials = store.trials(experiment)?.into_iter().map(|trial| (trial.id, trial.id));
        Ok(Self { experiment: (experiment, experiment), trials: trials.collect() })
    }

    /// The path, below `artifacts/` of the second store, of a file below `artifacts/` of the first;
    /// `None` if it doesn't belong to the experiment.
    pub fn artifact(&self, path: &Path) -> Option<PathBuf> {
        let mut parts = Vec::new();
        for component in path.components() {
            let Component::Normal(part) = component else { return None };
            parts.push(part.to_str()?.to_owned());
        }
        let (old, new) = self.experiment;
        let file = parts.last()?.clone();
        let named = trial_of(&file);
        match (parts.len(), named) {
            (2, Some(named)) => *parts.last_mut()? = self.renamed(named)?,
            (3.., named) if *parts.get(1)? == old.to_string() => {
                *parts.get_mut(1)? = new.to_string();
                if let Some(named) = named {
                    *parts.last_mut()? = self.renamed(named)?;
                }
            }
            _ => return None,
        }
        Some(parts.iter().collect())
    }

    /// The name of a file of one of the trials; `None` if it is of another.
    fn renamed(&self, (before, trial, extension): (&str, TrialId, &str)) -> Option<String> {
        let new = self.trials.get(&trial)?;
        Some(format!("{before}.t{new}.{extension}"))
    }
}

/// The trial that a file names, with what stands before and after it.
fn trial_of(file: &str) -> Option<(&str, TrialId, &str)> {
    let (stem, extension) = file.rsplit_once('.')?;
    let (before, trial) = stem.rsplit_once(".t")?;
    if !trial.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let is_block = |part: &str| {
        let digits = part.strip_prefix('b').unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !before.split('.').skip(1).any(is_block) {
        return None;
    }
    Some((before, TrialId(trial.parse().ok()?), extension))
}

impl Store {
    /// Copies the artifacts of an experiment into another store, in which it has the second ids. A
    /// file that is there already stays as it is.
    ///
    /// # Errors
    /// If a file or directory cannot be read or written.
    pub fn copy_artifacts(&self, experiment: ExperimentId, ids: &NewIds, to: &Store) -> Result<()> {
        for (name, file) in self.artifacts_of(experiment, ids)? {
            let place = to.artifacts().join(name);
            if place.exists() {
                continue;
            }
            if let Some(folder) = place.parent() {
                fs::create_dir_all(folder).map_err(|source| StoreError::from_io(folder, source))?;
            }
            fs::copy(&file, &place).map_err(|source| StoreError::from_io(&place, source))?;
        }
        Ok(())
    }

    /// The artifacts of an experiment: their paths below `artifacts/` with the second ids, and the
    /// files, in the order of these paths. Links and special files are not artifacts.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn artifacts_of(
        &self,
        experiment: ExperimentId,
        ids: &NewIds,
    ) -> Result<Vec<(PathBuf, PathBuf)>> {
        let root = self.artifacts();
        let mut found = Vec::new();
        let number = experiment.to_string();
        for kind in entries(&root)? {
            for path in entries(&kind)? {
                // Directories of other experiments need not be searched.
                let named = path.file_name().is_some_and(|name| name == number.as_str());
                if path.is_file() || named {
                    files(&path, &mut found)?;
                }
            }
        }
        let renamed = |file: PathBuf| {
            let path = file.strip_prefix(&root).ok()?;
            Some((ids.artifact(path)?, file))
        };
        let mut found: Vec<_> = found.into_iter().filter_map(renamed).collect();
        found.sort();
        Ok(found)
    }
}

/// Files at or below a path.
fn files(path: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let kind = fs::symlink_metadata(path).map_err(StoreError::unreadable(path))?;
    if kind.is_file() {
        found.push(path.to_owned());
    } else if kind.is_dir() {
        for entry in entries(path)? {
            files(&entry, found)?;
        }
    }
    Ok(())
}

/// The contents of a directory; empty if it does not exist.
pub(super) fn entries(path: &Path) -> Result<Vec<PathBuf>> {
    let wrap = StoreError::unreadable(path);
    let listing = match fs::read_dir(path) {
        Ok(listing) => listing,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(wrap(error)),
    };
    let entries = listing.map(|entry| entry.map(|entry| entry.path()));
    entries.collect::<io::Result<Vec<_>>>().map_err(wrap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_names() {
        let trials = [(TrialId(8), TrialId(1)), (TrialId(12), TrialId(2))].into();
        let ids = NewIds { experiment: (ExperimentId(3), ExperimentId(1)), trials };
        let of = |path: &str| {
            ids.artifact(Path::new(path)).map(|path| path.to_str().unwrap().to_owned())
        };
        for (path, renamed) in [
            ("logs/pg13.7.b1.dop1.t12.log", "logs/pg13.7.b1.dop1.t2.log"),
            ("profiles/3/l.i0.dop1/a.b2.t8.folded", "profiles/1/l.i0.dop1/a.b2.t1.folded"),
            ("profiles/3/l.i0.dop1/a-b.diff.svg", "profiles/1/l.i0.dop1/a-b.diff.svg"),
            // A variant may be called like a trial.
            ("profiles/3/l.i0.dop1/x.t8.svg", "profiles/1/l.i0.dop1/x.t8.svg"),
            ("doctor/3/report.json", "doctor/1/report.json"),
        ] {
            assert_eq!(of(path).as_deref(), Some(renamed));
        }
        for other in
            ["logs/pg13.7.b1.dop1.t9.log", "profiles/4/x", "x", "logs/x.log", "../3/x", "/3/3/x"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
