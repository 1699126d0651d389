//! Reads a plan's `dbms = "…"`: a system, and its release, installation, source or running server.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::hide::{names_password, without_passwords};
use crate::postgres::is_whole_connection_string;
use crate::{Image, Package, Repository, Server, SourceTree, systems};

/// The system that a text means if it names none.
const USUAL: &str = "postgres";

/// The system that a text names. Only the caller knows if there is such a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The system's name.
    pub system: String,
    /// Which of its kind.
    pub form: Form,
}

/// Which system of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// `none`: only the system's name.
    Alone,
    /// `postgres@13.7`: a released version. Letters, digits and `._+-`; may be empty.
    Release(String),
    /// `path:/usr/lib/postgresql/15`: an installation.
    Path(PathBuf),
    /// `deb:postgresql-17`: a package of the machine's own distribution.
    Package(Package),
    /// `image:postgres:17.2`: a container image.
    Image(Image),
    /// `git:~/src/postgres#REL_14_3`, `src:postgresql-15.8.tar.bz2`: built from source.
    Source(SourceTree),
    /// `postgres://user@host/database`, `host=db user=me`: a running server.
    Running(Server),
}

/// A text that names nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` does not name a system under test: {problem}")]
pub struct ParseError {
    /// The part of the text that certainly is not a password.
    pub given: String,
    /// The problem with it.
    pub problem: String,
}

impl ParseError {
    fn new((given, problem): (String, &str)) -> Self {
        Self { given, problem: problem.to_owned() }
    }
}

impl FromStr for Reference {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let text = text.trim();
        if text.contains(char::is_control) {
            let problem = "it contains a control character, such as a tab";
            return Err(ParseError::new((shown(text), problem)));
        }
        if let Some(found) = systems::read(text) {
            let found = found.map_err(ParseError::new)?;
            return Ok(Self { system: found.system.to_owned(), form: Form::Running(found.server) });
        }
        let (system, rest) = split_system(text);
        let form = if let Some(path) = rest.strip_prefix("path:") {
            if path.is_empty() || path.contains("://") {
                let problem = if path.is_empty() { "the path is missing" } else { "it is a URL" };
                return Err(ParseError::new((shown(text), problem)));
            }
            Form::Path(PathBuf::from(path))
        } else if let Some(source) = SourceTree::parse(rest) {
            Form::Source(source.map_err(ParseError::new)?)
        } else if let Some(found) = packed(rest) {
            let refused = |problem| ParseError::new((shown(text), problem));
            let (name, form) = found.map_err(refused)?;
            let system = match system.strip_suffix('@') {
                Some(system) => system,
                None => systems::of_package(&name).ok_or_else(|| {
                    refused("put a system in front, as in mysql@deb:NAME or mysql@image:NAME")
                })?,
            };
            return Ok(Self { system: system.to_owned(), form });
        } else if system.is_empty() && is_name(rest) {
            return Ok(Self { system: rest.to_owned(), form: Form::Alone });
        } else if !system.is_empty() && rest.chars().all(of_version) {
            Form::Release(rest.to_owned())
        } else {
            let problem = match rest.starts_with(['/', '.', '~']) {
                true => {
                    "a path has path: in front, as in path:/usr/lib/postgresql/15, or none@path:/mnt/a for a directory without a DBMS"
                }
                false => "expected a system and a version, a path, a package, a source or a URL",
            };
            return Err(ParseError::new((shown(text), problem)));
        };
        let system = system.strip_suffix('@').unwrap_or(USUAL).to_owned();
        Ok(Self { system, form })
    }
}

/// A package or an image, and the name that may say which system it has.
fn packed(text: &str) -> Option<Result<(String, Form), &'static str>> {
    let package = Package::parse(text)
        .map(|read| read.map(|package| (package.name.clone(), Form::Package(package))));
    package.or_else(|| {
        Image::parse(text).map(|read| read.map(|image| (image.short_name(), Form::Image(image))))
    })
}

