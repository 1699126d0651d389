//! The URL of a running server.

use super::control::socket_name;
use crate::{Endpoint, Error, Host, Secret};

/// Reads a connection URL; `None` if it is not one of PostgreSQL's. It must not require TLS.
pub(super) fn read(text: &str) -> Option<Result<Endpoint, Error>> {
    let ours = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    ours.then(|| endpoint(text))
}

fn endpoint(text: &str) -> Result<Endpoint, Error> {
    // The parser's own message may repeat parts of the text, so it is not passed on.
    let problem = |what: &str| Error::reference("postgres://…", what);
    let config: postgres::Config = text.parse().map_err(|_| {
        problem("it is not a valid connection URL (percent-encode special characters)")
    })?;
    if config.get_ssl_mode() == postgres::config::SslMode::Require {
        return Err(Error::unsupported(
            "TLS to a running server",
            "use a unix socket, a private network or a tunnel, with sslmode=prefer",
        ));
    }
    if config.get_hosts().len() > 1 || config.get_hostaddrs().len() > 1 {
        return Err(problem("it names several hosts; a variant is one server"));
    }
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let host = match (config.get_hosts().first(), config.get_hostaddrs().first()) {
        (_, Some(address)) => Host::Tcp(address.to_string()),
        (Some(postgres::config::Host::Tcp(name)), None) => Host::Tcp(name.clone()),
        (Some(postgres::config::Host::Unix(path)), None) => {
            Host::Socket(path.join(socket_name(port)))
        }
        (None, None) => return Err(problem("it names no host")),
    };
    let user = config.get_user().ok_or_else(|| problem("it names no user"))?.to_owned();
    let password = match config.get_password() {
        None => None,
        Some(bytes) => {
            let text =
                std::str::from_utf8(bytes).map_err(|_| problem("its password is not UTF-8"))?;
            Some(Secret::new(text))
        }
    };
    Ok(Endpoint::Postgres {
        host,
        port,
        database: config.get_dbname().unwrap_or(&user).to_owned(),
        user,
        password,
    })
}
