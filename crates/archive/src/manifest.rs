//! The first entry of an archive file: its description and contents.

use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use store::{DATABASE, Experiment, ExperimentState, Store};

use crate::Error;

/// The version of the format that this crate writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// The description and table of contents of an archive file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format.
    pub format: u32,
    /// Version of the database's schema.
    pub schema: u32,
    /// Version of the steelyard that wrote the file.
    pub steelyard: String,
    /// [`Store::content_hash`] of the experiment; identifies it everywhere.
    pub content: String,
    /// The summary in `steelyard list`.
    pub experiment: Summary,
    /// All other entries of the file, in their order; the database is the first.
    pub files: Vec<Entry>,
}

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// `steelyard.db`, or a path below `artifacts/`.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content, 64 hexadecimal digits.
    pub sha256: String,
}

/// The known facts about an experiment without its data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Its number where it was exported.
    pub number: i64,
    /// Name from the plan.
    pub name: String,
    /// Name of the workload.
    pub workload: String,
    /// `finished`, `interrupted` or `failed`; in those stored by earlier versions also `running`.
    pub state: String,
    /// `run`, `count` or `import`; in those stored by earlier versions, an import is a `run`.
    pub purpose: String,
    /// Finished trials, without loads.
    pub trials: u64,
    /// Names of the variants, in the order of the plan.
    pub variants: Vec<String>,
    /// Seed of the order of trials and of all parameters.
    pub seed: u64,
    /// When it began, milliseconds since 1970 (UTC).
    pub created_ms: i64,
    /// When it ended or was interrupted, milliseconds since 1970 (UTC).
    pub ended_ms: Option<i64>,
}

/// The purpose of what [`store::IMPORTED`] programs measured.
const IMPORT: &str = "import";

impl Summary {
    /// How long it took in milliseconds, pauses included. None for what runs or was killed, and
    /// for an import: a file only says when it was written.
    pub fn took_ms(&self) -> Option<u64> {
        let ended = self.ended_ms.filter(|_| self.purpose != IMPORT)?;
        u64::try_from(ended - self.created_ms).ok()
    }

    /// Reads it from a store. An experiment stored as running counts as interrupted: a copy never
    /// continues. A caller that knows of a process working on it can correct that.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn of(store: &Store, experiment: &Experiment) -> Result<Self, Error> {
        let trials = store.finished_trials(experiment.id)?;
        let variants = store.variants(experiment.id)?;
        let imported = variants.iter().any(|variant| variant.dbms.starts_with(store::IMPORTED));
        let state = match experiment.state {
            _ if store.failed(experiment.id)?.is_some() => store::FAILED,
            ExperimentState::Running => ExperimentState::Interrupted.as_str(),
            state => state.as_str(),
        };
        Ok(Self {
            number: experiment.id.0,
            name: experiment.name.clone(),
            workload: experiment.workload.clone(),
            state: state.to_owned(),
            purpose: if imported { IMPORT } else { experiment.purpose.as_str() }.to_owned(),
            // Block 0 holds the loads of a plan that loads once.
            trials: trials.iter().filter(|(block, ..)| *block > 0).count() as u64,
            variants: variants.into_iter().map(|variant| variant.name).collect(),
            seed: experiment.seed,
            created_ms: experiment.created_ms,
            ended_ms: experiment.ended_ms,
        })
    }

    /// True if the other is the same experiment, possibly in another state.
    pub fn began_like(&self, other: &Summary) -> bool {
        (&self.name, self.seed, self.created_ms) == (&other.name, other.seed, other.created_ms)
    }

    /// A value to compare states of the same experiment: it is greatest for the one with the most
    /// results.
    pub fn progress(&self) -> (u64, Option<i64>, &str) {
        (self.trials, self.ended_ms, &self.state)
    }
}

impl Manifest {
    /// Refuses a manifest of another version of steelyard, and paths that lead out of the
    /// directory.
    ///
    /// # Errors
    /// [`Error::Newer`], [`Error::Older`] or [`Error::Damaged`]; `name` says which file it is.
    pub(crate) fn check(&self, name: &str) -> Result<(), Error> {
        check_version(name, self.format, self.schema, &self.steelyard)?;
        let damaged = |problem: String| Error::Damaged { name: name.to_owned(), problem };
        if self.files.first().is_none_or(|entry| entry.path != DATABASE) {
            return Err(damaged(format!("its first file is not {DATABASE}")));
        }
        for (place, Entry { path, .. }) in self.files.iter().enumerate() {
            let inside = is_inside(path) && path.starts_with("artifacts/");
            if place > 0 && !inside {
                return Err(damaged(format!("its entry `{path}` leads outside of artifacts/")));
            }
        }
        if !is_hash(&self.content) {
            return Err(damaged("its content hash is not 64 hexadecimal digits".to_owned()));
        }
        Ok(())
    }
}

/// Refuses a version of the schema that cannot be read, and a newer format.
///
/// # Errors
/// [`Error::Newer`] or [`Error::Older`]; `name` says which file or object it is.
pub(crate) fn check_version(
    name: &str,
    format: u32,
    schema: u32,
    steelyard: &str,
) -> Result<(), Error> {
    let known = Store::schema();
    let (name, steelyard) = (name.to_owned(), steelyard.to_owned());
    if format > FORMAT || schema > known {
        let found = format!("format {format}, schema {schema}");
        let known = format!("format {FORMAT}, schema {known}");
        return Err(Error::Newer { name, steelyard, found, known });
    }
    if !Store::reads(schema) {
        return Err(Error::Older { name, steelyard, found: schema, known });
    }
    Ok(())
}

/// True if a text is a SHA-256 as it is written here: 64 hexadecimal digits.
pub fn is_hash(text: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 64 && text.bytes().all(digit)
}

/// True if a path is relative, without `.` and `..`, and written in the usual way.
fn is_inside(path: &str) -> bool {
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    let normal = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    normal && !path.contains('\0') && path.split('/').count() == parts.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        for good in ["artifacts/logs/a.b1.t2.log", "steelyard.db", "artifacts/a b/ü"] {
            assert!(is_inside(good), "{good}");
        }
        for bad in ["../x", "/etc/passwd", "artifacts/../x", "artifacts//x", "artifacts/./x", "a\0"]
        {
            assert!(!is_inside(bad), "{bad}");
        }
    }
}
