//! Answers are read however they arrive, and garbage is an error.

use std::io::Write;
use std::os::unix::net::UnixStream;

use mysql_common::constants::CapabilityFlags;
use mysql_common::packets::{self, ErrPacket, SqlState};
use mysql_common::proto::MySerialize;
use proptest::prelude::*;

use super::*;

type Answer = Result<Result<Reply, ServerError>, Error>;

fn packet(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut parts = payload.chunks(LONGEST).collect::<Vec<_>>();
    if payload.len().is_multiple_of(LONGEST) {
        parts.push(&[]);
    }
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u32).to_le_bytes()[..3]);
        bytes.push(1);
        bytes.extend_from_slice(part);
    }
    bytes
}

/// A receiver's results for bytes that arrive in pieces of `piece` bytes, as long as there are
/// any.
fn receive(
    bytes: &[u8],
    piece: usize,
    modern: bool,
    form: Form,
    keep: Option<&mut Vec<Option<i64>>>,
) -> (Answer, Receiver) {
    let (mut server, client) = UnixStream::pair().unwrap();
    let bytes = bytes.to_vec();
    let sender = std::thread::spawn(move || {
        for part in bytes.chunks(piece) {
            if server.write_all(part).is_err() {
                break;
            }
        }
    });
    let mut receiver = Receiver::new(Received::new(), modern);
    let keep = keep.map_or(Keep::Nothing, Keep::Integers);
    let answer = receiver.answer(&mut Socket::Unix(client), form, keep);
    sender.join().unwrap();
    (answer, receiver)
}

fn column(kind: u8) -> Vec<u8> {
    let mut payload = b"\x03def\x01s\x01t\x01t\x01v\x01v\x0c\x3f\x00".to_vec();
    payload.extend([11, 0, 0, 0, kind, 0, 0, 0, 0, 0]);
    packet(&payload)
}

/// A result of as many rows, each with this payload.
fn result(rows: usize, row: &[u8], kind: u8, modern: bool, status: u8) -> Vec<u8> {
    let mut bytes = [packet(&[2]), column(kind), column(kind)].concat();
    if !modern {
        bytes.extend(packet(&[0xfe, 0, 0, 2, 0]));
    }
    for _ in 0..rows {
        bytes.extend(packet(row));
    }
    let end: &[u8] = if modern { &[0xfe, 0, 0, status, 0, 0, 0] } else { &[0xfe, 0, 0, status, 0] };
    bytes.extend(packet(end));
    bytes
}

fn text_row(width: usize) -> Vec<u8> {
    let mut row = vec![0xfd];
    row.extend_from_slice(&(width as u32).to_le_bytes()[..3]);
    row.resize(row.len() + width, b'x');
    row.push(0xfb);
    row
}

#[test]
fn answers_are_read_however_they_arrive() {
    for modern in [true, false] {
        for (rows, width) in [(0, 0), (1, 10), (10, 100), (3, 20_000)] {
            let bytes = result(rows, &text_row(width), 253, modern, 2);
            for piece in [1, 3, 7, 4096, 1 << 20] {
                if piece < 100 && bytes.len() > 50_000 {
                    continue;
                }
                let reply = receive(&bytes, piece, modern, Form::Text, None).0.unwrap().unwrap();
                assert_eq!(reply, Reply { rows: rows as u32, affected: 0 }, "{width} {piece}");
            }
        }
    }
}

#[test]
fn long_rows_continue_in_packets() {
    // Rows as long as one packet, and one that begins like an end.
    let mut row = vec![0xfe];
    row.extend_from_slice(&(20u64 << 20).to_le_bytes());
    row.resize(row.len() + (20 << 20), b'x');
    for row in [row, text_row(LONGEST - 5), text_row(LONGEST - 6)] {
        for modern in [true, false] {
            let bytes = result(2, &row, 253, modern, 2);
            let reply = receive(&bytes, 1 << 16, modern, Form::Text, None).0.unwrap().unwrap();
            assert_eq!(reply.rows, 2);
        }
    }
}

