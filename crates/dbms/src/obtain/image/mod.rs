//! Container images, from a registry or a file, unpacked without a container engine.
//!
//! `registry` and `layout` give the `parts` of an image, manifests and layers. `manifest` reads the
//! former, `layers` applies the latter to a directory. The result in the cache is a directory with
//! the image's files in `root`, and what [`crate::process::loader`] needs to run its programs with
//! its own libraries.

mod layers;
mod layout;
mod manifest;
mod parts;
mod registry;
mod zstd;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use flate2::read::MultiGzDecoder;
use reference::Image;

use crate::api::builds::IMAGE;
use crate::data::paths;
use crate::obtain::fetch::http;
use crate::obtain::unpack::Modes;
use crate::process::{identity, loader};
use crate::resolve::Form;
use crate::{Cache, Error, Installation, Kind, Reference, ServerUser};
use layout::Layout;
use manifest::{Descriptor, Document};
use parts::{Hashed, Parts, Stoppable, matches, small};
use registry::Registry;
use zstd::Frames;

/// The file of digests in the cache.
const KNOWN: &str = "images.json";

/// An image's manifest for this machine.
struct Found {
    /// The digest of what the reference names, perhaps an index of images for several machines.
    named: String,
    /// The digest of the manifest.
    digest: String,
    layers: Vec<Descriptor>,
    /// SHA-256 of each layer when it is unpacked.
    unpacked: Vec<String>,
}

/// The installation in an image, from the cache, a registry or a file.
pub(crate) fn obtain(
    kind: &'static dyn Kind,
    image: &Image,
    cache: &Cache,
    user: &ServerUser,
    interrupted: &AtomicBool,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    let doing = format!("fetch {image}");
    let failed = |detail: String| Error::Archive { doing: doing.clone(), detail };
    let parts: Box<dyn Parts> = match image {
        Image::Registry { host, name, tag, digest } => {
            let wanted = digest.as_ref().or(tag.as_ref()).map_or("latest", String::as_str);
            Box::new(Registry::new(host.as_deref(), name, wanted))
        }
        Image::File(path) => Box::new(Layout::open(&paths::expand_home(path))?),
    };
    let name_of = |digest: &str| format!("image-{}", digest.trim_start_matches("sha256:"));
    let tree_of = |digest: &str| cache.finished(&name_of(digest));
    let pinned = match image {
        Image::Registry { digest, .. } => digest.as_ref(),
        Image::File(_) => None,
    };
    let kept = pinned.and_then(|named| Some((named.clone(), known(cache).remove(named)?)));
    let kept = kept.filter(|(_, digest)| tree_of(digest).is_dir());
    let (named, digest) = match kept {
        // The registry may be out of reach by now, or no longer have it.
        Some(kept) => kept,
        None => {
            let found = find(&*parts).map_err(failed)?;
            let tree = tree_of(&found.digest);
            if !tree.is_dir() {
                let name = name_of(&found.digest);
                let _lock = cache.lock(&name)?;
                // Another process may have made it during the wait.
                if !tree.is_dir() {
                    let bytes: u64 = found.layers.iter().map(|layer| layer.size).sum();
                    progress(&format!("fetching {image}: {:.0} MB", bytes as f64 / 1e6));
                    unpack(&*parts, &found, (image, &name), (cache, user), interrupted)?;
                    progress(&format!("{image}: unpacked into {}", tree.display()));
                }
            }
            remember(image, &found, cache, progress)?;
            (found.named, found.digest)
        }
    };
    let exact = match image.clone() {
        Image::Registry { host, name, tag, .. } => {
            Image::Registry { host, name, tag, digest: Some(named.clone()) }
        }
        file => file,
    };
    let source = Reference { kind, form: Form::Image(exact) }.to_string();
    let root = kind.packaged(&tree_of(&digest).join(loader::ROOT));
    let mut installation = Installation { source, ..kind.describe(&root, user)? };
    installation.build.insert(IMAGE.to_owned(), named);
    Ok(installation)
}

/// The digests that are known here: of what an image with a tag was when it was last fetched, and
/// of the manifest for this machine by that.
fn known(cache: &Cache) -> BTreeMap<String, String> {
    let read = fs::read(cache.path().join(KNOWN)).unwrap_or_default();
    serde_json::from_slice(&read).unwrap_or_default()
}

