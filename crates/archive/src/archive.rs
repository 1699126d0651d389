//! Pushing experiments to an address and pulling them from there.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{ExperimentId, Store};

use crate::Error;
use crate::bounded::largest;
use crate::export::pack_in;
use crate::import::{Imported, import_named};
use crate::manifest::{FORMAT, Summary, check_version, is_hash};
use crate::remote::{Address, Objects};
use crate::workshop::Workshop;

/// An experiment at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archived {
    /// Version of the format of its file.
    pub format: u32,
    /// Version of the schema of its database.
    pub schema: u32,
    /// Version of the steelyard that pushed it.
    pub steelyard: String,
    /// Its content hash.
    pub content: String,
    /// The summary in `steelyard list`.
    pub experiment: Summary,
}

/// The result of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// It was uploaded.
    Added,
    /// It was there already; nothing was uploaded.
    Present,
}

/// Experiments at an address.
#[derive(Debug)]
pub struct Archive {
    objects: Objects,
    /// Where index entries are kept, and work is done.
    cache: PathBuf,
}

fn index(content: &str) -> String {
    format!("index/{content}.json")
}

fn object(content: &str) -> String {
    format!("experiments/{content}.steelyard")
}

/// True if a directory holds experiments that were pushed there.
pub fn is_pushed_to(directory: &Path) -> bool {
    ["index", "experiments"].iter().all(|name| directory.join(name).is_dir())
}

impl Archive {
    /// Opens an address, to push to it. `caches` is the directory for the caches of all addresses,
    /// created if it does not exist.
    ///
    /// # Errors
    /// If there are no credentials for it.
    pub fn open(address: &Address, caches: &Path) -> Result<Self, Error> {
        Self::with(Objects::open(address)?, caches)
    }

    /// Opens an address, to read from it. A directory is not created.
    ///
    /// # Errors
    /// If there are no credentials for it, or the directory does not exist.
    pub fn open_to_read(address: &Address, caches: &Path) -> Result<Self, Error> {
        Self::with(Objects::open_to_read(address)?, caches)
    }

    fn with(objects: Objects, caches: &Path) -> Result<Self, Error> {
        let address = objects.address();
        // Another endpoint has other buckets of the same names.
        let endpoint = std::env::var("AWS_ENDPOINT_URL").unwrap_or_default();
        let sum = Sha256::digest(format!("{address} {endpoint}"));
        let name: String = sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let cache = caches.join(name);
        fs::create_dir_all(&cache).map_err(Error::io("create", &cache))?;
        Ok(Self { objects, cache })
    }

    /// The cache of this address.
    pub(crate) fn cache(&self) -> &Path {
        &self.cache
    }

    /// The address.
    pub fn address(&self) -> &Address {
        self.objects.address()
    }

    /// Uploads an experiment, unless it is there already: then this is a single request.
    ///
    /// # Errors
    /// If the experiment cannot be read, or the address cannot be written.
    pub fn push(
        &self,
        store: &Store,
        experiment: ExperimentId,
        steelyard: &str,
    ) -> Result<Pushed, Error> {
        let content = store.content_hash(experiment)?;
        if self.objects.has(&index(&content))? {
            return Ok(Pushed::Present);
        }
        let workshop = Workshop::open(&self.cache)?;
        let (manifest, packed) = pack_in(&workshop, store, experiment, steelyard)?;
        let archived = Archived {
            format: FORMAT,
            schema: manifest.schema,
            steelyard: manifest.steelyard,
            // A run may have gone on in the meantime; this is what was packed.
            content: manifest.content,
            experiment: manifest.experiment,
        };
        self.objects.add_file(&object(&archived.content), &packed)?;
        let text = serde_json::to_vec_pretty(&archived).unwrap_or_default();
        self.objects.add(&index(&archived.content), text)?;
        Ok(Pushed::Added)
    }