#[test]
fn the_integers_of_the_last_row_are_kept() {
    for modern in [true, false] {
        let mut row = Vec::new();
        let bytes = result(3, b"\x0217\xfb", 3, modern, 2);
        receive(&bytes, 100, modern, Form::Text, Some(&mut row)).0.unwrap().unwrap();
        assert_eq!(row, [Some(17), None]);
        let bytes = result(3, &[0, 0b1000, 17, 0, 0, 0], 3, modern, 2);
        receive(&bytes, 100, modern, Form::Binary, Some(&mut row)).0.unwrap().unwrap();
        assert_eq!(row, [Some(17), None]);
    }
}

#[test]
fn results_follow_each_other() {
    for modern in [true, false] {
        let mut bytes = result(2, b"\x01a\xfb", 253, modern, 8);
        bytes.extend(result(3, b"\x01a\xfb", 253, modern, 8 + 1));
        bytes.extend(packet(&[0, 7, 0, 3, 0, 0, 0]));
        let (answer, receiver) = receive(&bytes, 50, modern, Form::Text, None);
        assert_eq!(answer.unwrap().unwrap(), Reply { rows: 5, affected: 7 });
        assert!(receiver.in_transaction());
    }
}

#[test]
fn affected_rows_and_status_are_read() {
    for (affected, bytes) in [(0, vec![0]), (250, vec![250]), (70_000, vec![0xfd, 0x70, 0x11, 1])] {
        for (status, open) in [(2, false), (3, true), (0, true)] {
            let payload = [&[0], &bytes[..], &[0xfc, 0, 1, status, 0, 3, 1]].concat();
            let (answer, receiver) = receive(&packet(&payload), 3, true, Form::Binary, None);
            assert_eq!(answer.unwrap().unwrap(), Reply { rows: 0, affected });
            assert_eq!(receiver.in_transaction(), open, "{status}");
            assert_eq!(receiver.warnings(), 259);
        }
    }
}

#[test]
fn errors_are_those_that_mysql_common_writes() {
    for (number, state, kind) in [
        (1213, b"40001", ErrorKind::Retryable),
        (1205, b"HY000", ErrorKind::Retryable),
        (1062, b"23000", ErrorKind::Duplicate),
        (1053, b"08S01", ErrorKind::Disconnected),
        (1114, b"HY000", ErrorKind::DiskFull),
        (1146, b"42S02", ErrorKind::Other),
    ] {
        let error = packets::ServerError::new(number, Some(SqlState::new(*state)), &b"why"[..]);
        let mut payload = Vec::new();
        ErrPacket::Error(error).serialize(&mut payload);
        let error = receive(&packet(&payload), 5, true, Form::Text, None).0.unwrap().unwrap_err();
        let state = String::from_utf8_lossy(state);
        assert_eq!(error.to_string(), format!("ERROR {number} ({state}): why"));
        assert_eq!(error.kind, kind);
    }
    let full = b"\xff\x03\x00#HY000Error writing file 'x' (Errcode: 28 - No space left on device)";
    assert_eq!(server_error(full).kind, ErrorKind::DiskFull);
    let early = server_error(b"\xff\x10\x04Too many connections");
    assert_eq!(early.to_string(), "ERROR 1040: Too many connections");
}

#[test]
fn an_error_among_rows_ends_the_answer() {
    for modern in [true, false] {
        let mut bytes = result(2, b"\x01a\xfb", 253, modern, 2);
        let end = if modern { 11 } else { 9 };
        bytes.truncate(bytes.len() - end);
        bytes.extend(packet(b"\xff\x25\x05#70100Query execution was interrupted"));
        let error = receive(&bytes, 50, modern, Form::Text, None).0.unwrap().unwrap_err();
        assert_eq!(error.code, "1317 (70100)");
    }
}

#[test]
fn a_closed_connection_is_an_error() {
    let bytes = result(2, b"\x01a\xfb", 253, true, 2);
    for end in 0..bytes.len() {
        let answer = receive(&bytes[..end], 100, true, Form::Text, None).0;
        assert!(matches!(answer, Err(Error::Broken(_))), "{end}");
    }
}

