//! Where the parts of an image are, and checks of what comes from there.

use std::io::{self, Read};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use sha2::{Digest as _, Sha256};

use super::manifest::{self, Descriptor};

/// Largest manifest or configuration, in bytes: registries refuse more than 4 MB.
pub(super) const LARGEST_DOCUMENT: u64 = 4 << 20;

/// Gives the parts of an image.
pub(super) trait Parts {
    /// The manifest or index of the image, and its digest.
    fn document(&self) -> Result<(Vec<u8>, String), String>;

    /// Opens a part by its digest.
    fn open(&self, part: &Descriptor) -> Result<Box<dyn Read + Send>, String>;
}

/// A manifest or configuration.
pub(super) fn small(parts: &dyn Parts, part: &Descriptor) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = parts.open(part)?.take(LARGEST_DOCUMENT + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("{}: {error}", part.digest))?;
    if bytes.len() as u64 > LARGEST_DOCUMENT {
        return Err(format!("{} has more than {} MB", part.digest, LARGEST_DOCUMENT >> 20));
    }
    matches(&part.digest, &manifest::digest_of(&bytes))?;
    Ok(bytes)
}

pub(super) fn matches(expected: &str, found: &str) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("expected content with the digest {expected}, found {found}"))
}

/// A reader that keeps the hash of what was read.
pub(super) struct Hashed<R> {
    inner: R,
    hash: Sha256,
}

impl<R> Hashed<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, hash: Sha256::new() }
    }

    /// The digest of what was read.
    pub(super) fn digest(self) -> String {
        manifest::digest(self.hash)
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hash.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// A reader that fails once it is interrupted.
pub(super) struct Stoppable<'a, R> {
    pub(super) inner: R,
    pub(super) interrupted: &'a AtomicBool,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.interrupted.load(Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        self.inner.read(buffer)
    }
}
