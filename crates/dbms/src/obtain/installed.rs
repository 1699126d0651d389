//! Installations in the cache. Each has a file that describes it; the presence of that file means
//! that it is complete.

use std::fs;
use std::path::Path;

use crate::api::builds::SYMBOLS;
use crate::data::paths;
use crate::{Cache, Error, Installation, Kind, ServerUser};

/// The file.
pub(crate) const DESCRIPTION: &str = "steelyard.json";
/// The file with the key of a build.
pub(crate) const KEY: &str = "steelyard-build.json";

/// The installation called `name`, if it is in the cache.
pub(crate) fn find(
    kind: &dyn Kind,
    cache: &Cache,
    name: &str,
    user: &ServerUser,
) -> Result<Option<Installation>, Error> {
    let directory = cache.finished(name);
    let path = directory.join(DESCRIPTION);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", &path)(error)),
    };
    let mut installation: Installation =
        serde_json::from_slice(&text).map_err(|error| Error::Installation {
            system: kind.name(),
            path: directory.clone(),
            problem: format!(
                "{DESCRIPTION} is damaged ({error}); remove the directory to have it created again"
            ),
        })?;
    // The cache may have been moved since.
    installation.bin_dir = Some(directory.join("bin"));
    if !installation.build.contains_key(SYMBOLS) {
        // An earlier steelyard recorded less.
        let facts = kind.describe(&directory, user)?.build;
        installation.build.extend(facts);
        rewrite(&installation);
    }
    Ok(Some(installation))
}

/// Writes a description of which more is known now. If that is not permitted, the next time finds
/// it out again.
pub(crate) fn rewrite(installation: &Installation) {
    if let Some(directory) = installation.bin_dir.as_deref().and_then(Path::parent) {
        let _ = write(directory, installation);
    }
}

/// The installation called `name`, from the cache, or made by `make` while holding `lock`.
pub(crate) fn find_or_make(
    kind: &dyn Kind,
    cache: &Cache,
    name: &str,
    lock: &str,
    user: &ServerUser,
    make: impl FnOnce() -> Result<Installation, Error>,
) -> Result<Installation, Error> {
    if let Some(installation) = find(kind, cache, name, user)? {
        return Ok(installation);
    }
    let _lock = cache.lock(lock)?;
    // Another process may have made it during the wait.
    find(kind, cache, name, user)?.map_or_else(make, Ok)
}

/// Is `name` a complete installation?
pub(crate) fn is_complete(cache: &Cache, name: &str) -> bool {
    is_described(&cache.finished(name))
}

/// Does this directory have a description?
pub(crate) fn is_described(directory: &Path) -> bool {
    directory.join(DESCRIPTION).is_file()
}

/// Publishes the installation in `made` (in a workshop) under `name`, with its description.
pub(crate) fn publish(
    cache: &Cache,
    name: &str,
    made: &Path,
    installation: &mut Installation,
) -> Result<(), Error> {
    // Where it will be.
    installation.bin_dir = Some(cache.finished(name).join("bin"));
    write(made, installation)?;
    cache.publish(made, name).map(|_| ())
}

fn write(directory: &Path, installation: &Installation) -> Result<(), Error> {
    let path = directory.join(DESCRIPTION);
    let text = serde_json::to_vec_pretty(installation)
        .map_err(|error| Error::answer("a description that can be written", error))?;
    paths::replace(&path, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn published_installations_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let (cache, user) = (Cache::at(directory.path()).unwrap(), ServerUser::caller());
        let find = |name: &str| find(&crate::postgres::Postgres, &cache, name, &user);
        let workshop = cache.workshop("x").unwrap();
        let made = workshop.path().join("made");
        fs::create_dir(&made).unwrap();
        let mut installation = Installation {
            dbms: "postgres".to_owned(),
            version: "15.8".to_owned(),
            source: "here".to_owned(),
            bin_dir: None,
            build: BTreeMap::from([("symbols".to_owned(), "all".to_owned())]),
        };
        assert!(find("x").unwrap().is_none() && !is_complete(&cache, "x"));
        publish(&cache, "x", &made, &mut installation).unwrap();
        assert!(is_complete(&cache, "x"));
        assert_eq!(find("x").unwrap().unwrap(), installation);
        fs::write(cache.finished("x").join(DESCRIPTION), "{").unwrap();
        assert!(find("x").unwrap_err().to_string().contains("remove the directory"));
    }
}
