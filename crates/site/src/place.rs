//! Where a static site lies: a directory, or an address.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::media::media_type;

/// Where the files of a site are kept, by their paths with `/`.
pub trait Place {
    /// Its name in messages.
    fn name(&self) -> String;

    /// Refuses a place with files that are not of a site, where none is yet.
    ///
    /// # Errors
    /// [`Error::NotASite`], or if it cannot be read.
    fn check_new(&self) -> Result<(), Error>;

    /// The content of a file, if it is there.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error>;

    /// Writes or replaces a file. It appears when it is complete.
    ///
    /// # Errors
    /// If it cannot be written.
    fn write(&self, path: &str, content: &[u8]) -> Result<(), Error>;

    /// Removes a file, if it is there.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn remove(&self, path: &str) -> Result<(), Error>;

    /// True if it may still have a file that it was given: false if that was removed.
    fn may_have(&self, path: &str) -> bool;
}

/// A site in a directory.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// Creates the directory if it does not exist.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn open(path: &Path) -> Result<Self, Error> {
        fs::create_dir_all(path).map_err(wrap("create", path))?;
        Ok(Self { path: path.to_owned() })
    }

    fn file(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }
}

fn wrap(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |source| Error::Io { action, path: path.to_owned(), source }
}

impl Place for Directory {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn check_new(&self) -> Result<(), Error> {
        let mut entries = fs::read_dir(&self.path).map_err(wrap("read", &self.path))?;
        if entries.next().is_some() { Err(Error::NotASite(self.name())) } else { Ok(()) }
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        match fs::read(self.file(path)) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(wrap("read", &self.file(path))(error)),
        }
    }

    fn write(&self, path: &str, content: &[u8]) -> Result<(), Error> {
        let file = self.file(path);
        let folder = file.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder).map_err(wrap("create", folder))?;
        // Its name is no path of a site. What a killed process left is overwritten.
        let new = folder.join(".new");
        let write = || {
            let mut written = File::create(&new)?;
            written.write_all(content)?;
            written.sync_all()?;
            fs::rename(&new, &file)
        };
        write().map_err(wrap("write", &file))
    }

    fn remove(&self, path: &str) -> Result<(), Error> {
        let file = self.file(path);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(wrap("remove", &file)(error));
            }
            _ => {}
        }
        // Folders that are empty now; the others stay.
        let mut folder = file.parent();
        while let Some(empty) = folder.filter(|it| *it != self.path && fs::remove_dir(it).is_ok()) {
            folder = empty.parent();
        }
        Ok(())
    }

    fn may_have(&self, path: &str) -> bool {
        self.file(path).is_file()
    }
}

impl Place for archive::Pages {
    fn name(&self) -> String {
        self.address().to_string()
    }

    fn check_new(&self) -> Result<(), Error> {
        if self.is_empty()? { Ok(()) } else { Err(Error::NotASite(Place::name(self))) }
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        Ok(archive::Pages::read(self, path)?)
    }

    fn write(&self, path: &str, content: &[u8]) -> Result<(), Error> {
        Ok(archive::Pages::write(self, path, content, media_type(path))?)
    }

    fn remove(&self, path: &str) -> Result<(), Error> {
        Ok(archive::Pages::remove(self, path)?)
    }

    /// Asking would be a request for each file.
    fn may_have(&self, _path: &str) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_and_empty_folders_go() {
        let folder = tempfile::tempdir().unwrap();
        let place = Directory::open(&folder.path().join("site")).unwrap();
        place.check_new().unwrap();
        place.write("a/b/c.json", b"one").unwrap();
        place.write("a/b/c.json", b"two").unwrap();
        place.write("a/d.json", b"three").unwrap();
        assert_eq!(place.read("a/b/c.json").unwrap().unwrap(), b"two");
        assert_eq!(place.read("a/none.json").unwrap(), None);
        assert!(place.may_have("a/d.json") && !place.may_have("a/none.json"));
        place.remove("a/b/c.json").unwrap();
        place.remove("a/b/c.json").unwrap();
        assert!(!folder.path().join("site/a/b").exists());
        assert!(folder.path().join("site/a/d.json").exists());
        place.remove("a/d.json").unwrap();
        place.check_new().unwrap();
        fs::write(folder.path().join("site/mine"), "").unwrap();
        let refused = place.check_new().unwrap_err();
        assert!(refused.to_string().contains("found other files"), "{refused}");
    }
}
