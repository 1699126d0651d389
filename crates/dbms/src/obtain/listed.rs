//! The known versions of systems: those in the cache, those with a known digest, and those that
//! archives offer.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::fetch::maven::{Version, parse};
use super::fetch::released;
use super::installed::{self, DESCRIPTION};
use super::release::shown;
use crate::data::paths;
use crate::{Cache, Error, Installation, Kind, systems};

/// A version of a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedVersion {
    /// The system: `postgres`.
    pub system: String,
    /// The version, as its developers write it: `13.7`.
    pub version: String,
    /// Its source, such as `git 86a4dc1e6f29`; `None` for a version that is fetched.
    pub built_from: Option<String>,
    /// Size of its files in the cache; `None` if it is not there.
    pub cached_bytes: Option<u64>,
    /// True if steelyard knows the digest of its file for this processor.
    pub pinned: bool,
    /// True if an archive offers it now; `None` if none was asked.
    pub offered: Option<bool>,
}

/// The known versions of a system, or of all that are fetched; builds after releases. With
/// `online`, its archives are asked for theirs.
///
/// # Errors
/// [`Error::Unsupported`] for a system that is not fetched; [`Error::Archive`] if one can't be
/// asked; [`Error::Io`].
pub fn versions(
    system: Option<&str>,
    cache: &Cache,
    online: bool,
) -> Result<Vec<ListedVersion>, Error> {
    let mut kinds = systems::SYSTEMS.to_vec();
    kinds.retain(|kind| !kind.archives().is_empty());
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    if let Some(name) = system.filter(|name| !names.contains(name)) {
        let remedy = format!("name one of {}", names.join(", "));
        return Err(Error::unsupported(format!("listing the versions of `{name}`"), remedy));
    }
    kinds.retain(|kind| system.is_none_or(|name| name == kind.name()));
    let mut all = Vec::new();
    for kind in kinds {
        all.extend(releases(kind, cache, online)?);
        all.extend(builds(kind, cache)?);
    }
    Ok(all)
}

/// The releases whose digest is known for this processor, by system and version. Reads no file.
pub fn known_versions() -> Vec<(&'static str, String)> {
    let of = |kind: &&'static dyn Kind| {
        let mut versions = pinned(*kind);
        versions.sort();
        versions.dedup();
        let shown = |version: &Version| (kind.name(), shown(*kind, version));
        versions.iter().map(shown).collect::<Vec<_>>()
    };
    systems::SYSTEMS.iter().flat_map(of).collect()
}

fn pinned(kind: &dyn Kind) -> Vec<Version> {
    let mut pinned = Vec::new();
    for archive in kind.archives() {
        let here = archive.known.iter().filter(|(_, cpu, _)| *cpu == std::env::consts::ARCH);
        pinned.extend(here.filter_map(|(version, ..)| parse(version)));
    }
    pinned
}

fn releases(kind: &dyn Kind, cache: &Cache, online: bool) -> Result<Vec<ListedVersion>, Error> {
    let mut offered: Vec<Version> = Vec::new();
    for archive in kind.archives().iter().filter(|_| online) {
        let failed = |detail| {
            let doing = format!("list the versions of {}", kind.name());
            Error::Archive { doing, detail }
        };
        offered.extend(archive.versions().map_err(failed)?);
    }
    let mut known: BTreeMap<Version, ListedVersion> = BTreeMap::new();
    for version in released::cached(kind, cache) {
        let directory = cache.finished(&released::cache_name(kind, &version));
        known.entry(version).or_default().cached_bytes = Some(size(&directory)?);
    }
    for version in pinned(kind) {
        known.entry(version).or_default().pinned = true;
    }
    for version in &offered {
        known.entry(*version).or_default();
    }
    let named = |(version, listed): (Version, ListedVersion)| ListedVersion {
        system: kind.name().to_owned(),
        version: shown(kind, &version),
        offered: online.then(|| offered.contains(&version)),
        ..listed
    };
    Ok(known.into_iter().map(named).collect())
}

/// The finished builds of a system. Their names in the cache have what they were built from.
fn builds(kind: &dyn Kind, cache: &Cache) -> Result<Vec<ListedVersion>, Error> {
    let prefix = format!("{}-", kind.name());
    let mut names = cache.names(&prefix);
    names.sort();
    let mut built = Vec::new();
    for name in names.iter().filter(|name| installed::is_complete(cache, name)) {
        let mut parts = name[prefix.len()..].splitn(3, '-');
        let (Some(from @ ("git" | "src")), Some(source)) = (parts.next(), parts.next()) else {
            continue;
        };
        let directory = cache.finished(name);
        // A damaged one is reported by what uses it.
        let Some(installation) = description(&directory) else { continue };
        built.push(ListedVersion {
            system: kind.name().to_owned(),
            version: installation.version,
            built_from: Some(format!("{from} {source}")),
            cached_bytes: Some(size(&directory)?),
            ..ListedVersion::default()
        });
    }
    Ok(built)
}

fn description(directory: &Path) -> Option<Installation> {
    serde_json::from_slice(&fs::read(directory.join(DESCRIPTION)).ok()?).ok()
}

fn size(directory: &Path) -> Result<u64, Error> {
    let mut bytes = 0;
    paths::walk(directory, &mut |_, metadata| {
        bytes += if metadata.is_file() { metadata.len() } else { 0 };
        Ok(())
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(cache: &Cache, name: &str, version: &str) {
        let made = tempfile::tempdir_in(cache.path()).unwrap().keep();
        fs::write(made.join("file"), [0; 1000]).unwrap();
        let mut installation = Installation::of("postgres", version);
        installed::publish(cache, name, &made, &mut installation).unwrap();
    }

    #[test]
    fn versions_in_the_cache_and_those_with_a_digest_are_listed() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::at(directory.path()).unwrap();
        let cpu = std::env::consts::ARCH;
        put(&cache, &format!("postgres-99.7.0-{cpu}"), "99.7");
        put(&cache, "postgres-git-0123456789ab-cdef01234567", "99devel");
        fs::create_dir(directory.path().join(format!("postgres-98.1.0-{cpu}"))).unwrap();
        let all = versions(None, &cache, false).unwrap();
        let own = versions(Some("postgres"), &cache, false).unwrap();
        let (others, postgres): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|listed| listed.system != "postgres");
        assert_eq!(postgres, own);
        assert!(others.iter().all(|listed| listed.pinned && listed.cached_bytes.is_none()));
        let [pinned @ .., release, build] = &own[..] else { panic!("{own:?}") };
        assert!(pinned.iter().all(|it| it.pinned && it.cached_bytes.is_none()), "{own:?}");
        assert_eq!((release.version.as_str(), release.pinned), ("99.7", false));
        assert!(release.cached_bytes.is_some_and(|bytes| (1000..3000).contains(&bytes)));
        assert_eq!((release.built_from.as_deref(), release.offered), (None, None));
        let expected = ("99devel", Some("git 0123456789ab"));
        assert_eq!((build.version.as_str(), build.built_from.as_deref()), expected);
        let error = versions(Some("none"), &cache, false).unwrap_err();
        assert!(error.to_string().contains("name one of postgres, mysql, mariadb"), "{error}");
        assert!(error.is_request());
    }
}
