//! Connecting: handshake and authentication, in `mysql_common`'s terms.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mysql_common::constants::CapabilityFlags;
use mysql_common::crypto;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse};
use mysql_common::proto::{MyDeserialize, MySerialize};
use reference::{Password, Withheld};

use super::reply::{Receiver, first, server_error};
use super::{HEADER, LONGEST};
use crate::error::Error;
use crate::wire::received::Received;
use crate::wire::socket::{Address, Socket};

/// How to reach a database of a MySQL or MariaDB server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mysql {
    /// Where it listens.
    pub address: Address,
    /// The user to connect as.
    pub user: String,
    /// The password, if the user has one.
    pub password: Option<Password>,
    /// The database to connect to.
    pub database: String,
}

/// Capabilities that a server must have. All servers since 5.6 and MariaDB 10.0 have them.
const NEEDED: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB);
/// Capabilities that are used if a server has them. An UPDATE affects the rows that it finds, as in
/// PostgreSQL, even those that have the new values already (FOUND_ROWS). A server that asks for a
/// file gets rows that are made, and only after a LOAD DATA LOCAL.
const WANTED: CapabilityFlags = CapabilityFlags::CLIENT_LONG_PASSWORD
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_FOUND_ROWS)
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);
/// The longest message that this client announces; servers limit themselves as well.
const LONGEST_MESSAGE: u32 = 1 << 30;
/// From this version on, connections can have the character set utf8mb4.
const KNOWS_UTF8MB4: (u16, u16, u16) = (5, 5, 3);

/// Messages of caching_sha2_password (MySQL's manual, "Caching_sha2_password information").
mod sha2 {
    pub const MORE: u8 = 0x01;
    pub const DONE: u8 = 0x03;
    pub const WHOLE_PASSWORD: u8 = 0x04;
    pub const ASK_FOR_KEY: u8 = 0x02;
}

/// Connects and authenticates; afterwards the connection is ready for statements.
pub fn connect(target: &Mysql) -> Result<(Socket, Receiver), Error> {
    let socket = Socket::connect(&target.address).map_err(|source| Error::Connect {
        target: target.address.to_string(),
        user: target.user.clone(),
        source,
    })?;
    let local = socket.is_local();
    start_up(socket, target, local)
}

/// Logs in over a new connection to a server that is, or is not, on this machine.
fn start_up(socket: Socket, target: &Mysql, local: bool) -> Result<(Socket, Receiver), Error> {
    let mut starting = Starting { socket, received: Received::new(), target, local, sequence: 0 };
    let ends_with_ok = starting.start_up()?;
    Ok((starting.socket, Receiver::new(starting.received, ends_with_ok)))
}

struct Starting<'a> {
    socket: Socket,
    received: Received,
    target: &'a Mysql,
    /// True if nobody else can be at the other end.
    local: bool,
    /// The number of the next packet.
    sequence: u8,
}

