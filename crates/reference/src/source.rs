//! A source to build: a commit of a git repository, or a tarball.

use std::fmt;
use std::path::PathBuf;

/// Where the source comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceTree {
    /// `git:~/src/postgres#REL_14_3`: a commit. Only what is committed is built; the work tree is
    /// left alone.
    Git {
        /// The repository.
        repository: Repository,
        /// A branch, tag or commit; in a local repository, anything in gitrevisions(7), such as
        /// `master~3`.
        revision: String,
    },
    /// `src:postgresql-15.8.tar.bz2`: a release's tarball.
    Tarball(PathBuf),
}

/// Where a git repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repository {
    /// On this machine; `~/` stands for the home directory.
    Local(PathBuf),
    /// Elsewhere, as accepted by `git fetch`; never with a password.
    Remote(String),
}

impl SourceTree {
    /// Reads `git:…` or `src:…`; `None` if the text begins with neither. An error contains the part
    /// of the text that certainly is not a password.
    pub(crate) fn parse(text: &str) -> Option<Result<Self, (String, &'static str)>> {
        if let Some(rest) = text.strip_prefix("git:") {
            return Some(parse_git(rest));
        }
        let path = text.strip_prefix("src:")?;
        Some(match path {
            "" => Err(("src:".to_owned(), "the path of the tarball is missing")),
            path if path.contains("://") => {
                Err(("src:…".to_owned(), "a tarball is a file; fetch it first"))
            }
            path => Ok(Self::Tarball(PathBuf::from(path))),
        })
    }
}

fn parse_git(text: &str) -> Result<SourceTree, (String, &'static str)> {
    // A path may contain a `#`; the name of a revision rarely does.
    let (place, revision) = text.rsplit_once('#').unwrap_or((text, "HEAD"));
    // Text that may contain a password is not repeated.
    let shown = if is_remote(place) { "git:…".to_owned() } else { format!("git:{text}") };
    let refuse = |problem| Err((shown, problem));
    if place.is_empty() {
        return refuse("the repository is missing");
    }
    if revision.is_empty() {
        return refuse("a branch, tag or commit is missing after the `#`");
    }
    // git would take it for an option.
    if revision.starts_with('-') || place.starts_with('-') {
        return refuse("neither the repository nor the revision can begin with `-`");
    }
    if text.chars().any(char::is_control) || revision.contains(char::is_whitespace) {
        return refuse("it contains a space or control character, which is not allowed");
    }
    let repository = if is_remote(place) {
        if has_secret(place, text) {
            return refuse(
                "the URL contains a password or token, which would appear in results and in process lists; use git's credential helper or ssh",
            );
        }
        Repository::Remote(place.to_owned())
    } else {
        Repository::Local(PathBuf::from(place))
    };
    Ok(SourceTree::Git { repository, revision: revision.to_owned() })
}

/// A URL or `host:path`, distinguished from paths as in git: a slash does not precede the first
/// colon (git-fetch(1), "Git URLs").
fn is_remote(place: &str) -> bool {
    place.contains("://") || place.find(':').is_some_and(|colon| !place[..colon].contains('/'))
}

/// True if the part of a URL before the host contains more than a user name. Over HTTP, even a name
/// may be a token. A careless password may contain characters that end that part, also a `#`, so in
/// the `whole` text nothing that follows a colon may have an `@` after it.
fn has_secret(url: &str, whole: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    let whole = whole.split_once("://").map_or("", |(_, rest)| rest);
    let careless = whole.find(':').is_some_and(|colon| whole[colon..].contains('@'));
    careless || user.is_some_and(|user| user.contains(':') || scheme.starts_with("http"))
}

impl fmt::Display for SourceTree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Git { repository: Repository::Local(path), revision } => {
                write!(formatter, "git:{}#{revision}", path.display())
            }
            Self::Git { repository: Repository::Remote(url), revision } => {
                write!(formatter, "git:{url}#{revision}")
            }
            Self::Tarball(path) => write!(formatter, "src:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(text: &str) -> SourceTree {
        SourceTree::parse(text).unwrap().unwrap()
    }

    fn git(place: &str, revision: &str) -> SourceTree {
        let repository = if is_remote(place) {
            Repository::Remote(place.to_owned())
        } else {
            Repository::Local(place.into())
        };
        SourceTree::Git { repository, revision: revision.to_owned() }
    }

    fn error(text: &str) -> String {
        let (given, problem) = SourceTree::parse(text).unwrap().unwrap_err();
        format!("{given}: {problem}")
    }

    #[test]
    fn repositories_and_revisions() {
        for (text, place, revision) in [
            ("git:~/src/postgres#REL_14_3", "~/src/postgres", "REL_14_3"),
            ("git:/srv/pg.git#master~3", "/srv/pg.git", "master~3"),
            ("git:../pg", "../pg", "HEAD"),
            ("git:/a#b/pg#origin/master", "/a#b/pg", "origin/master"),
            ("git:./with:colon#x", "./with:colon", "x"),
            (
                "git:https://git.example.org/pg.git#REL_15_STABLE",
                "https://git.example.org/pg.git",
                "REL_15_STABLE",
            ),
            ("git:ssh://git@example.org/pg#v1", "ssh://git@example.org/pg", "v1"),
            ("git:ssh://git@example.org:22/pg#v1", "ssh://git@example.org:22/pg", "v1"),
            ("git:me@example.org:pg.git#v1", "me@example.org:pg.git", "v1"),
        ] {
            assert_eq!(tree(text), git(place, revision), "{text}");
        }
        assert!(matches!(
            tree("git:me@example.org:pg.git"),
            SourceTree::Git { repository: Repository::Remote(_), .. }
        ));
        assert_eq!(tree("src:pg.tar.gz"), SourceTree::Tarball("pg.tar.gz".into()));
        assert!(SourceTree::parse("14.3").is_none());
        assert!(SourceTree::parse("path:/git:x").is_none());
    }

    #[test]
    fn errors_say_what_is_wrong() {
        assert!(error("git:#master").contains("repository is missing"));
        assert!(error("git:/pg#").contains("branch, tag or commit"));
        assert!(error("git:/pg#--output=x").contains("begin with `-`"));
        assert!(error("git:--upload-pack=x#y").contains("begin with `-`"));
        assert!(error("git:/pg#a b").contains("space"));
        assert!(error("src:").contains("missing"));
        assert!(error("src:https://example.org/pg.tar.gz").contains("fetch it first"));
        for secret in [
            "https://me:s3cret@example.org/pg",
            "https://s3cret@example.org/pg",
            "ssh://me:s3cret@h/pg",
            "ssh://me:p/s3cret@h/pg",
            "ssh://me:p#s3cret@h/pg",
        ] {
            let said = error(&format!("git:{secret}#master"));
            assert!(said.contains("credential helper") && !said.contains("s3cret"), "{said}");
        }
    }

    proptest! {
        #[test]
        fn what_is_displayed_parses_to_the_same(
            place in "(~/|/|https://h/|ssh://git@h/|h:)[a-z0-9.#/]{1,12}[a-z]",
            revision in "[A-Za-z0-9_/.~^@{}]{1,12}",
        ) {
            let source = tree(&format!("git:{place}#{revision}"));
            prop_assert_eq!(&source, &tree(&source.to_string()));
        }
    }
}
