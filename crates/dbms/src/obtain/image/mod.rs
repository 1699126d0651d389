//! Container images, from a registry or a file, unpacked without a container engine.
//!
//! `registry` and `layout` are a `place` of manifests and layers. `manifest` reads the former,
//! `layers` applies the latter to a directory. The result in the cache is a directory with the
//! image's files in `root`, and what [`crate::process::loader`] needs to run its programs with its
//! own libraries.

mod layers;
mod layout;
mod manifest;
mod place;
mod registry;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use reference::Image;

use crate::api::builds::IMAGE;
use crate::data::paths;
use crate::obtain::unpack::Modes;
use crate::process::{identity, loader};
use crate::resolve::Form;
use crate::{Cache, Error, Installation, Kind, Reference, ServerUser};
use layout::Layout;
use manifest::{Descriptor, Document};
use place::{Hashed, Place, matches, small};
use registry::Registry;

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
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    let doing = format!("fetch {image}");
    let failed = |detail: String| Error::Archive { doing: doing.clone(), detail };
    let place: Box<dyn Place> = match image {
        Image::Registry { host, name, tag, digest } => {
            let wanted = digest.as_ref().or(tag.as_ref()).map_or("latest", String::as_str);
            Box::new(Registry::new(host.as_deref(), name, wanted))
        }
        Image::File(path) => Box::new(Layout::open(&paths::expand_home(path), cache, user)?),
    };
    let found = find(&*place).map_err(failed)?;
    let name = format!("image-{}", found.digest.trim_start_matches("sha256:"));
    let tree = cache.finished(&name);
    if !tree.is_dir() {
        let _lock = cache.lock(&name)?;
        // Another process may have made it during the wait.
        if !tree.is_dir() {
            let bytes: u64 = found.layers.iter().map(|layer| layer.size).sum();
            progress(&format!("fetching {image}: {:.0} MB", bytes as f64 / 1e6));
            unpack(image, &*place, &found, &name, cache, user)?;
            progress(&format!("{image}: unpacked into {}", tree.display()));
        }
    }
    let exact = exact(image, &found, cache, progress)?;
    let source = Reference { kind, form: Form::Image(exact) }.to_string();
    let root = kind.packaged(&tree.join(loader::ROOT));
    let mut installation = Installation { source, ..kind.describe(&root, user)? };
    installation.build.insert(IMAGE.to_owned(), found.named);
    Ok(installation)
}

/// The image with its digest. Says if its tag meant another one the last time.
fn exact(
    image: &Image,
    found: &Found,
    cache: &Cache,
    progress: &dyn Fn(&str),
) -> Result<Image, Error> {
    let Image::Registry { host, name, tag, digest } = image.clone() else {
        return Ok(image.clone());
    };
    if digest.is_none() {
        let known = cache.path().join("image-tags.json");
        let _lock = cache.lock("image-tags")?;
        let read = fs::read(&known).unwrap_or_default();
        let mut tags: std::collections::BTreeMap<String, String> =
            serde_json::from_slice(&read).unwrap_or_default();
        let before = tags.insert(image.to_string(), found.named.clone());
        if let Some(before) = before.filter(|before| *before != found.named) {
            progress(&format!(
                "{image} has moved: it is {} now, and was {before} when it was last fetched here",
                found.named
            ));
        }
        let text = serde_json::to_vec_pretty(&tags).unwrap_or_default();
        fs::write(&known, text).map_err(Error::io("write", &known))?;
    }
    Ok(Image::Registry { host, name, tag, digest: Some(found.named.clone()) })
}

/// Reads the manifest for this machine, and the configuration that it names.
fn find(place: &dyn Place) -> Result<Found, String> {
    let (bytes, named) = place.document()?;
    let mut digest = named.clone();
    let mut document = Document::read(&bytes)?;
    if let Some(manifests) = &document.manifests {
        let chosen = manifest::for_this_machine(manifests)?;
        digest.clone_from(&chosen.digest);
        document = Document::read(&small(place, &chosen.of_manifest())?)?;
    }
    let (Some(config), Some(layers)) = (document.config, document.layers) else {
        return Err("its manifest names no layers".to_owned());
    };
    let unpacked = manifest::unpacked_digests(&small(place, &config)?)?;
    if layers.len() != unpacked.len() {
        let found = unpacked.len();
        return Err(format!("its manifest has {} layers, its configuration {found}", layers.len()));
    }
    Ok(Found { named, digest, layers, unpacked })
}

/// Makes the tree of an image in the cache.
fn unpack(
    image: &Image,
    place: &dyn Place,
    found: &Found,
    name: &str,
    cache: &Cache,
    user: &ServerUser,
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
        fetch(place, layer, &fetched).map_err(failed)?;
        let file = File::open(&fetched).map_err(Error::io("open", &fetched))?;
        identity::as_user(user, || apply(file, unpacked, &root, &what))?;
    }
    let libraries = identity::as_user(user, || Ok(loader::libraries(&root)))?;
    identity::take_over(user, &root, &made.join(loader::ROOT), Modes::Open)?;
    loader::mark(&made, &libraries)?;
    cache.publish(&made, name).map(drop)
}

/// Fetches a layer into a file, checked.
fn fetch(place: &dyn Place, layer: &Descriptor, into: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", layer.digest);
    let mut reader = Hashed::new(place.open(layer)?);
    let mut file = File::create(into).map_err(failed)?;
    io::copy(&mut reader, &mut file).map_err(failed)?;
    matches(&layer.digest, &reader.digest())
}

/// Applies a layer, compressed by gzip or not, and checks its digest.
fn apply(mut file: File, expected: &str, root: &Path, what: &str) -> Result<(), Error> {
    let refused = |problem: String| Error::Unpack { archive: what.to_owned(), problem };
    let damaged = |error: io::Error| refused(crate::obtain::unpack::damaged(error));
    let mut magic = [0; 4];
    let length = file.read(&mut magic).map_err(damaged)?;
    io::Seek::rewind(&mut file).map_err(damaged)?;
    let file = io::BufReader::with_capacity(1 << 16, file);
    let tar: Box<dyn Read> = match magic.get(..length).unwrap_or_default() {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            let problem = "a layer is compressed by zstd, which steelyard does not read; use a tag \
                           whose layers are compressed by gzip, or `docker save` the image";
            return Err(refused(problem.to_owned()));
        }
        _ => Box::new(file),
    };
    let mut hashed = Hashed::new(tar);
    layers::apply(&mut hashed, root, what)?;
    // What follows the end of the archive belongs to the digest.
    io::copy(&mut hashed, &mut io::sink()).map_err(damaged)?;
    matches(expected, &hashed.digest()).map_err(refused)
}
