//! Files at an address that are replaced and removed, unlike experiments. This file does not know
//! what they are for.

use crate::Error;
use crate::remote::{Address, Objects};

/// Files at an address for others to read, such as a web server.
#[derive(Debug)]
pub struct Pages {
    objects: Objects,
}

impl Pages {
    /// Opens an address.
    ///
    /// # Errors
    /// If there are no credentials for it.
    pub fn open(address: &Address) -> Result<Self, Error> {
        Ok(Self { objects: Objects::open(address)? })
    }

    /// The address.
    pub fn address(&self) -> &Address {
        self.objects.address()
    }

    /// True if there is nothing at the address.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn is_empty(&self) -> Result<bool, Error> {
        self.objects.is_empty()
    }

    /// The content of a file, if it is there.
    ///
    /// # Errors
    /// If the address cannot be read.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.objects.read_if_there(name)
    }

    /// Writes or replaces a file of this media type. Readers are told to ask each time whether it
    /// has changed.
    ///
    /// # Errors
    /// If the address cannot be written.
    pub fn write(&self, name: &str, content: &[u8], media_type: &'static str) -> Result<(), Error> {
        self.objects.replace(name, content.to_vec(), media_type)
    }

    /// Removes a file, if it is there.
    ///
    /// # Errors
    /// If the address cannot be written.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        self.objects.remove_if_there(name)
    }
}
