//! Copies of whole directories. Blocks are shared if the filesystem supports it, otherwise copied
//! inside the kernel; holes are kept. Never hard links, because servers write in place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::sys::statvfs::statvfs;
use nix::unistd::{Whence, lseek64};

use crate::Error;
use crate::data::paths::{give, set_mode, walk};

/// Bytes per request to the kernel, so an interrupt is noticed in between: about a tenth of a
/// second each.
const PIECE: u64 = 64 * 1024 * 1024;
/// Unit of `st_blocks`, whatever the filesystem's blocks are (stat(3type)).
const BLOCK: u64 = 512;
/// The type of a file system in memory (TMPFS_MAGIC, statfs(2)).
const TMPFS: i64 = 0x0102_1994;
/// How long to wait for pages that are being read.
const IN_FLIGHT: Duration = Duration::from_secs(2);

/// Copies the directory `from` to `to` (which must not exist), keeping modes and holes. Gives
/// everything to `owner` (uid, gid) if set. Returns whether its files share their blocks with the
/// original.
///
/// # Errors
/// [`Error::Space`] before the first byte is copied if it would not fit; [`Error::Interrupted`]
/// soon after `interrupted` was set; [`Error::Io`].
pub(crate) fn copy_tree(
    from: &Path,
    to: &Path,
    owner: Option<(u32, u32)>,
    interrupted: &AtomicBool,
) -> Result<bool, Error> {
    let mut copier = Copier { from, to, shares: None, interrupted };
    walk(from, &mut |path, metadata| {
        let target = copier.target(path);
        if metadata.is_dir() {
            fs::create_dir(&target).map_err(Error::io("create", &target))?;
            set_mode(&target, metadata.mode() & 0o777)?;
        } else if metadata.is_symlink() {
            let link = fs::read_link(path).map_err(Error::io("read the link", path))?;
            std::os::unix::fs::symlink(link, &target)
                .map_err(Error::io("create the link", &target))?;
        } else {
            copier.file(path, &target, metadata)?;
            // Restores what the umask took away.
            set_mode(&target, metadata.mode() & 0o777)?;
        }
        match owner {
            Some((uid, gid)) if path != from => give(&target, uid, gid),
            _ => Ok(()),
        }
    })?;
    if let Some((uid, gid)) = owner {
        // Last, so the owner can't enter and replace directories with links while work remains
        // inside.
        give(to, uid, gid)?;
    }
    Ok(copier.shares == Some(true))
}

struct Copier<'a> {
    from: &'a Path,
    to: &'a Path,
    /// True if FICLONE works; `None`: not tried yet.
    shares: Option<bool>,
    interrupted: &'a AtomicBool,
}

impl Copier<'_> {
    fn target(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(self.from) {
            Ok(rest) if !rest.as_os_str().is_empty() => self.to.join(rest),
            _ => self.to.to_path_buf(),
        }
    }

    fn file(&mut self, path: &Path, target: &Path, metadata: &fs::Metadata) -> Result<(), Error> {
        Error::check(self.interrupted, "copying data")?;
        let source = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path);
        let source = source.map_err(Error::io("open", path))?;
        let copy = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(metadata.mode() & 0o777)
            .open(target)
            .map_err(Error::io("create", target))?;
        if metadata.len() == 0 {
            return Ok(());
        }
        if self.shares != Some(false) {
            // SAFETY: both descriptors are open for the duration of the call; FICLONE takes a
            // descriptor by value.
            let cloned =
                unsafe { libc::ioctl(copy.as_raw_fd(), libc::FICLONE, source.as_raw_fd()) };
            if cloned == 0 {
                self.shares = Some(true);
                return Ok(());
            }
            // Another filesystem, or one that cannot share blocks: not tried again for this tree.
            self.shares = Some(false);
            check_space(self.from, self.to)?;
        }
        copy_data(&source, &copy, metadata.len(), self.interrupted)
            .map_err(Error::io("copy data to", target))?;
        Error::check(self.interrupted, "copying data")
    }
}

