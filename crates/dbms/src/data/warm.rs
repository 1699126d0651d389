//! Reading a copied data directory once on behalf of the server that will run on it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use super::copy;
use crate::data::paths;
use crate::process::launch;
use crate::{Error, Origin, ServerSpec};

/// Number of files per reader: their paths together stay far below the kernel's limit for arguments
/// (128 KB for one, a quarter of the stack limit for all, execve(2)).
const FILES: usize = 500;

/// Drops `data` from the page cache and has a process in the server's control group read it. The
/// cached pages are then charged to that group, within its memory limit. Files are read in order of
/// paths, without the directories `without`, which the server will not read. Returns the seconds it
/// took.
pub(crate) fn read_in_group(
    spec: &ServerSpec<'_>,
    origin: &Origin<'_>,
    data: &Path,
    without: &[&str],
) -> Result<f64, Error> {
    let begin = Instant::now();
    copy::drop_cached(data)?;
    let without: Vec<PathBuf> = without.iter().map(|name| data.join(name)).collect();
    let mut files: Vec<PathBuf> = Vec::new();
    paths::walk(data, &mut |path, metadata| {
        if metadata.is_file() && !without.iter().any(|left_out| path.starts_with(left_out)) {
            files.push(path.to_path_buf());
        }
        Ok(())
    })?;
    for some in files.chunks(FILES) {
        let mut command = launch::command(Path::new("cat"), &spec.user, &spec.procs_files)?;
        command.arg("--").args(some).stdout(Stdio::null()).stderr(Stdio::null());
        let status = launch::finish(command, origin.interrupted, "reading the copied data")?;
        if !status.success() {
            let program = format!("cat (reading the data of {})", spec.name);
            return Err(Error::program(program, status, "it could not read all of the files"));
        }
    }
    Ok(begin.elapsed().as_secs_f64())
}
