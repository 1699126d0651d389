//! A directory for work in progress, removed at the end; if the process is killed, by the next one
//! that works in the same place.

use std::fs::{self, File};
use std::path::Path;

use crate::Error;

const PREFIX: &str = ".steelyard-work-";
/// Held locked by the process that works there.
const LOCK: &str = "lock";

/// A directory for work in progress.
#[derive(Debug)]
pub(crate) struct Workshop {
    directory: tempfile::TempDir,
    _lock: File,
}

impl Workshop {
    /// A directory in `place`, which is created if it does not exist.
    pub(crate) fn open(place: &Path) -> Result<Self, Error> {
        fs::create_dir_all(place).map_err(Error::io("create", place))?;
        sweep(place);
        let wrap = || Error::io("create a directory in", place);
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place).map_err(wrap())?;
        let lock = File::create(directory.path().join(LOCK)).map_err(wrap())?;
        lock.lock().map_err(wrap())?;
        Ok(Self { directory, _lock: lock })
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes what killed processes left. A directory that cannot be removed stays for the next sweep.
fn sweep(place: &Path) {
    let Ok(listing) = fs::read_dir(place) else { return };
    for entry in listing.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        // A directory without a lock is just being made.
        let lock = File::open(entry.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let dead = place.path().join(".steelyard-work-dead");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        let alive = Workshop::open(place.path()).unwrap();
        let other = Workshop::open(place.path()).unwrap();
        assert!(!dead.exists() && alive.path().exists() && other.path().exists());
        drop((alive, other));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