/// Copies the data in `source`; holes stay holes. Ends early if `interrupted` is set.
fn copy_data(
    mut source: &File,
    mut copy: &File,
    size: u64,
    interrupted: &AtomicBool,
) -> io::Result<()> {
    copy.set_len(size)?;
    let mut at = 0;
    while let Some((begin, end)) = data_after(source, at, size)? {
        source.seek(SeekFrom::Start(begin))?;
        copy.seek(SeekFrom::Start(begin))?;
        at = begin;
        while at < end {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(());
            }
            // Uses copy_file_range(2) if the kernel and the filesystems support it.
            match io::copy(&mut source.take(PIECE.min(end - at)), &mut copy)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                copied => at += copied,
            }
        }
    }
    Ok(())
}

/// Start and end of the next range of data at or after `at`; `None` if only a hole is left.
fn data_after(file: &File, at: u64, size: u64) -> io::Result<Option<(u64, u64)>> {
    if at >= size {
        return Ok(None);
    }
    match lseek64(file, at as i64, Whence::SeekData) {
        Ok(begin) => {
            let end = lseek64(file, begin, Whence::SeekHole)?;
            Ok(Some((begin as u64, (end as u64).min(size))))
        }
        Err(nix::Error::ENXIO) => Ok(None),
        // A filesystem without holes: everything is data.
        Err(nix::Error::EINVAL) => Ok(Some((at, size))),
        Err(error) => Err(error.into()),
    }
}

/// Bytes that `root` and everything below it take on storage.
pub(crate) fn allocated(root: &Path) -> Result<u64, Error> {
    let mut bytes = 0;
    walk(root, &mut |_, metadata| {
        bytes += metadata.blocks() * BLOCK;
        Ok(())
    })?;
    Ok(bytes)
}

/// Checks that there is space for a copy of `from` at `to`.
fn check_space(from: &Path, to: &Path) -> Result<(), Error> {
    let needed = allocated(from)?;
    let found = statvfs(to).map_err(|error| Error::io("look at", to)(error.into()))?;
    // Casts, since the widths of these differ between platforms.
    #[allow(clippy::unnecessary_cast)]
    let free = found.blocks_available() as u64 * found.fragment_size() as u64;
    if free < needed {
        return Err(Error::Space { path: to.to_path_buf(), needed, free });
    }
    Ok(())
}

