//! The bytes that a server has sent, in one buffer that is parsed in place.

use crate::error::Error;
use crate::wire::socket::Socket;

/// Room for one answer. A point or range query's answer fits; longer ones take more reads.
const ROOM: usize = 8 * 1024;
/// Maximum length of a message that has to be kept whole.
const LONGEST_KEPT: usize = 1024 * 1024;

/// Received bytes.
#[derive(Debug)]
pub struct Received {
    buffer: Vec<u8>,
    /// Received and not yet walked over: `buffer[start..end]`.
    start: usize,
    end: usize,
}

impl Received {
    pub fn new() -> Received {
        Received { buffer: vec![0; ROOM], start: 0, end: 0 }
    }

    /// True if all of it was walked over.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The next `wanted` bytes, without taking them.
    #[inline]
    pub fn peek(&mut self, socket: &mut Socket, wanted: usize) -> Result<&[u8], Error> {
        if self.end - self.start < wanted {
            self.receive(socket, wanted)?;
        }
        Ok(&self.buffer[self.start..self.start + wanted])
    }

    /// The part of [`Received::peek`] that needs the socket.
    #[inline(never)]
    fn receive(&mut self, socket: &mut Socket, wanted: usize) -> Result<(), Error> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start + wanted > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if wanted > self.buffer.len() {
            self.buffer.resize(wanted, 0);
        }
        while self.end - self.start < wanted {
            self.end += socket.receive(&mut self.buffer[self.end..])?;
        }
        Ok(())
    }

    /// Skips `count` bytes whose content doesn't matter, however many.
    #[inline]
    pub fn skip(&mut self, socket: &mut Socket, count: usize) -> Result<(), Error> {
        if self.end - self.start >= count {
            self.start += count;
            return Ok(());
        }
        self.skip_far(socket, count)
    }

    /// The part of [`Received::skip`] that needs the socket.
    #[inline(never)]
    fn skip_far(&mut self, socket: &mut Socket, mut count: usize) -> Result<(), Error> {
        loop {
            let here = (self.end - self.start).min(count);
            self.start += here;
            count -= here;
            if count == 0 {
                return Ok(());
            }
            (self.start, self.end) = (0, 0);
            self.end = socket.receive(&mut self.buffer)?;
        }
    }

    /// The next `total` bytes, which are then consumed.
    pub fn take(&mut self, socket: &mut Socket, total: usize) -> Result<&[u8], Error> {
        if total > LONGEST_KEPT {
            return Err(Error::Protocol(format!("a message of {total} bytes")));
        }
        self.take_any(socket, total)
    }

    /// The same, however many there are.
    pub fn take_any(&mut self, socket: &mut Socket, total: usize) -> Result<&[u8], Error> {
        self.peek(socket, total)?;
        self.start += total;
        Ok(&self.buffer[self.start - total..self.start])
    }
}
