//! Data directories of the user's, which servers start on copies of.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::Error;
use crate::data::paths::walk;

/// The data directory of a server that steelyard did not start. It is read and copied, never
/// written to.
#[derive(Clone, Copy, Debug)]
pub struct DataDirectory<'a> {
    /// The directory.
    pub path: &'a Path,
    /// The database in it that clients use.
    pub database: &'a str,
    /// Set to end the copying.
    pub interrupted: &'a AtomicBool,
}

impl DataDirectory<'_> {
    /// The error for one that servers can't start from: what is wrong, and what to do.
    pub(crate) fn refuse(&self, problem: impl Into<String>) -> Error {
        Error::DataDirectory { path: self.path.to_path_buf(), problem: problem.into() }
    }

    /// Checks that it has nothing but files and directories, so that a copy of it is complete and
    /// leads nowhere else. Returns how many files and bytes there are.
    pub(crate) fn check_plain(&self) -> Result<(usize, u64), Error> {
        let (mut files, mut bytes) = (0, 0);
        walk(self.path, &mut |path, found| {
            let kind = match found {
                _ if found.is_dir() => return Ok(()),
                _ if found.is_symlink() => "a symbolic link",
                _ if found.is_file() => {
                    (files, bytes) = (files + 1, bytes + found.len());
                    return Ok(());
                }
                _ => "a special file",
            };
            let name = path.strip_prefix(self.path).unwrap_or(path).display();
            Err(self.refuse(format!(
                "{name} is {kind}, and only files and directories are copied; make a copy of it \
                 in which what links lead to is in their place (cp -aL), or remove what a server \
                 makes anew"
            )))
        })?;
        Ok((files, bytes))
    }

    /// Checks that none of these files are in it; each with what that means and what to do.
    pub(crate) fn check_absent(&self, files: &[(&str, &str)]) -> Result<(), Error> {
        match files.iter().find(|(name, _)| self.path.join(name).exists()) {
            Some((name, problem)) => Err(self.refuse(format!("it has {name}: {problem}"))),
            None => Ok(()),
        }
    }
}
