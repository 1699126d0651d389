//! The control connection: statements that are not the load.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use postgres::config::{SslMode, SslNegotiation};
use postgres::{Client, Config, NoTls, SimpleQueryMessage};

use super::guard::Guard;
use super::marked;
use crate::api::excerpt::shorten;
use crate::{Diagnosis, Endpoint, Error, Host, Server, Sql};

/// How long one attempt to connect may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The application name by which `pg_stat_activity` tells it from clients.
pub(super) const APPLICATION: &str = "steelyard control";

/// A connection that is opened when first needed, and reopened if lost.
pub(super) struct Control {
    endpoint: Endpoint,
    client: Option<Client>,
    notices: Arc<Mutex<Vec<String>>>,
    version: Option<u32>,
    /// When it last read the statistics views.
    read_statistics: Option<Instant>,
}

impl Control {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        let (version, read_statistics) = (None, None);
        Self { endpoint, client: None, notices: Arc::default(), version, read_statistics }
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// A further connection to the same server.
    pub(super) fn another(&self) -> Self {
        Self { version: self.version, ..Self::new(self.endpoint.clone()) }
    }

    /// Says that it has just read the statistics views.
    pub(super) fn has_read_statistics(&mut self) {
        self.read_statistics = Some(Instant::now());
    }

    /// How long ago it last read them, if it did.
    pub(super) fn since_statistics(&self) -> Option<Duration> {
        Some(self.read_statistics?.elapsed())
    }

    /// Closes the connection; the next statement reopens it.
    pub(super) fn close(&mut self) {
        self.client = None;
    }

    /// The open connection; connects if there is none.
    fn client(&mut self) -> Result<&mut Client, Error> {
        // Only a round trip shows that the server has closed it.
        if self.client.as_mut().is_some_and(|client| client.check_connection().is_err()) {
            self.client = None;
        }
        let client = match self.client.take() {
            Some(client) => client,
            None => self.connect()?,
        };
        Ok(self.client.insert(client))
    }

    fn connect(&self) -> Result<Client, Error> {
        let Endpoint::Postgres(Server { host, port, user, password, database }) = &self.endpoint
        else {
            let what = format!("connecting to {}", self.endpoint);
            return Err(Error::unsupported(what, "give the URL of a PostgreSQL server"));
        };
        let mut config = Config::new();
        config
            .port(*port)
            .user(user)
            .dbname(database)
            .application_name(APPLICATION)
            .connect_timeout(CONNECT_LIMIT);
        match host {
            // libpq gives the directory; the port gives the file in it.
            Host::Socket(file) => config.host_path(file.parent().unwrap_or(file)),
            Host::Tcp(name) => config.host(name),
        };
        if let Some(password) = password {
            config.password(password.reveal());
        }
        let notices = Arc::clone(&self.notices);
        config.notice_callback(move |notice| {
            if let Ok(mut notices) = notices.lock() {
                notices.push(format!("{}: {}", notice.severity(), notice.message()));
                notices.extend(notice.detail().map(str::to_owned));
            }
        });
        let withheld = password.as_ref().map(|it| it.cleartext(host.is_local()).is_err());
        let connected = if withheld == Some(true) {
            // "Direct" asks the server nothing before.
            config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
            config.connect(Guard)
        } else {
            config.connect(NoTls)
        };
        connected.map_err(|error| Error::Connect {
            server: self.endpoint.to_string(),
            detail: describe(&error),
        })
    }

    /// Runs SQL by the simple protocol.
    pub(super) fn run(&mut self, sql: &str) -> Result<Vec<SimpleQueryMessage>, Error> {
        let result = self.client()?.simple_query(sql);
        result.map_err(|error| {
            // Class 57P: the server ends this connection (admin_shutdown and the like).
            let cut_off = error.code().is_none_or(|code| code.code().starts_with("57P"));
            if error.is_closed() || cut_off {
                self.client = None;
            }
            let code = error.code().map(|code| code.code().to_owned());
            Error::Query {
                sql: shorten(sql),
                diagnosis: code.as_deref().and_then(diagnosis),
                message: describe(&error),
                code,
            }
        })
    }

    /// The server's version as one number: 130007, 90624.
    pub(super) fn version(&mut self) -> Result<u32, Error> {
        if let Some(version) = self.version {
            return Ok(version);
        }
        let number = self.query_i64("SHOW server_version_num")?;
        let version =
            u32::try_from(number).map_err(|_| Error::answer("a version number", number))?;
        self.version = Some(version);
        Ok(version)
    }

