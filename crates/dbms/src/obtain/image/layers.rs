//! Applies layers to a directory, as the OCI image specification says ("Image Layer Filesystem
//! Changeset").
//!
//! Whatever a layer contains, nothing outside the directory is touched: a link's target is written
//! relative to it and kept below it, so no path inside leads out, also through links.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use tar::{Archive, EntryType};

use crate::Error;
use crate::data::paths;
use crate::obtain::unpack::{LARGEST, Limited, damaged};

/// The beginning of the name of a file that removes another, below it, from the image.
const WHITEOUT: &str = ".wh.";
/// The name of a file that removes all of its directory's content, below it, from the image.
const OPAQUE: &str = ".wh..wh..opq";

/// Applies a layer, a tar archive, to the image in `root`. `what` names the image.
///
/// # Errors
/// [`Error::Unpack`] for a damaged layer, one with a path that leads outside, and one that is too
/// large; [`Error::Io`].
pub(super) fn apply(tar: impl Read, root: &Path, what: &str) -> Result<(), Error> {
    let refused = |problem: String| Error::Unpack { archive: what.to_owned(), problem };
    let root = &fs::canonicalize(root).map_err(Error::io("resolve", root))?;
    let left = std::cell::Cell::new(LARGEST);
    let failed = |error: io::Error| match left.get() {
        0 => refused(format!("a layer unpacks to more than {} MB", LARGEST >> 20)),
        _ => refused(damaged(error)),
    };
    // An opaque directory loses what lower layers have in it, not what this one puts there.
    let mut own: Vec<PathBuf> = Vec::new();
    for entry in Archive::new(Limited { inner: tar, left: &left }).entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let said = entry.path().map_err(failed)?.into_owned();
        let Some(path) = inside(&said) else {
            return Err(refused(format!("its entry `{}` leads outside", said.display())));
        };
        let Some((parent, name)) = path.parent().zip(path.file_name()) else { continue };
        let directory = real_directory(root, parent)?;
        if name == OPAQUE {
            empty(&directory, &own)?;
            continue;
        }
        if let Some(hidden) = name.to_str().and_then(|name| name.strip_prefix(WHITEOUT)) {
            if [".", ".."].contains(&hidden) || hidden.contains('/') {
                return Err(refused(format!("its entry `{}` leads outside", said.display())));
            }
            remove(&directory.join(hidden))?;
            continue;
        }
        let target = directory.join(name);
        let mode = entry.header().mode().map_err(failed)?;
        let link = entry.link_name().map_err(failed)?.map(std::borrow::Cow::into_owned);
        match entry.header().entry_type() {
            EntryType::Directory => {
                if !is_directory(&target) {
                    remove(&target)?;
                    fs::create_dir(&target).map_err(Error::io("create", &target))?;
                }
            }
            EntryType::Regular | EntryType::Continuous => {
                remove(&target)?;
                let mode = paths::open_mode(mode & 0o111 != 0);
                let mut options = OpenOptions::new();
                let file = options.write(true).create_new(true).mode(mode).open(&target);
                let mut file = file.map_err(Error::io("create", &target))?;
                io::copy(&mut entry, &mut file).map_err(failed)?;
            }
            EntryType::Symlink => {
                remove(&target)?;
                let depth = directory.strip_prefix(root).unwrap_or(Path::new(""));
                let to = confined(depth, &link.unwrap_or_default());
                let made = std::os::unix::fs::symlink(&to, &target);
                made.map_err(Error::io("create the link", &target))?;
            }
            EntryType::Link => {
                let other = link.as_deref().and_then(inside).unwrap_or_default();
                if !hard_link(root, &other, &target)? {
                    let said = said.display();
                    return Err(refused(format!("its entry `{said}` is a link to no file")));
                }
            }
            // Devices and pipes are of no use here.
            _ => continue,
        }
        own.push(target);
    }
    Ok(())
}