/// Writes out the files of a system and drops them from the page cache, except what it has mapped.
/// Files removed meanwhile are skipped.
///
/// # Errors
/// If a directory or file cannot be read, or if they are nowhere but in memory.
pub fn drop_from_page_cache(root: &Path) -> Result<(), Error> {
    fn present<T>(found: io::Result<T>, path: &Path) -> Result<Option<T>, Error> {
        match found {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found.map(Some).map_err(Error::io("read", path)),
        }
    }
    let kind =
        rustix::fs::statfs(root).map_err(|error| Error::io("look at", root)(error.into()))?;
    if kind.f_type == TMPFS {
        let what = format!("dropping {} from memory, a tmpfs", root.display());
        return Err(Error::unsupported(what, "choose a directory on a disk with --data-dir"));
    }
    rustix::fs::sync();
    let deadline = Instant::now() + IN_FLIGHT;
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let Some(entries) = present(fs::read_dir(&directory), &directory)? else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            match present(entry.file_type(), &path)? {
                Some(kind) if kind.is_dir() => directories.push(path),
                Some(kind) if kind.is_file() => {
                    let file = present(File::open(&path), &path)?;
                    file.iter().for_each(|file| drop_all(file, deadline));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Drops the pages of a file until none is left, or the deadline has passed: those that the kernel
/// is reading ahead can't be dropped before they have come.
fn drop_all(file: &File, deadline: Instant) {
    loop {
        drop_file(file);
        if cached_pages(file).is_none_or(|pages| pages == 0) || Instant::now() >= deadline {
            return;
        }
        sleep(Duration::from_millis(5));
    }
}

/// How many pages of a file are in the page cache; `None` before Linux 6.5, which has no
/// cachestat(2).
fn cached_pages(file: &File) -> Option<u64> {
    const CACHESTAT: libc::c_long = 451;
    // Offset and length, 0 for the whole file; five counts, the first of cached pages.
    let (range, mut counts) = ([0_u64; 2], [0_u64; 5]);
    // SAFETY: both structures have the kernel's layout and live until the call returns, and the
    // descriptor is open.
    let result = unsafe {
        libc::syscall(CACHESTAT, file.as_raw_fd(), range.as_ptr(), counts.as_mut_ptr(), 0)
    };
    (result == 0).then_some(counts[0])
}

/// Drops the clean pages of the files under `root` from the page cache.
pub(crate) fn drop_cached(root: &Path) -> Result<(), Error> {
    walk(root, &mut |path, metadata| {
        if metadata.is_file() && metadata.len() > 0 {
            drop_file(&File::open(path).map_err(Error::io("open", path))?);
        }
        Ok(())
    })
}

pub(crate) fn drop_file(file: &File) {
    // Length 0: to the end (posix_fadvise(2)). Ignored advice is not an error.
    let _ = posix_fadvise(file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    #[test]
    fn copies_modes_links_and_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let from = directory.path().join("from");
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/b/file"), vec![7_u8; 100_000]).unwrap();
        fs::write(from.join("a/empty"), "").unwrap();
        set_mode(&from.join("a/b/file"), 0o640).unwrap();
        set_mode(&from.join("a"), 0o700).unwrap();
        std::os::unix::fs::symlink("b/file", from.join("a/link")).unwrap();
        let to = directory.path().join("to");
        copy_tree(&from, &to, None, &GO_ON).unwrap();
        assert_eq!(fs::read(to.join("a/b/file")).unwrap(), vec![7_u8; 100_000]);
        assert_eq!(fs::read(to.join("a/empty")).unwrap(), b"");
        assert_eq!(fs::metadata(to.join("a/b/file")).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::metadata(to.join("a")).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_link(to.join("a/link")).unwrap(), Path::new("b/file"));
        assert!(copy_tree(&from, &to, None, &GO_ON).is_err(), "an existing target is refused");
    }

    #[test]
    fn a_copy_does_not_change_with_its_original() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("file"), vec![1_u8; 50_000]).unwrap();
        copy_tree(&from, &to, None, &GO_ON).unwrap();
        let copy = OpenOptions::new().write(true).open(to.join("file")).unwrap();
        copy.write_all_at(b"other", 10_000).unwrap();
        assert_eq!(fs::read(from.join("file")).unwrap(), vec![1_u8; 50_000]);
    }

    #[test]
    fn holes_stay_holes() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir(&from).unwrap();
        let file = File::create(from.join("sparse")).unwrap();
        let size = 64 << 20;
        file.set_len(size).unwrap();
        file.write_all_at(b"begin", 0).unwrap();
        file.write_all_at(b"middle", size / 2).unwrap();
        copy_tree(&from, &to, None, &GO_ON).unwrap();
        let (original, copy) = (file.metadata().unwrap(), fs::metadata(to.join("sparse")).unwrap());
        assert_eq!(copy.len(), size);
        assert_eq!(fs::read(from.join("sparse")).unwrap(), fs::read(to.join("sparse")).unwrap());
        if original.blocks() * BLOCK < size {
            assert!(copy.blocks() * BLOCK < size / 8, "{} blocks", copy.blocks());
        }
    }

    #[test]
    fn an_interrupt_ends_it_and_space_is_counted() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("file"), vec![1_u8; 1 << 20]).unwrap();
        let result = copy_tree(&from, &to, None, &AtomicBool::new(true));
        assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
        assert!(allocated(&from).unwrap() >= 1 << 20);
        check_space(&from, directory.path()).unwrap();
    }

    #[test]
    fn a_copy_without_space_is_refused_with_the_bytes_needed() {
        let error = Error::Space { path: "/data".into(), needed: 5_000_000_000, free: 3_000_000 };
        let text = error.to_string();
        assert!(text.contains("5.0 GB") && text.contains("3.0 MB"), "{text}");
    }
}
