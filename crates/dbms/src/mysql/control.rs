//! The control connection: statements that are not the load.

use std::io::ErrorKind;
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::time::Duration;

use ::mysql::prelude::Queryable;
use ::mysql::{Conn, OptsBuilder, Value};
use reference::Password;

use super::marked;
use super::version::Version;
use crate::api::excerpt::shorten;
use crate::{Diagnosis, Endpoint, Error, Host, Server, Sql};

/// How long one attempt to connect may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The largest packet; given here, so connecting asks the server nothing.
const LARGEST_PACKET: usize = 16 << 20;

/// The file of a key that must not be asked for: no file has this name, and to open it gives
/// [`ErrorKind::InvalidInput`].
const NO_KEY: &str = "\0";

/// Between SQLSTATE and number in [`Error::Query`]: many different errors have SQLSTATE HY000.
const NUMBER: &str = ", error ";

/// The result of a query: the names of its columns and its rows, every value as text.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Vec<Option<String>>>,
}

impl Table {
    /// The value of a row in the column `name`, whose case differs between versions; `None` if
    /// there is no such column, or for NULL.
    pub(super) fn value<'a>(&self, row: &'a [Option<String>], name: &str) -> Option<&'a str> {
        let place = self.names.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        row.get(place)?.as_deref()
    }

    /// Reads the output of the server's own client with `--batch`.
    #[cfg(test)]
    pub(super) fn of_tsv(text: &str) -> Self {
        let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<String>>();
        let mut lines = text.lines().map(cells);
        let names = lines.next().unwrap();
        let value = |cell: String| (cell != "NULL").then_some(cell);
        Self { names, rows: lines.map(|row| row.into_iter().map(value).collect()).collect() }
    }
}

/// A connection that is opened when first needed, and reopened if lost.
pub(super) struct Control {
    endpoint: Endpoint,
    connection: Option<Conn>,
    version: Option<Version>,
}

impl Control {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, connection: None, version: None }
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// A further connection to the same server.
    pub(super) fn another(&self) -> Self {
        Self { version: self.version, ..Self::new(self.endpoint.clone()) }
    }

    /// Closes the connection; the next statement reopens it.
    pub(super) fn close(&mut self) {
        self.connection = None;
    }

    /// The open connection; connects if there is none.
    fn connection(&mut self) -> Result<&mut Conn, Error> {
        // Only a round trip shows that the server has closed it.
        if self.connection.as_mut().is_some_and(|connection| connection.ping().is_err()) {
            self.connection = None;
        }
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        Ok(self.connection.insert(connection))
    }

    fn connect(&self) -> Result<Conn, Error> {
        let Endpoint::Mysql(Server { host, port, user, password, database }) = &self.endpoint
        else {
            let what = format!("connecting to {}", self.endpoint);
            return Err(Error::unsupported(what, "give the URL of a MySQL or MariaDB server"));
        };
        let mut options = OptsBuilder::new()
            .tcp_port(*port)
            .user(Some(user))
            .pass(password.as_ref().map(Password::reveal))
            .db_name(Some(database))
            .prefer_socket(false)
            .tcp_connect_timeout(Some(CONNECT_LIMIT))
            .max_allowed_packet(Some(LARGEST_PACKET));
        options = match host {
            Host::Socket(file) => options.socket(Some(file.to_string_lossy())),
            Host::Tcp(name) => options.ip_or_hostname(Some(name)),
        };
        let key = password.as_ref().map_or(Ok(None), |it| it.key(host.is_local()));
        let key = key.map(|file| file.map(PathBuf::from));
        let withheld = key.as_ref().err().copied();
        // With a key of its own, the library doesn't ask for one.
        options = options.server_key_path(key.unwrap_or_else(|_| Some(NO_KEY.into())));
        let failed = |detail| Error::Connect { server: self.endpoint.to_string(), detail };
        // It panics if a key is malformed.
        let connected = catch_unwind(|| Conn::new(options));
        let connected = connected.map_err(|_| failed("a malformed handshake or key".to_owned()))?;
        connected.map_err(|error| match (&error, withheld) {
            (::mysql::Error::IoError(said), Some(withheld))
                if said.kind() == ErrorKind::InvalidInput =>
            {
                failed(withheld.to_string())
            }
            _ => failed(describe(&error)),
        })
    }

    /// Runs statements separated by semicolons. Returns what the last query gave, and the total
    /// number of affected rows.
    fn run(&mut self, sql: &str) -> Result<(Table, u64), Error> {
        let result = gather(self.connection()?, sql);
        result.map_err(|error| {
            let (code, number) = match &error {
                ::mysql::Error::MySqlError(said) => {
                    (Some(format!("{}{NUMBER}{}", said.state, said.code)), said.code)
                }
                // Whatever else goes wrong, nobody knows what the server will send next.
                _ => (None, SHUTDOWN),
            };
            if ENDINGS.contains(&number) {
                self.connection = None;
            }
            let message = describe(&error);
            let diagnosis = diagnosis(code.as_ref().map(|_| number), &message);
            Error::Query { sql: shorten(sql), message, code, diagnosis }
        })
    }

    /// Runs a query; see [`Table`].
    pub(super) fn table(&mut self, sql: &str) -> Result<Table, Error> {
        Ok(self.run(sql)?.0)
    }

    /// The value of a global variable; `None` if this version does not have it.
    pub(super) fn variable(&mut self, name: &str) -> Result<Option<String>, Error> {
        let found = self.pairs(&format!("SHOW GLOBAL VARIABLES WHERE Variable_name = '{name}'"))?;
        Ok(found.into_iter().next().map(|(_, value)| value))
    }

    /// The server's version.
    pub(super) fn version(&mut self) -> Result<Version, Error> {
        if let Some(version) = self.version {
            return Ok(version);
        }
        let text = self.text("SELECT version()")?;
        let version = Version::read(&text).ok_or_else(|| Error::answer("a version", text))?;
        self.version = Some(version);
        Ok(version)
    }
}

