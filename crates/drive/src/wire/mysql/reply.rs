//! Reads answers: walks over packet headers in place and examines no more than necessary.

use super::row::{self, Column};
use super::{HEADER, LONGEST, lenenc};
use crate::error::{Error, ErrorKind, ServerError};
use crate::wire::digest::Digest;
use crate::wire::received::Received;
use crate::wire::socket::Socket;
use crate::wire::{Kept, Reply};

/// First bytes of packets.
pub mod first {
    pub const OK: u8 = 0x00;
    pub const LOCAL_FILE: u8 = 0xfb;
    /// The end of columns or rows.
    pub const END: u8 = 0xfe;
    pub const ERROR: u8 = 0xff;
}

/// The server's status (MySQL's manual, `SERVER_STATUS_flags_enum`).
mod status {
    pub const IN_TRANSACTION: u16 = 1;
    pub const AUTOCOMMIT: u16 = 2;
    pub const MORE_RESULTS: u16 = 8;
}

/// The longest payload of a packet that ends columns or rows, if it isn't an OK packet.
const LONGEST_EOF: usize = 8;

/// The form of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The answer to a text.
    Text,
    /// The answer to a prepared statement.
    Binary,
}

/// The part of an answer's rows to keep.
#[derive(Debug)]
pub enum Keep<'a> {
    /// Nothing.
    Nothing,
    /// The integers of the last row.
    Integers(&'a mut Vec<Option<i64>>),
    /// The last row with the names of its columns.
    Named(&'a mut Kept),
    /// What identifies the rows, of the answer to a text.
    Digest(&'a mut Digest),
}

/// The receiving side of a connection.
#[derive(Debug)]
pub struct Receiver {
    received: Received,
    /// True if rows end with an OK packet, and columns with nothing (CLIENT_DEPRECATE_EOF).
    ends_with_ok: bool,
    /// The server's last status. An error doesn't come with one.
    status: u16,
    /// How many warnings the last answer without rows had.
    warnings: u16,
    /// The columns of the last result, if its integers are needed.
    columns: Vec<Column>,
}

impl Receiver {
    pub fn new(received: Received, ends_with_ok: bool) -> Receiver {
        let status = status::AUTOCOMMIT;
        Receiver { received, ends_with_ok, status, warnings: 0, columns: Vec::new() }
    }

    /// True if a transaction is open, or may be.
    pub fn in_transaction(&self) -> bool {
        self.status & status::IN_TRANSACTION != 0 || self.status & status::AUTOCOMMIT == 0
    }

    /// How many warnings the last answer without rows had.
    pub fn warnings(&self) -> u16 {
        self.warnings
    }

    /// Reads the server's request for the rows of a LOAD DATA LOCAL.
    pub fn asks_for_rows(&mut self, socket: &mut Socket) -> Result<Result<(), ServerError>, Error> {
        let (length, first) = self.packet(socket)?;
        let payload = self.take(socket, length)?;
        match first {
            first::LOCAL_FILE => Ok(Ok(())),
            first::ERROR => Ok(Err(server_error(payload))),
            _ => Err(Error::Protocol(format!("{first:#04x} where rows are to be sent"))),
        }
    }

    /// Answers a request for the rows of a file that is not ours to send: there are none. That is
    /// an error, whatever the server says to it.
    #[cold]
    fn without_rows(&mut self, socket: &mut Socket) -> Result<ServerError, Error> {
        // An empty packet, the second after the statement.
        socket.send(&[0, 0, 0, 2])?;
        let (length, first) = self.packet(socket)?;
        let payload = self.take(socket, length)?;
        if first == first::ERROR {
            return Ok(server_error(payload));
        }
        self.status = ok(payload)?.1;
        Ok(ServerError {
            severity: "ERROR".to_owned(),
            code: "1148 (42000)".to_owned(),
            message: "rows of local files are not sent".to_owned(),
            ..ServerError::default()
        })
    }

    /// The length of the next packet's payload, and its first byte.
    #[inline]
    fn packet(&mut self, socket: &mut Socket) -> Result<(usize, u8), Error> {
        let bytes = self.received.peek(socket, HEADER + 1)?;
        let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize;
        if length == 0 {
            return Err(Error::Protocol("an empty packet".to_owned()));
        }
        Ok((length, bytes[HEADER]))
    }

    /// Skips the packet with this length.
    #[inline]
    fn skip(&mut self, socket: &mut Socket, length: usize) -> Result<(), Error> {
        self.received.skip(socket, HEADER + length)?;
        if length == LONGEST { self.skip_on(socket) } else { Ok(()) }
    }

    /// Skips the packets in which a long one continues.
    #[cold]
    fn skip_on(&mut self, socket: &mut Socket) -> Result<(), Error> {
        loop {
            let bytes = self.received.peek(socket, HEADER)?;
            let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize;
            self.received.skip(socket, HEADER + length)?;
            if length < LONGEST {
                return Ok(());
            }
        }
    }

    /// The payload of the packet with this length, which is then consumed.
    #[inline]
    fn take(&mut self, socket: &mut Socket, length: usize) -> Result<&[u8], Error> {
        Ok(&self.received.take(socket, HEADER + length)?[HEADER..])
    }

    /// Reads one answer with all its results. `keep` gets the parts of the rows that the caller
    /// needs.
    pub fn answer(
        &mut self,
        socket: &mut Socket,
        form: Form,
        mut keep: Keep<'_>,
    ) -> Result<Result<Reply, ServerError>, Error> {
        let mut reply = Reply::default();
        loop {
            let (length, first) = self.packet(socket)?;
            match first {
                first::OK => {
                    let affected;
                    (affected, self.status, self.warnings) = ok(self.take(socket, length)?)?;
                    reply.affected += affected;
                }
                first::ERROR => return Ok(Err(server_error(self.take(socket, length)?))),
                first::LOCAL_FILE => {
                    self.take(socket, length)?;
                    return Ok(Err(self.without_rows(socket)?));
                }
                _ => {
                    let columns = lenenc(&mut self.take(socket, length)?);
                    let columns = columns
                        .ok_or_else(|| Error::Protocol("a malformed column count".to_owned()))?;
                    let wanted = !matches!(keep, Keep::Nothing);
                    let rows = match self.columns(socket, columns, wanted)? {
                        Ok(()) => {
                            let columns = self.columns.iter();
                            match &mut keep {
                                Keep::Digest(digest) => {
                                    digest.columns(columns.map(Column::precision).collect());
                                }
                                Keep::Named(kept) => {
                                    kept.columns(columns.map(|it| it.name.clone()).collect());
                                }
                                Keep::Nothing | Keep::Integers(_) => {}
                            }
                            self.rows(socket, form, &mut keep)?
                        }
                        Err(error) => Err(error),
                    };
                    match rows {
                        Ok(rows) => reply.rows = reply.rows.saturating_add(rows),
                        Err(error) => return Ok(Err(error)),
                    }
                }
            }
            if self.status & status::MORE_RESULTS == 0 {
                return Ok(Ok(reply));
            }
        }
    }

    /// Walks over the definitions of columns.
    #[inline]
    fn columns(
        &mut self,
        socket: &mut Socket,
        count: u64,
        wanted: bool,
    ) -> Result<Result<(), ServerError>, Error> {
        self.columns.clear();
        for _ in 0..count {
            let (length, first) = self.packet(socket)?;
            if first == first::ERROR {
                return Ok(Err(server_error(self.take(socket, length)?)));
            }
            if wanted {
                let column = Column::parse(self.take(socket, length)?)?;
                self.columns.push(column);
            } else {
                self.skip(socket, length)?;
            }
        }
        if count > 0 && !self.ends_with_ok {
            let (length, first) = self.packet(socket)?;
            if first != first::END {
                return Err(Error::Protocol(format!("{first:#04x} after the columns")));
            }
            self.skip(socket, length)?;
        }
        Ok(Ok(()))
    }

    /// Walks over rows up to their end; returns how many there were.
    #[inline]
    fn rows(
        &mut self,
        socket: &mut Socket,
        form: Form,
        keep: &mut Keep<'_>,
    ) -> Result<Result<u32, ServerError>, Error> {
        // A row can begin like an end, with a value of 16 MB or more.
        let longest_end = if self.ends_with_ok { LONGEST - 1 } else { LONGEST_EOF };
        let mut rows = 0u32;
        loop {
            let (length, first) = self.packet(socket)?;
            match first {
                first::END if length <= longest_end => {
                    let ends_with_ok = self.ends_with_ok;
                    let payload = self.take(socket, length)?;
                    self.status = if ends_with_ok { ok(payload)?.1 } else { end(payload)? };
                    return Ok(Ok(rows));
                }
                first::ERROR => return Ok(Err(server_error(self.take(socket, length)?))),
                _ => {}
            }
            rows = rows.saturating_add(1);
            match (&mut *keep, form) {
                (Keep::Nothing, _) => self.skip(socket, length)?,
                (Keep::Integers(row), Form::Text) => row::text(self.take(socket, length)?, row)?,
                (Keep::Integers(row), Form::Binary) => {
                    let payload = self.received.take(socket, HEADER + length)?;
                    row::binary(&payload[HEADER..], &self.columns, row)?;
                }
                (Keep::Digest(_) | Keep::Named(_), _) if length == LONGEST => {
                    return Err(Error::Protocol("a row of 16 MB or more".to_owned()));
                }
                (Keep::Named(kept), _) => {
                    let payload = &self.received.take(socket, HEADER + length)?[HEADER..];
                    kept.row(match form {
                        Form::Text => row::texts(payload)?,
                        Form::Binary => row::bound(payload, &self.columns)?,
                    });
                }
                (Keep::Digest(digest), _) => {
                    let payload = self.received.take_any(socket, HEADER + length)?;
                    digest.row(|take| row::values(&payload[HEADER..], take))?;
                }
            }
        }
    }

    /// Reads the answer to a request to prepare a statement; returns its number at the server.
    pub fn prepared(&mut self, socket: &mut Socket) -> Result<Result<u32, ServerError>, Error> {
        let (length, first) = self.packet(socket)?;
        let payload = self.take(socket, length)?;
        if first == first::ERROR {
            return Ok(Err(server_error(payload)));
        }
        // 0, the statement's number (4), how many columns (2) and parameters (2).
        let Some([first::OK, n0, n1, n2, n3, c0, c1, p0, p1]) = payload.first_chunk::<9>() else {
            return Err(Error::Protocol("a malformed answer to a statement's text".to_owned()));
        };
        let number = u32::from_le_bytes([*n0, *n1, *n2, *n3]);
        let counts = [u16::from_le_bytes([*p0, *p1]), u16::from_le_bytes([*c0, *c1])];
        for count in counts {
            if let Err(error) = self.columns(socket, u64::from(count), false)? {
                return Ok(Err(error));
            }
        }
        Ok(Ok(number))
    }
}

/// Affected rows, status, and number of warnings of an OK packet.
#[inline]
fn ok(payload: &[u8]) -> Result<(u64, u16, u16), Error> {
    let read = || {
        let mut rest = payload.get(1..)?;
        let affected = lenenc(&mut rest)?;
        let _last_id = lenenc(&mut rest)?;
        let [s0, s1, w0, w1] = *rest.first_chunk()?;
        Some((affected, u16::from_le_bytes([s0, s1]), u16::from_le_bytes([w0, w1])))
    };
    read().ok_or_else(|| Error::Protocol("an OK packet is too short".to_owned()))
}

/// The status of an EOF packet, after its first byte and the number of warnings (2).
fn end(payload: &[u8]) -> Result<u16, Error> {
    match payload {
        [_, _, _, low, high, ..] => Ok(u16::from_le_bytes([*low, *high])),
        _ => Err(Error::Protocol("an EOF packet is too short".to_owned())),
    }
}

/// The error in a packet: its number (2), `#` and an SQLSTATE (5) if the handshake is over, and the
/// message.
#[cold]
pub fn server_error(payload: &[u8]) -> ServerError {
    let number = match payload {
        [_, low, high, ..] => u16::from_le_bytes([*low, *high]),
        _ => 0,
    };
    let rest = payload.get(3..).unwrap_or_default();
    let (state, message) = match rest {
        [b'#', more @ ..] if more.len() >= 5 => more.split_at(5),
        _ => (&b""[..], rest),
    };
    let state = String::from_utf8_lossy(state);
    let message = String::from_utf8_lossy(message).into_owned();
    let code = if state.is_empty() { number.to_string() } else { format!("{number} ({state})") };
    let kind = kind(number, &state, &message);
    ServerError { severity: "ERROR".to_owned(), code, kind, message, ..ServerError::default() }
}

/// The meaning of an error (MySQL's and MariaDB's lists of server errors).
fn kind(number: u16, state: &str, message: &str) -> ErrorKind {
    // How servers and engines write the operating system's ENOSPC in their messages.
    const NO_SPACE: [&str; 3] = ["No space left on device", "Errcode: 28", "error 28"];
    match number {
        // Lock wait timeout; a row has changed since it was read (MariaDB, snapshot isolation);
        // NOWAIT on a locked row.
        1205 | 1020 | 3572 => ErrorKind::Retryable,
        // Duplicate entry, with the key's number or name.
        1062 | 1586 => ErrorKind::Duplicate,
        // Shutdown; connection killed (MariaDB, MySQL); idle for too long.
        1053 | 1927 | 3169 | 4031 => ErrorKind::Disconnected,
        // Disk full; table full, which InnoDB reports for a full disk.
        20 | 1021 | 1114 => ErrorKind::DiskFull,
        // 1213, a deadlock, among others.
        _ if state.starts_with("40") => ErrorKind::Retryable,
        _ if NO_SPACE.iter().any(|text| message.contains(text)) => ErrorKind::DiskFull,
        _ => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests;
