//! Unpacks archives from elsewhere. Nothing is written outside the directory, whatever the archive
//! contains.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use tar::{Archive, EntryType};

use crate::Error;
use crate::data::paths;

/// Which permissions unpacked files get. Special bits are never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Modes {
    /// 0755 for directories and programs, 0644 for other files: everyone can read, only the owner
    /// can write.
    Open,
    /// As in the archive.
    Kept,
}

/// Maximum number of bytes that an archive of a server may unpack to, since a few kilobytes can
/// unpack to terabytes. MariaDB 11.4 has 360 MB.
pub(crate) const LARGEST: u64 = 4 << 30;

/// Maximum total size in bytes of the files in it that a server needs. RocksDB 10.10 has 70 MB.
const NEEDED: u64 = 1 << 30;

/// The content of a file in an archive of a server; `before` is the number of bytes read from other
/// files.
pub(crate) fn content(file: impl Read, before: u64) -> Result<Vec<u8>, String> {
    let left = NEEDED.saturating_sub(before);
    let mut bytes = Vec::new();
    file.take(left + 1).read_to_end(&mut bytes).map_err(damaged)?;
    if bytes.len() as u64 > left {
        return Err(format!("it contains more than {} MB", NEEDED >> 20));
    }
    Ok(bytes)
}

/// The error for an archive that can't be read.
pub(crate) fn damaged(error: impl fmt::Display) -> String {
    format!("it is damaged ({error})")
}

/// A reader that fails after this many bytes, unless it has reached its end by then.
pub(crate) struct Limited<'a, R> {
    /// The underlying reader.
    pub(crate) inner: R,
    /// How many bytes may still come.
    pub(crate) left: &'a Cell<u64>,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return match self.inner.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other("it is too large")),
            };
        }
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.inner.read(buffer.get_mut(..most).unwrap_or_default())?;
        self.left.set(left - read as u64);
        Ok(read)
    }
}

/// Checks a whole tar archive, so a bad one is refused before anything is unpacked.
///
/// # Errors
/// [`Error::Unpack`] with the entry and what is wrong with it. `name` says which archive it is.
pub(crate) fn check(tar: impl Read, name: &str) -> Result<(), Error> {
    each(tar, name, LARGEST, |_, _, _, _| Ok(()))
}

/// Unpacks a tar archive into the directory `into`, which is created if it does not exist.
///
/// # Errors
/// [`Error::Unpack`] at the first entry that [`check`] refuses; [`Error::Io`].
pub(crate) fn unpack(tar: impl Read, into: &Path, modes: Modes, name: &str) -> Result<(), Error> {
    paths::create_directories(into)?;
    let mut directories = Vec::new();
    each(tar, name, LARGEST, |path, kind, mode, reader| {
        let path = into.join(path);
        if let Some(parent) = path.parent().filter(|parent| parent.starts_with(into)) {
            paths::create_directories(parent)?;
        }
        match kind {
            Admitted::Directory => {
                paths::create_directories(&path)?;
                directories.push((path, mode | 0o700));
            }
            Admitted::File => {
                let mode = match modes {
                    Modes::Kept => mode,
                    Modes::Open => paths::open_mode(mode & 0o111 != 0),
                };
                // New, so that it is written through no link.
                let mut file = OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(&path)
                    .map_err(Error::io("create", &path))?;
                io::copy(reader, &mut file).map_err(Error::io("write", &path))?;
                paths::set_mode(&path, mode)?;
            }
            Admitted::Link(target) => std::os::unix::fs::symlink(target, &path)
                .map_err(Error::io("create the link", &path))?,
            Admitted::HardLink(target) => fs::hard_link(into.join(target), &path)
                .map_err(Error::io("create the link", &path))?,
        }
        Ok(())
    })?;
    // Last, since a directory may forbid its owner to write to it.
    for (path, mode) in directories.iter().rev().filter(|_| modes == Modes::Kept) {
        paths::set_mode(path, *mode)?;
    }
    Ok(())
}