impl Sql for Control {
    fn execute(&mut self, sql: &str) -> Result<u64, Error> {
        Ok(self.run(sql)?.1)
    }

    fn query_rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        Ok(self.run(sql)?.0.rows)
    }

    fn create_marked(&mut self, setup: &[String], tables: &[String]) -> Result<(), Error> {
        marked::create(self, setup, tables)
    }

    fn drop_marked(&mut self, tables: &[String]) -> Result<Option<String>, Error> {
        marked::drop_ours(self, tables)
    }
}

/// Runs statements and reads all that they give.
fn gather(connection: &mut Conn, sql: &str) -> ::mysql::Result<(Table, u64)> {
    let mut table = Table::default();
    let mut affected = 0;
    let mut result = connection.query_iter(sql)?;
    while let Some(set) = result.iter() {
        affected += set.affected_rows();
        let columns = set.columns();
        let names: Vec<String> =
            columns.as_ref().iter().map(|column| column.name_str().into_owned()).collect();
        let rows = set.map(|row| Ok(row?.unwrap().into_iter().map(text).collect()));
        let rows = rows.collect::<::mysql::Result<Vec<Vec<Option<String>>>>>()?;
        if !names.is_empty() {
            table = Table { names, rows };
        }
    }
    Ok((table, affected))
}

/// A value of the text protocol.
fn text(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true)),
    }
}

/// The server shuts down (ER_SERVER_SHUTDOWN).
const SHUTDOWN: u16 = 1053;

/// Errors after which the server closes the connection: shutdown, and the connection was killed or
/// idle for too long (ER_NORMAL_SHUTDOWN, ER_FORCING_CLOSE, ER_CONNECTION_KILLED of MariaDB,
/// ER_CLIENT_INTERACTION_TIMEOUT of MySQL).
const ENDINGS: [u16; 5] = [SHUTDOWN, 1077, 1080, 1927, 4031];

/// A full disk: EE_WRITE and EE_DISK_FULL of the file layer, ER_DISK_FULL, ER_RECORD_FILE_FULL.
const FULL: [u16; 2] = [20, 1021];

/// A privilege is missing (ER_SPECIFIC_ACCESS_DENIED_ERROR).
const NOT_PERMITTED: u16 = 1227;

/// The cause of an error's number and text.
fn diagnosis(number: Option<u16>, message: &str) -> Option<Diagnosis> {
    let number = number?;
    // ER_RECORD_FILE_FULL says that InnoDB could not extend a file. The file layer and engines give
    // the operating system's number 28 (ENOSPC) in errors that have many causes.
    let enospc = ["Errcode: 28", "error 28", "error: 28", "No space left on device"];
    if FULL.contains(&number) || number == 1114 || enospc.iter().any(|part| message.contains(part))
    {
        return Some(Diagnosis::DiskFull);
    }
    // ER_QUERY_INTERRUPTED.
    (number == 1317 || ENDINGS.contains(&number)).then_some(Diagnosis::Interrupted)
}

