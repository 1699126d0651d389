//! A running server of PostgreSQL, as libpq's clients name it: a URL, or a connection string such
//! as `host=db user=me dbname=bench`.

use std::net::IpAddr;
use std::ops::Range;
use std::path::Path;

use crate::server::Found;
use crate::url::{Url, decoded, number};
use crate::{Disclosure, HIDDEN, Host, Password, Server};

/// The port if none is named.
const PORT: u16 = 5432;

/// Keys that say where the server is, and who connects.
const KEYS: [&str; 8] =
    ["host", "hostaddr", "port", "user", "password", "dbname", "sslmode", "allow_cleartext"];

/// Keys that libpq also knows and that change nothing here.
const IGNORED: [&str; 12] = [
    "application_name",
    "options",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
    "sslnegotiation",
];

const SEVERAL: &str = "it names several hosts; a variant is one server";

/// The facts about a server read so far.
#[derive(Default)]
struct Said {
    host: Option<String>,
    address: Option<IpAddr>,
    port: Option<u16>,
    user: Option<String>,
    password: Option<String>,
    database: Option<String>,
    allowed: Disclosure,
}

impl Said {
    fn take(&mut self, key: &str, value: String) -> Result<(), &'static str> {
        match key {
            "host" if self.host.is_some() || value.contains(',') => return Err(SEVERAL),
            "host" => self.host = Some(value),
            "hostaddr" if self.address.is_some() || value.contains(',') => return Err(SEVERAL),
            "hostaddr" => {
                self.address = Some(value.parse().map_err(|_| "its hostaddr is not an address")?);
            }
            "port" if value.is_empty() => {}
            "port" => self.port = Some(number(&value)?),
            "user" => self.user = Some(value),
            "password" => self.password = Some(value),
            "dbname" => self.database = Some(value),
            "sslmode" if ["disable", "allow", "prefer"].contains(&value.as_str()) => {}
            "sslmode" => {
                return Err("TLS to a running server is not supported; use a unix socket, a \
                     private network or a tunnel, with sslmode=prefer");
            }
            "allow_cleartext" if value == "true" => self.allowed = Disclosure::Cleartext,
            "allow_cleartext" => {
                return Err("allow_cleartext can only be true");
            }
            key if IGNORED.contains(&key) => {}
            _ => return Err("it has an option that steelyard does not know"),
        }
        Ok(())
    }

    fn server(self) -> Result<Server, &'static str> {
        let port = self.port.unwrap_or(PORT);
        let host = match (self.address, self.host) {
            (Some(address), _) => Host::Tcp(address.to_string()),
            (None, Some(host)) if host.starts_with('/') => {
                Host::Socket(Path::new(&host).join(postgres_socket(port)))
            }
            (None, Some(host)) if !host.is_empty() => Host::Tcp(host),
            _ => return Err("it names no host"),
        };
        let user = self.user.filter(|user| !user.is_empty()).ok_or("it names no user")?;
        Ok(Server {
            host,
            port,
            password: self.password.map(|text| Password::new(text).allowing(self.allowed)),
            database: self.database.unwrap_or_else(|| user.clone()),
            user,
        })
    }
}

/// The file of a server's unix socket in its directory.
pub fn postgres_socket(port: u16) -> String {
    format!(".s.PGSQL.{port}")
}

/// Reads `postgres://user:password@host:5432/database?option=value`.
pub(crate) fn read_url(system: &'static str, url: &Url<'_>) -> Result<Found, &'static str> {
    let mut said = Said::default();
    if let Some(user) = url.user {
        said.take("user", decoded(user)?)?;
    }
    if let Some(password) = url.password {
        said.take("password", decoded(password)?)?;
    }
    if url.place.contains(',') {
        return Err(SEVERAL);
    }
    let (host, port) = url.host()?;
    if !host.is_empty() {
        said.take("host", host)?;
    }
    said.port = port;
    if !url.database.is_empty() {
        said.take("dbname", decoded(url.database)?)?;
    }
    let mut options = Vec::new();
    for option in &url.options {
        let (key, value) = option.split_once('=').ok_or("one of its options has no value")?;
        let name = decoded(key)?;
        let secret = name == "password";
        said.take(&name, decoded(value)?)?;
        options.push(if secret { format!("{key}={HIDDEN}") } else { (*option).to_owned() });
    }
    Ok(Found { system, server: said.server()?, hidden: url.hidden(&options) })
}

