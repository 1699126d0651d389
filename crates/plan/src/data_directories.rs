//! Data directories of the user's: the keys of workloads whose data may come from one.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::key::{CommandOption, Form, Key};
use crate::kind::{one_or_more, string};
use crate::problem::Problems;

/// The option for the directories.
pub(crate) const RESTORE: CommandOption = CommandOption {
    key: "restore",
    name: "restore",
    value: "DIR,…",
    form: Form::Names,
    help: "Data directory of a stopped server, copied for each variant; of several, the first that it can start on",
};

/// The option for the database in it.
pub(crate) const DATABASE: CommandOption = CommandOption {
    key: "database",
    name: "database",
    value: "NAME",
    form: Form::Name,
    help: "The database in that directory which sessions use",
};

/// The data directories of stopped servers, which are copied: one, or several for systems that
/// can't read each other's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataDirectories {
    /// The directories, by their whole paths once the plan is read. Each variant has the first that
    /// its servers can start on.
    pub restore: Vec<String>,
    /// What identifies the state of each when the plan was read: SHA-256, in hexadecimal digits.
    pub digests: Vec<String>,
    /// The database in them which sessions use.
    pub database: Option<String>,
}

impl DataDirectories {
    /// The directories and the database; `None` if the data is not from a directory.
    pub fn named(&self) -> Option<(impl Iterator<Item = &Path>, &str)> {
        let database = self.database.as_deref().filter(|_| !self.restore.is_empty())?;
        Some((self.restore.iter().map(Path::new), database))
    }

    /// Checks that no file in one of them, or in those before it, was written since the plan was
    /// read.
    ///
    /// # Errors
    /// A sentence: something was, or it can't be read.
    pub fn check_unchanged(&self, directory: &Path) -> Result<(), String> {
        for (path, known) in self.restore.iter().zip(&self.digests) {
            if digest(Path::new(path))? != *known {
                return Err(format!(
                    "the data directory {path} has changed since the plan was read: is a server \
                     running on it? Stop it, and start a new run"
                ));
            }
            if Path::new(path) == directory {
                break;
            }
        }
        Ok(())
    }

    /// Its keys.
    #[rustfmt::skip] // A table.
    pub(crate) fn keys(&mut self) -> Vec<Key<'_>> {
        let (named, looked) = (!self.restore.is_empty(), !self.digests.is_empty());
        vec![
            Key::new("restore", &mut self.restore, one_or_more(string())).written(named)
                .note("is copied, and must not change")
                .means("data directories of stopped servers, relative to the plan; a variant's servers start on copies of the first that they can start on; see [A data directory](queries.md#a-data-directory)"),
            Key::new("restore_digest", &mut self.digests, one_or_more(string())).written(looked)
                .usual("of the directories when the plan is read").note("of its files, sizes and times")
                .means("SHA-256 of names, sizes and times of the files in each of `restore`, which must not change"),
            Key::optional("database", &mut self.database, string()).note("in the data directory")
                .means("the database in `restore` that sessions use"),
        ]
    }

    /// The key and the paths, unless the directories were looked into before.
    pub(crate) fn unread(&mut self) -> Option<(&'static str, Vec<&mut String>)> {
        let unread = |path| self.digests.is_empty() || Path::new(path).is_relative();
        let any = self.restore.iter().any(unread);
        any.then(|| (RESTORE.key, self.restore.iter_mut().collect()))
    }

    /// Looks into the directories, and keeps what it found.
    pub(crate) fn look(&mut self) -> Result<Vec<(&'static str, Value)>, String> {
        let found = self.restore.iter().map(|path| digest(Path::new(path)));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        if !self.digests.is_empty() && self.digests != found {
            return Err(format!(
                "expected the data of `restore_digest`, found {}",
                found.join(", ")
            ));
        }
        self.digests.clone_from(&found);
        Ok(vec![("restore", Value::from(&*self.restore)), ("restore_digest", Value::from(found))])
    }

    /// Reports what does not fit together. `init`: true if a command loads data, too.
    pub(crate) fn check(&self, workload: &str, init: bool, problems: &mut Problems) {
        let path = |key: &str| format!("workload.{workload}.{key}");
        if !self.digests.is_empty() && self.digests.len() != self.restore.len() {
            problems.of(
                &path("restore_digest"),
                "expected one `restore_digest` for each of `restore`; remove it to make it anew",
            );
        }
        match (!self.restore.is_empty(), self.database.is_some()) {
            (true, false) => problems.of(
                &path(RESTORE.key),
                "`restore` without `database`; add database = \"NAME\", a database in that directory",
            ),
            (false, true) => problems.of(
                &path(DATABASE.key),
                "`database` without `restore`; remove it, or add restore = \"DIR\"",
            ),
            (true, true) if init => problems.of(
                &path(RESTORE.key),
                "`restore` and `init` both make the data; remove one of them",
            ),
            _ => {}
        }
    }

    /// Data is the same wherever it lies.
    pub(crate) fn clear_place(&mut self) {
        self.restore.clear();
    }
}