/// The system before the first `@`, with it, if there is one, and what follows. A path or a git
/// address may have an `@` in it, too.
fn split_system(text: &str) -> (&str, &str) {
    match text.find('@') {
        Some(at) if is_name(&text[..at]) => text.split_at(at + 1),
        _ => ("", text),
    }
}

fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    !text.is_empty() && text.chars().all(fits)
}

fn of_version(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._+-".contains(c)
}

/// The part of an unreadable text that certainly is not a password.
fn shown(text: &str) -> String {
    let harmless = |c: char| of_version(c) || "@/#~^".contains(c);
    if text.len() <= 100 && text.chars().all(harmless) {
        return text.to_owned();
    }
    match text.split_once("://") {
        Some((scheme, _)) if scheme.len() < 20 && is_name(scheme) => format!("{scheme}://…"),
        _ => "…".to_owned(),
    }
}

/// The text of a reference without any password. Of one that can't be read, less may be left.
///
/// ```
/// assert_eq!(reference::hidden("mysql://me:p#w@h/d"), "mysql://me@h/d");
/// assert_eq!(reference::hidden("mysql://me:p@w@h/d"), "mysql://…");
/// ```
pub fn hidden(text: &str) -> String {
    match systems::read(text.trim()).filter(|_| !text.trim().contains(char::is_control)) {
        // A value may be a URL itself.
        Some(Ok(found)) => without_passwords(&found.hidden),
        Some(Err((given, _))) => given,
        None => match text.parse::<Reference>() {
            Ok(_) => without_passwords(text),
            Err(error) => error.given,
        },
    }
}

/// The text with its path made absolute, if the path is relative to a folder. `~/` stays: it is the
/// home directory of the user who reads it.
pub fn in_folder(text: &str, folder: &Path) -> String {
    let text = text.trim();
    let whole = || text.to_owned();
    let Ok(Reference { form, .. }) = text.parse() else { return whole() };
    let path = match &form {
        Form::Path(path)
        | Form::Image(Image::File(path))
        | Form::Source(
            SourceTree::Tarball(path) | SourceTree::Git { repository: Repository::Local(path), .. },
        ) => path,
        _ => return whole(),
    };
    if path.is_absolute() || path.starts_with("~") {
        return whole();
    }
    let system = split_system(text).0.len();
    let start = text[system..].find(':').map_or(0, |colon| system + colon + 1);
    match std::path::absolute(folder.join(path)) {
        Ok(absolute) => {
            let rest = &text[start + path.as_os_str().len()..];
            format!("{}{}{rest}", &text[..start], absolute.display())
        }
        // There is no current directory; opening the path will report that.
        Err(_) => whole(),
    }
}