#[test]
fn prepared_statements_have_numbers() {
    for modern in [true, false] {
        let mut bytes = packet(&[0, 5, 6, 0, 0, 1, 0, 2, 0, 0, 0, 0]);
        for columns in [2, 1] {
            (0..columns).for_each(|_| bytes.extend(column(3)));
            if !modern {
                bytes.extend(packet(&[0xfe, 0, 0, 2, 0]));
            }
        }
        let (mut server, client) = UnixStream::pair().unwrap();
        server.write_all(&bytes).unwrap();
        let mut receiver = Receiver::new(Received::new(), modern);
        let number = receiver.prepared(&mut Socket::Unix(client)).unwrap().unwrap();
        assert_eq!(number, 0x605);
        assert!(receiver.received.is_empty());
    }
}

/// Bytes mean the same however they arrive, and have no more rows than there is room for.
fn same_in_pieces(
    bytes: &[u8],
    piece: usize,
    modern: bool,
    form: Form,
) -> Result<(), TestCaseError> {
    let read = |piece| {
        let mut row = Vec::new();
        // A request for a file is answered, which fails otherwise if the end is not yet closed.
        let answer = match receive(bytes, piece, modern, form, Some(&mut row)).0 {
            Err(Error::Broken(_)) if bytes.contains(&first::LOCAL_FILE) => Err("broken".to_owned()),
            other => other.map_err(|error| format!("{error:?}")),
        };
        (answer, row)
    };
    let (whole, in_pieces) = (read(bytes.len().max(1)), read(piece));
    prop_assert_eq!(format!("{whole:?}"), format!("{in_pieces:?}"));
    if let Ok(Ok(reply)) = whole.0 {
        prop_assert!(4 * reply.rows as usize <= bytes.len(), "{:?}", reply);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn garbage_is_the_same_in_any_pieces(
        bytes in prop::collection::vec(any::<u8>(), 0..300), modern: bool, binary: bool,
        piece in 1usize..80,
    ) {
        let form = if binary { Form::Binary } else { Form::Text };
        for bytes in [packet(&bytes), bytes.clone()] {
            same_in_pieces(&bytes, piece, modern, form)?;
        }
        prop_assert!(server_error(&bytes).message.len() <= 3 * bytes.len());
        let (mut server, client) = UnixStream::pair().unwrap();
        server.write_all(&bytes).unwrap();
        drop(server);
        let number = Receiver::new(Received::new(), modern).prepared(&mut Socket::Unix(client));
        prop_assert!(number.is_err() || bytes.len() > 4);
    }

    #[test]
    fn mangled_answers_are_the_same_in_any_pieces(
        at in 0usize..200, with: u8, modern: bool, binary: bool, piece in 1usize..80,
    ) {
        let form = if binary { Form::Binary } else { Form::Text };
        let row: &[u8] = if binary { &[0, 0, 17, 0, 0, 0, 1, 2, 3, 4] } else { b"\x0217\xfb" };
        let mut bytes = result(3, row, 3, modern, 2);
        let at = at % bytes.len();
        bytes[at] = with;
        same_in_pieces(&bytes, piece, modern, form)?;
    }
}

#[test]
fn flags_are_those_of_mysql_common() {
    use mysql_common::constants::{ColumnFlags, StatusFlags};
    assert_eq!(status::IN_TRANSACTION, StatusFlags::SERVER_STATUS_IN_TRANS.bits());
    assert_eq!(status::AUTOCOMMIT, StatusFlags::SERVER_STATUS_AUTOCOMMIT.bits());
    assert_eq!(status::MORE_RESULTS, StatusFlags::SERVER_MORE_RESULTS_EXISTS.bits());
    assert_eq!(ColumnFlags::UNSIGNED_FLAG.bits(), 32);
    assert_eq!(CapabilityFlags::CLIENT_DEPRECATE_EOF.bits(), 1 << 24);
}
