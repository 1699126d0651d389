//! Packed builds at an address, each under the name of everything it depends on. This file does not
//! know their contents or the meaning of the names.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::remote::{Address, Objects};
use crate::workshop::Workshop;
use crate::{Error, Pushed, file, manifest};

/// The version of entries that this crate writes, and the newest that it reads.
const FORMAT: u32 = 1;
const FOLDER: &str = "builds";

/// Builds at an address.
#[derive(Debug)]
pub struct Builds {
    objects: Objects,
}

/// The entry of a build: what `builds/NAME.json` contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedBuild {
    /// Version of the format of entries.
    pub format: u32,
    /// Version of the steelyard that pushed it.
    pub steelyard: String,
    /// Its name.
    pub name: String,
    /// Everything it depends on, as the pusher described it.
    pub build: Value,
    /// Size of the packed build.
    pub bytes: u64,
    /// SHA-256 of the packed build, 64 hexadecimal digits.
    pub sha256: String,
}

impl SharedBuild {
    fn file(&self) -> String {
        file_of(&self.name, &self.sha256)
    }
}

/// Builds of one name may differ in their bytes, so each is a file of its own.
fn file_of(name: &str, sha256: &str) -> String {
    format!("{FOLDER}/{name}.{sha256}.tar.gz")
}

fn entry_of(name: &str) -> String {
    format!("{FOLDER}/{name}.json")
}

impl Builds {
    /// Opens an address, to push to it.
    ///
    /// # Errors
    /// If there are no credentials for it.
    pub fn open(address: &Address) -> Result<Self, Error> {
        Ok(Self { objects: Objects::open(address)? })
    }

    /// Opens an address, to read from it. A directory is not created.
    ///
    /// # Errors
    /// If there are no credentials for it, or the directory does not exist.
    pub fn open_to_read(address: &Address) -> Result<Self, Error> {
        Ok(Self { objects: Objects::open_to_read(address)? })
    }

    /// The address.
    pub fn address(&self) -> &Address {
        self.objects.address()
    }

    /// Uploads a build, unless one of that name is there already: then this is a single request.
    /// `pack` writes the packed build into the new file that it is given; `work` is a directory for
    /// that, created if it does not exist. The build can be obtained once all of it is there.
    ///
    /// # Errors
    /// Those of `pack`; if the address cannot be read or written.
    pub fn push<E: From<Error>>(
        &self,
        (name, build): (&str, Value),
        work: &Path,
        steelyard: &str,
        pack: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<Pushed, E> {
        if self.objects.has(&entry_of(name))? {
            return Ok(Pushed::Present);
        }
        let workshop = Workshop::open(work)?;
        let packed: PathBuf = workshop.path().join("packed");
        pack(&packed)?;
        let manifest::Entry { bytes, sha256, .. } = file::describe(workshop.path(), "packed")?;
        let (name, steelyard) = (name.to_owned(), steelyard.to_owned());
        let own = SharedBuild { format: FORMAT, steelyard, name, build, bytes, sha256 };
        self.objects.add_file(&own.file(), &packed)?;
        let text = serde_json::to_vec_pretty(&own).unwrap_or_default();
        if self.objects.add(&entry_of(&own.name), text)? {
            return Ok(Pushed::Added);
        }
        // Another machine was faster; nothing will ever name this file.
        if self.find(&own.name)?.is_some_and(|other| other.sha256 != own.sha256) {
            let _ = self.objects.remove(&own.file());
        }
        Ok(Pushed::Present)
    }

    /// The build of this name, if it is there.
    ///
    /// # Errors
    /// If the address cannot be read; [`Error::DamagedBuild`]; [`Error::Newer`].
    pub fn find(&self, name: &str) -> Result<Option<SharedBuild>, Error> {
        let Some(text) = self.objects.read_if_there(&entry_of(name))? else { return Ok(None) };
        let object = format!("{}/{}", self.address(), entry_of(name));
        let damaged = |problem: String| Error::DamagedBuild { name: object.clone(), problem };
        let not_one = |error| damaged(format!("it is not a build's entry of steelyard ({error})"));
        let value: Value = serde_json::from_slice(&text).map_err(not_one)?;
        let format = value.get("format").and_then(Value::as_u64);
        if let Some(format) = format.filter(|format| *format > FORMAT.into()) {
            let steelyard = value.get("steelyard").and_then(Value::as_str).unwrap_or_default();
            return Err(Error::Newer {
                name: object,
                steelyard: steelyard.to_owned(),
                found: format!("format {format}"),
                known: format!("format {FORMAT}"),
            });
        }
        let entry: SharedBuild = serde_json::from_value(value).map_err(not_one)?;
        if entry.name != name {
            return Err(damaged(format!("expected the name {name}, found {}", entry.name)));
        }
        if !manifest::is_hash(&entry.sha256) {
            return Err(damaged("its sha256 is not 64 hexadecimal digits".to_owned()));
        }
        Ok(Some(entry))
    }

    /// The names of all builds that begin so.
    ///
    /// # Errors
    /// If the address cannot be read.
    pub fn names(&self, begin: &str) -> Result<Vec<String>, Error> {
        let names = self.objects.names(FOLDER)?.into_iter();
        let names = names.filter(|name| name.starts_with(begin));
        Ok(names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect())
    }

    /// The address of the file of a build, for messages.
    pub fn object(&self, build: &SharedBuild) -> String {
        format!("{}/{}", self.address(), build.file())
    }

    /// Downloads a build into the new file `to` and compares size and hash.
    ///
    /// # Errors
    /// If it cannot be read or written; [`Error::DamagedBuild`].
    pub fn fetch(&self, build: &SharedBuild, to: &Path) -> Result<(), Error> {
        self.objects.read_file(&build.file(), u64::MAX, to)?;
        let (root, name) = (to.parent(), to.file_name().and_then(|name| name.to_str()));
        let found = file::describe(root.unwrap_or(Path::new("")), name.unwrap_or_default())?;
        if (found.bytes, &found.sha256) == (build.bytes, &build.sha256) {
            return Ok(());
        }
        let SharedBuild { bytes, sha256, .. } = build;
        let problem = format!(
            "expected {bytes} bytes with SHA-256 {sha256}, found {} bytes with {}",
            found.bytes, found.sha256
        );
        Err(Error::DamagedBuild { name: self.object(build), problem })
    }
}