    /// Notices that came since the last call.
    pub(super) fn take_notices(&mut self) -> Vec<String> {
        self.notices.lock().map(|mut notices| std::mem::take(&mut *notices)).unwrap_or_default()
    }
}

impl Sql for Control {
    fn execute(&mut self, sql: &str) -> Result<u64, Error> {
        let said = self.run(sql)?;
        let rows = said.iter().map(|message| match message {
            SimpleQueryMessage::CommandComplete(rows) => *rows,
            _ => 0,
        });
        Ok(rows.sum())
    }

    fn query_rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        let said = self.run(sql)?;
        let rows = said.iter().filter_map(|message| {
            let SimpleQueryMessage::Row(row) = message else { return None };
            Some((0..row.len()).map(|i| row.get(i).map(str::to_owned)).collect())
        });
        Ok(rows.collect())
    }

    fn create_marked(&mut self, setup: &[String], tables: &[String]) -> Result<(), Error> {
        marked::create(self, setup, tables)
    }

    fn drop_marked(&mut self, tables: &[String]) -> Result<Option<String>, Error> {
        marked::drop_ours(self, tables)
    }
}

/// The cause behind an SQLSTATE (PostgreSQL's appendix A).
fn diagnosis(code: &str) -> Option<Diagnosis> {
    match code {
        "53100" => Some(Diagnosis::DiskFull),
        "57014" => Some(Diagnosis::Interrupted),
        // The server shuts down.
        code if code.starts_with("57P") => Some(Diagnosis::Interrupted),
        // Syntax errors and names of nothing; values that a statement can't compute with.
        code if code.starts_with("42") || code.starts_with("22") => Some(Diagnosis::Invalid),
        _ => None,
    }
}

/// A text as an SQL literal, whatever standard_conforming_strings says.
pub(super) fn literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if doubled.contains('\\') {
        format!("E'{}'", doubled.replace('\\', "\\\\"))
    } else {
        format!("'{doubled}'")
    }
}

/// The server's message, or an error with its causes.
fn describe(error: &postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use reference::{Disclosure, Password};

    use super::*;

    #[test]
    fn what_is_wrong_in_itself_is_told_apart_from_what_may_pass() {
        for code in ["42601", "42P01", "22012"] {
            assert_eq!(diagnosis(code), Some(Diagnosis::Invalid), "{code}");
        }
        assert_eq!((diagnosis("53400"), diagnosis("08006")), (None, None));
    }

    #[test]
    fn literals() {
        assert_eq!(literal("pi1"), "'pi1'");
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a\\'b"), "E'a\\\\''b'");
    }

    /// Connects to a server that asks for the password in clear text. Returns the error and what
    /// the server got for an answer.
    fn asked_in_clear(host: &str, allowed: Disclosure) -> (String, Vec<u8>) {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| {
                let mut socket = listener.accept().unwrap().0;
                let mut answer = [0; 1000];
                let _ = socket.read(&mut answer);
                let _ = socket.write_all(b"R\0\0\0\x08\0\0\0\x03");
                let length = socket.read(&mut answer).unwrap_or_default();
                answer[..length].to_vec()
            });
            let error = Control::new(Endpoint::Postgres(Server {
                host: Host::Tcp(host.to_owned()),
                port,
                user: "me".to_owned(),
                password: Some(Password::new("s3cret").allowing(allowed)),
                database: "d".to_owned(),
            }))
            .execute("select 1");
            (error.unwrap_err().to_string(), server.join().unwrap())
        })
    }

    #[test]
    fn the_password_stays_here_unless_allowed() {
        // This machine, but not by a name that says so.
        let (error, got) = asked_in_clear("0.0.0.0", Disclosure::Proof);
        assert!(error.contains("allow_cleartext=true"), "{error}");
        assert!(got.is_empty(), "{got:?}");
        let answer = b"p\0\0\0\x0bs3cret\0";
        assert_eq!(asked_in_clear("0.0.0.0", Disclosure::Cleartext).1, answer);
        assert_eq!(asked_in_clear("127.0.0.1", Disclosure::Proof).1, answer);
    }

    #[test]
    fn nobody_listens() {
        let mut control = Control::new(Endpoint::Postgres(Server {
            host: Host::Socket("/no/such/directory/.s.PGSQL.5432".into()),
            port: 5432,
            user: "me".to_owned(),
            password: Some(Password::new("s3cret")),
            database: "d".to_owned(),
        }));
        let error = control.execute("select 1").unwrap_err();
        assert!(matches!(error, Error::Connect { .. }));
        assert!(!error.to_string().contains("s3cret"));
    }
}
