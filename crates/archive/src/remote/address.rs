//! Where experiments are kept: an address without any password.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use object_store::path::Path as Key;

use crate::Error;

/// Which kind of storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Amazon S3, or a service that speaks like it: the bucket.
    S3(String),
    /// Google Cloud Storage: the bucket.
    Google(String),
    /// Azure Blob Storage: the container.
    Azure(String),
    /// A directory.
    Directory(PathBuf),
}

/// The forms of addresses.
const EXPECTED: &str = "expected s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX, file:///PATH or a path";
/// Schemes of addresses.
const SCHEMES: [&str; 5] = ["s3", "gs", "az", "azure", "file"];

/// The scheme of an address that lacks a slash, as in `s3:/bucket`. Nobody means a path by that.
fn slashless(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    (SCHEMES.contains(&scheme) && !rest.starts_with("//")).then_some(scheme)
}

/// Where experiments are kept, such as `s3://bucket/prefix`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(crate) storage: Storage,
    pub(crate) prefix: Key,
}

impl Address {
    /// True if a text is meant as an address, not as a path; also if it lacks a slash.
    pub fn is_meant(text: &str) -> bool {
        text.contains("://") || slashless(text).is_some()
    }

    /// The directory, if it is one.
    pub fn directory(&self) -> Option<&Path> {
        match &self.storage {
            Storage::Directory(path) => Some(path),
            _ => None,
        }
    }
}

impl FromStr for Address {
    type Err = Error;

    /// Reads `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX`, `az://CONTAINER/PREFIX`, `file:///PATH` or
    /// a path.
    fn from_str(text: &str) -> Result<Self, Error> {
        // A text that may contain a password is not repeated.
        let refuse = |shown: &str, problem: &str| {
            Err(Error::Address { address: shown.to_owned(), problem: problem.to_owned() })
        };
        let directory = |path: &str| {
            let path = std::path::absolute(path).map_err(Error::io("find", Path::new(path)))?;
            Ok(Self { storage: Storage::Directory(path), prefix: Key::default() })
        };
        let Some((scheme, rest)) = text.split_once("://") else {
            return match text {
                "" => refuse("", "it is empty"),
                text => match slashless(text) {
                    Some(scheme) => refuse(&format!("{scheme}:…"), EXPECTED),
                    None => directory(text),
                },
            };
        };
        let shown = format!("{scheme}://…");
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.contains('@') || bucket.contains(':') {
            return refuse(
                &shown,
                "it has a user, password or port; credentials and endpoints come from the environment, such as AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL",
            );
        }
        if scheme != "file" && rest.contains(['?', '#']) {
            return refuse(&shown, "it has `?` or `#`; expected only a bucket and a prefix");
        }
        if scheme == "file" {
            return match bucket {
                "" => directory(&format!("/{prefix}")),
                _ => refuse(text, "a path after file:// begins with `/`"),
            };
        }
        if bucket.is_empty() {
            return refuse(text, "the bucket is missing");
        }
        let bucket = bucket.to_owned();
        let storage = match scheme {
            "s3" => Storage::S3(bucket),
            "gs" => Storage::Google(bucket),
            "az" | "azure" => Storage::Azure(bucket),
            _ => return refuse(&shown, EXPECTED),
        };
        match Key::parse(prefix.trim_matches('/')) {
            Ok(prefix) => Ok(Self { storage, prefix }),
            Err(_) => refuse(text, "its prefix has an empty part, `.` or `..`"),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, bucket) = match &self.storage {
            Storage::S3(bucket) => ("s3", bucket),
            Storage::Google(bucket) => ("gs", bucket),
            Storage::Azure(container) => ("az", container),
            Storage::Directory(path) => return write!(formatter, "file://{}", path.display()),
        };
        write!(formatter, "{scheme}://{bucket}")?;
        if self.prefix.as_ref().is_empty() { Ok(()) } else { write!(formatter, "/{}", self.prefix) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, shown) in [
            ("s3://bucket", "s3://bucket"),
            ("s3://bucket/a/b/", "s3://bucket/a/b"),
            ("gs://bucket/a", "gs://bucket/a"),
            ("azure://container/a", "az://container/a"),
            ("file:///srv/archive", "file:///srv/archive"),
            ("/srv/archive", "file:///srv/archive"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(shown.parse::<Address>().unwrap(), address);
        }
    }

    #[test]
    fn what_is_meant() {
        for text in ["s3://bucket", "ftp://host", "s3:/bucket", "az:"] {
            assert!(Address::is_meant(text), "{text}");
        }
        for text in ["s3", "some/path", "2:1", "./s3:/bucket"] {
            assert!(!Address::is_meant(text), "{text}");
        }
    }

    #[test]
    fn errors_say_what_is_wrong_and_no_secret() {
        for (text, said) in [
            ("", "empty"),
            ("s3:///x", "bucket is missing"),
            ("s3://me:s3cret@bucket/x", "AWS_SECRET_ACCESS_KEY"),
            ("s3://s3cret@bucket/x", "AWS_SECRET_ACCESS_KEY"),
            ("s3://bucket/x?X-Amz-Signature=s3cret", "`?`"),
            ("https://me:s3cret@host/x", "credentials"),
            ("ftp://host/x", "expected s3://"),
            ("s3:/bucket/x", "expected s3://"),
            ("gs:bucket", "expected s3://"),
            ("s3:/me:s3cret@bucket/x", "expected s3://"),
            ("s3://bucket/a//b", "empty part"),
            ("file://host/x", "begins with `/`"),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("s3cret"), "{error}");
        }
    }
}
