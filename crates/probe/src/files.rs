//! Cheap reading of the kernel's small text files: kept open, reread with `pread`.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Room for most files in one call; grows if a file is longer (`/proc/stat` of large machines).
const FIRST_SIZE: usize = 16 * 1024;

/// A file of `/proc`, `/sys` or a control group that is read many times.
///
/// The kernel generates the text again for every read from offset 0, so the file stays open.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    file: Option<File>,
}

impl Held {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Held {
        Held { path: path.into(), file: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file's current text. After an error, the next call reopens the file.
    pub(crate) fn read<'a>(&mut self, buffer: &'a mut Vec<u8>) -> io::Result<Cow<'a, str>> {
        let file = self.file.take().map_or_else(|| File::open(&self.path), Ok)?;
        let text = fill(&file, buffer)?;
        self.file = Some(file);
        Ok(text)
    }
}

/// Reads a file once, into a buffer that is used again and again.
pub(crate) fn read_once<'a>(
    path: impl AsRef<Path>,
    buffer: &'a mut Vec<u8>,
) -> io::Result<Cow<'a, str>> {
    fill(&File::open(path)?, buffer)
}

/// A file's text without the white space around it; `None` if it cannot be read.
pub(crate) fn read_trimmed(path: impl AsRef<Path>) -> Option<String> {
    let mut buffer = Vec::new();
    read_once(path, &mut buffer).ok().map(|text| text.trim().to_owned())
}

/// A file that contains a single number.
pub(crate) fn read_number(path: impl AsRef<Path>) -> Option<u64> {
    read_trimmed(path)?.parse().ok()
}

fn fill<'a>(file: &File, buffer: &'a mut Vec<u8>) -> io::Result<Cow<'a, str>> {
    if buffer.len() < FIRST_SIZE {
        buffer.resize(FIRST_SIZE, 0);
    }
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize(length * 2, 0);
        }
        match file.read_at(&mut buffer[length..], length as u64) {
            Ok(0) => {
                return Ok(String::from_utf8_lossy(buffer.get(..length).unwrap_or_default()));
            }
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_file_shows_what_it_holds_now() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("value");
        std::fs::write(&path, "1\n").unwrap();
        let mut held = Held::new(&path);
        let mut buffer = Vec::new();
        assert_eq!(held.read(&mut buffer).unwrap(), "1\n");
        std::fs::write(&path, "22 \n").unwrap();
        assert_eq!(held.read(&mut buffer).unwrap(), "22 \n");
    }

    #[test]
    fn files_longer_than_the_buffer_are_read_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("long");
        let text = "x".repeat(5 * FIRST_SIZE + 7);
        std::fs::write(&path, &text).unwrap();
        assert_eq!(read_once(&path, &mut Vec::new()).unwrap(), text);
    }

    #[test]
    fn a_missing_file_is_an_error_and_may_appear_later() {
        let directory = tempfile::tempdir().unwrap();
        let mut held = Held::new(directory.path().join("later"));
        assert!(held.read(&mut Vec::new()).is_err());
        std::fs::write(held.path(), "here").unwrap();
        assert_eq!(held.read(&mut Vec::new()).unwrap(), "here");
    }
}
