//! What a stopped server leaves: to be removed, given to the caller, or kept as the state in which
//! other servers start.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::keep::copy;
use crate::ledger::{Entry, Remains};
use crate::system::Ending;
use crate::{Error, Loaded, Manifest, place};

/// A stopped server. What it left on disk (data, log) is removed when this is dropped; read the log
/// before.
#[derive(Debug)]
pub struct Stopped {
    /// Wall-clock seconds that stopping took.
    pub seconds: f64,
    /// How it ended.
    pub ending: Ending,
    /// Its log; `None` for a server that was not ours.
    pub log: Option<PathBuf>,
    remains: Remains,
}

impl Stopped {
    /// What a system has left; `remains` is its entry in the ledger, `None` if it was not ours.
    pub fn new(seconds: f64, ending: Ending, log: Option<PathBuf>, remains: Option<Entry>) -> Self {
        Self { seconds, ending, log, remains: Remains(remains) }
    }

    /// Removes what the server left on disk.
    ///
    /// # Errors
    /// [`Error::Io`] if something cannot be removed; the next sweep of the ledger tries again.
    pub fn discard(self) -> Result<(), Error> {
        self.remains.discard()
    }

    /// Keeps the data directory as the state in which other servers start
    /// ([`crate::start_on_copy`]): flushes it, takes its manifest, which is a read through all of
    /// it, and lets the page cache forget it. The log is removed.
    ///
    /// # Errors
    /// [`Error::NotKept`] for a server that did not shut down in good order, whose data would have
    /// to be recovered at every start, or that was not ours; [`Error::Interrupted`] soon after
    /// `interrupted` was set; [`Error::Io`]. Nothing is kept then.
    pub fn keep(self, interrupted: &AtomicBool) -> Result<Loaded, Error> {
        let not_kept =
            |name: &str, problem: String| Err(Error::NotKept { name: name.to_owned(), problem });
        // Dropped on every way out but the last, `self` removes what was left.
        let Some(record) = self.remains.0.as_ref().map(Entry::record) else {
            return not_kept("the server", "it was not started by steelyard".to_owned());
        };
        let name = record.name.clone();
        match (&self.ending, record.work_directory.clone()) {
            (Ending::Graceful, Some(data)) => {
                if let Some(log) = &self.log {
                    fs::remove_file(log).map_err(Error::io("remove", log))?;
                }
                // A server with fsync = off leaves that to the host, and only clean pages can be
                // forgotten.
                place::sync_tree(&data)?;
                let manifest = Manifest::of(&data, interrupted)?;
                copy::drop_cached(&data)?;
                Loaded::new(self.remains, data, manifest)
            }
            (Ending::Died(how), _) => not_kept(&name, format!("the server died ({how})")),
            (other, _) => {
                not_kept(&name, format!("the server did not shut down cleanly ({other:?})"))
            }
        }
    }
}
