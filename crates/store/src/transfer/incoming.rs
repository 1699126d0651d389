//! Bringing an experiment with its artifacts into a results directory: all of it or nothing.
//!
//! It waits in a directory `.incoming-…` next to the database. The artifacts are moved to their
//! places within the transaction that adds its rows, after their paths were written to a list. If
//! the process is killed in between, the next process that opens the store for writing removes
//! what that list names and the rest of the directory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::records::ExperimentId;
use crate::store::{ARTIFACTS, Store};

const PREFIX: &str = ".incoming-";
/// The experiment's new id, then the paths its artifacts get.
const LIST: &str = "list";

/// A directory next to a store's database for an experiment that comes from elsewhere. Removed when
/// dropped; until then, no other process can add an experiment to the store.
#[derive(Debug)]
pub struct Incoming {
    directory: tempfile::TempDir,
    /// The results directory, locked.
    _lock: File,
}

impl Incoming {
    /// A results directory in it, to be filled by the caller.
    pub fn results(&self) -> PathBuf {
        self.directory.path().join("results")
    }

    /// A file in it, to be written by the caller.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("file")
    }

    /// An empty directory in this one. Waits while another process takes something in.
    pub(crate) fn begin(directory: &Path) -> Result<Incoming> {
        lock(directory).and_then(|lock| Incoming::make(directory, lock))
    }

    fn make(directory: &Path, lock: File) -> Result<Incoming> {
        let builder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(directory);
        let made = builder.map_err(|source| StoreError::from_io(directory, source))?;
        Ok(Incoming { directory: made, _lock: lock })
    }
}

/// Adding experiments that come from elsewhere.
impl Store {
    /// An empty directory on the same filesystem as the results. Waits while another process takes
    /// something in.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn incoming(&self) -> Result<Incoming> {
        let lock = lock(self.directory())?;
        self.sweep();
        Incoming::make(self.directory(), lock)
    }

    /// Adds an experiment of the results directory in `incoming`, with its artifacts. It gets the
    /// id `wanted` if that is free.
    ///
    /// # Errors
    /// If it does not fit or cannot be written; nothing has changed then.
    pub fn admit(
        &self,
        incoming: &Incoming,
        experiment: ExperimentId,
        wanted: Option<ExperimentId>,
    ) -> Result<ExperimentId> {
        let staged = Store::open_read_only(&incoming.results())?;
        let mut placed = Vec::new();
        let copied = staged.copy_then(experiment, self, wanted, |ids| {
            let files = staged.artifacts_of(experiment, ids)?;
            let files: Vec<(PathBuf, PathBuf)> =
                files.into_iter().map(|(name, file)| (self.artifacts().join(name), file)).collect();
            placed.extend(files.iter().map(|(to, _)| to.clone()));
            if files.is_empty() {
                return Ok(());
            }
            write_list(incoming.directory.path(), ids.experiment.1, self.directory(), &placed)
                .map_err(|source| StoreError::from_io(self.directory(), source))?;
            for (to, file) in &files {
                place(file, to).map_err(|source| StoreError::from_io(to, source))?;
            }
            Ok(())
        });
        match copied {
            Ok(ids) => Ok(ids.experiment.1),
            Err(error) => {
                for path in &placed {
                    let _ = fs::remove_file(path);
                }
                Err(error)
            }
        }
    }

    /// Removes the remains of killed processes, unless a process is at work. A failure does not
    /// prevent opening the store: the next process tries again.
    pub(crate) fn sweep_incoming(&self) {
        let lock = File::open(self.directory());
        if !self.left().is_empty() && lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            self.sweep();
        }
    }

    /// Directories of those who take something in.
    fn left(&self) -> Vec<PathBuf> {
        let Ok(listing) = fs::read_dir(self.directory()) else { return Vec::new() };
        let entries = listing.flatten();
        let left = entries.filter(|e| e.file_name().to_string_lossy().starts_with(PREFIX));
        left.map(|entry| entry.path()).collect()
    }

    /// Removes them, for a process that holds the lock.
    fn sweep(&self) {
        for directory in self.left() {
            if let Ok(list) = fs::read_to_string(directory.join(LIST)) {
                let mut lines = list.lines();
                let id = lines.next().and_then(|line| line.parse().ok()).unwrap_or(i64::MAX);
                if self.require(&self.connection, "experiment", id).is_err() {
                    for line in lines.filter(|line| line.starts_with(ARTIFACTS)) {
                        let _ = fs::remove_file(self.directory().join(line));
                    }
                }
            }
            let _ = fs::remove_dir_all(directory);
        }
    }
}

/// Locks a results directory for those who take something in.
fn lock(directory: &Path) -> Result<File> {
    let lock = File::open(directory).and_then(|file| file.lock().map(|()| file));
    lock.map_err(|source| StoreError::from_io(directory, source))
}

fn write_list(
    directory: &Path,
    id: ExperimentId,
    results: &Path,
    placed: &[PathBuf],
) -> io::Result<()> {
    let mut list = File::create(directory.join(LIST))?;
    writeln!(list, "{id}")?;
    for path in placed {
        let path = path.strip_prefix(results).unwrap_or(path);
        writeln!(list, "{}", path.display())?;
    }
    list.sync_all()?;
    File::open(directory)?.sync_all()
}

/// Moves a file to its place, durably.
fn place(file: &Path, to: &Path) -> io::Result<()> {
    File::open(file)?.sync_all()?;
    let Some(folder) = to.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
    fs::create_dir_all(folder)?;
    fs::rename(file, to)?;
    File::open(folder)?.sync_all()
}
