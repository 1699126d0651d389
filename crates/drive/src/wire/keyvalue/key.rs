//! The keys that clients ask for.

/// A key: its number in the first 8 bytes, the highest first, then the character 0 (db_bench's
/// layout).
pub type Key = [u8; 20];

/// The key with this number.
#[inline]
pub(super) fn key(number: i64) -> Key {
    let mut key = [b'0'; 20];
    if let Some(first) = key.first_chunk_mut() {
        *first = number.to_be_bytes();
    }
    key
}
