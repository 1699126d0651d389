//! The URL of a running server: `mysql://user:password@host:3306/database`, or for a socket
//! `mysql://user@/database?socket=/run/mysqld/mysqld.sock`.

use percent_encoding::percent_decode_str;

use super::flavor::Flavor;
use crate::{Endpoint, Error, Host, Secret};

/// The port if a URL names none.
const PORT: u16 = 3306;

/// Reads a connection URL; `None` if it is not one of this system.
pub(super) fn read(flavor: &Flavor, text: &str) -> Option<Result<Endpoint, Error>> {
    let rest = text.strip_prefix(flavor.scheme)?;
    // Parts of the text may be a password, so they are not repeated.
    Some(
        endpoint(rest).map_err(|problem| Error::reference(&format!("{}…", flavor.scheme), problem)),
    )
}

fn endpoint(rest: &str) -> Result<Endpoint, &'static str> {
    let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
    let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, place) = place.rsplit_once('@').ok_or("it names no user")?;
    let (user, password) = match user.split_once(':') {
        Some((user, password)) => (user, Some(Secret::new(decoded(password)?))),
        None => (user, None),
    };
    if user.is_empty() {
        return Err("it names no user");
    }
    let mut socket = None;
    for option in options.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some(("socket", path)) => socket = Some(decoded(path)?),
            _ => return Err("it has an option other than socket"),
        }
    }
    // An address of IPv6 is in brackets.
    let (name, port) = match place.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => {
            (name, port.parse().map_err(|_| "its port is not a number up to 65535")?)
        }
        _ => (place, PORT),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let host = match socket {
        Some(_) if !name.is_empty() => return Err("it names a host and a socket"),
        Some(path) => Host::Socket(path.into()),
        None if name.is_empty() => return Err("it names no host and no socket"),
        None => Host::Tcp(name.to_owned()),
    };
    if database.is_empty() {
        return Err("it names no database");
    }
    Ok(Endpoint::Mysql { host, port, user: decoded(user)?, password, database: decoded(database)? })
}

fn decoded(text: &str) -> Result<String, &'static str> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(std::borrow::Cow::into_owned).map_err(|_| "it is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::super::flavor::{MARIADB, MYSQL};
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> Result<String, String> {
        match read(&MYSQL, text).unwrap() {
            Ok(endpoint) => Ok(endpoint.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn urls_lead_to_hosts_and_sockets() {
        for (text, expected) in [
            ("mysql://me:s%40cret@db:3307/bench", "mysql://me@db:3307/bench"),
            ("mysql://me@db/bench", "mysql://me@db:3306/bench"),
            ("mysql://me@/bench?socket=/run/s.sock", "mysql://me@/bench?socket=/run/s.sock"),
        ] {
            assert_eq!(shown(text).unwrap(), expected);
            assert_eq!(shown(expected).unwrap(), expected, "it is read again");
        }
        let Some(Ok(Endpoint::Mysql { password, .. })) = read(&MYSQL, "mysql://me:s%40cret@h/d")
        else {
            panic!("an address")
        };
        assert_eq!(password.unwrap().reveal(), "s@cret");
        assert!(read(&MARIADB, "mysql://me@h/d").is_none());
        assert!(read(&MARIADB, "mariadb://me@h/d").unwrap().is_ok());
        assert!(read(&MYSQL, "postgres://me@h/d").is_none());
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (text, part) in [
            ("mysql://host/bench", "user"),
            ("mysql://me:s3cret@host", "database"),
            ("mysql://me:s3cret@/bench", "host"),
            ("mysql://me:s3cret@h:x/bench", "port"),
            ("mysql://me:s3cret@h/bench?ssl-mode=required", "option"),
            ("mysql://me:s3cret@h/bench?socket=/x", "host and a socket"),
            ("mysql://:s3cret@h/bench", "user"),
        ] {
            let error = shown(text).unwrap_err();
            assert!(error.contains(part) && !error.contains("s3cret"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[a-z0-9:@/?=&%\\[\\]]{0,40}") {
            let _ = read(&MYSQL, &format!("mysql://{text}"));
        }
    }
}
