//! Answers of real servers, byte by byte, and code that the tests of the protocol share.

use std::collections::HashMap;
use std::io::Write;
use std::os::unix::net::UnixStream;

use mysql_common::constants::CapabilityFlags;
use mysql_common::io::{BufMutExt, ParseBuf};
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakePacket};
use proptest::prelude::*;

use super::lenenc;
use super::reply::{Form, Keep, Receiver};
use crate::error::{Error, ServerError};
use crate::wire::Reply;
use crate::wire::digest::Digest;
use crate::wire::received::Received;
use crate::wire::socket::Socket;

/// The answers to the same commands from four servers: a name and bytes on each line.
const FIXTURES: [&str; 4] = [
    include_str!("fixtures/mysql-5.6.24.txt"),
    include_str!("fixtures/mysql-8.0.31.txt"),
    include_str!("fixtures/mariadb-10.11.19.txt"),
    include_str!("fixtures/mariadb-11.4.5.txt"),
];

/// The answers of one server.
struct Recorded {
    ends_with_ok: bool,
    bytes: HashMap<&'static str, Vec<u8>>,
}

impl Recorded {
    fn all() -> impl Iterator<Item = Recorded> {
        FIXTURES.into_iter().map(|text| {
            let byte =
                |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap();
            let mut bytes = HashMap::new();
            let mut ends_with_ok = false;
            for (name, hex) in text.lines().filter_map(|line| line.split_once(' ')) {
                if name == "modern" {
                    ends_with_ok = hex == "1";
                } else {
                    bytes.insert(name, hex.as_bytes().chunks(2).map(byte).collect());
                }
            }
            Recorded { ends_with_ok, bytes }
        })
    }

    /// A receiver that is sent these bytes, and its socket.
    fn sent(&self, bytes: &[u8]) -> (Receiver, Socket) {
        let (mut server, client) = UnixStream::pair().unwrap();
        server.write_all(bytes).unwrap();
        (Receiver::new(Received::new(), self.ends_with_ok), Socket::Unix(client))
    }

    fn answer(
        &self,
        name: &str,
        row: Option<&mut Vec<Option<i64>>>,
    ) -> Result<Reply, Box<ServerError>> {
        let (mut receiver, mut socket) = self.sent(&self.bytes[name]);
        let form = if name == "execute" { Form::Binary } else { Form::Text };
        let keep = row.map_or(Keep::Nothing, Keep::Integers);
        let reply = receiver.answer(&mut socket, form, keep).unwrap();
        assert_eq!(receiver.in_transaction(), name == "begin", "{name}");
        reply.map_err(Box::new)
    }
}

#[test]
fn answers_of_real_servers_are_understood() {
    for recorded in Recorded::all() {
        let greeting = &recorded.bytes["greeting"];
        let hello: HandshakePacket<'_> = ParseBuf(&greeting[4..]).parse(()).unwrap();
        assert_eq!(hello.nonce().len(), 20);
        let modern = hello.capabilities().contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        assert_eq!(modern, recorded.ends_with_ok);
        if let Some(switch) = recorded.bytes.get("switch") {
            let switch: AuthSwitchRequest<'_> = ParseBuf(&switch[4..]).parse(()).unwrap();
            assert_eq!(switch.auth_plugin(), AuthPlugin::CachingSha2Password);
            assert_eq!(switch.plugin_data(), hello.nonce());
        }

        for (name, rows, affected) in [
            ("insert", 0, 3),
            ("update", 0, 2),
            ("select", 2, 0),
            ("nothing", 0, 0),
            ("begin", 0, 0),
            ("call", 4, 1),
        ] {
            assert_eq!(recorded.answer(name, None).unwrap(), Reply { rows, affected }, "{name}");
        }
        for name in ["integers", "execute"] {
            let mut row = Vec::new();
            assert_eq!(recorded.answer(name, Some(&mut row)).unwrap().rows, 1);
            assert_eq!(row, [Some(3), None, Some(-8), Some(1), Some(6)], "{name}");
        }
        let error = recorded.answer("duplicate", None).unwrap_err();
        assert_eq!(error.code, "1062 (23000)");
        assert!(error.message.starts_with("Duplicate entry '1' for key"), "{error}");
        let (mut receiver, mut socket) = recorded.sent(&recorded.bytes["prepare"]);
        assert!(receiver.prepared(&mut socket).unwrap().unwrap() > 0);
    }
}

#[test]
fn truncated_answers_of_real_servers_are_errors() {
    for recorded in Recorded::all() {
        for (name, bytes) in &recorded.bytes {
            if ["greeting", "switch"].contains(name) {
                continue;
            }
            for end in 0..bytes.len() {
                let (mut receiver, mut socket) = recorded.sent(&bytes[..end]);
                let broken = if *name == "prepare" {
                    receiver.prepared(&mut socket).map(drop)
                } else {
                    receiver.answer(&mut socket, Form::Text, Keep::Nothing).map(drop)
                };
                assert!(matches!(broken, Err(Error::Broken(_))), "{name} {end}");
            }
        }
    }
}

proptest! {
    #[test]
    fn mangled_answers_of_real_servers_have_no_rows_from_nowhere(at: usize, with: u8) {
        for recorded in Recorded::all() {
            for bytes in recorded.bytes.values() {
                let mut bytes = bytes.clone();
                let at = at % bytes.len();
                bytes[at] = with;
                for form in [Form::Text, Form::Binary] {
                    let (mut receiver, mut socket) = recorded.sent(&bytes);
                    let mut row = Vec::new();
                    let keep = Keep::Integers(&mut row);
                    if let Ok(Ok(reply)) = receiver.answer(&mut socket, form, keep) {
                        // Each is a packet.
                        prop_assert!(4 * reply.rows as usize <= bytes.len(), "{reply:?}");
                        prop_assert!(row.len() <= bytes.len());
                    }
                }
                let (mut receiver, mut socket) = recorded.sent(&bytes);
                let mut digest = Digest::default();
                let keep = Keep::Digest(&mut digest);
                if let Ok(Ok(reply)) = receiver.answer(&mut socket, Form::Text, keep) {
                    prop_assert!(digest.rows >= u64::from(reply.rows));
                }
                let (mut receiver, mut socket) = recorded.sent(&bytes);
                let prepared = receiver.prepared(&mut socket);
                prop_assert!(!matches!(prepared, Ok(Ok(_))) || bytes.len() >= 16);
            }
        }
    }

    #[test]
    fn encoded_integers_are_read(number: u64, shift in 0u32..64, more in 0usize..3) {
        let number = number >> shift;
        let mut bytes = Vec::new();
        bytes.put_lenenc_int(number);
        bytes.resize(bytes.len() + more, 7);
        let mut rest = &bytes[..];
        prop_assert_eq!(lenenc(&mut rest), Some(number));
        prop_assert_eq!(rest.len(), more);
        let mut short = &bytes[..bytes.len() - more - 1];
        prop_assert_eq!(lenenc(&mut short), None);
    }
}
