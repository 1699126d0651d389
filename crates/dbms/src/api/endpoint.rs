//! The address of a system under test.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use reference::{Host, Server, host_and_port};

use crate::{Error, Transport};

/// Where clients connect. [`fmt::Display`] shows no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A PostgreSQL server.
    Postgres(Server),
    /// A MySQL or MariaDB server. The port of a socket means nothing.
    Mysql(Server),
    /// The socket on which a process that contains the engine accepts loads.
    Process(PathBuf),
    /// There is no DBMS.
    Nowhere {
        /// The node of a block device that may be read.
        device: Option<PathBuf>,
        /// The settings of the plan, which are words for the arguments of programs.
        words: BTreeMap<String, String>,
    },
}

impl Endpoint {
    fn server(&self) -> Option<&Server> {
        match self {
            Self::Postgres(server) | Self::Mysql(server) => Some(server),
            Self::Process(_) | Self::Nowhere { .. } => None,
        }
    }

    /// The same server with another database.
    pub fn in_database(mut self, name: &str) -> Endpoint {
        if let Self::Postgres(server) | Self::Mysql(server) = &mut self {
            name.clone_into(&mut server.database);
        }
        self
    }

    /// This address, if clients reach it by `transport`.
    ///
    /// # Errors
    /// [`Error::Transport`] if it is another, or none that has a name.
    pub fn only_by(&self, transport: Transport) -> Result<Endpoint, Error> {
        let leads = match self.server().map(|server| &server.host) {
            Some(host @ Host::Tcp(_)) => host.is_local().then_some(Transport::Loopback),
            // Every system has this one, whether clients use a socket or not.
            _ => Some(Transport::Unix),
        };
        if leads == Some(transport) {
            return Ok(self.clone());
        }
        let problem = match leads {
            Some(leads) => format!(
                "{self} is reached by `{leads}`; choose that, or have steelyard start the server \
                 instead of giving its URL"
            ),
            None => format!("{self} is on another address; have steelyard start the server"),
        };
        Err(Error::transport(transport, problem))
    }

    /// The values of placeholders in a program's arguments: `port` for 5432.
    pub fn places(&self) -> BTreeMap<String, String> {
        match self {
            Self::Process(_) => BTreeMap::new(),
            Self::Nowhere { device, words } => {
                let device =
                    device.as_ref().map(|it| ("device".to_owned(), it.display().to_string()));
                words.clone().into_iter().chain(device).collect()
            }
            Self::Postgres(server) => {
                shared_places(server, server.host.to_string(), server.host.to_string())
            }
            Self::Mysql(server) => {
                let (host, socket) = mysql_host(&server.host);
                shared_places(server, host, socket)
            }
        }
    }

    /// Environment variables with which its usual programs find it, and a password that is not for
    /// command lines.
    ///
    /// # Errors
    /// [`Error::Withheld`] if a password is not for programs either.
    pub fn environment(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let given = |name, server: &Server| {
            let Some(password) = &server.password else { return Ok(None) };
            match password.for_program(server.host.is_local()) {
                Ok(text) => Ok(Some((name, text.to_owned()))),
                Err(withheld) => Err(Error::Withheld { server: self.to_string(), withheld }),
            }
        };
        Ok(match self {
            Self::Process(_) | Self::Nowhere { .. } => Vec::new(),
            Self::Postgres(server) => [
                ("PGHOST", server.host.to_string()),
                ("PGPORT", server.port.to_string()),
                ("PGUSER", server.user.clone()),
                ("PGDATABASE", server.database.clone()),
            ]
            .into_iter()
            .chain(given("PGPASSWORD", server)?)
            .collect(),
            // Its programs take user and database from no variable; placeholders have them.
            Self::Mysql(server) => {
                let (host, socket) = mysql_host(&server.host);
                let socket = (!socket.is_empty()).then_some(("MYSQL_UNIX_PORT", socket));
                [("MYSQL_HOST", host), ("MYSQL_TCP_PORT", server.port.to_string())]
                    .into_iter()
                    .chain(socket)
                    .chain(given("MYSQL_PWD", server)?)
                    .collect()
            }
        })
    }
}

