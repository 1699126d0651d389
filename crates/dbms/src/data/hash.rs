//! SHA-256 of bytes, texts and files.

use std::fmt::Write;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use sha2::{Digest, Sha256};

use crate::Error;

/// Bytes read at once.
pub(crate) const PIECE: usize = 1 << 20;

/// The digits of a digest.
pub(crate) fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The hash of some bytes.
pub(crate) fn of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The hash of several texts, including where one ends and the next begins.
pub fn of_texts(texts: impl IntoIterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize())
}

/// The size of a file and the hash of its content.
pub(crate) fn of_file(path: &Path, interrupted: &AtomicBool) -> Result<(u64, [u8; 32]), Error> {
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let mut buffer = vec![0; PIECE];
    let (mut hash, mut size) = (Sha256::new(), 0);
    loop {
        Error::check(interrupted, "reading data")?;
        match file.read(&mut buffer) {
            Ok(0) => return Ok((size, hash.finalize().into())),
            Ok(count) => {
                size += count as u64;
                hash.update(buffer.get(..count).unwrap_or_default());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io("read", path)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_hashed_apart() {
        let of = |texts: [&str; 2]| of_texts(texts.map(str::to_owned));
        assert_eq!(of(["a", "b"]).len(), 64);
        assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
    }
}
