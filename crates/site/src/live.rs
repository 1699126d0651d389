//! Runs under way: what each tells of itself, in the folder `live` of the results directory.
//!
//! A run has two files, named after its process and when it began: `PID-MS.json`, replaced whole
//! whenever there is something to tell, and `PID-MS.lock`, which it keeps open and locked as long
//! as it lives. So a run that was killed is known by a lock that can be taken, and whoever watches
//! the folder is told, because the kernel closes the file.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

pub use report::catalog::{LiveDocument, LiveRun};

use crate::Error;

/// Name of the folder in a results directory.
const FOLDER: &str = "live";
/// A description with more bytes is nobody's.
const LARGEST: u64 = 4 << 20;

/// The folder of a results directory.
pub fn folder(results: &Path) -> PathBuf {
    results.join(FOLDER)
}

/// The files of a run of this process. Dropping it removes them.
#[derive(Debug)]
pub struct Telling {
    folder: PathBuf,
    stem: String,
    /// Locked as long as it is open.
    _lock: File,
}

impl Telling {
    /// Begins to tell of a run of this process, which began then, in a results directory.
    ///
    /// # Errors
    /// If the files cannot be made.
    pub fn begin(results: &Path, began_ms: i64) -> Result<Telling, Error> {
        let (folder, stem) = (folder(results), format!("{}-{began_ms}", std::process::id()));
        fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
        // It is locked before others know it.
        let [new, path] = ["locking", "lock"].map(|end| folder.join(format!("{stem}.{end}")));
        let lock = File::create(&new).map_err(failed("create", &new))?;
        lock.try_lock().map_err(|error| failed("lock", &new)(error.into()))?;
        fs::rename(&new, &path).map_err(failed("create", &path))?;
        Ok(Telling { folder, stem, _lock: lock })
    }

    /// Replaces what is told.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn tell(&self, run: &LiveRun) -> Result<(), Error> {
        let [new, path] =
            ["new", "json"].map(|end| self.folder.join(format!("{}.{end}", self.stem)));
        fs::write(&new, serde_json::to_vec(run)?).map_err(failed("write", &new))?;
        fs::rename(&new, &path).map_err(failed("write", &path))
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        remove(&self.folder, &self.stem);
    }
}

/// What the runs of a results directory tell. Files of runs that have ended are removed.
pub fn runs(results: &Path) -> LiveDocument {
    let folder = folder(results);
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let locks = entries.map(|entry| entry.path());
    let locks = locks.filter(|path| path.extension().is_some_and(|end| end == "lock"));
    LiveDocument::of_service(locks.filter_map(|lock| run(&folder, &lock)).collect())
}

/// The run that has this lock.
fn run(folder: &Path, lock: &Path) -> Option<LiveRun> {
    let stem = lock.file_stem()?.to_str()?;
    let (process, began_ms) = stem.split_once('-')?;
    let (process, began_ms) = (process.parse::<u32>().ok()?, began_ms.parse::<i64>().ok()?);
    if !matches!(File::open(lock).ok()?.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        remove(folder, stem);
        return None;
    }
    let path = folder.join(format!("{stem}.json"));
    let fits = fs::metadata(&path).is_ok_and(|it| it.is_file() && it.len() <= LARGEST);
    let run: LiveRun = serde_json::from_slice(&fits.then(|| fs::read(&path))?.ok()?).ok()?;
    (run.process == process && run.began_ms == began_ms).then_some(run)
}

/// True if the process of a run is on this machine: it has the lock open.
pub fn is_here(results: &Path, run: &LiveRun) -> bool {
    let stem = format!("{}-{}", run.process, run.began_ms);
    let lock = fs::canonicalize(folder(results).join(format!("{stem}.lock")));
    let Ok(lock) = lock else { return false };
    let open = fs::read_dir(format!("/proc/{}/fd", run.process)).into_iter().flatten().flatten();
    open.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|path| path == lock)
}

fn remove(folder: &Path, stem: &str) {
    for end in ["new", "json", "lock"] {
        // What stays is removed by whoever looks next.
        let _ = fs::remove_file(folder.join(format!("{stem}.{end}")));
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { action, path, source }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn own(name: &str, began_ms: i64) -> LiveRun {
        let process = std::process::id();
        LiveRun { process, began_ms, name: name.to_owned(), ..LiveRun::default() }
    }

    #[test]
    fn a_run_is_told_of_as_long_as_it_lives() {
        let results = tempfile::tempdir().unwrap();
        let results = results.path();
        assert_eq!(runs(results).runs, []);
        let telling = Telling::begin(results, 5).unwrap();
        assert_eq!(runs(results).runs, [], "it has told nothing yet");
        for name in ["one", "two"] {
            telling.tell(&own(name, 5)).unwrap();
            assert_eq!(runs(results).runs, [own(name, 5)]);
        }
        let other = Telling::begin(results, 3).unwrap();
        other.tell(&own("other", 3)).unwrap();
        assert_eq!(runs(results).runs, [own("other", 3), own("two", 5)]);
        assert!(is_here(results, &own("two", 5)) && !is_here(results, &own("two", 6)));
        assert!(!is_here(results, &LiveRun { process: 1, ..own("two", 5) }));
        drop(telling);
        assert_eq!(runs(results).runs, [own("other", 3)]);
        drop(other);
        assert_eq!(fs::read_dir(folder(results)).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_run_or_somebody_else_has_left_is_no_run() {
        let results = tempfile::tempdir().unwrap();
        let (results, folder) = (results.path(), folder(results.path()));
        fs::create_dir(&folder).unwrap();
        let run = LiveRun { process: 7, began_ms: 1, ..LiveRun::default() };
        for name in ["7-1.json", "7-1.lock", "8-1.json", "x.lock", "9-2.lock", "7.lock"] {
            fs::write(folder.join(name), serde_json::to_vec(&run).unwrap()).unwrap();
        }
        assert_eq!(runs(results), LiveDocument::of_service(Vec::new()));
        let names = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name());
        let mut left: Vec<_> = names.collect();
        left.sort();
        assert_eq!(left, ["7.lock", "8-1.json", "x.lock"]);
        // One that lives tells nonsense.
        let telling = Telling::begin(results, 5).unwrap();
        let path = folder.join(format!("{}.json", telling.stem));
        for nonsense in ["", "{}", "{\"process\": 7}", "[1]"] {
            fs::write(&path, nonsense).unwrap();
            assert_eq!(runs(results).runs, [], "{nonsense}");
        }
        telling.tell(&own("x", 6)).unwrap();
        assert_eq!(runs(results).runs, [], "it is another's");
    }

    /// While others look, and remove what is left.
    #[test]
    fn a_run_that_begins_is_always_seen() {
        let results = tempfile::tempdir().unwrap();
        let results = results.path();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let looks = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    runs(results);
                }
            });
            let seen = (0..200).all(|began_ms| {
                let telling = Telling::begin(results, began_ms).unwrap();
                telling.tell(&own("x", began_ms)).unwrap();
                runs(results).runs == [own("x", began_ms)]
            });
            over.store(true, Ordering::Relaxed);
            looks.join().unwrap();
            assert!(seen);
        });
    }
}