    /// All experiments at the address, in the order in which they began. If there are several
    /// states of one, only the last.
    ///
    /// # Errors
    /// If the address cannot be read, or an entry of its index is damaged.
    pub fn list(&self) -> Result<Vec<Archived>, Error> {
        let (all, damaged) = self.list_undamaged()?;
        damaged.into_iter().next().map_or(Ok(all), Err)
    }

    /// The same without those whose index entries are damaged, and an error for each of these.
    ///
    /// # Errors
    /// If the address cannot be read.
    pub fn list_undamaged(&self) -> Result<(Vec<Archived>, Vec<Error>), Error> {
        let names = self.objects.names("index")?;
        let hashes = names.iter().filter_map(|name| name.strip_suffix(".json"));
        let hashes: Vec<&str> = hashes.filter(|hash| is_hash(hash)).collect();
        let kept = self.cache.join("index");
        fs::create_dir_all(&kept).map_err(Error::io("create", &kept))?;
        let file = |hash: &str| kept.join(format!("{hash}.json"));
        // They never change, so each is read once.
        let read = |hash: &str| parse(&fs::read(file(hash)).ok()?, hash).ok();
        let missing: Vec<&str> =
            hashes.iter().copied().filter(|hash| read(hash).is_none()).collect();
        let entries: Vec<String> = missing.iter().map(|hash| index(hash)).collect();
        let mut damaged = Vec::new();
        for (hash, content) in missing.iter().zip(self.objects.read(&entries)?) {
            if let Err(problem) = parse(&content, hash) {
                let name = format!("{}/{}", self.address(), index(hash));
                damaged.push(Error::Damaged { name, problem });
                continue;
            }
            let new = tempfile::NamedTempFile::new_in(&kept).map_err(Error::io("write", &kept))?;
            fs::write(new.path(), content).map_err(Error::io("write", &kept))?;
            new.persist(file(hash)).map_err(|error| Error::io("write", &kept)(error.error))?;
        }
        let mut last: Vec<Archived> = Vec::new();
        for entry in hashes.iter().filter_map(|hash| read(hash)) {
            match last.iter_mut().find(|known| known.experiment.began_like(&entry.experiment)) {
                Some(known) if known.experiment.progress() < entry.experiment.progress() => {
                    *known = entry;
                }
                Some(_) => {}
                None => last.push(entry),
            }
        }
        last.sort_by(|a, b| {
            (a.experiment.created_ms, &a.content).cmp(&(b.experiment.created_ms, &b.content))
        });
        Ok((last, damaged))
    }

    /// Adds an experiment from the address to a results directory.
    ///
    /// # Errors
    /// If it cannot be read, is damaged or from another version of steelyard, or the directory
    /// cannot be written; the directory is as before then.
    pub fn pull(&self, archived: &Archived, results: &Path) -> Result<Imported, Error> {
        self.pull_as(archived, results, None)
    }

    /// The same, with this number, if it is given.
    pub(crate) fn pull_as(
        &self,
        archived: &Archived,
        results: &Path,
        number: Option<i64>,
    ) -> Result<Imported, Error> {
        let name = format!("{}/{}", self.address(), object(&archived.content));
        check_version(&name, archived.format, archived.schema, &archived.steelyard)?;
        let workshop = Workshop::open(&self.cache)?;
        let file = workshop.path().join("pulled");
        let largest = largest()?;
        self.objects.read_file(&object(&archived.content), largest, &file)?;
        let manifest = crate::file::read(&file, &name, largest, None)?;
        if manifest.content != archived.content {
            let (expected, found) = (&archived.content, &manifest.content);
            let problem = format!("expected the content hash {expected}, found {found}");
            return Err(Error::Damaged { name, problem });
        }
        import_named(&file, &name, results, number)
    }
}

fn parse(content: &[u8], hash: &str) -> Result<Archived, String> {
    let entry: Archived = serde_json::from_slice(content)
        .map_err(|error| format!("it is not an index entry of steelyard ({error})"))?;
    if entry.content == hash {
        Ok(entry)
    } else {
        Err(format!("expected the content hash {hash}, found {}", entry.content))
    }
}
