//! Reads a plan's `dbms = "…"`: a kind of system, and a release, an installation, a source or a
//! running server.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use reference::{Form as ParsedForm, Image, Package, Reference as ParsedReference};

use crate::obtain::release::Release;
use crate::obtain::source::Source;
use crate::{BuildOptions, Endpoint, Error, Kind, systems};

/// A system under test, as named in a plan. [`fmt::Display`] prints the text without any password.
#[derive(Clone, Debug)]
pub struct Reference {
    pub(crate) kind: &'static dyn Kind,
    pub(crate) form: Form,
}

/// Which system of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `none`: there is only one of its kind.
    Alone,
    /// `postgres@13.7`: a released version.
    Release(Release),
    /// `path:/usr/lib/postgresql/15`: an installation, the directory above `bin`.
    Path(PathBuf),
    /// `deb:postgresql-17`: a package of the machine's own distribution.
    Package(Package),
    /// `image:postgres:17.2`: a container image.
    Image(Image),
    /// `git:~/src/postgres#REL_14_3`, `src:postgresql-15.8.tar.bz2`: built from source.
    Source(Source),
    /// `postgres://user@host/database`: a running server.
    Running(Endpoint),
}

impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let ParsedReference { system, form } = text.parse()?;
        let unknown = || {
            let names: Vec<&str> = systems::SYSTEMS.iter().map(|kind| kind.name()).collect();
            let problem = format!("the systems of this version are: {}", names.join(", "));
            Error::reference(&reference::hidden(text), &problem)
        };
        let kind = systems::find(&system).ok_or_else(unknown)?;
        let form = match form {
            ParsedForm::Alone if kind.stands_alone() => Form::Alone,
            ParsedForm::Alone => return Err(unknown()),
            ParsedForm::Release(version) => Form::Release(Release::parse(kind, &version)?),
            ParsedForm::Path(path) => Form::Path(path),
            ParsedForm::Package(package) => Form::Package(package),
            ParsedForm::Image(image) => Form::Image(image),
            ParsedForm::Source(tree) => {
                Form::Source(Source { tree, options: BuildOptions::default() })
            }
            ParsedForm::Running(server) => {
                let lacks = || kind.lacks("attaching to a running one");
                Form::Running(kind.endpoint(server).ok_or_else(lacks)?)
            }
        };
        Ok(Self { kind, form })
    }
}

impl Reference {
    /// The same, built with `options`.
    ///
    /// # Errors
    /// [`Error::Reference`] if it is not built from source, [`Error::BuildOption`] for options that
    /// steelyard must choose.
    pub fn with_build(mut self, options: BuildOptions) -> Result<Self, Error> {
        options.check()?;
        let Form::Source(source) = &mut self.form else {
            return Err(Error::reference(
                &self.to_string(),
                "it is not built from source, so `build` does not apply; remove `build`, or name a repository or tarball (git:PATH#COMMIT, src:FILE)",
            ));
        };
        source.options = options;
        Ok(self)
    }

    /// What tells it from others whose programs have to be obtained: its text, and how it is built.
    /// `None` if there is nothing to obtain, as for a path and a running server.
    pub fn program(&self) -> Option<String> {
        match &self.form {
            Form::Source(source) => Some(format!("{self} {:?}", source.options)),
            Form::Release(_) | Form::Package(_) | Form::Image(_) => Some(self.to_string()),
            Form::Alone | Form::Path(_) | Form::Running(_) => None,
        }
    }

