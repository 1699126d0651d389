//! The systems with forms of references of their own: one entry each.

use crate::server::Found;
use crate::url::Url;
use crate::{mysql, postgres};

/// A system, as references name it.
pub(crate) struct System {
    /// Its name.
    pub(crate) name: &'static str,
    /// The beginning of its variants' names.
    pub(crate) short: &'static str,
    /// The schemes of its running servers' URLs.
    pub(crate) schemes: &'static [&'static str],
    /// The beginning of the names of its packages and images; empty if there are none.
    packages: &'static str,
    /// Reads such a URL, of the system of this name.
    read: Option<Read>,
}

type Read = fn(&'static str, &Url<'_>) -> Result<Found, &'static str>;

pub(crate) static SYSTEMS: [System; 4] = [
    System {
        name: "postgres",
        short: "pg",
        schemes: &["postgres", "postgresql"],
        packages: "postgres",
        read: Some(postgres::read_url),
    },
    System {
        name: "mysql",
        short: "my",
        schemes: &["mysql"],
        packages: "mysql",
        read: Some(mysql::read_url),
    },
    System {
        name: "mariadb",
        short: "ma",
        schemes: &["mariadb"],
        packages: "mariadb",
        read: Some(mysql::read_url),
    },
    System { name: "rocksdb", short: "rx", schemes: &[], packages: "", read: None },
];

/// The system that a package of Debian or a container image has, by its name, if that says it.
pub fn of_package(name: &str) -> Option<&'static str> {
    let fits = |system: &&System| !system.packages.is_empty() && name.starts_with(system.packages);
    SYSTEMS.iter().find(fits).map(|system| system.name)
}

fn of_scheme(scheme: &str) -> Option<&'static System> {
    SYSTEMS.iter().find(|system| system.schemes.contains(&scheme))
}

/// The URL of a running server to write instead of one with this scheme that can't be read; `None`
/// if no system has such URLs.
pub fn url_form(scheme: &str) -> Option<String> {
    of_scheme(scheme).map(|system| format!("{}://user@host/database", system.name))
}

/// Reads a URL or a connection string; `None` if the text is neither. A text that is one but can't
/// be read gives an error, with the part of it that certainly is not a password.
pub(crate) fn read(text: &str) -> Option<Result<Found, (String, &'static str)>> {
    if postgres::is_connection_string(text) {
        let read = postgres::read_connection_string(text);
        return Some(read.map_err(|problem| ("…".to_owned(), problem)));
    }
    let (scheme, rest) = text.split_once("://")?;
    let system = of_scheme(scheme)?;
    let read = system.read?;
    let url = Url::split(scheme, rest).and_then(|url| read(system.name, &url));
    Some(url.map_err(|problem| (format!("{scheme}://…"), problem)))
}
