//! A running server, and what its URL consists of.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use crate::{Password, mysql, postgres};

/// What a client needs to reach a running server.
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
    /// Whether it is certainly this machine: a socket, or the loopback interface.
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

/// Reads a URL or a connection string; `None` if the text is neither. A text that is one but can't
/// be read has an error, with so much of it as certainly is no password.
pub(crate) fn read(text: &str) -> Option<Result<Found, (String, &'static str)>> {
    if postgres::is_connection_string(text) {
        let read = postgres::read_connection_string(text);
        return Some(read.map_err(|problem| ("…".to_owned(), problem)));
    }
    let (scheme, rest) = text.split_once("://")?;
    let read = match scheme {
        "postgres" | "postgresql" => postgres::read_url,
        "mysql" => mysql::read_mysql,
        "mariadb" => mysql::read_mariadb,
        _ => return None,
    };
    let url = Url::split(scheme, rest).and_then(|url| read(&url));
    Some(url.map_err(|problem| (format!("{scheme}://…"), problem)))
}

/// The parts of a URL, as they are written.
pub(crate) struct Url<'a> {
    scheme: &'a str,
    pub(crate) user: Option<&'a str>,
    pub(crate) password: Option<&'a str>,
    /// Host and port.
    pub(crate) place: &'a str,
    pub(crate) database: &'a str,
    pub(crate) options: Vec<&'a str>,
    /// All that follows the user's part.
    rest: &'a str,
}

impl<'a> Url<'a> {
    /// Takes apart what follows the scheme. A careless password may have any character in it but
    /// these: of several `@`, parsers disagree about which one ends it, and some (libpq, the `url`
    /// crate) also end the user's part at a `/` or `?`.
    fn split(scheme: &'a str, text: &'a str) -> Result<Self, &'static str> {
        let (user, password, rest) = match (text.find(':'), text.find('@')) {
            (_, None) => (None, None, text),
            (Some(colon), Some(at)) if colon < at => {
                (Some(&text[..colon]), Some(&text[colon + 1..at]), &text[at + 1..])
            }
            (_, Some(at)) => (Some(&text[..at]), None, &text[at + 1..]),
        };
        let (target, options) = rest.split_once('?').unwrap_or((rest, ""));
        let before = &text[..text.len() - rest.len()];
        let careless = if password.is_some() { rest } else { target };
        if before.contains(['/', '?']) || careless.contains('@') {
            return Err("where its user and password end is unclear; in these, in the database \
                 and in options, write `@` as %40, `/` as %2F and `?` as %3F");
        }
        let (place, database) = target.split_once('/').unwrap_or((target, ""));
        let options = options.split('&').filter(|option| !option.is_empty()).collect();
        Ok(Self { scheme, user, password, place, database, options, rest })
    }

    /// Name and port of the host. An address of IPv6 is in brackets.
    pub(crate) fn host(&self) -> Result<(String, Option<u16>), &'static str> {
        let (name, port) = match self.place.strip_prefix('[') {
            Some(rest) => {
                let (name, port) = rest.split_once(']').ok_or("a bracket of its host is open")?;
                match port.strip_prefix(':') {
                    Some(port) => (name, Some(port)),
                    None if port.is_empty() => (name, None),
                    None => return Err("something follows the brackets of its host"),
                }
            }
            None => match self.place.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (self.place, None),
            },
        };
        let name = decoded(name)?;
        if name.contains(|c: char| c.is_whitespace() || c.is_control() || "'\"#@\\".contains(c)) {
            return Err("its host is not a name or an address");
        }
        if name.is_empty() && port.is_some() {
            return Err("it names a port and no host");
        }
        Ok((name, port.map(|port| number(&decoded(port)?)).transpose()?))
    }

    /// The URL without the password of the user's part, and with these options.
    pub(crate) fn hidden(&self, options: &[String]) -> String {
        let Self { scheme, rest, .. } = self;
        let user = self.user.map(|user| format!("{user}@")).unwrap_or_default();
        let target = rest.split('?').next().unwrap_or_default();
        let options =
            if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) };
        format!("{scheme}://{user}{target}{options}")
    }
}

/// A port.
pub(crate) fn number(text: &str) -> Result<u16, &'static str> {
    text.parse().map_err(|_| "its port is not a number up to 65535")
}

/// A text whose special characters are percent-encoded.
pub(crate) fn decoded(text: &str) -> Result<String, &'static str> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(std::borrow::Cow::into_owned).map_err(|_| "it is not UTF-8")
}
