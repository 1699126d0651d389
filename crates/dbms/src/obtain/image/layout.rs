//! Images in files: the OCI image layout as a directory or in a tar archive, and `docker save`,
//! which wrote a format of its own until Docker 25.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;
use tempfile::TempDir;

use super::manifest::{self, Descriptor, Document};
use super::place::{Hashed, Place, small};
use crate::data::paths;
use crate::obtain::unpack::{self, Modes};
use crate::process::identity;
use crate::{Cache, Error, ServerUser};

/// An unpacked image file.
pub(super) struct Layout {
    directory: PathBuf,
    /// Keeps the directory, if it was unpacked here.
    _unpacked: Option<TempDir>,
}

/// An image in `manifest.json`, as `docker save` writes it.
#[derive(Deserialize)]
struct Saved {
    #[serde(rename = "Config")]
    config: PathBuf,
    #[serde(rename = "Layers")]
    layers: Vec<PathBuf>,
}

impl Layout {
    /// Opens the image in this file or directory.
    pub(super) fn open(path: &Path, cache: &Cache, user: &ServerUser) -> Result<Self, Error> {
        if path.is_dir() {
            return Ok(Self { directory: path.to_path_buf(), _unpacked: None });
        }
        let file = File::open(path).map_err(Error::io("open the image", path))?;
        let unpacked = tempfile::Builder::new()
            .prefix(".image-file.")
            .tempdir_in(cache.path())
            .map_err(Error::io("create a temporary directory in", cache.path()))?;
        paths::set_mode(unpacked.path(), 0o755)?;
        let (theirs, directory) = (unpacked.path().join("theirs"), unpacked.path().join("image"));
        paths::make_private(&theirs, user)?;
        let name = path.display().to_string();
        identity::as_user(user, || unpack::unpack(file, &theirs, Modes::Open, &name))?;
        identity::take_over(user, &theirs, &directory, Modes::Open)?;
        Ok(Self { directory, _unpacked: Some(unpacked) })
    }

    /// The image that `docker save` wrote, by the digests of its parts.
    fn saved(&self) -> Result<(Saved, HashMap<String, PathBuf>), String> {
        let path = self.directory.join("manifest.json");
        let bytes = fs::read(&path).map_err(|_| {
            "expected index.json (OCI image layout) or manifest.json (docker save) in it, found \
             neither"
                .to_owned()
        })?;
        let all: Vec<Saved> = serde_json::from_slice(&bytes)
            .map_err(|error| format!("its manifest.json is damaged ({error})"))?;
        let count = all.len();
        let Ok([saved]) = <[Saved; 1]>::try_from(all) else {
            return Err(format!("expected one image in it, found {count}: save one alone"));
        };
        let mut parts = HashMap::new();
        for part in saved.layers.iter().chain([&saved.config]) {
            let path = self.directory.join(part);
            let hashed = hash(&path).map_err(|error| format!("{}: {error}", part.display()))?;
            parts.insert(hashed, path);
        }
        Ok((saved, parts))
    }
}

impl Place for Layout {
    fn document(&self) -> Result<(Vec<u8>, String), String> {
        if let Ok(bytes) = fs::read(self.directory.join("index.json")) {
            let index = Document::read(&bytes)?;
            let chosen =
                manifest::for_this_machine(index.manifests.as_deref().unwrap_or_default())?;
            return Ok((small(self, chosen)?, chosen.digest.clone()));
        }
        let (saved, parts) = self.saved()?;
        let describe = |part: &PathBuf| {
            let whole = self.directory.join(part);
            let digest = parts.iter().find(|(_, path)| **path == whole).map(|(digest, _)| digest);
            json!({ "digest": digest, "size": fs::metadata(&whole).map_or(0, |it| it.len()) })
        };
        let layers: Vec<_> = saved.layers.iter().map(describe).collect();
        let config = describe(&saved.config);
        let named = config["digest"].as_str().unwrap_or_default().to_owned();
        Ok((json!({ "config": config, "layers": layers }).to_string().into_bytes(), named))
    }

    fn open(&self, part: &Descriptor) -> Result<Box<dyn Read + Send>, String> {
        let blobs = self.directory.join("blobs/sha256");
        let path = match blobs.is_dir() && self.directory.join("index.json").is_file() {
            true => blobs.join(part.hex()?),
            false => self.saved()?.1.remove(&part.digest).ok_or("a part is missing")?,
        };
        let file = File::open(&path).map_err(|error| format!("{}: {error}", part.digest))?;
        Ok(Box::new(file))
    }
}

fn hash(path: &Path) -> io::Result<String> {
    let mut read = Hashed::new(File::open(path)?);
    io::copy(&mut read, &mut io::sink())?;
    Ok(read.digest())
}