/// The digits of a digest.
pub(crate) fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What identifies the state of a directory: SHA-256 of the paths, sizes and times of everything in
/// it. A server that only starts and stops on it changes that.
fn digest(root: &Path) -> Result<String, String> {
    let failed = |path: &Path, error: io::Error| format!("cannot read {}: {error}", path.display());
    let mut hash = Sha256::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let paths = |entries: fs::ReadDir| entries.map(|entry| Ok(entry?.path())).collect();
        let read: io::Result<Vec<PathBuf>> = fs::read_dir(&directory).and_then(paths);
        let mut paths = read.map_err(|error| failed(&directory, error))?;
        paths.sort();
        for path in paths {
            let found = fs::symlink_metadata(&path).map_err(|error| failed(&path, error))?;
            let name = path.strip_prefix(root).unwrap_or(&path).as_os_str().as_bytes();
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
            if found.is_dir() {
                directories.push(path);
                continue;
            }
            hash.update(found.size().to_le_bytes());
            hash.update(found.mtime().to_le_bytes());
            hash.update(found.mtime_nsec().to_le_bytes());
        }
    }
    Ok(hexadecimal(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, PlanError};

    fn parsed(section: &str, folder: Option<&Path>, dbms: &str) -> Result<Plan, PlanError> {
        let text = format!(
            "[variants.a]\ndbms = \"{dbms}\"\n[workload.queries]\ntexts = {{ \"q.sql\" = \"SELECT 1\" }}\n{section}"
        );
        Plan::parse(&text, folder, "test")
    }

    #[test]
    fn a_plan_keeps_the_state_of_its_data_directory() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("data/base");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("1"), "one").unwrap();
        let section = "restore = \"data\"\ndatabase = \"shop\"";
        let plan = parsed(section, Some(folder.path()), "postgres@16").unwrap();
        let data = plan.workload.data_directories().unwrap();
        let (mut paths, database) = data.named().unwrap();
        let path = paths.next().unwrap();
        assert!(path.is_absolute() && path.ends_with("data"), "{path:?}");
        assert_eq!((database, plan.restore_after.as_deref()), ("shop", None));
        assert!(plan.added.is_empty());
        data.check_unchanged(path).unwrap();
        for text in [plan.to_toml(), plan.text.clone()] {
            let again = Plan::parse(&text, None, "again").unwrap();
            assert_eq!(again.workload, plan.workload, "{text}");
        }
        fs::write(inner.join("1"), "two").unwrap();
        assert!(
            data.check_unchanged(path).unwrap_err().contains("has changed since the plan was read")
        );
        let changed = parsed(section, Some(folder.path()), "postgres@16").unwrap();
        assert_ne!(changed.workload.without_steps(), plan.workload.without_steps());
        fs::create_dir(folder.path().join("other")).unwrap();
        let section = "restore = [\"other\", \"data\"]\ndatabase = \"shop\"";
        let two = parsed(section, Some(folder.path()), "postgres@16").unwrap();
        let data = two.workload.data_directories().unwrap();
        assert_eq!((data.named().unwrap().0.count(), data.digests.len()), (2, 2));
        assert_eq!(Plan::parse(&two.text, None, "again").unwrap().workload, two.workload);
        fs::write(inner.join("1"), "three").unwrap();
        let other = fs::canonicalize(folder.path().join("other")).unwrap();
        data.check_unchanged(&other).unwrap();
        data.check_unchanged(path).unwrap_err();
        let data = plan.workload.data_directories().unwrap();
        fs::remove_dir_all(folder.path().join("data")).unwrap();
        assert!(data.check_unchanged(path).unwrap_err().contains("cannot read"));
    }

    #[test]
    fn mistakes_are_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        let (both, server) = ("restore = \"data\"\ndatabase = \"d\"", "postgres://me@127.0.0.1/d");
        for (section, dbms, message) in [
            ("restore = \"data\"", "postgres@16", "`restore` without `database`"),
            ("database = \"d\"", "postgres@16", "`database` without `restore`"),
            ("restore = \"none\"\ndatabase = \"d\"", "postgres@16", "cannot read"),
            (&format!("{both}\ninit = \"true\""), "postgres@16", "both make the data"),
            (
                "restore = [\"/a\", \"/b\"]\nrestore_digest = \"0\"\ndatabase = \"d\"",
                "postgres@16",
                "one `restore_digest` for each",
            ),
            (both, server, "`a` is a running server"),
        ] {
            let error = parsed(section, Some(folder.path()), dbms).unwrap_err().to_string();
            assert!(error.contains(message), "{section}: {error}");
        }
    }
}
