//! Writing a static site, and renewing it in place.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use store::Store;

use crate::catalog::{Catalog, Entry};
use crate::kept::Kept;
use crate::mark::sum;
use crate::place::Place;
use crate::workers::each;
use crate::{Error, app};

/// The file that lists the others, written last.
pub const MANIFEST: &str = "site.json";

/// Version of the manifest.
const FORMAT: u32 = 1;

/// What a site has, and from what it was made.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    /// By path.
    files: BTreeMap<String, Written>,
    kept: Kept,
}

/// A file of the site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Written {
    /// The mark of the document that it has.
    mark: String,
    /// A hash of its content.
    sum: String,
}

/// Only its format, because the rest of a newer one may have any shape.
#[derive(Debug, Deserialize)]
struct Version {
    format: u32,
}

/// What became of the files of a site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Renewed {
    /// Files that are new or have another content.
    pub written: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Files that stayed.
    pub unchanged: usize,
    /// Files of experiments that are gone.
    pub removed: usize,
}

/// Brings a site up to date with a store. Writes only files whose content has changed, and makes
/// only those whose experiments have. Removes the files of experiments that are gone; touches no
/// file that it has not written itself. `progress` gets the number of files done and of all.
///
/// Killed in the middle, it goes on the next time: the list of files is written last.
///
/// # Errors
/// If the store cannot be read, the place cannot be written, or has other files and no site.
pub fn renew(
    store: &Store,
    place: &dyn Place,
    mut progress: impl FnMut(usize, usize),
) -> Result<Renewed, Error> {
    app::check()?;
    let (Manifest { files: mut old, kept, .. }, before) = manifest(place)?;
    let catalog = Catalog::read(store, kept)?;
    let mut files = BTreeMap::new();
    let mut renewed = Renewed::default();
    let all = catalog.entries().count();
    let mut changed: Vec<(&str, &Entry, Option<Written>)> = Vec::new();
    for (path, entry) in catalog.entries() {
        let known = old.remove(path).filter(|_| place.may_have(path));
        match known {
            Some(written) if written.mark == entry.mark => {
                files.insert(path.to_owned(), written);
                renewed.unchanged += 1;
            }
            known => changed.push((path, entry, known)),
        }
    }
    let make = |store: &Store, (_, entry, _): &(_, &Entry, _)| catalog.make(store, entry);
    each(store, &changed, make, |at, content| {
        let (path, entry, known) = &changed[at];
        let written = Written { mark: entry.mark.clone(), sum: sum(&content) };
        if known.as_ref().is_some_and(|known| known.sum == written.sum) {
            renewed.unchanged += 1;
        } else {
            place.write(path, &content)?;
            renewed.written += 1;
            renewed.bytes += content.len();
        }
        files.insert((*path).to_owned(), written);
        progress(files.len(), all);
        Ok(())
    })?;
    for path in old.keys().filter(|path| is_inside(path)) {
        place.remove(path)?;
        renewed.removed += 1;
    }
    let manifest = Manifest { format: FORMAT, files, kept: catalog.kept().clone() };
    let text = serde_json::to_vec(&manifest)?;
    if text != before {
        place.write(MANIFEST, &text)?;
    }
    Ok(renewed)
}

/// The manifest of a site, and its text; that of none if the place is new. One that cannot be read
/// is of a site all the same: everything is written again.
fn manifest(place: &dyn Place) -> Result<(Manifest, Vec<u8>), Error> {
    let Some(text) = place.read(MANIFEST)? else {
        place.check_new()?;
        // So that a site of which writing was interrupted is known for one.
        let manifest = Manifest { format: FORMAT, ..Manifest::default() };
        let text = serde_json::to_vec(&manifest)?;
        place.write(MANIFEST, &text)?;
        return Ok((manifest, text));
    };
    if let Ok(Version { format: found }) = serde_json::from_slice(&text)
        && found > FORMAT
    {
        return Err(Error::Newer { place: place.name(), found, known: FORMAT });
    }
    Ok((serde_json::from_slice(&text).unwrap_or_default(), text))
}

/// True for a path as this crate makes them: a manifest may come from elsewhere.
fn is_inside(path: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
    };
    path.split('/').all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_inside_is_removed() {
        for good in
            ["index.html", "api/v1/experiments/3.json", "api/v1/history/a-0/b-1/date/o.json"]
        {
            assert!(is_inside(good), "{good}");
        }
        for bad in ["", "/etc/passwd", "../x", "a//b", "a/../b", ".git/config", "a\\b", "a b"] {
            assert!(!is_inside(bad), "{bad}");
        }
    }
}