fn shared_places(server: &Server, host: String, socket: String) -> BTreeMap<String, String> {
    [
        ("host", host),
        ("socket", socket),
        ("port", server.port.to_string()),
        ("user", server.user.clone()),
        ("database", server.database.clone()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// A host in the form that MySQL's programs take: its name, which is `localhost` for a socket, and
/// the socket's file, which is empty over TCP.
fn mysql_host(host: &Host) -> (String, String) {
    match host {
        Host::Socket(file) => ("localhost".to_owned(), file.display().to_string()),
        Host::Tcp(name) => (name.clone(), String::new()),
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, server) = match self {
            Self::Process(socket) => return write!(formatter, "a process at {}", socket.display()),
            Self::Nowhere { .. } => return formatter.write_str("no DBMS"),
            Self::Mysql(server) => ("mysql", server),
            Self::Postgres(server) => ("postgres", server),
        };
        let Server { host, port, user, database, .. } = server;
        write!(formatter, "{scheme}://{user}@")?;
        match (self, host) {
            (_, Host::Tcp(name)) => write!(formatter, "{}/{database}", host_and_port(name, *port)),
            (Self::Mysql(_), Host::Socket(file)) => {
                write!(formatter, "/{database}?socket={}", file.display())
            }
            (_, Host::Socket(_)) => write!(formatter, "/{database}?host={host}&port={port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use reference::{Disclosure, Password};

    use super::*;

    fn mysql(host: Host) -> Endpoint {
        Endpoint::Mysql(Server {
            host,
            port: 3306,
            user: "me".to_owned(),
            password: Some(Password::new("s3cret")),
            database: "bench".to_owned(),
        })
    }

    #[test]
    fn programs_of_mysql_find_their_server() {
        let socket = mysql(Host::Socket("/tmp/s/mysql.sock".into()));
        assert_eq!(socket.to_string(), "mysql://me@/bench?socket=/tmp/s/mysql.sock");
        assert_eq!(socket.places()["socket"], "/tmp/s/mysql.sock");
        assert_eq!(socket.places()["host"], "localhost");
        let of = |endpoint: &Endpoint| BTreeMap::from_iter(endpoint.environment().unwrap());
        assert_eq!(of(&socket)["MYSQL_UNIX_PORT"], "/tmp/s/mysql.sock");
        assert_eq!(of(&socket)["MYSQL_PWD"], "s3cret");
        socket.only_by(Transport::Unix).unwrap();

        let local = mysql(Host::Tcp("127.0.0.1".to_owned())).in_database("other");
        assert_eq!(local.to_string(), "mysql://me@127.0.0.1:3306/other");
        assert_eq!(of(&local)["MYSQL_HOST"], "127.0.0.1");
        assert!(!of(&local).contains_key("MYSQL_UNIX_PORT"));
        local.only_by(Transport::Loopback).unwrap();
        assert!(local.only_by(Transport::Unix).is_err());
        assert!(!format!("{local:?} {local} {:?}", local.places()).contains("s3cret"));
    }

    #[test]
    fn programs_get_a_password_for_this_machine_or_if_the_user_allows_it() {
        for (host, allowed, given) in [
            ("db.example", Disclosure::Proof, false),
            ("db.example", Disclosure::Cleartext, true),
            ("db.example", Disclosure::SentKey, true),
            ("::1", Disclosure::Proof, true),
        ] {
            let mysql = mysql(Host::Tcp(host.to_owned()));
            let postgres = Endpoint::Postgres(mysql.server().unwrap().clone());
            for (mut endpoint, name) in [(mysql, "MYSQL_PWD"), (postgres, "PGPASSWORD")] {
                if let Endpoint::Mysql(server) | Endpoint::Postgres(server) = &mut endpoint {
                    server.password = server.password.take().map(|it| it.allowing(allowed.clone()));
                }
                let variable = (name, "s3cret".to_owned());
                match endpoint.environment() {
                    Ok(all) => assert!(given && all.contains(&variable), "{endpoint} {allowed:?}"),
                    Err(error) => {
                        let said = error.to_string();
                        assert!(!given && said.contains("=true"), "{endpoint}: {said}");
                        assert!(error.is_request() && !said.contains("s3cret"), "{said}");
                    }
                }
            }
        }
    }
}
