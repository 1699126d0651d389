//! Images in files: the OCI image layout as a directory or in a tar archive, and `docker save`,
//! which wrote a format of its own until Docker 25. An archive is read where it is.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;
use tar::Archive;

use super::layers;
use super::manifest::{self, Descriptor, Document};
use super::parts::{LARGEST_DOCUMENT, Parts, small};
use crate::Error;

/// An image in a directory or an archive.
pub(super) struct Layout {
    path: PathBuf,
    /// Where the files of an archive are in it: offset and length. `None` for a directory.
    parts: Option<HashMap<PathBuf, (u64, u64)>>,
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
    ///
    /// # Errors
    /// [`Error::Io`] if there is none; [`Error::Unpack`] if it is no archive.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let parts = if path.is_dir() {
            None
        } else {
            let file = File::open(path).map_err(Error::io("open the image", path))?;
            let refused = |error: io::Error| Error::Unpack {
                archive: path.display().to_string(),
                problem: format!(
                    "expected an uncompressed tar archive, as `docker save` writes it ({error})"
                ),
            };
            Some(parts(file).map_err(refused)?)
        };
        Ok(Self { path: path.to_path_buf(), parts })
    }

    /// Opens one of its files.
    fn read(&self, name: &Path) -> io::Result<Box<dyn Read + Send>> {
        let Some(parts) = &self.parts else {
            return Ok(Box::new(File::open(self.path.join(name))?));
        };
        let (offset, length) = parts.get(&inside(name)).ok_or(io::ErrorKind::NotFound)?;
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(*offset))?;
        Ok(Box::new(file.take(*length)))
    }

    /// One of its documents.
    fn document_in(&self, name: &Path) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        self.read(name)
            .and_then(|file| file.take(LARGEST_DOCUMENT).read_to_end(&mut bytes))
            .map_err(|error| format!("{}: {error}", name.display()))?;
        Ok(bytes)
    }

    /// The image that `docker save` wrote, its configuration, and the digests of its layers, which
    /// are not compressed.
    fn saved(&self) -> Result<(Saved, Vec<u8>, Vec<String>), String> {
        let bytes = self.document_in("manifest.json".as_ref()).map_err(|_| {
            "expected index.json (OCI image layout) or manifest.json (docker save) in it, found \
             neither"
        })?;
        let all: Vec<Saved> = serde_json::from_slice(&bytes)
            .map_err(|error| format!("its manifest.json is damaged ({error})"))?;
        let count = all.len();
        let Ok([saved]) = <[Saved; 1]>::try_from(all) else {
            return Err(format!("expected one image in it, found {count}: save one alone"));
        };
        let config = self.document_in(&saved.config)?;
        let layers = manifest::unpacked_digests(&config)?;
        Ok((saved, config, layers))
    }

    fn is_oci(&self) -> bool {
        self.read("index.json".as_ref()).is_ok()
    }
}

/// Where the files of an archive are in it.
fn parts(file: File) -> io::Result<HashMap<PathBuf, (u64, u64)>> {
    let (mut parts, mut links) = (HashMap::new(), Vec::new());
    for entry in Archive::new(file).entries_with_seek()? {
        let entry = entry?;
        let path = inside(&entry.path()?);
        match entry.link_name()? {
            // Old versions of Docker save a layer once, and links to it.
            Some(target) if entry.header().entry_type().is_symlink() => {
                links.push((path.clone(), path.parent().unwrap_or(&path).join(target)));
            }
            Some(target) => links.push((path, target.into_owned())),
            None => drop(parts.insert(path, (entry.raw_file_position(), entry.size()))),
        }
    }
    for (path, target) in links {
        if let Some(found) = parts.get(&inside(&target)) {
            parts.insert(path, *found);
        }
    }
    Ok(parts)
}

/// A path without `.` and `..`, as a name in an archive.
fn inside(path: &Path) -> PathBuf {
    layers::whole(Path::new(""), path)
}

impl Parts for Layout {
    fn document(&self) -> Result<(Vec<u8>, String), String> {
        if self.is_oci() {
            let index = Document::read(&self.document_in("index.json".as_ref())?)?;
            let all = index.manifests.unwrap_or_default();
            let chosen = manifest::for_this_machine(&all)?;
            return Ok((small(self, chosen)?, chosen.digest.clone()));
        }
        let (saved, config, layers) = self.saved()?;
        let sized = |name: &PathBuf| match &self.parts {
            Some(parts) => parts.get(&inside(name)).map_or(0, |(_, length)| *length),
            None => fs::metadata(self.path.join(name)).map_or(0, |found| found.len()),
        };
        let layers = layers.iter().zip(&saved.layers);
        let layers = layers.map(|(it, name)| json!({ "digest": it, "size": sized(name) }));
        let named = manifest::digest_of(&config);
        let config = json!({ "digest": named, "size": config.len() });
        let manifest = json!({ "config": config, "layers": layers.collect::<Vec<_>>() });
        Ok((manifest.to_string().into_bytes(), named))
    }

    fn open(&self, part: &Descriptor) -> Result<Box<dyn Read + Send>, String> {
        let name = if self.is_oci() {
            Path::new("blobs/sha256").join(part.hex()?)
        } else {
            let (saved, config, layers) = self.saved()?;
            let at = layers.iter().position(|layer| *layer == part.digest);
            match at.and_then(|at| saved.layers.get(at)) {
                Some(layer) => layer.clone(),
                None if manifest::digest_of(&config) == part.digest => saved.config,
                None => return Err(format!("{} is missing", part.digest)),
            }
        };
        self.read(&name).map_err(|error| format!("{}: {error}", name.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As Docker wrote it before version 25, with a layer that comes twice.
    #[test]
    fn layers_that_are_links_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("old.tar");
        let mut tar = tar::Builder::new(File::create(&file).unwrap());
        let mut add = |name: &str, content: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, name, content).unwrap();
        };
        let layer = manifest::digest_of(b"a layer");
        let config = json!({ "os": "linux", "rootfs": { "diff_ids": [layer, layer] } });
        let config = config.to_string().into_bytes();
        add("a/layer.tar", b"a layer");
        add("config.json", &config);
        let saved = json!([{ "Config": "config.json", "Layers": ["a/layer.tar", "b/layer.tar"] }]);
        add("manifest.json", saved.to_string().as_bytes());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        tar.append_link(&mut header, "b/layer.tar", "../a/layer.tar").unwrap();
        tar.finish().unwrap();
        let layout = Layout::open(&file).unwrap();
        let (document, named) = layout.document().unwrap();
        assert_eq!(named, manifest::digest_of(&config));
        let layers = Document::read(&document).unwrap().layers.unwrap();
        assert_eq!(layers.iter().map(|it| it.size).collect::<Vec<_>>(), [7, 7]);
        let mut text = String::new();
        layout.open(&layers[1]).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "a layer");
        let mut linked = String::new();
        layout.read("b/layer.tar".as_ref()).unwrap().read_to_string(&mut linked).unwrap();
        assert_eq!(linked, "a layer");
        // Compressed, it is no archive that can be read where it is.
        fs::write(&file, [0x1f, 0x8b, 8, 0, 0, 0]).unwrap();
        let error = Layout::open(&file).err().unwrap().to_string();
        assert!(error.contains("expected an uncompressed tar archive"), "{error}");
    }

    proptest! {
        #[test]
        fn any_file_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let directory = tempfile::tempdir().unwrap();
            let file = directory.path().join("any.tar");
            fs::write(&file, bytes).unwrap();
            if let Ok(layout) = Layout::open(&file) {
                prop_assert!(layout.document().is_err());
            }
        }
    }
}
