//! Documents and experiments at an address under names of the caller's choice. This file does not
//! know what they are for.

use std::path::{Path, PathBuf};

use store::{ExperimentId, Store};

use crate::Error;
use crate::bounded::largest;
use crate::export::pack_in;
use crate::import::import_named;
use crate::remote::{Address, Objects};
use crate::workshop::Workshop;

/// Documents and experiments at an address, in a folder of their own.
#[derive(Debug)]
pub struct Shelf {
    objects: Objects,
    folder: String,
    work: PathBuf,
}

impl Shelf {
    /// Opens a folder of an address. `work` is a directory for work in progress, created if it
    /// does not exist.
    ///
    /// # Errors
    /// If there are no credentials for it.
    pub fn open(address: &Address, folder: &str, work: &Path) -> Result<Self, Error> {
        let (folder, work) = (folder.to_owned(), work.to_owned());
        Ok(Self { objects: Objects::open(address)?, folder, work })
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

    /// The content of a document, if it is there.
    ///
    /// # Errors
    /// If the address cannot be read.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.objects.read_if_there(&self.name(name))
    }

    /// The names of the documents in `place`, a folder in this one, and their contents.
    ///
    /// # Errors
    /// If the address cannot be read.
    pub fn read_all(&self, place: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let place = self.name(place);
        let names = self.objects.names(&place)?;
        let paths: Vec<String> = names.iter().map(|name| format!("{place}/{name}")).collect();
        Ok(names.into_iter().zip(self.objects.read(&paths)?).collect())
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

    /// Downloads an experiment into a results directory, which is created.
    ///
    /// # Errors
    /// If it can't be read, is damaged or from another version of steelyard.
    pub fn take(&self, name: &str, results: &Path) -> Result<(), Error> {
        let workshop = Workshop::open(&self.work)?;
        let (name, file) = (self.name(name), workshop.path().join("taken"));
        self.objects.read_file(&name, largest()?, &file)?;
        import_named(&file, &format!("{}/{name}", self.address()), results, None).map(drop)
    }
}
