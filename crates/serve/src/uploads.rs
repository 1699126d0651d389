//! Archives that are being received, in a directory beside the results.
//!
//! ```text
//! RESULTS/.receiving/SHA256-LENGTH   the first bytes of a file with this hash and length
//! ```
//!
//! A file's length is how much of it is there, so there is no state that could disagree with it,
//! and whoever was cut off, or killed, goes on from there. Nothing here is shown: an experiment
//! appears once its whole file is here, has the right hash, and was imported as
//! `steelyard import` does.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use archive::Imported;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

/// The directory in a results directory.
const DIRECTORY: &str = ".receiving";
/// The file that is locked while the list of uploads grows.
const LOCK: &str = "lock";
/// Uploads that nobody goes on with are removed after this time.
const FORGOTTEN: Duration = Duration::from_secs(24 * 3600);
/// Bytes of a file, at most: JavaScript, for one, can't represent every larger integer.
const LONGEST: u64 = (1 << 53) - 1;
/// Pieces that are received at once.
const AT_ONCE: usize = 4;
/// Uploads that are not finished, at most.
const MOST: usize = 1000;

/// Archives that are being received.
#[derive(Debug)]
pub(crate) struct Uploads {
    results: PathBuf,
    directory: PathBuf,
    /// Bytes that all of them may have together, when they are whole.
    limit: u64,
    /// Turns of those that send a piece, which is in memory meanwhile.
    pub(crate) turns: Semaphore,
}

/// The name of an upload: the hash and the length of the whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Upload {
    sha256: String,
    length: u64,
}

/// Why a piece was not taken.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It does not follow what is there: this many bytes.
    Offset(u64),
    /// Another request is about the same upload.
    Busy,
    /// It goes beyond the length.
    TooLong,
    /// The file is larger than this many bytes, which all unfinished uploads may take.
    TooLarge(u64),
    /// There is no room for it as long as other uploads are unfinished.
    NoRoom,
    /// What was received is not what was announced, or is not taken by an import.
    Archive(archive::Error),
    /// The file has another hash than was announced. It was removed.
    Hash,
    /// It can't be stored.
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Upload {
    /// `None` if the hash is not 64 hexadecimal digits, or no file can be as long.
    pub(crate) fn new(sha256: &str, length: u64) -> Option<Self> {
        (archive::is_hash(sha256) && length <= LONGEST)
            .then(|| Self { sha256: sha256.to_owned(), length })
    }

    fn of_file(name: &str) -> Option<Self> {
        let (sha256, length) = name.split_once('-')?;
        Self::new(sha256, length.parse().ok()?)
    }

    fn name(&self) -> String {
        format!("{}-{}", self.sha256, self.length)
    }
}

impl Uploads {
    /// Those of a results directory.
    pub(crate) fn of(results: &Path, limit: u64) -> Self {
        Self {
            results: results.to_owned(),
            directory: results.join(DIRECTORY),
            limit,
            turns: Semaphore::new(AT_ONCE),
        }
    }

    /// How many bytes of an upload are there.
    pub(crate) fn offset(&self, upload: &Upload) -> u64 {
        fs::metadata(self.directory.join(upload.name())).map_or(0, |found| found.len())
    }

    /// How many unfinished uploads there are, and how many of their bytes are here.
    pub(crate) fn unfinished(&self) -> (usize, u64) {
        let listing = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let uploads =
            listing.filter(|it| Upload::of_file(&it.file_name().to_string_lossy()).is_some());
        let sizes = uploads.filter_map(|it| it.metadata().ok()).map(|it| it.len());
        sizes.fold((0, 0), |(number, bytes), size| (number + 1, bytes + size))
    }

    /// Adds a piece at this offset. If all is there then, imports it.
    pub(crate) fn add(
        &self,
        upload: &Upload,
        offset: u64,
        piece: &[u8],
    ) -> Result<Option<Imported>, Refusal> {
        let end = offset.checked_add(piece.len() as u64).filter(|end| *end <= upload.length);
        let end = end.ok_or(Refusal::TooLong)?;
        let path = self.directory.join(upload.name());
        let mut file = self.open(upload, &path)?;
        let there = file.metadata()?.len();
        if there != offset {
            return Err(Refusal::Offset(there));
        }
        if let Err(error) = file.write_all(piece).and_then(|()| file.sync_data()) {
            // The next try begins at the same place.
            let _ = file.set_len(offset);
            return Err(error.into());
        }
        if end < upload.length {
            return Ok(None);
        }
        if hash(&path)? != upload.sha256 {
            fs::remove_file(&path)?;
            return Err(Refusal::Hash);
        }
        match archive::import_named(&path, "the upload", &self.results, None) {
            Ok(imported) => {
                fs::remove_file(&path)?;
                Ok(Some(imported))
            }
            Err(error) => {
                // Otherwise another try may succeed, as when there is space again.
                if error.is_about_one() {
                    fs::remove_file(&path)?;
                }
                Err(Refusal::Archive(error))
            }
        }
    }

