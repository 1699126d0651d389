//! Where a system under test is reached.

use std::fmt;
use std::path::PathBuf;

/// A password or the like; [`fmt::Debug`] hides it and there is no [`fmt::Display`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, to be sent to the server and nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// How to reach a server's machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// The file of a unix socket.
    Socket(PathBuf),
    /// A host name or address.
    Tcp(String),
}

/// Where clients connect. [`fmt::Display`] shows no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A PostgreSQL server.
    Postgres {
        /// The machine or the socket.
        host: Host,
        /// TCP port; of a socket the number in its name.
        port: u16,
        /// Role to connect as.
        user: String,
        /// Its password, if one is needed.
        password: Option<Secret>,
        /// The database.
        database: String,
    },
    /// The socket at which a process takes loads that has the engine in it.
    Process(PathBuf),
}

impl Endpoint {
    /// The same server, another of its databases.
    pub fn in_database(mut self, name: &str) -> Endpoint {
        match &mut self {
            Self::Postgres { database, .. } => name.clone_into(database),
            Self::Process(_) => {}
        }
        self
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(socket) => write!(formatter, "a process at {}", socket.display()),
            Self::Postgres { host, port, user, database, .. } => match host {
                Host::Socket(file) => {
                    let directory = file.parent().unwrap_or(file).display();
                    write!(formatter, "postgres://{user}@/{database}?host={directory}&port={port}")
                }
                Host::Tcp(name) => write!(formatter, "postgres://{user}@{name}:{port}/{database}"),
            },
        }
    }
}
