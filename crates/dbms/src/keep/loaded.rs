//! Data directories that were loaded once, and the copies in which trials begin.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::copy;
use super::manifest::Manifest;
use crate::ledger::Remains;
use crate::{Error, IpcObjects, place};

/// The data directory of a server that was shut down in good order, kept as it was left. Written
/// down in the ledger as long as it exists; removed when this is dropped.
#[derive(Debug)]
pub struct Loaded {
    remains: Remains,
    data: PathBuf,
    manifest: Manifest,
}

/// A state to start from and how to get there.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The state.
    pub loaded: &'a Loaded,
    /// What storage and the page cache are to have of the copy when the server starts.
    pub pages: Pages,
    /// Set when the work is to end.
    pub interrupted: &'a AtomicBool,
}

/// What storage and the page cache have of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Whatever copying left: for where nothing that is measured takes time.
    Any,
    /// The copy is on storage, nothing of the original is in the page cache, and of the copy as
    /// much as fits: it was read once from its first file to its last. So every copy begins alike,
    /// whatever ran before it.
    Alike,
    /// The same, and what is in the page cache is charged to the server's control group: needed
    /// where that has a memory limit, which pages charged to steelyard would circumvent.
    Charged,
}

/// How a copy was made and brought to its beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    /// [`Manifest::digest`] of the state, and so of the copy.
    pub digest: String,
    /// Number of files.
    pub files: usize,
    /// Bytes in them.
    pub bytes: u64,
    /// Whether the copy shares its blocks with the original as long as neither changes them.
    pub shared: bool,
    /// Seconds for copying and flushing.
    pub copy_seconds: f64,
    /// Seconds for comparing the copy with the manifest.
    pub check_seconds: f64,
    /// Seconds for reading it again on behalf of the server's control group; 0 where the check has
    /// read it for all.
    pub read_seconds: f64,
}

impl Loaded {
    pub(crate) fn new(
        mut remains: Remains,
        data: PathBuf,
        manifest: Manifest,
    ) -> Result<Self, Error> {
        // Its processes are gone, and no other may be taken for one of them.
        remains.update(|record| {
            record.process = None;
            record.program = None;
            record.work_directory = None;
            record.cgroups.clear();
            record.ipc = IpcObjects::default();
        })?;
        Ok(Self { remains, data, manifest })
    }

    /// What it holds.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The directory, in which nobody may write.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Removes it.
    ///
    /// # Errors
    /// [`Error::Io`] if something cannot be removed; the next sweep of the ledger tries again.
    pub fn discard(self) -> Result<(), Error> {
        self.remains.discard()
    }

    /// Copies it to `to`, which must not exist, and compares the copy with the manifest, byte for
    /// byte. Pages are not charged to anybody else yet.
    pub(crate) fn copy_to(
        &self,
        to: &Path,
        owner: Option<(u32, u32)>,
        pages: Pages,
        interrupted: &AtomicBool,
    ) -> Result<Restored, Error> {
        let begin = Instant::now();
        let shared = copy::copy_tree(&self.data, to, owner, interrupted)?;
        if pages != Pages::Any {
            place::sync_tree(to)?;
            copy::drop_cached(&self.data)?;
        }
        let copy_seconds = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        self.manifest.check(to, interrupted)?;
        Ok(Restored {
            digest: self.manifest.digest(),
            files: self.manifest.files(),
            bytes: self.manifest.bytes(),
            shared,
            copy_seconds,
            check_seconds: begin.elapsed().as_secs_f64(),
            read_seconds: 0.0,
        })
    }
}