/// The kind of an entry that may be unpacked.
enum Admitted {
    Directory,
    File,
    /// A symbolic link that leads to a place inside, or to nothing.
    Link(PathBuf),
    /// Another name for an earlier file.
    HardLink(PathBuf),
}

/// Calls `visit` with the path, kind, permission bits and content of every entry in order, up to
/// the first that must not be unpacked, or until more than `largest` bytes were read. Paths are
/// relative, without `.` and `..`, through no link.
fn each(
    tar: impl Read,
    name: &str,
    largest: u64,
    mut visit: impl FnMut(&Path, &Admitted, u32, &mut dyn Read) -> Result<(), Error>,
) -> Result<(), Error> {
    let refused = |problem: String| Error::Unpack { archive: name.to_owned(), problem };
    let left = Cell::new(largest);
    let failed = |error: io::Error| match left.get() {
        0 => refused(format!("it unpacks to more than {} MB", largest >> 20)),
        _ => refused(damaged(error)),
    };
    let mut seen = Seen::default();
    for entry in Archive::new(Limited { inner: tar, left: &left }).entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        if entry.header().entry_type() == EntryType::XGlobalHeader {
            continue;
        }
        let path = entry.path().map_err(failed)?.into_owned();
        let target = entry.link_name().map_err(failed)?.map(std::borrow::Cow::into_owned);
        let mode = entry.header().mode().map_err(failed)? & 0o777;
        let kind = entry.header().entry_type();
        let (path, kind) = seen
            .admit(&path, kind, target)
            .map_err(|problem| refused(format!("its entry `{}` {problem}", path.display())))?;
        visit(&path, &kind, mode, &mut entry)?;
    }
    Ok(())
}

/// The earlier entries of an archive.
#[derive(Default)]
struct Seen {
    files: HashSet<PathBuf>,
    links: HashSet<PathBuf>,
}

impl Seen {
    /// The entry's path and kind, or why it must not be unpacked.
    fn admit(
        &mut self,
        path: &Path,
        kind: EntryType,
        target: Option<PathBuf>,
    ) -> Result<(PathBuf, Admitted), String> {
        let path = self.inside(path)?;
        if self.links.contains(&path) || self.files.contains(&path) {
            return Err("comes twice".to_owned());
        }
        let target = || target.ok_or_else(|| "is a link to nothing".to_owned());
        let kind = match kind {
            EntryType::Directory => Admitted::Directory,
            _ if path.as_os_str().is_empty() => return Err("has no name".to_owned()),
            EntryType::Regular | EntryType::Continuous => Admitted::File,
            EntryType::Symlink => {
                let target = target()?;
                check_target(&path, &target)?;
                self.links.insert(path.clone());
                Admitted::Link(target)
            }
            EntryType::Link => {
                let target = target()?;
                let file = self.inside(&target).ok().filter(|file| self.files.contains(file));
                Admitted::HardLink(file.ok_or_else(|| {
                    format!("is a link to {}, which is not a file in the archive", target.display())
                })?)
            }
            other => return Err(format!("is not a file, directory or link ({other:?})")),
        };
        if matches!(kind, Admitted::File | Admitted::HardLink(_)) {
            self.files.insert(path.clone());
        }
        Ok((path, kind))
    }

    /// `path` without `.`, if it stays inside and goes through no link.
    fn inside(&self, path: &Path) -> Result<PathBuf, String> {
        let mut clean = PathBuf::new();
        for component in path.components() {
            if self.links.contains(&clean) {
                return Err(format!("goes through the link {}", clean.display()));
            }
            match component {
                Component::Normal(name) => clean.push(name),
                Component::CurDir => {}
                Component::ParentDir => return Err("has `..` in its path".to_owned()),
                _ => return Err("has an absolute path".to_owned()),
            }
        }
        Ok(clean)
    }
}

