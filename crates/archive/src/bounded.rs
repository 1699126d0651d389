//! Limits how much may come out of an archive: a few kilobytes can unpack to terabytes, and the
//! size that an archive states can't be trusted.

use std::cell::Cell;
use std::io::{self, Read};

use crate::Error;

/// The environment variable that allows more, or less.
const VARIABLE: &str = "STEELYARD_LARGEST_IMPORT";
/// The default limit in GB. Experiments with the profiles of all steps have a few GB.
const USUAL: f64 = 16.0;

/// The limit in bytes.
pub(crate) fn largest() -> Result<u64, Error> {
    let text = std::env::var_os(VARIABLE).filter(|text| !text.is_empty());
    let Some(text) = text else { return Ok(bytes(USUAL)) };
    let text = text.to_string_lossy();
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    match number {
        Some(number) if number > 0.0 => Ok(bytes(number)),
        _ => Err(Error::Largest { variable: VARIABLE, found: text.into_owned() }),
    }
}

/// Gigabytes in bytes.
fn bytes(gigabytes: f64) -> u64 {
    (gigabytes * (1_u64 << 30) as f64) as u64
}

/// The error for what is larger than `largest` bytes.
pub(crate) fn too_large(name: &str, largest: u64) -> Error {
    // Fractions of a megabyte say nothing.
    let gigabytes = (1000.0 * largest as f64 / (1_u64 << 30) as f64).round() / 1000.0;
    Error::TooLarge { name: name.to_owned(), gigabytes, variable: VARIABLE }
}

/// Number of bytes that may still be read, shared by a reader and the code that sets its limits.
#[derive(Debug)]
pub(crate) struct Left(Cell<u64>);

impl Left {
    /// This many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        Self(Cell::new(bytes))
    }

    /// True if everything that may be read has been read.
    pub(crate) fn is_used_up(&self) -> bool {
        self.0.get() == 0
    }

    /// Does something that may read only this many of them; `None` if that needs more.
    pub(crate) fn at_most<T>(&self, bytes: u64, read: impl FnOnce() -> T) -> Option<T> {
        let all = self.0.get();
        let allowed = all.min(bytes);
        self.0.set(allowed);
        let result = read();
        let rest = self.0.get();
        self.0.set(all - (allowed - rest));
        (rest > 0 || allowed == all).then_some(result)
    }
}

/// A reader that fails after a number of bytes, unless it is at its end then.
#[derive(Debug)]
pub(crate) struct Bounded<'a, R> {
    inner: R,
    left: &'a Left,
}

impl<'a, R> Bounded<'a, R> {
    /// A reader of `inner`.
    pub(crate) fn new(inner: R, left: &'a Left) -> Self {
        Self { inner, left }
    }

    /// Returns the underlying reader.
    pub(crate) fn into_inner(self) -> R {
        self.inner
    }
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.0.get();
        if left == 0 {
            return match self.inner.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other("it is too large")),
            };
        }
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.inner.read(buffer.get_mut(..most).unwrap_or_default())?;
        self.left.0.set(left - read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_is_left() {
        let read = |bytes: u64| {
            let left = Left::new(bytes);
            let mut found = Vec::new();
            let result = Bounded::new(&b"abcdef"[..], &left).read_to_end(&mut found);
            (result.is_ok(), found.len(), left.is_used_up())
        };
        assert_eq!(read(5), (false, 5, true));
        assert_eq!(read(6), (true, 6, true));
        assert_eq!(read(7), (true, 6, false));
    }

    #[test]
    fn a_part_has_its_own_bound() {
        let left = Left::new(6);
        let mut reader = Bounded::new(&b"abcdef"[..], &left);
        let mut two = [0; 2];
        assert!(left.at_most(3, || reader.read_exact(&mut two)).unwrap().is_ok());
        assert_eq!(left.0.get(), 4);
        assert!(left.at_most(2, || reader.read_exact(&mut [0; 3])).is_none());
        assert_eq!(left.0.get(), 2);
        assert!(left.at_most(9, || reader.read_exact(&mut [0; 1])).unwrap().is_ok());
        assert!(!left.is_used_up());
    }
}
