//! Reads answers: walks over message headers in place and examines no more than necessary.

use std::io;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};

use super::oid;
use crate::error::{Error, ErrorKind, ServerError};
use crate::wire::digest::{Digest, Precision};
use crate::wire::received::Received;
use crate::wire::socket::Socket;
use crate::wire::{Kept, Reply};

/// Tag and length of a message.
const HEADER: usize = 5;

/// The part of an answer's rows to keep.
#[derive(Debug)]
pub enum Keep<'a> {
    /// Nothing.
    Nothing,
    /// The integers of the last row.
    Integers(&'a mut Vec<Option<i64>>),
    /// Names and the last row of each result.
    Text(&'a mut Kept),
    /// What identifies the rows.
    Digest(&'a mut Digest),
    /// The types of a statement's parameters.
    Parameters(&'a mut Vec<u32>),
}

/// The receiving side of a connection.
#[derive(Debug)]
pub struct Receiver {
    received: Received,
    /// Transaction status of the last ReadyForQuery: I, T or E.
    pub status: u8,
}

impl Receiver {
    pub fn new() -> Receiver {
        Receiver { received: Received::new(), status: b'I' }
    }

    /// Reads one answer, up to and including ReadyForQuery, or up to where the server waits for the
    /// rows of a COPY. `keep` gets the parts of the rows that the caller needs.
    ///
    /// A server's error is returned only after the whole answer has been read, so the connection
    /// stays usable.
    pub fn answer(
        &mut self,
        socket: &mut Socket,
        mut keep: Keep<'_>,
    ) -> Result<Result<Reply, ServerError>, Error> {
        let mut reply = Reply::default();
        let mut failed = None;
        loop {
            let header = self.received.peek(socket, HEADER)?;
            let tag = header[0];
            let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
            if length < 4 {
                return Err(Error::Protocol(format!(
                    "message `{}` of length {length}",
                    char::from(tag)
                )));
            }
            let total = length + 1;
            match tag {
                b'D' => {
                    reply.rows += 1;
                    match &mut keep {
                        Keep::Nothing | Keep::Parameters(_) => {
                            self.received.skip(socket, total)?;
                        }
                        Keep::Integers(row) => integers(self.received.take(socket, total)?, row)?,
                        Keep::Text(kept) => kept.row(values(self.received.take(socket, total)?)?),
                        Keep::Digest(digest) => {
                            let message = self.received.take_any(socket, total)?;
                            digest.row(|take| {
                                each_value(message, |value| {
                                    take(value);
                                    Ok(())
                                })
                            })?;
                        }
                    }
                }
                b'C' => reply.affected += affected(self.received.take(socket, total)?),
                b'E' => {
                    let message = BytesMut::from(self.received.take(socket, total)?);
                    // The first error is the cause; a FATAL may follow it.
                    failed.get_or_insert(server_error(message)?);
                }
                b'T' => match &mut keep {
                    Keep::Text(kept) => kept.columns(names(self.received.take(socket, total)?)?),
                    Keep::Digest(digest) => {
                        digest.columns(precisions(self.received.take(socket, total)?)?);
                    }
                    _ => self.received.skip(socket, total)?,
                },
                b't' => match &mut keep {
                    Keep::Parameters(types) => {
                        **types = parameters(self.received.take(socket, total)?)?;
                    }
                    _ => self.received.skip(socket, total)?,
                },
                // CopyInResponse.
                b'G' => {
                    self.received.skip(socket, total)?;
                    return Ok(failed.map_or(Ok(reply), Err));
                }
                b'Z' => {
                    let message = self.received.take(socket, total)?;
                    self.status = message.get(HEADER).copied().unwrap_or(b'I');
                    return Ok(failed.map_or(Ok(reply), Err));
                }
                // ParseComplete, BindComplete, CloseComplete, NoData, EmptyQueryResponse,
                // PortalSuspended, ParameterStatus, NoticeResponse, NotificationResponse.
                b'1' | b'2' | b'3' | b'n' | b'I' | b's' | b'S' | b'N' | b'A' => {
                    self.received.skip(socket, total)?;
                }
                other => {
                    return Err(Error::Protocol(format!(
                        "message `{}` in an answer",
                        char::from(other).escape_default()
                    )));
                }
            }
            if failed.is_some() && self.received.is_empty() {
                // After FATAL there is no ReadyForQuery; the server closes the connection.
                if let Some(error) = failed.take_if(|error| error.severity != "ERROR") {
                    return Ok(Err(error));
                }
            }
        }
    }
}

/// The types in a ParameterDescription.
fn parameters(message: &[u8]) -> Result<Vec<u32>, Error> {
    let Some(Message::ParameterDescription(body)) = Message::parse(&mut BytesMut::from(message))?
    else {
        return Err(Error::Protocol("a description of parameters that ends too soon".to_owned()));
    };
    Ok(body.parameters().collect()?)
}

/// Rows affected, from the tag of CommandComplete: the last word if it is a number and the command
/// changes rows (`INSERT 0 100`, `DELETE 50`), otherwise 0.
fn affected(message: &[u8]) -> u64 {
    let tag = message.get(HEADER..message.len() - 1).unwrap_or_default();
    if tag.starts_with(b"SELECT") {
        return 0;
    }
    let mut number = 0u64;
    let mut place = 1u64;
    for byte in tag.iter().rev().take_while(|byte| byte.is_ascii_digit()) {
        number = number.saturating_add(u64::from(byte - b'0').saturating_mul(place));
        place = place.saturating_mul(10);
    }
    number
}

/// The integers of a row in text format; anything else is an error.
fn integers(message: &[u8], row: &mut Vec<Option<i64>>) -> Result<(), Error> {
    row.clear();
    each_value(message, |value| {
        let text = value.map(|value| std::str::from_utf8(value).unwrap_or_default());
        row.push(match text {
            None => None,
            Some(text) => {
                Some(text.parse().map_err(|_| {
                    Error::Protocol(format!("`{text}` where an integer was expected"))
                })?)
            }
        });
        Ok(())
    })
}

/// The values of a row in text format.
fn values(message: &[u8]) -> Result<Vec<Option<String>>, Error> {
    let mut values = Vec::new();
    each_value(message, |value| {
        values.push(value.map(|value| String::from_utf8_lossy(value).into_owned()));
        Ok(())
    })?;
    Ok(values)
}

/// Calls `take` with each value of a DataRow; `None` is a null.
fn each_value(
    message: &[u8],
    mut take: impl FnMut(Option<&[u8]>) -> Result<(), Error>,
) -> Result<(), Error> {
    let short = || Error::Protocol("a row shorter than its stated length".to_owned());
    let count = message.get(HEADER..HEADER + 2).ok_or_else(short)?;
    let count = u16::from_be_bytes([count[0], count[1]]);
    let mut rest = &message[HEADER + 2..];
    for _ in 0..count {
        let (length, tail) = rest.split_first_chunk::<4>().ok_or_else(short)?;
        let length = i32::from_be_bytes(*length);
        rest = tail;
        if length < 0 {
            take(None)?;
            continue;
        }
        take(Some(rest.get(..length as usize).ok_or_else(short)?))?;
        rest = &rest[length as usize..];
    }
    Ok(())
}

/// The names of the columns in a RowDescription.
fn names(message: &[u8]) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    each_column(message, |name, _| names.push(String::from_utf8_lossy(name).into_owned()))?;
    Ok(names)
}

/// How the values of the columns in a RowDescription are compared.
fn precisions(message: &[u8]) -> Result<Vec<Precision>, Error> {
    let mut precisions = Vec::new();
    each_column(message, |_, kind| {
        precisions.push(match kind {
            oid::FLOAT4 => Precision::Single,
            oid::FLOAT8 => Precision::Double,
            _ => Precision::Exact,
        });
    })?;
    Ok(precisions)
}

/// Calls `take` with the name and the type of each column in a RowDescription.
fn each_column(message: &[u8], mut take: impl FnMut(&[u8], u32)) -> Result<(), Error> {
    /// Length of the numbers that follow a name: table (4), column (2), type (4) and so on.
    const FACTS: usize = 18;
    let short = || Error::Protocol("a row description shorter than its stated length".to_owned());
    let mut rest = message.get(HEADER + 2..).ok_or_else(short)?;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == 0).ok_or_else(short)?;
        let facts = rest.get(end + 1..end + 1 + FACTS).ok_or_else(short)?;
        let kind = u32::from_be_bytes([facts[6], facts[7], facts[8], facts[9]]);
        take(&rest[..end], kind);
        rest = &rest[end + 1 + FACTS..];
    }
    Ok(())
}

