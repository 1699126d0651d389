//! The directory that keeps fetched binaries and prepared data directories between runs.
//!
//! Whatever is published in it is complete: it is made in a temporary directory next to it, flushed
//! and renamed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::data::paths;

/// The cache directory.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache in its usual place: the environment variable `STEELYARD_CACHE`; otherwise, as
    /// root, `/var/cache/steelyard`; otherwise `$XDG_CACHE_HOME/steelyard` or `~/.cache/steelyard`.
    ///
    /// # Errors
    /// [`Error::Place`] if the directory cannot be created or written to.
    pub fn open_default() -> Result<Self, Error> {
        let usual = ["/var/cache/steelyard", "XDG_CACHE_HOME", ".cache"];
        paths::open_default("STEELYARD_CACHE", usual, |path| Self::at(path))
    }

    /// The cache in directory `path`, which is created if it does not exist.
    ///
    /// # Errors
    /// [`Error::Io`] if the directory cannot be created.
    pub fn at(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        paths::create_directories(path)?;
        let root =
            fs::canonicalize(path).map_err(Error::io("resolve the cache directory", path))?;
        Ok(Self { root })
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Locks the thing called `name` until the guard is dropped; waits for other processes and
    /// threads.
    pub(crate) fn lock(&self, name: &str) -> Result<File, Error> {
        paths::lock(&self.root.join(format!("{name}.lock")))
    }

    /// The path of the finished thing called `name`.
    pub(crate) fn finished(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A temporary directory next to the finished things, mode 0755, removed when dropped. Its path
    /// is always the same, for work whose result depends on its location. The caller holds the lock
    /// of `name`, so leftovers of an interrupted process are removed first.
    pub(crate) fn workshop(&self, name: &str) -> Result<tempfile::TempDir, Error> {
        let prefix = format!(".{name}.");
        for entry in fs::read_dir(&self.root).map_err(Error::io("read", &self.root))?.flatten() {
            if entry.file_name().to_str().is_some_and(|n| n.starts_with(&prefix)) {
                fs::remove_dir_all(entry.path())
                    .map_err(Error::io("remove the leftover", &entry.path()))?;
            }
        }
        let directory = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix("here")
            .rand_bytes(0)
            .tempdir_in(&self.root)
            .map_err(Error::io("create a temporary directory in", &self.root))?;
        paths::set_mode(directory.path(), 0o755)?;
        Ok(directory)
    }

    /// Makes `made` (a directory inside a workshop) the finished thing `name`: flush, rename, flush
    /// the parent.
    pub(crate) fn publish(&self, made: &Path, name: &str) -> Result<PathBuf, Error> {
        paths::sync_tree(made)?;
        let target = self.finished(name);
        fs::rename(made, &target).map_err(Error::io("publish", &target))?;
        let root = File::open(&self.root).map_err(Error::io("open", &self.root))?;
        root.sync_all().map_err(Error::io("flush", &self.root))?;
        Ok(target)
    }

    /// Names of finished things that begin with `prefix`.
    pub(crate) fn names(&self, prefix: &str) -> Vec<String> {
        let Ok(listing) = fs::read_dir(&self.root) else { return Vec::new() };
        listing
            .flatten()
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.starts_with(prefix))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishes_whole_directories_and_removes_leftovers() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::at(directory.path()).unwrap();
        fs::create_dir(directory.path().join(".thing.left")).unwrap();
        let lock = cache.lock("thing").unwrap();
        let workshop = cache.workshop("thing").unwrap();
        assert!(!directory.path().join(".thing.left").exists());
        let made = workshop.path().join("made");
        fs::create_dir(&made).unwrap();
        fs::write(made.join("file"), "x").unwrap();
        let finished = cache.publish(&made, "thing").unwrap();
        assert_eq!(fs::read_to_string(finished.join("file")).unwrap(), "x");
        drop(lock);
        drop(workshop);
        let fixed = cache.workshop("other").unwrap();
        let path = fixed.path().to_path_buf();
        // As after a kill -9: nothing removed it.
        let _ = fixed.keep();
        assert_eq!(cache.workshop("other").unwrap().path(), path);
        assert_eq!(cache.names("thing"), ["thing"]);
    }
}
