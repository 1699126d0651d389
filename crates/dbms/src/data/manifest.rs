//! The exact content of a directory: path, kind, mode, owner, size and a hash of the content of
//! everything in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sha2::{Digest, Sha256};

use crate::Error;
use crate::data::hash;
use crate::data::paths::walk;

/// Maximum number of differences to report.
const TOLD: usize = 5;

/// The content of a directory. Two directories with equal manifests are identical: the hash is
/// SHA-256.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    items: BTreeMap<PathBuf, Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    /// Permission bits.
    mode: u32,
    /// Owner: user and group id.
    owner: (u32, u32),
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Directory,
    Link(PathBuf),
    File { size: u64, hash: [u8; 32] },
}

impl Manifest {
    /// Reads everything under `root`.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Interrupted`] soon after `interrupted` was set.
    pub fn of(root: &Path, interrupted: &AtomicBool) -> Result<Self, Error> {
        let mut items = BTreeMap::new();
        walk(root, &mut |path, metadata| {
            let content = if metadata.is_dir() {
                Content::Directory
            } else if metadata.is_symlink() {
                Content::Link(fs::read_link(path).map_err(Error::io("read the link", path))?)
            } else {
                let (size, hash) = hash::of_file(path, interrupted)?;
                Content::File { size, hash }
            };
            let mode = metadata.mode() & 0o7777;
            let owner = (metadata.uid(), metadata.gid());
            let relative = path.strip_prefix(root).unwrap_or(path).to_path_buf();
            items.insert(relative, Item { mode, owner, content });
            Ok(())
        })?;
        Ok(Self { items })
    }

    /// How `other` differs, by path relative to the directory; the path of the directory itself is
    /// empty.
    pub fn differences(&self, other: &Self) -> BTreeMap<PathBuf, &'static str> {
        let missing = self.items.iter().filter_map(|(path, item)| {
            let how = match other.items.get(path) {
                None => "is missing",
                Some(found) => item.difference(found)?,
            };
            Some((path.clone(), how))
        });
        let added = other.items.keys().filter(|path| !self.items.contains_key(*path));
        missing.chain(added.map(|path| (path.clone(), "is new"))).collect()
    }

    /// Reads everything under `root` and compares.
    ///
    /// # Errors
    /// [`Error::NotSame`] names the differences; otherwise as [`Manifest::of`].
    pub fn check(&self, root: &Path, interrupted: &AtomicBool) -> Result<(), Error> {
        let differences = self.differences(&Self::of(root, interrupted)?);
        if differences.is_empty() {
            return Ok(());
        }
        let differing = differences.iter().take(TOLD);
        let mut told: Vec<String> =
            differing.map(|(path, how)| format!("{} {how}", path.display())).collect();
        if differences.len() > TOLD {
            told.push(format!("and {} more", differences.len() - TOLD));
        }
        Err(Error::NotSame { path: root.to_path_buf(), differences: told.join(", ") })
    }

    /// Number of files.
    pub fn files(&self) -> usize {
        self.sizes().count()
    }

    /// Bytes in all files, holes included.
    pub fn bytes(&self) -> u64 {
        self.sizes().sum()
    }

    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.items.values().filter_map(|item| match item.content {
            Content::File { size, .. } => Some(size),
            _ => None,
        })
    }

    /// A short name for the whole content: the first 16 hexadecimal digits of a SHA-256 of the
    /// manifest.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for (path, item) in &self.items {
            let mut add = |bytes: &[u8]| {
                hash.update((bytes.len() as u64).to_le_bytes());
                hash.update(bytes);
            };
            add(path.as_os_str().as_bytes());
            add(&item.mode.to_le_bytes());
            add(&item.owner.0.to_le_bytes());
            add(&item.owner.1.to_le_bytes());
            match &item.content {
                Content::Directory => add(b"directory"),
                Content::Link(target) => {
                    add(b"link");
                    add(target.as_os_str().as_bytes());
                }
                Content::File { size, hash } => {
                    add(b"file");
                    add(&size.to_le_bytes());
                    add(hash);
                }
            }
        }
        hash::hex(&hash.finalize()[..8])
    }
}

impl Item {
    fn difference(&self, found: &Self) -> Option<&'static str> {
        let content = match (&self.content, &found.content) {
            (Content::File { size, .. }, Content::File { size: other, .. }) if size != other => {
                Some("has another size")
            }
            (Content::File { .. }, Content::File { .. }) => Some("has other bytes"),
            (Content::Link(_), Content::Link(_)) => Some("points elsewhere"),
            (Content::Directory, Content::Directory) => None,
            _ => Some("is of another kind"),
        };
        match content {
            Some(how) if self.content != found.content => Some(how),
            _ if self.mode != found.mode => Some("has another mode"),
            _ if self.owner != found.owner => Some("has another owner"),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