    /// Opens the file of an upload, locked, and makes it if there is room.
    fn open(&self, upload: &Upload, path: &Path) -> Result<File, Refusal> {
        fs::create_dir_all(&self.directory)?;
        let lock = File::create(self.directory.join(LOCK))?;
        lock.lock()?;
        if upload.length > self.limit {
            return Err(Refusal::TooLarge(self.limit));
        }
        if !path.exists() {
            let others = self.sweep()?;
            let sum = others.iter().fold(upload.length, |sum, it| sum.saturating_add(it.length));
            if sum > self.limit || others.len() >= MOST {
                return Err(Refusal::NoRoom);
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        // The kernel unlocks it when the process ends, however it does.
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(Refusal::Busy),
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
        }
        // Who had it locked before may have removed it.
        let removed = file.metadata()?.nlink() == 0;
        if removed { Err(Refusal::Busy) } else { Ok(file) }
    }

    /// Removes what nobody goes on with, and returns the others.
    fn sweep(&self) -> io::Result<Vec<Upload>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let Some(upload) = Upload::of_file(&entry.file_name().to_string_lossy()) else {
                continue;
            };
            let written = entry.metadata()?.modified()?;
            let idle = SystemTime::now().duration_since(written).unwrap_or_default();
            let unlocked = || File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
            if idle > FORGOTTEN && unlocked() {
                fs::remove_file(entry.path())?;
            } else {
                all.push(upload);
            }
        }
        Ok(all)
    }
}

fn hash(path: &Path) -> io::Result<String> {
    let (mut file, mut sum) = (File::open(path)?, Sha256::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => sum.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upload(content: &[u8]) -> Upload {
        let sum: String =
            Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        Upload::new(&sum, content.len() as u64).unwrap()
    }

    #[test]
    fn pieces_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let uploads = Uploads::of(folder.path(), 100);
        let new = upload(b"abcdef");
        assert_eq!(uploads.offset(&new), 0);
        assert!(uploads.add(&new, 0, b"abc").unwrap().is_none());
        assert_eq!((uploads.offset(&new), uploads.unfinished()), (3, (1, 3)));
        assert!(matches!(uploads.add(&new, 0, b"abc"), Err(Refusal::Offset(3))));
        assert!(matches!(uploads.add(&new, 4, b"ef"), Err(Refusal::Offset(3))));
        assert!(matches!(uploads.add(&new, 3, b"defg"), Err(Refusal::TooLong)));
        assert!(matches!(uploads.add(&new, u64::MAX, b"defg"), Err(Refusal::TooLong)));
        // It is whole, but no archive.
        let refused = uploads.add(&new, 3, b"def").unwrap_err();
        assert!(matches!(refused, Refusal::Archive(_)), "{refused:?}");
        assert_eq!(uploads.offset(&new), 0);
        assert!(uploads.add(&new, 0, b"abc").unwrap().is_none());
        assert!(matches!(uploads.add(&new, 3, b"xyz"), Err(Refusal::Hash)));
        assert_eq!(uploads.offset(&new), 0);
        assert!(!folder.path().join(store::DATABASE).exists(), "nothing was imported");
    }

    #[test]
    fn one_request_at_a_time_adds_to_an_upload() {
        let folder = tempfile::tempdir().unwrap();
        let uploads = Uploads::of(folder.path(), 100);
        let new = upload(b"abcdef");
        uploads.add(&new, 0, b"ab").unwrap();
        let file = File::open(folder.path().join(DIRECTORY).join(new.name())).unwrap();
        file.lock().unwrap();
        assert!(matches!(uploads.add(&new, 2, b"cd"), Err(Refusal::Busy)));
        drop(file);
        assert!(uploads.add(&new, 2, b"cd").is_ok());
    }

    #[test]
    fn unfinished_uploads_take_so_much_and_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let uploads = Uploads::of(folder.path(), 10);
        let (one, other, third) = (upload(b"abcdef"), upload(b"wxyz"), upload(b"1"));
        let large = upload(b"more than ten");
        assert!(matches!(uploads.add(&large, 0, b"m"), Err(Refusal::TooLarge(10))));
        uploads.add(&one, 0, b"a").unwrap();
        uploads.add(&other, 0, b"w").unwrap();
        assert!(matches!(uploads.add(&third, 0, b""), Err(Refusal::NoRoom)));
        uploads.add(&one, 1, b"b").unwrap();
        let path = folder.path().join(DIRECTORY).join(other.name());
        let old = SystemTime::now() - FORGOTTEN - Duration::from_secs(60);
        File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        // It is whole, but no archive.
        assert!(matches!(uploads.add(&third, 0, b"1"), Err(Refusal::Archive(_))));
        assert_eq!((uploads.offset(&one), uploads.offset(&other)), (2, 0));
        assert_eq!(Upload::new("../x", 1), None);
    }
}
