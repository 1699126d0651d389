//! SHA-256 in hexadecimal digits.

use std::fmt::Write;

use sha2::{Digest, Sha256};

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

/// The hash of several texts, told apart where one ends and the next begins.
pub(crate) fn of_texts(texts: impl IntoIterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize())
}
