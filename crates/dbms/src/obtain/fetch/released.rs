//! Released versions, from their archive into the cache.
//!
//! The file's checksum is verified before anything is unpacked. Unpacking and asking for the
//! version are done with the permissions of the servers' user.

use super::first_seen;
use super::maven::{Version, joined, parse};
use crate::api::builds::ARCHIVE_HASH;
use crate::data::{hash, paths};
use crate::obtain::installed;
use crate::obtain::release::{self, Release, shown};
use crate::obtain::unpack::{self, Modes};
use crate::process::identity;
use crate::{Archive, Cache, Error, Installation, Kind, ServerUser};

/// The release that `release` names, from the cache or the archive.
pub(crate) fn obtain(
    kind: &dyn Kind,
    release: &Release,
    cache: &Cache,
    user: &ServerUser,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    let archives = kind.archives();
    if archives.is_empty() {
        return Err(kind.lacks("fetching released versions"));
    }
    let version = match release.exact() {
        Some(version) => version,
        None => newest(kind, &archives, release, cache, progress)?,
    };
    let name = cache_name(kind, &version);
    installed::find_or_make(kind, cache, &name, &name, user, || {
        user.check_reach(cache.path())?;
        let what = format!("{} {}", kind.name(), shown(kind, &version));
        progress(&format!("fetching {what}"));
        let Some((archive, bytes)) = fetch(&archives, &version, cache, &what)? else {
            let listed: Vec<Version> =
                archives.iter().flat_map(|it| it.versions().unwrap_or_default()).collect();
            return Err(not_found(kind, release, &listed));
        };
        let digest = hash::of(&bytes);
        if archive.digest(&joined(&version)).is_none() {
            progress(&format!(
                "steelyard knows no digest for {what}; only the archive's own checksum was verified (SHA-256 {digest}, kept in {})",
                first_seen::path(cache).display()
            ));
        }
        let workshop = cache.workshop(&name)?;
        let (unpacked, made) = (workshop.path().join("unpacked"), workshop.path().join("made"));
        paths::make_private(&unpacked, user)?;
        identity::as_user(user, || {
            let name = format!("the archive of {what}");
            let tar = (archive.tar)(&bytes)
                .map_err(|problem| Error::Unpack { archive: name.clone(), problem })?;
            unpack::check(&*tar, &name)?;
            unpack::unpack(&*tar, &unpacked, Modes::Open, &name)
        })?;
        identity::take_over(user, &unpacked, &made, Modes::Open)?;
        let source = format!("{}@{}", kind.name(), shown(kind, &version));
        let mut installation = Installation { source, ..kind.describe(&made, user)? };
        installation.build.insert(ARCHIVE_HASH.to_owned(), digest);
        installed::publish(cache, &name, &made, &mut installation)?;
        progress(&format!(
            "{what}: {:.1} MB fetched, unpacked into {}",
            bytes.len() as f64 / 1e6,
            cache.finished(&name).display()
        ));
        Ok(installation)
    })
}

/// The first file that one of the archives has of a version.
fn fetch<'a>(
    archives: &'a [Archive],
    version: &Version,
    cache: &Cache,
    what: &str,
) -> Result<Option<(&'a Archive, Vec<u8>)>, Error> {
    let version = joined(version);
    for archive in archives {
        let there = match archive.named(&version) {
            Some(there) => there,
            None if archive.named.is_empty() => &version,
            None => continue,
        };
        let known = archive.digest(&version);
        for classifier in archive.classifiers {
            if let Some(bytes) = archive.artifact.fetch(there, classifier, known, cache, what)? {
                return Ok(Some((archive, bytes)));
            }
        }
    }
    Ok(None)
}

/// The newest of a series in the archives, or if one cannot be reached, in the cache.
fn newest(
    kind: &dyn Kind,
    archives: &[Archive],
    series: &Release,
    cache: &Cache,
    progress: &dyn Fn(&str),
) -> Result<Version, Error> {
    let lists: Result<Vec<_>, String> = archives.iter().map(Archive::versions).collect();
    let error = match lists.map(|lists| lists.concat()) {
        Ok(listed) => {
            let newest = listed.iter().filter(|version| series.matches(version)).max();
            return newest.copied().ok_or_else(|| not_found(kind, series, &listed));
        }
        Err(error) => error,
    };
    let Some(cached) = cached(kind, cache).into_iter().filter(|v| series.matches(v)).max() else {
        let doing = format!("ask for the newest {} {series}", kind.name());
        return Err(Error::Archive { doing, detail: error });
    };
    progress(&format!(
        "the archive cannot be reached ({error}); using {}, the newest {series}.x in the cache",
        shown(kind, &cached)
    ));
    Ok(cached)
}

/// The versions in the cache, in no order.
pub(crate) fn cached(kind: &dyn Kind, cache: &Cache) -> Vec<Version> {
    let (prefix, suffix) = (format!("{}-", kind.name()), format!("-{}", std::env::consts::ARCH));
    let version = |name: String| parse(name.strip_prefix(&prefix)?.strip_suffix(&suffix)?);
    let names = cache.names(&prefix).into_iter();
    names.filter(|name| installed::is_complete(cache, name)).filter_map(version).collect()
}

/// The name in the cache: one per version and processor.
pub(crate) fn cache_name(kind: &dyn Kind, version: &Version) -> String {
    format!("{}-{}-{}", kind.name(), joined(version), std::env::consts::ARCH)
}

/// The error for a version that does not exist, with similar ones.
fn not_found(kind: &dyn Kind, asked: &Release, listed: &[Version]) -> Error {
    let near = asked.nearest(listed);
    let asked = format!("{} {asked}", kind.name());
    let all = |versions: Vec<Version>| versions.iter().map(|it| shown(kind, it)).collect();
    let newest = all(release::newest(listed));
    Error::VersionNotFound { asked, near: all(near), newest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_says_which_versions_have_a_known_digest() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        for kind in crate::systems::SYSTEMS {
            let archives = kind.archives();
            let mut known: Vec<Version> = archives
                .iter()
                .flat_map(|archive| archive.known.iter())
                .filter_map(|(version, ..)| parse(version))
                .collect();
            known.sort_unstable();
            known.dedup();
            if !known.is_empty() {
                let known: Vec<_> = known.iter().map(|version| shown(kind, version)).collect();
                let line = format!("| `{}` | {} |", kind.name(), known.join(", "));
                assert!(guide.contains(&line), "docs/guide.md lacks\n{line}");
            }
        }
    }
}