/// Checks that a symbolic link at `path` stays inside. Its target may first lead up, through real
/// directories, since `path` goes through no link. It may then lead down, through links that each
/// stay inside, but with no further `..`.
fn check_target(path: &Path, target: &Path) -> Result<(), String> {
    let leads_out = || Err(format!("is a link to {}, which is outside", target.display()));
    let mut depth = path.components().count().saturating_sub(1);
    let mut down = false;
    for component in target.components() {
        match component {
            Component::Normal(_) => down = true,
            Component::CurDir => {}
            Component::ParentDir if !down && depth > 0 => depth -= 1,
            _ => return leads_out(),
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use tar::{Builder, Header};

    /// An archive of entries: path, type, and the content of a file or the target of a link. Paths
    /// and targets are written as they are, which the builder's own functions refuse.
    pub(crate) fn archive(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (path, kind, more) in entries {
            let mut header = Header::new_old();
            let set = |field: &mut [u8], text: &str| {
                field[..text.len()].copy_from_slice(text.as_bytes());
            };
            set(&mut header.as_old_mut().name, path);
            header.set_entry_type(*kind);
            header.set_mode(0o4755);
            let content = if kind.is_file() { more.as_bytes() } else { b"" };
            if !kind.is_file() {
                set(&mut header.as_old_mut().linkname, more);
            }
            header.set_size(content.len() as u64);
            header.set_cksum();
            builder.append(&header, content).unwrap();
        }
        builder.into_inner().unwrap()
    }

    pub(crate) const FILE: EntryType = EntryType::Regular;
    pub(crate) const LINK: EntryType = EntryType::Symlink;
    pub(crate) const HARD: EntryType = EntryType::Link;

    /// Everything under `root` except `root/in`: paths and contents.
    fn outside(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        paths::walk(root, &mut |path, metadata| {
            if !path.starts_with(root.join("in")) {
                let content = if metadata.is_file() { fs::read(path).unwrap() } else { Vec::new() };
                found.push((path.to_path_buf(), content));
            }
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn nothing_outside_is_changed() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("out")).unwrap();
        fs::write(root.path().join("out/file"), "precious").unwrap();
        let absolute = root.path().join("out/absolute").display().to_string();
        let out = root.path().join("out").display().to_string();
        let out_file = format!("{out}/file");
        let good = ("bin/good", FILE, "x");
        let bad: Vec<Vec<(&str, EntryType, &str)>> = vec![
            vec![("../out/new", FILE, "x")],
            vec![("bin/../../out/new", FILE, "x")],
            vec![(&absolute, FILE, "x")],
            vec![("link", LINK, &out), ("link/new", FILE, "x")],
            vec![("link", LINK, "../out"), ("link/new", FILE, "x")],
            vec![("link", LINK, "../out/file"), ("link", FILE, "x")],
            vec![("a/link", LINK, "../../out/file")],
            // Each looks harmless alone: a leads to the top, so a/.. is above it.
            vec![("d/a", LINK, ".."), ("b", LINK, "d/a/../out")],
            vec![("link", LINK, "bin"), ("link/new", FILE, "x")],
            vec![("hard", HARD, &out_file)],
            vec![("hard", HARD, "../out/file")],
            vec![("link", LINK, "bin"), ("hard", HARD, "link/good")],
            vec![("bin/good", FILE, "y")],
            vec![("pipe", EntryType::Fifo, "")],
            vec![("device", EntryType::Block, "")],
            vec![("", FILE, "x")],
        ];
        let before = outside(root.path());
        for entries in bad {
            let bytes = archive(&[&[good][..], &entries].concat());
            let into = root.path().join("in");
            let error = check(&*bytes, "a.tar").unwrap_err().to_string();
            assert!(error.contains("cannot unpack a.tar"), "{entries:?}: {error}");
            // Without the check, the result is the same.
            let unpacked = unpack(&*bytes, &into, Modes::Open, "a.tar").unwrap_err();
            assert_eq!(unpacked.to_string(), error, "{entries:?}");
            assert_eq!(outside(root.path()), before, "{entries:?}");
            fs::remove_dir_all(into).unwrap();
        }
    }

    #[test]
    fn what_is_too_large_is_refused_where_it_becomes_so() {
        let zeros = "\0".repeat(3 << 20);
        let bytes = archive(&[("lib/a", FILE, &zeros), ("lib/b", FILE, "b")]);
        let read = |largest: u64| {
            let mut seen = Vec::new();
            let result = each(&*bytes, "a.tar", largest, |path, _, _, content| {
                let mut all = Vec::new();
                let _ = content.read_to_end(&mut all);
                seen.push((path.to_path_buf(), all.len()));
                Ok(())
            });
            (result.map_err(|error| error.to_string()), seen)
        };
        let (result, seen) = read(2 << 20);
        let error = result.unwrap_err();
        assert!(error.contains("cannot unpack a.tar: it unpacks to more than 2 MB"), "{error}");
        assert!(matches!(&*seen, [(_, read)] if *read < 2 << 20), "{seen:?}");
        let (result, seen) = read(4 << 20);
        assert!(result.is_ok() && seen.len() == 2, "{seen:?}");
    }

    #[test]
    fn an_installation_is_unpacked() {
        use std::os::unix::fs::MetadataExt;
        let bytes = archive(&[
            ("./", EntryType::Directory, ""),
            ("./lib/", EntryType::Directory, ""),
            ("./lib/libpq.so.5.13", FILE, "library"),
            ("lib/libpq.so", LINK, "libpq.so.5.13"),
            ("share/zone", FILE, "zone"),
            ("share/alias", HARD, "./share/zone"),
            ("share/up", LINK, "../lib/libpq.so"),
        ]);
        let root = tempfile::tempdir().unwrap();
        let into = root.path().join("in");
        check(&*bytes, "a").unwrap();
        unpack(&*bytes, &into, Modes::Open, "a").unwrap();
        assert_eq!(fs::read(into.join("share/up")).unwrap(), b"library");
        assert_eq!(fs::read(into.join("share/alias")).unwrap(), b"zone");
        // Even if root unpacked it, no special bit comes out of an archive.
        let mode = fs::metadata(into.join("lib/libpq.so.5.13")).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o755);
        assert!(unpack(&*bytes, &into, Modes::Open, "a").is_err(), "nothing is overwritten");
        assert!(check(&b"no archive at all"[..], "a").is_err());
    }

    proptest! {
        /// Whatever its names and links, an archive writes only below its directory.
        #[test]
        fn any_archive(entries in proptest::collection::vec(
            ("(/|\\./|\\.\\./)?([ab]/|\\.\\./|\\./){0,3}[abc]", 0..3, "(/|\\.\\./)?([ab]/|\\.\\./){0,3}[abc]"), 1..8,
        )) {
            let root = tempfile::tempdir().unwrap();
            let into = root.path().join("x/y/in");
            let entries: Vec<(&str, EntryType, &str)> = entries
                .iter()
                .map(|(path, kind, more)| (path.as_str(), [FILE, LINK, HARD][*kind as usize], more.as_str()))
                .collect();
            let _ = unpack(&*archive(&entries), &into, Modes::Open, "a");
            let mut escaped = Vec::new();
            paths::walk(root.path(), &mut |path, metadata| {
                let inside = path.starts_with(&into) || into.starts_with(path);
                // A link may lead nowhere, but not outside.
                let leads = !metadata.is_symlink() || fs::canonicalize(path).map_or(true, |to| to.starts_with(&into));
                if !inside || !leads {
                    escaped.push(path.to_path_buf());
                }
                Ok(())
            }).unwrap();
            prop_assert!(escaped.is_empty(), "{:?}", escaped);
        }
    }
}
