//! From an archive file into a results directory.

use std::path::Path;

use store::{Experiment, ExperimentId, Purpose, Store};

use crate::Error;
use crate::bounded::largest;
use crate::file;
use crate::manifest::{Manifest, Summary};

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// It was added with this number.
    Added(ExperimentId, Summary),
    /// The results directory has the same experiment already, with this number. Notes on it that
    /// were new were added.
    Present(ExperimentId, Summary),
}

/// True if the file's beginning is that of a file that [`crate::export`] wrote.
///
/// # Errors
/// If it cannot be read.
pub fn is_archive(path: &Path) -> Result<bool, Error> {
    file::is_archive(path).map_err(Error::io("read", path))
}

/// Reads an archive file to its end and checks everything in it.
///
/// # Errors
/// If it is damaged, something else, too large, or was written by another version of steelyard.
pub fn verify(path: &Path) -> Result<Manifest, Error> {
    file::read(path, &path.display().to_string(), largest()?, None)
}

/// Adds the experiment of an archive file to a results directory, which is created if it does not
/// exist: all of it in one transaction, or nothing.
///
/// # Errors
/// As [`verify`]; if the directory has the same experiment in another state; or if it cannot be
/// written.
pub fn import(path: &Path, results: &Path) -> Result<Imported, Error> {
    import_named(path, &path.display().to_string(), results, None)
}

/// The same; `name` says in errors where the file came from. It gets this `number`. If none is
/// given and the directory has no other experiment, it keeps its old one.
///
/// # Errors
/// As [`import`].
pub fn import_named(
    path: &Path,
    name: &str,
    results: &Path,
    number: Option<i64>,
) -> Result<Imported, Error> {
    // Before anything is made: a bad file leaves no trace.
    let largest = largest()?;
    file::read(path, name, largest, None)?;
    let store = Store::open(results)?;
    let incoming = store.incoming()?;
    let staged = incoming.results();
    let manifest = file::read(path, name, largest, Some(&staged))?;
    let damaged = |problem: String| Error::Damaged { name: name.to_owned(), problem };
    let content = |store: &Store, id| store.content_hash(id);
    let copy = Store::open_read_only(&staged)
        .map_err(|error| damaged(format!("its database cannot be read ({error})")))?;
    let all = copy.all_experiments()?;
    let [experiment] = all.as_slice() else {
        return Err(damaged(format!("expected one experiment, found {}", all.len())));
    };
    let found = content(&copy, experiment.id)?;
    // That of a count changed with the schema.
    let hashed_anew = manifest.schema < Store::schema() && experiment.purpose == Purpose::Count;
    if found != manifest.content && !hashed_anew {
        let expected = &manifest.content;
        return Err(damaged(format!("expected the content hash {expected}, found {found}")));
    }
    let summary = Summary { number: manifest.experiment.number, ..Summary::of(&copy, experiment)? };
    let mut other = None;
    for same in store.begun_like(experiment)? {
        if content(&store, same.id)? == found {
            store.merge_notes(same.id, &copy, experiment.id)?;
            return Ok(Imported::Present(same.id, summary));
        }
        other = Some(same);
    }
    if let Some(other) = other {
        let here = Summary::of(&store, &other)?;
        let state = |of: &Experiment, it: &Summary| {
            format!("{} with {} finished trials", of.state.as_str(), it.trials)
        };
        return Err(Error::OtherState {
            name: name.to_owned(),
            state: state(experiment, &summary),
            results: results.to_owned(),
            here: other.id.0,
            here_state: state(&other, &here),
        });
    }
    let id = experiment.id;
    drop(copy);
    // Not a number that leaves no room for others.
    let fits = |number: &i64| (1..1 << 31).contains(number);
    let first = store.all_experiments()?.is_empty();
    let wanted = number.or(Some(summary.number).filter(|_| first)).filter(fits);
    let new = store.admit(&incoming, id, wanted.map(ExperimentId))?;
    Ok(Imported::Added(new, summary))
}