/// True if a text begins like a connection string. Otherwise it may name something else.
pub(crate) fn is_connection_string(text: &str) -> bool {
    let key = text.split('=').next().map(str::trim_end);
    text.contains('=') && key.is_some_and(|key| KEYS.contains(&key) || IGNORED.contains(&key))
}

/// True if a whole text is a connection string of more than one pair.
pub(crate) fn is_whole_connection_string(text: &str) -> bool {
    let known = |pair: &Pair<'_>| KEYS.contains(&pair.key) || IGNORED.contains(&pair.key);
    pairs(text).is_ok_and(|pairs| pairs.len() > 1 && pairs.iter().all(known))
}

/// Reads `host=db user=me password='it\'s' dbname=bench`.
pub(crate) fn read_connection_string(text: &str) -> Result<Found, &'static str> {
    let mut said = Said::default();
    let mut hidden = String::new();
    let mut from = 0;
    for Pair { key, value, place } in pairs(text)? {
        if key == "password" {
            hidden.push_str(&text[from..place.start]);
            hidden.push_str(HIDDEN);
            from = place.end;
        }
        said.take(key, value)?;
    }
    hidden.push_str(&text[from..]);
    Ok(Found { system: "postgres", server: said.server()?, hidden })
}

/// One of a connection string's pairs.
struct Pair<'a> {
    key: &'a str,
    value: String,
    /// Where the value is, with its quotes.
    place: Range<usize>,
}

