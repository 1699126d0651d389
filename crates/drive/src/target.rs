//! Where the load goes.

use std::fmt;
use std::path::PathBuf;

/// A system under test that clients connect to.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// The variant's name, for messages.
    pub name: String,
    /// Where it listens.
    pub address: Address,
    /// The user to connect as.
    pub user: String,
    /// The password, where the server asks for one.
    pub password: Option<String>,
    /// The database to connect to.
    pub database: String,
}

/// A server's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// The socket file of a PostgreSQL server, for example `/run/x/.s.PGSQL.5432`.
    Unix(PathBuf),
    /// A host name or address and a port.
    Tcp(String, u16),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "socket {}", path.display()),
            Address::Tcp(host, port) => write!(f, "{host}:{port}"),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not derived, so that a password can't end up in a log.
        f.debug_struct("Target")
            .field("name", &self.name)
            .field("address", &self.address)
            .field("user", &self.user)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}
