//! The URL of a running server of MySQL or MariaDB: `mysql://user:password@host:3306/database`, or
//! for a socket `mysql://user@/database?socket=/run/mysqld/mysqld.sock`.

use std::path::PathBuf;

use crate::server::Found;
use crate::url::{Url, decoded};
use crate::{Disclosure, Host, Password, Server};

/// The port if a URL names none.
const PORT: u16 = 3306;

pub(crate) fn read_url(system: &'static str, url: &Url<'_>) -> Result<Found, &'static str> {
    // None of the options is a password.
    let options: Vec<String> = url.options.iter().map(|&option| option.to_owned()).collect();
    Ok(Found { system, server: read(url)?, hidden: url.hidden(&options) })
}

/// The file that an option names. A relative path would depend on where the plan is used.
fn file(path: &str) -> Result<PathBuf, &'static str> {
    let path = PathBuf::from(decoded(path)?);
    let absolute = path.is_absolute().then_some(path);
    absolute.ok_or("expected an absolute path in its options, such as /run/mysqld/mysqld.sock")
}

fn read(url: &Url<'_>) -> Result<Server, &'static str> {
    let user = url.user.filter(|user| !user.is_empty()).ok_or("it names no user")?;
    let mut socket = None;
    let mut allowed = Disclosure::Proof;
    for option in &url.options {
        match option.split_once('=') {
            Some(("socket", path)) => socket = Some(file(path)?),
            // The names of the mysql client's options.
            Some(("server-public-key-path", path)) => {
                allowed = Disclosure::Key(file(path)?);
            }
            Some(("get-server-public-key", "true")) => allowed = Disclosure::SentKey,
            _ => {
                return Err("its options can only be socket=FILE, server-public-key-path=FILE \
                     and get-server-public-key=true");
            }
        }
    }
    let (name, port) = url.host()?;
    let host = match socket {
        Some(_) if !name.is_empty() => return Err("it names a host and a socket"),
        Some(path) => Host::Socket(path),
        None if name.is_empty() => return Err("it names no host and no socket"),
        None => Host::Tcp(name),
    };
    if url.database.is_empty() {
        return Err("it names no database");
    }
    let password = url.password.map(decoded).transpose()?;
    Ok(Server {
        host,
        port: port.unwrap_or(PORT),
        user: decoded(user)?,
        password: password.map(|text| Password::new(text).allowing(allowed)),
        database: decoded(url.database)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Form, Reference};

    fn server(text: &str) -> Server {
        let Ok(Reference { form: Form::Running(server), .. }) = text.parse() else {
            panic!("{text} is no server")
        };
        server
    }

    #[test]
    fn urls_lead_to_hosts_and_sockets() {
        let full = server("mysql://me:s%40cret@db:3307/bench");
        assert_eq!((full.host, full.port), (Host::Tcp("db".to_owned()), 3307));
        assert_eq!((full.user.as_str(), full.database.as_str()), ("me", "bench"));
        assert_eq!(full.password.unwrap().reveal(), "s@cret");
        let short = server("mariadb://me@[::1]/bench");
        assert_eq!((short.host, short.port), (Host::Tcp("::1".to_owned()), PORT));
        assert_eq!(short.password, None);
        let socket = server("mysql://me@/bench?socket=/run/s.sock");
        assert_eq!(socket.host, Host::Socket("/run/s.sock".into()));
        let careless = server("mysql://me:p#w'\" :@h/d");
        assert_eq!(careless.password.unwrap().reveal(), "p#w'\" :");
    }

    #[test]
    fn what_a_server_may_learn_is_said_by_name() {
        let allowed = |option: &str| {
            server(&format!("mysql://me:s3cret@h/d{option}")).password.unwrap().allowed().clone()
        };
        assert_eq!(allowed(""), Disclosure::Proof);
        assert_eq!(allowed("?get-server-public-key=true"), Disclosure::SentKey);
        let key = Disclosure::Key("/k y.pem".into());
        assert_eq!(allowed("?server-public-key-path=/k%20y.pem"), key);
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (text, part) in [
            ("mysql://host/bench", "user"),
            ("mysql://me:s3cret@host", "database"),
            ("mysql://me:s3cret@/bench", "host"),
            ("mysql://me:s3cret@h:x/bench", "port"),
            ("mysql://me:s3cret@h/bench?ssl-mode=required", "option"),
            ("mysql://me:s3cret@h/bench?get-server-public-key=1", "get-server-public-key=true"),
            ("mysql://me:s3cret@h/bench?socket=/x", "host and a socket"),
            ("mysql://:s3cret@h/bench", "user"),
            ("mysql://me:s3@cret@h/bench", "%40"),
            ("mysql://me@x:s3cret@h/bench", "%40"),
            ("mysql://me:p/s3cret@h/bench", "%2F"),
            ("mysql://me:s3cret@/bench?socket=run/s.sock", "absolute"),
            ("mysql://me:s3cret@h/bench?server-public-key-path=k.pem", "absolute"),
        ] {
            let error = text.parse::<Reference>().unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("cret"), "{text}: {error}");
        }
    }
}
