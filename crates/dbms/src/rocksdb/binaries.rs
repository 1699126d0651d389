//! A library on this machine, and how it was built.

use std::path::{Path, PathBuf};

use super::inside::LIBRARY;
use crate::embedded::{self, Program};
use crate::obtain::elf;
use crate::process::launch;
use crate::{Error, Installation, ServerUser};

/// Describes the library at `root`, or in it. A process of `user` loads it to ask for its version.
pub(super) fn describe(root: &Path, user: &ServerUser) -> Result<Installation, Error> {
    let directory = root.join("bin");
    let place = if directory.is_dir() { directory } else { root.to_path_buf() };
    let library = library(&place)?;
    user.check_reach(library.parent().unwrap_or(root))?;
    let program = program(&library)?;
    let mut command = launch::command(&program.path, user, &[])?;
    command.args(&program.arguments).envs(&program.environment);
    let version = launch::run(command, "asking RocksDB for its version", None);
    let version = version.map_err(|error| match error {
        Error::Program { output, .. } => not_one(&library, output),
        other => other,
    })?;
    let version = version.trim().lines().last().unwrap_or_default().to_owned();
    let bytes = std::fs::read(&library).map_err(Error::io("read", &library))?;
    let build = elf::facts(&bytes);
    Ok(Installation {
        dbms: "rocksdb".to_owned(),
        version,
        source: String::new(),
        bin_dir: Some(place),
        build,
    })
}

/// The library at `place`, or in it: `librocksdb.so`, or the first file that begins so.
pub(super) fn library(place: &Path) -> Result<PathBuf, Error> {
    if place.is_file() {
        return Ok(place.to_path_buf());
    }
    let files = std::fs::read_dir(place).map_err(Error::io("read", place))?.flatten();
    let name = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("librocksdb") && name.contains(".so")
    };
    let mut found: Vec<PathBuf> = files.map(|entry| entry.path()).filter(name).collect();
    // Links lead from `librocksdb.so` to the file with the whole version.
    found.sort();
    found.into_iter().next().ok_or_else(|| {
        let problem = "there is no librocksdb*.so; give the library's file, or its directory";
        not_one(place, problem.to_owned())
    })
}

/// The program in which a library is loaded.
pub(super) fn program(library: &Path) -> Result<Program, Error> {
    let mut program = embedded::program("rocksdb")?;
    program.environment.insert(LIBRARY.into(), library.into());
    Ok(program)
}

fn not_one(path: &Path, problem: String) -> Error {
    Error::Installation { system: "RocksDB", path: path.to_path_buf(), problem }
}
