//! The file that a user names for the output of a command.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::workshop::Workshop;

/// Name of the output in a directory for work in progress.
pub(crate) const PACKED: &str = "packed";

/// Symbolic links that are followed, at most: as many as the kernel follows.
const LINKS: usize = 40;

/// Writes a file. A regular or new one, also behind symbolic links, appears when it is complete and
/// replaces the old one. Anything else, such as a device, a named pipe or `/dev/fd/3`, is opened
/// and written.
///
/// # Errors
/// If it cannot be written; a regular file is as before then.
pub fn write_whole(to: &Path, content: &[u8]) -> Result<(), Error> {
    write_made(to, |workshop| {
        let made = workshop.path().join(PACKED);
        fs::write(&made, content).map_err(Error::io("write", to))?;
        Ok(((), made))
    })
}

/// As [`write_whole`], with what `make` writes to a file in a directory for work in progress.
/// Returns what else it returns.
pub(crate) fn write_made<T>(
    to: &Path,
    make: impl FnOnce(&Workshop) -> Result<(T, PathBuf), Error>,
) -> Result<T, Error> {
    let Some(to) = replaceable(to).map_err(Error::io("write", to))? else {
        let workshop = Workshop::open(&std::env::temp_dir())?;
        let (told, made) = make(&workshop)?;
        let copy = || io::copy(&mut File::open(&made)?, &mut appending(to)?);
        let failed = |source| Error::Io { action: "write", path: to.to_owned(), source };
        copy().map_err(failed)?;
        return Ok(told);
    };
    let folder = to.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let missing = io::ErrorKind::NotFound.into();
        return Err(Error::io("write into the directory", folder)(missing));
    }
    let workshop = Workshop::open(folder)?;
    let (told, made) = make(&workshop)?;
    let replace = || {
        File::open(&made)?.sync_all()?;
        fs::rename(&made, &to)
    };
    replace().map_err(Error::io("write", &to))?;
    Ok(told)
}

/// Opens what is written in place. A redirection such as `3>> file` keeps what it has.
fn appending(to: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(to)
}

/// The regular or new file that a path leads to, which another can replace; `None` if it leads to
/// anything else, or through `/proc` to a file that a process has open.
fn replaceable(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        if folder.canonicalize().is_ok_and(|folder| folder.starts_with("/proc")) {
            return Ok(None);
        }
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => path = folder.join(fs::read_link(&path)?),
            Ok(found) => return Ok(found.is_file().then_some(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(path)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::process::Command;

    #[test]
    fn a_file_behind_links_is_replaced_and_the_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("far")).unwrap();
        symlink("second", at("first")).unwrap();
        symlink("far/file", at("second")).unwrap();
        for content in ["new", "newer"] {
            write_whole(&at("first"), content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(at("far/file")).unwrap(), content);
        }
        assert!(at("first").is_symlink() && at("second").is_symlink());
        assert_eq!(fs::read_dir(at("far")).unwrap().count(), 1, "nothing else is left");
        symlink("round", at("round")).unwrap();
        assert!(write_whole(&at("round"), b"").is_err());
        let missing = write_whole(&at("no/file"), b"").unwrap_err();
        assert!(missing.is_request() && missing.to_string().contains("no"), "{missing}");
    }

    #[test]
    fn who_reads_a_named_pipe_gets_it_all() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read(pipe).unwrap())
        };
        let content = vec![7; 200_000];
        write_whole(&pipe, &content).unwrap();
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo(), "it was replaced");
        assert!(reader.join().unwrap() == content);
    }

    #[test]
    fn a_file_that_is_open_already_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        fs::write(&path, "before ").unwrap();
        for name in [format!("/dev/fd/{}", file.as_raw_fd()), "a link".to_owned()] {
            let to = folder.path().join(name);
            if !to.exists() {
                symlink(format!("/proc/self/fd/{}", file.as_raw_fd()), &to).unwrap();
            }
            write_whole(&to, b"after ").unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "before after after ");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_full_device_is_no_full_disk() {
        let failed = write_whole(Path::new("/dev/full"), b"x").unwrap_err().to_string();
        assert!(failed.contains("cannot write /dev/full: No space left on device"), "{failed}");
    }
}