impl<'a> Starting<'a> {
    /// Returns whether rows will end with an OK packet.
    fn start_up(&mut self) -> Result<bool, Error> {
        let greeting = self.message()?;
        let hello: HandshakePacket<'_> = parse(&greeting)?;
        let offered = hello.capabilities();
        if !offered.contains(NEEDED) {
            let version = hello.server_version_str();
            return Err(Error::Protocol(format!(
                "version {version}, where 5.6 or later is needed"
            )));
        }
        let mut nonce = hello.nonce();
        let mut plugin = match hello.auth_plugin() {
            Some(AuthPlugin::CachingSha2Password) => AuthPlugin::CachingSha2Password,
            // The server switches if it wants another.
            _ => AuthPlugin::MysqlNativePassword,
        };
        let capabilities = NEEDED | (WANTED & offered);
        let response = HandshakeResponse::new(
            plugin.gen_data(self.password(), &nonce).map(|data| data.to_vec()),
            KNOWS_UTF8MB4,
            Some(self.target.user.as_bytes()),
            Some(self.target.database.as_bytes()),
            Some(plugin.clone()),
            capabilities,
            None,
            LONGEST_MESSAGE,
        );
        let mut payload = Vec::new();
        response.serialize(&mut payload);
        self.send(&payload)?;
        loop {
            let message = self.message()?;
            match message.as_slice() {
                [first::OK, ..] => {
                    return Ok(capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF));
                }
                [first::END, _, ..] => {
                    let switch: AuthSwitchRequest<'_> = parse(&message)?;
                    plugin = match switch.auth_plugin() {
                        AuthPlugin::CachingSha2Password => AuthPlugin::CachingSha2Password,
                        AuthPlugin::MysqlNativePassword => AuthPlugin::MysqlNativePassword,
                        other => {
                            return Err(unsupported(&String::from_utf8_lossy(other.as_bytes())));
                        }
                    };
                    nonce = switch.plugin_data().to_vec();
                    let data = plugin.gen_data(self.password(), &nonce);
                    self.send(data.as_deref().unwrap_or_default())?;
                }
                [first::END] => return Err(unsupported("mysql_old_password")),
                [sha2::MORE, sha2::DONE] => {}
                [sha2::MORE, sha2::WHOLE_PASSWORD] => self.whole_password(&nonce)?,
                [first, ..] => {
                    return Err(Error::Protocol(format!("{first:#04x} during authentication")));
                }
                [] => return Err(Error::Protocol("an empty packet".to_owned())),
            }
        }
    }

    fn password(&self) -> Option<&'a str> {
        self.target.password.as_ref().map(Password::reveal)
    }

    /// Sends the password itself, because the server doesn't have its hash in memory yet. On this
    /// machine, nobody else can read the socket; elsewhere, the server's public key protects the
    /// password. A key that comes over a network may be anybody's.
    fn whole_password(&mut self, nonce: &[u8]) -> Result<(), Error> {
        let mut password = self.password().unwrap_or_default().as_bytes().to_vec();
        password.push(0);
        if matches!(self.socket, Socket::Unix(_)) {
            return self.send(&password);
        }
        let file = match &self.target.password {
            Some(password) => password.key(self.local).map_err(|error| self.withheld(error))?,
            None => None,
        };
        let key = match file {
            Some(file) => {
                fs::read(file).map_err(|source| Error::Key { file: file.into(), source })?
            }
            None => {
                self.send(&[sha2::ASK_FOR_KEY])?;
                let key = self.message()?;
                key.strip_prefix(&[sha2::MORE]).unwrap_or_default().to_vec()
            }
        };
        for (byte, mask) in password.iter_mut().zip(nonce.iter().cycle()) {
            *byte ^= mask;
        }
        let encrypted = quietly(|| Ok(crypto::encrypt(&password, &key)))?;
        self.send(&encrypted)
    }

    fn withheld(&self, withheld: Withheld) -> Error {
        Error::Withheld { target: self.target.address.to_string(), withheld }
    }

    fn send(&mut self, payload: &[u8]) -> Result<(), Error> {
        let mut bytes = (payload.len() as u32).to_le_bytes();
        bytes[3] = self.sequence;
        Ok(self.socket.send(&[&bytes, payload].concat())?)
    }

    /// The payload of the next packet. A server's error is an error.
    fn message(&mut self) -> Result<Vec<u8>, Error> {
        let header = self.received.peek(&mut self.socket, HEADER)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        self.sequence = header[3].wrapping_add(1);
        if length == LONGEST {
            return Err(Error::Protocol("a handshake of 16 MB".to_owned()));
        }
        let payload = self.received.take(&mut self.socket, HEADER + length)?[HEADER..].to_vec();
        if payload.first() == Some(&first::ERROR) {
            return Err(self.refused(&payload));
        }
        Ok(payload)
    }

    fn refused(&self, payload: &[u8]) -> Error {
        let error = server_error(payload);
        // Access denied.
        if self.password().is_none() && error.code.starts_with("1045") {
            return Error::Authentication {
                wanted: format!("a password for user `{}` ({error})", self.target.user),
                remedy: "give one in the variant's URL",
            };
        }
        Error::Server { error: Box::new(error), statement: "connect".to_owned() }
    }
}

/// Parses a packet.
fn parse<'a, T: MyDeserialize<'a, Ctx = ()>>(payload: &'a [u8]) -> Result<T, Error> {
    quietly(|| ParseBuf(payload).parse(()))
}

/// Runs a function of `mysql_common`, some of which panic if a server sends nonsense.
fn quietly<T>(run: impl FnOnce() -> io::Result<T>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(Error::Protocol(error.to_string())),
        Err(_) => Err(Error::Protocol("a malformed handshake".to_owned())),
    }
}

