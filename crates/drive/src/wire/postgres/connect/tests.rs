//! Servers that ask for too much, or don't know the password.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use reference::{Disclosure, Password, Withheld};

use super::*;

const CLEARTEXT: [u8; 4] = [0, 0, 0, 3];
const OK: [u8; 4] = [0, 0, 0, 0];

/// A message of a server: its type, length and body.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[kind][..], &length, body].concat()
}

/// An authentication request with this number.
fn sasl(number: u8, text: &[u8]) -> Vec<u8> {
    message(b'R', &[&[0, 0, 0, number], text].concat())
}

fn ready() -> Vec<u8> {
    [message(b'R', &OK), message(b'Z', b"I")].concat()
}

/// Reads one message from a client.
fn read(socket: &mut UnixStream, has_type: bool) -> Option<Vec<u8>> {
    let mut head = vec![0; 4 + usize::from(has_type)];
    socket.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes(*head.last_chunk::<4>()?) as usize;
    let mut body = vec![0; length - 4];
    socket.read_exact(&mut body).ok()?;
    Some(body)
}

/// Logs in to a server that answers each message with the result of `answer`, called with the
/// message and its number. Also returns all messages that the server received.
fn logged_in(
    password: Password,
    local: bool,
    answer: impl Fn(usize, &[u8]) -> Vec<u8> + Send,
) -> (Result<(), Error>, Vec<Vec<u8>>) {
    let (mut server, client) = UnixStream::pair().unwrap();
    std::thread::scope(|scope| {
        let server = scope.spawn(move || {
            let mut got = Vec::new();
            while let Some(message) = read(&mut server, !got.is_empty()) {
                let answer = answer(got.len(), &message);
                got.push(message);
                if server.write_all(&answer).is_err() {
                    break;
                }
            }
            got
        });
        let target = Postgres {
            address: Address::Tcp("db.example".to_owned(), 5432),
            user: "me".to_owned(),
            password: Some(password),
            database: "d".to_owned(),
        };
        let result = start_up(Socket::Unix(client), &target, local).map(drop);
        (result, server.join().unwrap())
    })
}

#[test]
fn the_password_itself_goes_nowhere_else_unless_allowed() {
    let asks = |number, _: &[u8]| if number == 0 { message(b'R', &CLEARTEXT) } else { ready() };
    let allowed = [Disclosure::Proof, Disclosure::Cleartext];
    for (allowed, local) in allowed.into_iter().flat_map(|it| [(it.clone(), true), (it, false)]) {
        let may = local || allowed == Disclosure::Cleartext;
        let (result, got) = logged_in(Password::new("s3cret").allowing(allowed), local, asks);
        if may {
            result.unwrap();
            assert_eq!(got[1], b"s3cret\0");
        } else {
            let error = result.unwrap_err();
            let withheld = Withheld::Cleartext;
            assert!(matches!(error, Error::Withheld { withheld: it, .. } if it == withheld));
            let text = error.to_string();
            for part in ["db.example:5432", "scram-sha-256", "allow_cleartext=true"] {
                assert!(text.contains(part), "{part} is missing in: {text}");
            }
            assert_eq!(got.len(), 1, "the startup message");
        }
    }
}

/// Logs in by SCRAM to a server that gives these answers, in which `NONCE` is replaced by the
/// client's nonce.
fn scram(first: &'static str, last: Vec<u8>) -> Error {
    let (result, got) = logged_in(Password::new("s3cret"), true, |number, message| match number {
        0 => sasl(10, b"SCRAM-SHA-256\0\0"),
        1 => {
            let text = String::from_utf8_lossy(message).into_owned();
            let nonce = text.split_once(",r=").unwrap().1;
            sasl(11, first.replace("NONCE", nonce).as_bytes())
        }
        _ => last.clone(),
    });
    assert!(got.iter().all(|message| !message.windows(6).any(|part| part == b"s3cret")));
    result.unwrap_err()
}

#[test]
fn a_server_that_does_not_know_the_password_is_found_out() {
    let honest = "r=NONCEserver,s=c2FsdA==,i=4096";
    // 32 bytes, as a signature has, and then all that follows a login.
    let forged = b"v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let forged = [sasl(12, forged), ready()].concat();
    for (first, last, part) in [
        (honest, forged.clone(), "verification"),
        (honest, sasl(12, b"e=other-error"), "other-error"),
        (honest, sasl(12, b"nonsense"), "expected"),
        ("r=somebody,s=c2FsdA==,i=4096", forged.clone(), "nonce"),
        ("r=NONCEserver,s=c2FsdA==,i=100001", forged.clone(), "iteration count"),
        ("r=NONCEserver,s=c2FsdA==,i=99999999999", forged, "number too large"),
    ] {
        let error = scram(first, last);
        assert!(matches!(error, Error::Unproven { .. }), "{first}: {error}");
        let text = error.to_string();
        assert!(text.contains(part) && text.contains("db.example"), "{part}: {text}");
    }
    // Nor is it let off.
    assert!(matches!(scram(honest, ready()), Error::Protocol(_)));
}
