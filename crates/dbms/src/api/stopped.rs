//! The remains of a stopped server: to remove, to return to the caller, or to keep as the state
//! that other servers start from.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::data::{copy, paths};
use crate::process::ledger::{Entry, Remains};
use crate::{Error, Loaded, Manifest};

/// How a server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was asked to and did in time.
    Graceful,
    /// It ended only when told to quit at once, without a checkpoint.
    Immediate,
    /// It had to be killed.
    Killed,
    /// It had died before; the text says how.
    Died(String),
    /// It was not started by steelyard and is still running.
    LeftRunning,
}

/// A stopped server. Its data and log on disk are removed on drop; read the log before.
#[derive(Debug)]
pub struct Stopped {
    /// Wall-clock seconds that stopping took.
    pub seconds: f64,
    /// How it ended.
    pub ending: Ending,
    /// Its log; `None` for a server that steelyard did not start.
    pub log: Option<PathBuf>,
    remains: Remains,
}

impl Stopped {
    /// The remains of a stopped system. `remains` is its entry in the ledger, `None` if steelyard
    /// did not start it.
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

    /// Keeps the data directory as the state that other servers start from
    /// ([`crate::start_on_copy`]). Flushes it, reads all of it for its manifest, and drops it from
    /// the page cache. The log is removed.
    ///
    /// # Errors
    /// [`Error::NotKept`] for a server that steelyard did not start, or that did not shut down
    /// cleanly (its data would need recovery at every start). [`Error::Interrupted`] soon after
    /// `interrupted` was set; [`Error::Io`]. Nothing is kept then.
    pub fn keep(self, interrupted: &AtomicBool) -> Result<Loaded, Error> {
        let not_kept =
            |name: &str, problem: String| Err(Error::NotKept { name: name.to_owned(), problem });
        // On every path but the last, dropping `self` removes what was left.
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
                paths::sync_tree(&data)?;
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
