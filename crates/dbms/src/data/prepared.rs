//! Prepared data directories: created once per build and options; every trial gets a copy. The
//! original belongs to steelyard's user, so a server can change only its copy.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::data::{hash, paths};
use crate::obtain::unpack::Modes;
use crate::process::identity;
use crate::{Cache, Error, ServerSpec, ServerUser};

/// The prepared data directory for `spec`, whose programs are in `bin_dir`, from the cache or
/// created by `make`. The names of such directories begin with `prefix`; a change in what `make`
/// does needs another `form`.
pub(crate) fn prepare(
    spec: &ServerSpec<'_>,
    bin_dir: &Path,
    prefix: &str,
    form: &str,
    make: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<PathBuf, Error> {
    let build = &spec.installation.build;
    let parts = [form, &bin_dir.to_string_lossy()].map(str::to_owned).into_iter();
    let parts = parts.chain(build.iter().flat_map(|(key, value)| [key.clone(), value.clone()]));
    let hash = hash::of_texts(parts.chain(spec.initdb.iter().cloned()));
    let name = format!("{prefix}{}-{}", spec.installation.version, &hash[..16]);
    let finished = spec.cache.finished(&name);
    if finished.is_dir() {
        return Ok(finished);
    }
    let _lock = spec.cache.lock(&name)?;
    if finished.is_dir() {
        return Ok(finished);
    }
    spec.user.check_reach(spec.cache.path())?;
    let workshop = spec.cache.workshop(&name)?;
    let (theirs, ours) = (workshop.path().join("initialized"), workshop.path().join("made"));
    paths::make_private(&theirs, &spec.user)?;
    make(&theirs)?;
    identity::take_over(&spec.user, &theirs, &ours, Modes::Kept)?;
    remove_old(spec.cache, prefix)?;
    spec.cache.publish(&ours, &name)
}

/// Removes files of the servers' user that an earlier steelyard kept.
fn remove_old(cache: &Cache, prefix: &str) -> Result<(), Error> {
    let own = ServerUser::caller().uid;
    for name in cache.names(prefix) {
        let path = cache.finished(&name);
        if std::fs::symlink_metadata(&path).is_ok_and(|found| found.uid() != own) {
            std::fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_an_earlier_version_kept_for_nobody_is_removed() {
        if ServerUser::caller().uid != 0 {
            return testing::skip("not root, so nothing can be given away");
        }
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::at(directory.path()).unwrap();
        for name in ["pgdata-old", "pgdata-ours", "postgres-old"] {
            std::fs::create_dir_all(cache.finished(name).join("base")).unwrap();
        }
        paths::give(&cache.finished("pgdata-old"), 65_534, 65_534).unwrap();
        remove_old(&cache, "pgdata-").unwrap();
        assert_eq!(cache.names("pgdata-"), ["pgdata-ours"]);
        assert_eq!(cache.names("postgres-"), ["postgres-old"]);
    }
}
