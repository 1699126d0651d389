//! Where an installed program is.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The first program of this name in `PATH`.
pub(crate) fn in_path(program: &str) -> Option<PathBuf> {
    in_directories(program, &env::var_os("PATH")?)
}

/// The first program of this name in `directories`, which are listed as in `PATH`.
pub(crate) fn in_directories(program: &str, directories: &OsStr) -> Option<PathBuf> {
    env::split_paths(directories)
        .map(|directory| directory.join(program))
        .find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
