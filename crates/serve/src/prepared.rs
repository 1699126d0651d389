//! Documents that were made before somebody asks for them. They lie in the cache, compressed, under
//! the marks of their contents.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use tempfile::NamedTempFile;

use crate::Error;

/// Files of documents.
#[derive(Debug)]
pub(crate) struct Prepared {
    folder: PathBuf,
    /// The marks of those that are there.
    marks: Mutex<HashSet<String>>,
    /// True while something is measured on this machine.
    pub(crate) measuring: fn() -> bool,
}

impl Prepared {
    /// Those in a folder, which need not exist.
    pub(crate) fn of(folder: PathBuf, measuring: fn() -> bool) -> Prepared {
        let mut marks = HashSet::new();
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            match name.to_str().and_then(|name| name.strip_suffix(".gz")) {
                Some(mark) => _ = marks.insert(mark.to_owned()),
                // It was being written by a service that was killed.
                None => _ = fs::remove_file(entry.path()),
            }
        }
        Prepared { folder, marks: Mutex::new(marks), measuring }
    }

    /// The document with this mark, compressed by gzip.
    pub(crate) fn get(&self, mark: &str) -> Option<Bytes> {
        let found = self.has(mark).then(|| fs::read(self.path(mark)))?;
        if found.is_err() {
            // The cache may have been emptied.
            self.marks().remove(mark);
        }
        found.ok().map(Bytes::from)
    }

    pub(crate) fn has(&self, mark: &str) -> bool {
        self.marks().contains(mark)
    }

    fn marks(&self) -> MutexGuard<'_, HashSet<String>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, mark: &str, packed: &[u8]) -> Result<(), Error> {
        fs::create_dir_all(&self.folder)?;
        let mut file = NamedTempFile::new_in(&self.folder)?;
        file.write_all(packed)?;
        // It would be served for good if a power cut left a part of it.
        file.as_file().sync_data()?;
        file.persist(self.path(mark)).map_err(|error| error.error)?;
        self.marks().insert(mark.to_owned());
        Ok(())
    }

    /// Removes all but those with these marks.
    pub(crate) fn retain(&self, wanted: &HashSet<&str>) {
        let gone: Vec<String> =
            self.marks().extract_if(|mark| !wanted.contains(mark.as_str())).collect();
        for mark in gone {
            let _ = fs::remove_file(self.path(&mark));
        }
    }

    fn path(&self, mark: &str) -> PathBuf {
        self.folder.join(format!("{mark}.gz"))
    }
}

/// The folder beside the file in which briefs are kept.
pub(crate) fn folder(kept: &Path) -> PathBuf {
    kept.with_extension("pages")
}
