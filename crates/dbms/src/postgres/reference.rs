//! Which PostgreSQL: a released version, an installation, one to be built, or a server that already runs.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use semver::{Version, VersionReq};

use super::control::socket_name;
use super::source::Source;
use crate::Error;
use crate::endpoint::{Endpoint, Host, Secret};

/// Which PostgreSQL a plan names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostgresReference {
    /// `postgres@13.7`: a released version.
    Release(Release),
    /// `path:/usr/lib/postgresql/15`: an installation, the directory above `bin`.
    Path(PathBuf),
    /// `git:~/src/postgres#REL_14_3`, `src:postgresql-15.8.tar.bz2`: built from source.
    Source(Source),
    /// `postgres://user@host/database`: a server that already runs.
    Running(Running),
}

/// A released version as asked for: one release or the newest of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    numbers: Vec<u64>,
}

/// A server that already runs.
#[derive(Clone, PartialEq, Eq)]
pub struct Running {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<Secret>,
    pub(crate) database: String,
}

impl Release {
    /// Is this one release (`13.7`, `9.6.24`), as against the newest of a series (`13`, `9.6`)?
    pub fn is_exact(&self) -> bool {
        self.numbers.len() == if self.first() < 10 { 3 } else { 2 }
    }

    /// The archive's number for an exact release; it writes 13.7 as 13.7.0.
    pub(crate) fn exact(&self) -> Option<Version> {
        self.is_exact().then(|| {
            let number = |i: usize| self.numbers.get(i).copied().unwrap_or(0);
            Version::new(number(0), number(1), number(2))
        })
    }

    /// What the archive is asked for.
    pub(crate) fn requirement(&self) -> Result<VersionReq, Error> {
        let text = match self.exact() {
            Some(version) => format!("={version}"),
            None => {
                let parts: Vec<String> = self.numbers.iter().map(u64::to_string).collect();
                format!("={}", parts.join("."))
            }
        };
        VersionReq::parse(&text)
            .map_err(|error| bad(&format!("postgres@{self}"), &format!("not a version: {error}")))
    }

    /// First number, the major version from 10 on.
    pub(crate) fn first(&self) -> u64 {
        self.numbers.first().copied().unwrap_or(0)
    }

    /// All numbers as given.
    pub(crate) fn numbers(&self) -> &[u64] {
        &self.numbers
    }
}

impl FromStr for Release {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let whole = || format!("postgres@{text}");
        if text.is_empty() {
            return Err(bad(&whole(), "the version is missing"));
        }
        let numbers = text
            .split('.')
            .map(|part| {
                let digits = part.chars().all(|c| c.is_ascii_digit());
                part.parse().ok().filter(|n| digits && *n < 100_000)
            })
            .collect::<Option<Vec<u64>>>()
            .ok_or_else(|| bad(&whole(), "a version is numbers with dots"))?;
        let release = Self { numbers };
        let longest = if release.first() < 10 { 3 } else { 2 };
        if release.numbers.len() > longest {
            return Err(bad(
                &whole(),
                &format!("versions of that series have at most {longest} numbers"),
            ));
        }
        Ok(release)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, number) in self.numbers.iter().enumerate() {
            if i > 0 {
                formatter.write_str(".")?;
            }
            write!(formatter, "{number}")?;
        }
        Ok(())
    }
}

impl FromStr for PostgresReference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Running::parse(text).map(Self::Running);
        }
        if let Some(path) =
            text.strip_prefix("path:").or_else(|| text.strip_prefix("postgres@path:"))
        {
            if path.is_empty() {
                return Err(bad(text, "the path is missing"));
            }
            return Ok(Self::Path(PathBuf::from(path)));
        }
        if let Some(source) = Source::parse(text)? {
            return Ok(Self::Source(source));
        }
        match text.strip_prefix("postgres@") {
            Some(version) => version.parse().map(Self::Release),
            None => Err(bad(&without_credentials(text), "it begins with nothing known")),
        }
    }
}

impl fmt::Display for PostgresReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release(release) => write!(formatter, "postgres@{release}"),
            Self::Path(path) => write!(formatter, "path:{}", path.display()),
            Self::Source(source) => source.fmt(formatter),
            Self::Running(running) => running.fmt(formatter),
        }
    }
}

impl Running {
    /// Reads a connection URL. What it says of TLS must not require it.
    fn parse(text: &str) -> Result<Self, Error> {
        // The parser's own message may repeat parts of the text, so only its kind is passed on.
        let problem = |what: &str| bad("postgres://…", what);
        let config: postgres::Config = text.parse().map_err(|_| {
            problem("it is not a valid connection URL (percent-encode special characters)")
        })?;
        if config.get_ssl_mode() == postgres::config::SslMode::Require {
            return Err(Error::Unsupported {
                what: "TLS to a running server".to_owned(),
                remedy: "use a unix socket, a private network or a tunnel, with sslmode=prefer"
                    .to_owned(),
            });
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
        Ok(Self {
            host,
            port,
            database: config.get_dbname().unwrap_or(&user).to_owned(),
            user,
            password,
        })
    }

    /// Where clients connect.
    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint::Postgres {
            host: self.host.clone(),
            port: self.port,
            user: self.user.clone(),
            password: self.password.clone(),
            database: self.database.clone(),
        }
    }
}