    /// Checks that programs can log in to it, as far as that is known without it.
    ///
    /// # Errors
    /// [`Error::Withheld`].
    pub fn check_programs(&self) -> Result<(), Error> {
        match &self.form {
            Form::Running(endpoint) => endpoint.environment().map(drop),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.kind.name();
        match &self.form {
            Form::Alone => formatter.write_str(name),
            Form::Release(release) => write!(formatter, "{name}@{release}"),
            Form::Path(path) if name == systems::default().name() => {
                write!(formatter, "path:{}", path.display())
            }
            Form::Path(path) => write!(formatter, "{name}@path:{}", path.display()),
            Form::Package(package) if reference::of_package(&package.name) == Some(name) => {
                package.fmt(formatter)
            }
            Form::Package(package) => write!(formatter, "{name}@{package}"),
            Form::Image(image) if reference::of_package(&image.short_name()) == Some(name) => {
                image.fmt(formatter)
            }
            Form::Image(image) => write!(formatter, "{name}@{image}"),
            Form::Source(source) => write!(formatter, "{name}@{}", source.tree),
            Form::Running(endpoint) => endpoint.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn form(text: &str) -> Form {
        text.parse::<Reference>().unwrap().form
    }

    fn error(text: &str) -> String {
        text.parse::<Reference>().unwrap_err().to_string()
    }

    #[test]
    fn paths_and_urls() {
        for text in ["path:/usr/lib/postgresql/15", "postgres@path:/usr/lib/postgresql/15"] {
            assert_eq!(form(text), Form::Path("/usr/lib/postgresql/15".into()));
            let reference: Reference = text.parse().unwrap();
            assert_eq!(reference.to_string(), "path:/usr/lib/postgresql/15");
        }
        for (text, shown) in [
            ("postgres://me:s3cret@db.example:5433/bench", "postgres://me@db.example:5433/bench"),
            ("host=db.example user=me password=s3cret", "postgres://me@db.example:5432/me"),
            ("mysql://me:s%40cret@db:3307/bench", "mysql://me@db:3307/bench"),
            ("mariadb://me:p#w@db/bench", "mysql://me@db:3306/bench"),
            ("mysql://me@/bench?socket=/run/s.sock", "mysql://me@/bench?socket=/run/s.sock"),
            ("postgres://me:s3cret@[::1]/bench", "postgres://me@[::1]:5432/bench"),
            ("mysql://me:s3cret@[fe80::1]:3307/bench", "mysql://me@[fe80::1]:3307/bench"),
        ] {
            let url: Reference = text.parse().unwrap();
            assert_eq!(url.to_string(), shown);
            assert_eq!(shown.parse::<Reference>().unwrap().to_string(), shown, "it is read again");
            assert!(!format!("{url:?}").contains("cret"));
        }
        let Form::Running(socket) = form("postgresql://me@%2Ftmp%2Fs/bench") else {
            panic!("a server")
        };
        assert_eq!(socket.to_string(), "postgres://me@/bench?host=/tmp/s&port=5432");
    }

    #[test]
    fn only_sources_accept_build_options() {
        let options = || BuildOptions { cflags: "-O3".to_owned(), ..BuildOptions::default() };
        let with = |text: &str| text.parse::<Reference>().unwrap().with_build(options());
        let Form::Source(source) = with("git:~/src/postgres#REL_14_3").unwrap().form else {
            panic!("a source")
        };
        assert_eq!(source.options.cflags, "-O3");
        for other in ["postgres@14.3", "path:/opt/pg", "postgres://me:s3cret@host/db"] {
            let said = with(other).unwrap_err().to_string();
            assert!(said.contains("from source") && !said.contains("s3cret"), "{said}");
        }
        let own =
            BuildOptions { configure: vec!["--prefix=/x".to_owned()], ..BuildOptions::default() };
        let refused = "git:/x#y".parse::<Reference>().unwrap().with_build(own);
        assert!(matches!(refused, Err(Error::BuildOption { .. })));
    }

    #[test]
    fn impossible_requests_are_reported() {
        assert!(error("postgres@git:#master").contains("repository"));
        assert!(error("oracle@19").contains("oracle"));
        assert!(error("oracle@19").contains("postgres, mysql, mariadb, rocksdb, "));
        assert!(error("postgres@").contains("missing"));
        assert!(error("postgres@13.x").contains("numbers"));
        assert!(error("postgres@13.7.1").contains("at most 2"));
        assert!(error("oracle").contains("postgres@13.7"));
        assert!(error("postgres://me:s3cret@h/db?sslmode=require").contains("TLS"));
        for system in ["postgres", "mysql", "mariadb"] {
            let said = error(&format!("{system}://127.0.0.1:1/x"));
            let end = format!("it names no user. Write {system}://user@host/database");
            assert!(said.ends_with(&end), "{said}");
        }
    }

    proptest! {
        #[test]
        fn what_is_displayed_parses_to_the_same(a in 10_u64..40, b in 0_u64..40, exact: bool) {
            let text = if exact { format!("postgres@{a}.{b}") } else { format!("postgres@{a}") };
            let reference: Reference = text.parse().unwrap();
            prop_assert_eq!(reference.to_string(), text);
        }
    }
}