/// Keeps the digests of an image of a registry. Says if its tag meant another one the last time.
fn remember(
    image: &Image,
    found: &Found,
    cache: &Cache,
    progress: &dyn Fn(&str),
) -> Result<(), Error> {
    let Image::Registry { digest, .. } = image else { return Ok(()) };
    let _lock = cache.lock(KNOWN)?;
    let mut digests = known(cache);
    digests.insert(found.named.clone(), found.digest.clone());
    if digest.is_none() {
        let before = digests.insert(image.to_string(), found.named.clone());
        if let Some(before) = before.filter(|before| *before != found.named) {
            progress(&format!(
                "{image} has moved: it is {} now, and was {before} when it was last fetched here",
                found.named
            ));
        }
    }
    let path = cache.path().join(KNOWN);
    let text = serde_json::to_vec_pretty(&digests).unwrap_or_default();
    paths::replace(&path, &text)
}

/// Reads the manifest for this machine, and the configuration that it names.
fn find(parts: &dyn Parts) -> Result<Found, String> {
    let (bytes, named) = parts.document()?;
    let mut digest = named.clone();
    let mut document = Document::read(&bytes)?;
    if let Some(manifests) = &document.manifests {
        let chosen = manifest::for_this_machine(manifests)?;
        digest.clone_from(&chosen.digest);
        document = Document::read(&small(parts, &chosen.of_manifest())?)?;
    }
    let (Some(config), Some(layers)) = (document.config, document.layers) else {
        return Err("its manifest names no layers".to_owned());
    };
    let unpacked = manifest::unpacked_digests(&small(parts, &config)?)?;
    if layers.len() != unpacked.len() {
        let found = unpacked.len();
        return Err(format!("its manifest has {} layers, its configuration {found}", layers.len()));
    }
    Ok(Found { named, digest, layers, unpacked })
}

/// Makes the tree of an image in the cache.
fn unpack(
    parts: &dyn Parts,
    found: &Found,
    (image, name): (&Image, &str),
    (cache, user): (&Cache, &ServerUser),
    interrupted: &AtomicBool,
) -> Result<(), Error> {
    user.check_reach(cache.path())?;
    let workshop = cache.workshop(name)?;
    let (root, made) = (workshop.path().join("unpacked"), workshop.path().join("made"));
    paths::make_private(&root, user)?;
    paths::create_directories(&made)?;
    let what = image.to_string();
    let failed = |detail: String| Error::Archive { doing: format!("fetch {what}"), detail };
    let fetched = workshop.path().join("layer");
    for (layer, unpacked) in found.layers.iter().zip(&found.unpacked) {
        // What `docker save` wrote is only checked when it is unpacked.
        let checked = (layer.digest != *unpacked).then_some(&layer.digest);
        let fetch = || {
            let fetched = fetch(parts, layer, checked, &fetched, interrupted);
            fetched.map_err(|problem| (problem, !interrupted.load(Relaxed)))
        };
        let done = http::retried(&layer.digest, fetch);
        Error::check(interrupted, "fetching an image")?;
        done.map_err(failed)?;
        let file = File::open(&fetched).map_err(Error::io("open", &fetched))?;
        identity::as_user(user, || apply(file, unpacked, &root, &what))?;
    }
    let libraries = identity::as_user(user, || Ok(loader::libraries(&root)))?;
    identity::take_over(user, &root, &made.join(loader::ROOT), Modes::Open)?;
    loader::mark(&made, &libraries)?;
    cache.publish(&made, name).map(drop)
}

/// Fetches a layer into a file, which must have this digest.
fn fetch(
    parts: &dyn Parts,
    layer: &Descriptor,
    expected: Option<&String>,
    into: &Path,
    interrupted: &AtomicBool,
) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let mut reader = Hashed::new(Stoppable { inner: parts.open(layer)?, interrupted });
    let mut file = File::create(into).map_err(failed)?;
    io::copy(&mut reader, &mut file).map_err(failed)?;
    let found = reader.digest();
    expected.map_or(Ok(()), |expected| matches(expected, &found))
}

/// Applies a layer, compressed by gzip, zstd or not at all, and checks its digest.
fn apply(mut file: File, expected: &str, root: &Path, what: &str) -> Result<(), Error> {
    let refused = |problem: String| Error::Unpack { archive: what.to_owned(), problem };
    let damaged = |error: io::Error| refused(crate::obtain::unpack::damaged(error));
    let mut magic = [0; 4];
    let length = file.read(&mut magic).map_err(damaged)?;
    io::Seek::rewind(&mut file).map_err(damaged)?;
    let file = io::BufReader::with_capacity(1 << 16, file);
    let tar: Box<dyn Read> = match magic.get(..length).unwrap_or_default() {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
        // A frame of zstd, or one that it skips.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Box::new(Frames::new(file)),
        _ => Box::new(file),
    };
    let mut hashed = Hashed::new(tar);
    layers::apply(&mut hashed, root, what)?;
    // What follows the end of the archive belongs to the digest.
    io::copy(&mut hashed, &mut io::sink()).map_err(damaged)?;
    matches(expected, &hashed.digest()).map_err(refused)
}