/// Makes `target` another name for the file at `other` in the image; false if there is none.
/// Another name of a link would lead elsewhere if it lies at another depth, so it becomes a new
/// link.
fn hard_link(root: &Path, other: &Path, target: &Path) -> Result<bool, Error> {
    let Some((parent, name)) = other.parent().zip(other.file_name()) else { return Ok(false) };
    let from = real_directory(root, parent)?.join(name);
    if from == target || from.symlink_metadata().is_err() {
        return Ok(from == target);
    }
    remove(target)?;
    let depth = |path: &Path| {
        let above = path.parent().unwrap_or(root);
        above.strip_prefix(root).unwrap_or(Path::new("")).to_path_buf()
    };
    let made = match fs::read_link(&from) {
        Ok(to) => {
            let to = Path::new("/").join(whole(&depth(&from), &to));
            std::os::unix::fs::symlink(confined(&depth(target), &to), target)
        }
        Err(_) => fs::hard_link(&from, target),
    };
    made.map_err(Error::io("create the link", target)).map(|()| true)
}

/// A path without `.` and leading `/`; `None` if it has `..`.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => clean.push(name),
            Component::ParentDir => return None,
            _ => {}
        }
    }
    Some(clean)
}

/// The directory at this path in `root`, links resolved; created where it is missing. Links in
/// `root` stay in it.
fn real_directory(root: &Path, path: &Path) -> Result<PathBuf, Error> {
    let mut found = root.to_path_buf();
    for name in path {
        let next = found.join(name);
        match fs::canonicalize(&next) {
            Ok(real) if real.is_dir() => found = real,
            Ok(_) | Err(_) => {
                remove(&next)?;
                fs::create_dir(&next).map_err(Error::io("create", &next))?;
                found = next;
            }
        }
    }
    Ok(found)
}

/// The target of a link in the directory `depth` of the image, relative to it and below the image's
/// root: `..` that would lead out stay at the root, as in a container.
fn confined(depth: &Path, target: &Path) -> PathBuf {
    let whole = whole(depth, target);
    let common = depth.components().zip(whole.components()).take_while(|(a, b)| a == b).count();
    let mut relative: PathBuf = depth.components().skip(common).map(|_| "..").collect();
    relative.extend(whole.components().skip(common));
    if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative }
}

/// That target from the image's root.
pub(super) fn whole(depth: &Path, target: &Path) -> PathBuf {
    let mut whole = if target.is_absolute() { PathBuf::new() } else { depth.to_path_buf() };
    for component in target.components() {
        match component {
            Component::Normal(name) => whole.push(name),
            Component::ParentDir => drop(whole.pop()),
            _ => {}
        }
    }
    whole
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Removes a file, a link or a whole directory, if there is one.
fn remove(path: &Path) -> Result<(), Error> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
    removed.map_err(Error::io("remove", path))
}

