//! Documents and experiments at an address under names of the caller's choice. This file does not
//! know what they are for.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use store::{ExperimentId, Store};

use crate::Error;
use crate::bounded::largest;
use crate::export::pack_in;
use crate::remote::{Address, Listed, Objects, Requests};
use crate::workshop::Workshop;

/// Documents and experiments at an address, in a folder of their own.
#[derive(Debug)]
pub struct Shelf {
    objects: Objects,
    folder: String,
    work: PathBuf,
    /// Documents that were read, with what tells this content from another.
    read: Mutex<HashMap<String, Document>>,
}

/// An experiment that was downloaded to be read. Its files are removed in the end.
#[derive(Debug)]
pub struct Taken {
    /// The store that has it.
    pub store: Store,
    _workshop: Workshop,
}

/// A document's version and content.
type Document = ((u64, Option<String>), Vec<u8>);

impl Shelf {
    /// Opens a folder of an address. `work` is a directory for work in progress, created if it
    /// does not exist.
    ///
    /// # Errors
    /// If there are no credentials for it.
    pub fn open(address: &Address, folder: &str, work: &Path) -> Result<Self, Error> {
        Ok(Self::with(Objects::open(address)?, folder, work))
    }

    /// The same, where a directory must exist already.
    ///
    /// # Errors
    /// If there are no credentials for it, or the directory does not exist.
    pub fn open_to_read(address: &Address, folder: &str, work: &Path) -> Result<Self, Error> {
        Ok(Self::with(Objects::open_to_read(address)?, folder, work))
    }

    fn with(objects: Objects, folder: &str, work: &Path) -> Self {
        let (folder, work) = (folder.to_owned(), work.to_owned());
        Self { objects, folder, work, read: Mutex::default() }
    }

    /// What was asked of the address through this shelf so far.
    pub fn requests(&self) -> Requests {
        self.objects.requests()
    }

    /// The address.
    pub fn address(&self) -> &Address {
        self.objects.address()
    }

    fn name(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    /// Writes a document that does not exist yet. Of several writers of one name, exactly one
    /// writes it and gets `true`, on whichever machines they are.
    ///
    /// # Errors
    /// If the address cannot be written, or can't keep that promise.
    pub fn claim(&self, name: &str, content: Vec<u8>) -> Result<bool, Error> {
        self.objects.claim(&self.name(name), content)
    }

    /// Writes a document of which only this caller knows the name.
    ///
    /// # Errors
    /// If the address cannot be written.
    pub fn add(&self, name: &str, content: Vec<u8>) -> Result<(), Error> {
        self.objects.add(&self.name(name), content).map(drop)
    }

    /// Removes a document.
    ///
    /// # Errors
    /// If the address cannot be written.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        self.objects.remove_if_there(&self.name(name))
    }

    /// The content of a document, if it is there.
    ///
    /// # Errors
    /// If the address cannot be read.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.objects.read_if_there(&self.name(name))
    }

    /// The documents in `place`, a folder in this one.
    ///
    /// # Errors
    /// If the address cannot be read.
    pub fn list(&self, place: &str) -> Result<Vec<Listed>, Error> {
        self.objects.listed(&self.name(place))
    }

    /// The contents of documents in `place`, in the same order. One that this shelf has read before
    /// is read again only if it has changed since then.
    ///
    /// # Errors
    /// If the address cannot be read.
    pub fn contents(&self, place: &str, those: &[Listed]) -> Result<Vec<Vec<u8>>, Error> {
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let path = |it: &Listed| self.name(&format!("{place}/{}", it.name));
        let is_new = |it: &&Listed| known.get(&path(it)).is_none_or(|(was, _)| *was != it.version);
        let new: Vec<&Listed> = those.iter().filter(is_new).collect();
        let paths: Vec<String> = new.iter().map(|it| path(it)).collect();
        for ((path, it), content) in paths.iter().zip(&new).zip(self.objects.read(&paths)?) {
            known.insert(path.clone(), (it.version.clone(), content));
        }
        let content = |it| known.get(&path(it)).map(|(_, content)| content.clone());
        Ok(those.iter().filter_map(content).collect())
    }

    /// Uploads an experiment with its artifacts. It is complete where it can be seen.
    ///
    /// # Errors
    /// If it cannot be read, or the address cannot be written.
    pub fn put(
        &self,
        name: &str,
        store: &Store,
        experiment: ExperimentId,
        steelyard: &str,
    ) -> Result<(), Error> {
        let workshop = Workshop::open(&self.work)?;
        let (_, packed) = pack_in(&workshop, store, experiment, steelyard)?;
        self.objects.add_file(&self.name(name), &packed)
    }

    /// True if a document or an experiment of this name is there.
    ///
    /// # Errors
    /// If the address cannot be read.
    pub fn has(&self, name: &str) -> Result<bool, Error> {
        self.objects.has(&self.name(name))
    }

    /// Downloads an experiment to be read.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn read_experiment(&self, name: &str) -> Result<Taken, Error> {
        let workshop = Workshop::open(&self.work)?;
        let results = workshop.path().join("results");
        self.take(name, &results)?;
        Ok(Taken { store: Store::open_read_only(&results)?, _workshop: workshop })
    }

    /// Downloads an experiment into a results directory, which is created. That its content is what
    /// the caller expects is left to the caller.
    ///
    /// # Errors
    /// If it can't be read, is damaged or from another version of steelyard, or the directory
    /// exists.
    pub fn take(&self, name: &str, results: &Path) -> Result<(), Error> {
        let workshop = Workshop::open(&self.work)?;
        let (name, file) = (self.name(name), workshop.path().join("taken"));
        let (largest, named) = (largest()?, format!("{}/{name}", self.address()));
        self.objects.read_file(&name, largest, &file)?;
        fs::create_dir(results).map_err(Error::io("create", results))?;
        // Unpacked, it is a results directory.
        crate::file::read(&file, &named, largest, Some(results)).map(drop)
    }
}