/// The fields of an ErrorResponse.
fn server_error(mut message: BytesMut) -> Result<ServerError, Error> {
    match Message::parse(&mut message) {
        Ok(Some(Message::ErrorResponse(body))) => fields(&body),
        _ => Err(Error::Protocol("a malformed error response".to_owned())),
    }
}

/// The fields of an error response that matter to people.
pub fn fields(body: &ErrorResponseBody) -> Result<ServerError, Error> {
    let mut error = ServerError::default();
    let mut all = body.fields();
    while let Some(field) =
        all.next().map_err(|source: io::Error| Error::Protocol(source.to_string()))?
    {
        let value = String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            // V is the severity that is never translated (since 9.6); it comes after S.
            b'V' | b'S' => error.severity = value,
            b'C' => (error.kind, error.code) = (kind(&value), value),
            b'M' => error.message = value,
            b'D' => error.detail = value,
            b'H' => error.hint = value,
            _ => {}
        }
    }
    Ok(error)
}

/// The meaning of an SQLSTATE (PostgreSQL's manual, "PostgreSQL Error Codes").
fn kind(sqlstate: &str) -> ErrorKind {
    match sqlstate {
        // Serialization failure, deadlock detected.
        "40001" | "40P01" => ErrorKind::Retryable,
        "23505" => ErrorKind::Duplicate,
        // Admin shutdown, crash shutdown and similar.
        _ if sqlstate.starts_with("57P") => ErrorKind::Disconnected,
        "53100" => ErrorKind::DiskFull,
        // Syntax errors and names of nothing; values that a statement can't compute with.
        _ if sqlstate.starts_with("42") || sqlstate.starts_with("22") => ErrorKind::Invalid,
        _ => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    /// A receiver's result for bytes that arrive in pieces of `piece` bytes.
    fn receive(bytes: &[u8], piece: usize) -> Result<Result<Reply, ServerError>, Error> {
        let (mut server, client) = UnixStream::pair().unwrap();
        let bytes = bytes.to_vec();
        let sender = std::thread::spawn(move || {
            for part in bytes.chunks(piece) {
                if server.write_all(part).is_err() {
                    break;
                }
            }
        });
        let answer = Receiver::new().answer(&mut Socket::Unix(client), Keep::Nothing);
        sender.join().unwrap();
        answer
    }

    fn select_answer(rows: usize, width: usize) -> Vec<u8> {
        let mut bytes = message(b'2', b"");
        let mut row = 1u16.to_be_bytes().to_vec();
        row.extend_from_slice(&(width as u32).to_be_bytes());
        row.resize(row.len() + width, b'x');
        for _ in 0..rows {
            bytes.extend(message(b'D', &row));
        }
        bytes.extend(message(b'C', format!("SELECT {rows}\0").as_bytes()));
        bytes.extend(message(b'Z', b"I"));
        bytes
    }

    #[test]
    fn answers_are_read_however_they_arrive() {
        for (rows, width) in [(0, 0), (1, 10), (10, 100), (3, 20_000)] {
            let bytes = select_answer(rows, width);
            for piece in [1, 3, 7, 4096, 1 << 20] {
                if piece < 100 && bytes.len() > 50_000 {
                    continue;
                }
                let reply = receive(&bytes, piece).unwrap().unwrap();
                assert_eq!(reply, Reply { rows: rows as u32, affected: 0 }, "{width} {piece}");
            }
        }
    }

    #[test]
    fn affected_rows_come_from_the_tag() {
        for (tag, rows) in [
            ("INSERT 0 100", 100),
            ("DELETE 7", 7),
            ("UPDATE 0", 0),
            ("SELECT 12", 0),
            ("CREATE INDEX", 0),
            ("COMMIT", 0),
            ("", 0),
        ] {
            assert_eq!(affected(&message(b'C', format!("{tag}\0").as_bytes())), rows, "{tag}");
        }
    }

    #[test]
    fn an_error_is_reported_when_the_answer_is_complete() {
        let body = b"SERROR\0VERROR\0C40P01\0Mdeadlock detected\0DProcess 1 waits.\0\0";
        let mut bytes = message(b'2', b"");
        bytes.extend(message(b'E', body));
        bytes.extend(message(b'Z', b"E"));
        let error = receive(&bytes, 5).unwrap().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Retryable);
        assert_eq!(error.to_string(), "ERROR 40P01: deadlock detected; Process 1 waits.");
    }

    #[test]
    fn a_fatal_error_ends_the_answer() {
        let bytes = message(b'E', b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0");
        let error = receive(&bytes, 1000).unwrap().unwrap_err();
        assert_eq!((&*error.code, error.kind), ("57P01", ErrorKind::Disconnected));
    }

    #[test]
    fn what_is_wrong_in_itself_is_told_apart_from_what_may_pass() {
        for sqlstate in ["42601", "42P01", "42703", "22012"] {
            assert_eq!(kind(sqlstate), ErrorKind::Invalid, "{sqlstate}");
        }
        for sqlstate in ["53400", "XX000", "55P03"] {
            assert_eq!(kind(sqlstate), ErrorKind::Other, "{sqlstate}");
        }
    }

    #[test]
    fn a_closed_connection_is_an_error() {
        assert!(matches!(receive(&message(b'2', b""), 10), Err(Error::Broken(_))));
    }

    #[test]
    fn rows_of_integers_are_read() {
        let mut body = 3u16.to_be_bytes().to_vec();
        for value in [Some("17"), None, Some("-3")] {
            let length = value.map_or(-1, |text| text.len() as i32);
            body.extend_from_slice(&length.to_be_bytes());
            body.extend_from_slice(value.unwrap_or_default().as_bytes());
        }
        let mut row = Vec::new();
        integers(&message(b'D', &body), &mut row).unwrap();
        assert_eq!(row, [Some(17), None, Some(-3)]);
    }

    /// What identifies the rows of an answer with two columns, a name and a number.
    fn digest_of(rows: &[(&str, Option<&str>)]) -> Digest {
        let mut description = 2u16.to_be_bytes().to_vec();
        for (name, kind) in [("name", 25u32), ("number", oid::FLOAT8)] {
            description.extend_from_slice(name.as_bytes());
            description.extend_from_slice(&[0; 7]);
            description.extend_from_slice(&kind.to_be_bytes());
            description.extend_from_slice(&[0; 8]);
        }
        let mut bytes = message(b'T', &description);
        for (name, number) in rows {
            let mut row = 2u16.to_be_bytes().to_vec();
            for value in [Some(*name), *number] {
                row.extend_from_slice(&value.map_or(-1, |text| text.len() as i32).to_be_bytes());
                row.extend_from_slice(value.unwrap_or_default().as_bytes());
            }
            bytes.extend(message(b'D', &row));
        }
        bytes.extend(message(b'C', b"SELECT 2\0"));
        bytes.extend(message(b'Z', b"I"));
        let (mut server, client) = UnixStream::pair().unwrap();
        server.write_all(&bytes).unwrap();
        let mut digest = Digest::default();
        let keep = Keep::Digest(&mut digest);
        Receiver::new().answer(&mut Socket::Unix(client), keep).unwrap().unwrap();
        digest.end();
        digest
    }

    #[test]
    fn rows_are_digested_by_their_columns() {
        let found = digest_of(&[("a", Some("0.5")), ("b", None)]);
        assert_eq!((found.rows, found.floats.len()), (2, 1));
        assert!((found.floats[0].magnitude - found.floats[0].sum).abs() < 1e-15);
        let other = digest_of(&[("b", None), ("a", Some("0.25"))]);
        assert_eq!(found.checksum, other.checksum, "without the numbers, in any order");
        assert!((found.floats[0].sum / other.floats[0].sum - 2.0).abs() < 1e-12);
        assert_ne!(found.checksum, digest_of(&[("b", Some("1")), ("a", Some("0.5"))]).checksum);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn garbage_is_the_same_in_any_pieces(
            bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1usize..60,
        ) {
            let whole = format!("{:?}", receive(&bytes, 200));
            prop_assert_eq!(format!("{:?}", receive(&bytes, piece)), whole);
            let mut row = Vec::new();
            if integers(&bytes, &mut row).is_ok() {
                prop_assert_eq!(values(&bytes).map(|values| values.len()).unwrap(), row.len());
            }
        }

        #[test]
        fn mangled_answers_are_the_same_in_any_pieces(
            at in 0usize..200, with: u8, piece in 1usize..60,
        ) {
            let mut bytes = select_answer(3, 20);
            let at = at % bytes.len();
            bytes[at] = with;
            let whole = receive(&bytes, 200);
            prop_assert_eq!(format!("{:?}", receive(&bytes, piece)), format!("{whole:?}"));
            if let Ok(Ok(reply)) = whole {
                // The byte may turn another message into a row.
                prop_assert!(reply.rows <= 4, "{:?}", reply);
            }
        }
    }
}
