//! Values that show which key they belong to and whether they are complete.
//!
//! A sealed value begins with its key's number (8 bytes, the highest first) and the CRC-32 of what
//! follows the seal (4 bytes, the lowest first).

use workload::KeyAction;

use super::key::Key;
use crate::error::Error;
use crate::wire::Reply;

/// Bytes of a seal. Shorter values have none.
const SEAL: usize = 12;

/// Computes the checksum of one in this many values. Each computation reads the whole value, which
/// is not part of the cost by which engines are compared.
const ONE_IN: u64 = 16;

/// Writes the seal of `key` over the beginning of a value.
pub fn seal(key: &Key, value: &mut [u8]) {
    if let Some((seal, rest)) = value.split_at_mut_checked(SEAL) {
        seal[..8].copy_from_slice(&key[..8]);
        seal[8..].copy_from_slice(&crc32fast::hash(rest).to_le_bytes());
    }
}

/// True if a value belongs to the key; with `whole`, its checksum must match, too.
#[inline(always)]
fn sealed(key: &[u8], value: &[u8], whole: bool) -> bool {
    let Some((seal, rest)) = value.split_at_checked(SEAL) else { return false };
    key.len() == size_of::<Key>()
        && seal[..8] == key[..8]
        && (!whole || seal[8..] == crc32fast::hash(rest).to_le_bytes())
}

/// Describes the damage to a pair that is not sealed.
#[cold]
fn broken(key: &[u8], value: &[u8]) -> Wrong {
    if key.len() != size_of::<Key>() {
        return Wrong("a key of 20 bytes".to_owned(), format!("{} bytes", key.len()));
    }
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_be_bytes);
    let expected = |what: &str| format!("the value of key {}{what}", number(&key[..8]));
    match value.get(..SEAL) {
        None => Wrong(expected(""), format!("{} bytes", value.len())),
        Some(seal) if seal[..8] != key[..8] => {
            Wrong(expected(""), format!("that of key {}", number(&seal[..8])))
        }
        Some(_) => Wrong(expected(" with its checksum"), "other bytes".to_owned()),
    }
}

/// The expected and the received answer.
struct Wrong(String, String);

impl Wrong {
    #[cold]
    fn answer(self, action: &KeyAction) -> Error {
        let Wrong(expected, found) = self;
        Error::WrongAnswer { expected, found, statement: format!("{action:?}") }
    }
}

/// Checks the pairs that one request finds.
pub struct Reader<'a> {
    rows: u32,
    /// Values that its session has read.
    values: &'a mut u64,
    /// The key before, and whether keys descend.
    order: Option<(Key, bool)>,
    /// The first that is wrong.
    wrong: Option<Box<Wrong>>,
}

impl<'a> Reader<'a> {
    #[inline]
    pub fn new(values: &'a mut u64) -> Reader<'a> {
        Reader { rows: 0, values, order: None, wrong: None }
    }

    /// The first key is `from` or the next one, and each key comes after the one before.
    pub fn expect_order(&mut self, from: Key, descending: bool) {
        self.order = Some((from, descending));
    }

    /// Gets a pair.
    #[inline(always)]
    pub fn value(&mut self, key: &[u8], value: &[u8]) {
        *self.values += 1;
        if self.order.is_some() {
            self.follow(key);
        }
        if !sealed(key, value, self.values.is_multiple_of(ONE_IN)) {
            self.keep(broken(key, value));
        }
        self.rows += 1;
    }

    /// Checks that a key comes after the one before.
    #[inline(never)]
    fn follow(&mut self, key: &[u8]) {
        if let (Some((before, descending)), Ok(key)) = (&mut self.order, <&Key>::try_from(key)) {
            let (first, second) = if *descending { (key, &*before) } else { (&*before, key) };
            let right = first < second || (self.rows == 0 && first == second);
            let before = std::mem::replace(before, *key);
            if !right {
                self.keep(Wrong(format!("a key after {before:?}"), format!("{key:?}")));
            }
        }
    }

    #[cold]
    fn keep(&mut self, wrong: Wrong) {
        self.wrong.get_or_insert_with(|| Box::new(wrong));
    }

    /// The answer to the request.
    #[inline]
    pub fn reply(self, action: &KeyAction) -> Result<Reply, Error> {
        match self.wrong {
            None => Ok(Reply { rows: self.rows, affected: 0 }),
            Some(wrong) => Err(wrong.answer(action)),
        }
    }
}