/// The server's number of an error, such as 1227.
pub(super) fn number(error: &Error) -> Option<u16> {
    let Error::Query { code: Some(code), .. } = error else { return None };
    code.split_once(NUMBER)?.1.parse().ok()
}

/// The result of something that needs a privilege; `None` if this user lacks it.
pub(super) fn permitted<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Err(error) if number(&error) == Some(NOT_PERMITTED) => Ok(None),
        result => result.map(Some),
    }
}

/// The server's message, or an error of the connection.
fn describe(error: &::mysql::Error) -> String {
    match error {
        ::mysql::Error::MySqlError(said) => said.message.clone(),
        ::mysql::Error::IoError(error) => error.to_string(),
        ::mysql::Error::DriverError(error) => error.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use reference::Disclosure;

    use super::*;

    #[test]
    fn causes() {
        let full = [(1021, ""), (1114, "The table 't' is full"), (3, "… (Errcode: 28 \"No …\")")];
        for (number, message) in full {
            assert_eq!(diagnosis(Some(number), message), Some(Diagnosis::DiskFull), "{number}");
        }
        assert_eq!(
            diagnosis(Some(1030), "Got error 28 \"No space left on device\" from storage engine"),
            Some(Diagnosis::DiskFull)
        );
        for number in [1053, 1317] {
            assert_eq!(diagnosis(Some(number), ""), Some(Diagnosis::Interrupted), "{number}");
        }
        assert_eq!(
            diagnosis(Some(3), "Error writing file 'x' (Errcode: 5 \"Input/output\")"),
            None
        );
        assert_eq!(diagnosis(Some(1064), "You have an error in your SQL syntax"), None);
        assert_eq!(diagnosis(None, "connection reset"), None);
    }

    /// A greeting of MySQL 8.0, without TLS.
    fn greeting() -> Vec<u8> {
        let capabilities = [0xff, 0xf7, 45, 2, 0, 0xff, 0x81, 21];
        [
            &b"\x0a8.0.31\0"[..],
            &[7, 0, 0, 0],
            b"abcdefgh\0",
            &capabilities,
            &[0; 10],
            b"ijklmnopqrst\0caching_sha2_password\0",
        ]
        .concat()
    }

    /// Connects to a server that isn't certainly this machine's, which asks for the whole password
    /// and sends a key. Returns the error and what the server got after the login.
    fn asked_for_it_all(allowed: Disclosure) -> (String, Vec<u8>) {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| {
                let mut socket = listener.accept().unwrap().0;
                let mut send = |number: u8, payload: &[u8]| {
                    let length = u8::try_from(payload.len()).unwrap();
                    let _ = socket.write_all(&[&[length, 0, 0, number], payload].concat());
                    let mut answer = [0; 1000];
                    let length = socket.read(&mut answer).unwrap_or_default();
                    answer[..length].to_vec()
                };
                send(0, &greeting());
                [send(2, &[1, 4]), send(4, b"\x01no key")].concat()
            });
            let error = Control::new(Endpoint::Mysql(Server {
                host: Host::Tcp("0.0.0.0".to_owned()),
                port,
                user: "me".to_owned(),
                password: Some(Password::new("s3cret").allowing(allowed)),
                database: "d".to_owned(),
            }))
            .execute("select 1");
            (error.unwrap_err().to_string(), server.join().unwrap())
        })
    }

    /// COM_QUIT.
    const QUIT: [u8; 5] = [1, 0, 0, 0, 1];

    #[test]
    fn no_key_is_accepted_from_the_network() {
        let (error, got) = asked_for_it_all(Disclosure::Proof);
        assert!(error.contains("server-public-key-path=FILE"), "{error}");
        assert_eq!(got, QUIT);
        let (error, got) = asked_for_it_all(Disclosure::Key("/nonexistent".into()));
        assert!(error.contains("No such file"), "{error}");
        assert_eq!(got, QUIT);
        let (error, got) = asked_for_it_all(Disclosure::SentKey);
        assert!(error.contains("malformed"), "{error}");
        assert!(got.starts_with(&[1, 0, 0, 3, 2]), "a request for the key");
    }

    #[test]
    fn nobody_listens() {
        let mut control = Control::new(Endpoint::Mysql(Server {
            host: Host::Socket("/no/such/directory/s".into()),
            port: 3306,
            user: "me".to_owned(),
            password: Some(Password::new("s3cret")),
            database: "d".to_owned(),
        }));
        let error = control.execute("select 1").unwrap_err();
        assert!(matches!(error, Error::Connect { .. }));
        assert!(!error.to_string().contains("s3cret"));
    }
}
