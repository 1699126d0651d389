//! The programs of a container image for initdb, which runs the `postgres` beside itself through a
//! shell: with this machine's loader, which may not be able to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::data::paths;
use crate::process::loader::Loader;

/// Makes `place` a tree like the image's, of links, but for the directory of `initdb`: it has a
/// copy of that program, and a `postgres` that uses the image's loader. Returns the copy.
pub(super) fn make(place: &Path, initdb: &Path, loader: &Loader) -> Result<PathBuf, Error> {
    let (mut real, mut shadow) = (loader.root.clone(), place.to_path_buf());
    paths::create_directories(&shadow)?;
    let bin = initdb.parent().unwrap_or(initdb);
    for name in bin.strip_prefix(&loader.root).unwrap_or(bin) {
        for entry in fs::read_dir(&real).map_err(Error::io("read", &real))?.flatten() {
            if entry.file_name() != name {
                let link = shadow.join(entry.file_name());
                symlink(entry.path(), &link).map_err(Error::io("create the link", &link))?;
            }
        }
        (real, shadow) = (real.join(name), shadow.join(name));
        paths::create_directories(&shadow)?;
    }
    let quoted =
        |word: std::ffi::OsString| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"));
    let words: Vec<String> = loader.words(&bin.join("postgres")).into_iter().map(quoted).collect();
    let script = shadow.join("postgres");
    let text = format!("#!/bin/sh\nexec {} \"$@\"\n", words.join(" "));
    fs::write(&script, text).map_err(Error::io("write", &script))?;
    paths::set_mode(&script, 0o755)?;
    let copy = shadow.join("initdb");
    fs::copy(initdb, &copy).map_err(Error::io("copy", initdb))?;
    paths::set_mode(&copy, 0o755)?;
    Ok(copy)
}
