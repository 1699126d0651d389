//! Artifacts in a repository with Maven's layout: a directory for each version, a list of versions,
//! and a checksum next to each file. Or packages in a registry with npm's layout, of which only
//! files with a known digest are fetched.
//!
//! The list may omit existing versions, so a version is requested by its path.

use std::time::Duration;

use sha1::Sha1;
use sha2::{Digest, Sha512};

use super::{first_seen, http};
use crate::data::hash;
use crate::{Cache, Error};

/// The public repository.
pub(crate) const CENTRAL: &str = "https://repo1.maven.org/maven2";

/// The public registry of npm.
pub(crate) const NPM: &str = "https://registry.npmjs.org";

/// How long the repository may take to answer a query.
const ASK_LIMIT: Duration = Duration::from_secs(30);

/// How long it may take to send a file.
const FETCH_LIMIT: Duration = Duration::from_secs(1200);

/// The numbers of a version. Repositories write 13.7 as 13.7.0.
pub(crate) type Version = [u64; 3];

/// Numbers with dots.
pub(crate) fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

/// The numbers of a text such as 13.7.0; `None` for anything that is not a release, such as
/// 10.5.0-1.
pub(crate) fn parse(text: &str) -> Option<Version> {
    let numbers = text.split('.').map(|number| number.parse().ok());
    numbers.collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// How the files of a repository are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `GROUP/NAME/VERSION/NAME-VERSION.jar`.
    Maven,
    /// `NAME/-/NAME-VERSION.tgz`.
    Npm,
}

/// Something of which a repository has several versions.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The repository's URL.
    pub(crate) repository: String,
    /// How its files are named.
    pub(crate) layout: Layout,
    /// Its group, as directories; npm has none.
    pub(crate) group: &'static str,
    /// Its name.
    pub(crate) name: String,
}

impl Artifact {
    /// The versions that the repository lists.
    pub(crate) fn versions(&self) -> Result<Vec<Version>, String> {
        if self.layout == Layout::Npm {
            return Err(format!("{} has no list of versions that is read", self.name));
        }
        let url = format!("{}/maven-metadata.xml", self.directory());
        let list = http::get(&url, ASK_LIMIT)?
            .ok_or_else(|| format!("{url}: there is no list of versions"))?;
        let list = String::from_utf8_lossy(&list);
        let texts = list.split("<version>").skip(1).filter_map(|rest| rest.split('<').next());
        Ok(texts.filter_map(parse).collect())
    }

    /// Fetches the file of `version` with this suffix after the version in its name; `None` if it
    /// does not exist. The file is compared with the SHA-256 in `known`. Without one, it is
    /// compared with the checksum next to the file and with the digest recorded next to the cache
    /// when it was first seen. `what` names it in errors.
    pub(crate) fn fetch(
        &self,
        version: &str,
        classifier: &str,
        known: Option<&'static str>,
        cache: &Cache,
        what: &str,
    ) -> Result<Option<Vec<u8>>, Error> {
        let failed = |detail| Error::Archive { doing: format!("fetch {what}"), detail };
        let (directory, name) = (self.directory(), &self.name);
        let file = match self.layout {
            Layout::Maven => format!("{directory}/{version}/{name}-{version}{classifier}.jar"),
            Layout::Npm => format!("{directory}/-/{name}-{version}.tgz"),
        };
        let Some(bytes) = http::get(&file, FETCH_LIMIT).map_err(failed)? else { return Ok(None) };
        let found = hash::of(&bytes);
        match known {
            Some(expected) => {
                if found != expected {
                    return Err(Error::Digest { what: what.to_owned(), expected, found });
                }
            }
            None => {
                check_published(&file, &bytes).map_err(failed)?;
                first_seen::check(cache, &file, &found, what)?;
            }
        }
        Ok(Some(bytes))
    }

    fn directory(&self) -> String {
        match self.layout {
            Layout::Maven => format!("{}/{}/{}", self.repository, self.group, self.name),
            Layout::Npm => format!("{}/{}", self.repository, self.name),
        }
    }
}