/// The pairs of a connection string (libpq's manual, "Keyword/Value Connection Strings").
fn pairs(text: &str) -> Result<Vec<Pair<'_>>, &'static str> {
    let blank = |c: char| c.is_ascii_whitespace();
    let past = |at: usize| text.len() - text[at..].trim_start_matches(blank).len();
    let mut pairs = Vec::new();
    let mut at = past(0);
    while at < text.len() {
        let end = text[at..].find(|c| blank(c) || c == '=').map_or(text.len(), |end| at + end);
        let key = &text[at..end];
        let sign = past(end);
        if key.is_empty() || !text[sign..].starts_with('=') {
            return Err("it is not a connection string of pairs such as host=db");
        }
        let start = past(sign + 1);
        let quoted = text[start..].starts_with('\'');
        let mut value = String::new();
        let mut escaped = false;
        let mut chars = text[start..].char_indices().skip(usize::from(quoted));
        let end = chars.find_map(|(offset, c)| {
            let ends = if quoted { c == '\'' } else { blank(c) };
            match (escaped, c) {
                (false, '\\') => escaped = true,
                (false, _) if ends => return Some(start + offset + usize::from(quoted)),
                _ => {
                    escaped = false;
                    value.push(c);
                }
            }
            None
        });
        if quoted && end.is_none() {
            return Err("a quote in it is open");
        }
        at = end.unwrap_or(text.len());
        if !quoted && at == start {
            return Err("one of its values is missing; an empty one is ''");
        }
        pairs.push(Pair { key, value, place: start..at });
        at = past(at);
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use postgres::Config;
    use postgres::config::Host as TheirHost;
    use proptest::prelude::*;

    use super::*;
    use crate::{Form, Reference};

    fn server(text: &str) -> Server {
        match text.parse::<Reference>().map(|found| found.form) {
            Ok(Form::Running(server)) => server,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn urls_and_connection_strings_lead_to_servers() {
        let url = server(
            "postgres://me:s%40cret@db:5433/bench?application_name=a@b"
                .trim_end_matches("?application_name=a@b"),
        );
        let text = server(r"host = db port=5433 user=me password='s@cret' dbname=bench");
        assert_eq!(url, text);
        assert_eq!(url.password.unwrap().reveal(), "s@cret");
        let socket = server("postgresql://me@%2Ftmp%2Fs/bench");
        assert_eq!(socket.host, Host::Socket("/tmp/s/.s.PGSQL.5432".into()));
        assert_eq!(server("host=/tmp/s user=me dbname=bench"), socket);
        assert_eq!(server("postgres://me@/bench?host=/tmp/s"), socket);
        assert_eq!(server("postgres://me@h").database, "me");
        let careless = server("postgres://me:p#w'\" :@h/d");
        assert_eq!(careless.password.unwrap().reveal(), "p#w'\" :");
        let careless = server("postgres://me@db:5432/x?password=p@ss/w");
        assert_eq!(careless.password.unwrap().reveal(), "p@ss/w");
        let other_blank = server("host=h user=me password=a\u{a0}b");
        assert_eq!(other_blank.password.unwrap().reveal(), "a\u{a0}b");
        let escaped = server(r"host=h user=me password=it\'s\ it");
        assert_eq!(escaped.password.unwrap().reveal(), "it's it");
        let cleartext = server("host=h user=me password=x allow_cleartext=true");
        assert_eq!(cleartext.password.unwrap().allowed(), &Disclosure::Cleartext);
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (text, part) in [
            ("postgres://host/bench", "user"),
            ("postgres://me:s3cret@/bench", "host"),
            ("postgres://me:s3cret@h:x/bench", "port"),
            ("postgres://me:s3cret@h/bench?sslmode=verify-full", "TLS"),
            ("postgres://me:s3cret@h/bench?nonsense=1", "option"),
            ("postgres://me:s3cret@h/bench?allow_cleartext=maybe", "true"),
            ("postgres://me:s3cret@h,i/bench", "several"),
            ("postgres://me:s3@cret@h/bench", "%40"),
            ("postgres://db/x?user=me&password=p@s3cret", "%40"),
            ("postgres://db:5432/x?user=me&password=p@s3cret", "%40"),
            ("postgres://db?user=me&password=p@s3cret", "%40"),
            ("postgresql:///x?host=/run&user=me&password=p@s3cret", "%40"),
            ("postgres://[::1]:5432/x?user=me&password=p@s3/cret", "%40"),
            ("user=me password=s3cret", "host"),
            ("host=h user=me password='s3cret", "quote"),
            ("host=h user=me password=s3cret steelyard=on", "option"),
            ("host=h user=me password=s3cret so", "pairs"),
        ] {
            let error = text.parse::<Reference>().unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("cret"), "{text}: {error}");
        }
    }

    proptest! {
        /// Texts that both can read, they read alike.
        #[test]
        fn the_client_library_agrees(
            url in "postgres(ql)?://[a-z%4:@/?#&=, '.1]{0,20}(@h/d)?",
            pairs in "((host|port|user|password|dbname|hostaddr) ?= ?('?[a-z1/\\\\' ]{0,6}'?) ){0,5}",
        ) {
            for text in [url, pairs] {
                let (Some(Ok(ours)), Ok(theirs)) = (crate::systems::read(&text), text.parse::<Config>())
                else { continue };
                let ours = ours.server;
                let password = ours.password.as_ref().map(|it| it.reveal().as_bytes());
                prop_assert_eq!(password, theirs.get_password(), "{}", text);
                prop_assert_eq!(Some(ours.user.as_str()), theirs.get_user(), "{}", text);
                let database = theirs.get_dbname().unwrap_or(&ours.user);
                prop_assert_eq!(&ours.database, database, "{}", text);
                prop_assert!(theirs.get_hosts().len() <= 1, "{}", text);
                match (theirs.get_hosts().first(), theirs.get_hostaddrs().first()) {
                    (_, Some(address)) => prop_assert_eq!(ours.host, Host::Tcp(address.to_string())),
                    (Some(TheirHost::Tcp(name)), None) => prop_assert_eq!(ours.host, Host::Tcp(name.clone())),
                    (Some(TheirHost::Unix(path)), None) => {
                        let ours = ours.host.to_string();
                        prop_assert_eq!(Path::new(&ours), path);
                    }
                    (None, None) => prop_assert!(false, "{}: no host", text),
                }
            }
        }
    }
}