fn unsupported(plugin: &str) -> Error {
    Error::Authentication {
        wanted: format!("authentication by `{plugin}`, which this client does not support"),
        remedy: "let the user have mysql_native_password or caching_sha2_password",
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    use mysql_common::constants::StatusFlags;
    use mysql_common::scramble::{scramble_native, scramble_sha256};
    use proptest::prelude::*;
    use reference::Disclosure;

    use super::*;

    const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
    const OTHER_NONCE: &[u8; 20] = b"ABCDEFGHIJKLMNOPQRST";
    const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

    fn packet(payload: &[u8], sequence: u8) -> Vec<u8> {
        let mut bytes = (payload.len() as u32).to_le_bytes().to_vec();
        bytes[3] = sequence;
        bytes.extend_from_slice(payload);
        bytes
    }

    fn greeting(plugin: &str, capabilities: CapabilityFlags) -> Vec<u8> {
        let (first, second) = NONCE.split_first_chunk::<8>().unwrap();
        let packet = HandshakePacket::new(
            10,
            &b"8.0.31"[..],
            7,
            *first,
            Some([second, &[0]].concat()),
            capabilities,
            45,
            StatusFlags::SERVER_STATUS_AUTOCOMMIT,
            Some(plugin.as_bytes().to_vec()),
        );
        let mut bytes = Vec::new();
        packet.serialize(&mut bytes);
        bytes
    }

    fn target(address: Address) -> Mysql {
        let (user, database) = ("me".to_owned(), "data".to_owned());
        Mysql { address, user, password: Some(Password::new("secret")), database }
    }

    /// Plays a server on `socket`: sends each message and takes an answer; returns the answers.
    fn play(mut socket: impl Read + Write, messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut answers = Vec::new();
        let mut sequence = 0;
        for message in messages {
            if socket.write_all(&packet(message, sequence)).is_err() {
                break;
            }
            // The fast answer of caching_sha2_password is followed by another message.
            if message == &[1, 3] {
                sequence += 1;
                continue;
            }
            let mut header = [0; 4];
            if socket.read_exact(&mut header).is_err() {
                break;
            }
            assert_eq!(header[3], sequence + 1);
            sequence += 2;
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
            let mut answer = vec![0; length as usize];
            socket.read_exact(&mut answer).unwrap();
            answers.push(answer);
        }
        answers
    }

    /// Connects to a server that sends these messages; returns the result and what the server
    /// received.
    fn connected(messages: &[Vec<u8>]) -> (Result<(), Error>, Vec<Vec<u8>>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| play(listener.accept().unwrap().0, messages));
            let result = connect(&target(Address::Unix(path.clone()))).map(drop);
            (result, server.join().unwrap())
        })
    }

    fn all() -> CapabilityFlags {
        NEEDED | WANTED
    }

    #[test]
    fn the_server_chooses_the_plugin() {
        let native = scramble_native(NONCE, b"secret").unwrap();
        let sha = scramble_sha256(NONCE, b"secret").unwrap();
        for (plugin, data) in [
            ("mysql_native_password", &native[..]),
            ("caching_sha2_password", &sha),
            ("something_else", &native),
        ] {
            let (result, answers) = connected(&[greeting(plugin, all()), OK.to_vec()]);
            result.unwrap();
            let response: HandshakeResponse<'_> = parse(&answers[0]).unwrap();
            assert_eq!(response.scramble_buf(), data, "{plugin}");
            assert_eq!((response.user(), response.db_name()), (&b"me"[..], Some(&b"data"[..])));
            assert_eq!((response.capabilities(), response.collation()), (all(), 45));
        }
    }

    #[test]
    fn the_server_switches_the_plugin() {
        let switch =
            |plugin: &str| [&[0xfe], plugin.as_bytes(), &[0], &OTHER_NONCE[..], &[0]].concat();
        let hello = || greeting("mysql_native_password", all());
        for (plugin, data) in [
            ("mysql_native_password", &scramble_native(OTHER_NONCE, b"secret").unwrap()[..]),
            ("caching_sha2_password", &scramble_sha256(OTHER_NONCE, b"secret").unwrap()),
        ] {
            let messages = [hello(), switch(plugin), vec![1, 3], OK.to_vec()];
            let (result, answers) = connected(&messages);
            result.unwrap();
            assert_eq!(answers[1], data);
        }
        for refused in [switch("client_ed25519"), vec![0xfe]] {
            let error = connected(&[hello(), refused]).0.unwrap_err();
            assert!(matches!(error, Error::Authentication { .. }), "{error}");
        }
    }

    #[test]
    fn a_password_goes_in_clear_only_over_a_unix_socket() {
        let messages = [greeting("caching_sha2_password", all()), vec![1, 4], OK.to_vec()];
        let (result, answers) = connected(&messages);
        result.unwrap();
        assert_eq!(answers[1], b"secret\0");

        for key in ["nonsense", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let messages = [&messages[..2], &[[&[1], key.as_bytes()].concat()]].concat();
            std::thread::scope(|scope| {
                let server = scope.spawn(|| play(listener.accept().unwrap().0, &messages));
                let result = connect(&target(Address::Tcp("127.0.0.1".to_owned(), port)));
                assert!(matches!(result.map(drop), Err(Error::Protocol(_))));
                let answers = server.join().unwrap();
                assert_eq!(answers[1..], [[2]]);
            });
        }
    }

    /// A key as a server has it in public_key.pem; nobody has its other half.
    const KEY: &str = include_str!("fixtures/public_key.pem");

    #[test]
    fn a_key_that_anybody_may_have_sent_is_not_used() {
        let asks = vec![1, 4];
        let key = [&[1], KEY.as_bytes()].concat();
        let messages = [greeting("caching_sha2_password", all()), asks, key, OK.to_vec()];
        // Logs in to another machine, and returns what that machine received after the login.
        let logged_in = |allowed, messages: &[Vec<u8>]| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address =
                Address::Tcp("127.0.0.1".to_owned(), listener.local_addr().unwrap().port());
            std::thread::scope(|scope| {
                let server = scope.spawn(|| play(listener.accept().unwrap().0, messages));
                let password = Some(Password::new("secret").allowing(allowed));
                let target = Mysql { password, ..target(address) };
                let socket = Socket::connect(&target.address).unwrap();
                let result = start_up(socket, &target, false).map(drop);
                (result, server.join().unwrap()[1..].to_vec())
            })
        };
        for allowed in [Disclosure::Proof, Disclosure::Cleartext] {
            let (result, got) = logged_in(allowed, &messages);
            let text = result.unwrap_err().to_string();
            for part in ["server-public-key-path=FILE", "get-server-public-key=true"] {
                assert!(text.contains(part), "{part} is missing in: {text}");
            }
            assert_eq!(got, [[0; 0]; 0], "not even a request for the key");
        }
        let (result, got) = logged_in(Disclosure::SentKey, &messages);
        result.unwrap();
        assert_eq!((&got[0][..], got[1].len()), (&[2][..], 256));
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), KEY).unwrap();
        let given = Disclosure::Key(file.path().to_owned());
        let without_key = [&messages[..2], &messages[3..]].concat();
        let (result, got) = logged_in(given, &without_key);
        result.unwrap();
        assert_eq!(got[0].len(), 256);
        let (result, got) = logged_in(Disclosure::Key("/nonexistent".into()), &without_key);
        assert!(matches!(result, Err(Error::Key { .. })));
        assert_eq!(got, [[0; 0]; 0]);
    }

    #[test]
    fn the_password_is_sent_by_no_method_that_shows_it() {
        let hello = greeting("mysql_native_password", all());
        for plugin in ["mysql_clear_password", "sha256_password", "dialog"] {
            let switch = [&[0xfe], plugin.as_bytes(), &[0]].concat();
            let (result, answers) = connected(&[hello.clone(), switch, OK.to_vec()]);
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Authentication { .. }), "{plugin}: {error}");
            assert_eq!(answers.len(), 1, "the login");
        }
    }

    #[test]
    fn refusals_say_why() {
        let (result, _) = connected(&[b"\xff\x10\x04Too many connections".to_vec()]);
        assert_eq!(result.unwrap_err().code(), Some("1040"));
        let old = greeting("mysql_native_password", CapabilityFlags::CLIENT_PROTOCOL_41);
        let error = connected(&[old]).0.unwrap_err();
        assert!(error.to_string().contains("8.0.31"), "{error}");
    }

    #[test]
    fn a_password_is_not_shown() {
        let shown = format!("{:?}", target(Address::Unix("/s".into())));
        assert!(!shown.contains("secret"), "{shown}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn mangled_handshakes_get_no_password(at in 0usize..100, with: u8) {
            let mut hello = greeting("caching_sha2_password", all());
            let at = at % hello.len();
            hello[at] = with;
            let (result, answers) = connected(&[hello, vec![1, 3], OK.to_vec()]);
            // The server proved nothing: it does not get the password itself.
            let clear = |answer: &Vec<u8>| answer.windows(6).any(|part| part == b"secret");
            prop_assert!(!answers.iter().any(clear), "{answers:?}");
            if result.is_ok() {
                let response: HandshakeResponse<'_> = parse(&answers[0]).unwrap();
                prop_assert_eq!(response.user(), &b"me"[..]);
            }
        }

        #[test]
        fn garbage_is_an_error(bytes in prop::collection::vec(any::<u8>(), 1..100)) {
            prop_assert!(connected(&[bytes.clone(), bytes]).0.is_err());
        }
    }
}
