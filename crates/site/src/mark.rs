//! Short hashes by which changes are noticed.

use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

/// Bytes of a hash that are kept.
const BYTES: usize = 16;

/// A hash of some texts, which is another for other texts.
pub(crate) fn mark<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hex(&hash.finalize())
}

/// A hash of a file's content.
pub(crate) fn sum(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// Which program this is. Another build may judge in another way, so nothing that it made is
/// used.
pub(crate) fn program() -> String {
    static KNOWN: OnceLock<String> = OnceLock::new();
    KNOWN.get_or_init(read_program).clone()
}

/// Once, because the program's file may be replaced while it runs.
fn read_program() -> String {
    let exe = std::env::current_exe().and_then(std::fs::metadata);
    let built = exe.and_then(|file| {
        let since = file.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{} {}", file.len(), since.as_nanos()))
    });
    // Of a program that can't be seen, nothing is used again.
    let built = built.unwrap_or_else(|_| format!("at {}", store::now_ms()));
    mark([env!("CARGO_PKG_VERSION"), &built])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_texts_apart() {
        assert_eq!(mark(["a", "b"]), mark(["a", "b"]));
        assert_ne!(mark(["a", "b"]), mark(["ab"]));
        assert_ne!(mark(["a", ""]), mark(["a"]));
        assert_eq!(sum(b"").len(), 2 * BYTES);
        assert_eq!(program(), program());
    }
}