/// Compares a file with the checksum next to it, the strongest available. Every repository has the
/// last one.
fn check_published(file: &str, bytes: &[u8]) -> Result<(), String> {
    for kind in ["sha512", "sha256", "sha1"] {
        let Some(published) = http::get(&format!("{file}.{kind}"), ASK_LIMIT)? else { continue };
        let published = String::from_utf8_lossy(&published);
        let expected = published.split_ascii_whitespace().next().unwrap_or_default();
        let found = match kind {
            "sha512" => hash::hex(&Sha512::digest(bytes)),
            "sha256" => hash::of(bytes),
            _ => hash::hex(&Sha1::digest(bytes)),
        };
        if found.eq_ignore_ascii_case(expected) {
            return Ok(());
        }
        return Err(format!("{file}: expected {kind} {expected}, found {found}"));
    }
    Err(format!("{file}: there is no checksum for it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// A status and a body.
    type Answer = (u16, &'static [u8]);

    /// A repository on this machine, for as long as the process lives.
    fn repository(files: &[(&str, &[Answer])]) -> Artifact {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let repository = format!("http://{}", listener.local_addr().unwrap());
        // Each path gets one answer after another; the last one repeats.
        let files = files.iter().map(|(path, answers)| (format!("/g/a/{path}"), answers.to_vec()));
        let mut answers: BTreeMap<String, Vec<Answer>> = files.collect();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let lines: Vec<String> =
                    lines.map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
                let path = lines[0].split(' ').nth(1).unwrap();
                let (status, body) = match answers.get_mut(path) {
                    None => (404, &b""[..]),
                    Some(left) if left.len() > 1 => left.remove(0),
                    Some(left) => left[0],
                };
                let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n", body.len());
                let _ = stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes());
                let _ = stream.write_all(body);
            }
        });
        Artifact { repository, layout: Layout::Maven, group: "g", name: "a".to_owned() }
    }

    const FILE: &str = "13.7.0/a-13.7.0.jar";
    // Digests of "abc" (FIPS 180-4, examples).
    const SHA1: &[u8] = b"a9993e364706816aba3e25717850c26c9cd0d89d";
    const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn fetch(repository: &Artifact, known: Option<&'static str>) -> Result<Option<Vec<u8>>, Error> {
        let directory = tempfile::tempdir().unwrap();
        fetch_into(&Cache::at(directory.path().join("cache")).unwrap(), repository, known)
    }

    fn fetch_into(
        cache: &Cache,
        repository: &Artifact,
        known: Option<&'static str>,
    ) -> Result<Option<Vec<u8>>, Error> {
        repository.fetch("13.7.0", "", known, cache, "x 13.7")
    }

    #[test]
    fn versions_are_those_of_releases() {
        let list = b"<versions><version>9.6.24</version>\n<version>10.5.0-1</version> <version>13.7.0</version></versions>";
        let repository = repository(&[("maven-metadata.xml", &[(200, list)])]);
        assert_eq!(repository.versions().unwrap(), [[9, 6, 24], [13, 7, 0]]);
    }

    #[test]
    fn a_file_is_compared_with_known_or_published_digests() {
        let sum = format!("{FILE}.sha1");
        let published = repository(&[(FILE, &[(200, b"abc")]), (&sum, &[(200, SHA1)])]);
        assert_eq!(fetch(&published, None).unwrap().unwrap(), b"abc");
        assert_eq!(fetch(&published, Some(SHA256)).unwrap().unwrap(), b"abc");
        assert!(fetch(&repository(&[]), None).unwrap().is_none());

        let alone = repository(&[(FILE, &[(200, b"abd")])]);
        let error = fetch(&alone, Some(SHA256)).unwrap_err();
        for part in ["x 13.7", SHA256, "expected", "Nothing was unpacked"] {
            assert!(error.to_string().contains(part), "{error}");
        }
        assert!(fetch(&alone, None).unwrap_err().to_string().contains("no checksum"));
        let other = repository(&[(FILE, &[(200, b"abd")]), (&sum, &[(200, SHA1)])]);
        let error = fetch(&other, None).unwrap_err().to_string();
        assert!(error.contains("expected sha1 a9993e36"), "{error}");
    }

    #[test]
    fn a_file_replaced_with_its_checksum_is_refused() {
        // Of "abd".
        const OTHER: &[u8] = b"cb4cc28df0fdbe0ecf9d9662e294b118092a5735";
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cache");
        let cache = Cache::at(&path).unwrap();
        let sum = format!("{FILE}.sha1");
        let files: &[Answer] = &[(200, b"abc"), (200, b"abc"), (200, b"abd")];
        let sums: &[Answer] = &[(200, SHA1), (200, SHA1), (200, OTHER)];
        let server = repository(&[(FILE, files), (&sum, sums)]);
        for _ in 0..2 {
            assert_eq!(fetch_into(&cache, &server, None).unwrap().unwrap(), b"abc");
        }
        // Deleting the cache does not delete this record.
        std::fs::remove_dir_all(&path).unwrap();
        let cache = Cache::at(&path).unwrap();
        let error = fetch_into(&cache, &server, None).unwrap_err();
        assert!(!error.is_request());
        let error = error.to_string();
        let kept = first_seen::path(&cache);
        for part in ["x 13.7", SHA256, "Nothing was unpacked", kept.to_str().unwrap()] {
            assert!(error.contains(part), "{error}");
        }
        let line = format!("{SHA256}  {}/g/a/{FILE}\n", server.repository);
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), line);
        // Whoever knows why removes the line.
        std::fs::write(&kept, "").unwrap();
        assert_eq!(fetch_into(&cache, &server, None).unwrap().unwrap(), b"abd");
    }

    #[test]
    fn packages_of_npm_need_a_known_digest() {
        let file = "-/a-13.7.0.tgz";
        let mut registry = repository(&[(file, &[(200, b"abc")])]);
        registry.repository.push_str("/g");
        registry.layout = Layout::Npm;
        assert_eq!(fetch(&registry, Some(SHA256)).unwrap().unwrap(), b"abc");
        assert!(fetch(&registry, None).unwrap_err().to_string().contains("no checksum"));
        assert!(registry.versions().is_err());
    }

    #[test]
    fn only_temporary_failures_are_retried() {
        let answers: &[Answer] = &[(503, b""), (200, b"abc")];
        let busy = repository(&[(FILE, answers)]);
        assert_eq!(fetch(&busy, Some(SHA256)).unwrap().unwrap(), b"abc");
        let answers: &[Answer] = &[(403, b""), (200, b"abc")];
        let closed = repository(&[(FILE, answers)]);
        let error = fetch(&closed, Some(SHA256)).unwrap_err().to_string();
        assert!(error.contains("403") && error.contains("fetch x 13.7"), "{error}");
    }
}