/// Splits `NAME=REFERENCE`. An `=` inside a reference belongs to it: options of a URL, and
/// connection strings, also `password=…` alone.
pub fn split_name(text: &str) -> (Option<&str>, &str) {
    match text.split_once('=') {
        Some(_) if is_whole_connection_string(text) => (None, text),
        Some((name, _)) if names_password(name) => (None, text),
        Some((name, reference)) if !name.contains([':', '@', '/']) => (Some(name), reference),
        _ => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> (String, Form) {
        let reference: Reference = text.parse().unwrap();
        (reference.system, reference.form)
    }

    fn error(text: &str) -> String {
        text.parse::<Reference>().unwrap_err().to_string()
    }

    #[test]
    fn systems_and_forms() {
        let of = |system: &str, form| (system.to_owned(), form);
        assert_eq!(parse(" none "), of("none", Form::Alone));
        assert_eq!(parse("postgres@14.3"), of("postgres", Form::Release("14.3".to_owned())));
        assert_eq!(parse("oracle@19c"), of("oracle", Form::Release("19c".to_owned())));
        let path = Form::Path("/usr".into());
        assert_eq!(parse("path:/usr"), of("postgres", path.clone()));
        assert_eq!(parse("mariadb@path:/usr"), of("mariadb", path));
        let package = |name: &str, version: Option<&str>| {
            Form::Package(Package { name: name.to_owned(), version: version.map(str::to_owned) })
        };
        assert_eq!(parse("deb:postgresql-17"), of("postgres", package("postgresql-17", None)));
        assert_eq!(
            parse("deb:mariadb-server-core=1:10.11.19-0+deb12u1"),
            of("mariadb", package("mariadb-server-core", Some("1:10.11.19-0+deb12u1")))
        );
        assert_eq!(parse("mysql@deb:percona-x"), of("mysql", package("percona-x", None)));
        for (text, system) in [
            ("image:postgres:17", "postgres"),
            ("image:ghcr.io/team/mariadb", "mariadb"),
            ("image:./mysql-8.tar", "mysql"),
            ("mysql@image:percona:8.0", "mysql"),
        ] {
            let (found, form) = parse(text);
            assert!(found == system && matches!(form, Form::Image(_)), "{text}");
        }
        assert_eq!(parse("path:a@b"), of("postgres", Form::Path("a@b".into())));
        let tarball = Form::Source(SourceTree::Tarball("x@1.tar".into()));
        assert_eq!(parse("src:x@1.tar"), of("postgres", tarball));
        assert!(matches!(parse("git:me@h:pg#x").1, Form::Source(_)));
        for (text, system) in [
            ("mysql://me@h/d", "mysql"),
            ("mariadb://me@h/d", "mariadb"),
            ("host=h user=me", "postgres"),
        ] {
            let (found, form) = parse(text);
            assert!(found == system && matches!(form, Form::Running(_)), "{text}");
        }
    }

    #[test]
    fn impossible_texts_are_reported_without_what_may_be_a_password() {
        assert!(error("path:").contains("path is missing"));
        assert!(error("deb:").contains("the name of a package"));
        assert!(error("deb:--help").contains("the name of a package"));
        assert!(error("deb:postgresql-17=-o").contains("a version of the package"));
        assert!(error("deb:percona-x").contains("put a system in front"));
        assert!(error("image:").contains("the name of an image"));
        assert!(error("image:debian:12").contains("mysql@image:NAME"));
        assert!(error("path:mysql://me:s3cret@h").contains("URL"));
        assert!(error("postgres@git:#master").contains("repository"));
        assert!(error("postgres@13.7 x").contains('…'));
        for text in [
            "postgre://me:s3cret@h/db",
            "me:s3cret@h/db",
            "mysql@me:s3cret@h",
            "mysql:\t//me:s3cret@h/d",
            "mysql://me:s3\tcret@h/d",
            "password=s3cret",
            "sslpassword = s3cret",
            "passwd=s3cret",
            "-ps3cret --host=h",
        ] {
            assert!(!error(text).contains("cret"), "{text}");
            assert!(!hidden(text).contains("cret"), "{text}");
        }
    }

    #[test]
    fn a_path_alone_is_told_what_goes_in_front() {
        for text in ["/mnt/a", "./a", "~/postgres", "none@/mnt/a"] {
            assert!(error(text).contains("none@path:/mnt/a"), "{}", error(text));
        }
        assert!(error("a b").contains("a system and a version"), "{}", error("a b"));
    }

    #[test]
    fn only_passwords_are_hidden() {
        for (text, expected) in [
            ("mysql://me:s3cret@h:3307/d?socket=/x", "mysql://…"),
            (
                "mysql://me:s3cret@h:3307/d?get-server-public-key=true",
                "mysql://me@h:3307/d?get-server-public-key=true",
            ),
            (
                "postgres://db/x?user=a&%70assword=b&port=1",
                "postgres://db/x?user=a&%70assword=<hidden>&port=1",
            ),
            (
                "host = a user=me password='it\\'s' port=1",
                "host = a user=me password=<hidden> port=1",
            ),
            ("postgres://me@db/x?application_name=a@b", "postgres://me@db/x?application_name=a@b"),
            (
                "host=h user=me dbname='postgres://me:s3cret@h/d'",
                "host=h user=me dbname='postgres://me@h/d'",
            ),
        ] {
            assert_eq!(hidden(text), expected);
            assert_eq!(hidden(expected), expected);
            assert_eq!(without_passwords(expected), expected, "the store hides once more");
        }
        for text in ["postgres@14.3", "git:ssh://git@h/pg#x", "path:/opt/a@b", "host=h user=me"] {
            assert_eq!(hidden(text), text);
        }
    }

    #[test]
    fn relative_paths_are_the_plans() {
        let folder = Path::new("/plans");
        for (text, expected) in [
            ("postgres@git:../pg#REL_14_3", "postgres@git:/plans/../pg#REL_14_3"),
            ("git:./pg#me@{1}", "git:/plans/pg#me@{1}"),
            ("git:.#a//b", "git:/plans#a//b"),
            ("src:pg#1.tar.bz2", "src:/plans/pg#1.tar.bz2"),
            ("path:opt/pg", "path:/plans/opt/pg"),
            ("path:a@b", "path:/plans/a@b"),
            ("image:postgres.tar", "image:/plans/postgres.tar"),
            ("image:postgres:17", "image:postgres:17"),
            ("git:/srv/pg#x", "git:/srv/pg#x"),
            ("git:~/pg#x", "git:~/pg#x"),
            ("git:https://example.org/pg#x", "git:https://example.org/pg#x"),
            ("git:me@example.org:pg#x", "git:me@example.org:pg#x"),
            ("postgres@14.3", "postgres@14.3"),
            ("postgres://me@host/path:x", "postgres://me@host/path:x"),
            ("git:#x", "git:#x"),
        ] {
            assert_eq!(in_folder(text, folder), expected);
        }
    }

    #[test]
    fn variants_may_be_named() {
        assert_eq!(split_name("old=postgres@13.7"), (Some("old"), "postgres@13.7"));
        assert_eq!(split_name("host=postgres@13.7"), (Some("host"), "postgres@13.7"));
        for reference in [
            "postgres@13.7",
            "postgres://host/db?sslmode=disable",
            "host=h user='a b'",
            "mysql://me:p=w@h/d",
        ] {
            assert_eq!(split_name(reference), (None, reference));
            assert_eq!(split_name(&format!("old={reference}")), (Some("old"), reference));
        }
        for alone in ["password=s3cret", " Password = s3cret", "sslpassword=s3cret", "passwd=x"] {
            assert_eq!(split_name(alone), (None, alone));
        }
    }

    proptest! {
        #[test]
        fn twice_is_once(text in "(postgres@)?(path|git|src|image):[a-z~./#:@]{0,20}|\\PC{0,20}") {
            let once = in_folder(&text, Path::new("/plans"));
            prop_assert_eq!(in_folder(&once, Path::new("/others")), once);
        }

        #[test]
        fn what_is_found_is_in_the_text(text in "(postgres(ql)?|mysql|host|user|password)?(@|://|:|=| )?[0-9a-z.:@/%?=&#' \\\\]{0,30}|\\PC*") {
            match text.parse::<Reference>() {
                Ok(Reference { system, form }) => {
                    prop_assert!(is_name(&system), "{system}");
                    match form {
                        Form::Alone => prop_assert_eq!(system, text.trim()),
                        Form::Release(version) => {
                            prop_assert!(version.chars().all(of_version), "{version}");
                            prop_assert_eq!(format!("{system}@{version}"), text.trim());
                        }
                        Form::Path(path) => {
                            let end = format!("path:{}", path.display());
                            prop_assert!(text.trim().ends_with(&end), "{end}");
                        }
                        Form::Package(package) => {
                            prop_assert!(text.trim().ends_with(&package.to_string()), "{package}");
                        }
                        Form::Image(_) | Form::Source(_) | Form::Running(_) => {}
                    }
                }
                Err(error) => prop_assert_eq!(hidden(&text), error.given),
            }
            let name = crate::variant_name(&text);
            prop_assert!((1..=60).contains(&name.len()), "{name}");
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)), "{name}");
            match split_name(&text) {
                (None, reference) => prop_assert_eq!(reference, &text),
                (Some(name), reference) => {
                    prop_assert_eq!(format!("{name}={reference}"), text.clone());
                    prop_assert!(!name.contains([':', '@', '/', '=']), "{name}");
                }
            }
        }
    }
}