/// Removes what is in a directory, but for what this layer has `own`.
fn empty(directory: &Path, own: &[PathBuf]) -> Result<(), Error> {
    for entry in fs::read_dir(directory).map_err(Error::io("read", directory))?.flatten() {
        let path = entry.path();
        if own.contains(&path) {
            continue;
        }
        match own.iter().any(|kept| kept.starts_with(&path)) {
            true => empty(&path, own)?,
            false => remove(&path)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obtain::unpack::tests::{FILE, HARD, LINK, archive};
    use proptest::prelude::*;

    const DIR: EntryType = EntryType::Directory;

    /// Paths and contents of files, and targets of links, below a directory.
    fn tree(root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        paths::walk(root, &mut |path, metadata| {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if metadata.is_file() {
                found.push(format!("{name}={}", fs::read_to_string(path).unwrap()));
            } else if metadata.is_symlink() {
                found.push(format!("{name}>{}", fs::read_link(path).unwrap().display()));
            }
            Ok(())
        })
        .unwrap();
        found.sort();
        found
    }

    fn applied(layers: &[&[(&str, EntryType, &str)]]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for entries in layers {
            apply(&*archive(entries), root.path(), "an image").unwrap();
        }
        tree(root.path())
    }

    #[test]
    fn upper_layers_replace_and_remove() {
        let lower: &[_] = &[
            ("usr/lib/a", FILE, "a"),
            ("usr/lib/b", FILE, "b"),
            ("etc/x/one", FILE, "1"),
            ("etc/x/deep/two", FILE, "2"),
            ("lib", LINK, "usr/lib"),
            ("opt", DIR, ""),
            ("opt/gone", FILE, "gone"),
        ];
        let upper: &[_] = &[
            ("lib/a", FILE, "new"),
            ("usr/lib/.wh.b", FILE, ""),
            ("etc/x/deep/three", FILE, "3"),
            ("etc/x/.wh..wh..opq", FILE, ""),
            ("etc/x/four", FILE, "4"),
            ("opt", FILE, "a file now"),
            ("hard", HARD, "usr/lib/a"),
            (".wh.nothing", FILE, ""),
        ];
        assert_eq!(
            applied(&[lower, upper]),
            [
                "etc/x/deep/three=3",
                "etc/x/four=4",
                "hard=new",
                "lib>usr/lib",
                "opt=a file now",
                "usr/lib/a=new"
            ]
        );
    }

    #[test]
    fn links_stay_in_the_image() {
        for (path, target, written) in [
            ("lib64/ld.so", "/lib/x/ld-2.31.so", "../lib/x/ld-2.31.so"),
            ("lib", "usr/lib", "usr/lib"),
            ("a/b/up", "../../../../etc/passwd", "../../etc/passwd"),
            ("a/l", "/", ".."),
            ("a/b/same", "other", "other"),
            ("here", ".", "."),
        ] {
            let found = applied(&[&[(path, LINK, target)]]);
            assert_eq!(found, [format!("{path}>{written}")]);
        }
    }

    #[test]
    fn nothing_outside_is_changed() {
        let place = tempfile::tempdir().unwrap();
        let (root, out) = (place.path().join("root"), place.path().join("out"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&out).unwrap();
        fs::write(out.join("file"), "precious").unwrap();
        let absolute = out.display().to_string();
        let refused: [&[(&str, EntryType, &str)]; 4] = [
            &[("../out/new", FILE, "x")],
            &[("a/../../out/new", FILE, "x")],
            &[("a/.wh...", FILE, "")],
            &[("hard", HARD, "../out/file")],
        ];
        for entries in refused {
            let error = apply(&*archive(entries), &root, "an image").unwrap_err().to_string();
            assert!(error.contains("an image"), "{entries:?}: {error}");
        }
        let harmless: &[_] = &[
            ("link", LINK, &*absolute),
            ("link/new", FILE, "x"),
            ("l", LINK, "../out"),
            ("l/file", FILE, "x"),
            ("d/a", LINK, ".."),
            ("b", LINK, "d/a/../out"),
            ("b/file", FILE, "x"),
            ("pipe", EntryType::Fifo, ""),
            ("deep/er/up", LINK, "../../none"),
            ("top", HARD, "deep/er/up"),
            ("top/file", FILE, "x"),
        ];
        apply(&*archive(harmless), &root, "an image").unwrap();
        assert_eq!(tree(&out), ["file=precious"]);
        assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    }

    proptest! {
        /// Any order of files, links and removals with any of these names.
        #[test]
        fn no_order_of_entries_leads_out(
            entries in proptest::collection::vec(
                (
                    "(a|b|l|\\.wh\\.a|\\.wh\\.l|\\.\\.)(/(a|b|l|\\.\\.|\\.wh\\.\\.wh\\.\\.opq)){0,3}",
                    0..4_usize,
                    "/?(a|b|l|\\.\\.|out|file)(/(a|b|l|\\.\\.|out|file)){0,3}",
                ),
                1..12,
            )
        ) {
            let place = tempfile::tempdir().unwrap();
            let (root, out) = (place.path().join("x/root"), place.path().join("out"));
            fs::create_dir_all(&root).unwrap();
            fs::create_dir(&out).unwrap();
            fs::write(out.join("file"), "precious").unwrap();
            for (path, kind, more) in &entries {
                let kind = [FILE, LINK, HARD, DIR][*kind];
                // What is refused or fails must do no harm either.
                let _ = apply(&*archive(&[(path, kind, more)]), &root, "an image");
            }
            prop_assert_eq!(tree(&out), ["file=precious"]);
            let all: Vec<_> = fs::read_dir(place.path()).unwrap().flatten().collect();
            prop_assert_eq!(all.len(), 2);
            prop_assert_eq!(fs::read_dir(place.path().join("x")).unwrap().count(), 1);
        }
    }
}
