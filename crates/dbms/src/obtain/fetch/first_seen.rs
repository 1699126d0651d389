//! The digests of files that have no known one, from the first time they were fetched. A checksum
//! from the same place as the file gives no protection: whoever replaces the file replaces it, too.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::{Cache, Error};

/// The end of the name of the file of digests. Its lines have sha256sum's format: a digest and the
/// name of a file.
const FILE: &str = "first-seen.sha256";

/// The file of digests. It is next to the cache, so deleting the cache doesn't delete them.
pub(super) fn path(cache: &Cache) -> PathBuf {
    let mut path = cache.path().as_os_str().to_owned();
    path.push(format!(".{FILE}"));
    path.into()
}

/// Compares the SHA-256 of the file at `url` with the one seen first, or keeps it.
///
/// # Errors
/// [`Error::Replaced`] if they differ; `what` names the file. [`Error::Io`].
pub(super) fn check(cache: &Cache, url: &str, found: &str, what: &str) -> Result<(), Error> {
    let _lock = cache.lock(FILE)?;
    let path = path(cache);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Error::io("read", &path)(error)),
    };
    let mut lines = text.lines().filter_map(|line| line.split_once("  "));
    if let Some((expected, _)) = lines.find(|(_, of)| *of == url) {
        if expected == found {
            return Ok(());
        }
        let [what, expected, found] = [what, expected, found].map(str::to_owned);
        return Err(Error::Replaced { what, expected, found, kept: path });
    }
    let keep = || {
        let mut file = File::options().create(true).append(true).open(&path)?;
        file.write_all(format!("{found}  {url}\n").as_bytes())?;
        file.sync_all()
    };
    keep().map_err(Error::io("write", &path))
}
