//! Reads a reference to a running server.

use crate::server::Found;
use crate::url::Url;
use crate::{mysql, postgres};

/// Reads a URL or a connection string; `None` if the text is neither. A text that is one but can't
/// be read gives an error, with the part of it that certainly is not a password.
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