impl fmt::Display for Running {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.endpoint().fmt(formatter)
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Running({self})")
    }
}

pub(super) fn bad(given: &str, problem: &str) -> Error {
    Error::Reference { given: given.to_owned(), problem: problem.to_owned() }
}

/// A text that may be a mistyped URL, without what could be a password in it.
fn without_credentials(text: &str) -> String {
    if text.contains("://") || text.contains("password") {
        text.split("://")
            .next()
            .filter(|scheme| scheme.len() < 20 && !scheme.contains('='))
            .map_or_else(|| "…".to_owned(), |scheme| format!("{scheme}://…"))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> PostgresReference {
        text.parse().unwrap()
    }

    fn error(text: &str) -> String {
        text.parse::<crate::Reference>().unwrap_err().to_string()
    }

    #[test]
    fn releases() {
        let PostgresReference::Release(exact) = parse("postgres@13.7") else { panic!("a release") };
        assert_eq!(exact.exact(), Some(Version::new(13, 7, 0)));
        assert_eq!(exact.requirement().unwrap().to_string(), "=13.7.0");
        let PostgresReference::Release(series) = parse("postgres@14") else { panic!("a release") };
        assert_eq!(series.exact(), None);
        assert!(series.requirement().unwrap().matches(&Version::new(14, 3, 0)));
        assert!(!series.requirement().unwrap().matches(&Version::new(15, 0, 0)));
        let PostgresReference::Release(old) = parse("postgres@9.6") else { panic!("a release") };
        assert!(!old.is_exact());
        assert!(old.requirement().unwrap().matches(&Version::new(9, 6, 24)));
        assert!(!old.requirement().unwrap().matches(&Version::new(9, 5, 1)));
    }

    #[test]
    fn paths_and_urls() {
        assert_eq!(
            parse("path:/usr/lib/postgresql/15"),
            PostgresReference::Path("/usr/lib/postgresql/15".into())
        );
        let url = parse("postgres://me:s3cret@db.example:5433/bench");
        assert_eq!(url.to_string(), "postgres://me@db.example:5433/bench");
        assert!(!format!("{url:?}").contains("s3cret"));
        let PostgresReference::Running(socket) = parse("postgresql://me@%2Ftmp%2Fs/bench") else {
            panic!("a server")
        };
        assert_eq!(socket.host, Host::Socket("/tmp/s/.s.PGSQL.5432".into()));
    }

    #[test]
    fn sources_take_build_options_and_nothing_else_does() {
        let options =
            || crate::BuildOptions { cflags: "-O3".to_owned(), ..crate::BuildOptions::default() };
        let with = |text: &str| text.parse::<crate::Reference>().unwrap().with_build(options());
        let crate::Reference::Postgres(PostgresReference::Source(source)) =
            with("git:~/src/postgres#REL_14_3").unwrap()
        else {
            panic!("a source")
        };
        assert_eq!(source.options.cflags, "-O3");
        for other in ["postgres@14.3", "path:/opt/pg", "postgres://me:s3cret@host/db"] {
            let said = with(other).unwrap_err().to_string();
            assert!(said.contains("from source") && !said.contains("s3cret"), "{said}");
        }
        let own = crate::BuildOptions {
            configure: vec!["--prefix=/x".to_owned()],
            ..crate::BuildOptions::default()
        };
        let refused = "git:/x#y".parse::<crate::Reference>().unwrap().with_build(own);
        assert!(matches!(refused, Err(Error::BuildOption { .. })));
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        assert!(error("postgres@git:#master").contains("repository"));
        assert!(error("mysql@8.0").contains("mysql"));
        assert!(error("rocksdb@9").contains("rocksdb"));
        assert!(error("postgres@").contains("missing"));
        assert!(error("postgres@13.x").contains("numbers"));
        assert!(error("postgres@13.7.1").contains("at most 2"));
        assert!(error("oracle").contains("postgres@13.7"));
        assert!(error("postgres://me:s3cret@h/db?sslmode=require").contains("TLS"));
        assert!(!error("postgres://me:s3cret@h/db?nonsense=1").contains("s3cret"));
        assert!(!error("postgre://me:s3cret@h/db").contains("s3cret"));
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC*") {
            let _ = text.parse::<crate::Reference>();
        }

        #[test]
        fn near_misses_never_panic(text in "(postgres(ql)?(@|://|:)|path:|git:)?[0-9a-z.:@/%?=&#]{0,30}") {
            let _ = text.parse::<crate::Reference>();
        }

        #[test]
        fn what_is_displayed_parses_to_the_same(a in 10_u64..40, b in 0_u64..40, exact: bool) {
            let text = if exact { format!("postgres@{a}.{b}") } else { format!("postgres@{a}") };
            let reference: crate::Reference = text.parse().unwrap();
            prop_assert_eq!(reference.to_string(), text);
        }

        #[test]
        fn passwords_never_show(password in "[A-Z]{8,20}", user in "[a-z]{1,8}", tail in "[a-z0-9/?=&]{0,12}") {
            let text = format!("postgres://{user}:{password}@host/{tail}");
            let shown = match text.parse::<crate::Reference>() {
                Ok(reference) => format!("{reference} {reference:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            prop_assert!(!shown.contains(&password));
        }
    }
}
