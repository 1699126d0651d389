//! A running server.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use crate::Password;

/// Everything that a client needs to reach a running server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The machine or the socket.
    pub host: Host,
    /// TCP port; for a socket, the number in its name, if it has one.
    pub port: u16,
    /// User to connect as.
    pub user: String,
    /// Its password, if one is given.
    pub password: Option<Password>,
    /// The database.
    pub database: String,
}

/// How to reach a server's machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// The file of a unix socket.
    Socket(PathBuf),
    /// A host name or address.
    Tcp(String),
}

impl Host {
    /// True if it is certainly this machine: a socket, or the loopback interface.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Socket(_) => true,
            Self::Tcp(name) => {
                name == "localhost"
                    || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }
        }
    }
}

/// A socket is shown as its directory, the way clients expect it.
impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(file) => file.parent().unwrap_or(file).display().fmt(formatter),
            Self::Tcp(name) => formatter.write_str(name),
        }
    }
}

/// A host and a port as in a URL: an address of IPv6 is in brackets.
///
/// ```
/// assert_eq!(reference::host_and_port("db.example", 5432), "db.example:5432");
/// assert_eq!(reference::host_and_port("::1", 5432), "[::1]:5432");
/// ```
pub fn host_and_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// A reference to a running server.
pub(crate) struct Found {
    /// Its system.
    pub(crate) system: &'static str,
    pub(crate) server: Server,
    /// The reference without the password.
    pub(crate) hidden: String,
}
