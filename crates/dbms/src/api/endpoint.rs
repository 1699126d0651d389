//! The address of a system under test.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use reference::{Host, Password, host_and_port};

use crate::{Error, Transport};

/// Where clients connect. [`fmt::Display`] shows no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A PostgreSQL server.
    Postgres {
        /// The machine or the socket.
        host: Host,
        /// TCP port; for a socket, the number in its name.
        port: u16,
        /// Role to connect as.
        user: String,
        /// Its password, if one is needed.
        password: Option<Password>,
        /// The database.
        database: String,
    },
    /// A MySQL or MariaDB server.
    Mysql {
        /// The machine or the socket.
        host: Host,
        /// TCP port; of no meaning for a socket.
        port: u16,
        /// User to connect as.
        user: String,
        /// Its password, if one is needed.
        password: Option<Password>,
        /// The database.
        database: String,
    },
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
    /// The same server with another database.
    pub fn in_database(mut self, name: &str) -> Endpoint {
        match &mut self {
            Self::Postgres { database, .. } | Self::Mysql { database, .. } => {
                name.clone_into(database);
            }
            Self::Process(_) | Self::Nowhere { .. } => {}
        }
        self
    }

    /// This address, if `transport` is what leads to it.
    ///
    /// # Errors
    /// [`Error::Transport`] if it is another, or none that has a name.
    pub fn only_by(&self, transport: Transport) -> Result<Endpoint, Error> {
        let leads = match self {
            Self::Postgres { host: host @ Host::Tcp(_), .. }
            | Self::Mysql { host: host @ Host::Tcp(_), .. } => {
                host.is_local().then_some(Transport::Loopback)
            }
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
            Self::Postgres { host, port, user, database, .. } => {
                shared_places(host.to_string(), host.to_string(), *port, user, database)
            }
            Self::Mysql { host, port, user, database, .. } => {
                let (name, socket) = mysql_host(host);
                shared_places(name, socket, *port, user, database)
            }
        }
    }

    /// Environment variables with which its usual programs find it, and a password that is not for
    /// command lines.
    ///
    /// # Errors
    /// [`Error::Withheld`] if a password is not for programs either.
    pub fn environment(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let given = |name, host: &Host, password: &Option<Password>| match password {
            None => Ok(None),
            Some(password) => match password.for_program(host.is_local()) {
                Ok(text) => Ok(Some((name, text.to_owned()))),
                Err(withheld) => Err(Error::Withheld { server: self.to_string(), withheld }),
            },
        };
        Ok(match self {
            Self::Process(_) | Self::Nowhere { .. } => Vec::new(),
            Self::Postgres { host, port, user, password, database } => [
                ("PGHOST", host.to_string()),
                ("PGPORT", port.to_string()),
                ("PGUSER", user.clone()),
                ("PGDATABASE", database.clone()),
            ]
            .into_iter()
            .chain(given("PGPASSWORD", host, password)?)
            .collect(),
            // Its programs take user and database from no variable; placeholders have them.
            Self::Mysql { host, port, password, .. } => {
                let (name, socket) = mysql_host(host);
                let socket = (!socket.is_empty()).then_some(("MYSQL_UNIX_PORT", socket));
                [("MYSQL_HOST", name), ("MYSQL_TCP_PORT", port.to_string())]
                    .into_iter()
                    .chain(socket)
                    .chain(given("MYSQL_PWD", host, password)?)
                    .collect()
            }
        })
    }
}

fn shared_places(
    host: String,
    socket: String,
    port: u16,
    user: &str,
    database: &str,
) -> BTreeMap<String, String> {
    [
        ("host", host),
        ("socket", socket),
        ("port", port.to_string()),
        ("user", user.to_owned()),
        ("database", database.to_owned()),
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
        match self {
            Self::Process(socket) => write!(formatter, "a process at {}", socket.display()),
            Self::Nowhere { .. } => formatter.write_str("no DBMS"),
            Self::Mysql { host, port, user, database, .. } => match host {
                Host::Socket(file) => {
                    write!(formatter, "mysql://{user}@/{database}?socket={}", file.display())
                }
                Host::Tcp(name) => {
                    write!(formatter, "mysql://{user}@{}/{database}", host_and_port(name, *port))
                }
            },
            Self::Postgres { host, port, user, database, .. } => match host {
                Host::Socket(_) => {
                    write!(formatter, "postgres://{user}@/{database}?host={host}&port={port}")
                }
                Host::Tcp(name) => {
                    write!(formatter, "postgres://{user}@{}/{database}", host_and_port(name, *port))
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use reference::Disclosure;

    use super::*;

    fn mysql(host: Host) -> Endpoint {
        Endpoint::Mysql {
            host,
            port: 3306,
            user: "me".to_owned(),
            password: Some(Password::new("s3cret")),
            database: "bench".to_owned(),
        }
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
            let Endpoint::Mysql { host, port, user, password, database } = mysql.clone() else {
                panic!("{mysql}")
            };
            let postgres = Endpoint::Postgres { host, port, user, password, database };
            for (mut endpoint, name) in [(mysql, "MYSQL_PWD"), (postgres, "PGPASSWORD")] {
                if let Endpoint::Mysql { password, .. } | Endpoint::Postgres { password, .. } =
                    &mut endpoint
                {
                    *password = password.take().map(|it| it.allowing(allowed.clone()));
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
