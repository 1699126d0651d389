//! From a results directory to an archive file.

use std::path::{Path, PathBuf};

use store::{DATABASE, Experiment, ExperimentId, Store};

use crate::Error;
use crate::file::{describe, pack};
use crate::manifest::{FORMAT, Manifest, Summary};
use crate::output::{PACKED, write_made};
use crate::workshop::Workshop;

/// Writes one experiment with its artifacts to a file, as [`write_whole`](crate::write_whole) does.
/// Returns what is in it.
///
/// # Errors
/// If the experiment cannot be read or the file cannot be written; then there is no new file.
pub fn export(
    store: &Store,
    experiment: ExperimentId,
    to: &Path,
    steelyard: &str,
) -> Result<Manifest, Error> {
    write_made(to, |workshop| pack_in(workshop, store, experiment, steelyard))
}

/// Makes an archive in a directory for work in progress.
pub(crate) fn pack_in(
    workshop: &Workshop,
    store: &Store,
    experiment: ExperimentId,
    steelyard: &str,
) -> Result<(Manifest, PathBuf), Error> {
    let results = workshop.path().join("results");
    let (copy, experiment) = stage(store, experiment, &results)?;
    let content = copy.content_hash(ExperimentId(1))?;
    let mut summary = Summary::of(&copy, &copy.experiment(ExperimentId(1))?)?;
    summary.number = experiment.id.0;
    let ids = store::NewIds::same(&copy, ExperimentId(1))?;
    let artifacts = copy.artifacts_of(ExperimentId(1), &ids)?;
    copy.into_single_file()?;
    let mut files = vec![describe(&results, DATABASE)?];
    for (name, _) in artifacts {
        // Names are checked to be UTF-8 where artifacts are found.
        files.push(describe(&results, &format!("artifacts/{}", name.display()))?);
    }
    let manifest = Manifest {
        format: FORMAT,
        schema: Store::schema(),
        steelyard: steelyard.to_owned(),
        content,
        experiment: summary,
        files,
    };
    let packed = workshop.path().join(PACKED);
    pack(&manifest, &results, &packed)?;
    Ok((manifest, packed))
}

/// Copies an experiment with its artifacts into a results directory of its own.
fn stage(store: &Store, experiment: ExperimentId, to: &Path) -> Result<(Store, Experiment), Error> {
    let original = store.experiment(experiment)?;
    let copy = Store::open(to)?;
    let ids = store.copy_experiment(experiment, &copy, None)?;
    store.copy_artifacts(experiment, &ids, &copy)?;
    Ok((copy, original))
}
