//! Data directories that were loaded once, and the copies that trials start on.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::copy;
use super::manifest::Manifest;
use crate::data::paths;
use crate::process::ledger::Remains;
use crate::{Error, IpcObjects};

/// The data directory of a server that shut down cleanly, kept as it was. It is recorded in the
/// ledger while it exists, and removed on drop.
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
    /// Where the copy should be when the server starts: on storage, in the page cache.
    pub pages: Pages,
    /// Set to end the work.
    pub interrupted: &'a AtomicBool,
}

/// Where a copy is: on storage, in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Unchanged after copying, for uses where time is not measured.
    Any,
    /// The copy is on storage and none of the original is in the page cache. The copy was read once
    /// from its first file to its last, so as much of it as fits is in the page cache. Every copy
    /// therefore starts alike, whatever ran before.
    Alike,
    /// The same, with the page cache charged to the server's control group. This is needed for a
    /// memory limit: pages charged to steelyard would circumvent it.
    Charged,
}

/// How a copy was made and prepared.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    /// [`Manifest::digest`] of the state, and so of the copy.
    pub digest: String,
    /// Number of files.
    pub files: usize,
    /// Bytes in them.
    pub bytes: u64,
    /// True if the copy shares its blocks with the original until one of them changes them.
    pub shared: bool,
    /// Seconds for copying and flushing.
    pub copy_seconds: f64,
    /// Seconds for comparing the copy with the manifest.
    pub check_seconds: f64,
    /// Seconds for reading it again on behalf of the server's control group; 0 if the check's
    /// reading was enough.
    pub read_seconds: f64,
}

impl Loaded {
    pub(crate) fn new(
        mut remains: Remains,
        data: PathBuf,
        manifest: Manifest,
    ) -> Result<Self, Error> {
        // Its processes are gone, and no other process must be mistaken for one of them.
        remains.update(|record| {
            record.process = None;
            record.program = None;
            record.work_directory = None;
            record.cgroups.clear();
            record.ipc = IpcObjects::default();
        })?;
        Ok(Self { remains, data, manifest })
    }

    /// Its content.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The directory, which nobody may write to.
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
    /// byte. The pages are still charged to steelyard's own control group.
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
            paths::sync_tree(to)?;
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
