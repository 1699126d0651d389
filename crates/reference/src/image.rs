//! A container image.

use std::fmt;
use std::path::{Path, PathBuf};

/// An image in a registry, or in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Image {
    /// In a registry of the OCI distribution protocol.
    Registry {
        /// Its host, with a port if it has one; `None` is Docker Hub.
        host: Option<String>,
        /// The image's name in it: `postgres`, `team/postgres`.
        name: String,
        /// Its tag. If there is no digest either, `latest` is meant.
        tag: Option<String>,
        /// Its digest, `sha256:` and 64 hexadecimal digits, which wins over the tag.
        digest: Option<String>,
    },
    /// A file made by `docker save` or as an OCI archive, or a directory with the OCI image layout.
    File(PathBuf),
}

impl Image {
    /// Reads `image:…`; `None` if the text doesn't begin with it.
    pub(crate) fn parse(text: &str) -> Option<Result<Self, &'static str>> {
        text.strip_prefix("image:").map(Self::read)
    }

    fn read(text: &str) -> Result<Self, &'static str> {
        if text.contains("://") {
            return Err("an image has no https:// in front, as in image:ghcr.io/team/postgres:17");
        }
        if text.starts_with(['/', '.', '~']) || text.ends_with(".tar") {
            return Ok(Self::File(text.into()));
        }
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (text, None),
        };
        // A port also follows a colon, but then a slash comes after it.
        let (rest, tag) = match rest.rsplit_once(':') {
            Some((rest, tag)) if !tag.contains('/') => (rest, Some(tag)),
            _ => (rest, None),
        };
        let is_host = |part: &str| part.contains(['.', ':']) || part == "localhost";
        let (host, name) = match rest.split_once('/') {
            Some((host, name)) if is_host(host) => (Some(host), name),
            _ => (None, rest),
        };
        if !name.split('/').all(is_part) || host.is_some_and(|host| !is_address(host)) {
            return Err("expected the name of an image, such as image:postgres:17.2");
        }
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err("expected a tag of the image, such as image:postgres:17.2");
        }
        if digest.is_some_and(|digest| !is_digest(digest)) {
            return Err("expected a digest, @sha256: and 64 hexadecimal digits");
        }
        let [host, tag, digest] = [host, tag, digest].map(|part| part.map(str::to_owned));
        Ok(Self::Registry { host, name: name.to_owned(), tag, digest })
    }

    /// The last part of its name, without tag or extension.
    pub fn short_name(&self) -> String {
        match self {
            Self::Registry { name, .. } => name.rsplit('/').next().unwrap_or_default().to_owned(),
            Self::File(path) => stem(path),
        }
    }
}

/// The name of a file without its extension.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".tar").unwrap_or(&name).to_owned()
}

// The OCI distribution specification, "Pulling manifests", and what Docker allows.

fn is_part(part: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    part.starts_with(|c: char| c.is_ascii_alphanumeric()) && part.chars().all(fits)
}

fn is_address(host: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[') && host.chars().all(fits)
}

fn is_tag(tag: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=128).contains(&tag.len()) && !tag.starts_with(['.', '-']) && tag.chars().all(fits)
}

/// True for `sha256:` and 64 hexadecimal digits, which are safe in a path.
pub fn is_digest(digest: &str) -> bool {
    let of_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let hex = digest.strip_prefix("sha256:");
    hex.is_some_and(|hex| hex.len() == 64 && hex.chars().all(of_hex))
}

impl fmt::Display for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("image:")?;
        let (host, name, tag, digest) = match self {
            Self::Registry { host, name, tag, digest } => (host, name, tag, digest),
            Self::File(path) => return path.display().fmt(formatter),
        };
        host.iter().try_for_each(|host| write!(formatter, "{host}/"))?;
        formatter.write_str(name)?;
        tag.iter().try_for_each(|tag| write!(formatter, ":{tag}"))?;
        digest.iter().try_for_each(|digest| write!(formatter, "@{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_read_as_docker_reads_them() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let pinned = format!("example.org/a/b:1@{digest}");
        for (text, expected) in [
            ("postgres", (None, "postgres", None, None)),
            ("postgres:17.2", (None, "postgres", Some("17.2"), None)),
            ("team/postgres:17", (None, "team/postgres", Some("17"), None)),
            ("ghcr.io/team/pg:a-b", (Some("ghcr.io"), "team/pg", Some("a-b"), None)),
            ("localhost:5000/pg", (Some("localhost:5000"), "pg", None, None)),
            ("localhost/pg:1", (Some("localhost"), "pg", Some("1"), None)),
            (&*pinned, (Some("example.org"), "a/b", Some("1"), Some(&*digest))),
        ] {
            let whole = format!("image:{text}");
            let found = Image::parse(&whole).unwrap().unwrap();
            let (host, name, tag, digest) = expected;
            let [host, tag, digest] = [host, tag, digest].map(|part| part.map(str::to_owned));
            assert_eq!(found, Image::Registry { host, name: name.to_owned(), tag, digest });
            assert_eq!(found.to_string(), whole);
        }
        for file in ["./pg.tar", "/images/pg", "~/pg", "pg.tar", "../pg"] {
            let whole = format!("image:{file}");
            let found = Image::parse(&whole).unwrap().unwrap();
            assert_eq!((found.short_name().as_str(), found.to_string()), ("pg", whole), "{file}");
        }
        assert_eq!(Image::parse("postgres:17"), None);
    }

    #[test]
    fn what_is_no_image_is_refused() {
        for (text, said) in [
            ("", "name of an image"),
            ("Postgres", "name of an image"),
            ("a//b", "name of an image"),
            ("a/../b", "name of an image"),
            ("-o/a", "name of an image"),
            ("a b.c/pg", "name of an image"),
            ("postgres:", "a tag"),
            ("postgres:-o", "a tag"),
            ("postgres@sha256:12", "a digest"),
            ("https://ghcr.io/pg", "no https"),
        ] {
            let error = Image::read(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
