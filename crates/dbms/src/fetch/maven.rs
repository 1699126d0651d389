//! Artifacts in a repository that is laid out as Maven lays it out: a directory for each version, a
//! list of versions, and a checksum beside each file.
//!
//! The list may leave out versions that are there, so a version is asked for by its place.

use std::time::Duration;

use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::http;
use crate::{Error, hash};

/// The public repository.
pub(crate) const CENTRAL: &str = "https://repo1.maven.org/maven2";

/// How long the repository may take to answer a question.
const ASK_LIMIT: Duration = Duration::from_secs(30);

/// How long it may take to send a file.
const FETCH_LIMIT: Duration = Duration::from_secs(1200);

/// The numbers of a version. Repositories write 13.7 as 13.7.0.
pub(crate) type Version = [u64; 3];

/// Numbers with dots.
pub(crate) fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

/// The numbers of a text such as 13.7.0; `None` for what is no release, such as 10.5.0-1.
pub(crate) fn parse(text: &str) -> Option<Version> {
    let numbers = text.split('.').map(|number| number.parse().ok());
    numbers.collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// Something of which a repository has several versions.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The repository's URL.
    pub(crate) repository: String,
    /// Its group, as directories.
    pub(crate) group: &'static str,
    /// Its name.
    pub(crate) name: String,
}

impl Artifact {
    /// The versions that the repository lists.
    pub(crate) fn versions(&self) -> Result<Vec<Version>, String> {
        let url = format!("{}/maven-metadata.xml", self.directory());
        let list = http::get(&url, ASK_LIMIT)?.ok_or_else(|| format!("{url}: there is no list"))?;
        let list = String::from_utf8_lossy(&list);
        let texts = list.split("<version>").skip(1).filter_map(|rest| rest.split('<').next());
        Ok(texts.filter_map(parse).collect())
    }

    /// The file of `version`, or `None` where there is none. Compared with the SHA-256 of `known`,
    /// or where that is not given, with the checksum beside the file. `what` names it in errors.
    pub(crate) fn fetch(
        &self,
        version: &Version,
        known: Option<&'static str>,
        what: &str,
    ) -> Result<Option<Vec<u8>>, Error> {
        let failed = |detail| Error::Archive { doing: format!("fetch {what}"), detail };
        let version = joined(version);
        let file = format!("{}/{version}/{}-{version}.jar", self.directory(), self.name);
        let Some(bytes) = http::get(&file, FETCH_LIMIT).map_err(failed)? else { return Ok(None) };
        match known {
            Some(expected) => {
                let found = hash::of(&bytes);
                if found != expected {
                    return Err(Error::Digest { what: what.to_owned(), expected, found });
                }
            }
            None => check_published(&file, &bytes).map_err(failed)?,
        }
        Ok(Some(bytes))
    }

    fn directory(&self) -> String {
        format!("{}/{}/{}", self.repository, self.group, self.name)
    }
}

/// Compares a file with the checksum beside it, the strongest of those there are. Every repository
/// has the last one.
fn check_published(file: &str, bytes: &[u8]) -> Result<(), String> {
    let hashes: [(&str, fn(&[u8]) -> String); 3] = [
        ("sha512", |bytes| hash::hex(&Sha512::digest(bytes))),
        ("sha256", |bytes| hash::hex(&Sha256::digest(bytes))),
        ("sha1", |bytes| hash::hex(&Sha1::digest(bytes))),
    ];
    for (kind, hash) in hashes {
        let Some(published) = http::get(&format!("{file}.{kind}"), ASK_LIMIT)? else { continue };
        let published = String::from_utf8_lossy(&published);
        let expected = published.split_ascii_whitespace().next().unwrap_or_default();
        let found = hash(bytes);
        if found.eq_ignore_ascii_case(expected) {
            return Ok(());
        }
        return Err(format!("{file}: expected {kind} {expected}, found {found}"));
    }
    Err(format!("{file}: there is no checksum of it"))
}
