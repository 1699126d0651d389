//! Reading a copied data directory once on behalf of the server that is to run on it.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::copy;
use crate::{Error, Origin, ServerSpec, launch, place};

/// Files given to one reader: their paths together stay far under the kernel's limit for arguments (128 KB for one,
/// a quarter of the stack limit for all, execve(2)).
const FILES: usize = 500;

/// Takes `data` out of the page cache and has it read by a process in the server's control group, so that what is
/// cached is charged to the group, and what its memory limit does not allow is not cached. In the order of paths,
/// the directories `without` left out, which the server will not read. Seconds it took.
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
    place::walk(data, &mut |path, metadata| {
        if metadata.is_file() && !without.iter().any(|left_out| path.starts_with(left_out)) {
            files.push(path.to_path_buf());
        }
        Ok(())
    })?;
    for some in files.chunks(FILES) {
        read(spec, origin, some)?;
    }
    Ok(begin.elapsed().as_secs_f64())
}

/// Runs one reader to its end.
fn read(spec: &ServerSpec<'_>, origin: &Origin<'_>, files: &[PathBuf]) -> Result<(), Error> {
    let program = Path::new("cat");
    let mut command = launch::command(program, &spec.user, &spec.procs_files)?;
    command.arg("--").args(files).stdout(std::process::Stdio::null());
    command.stderr(std::process::Stdio::null());
    let mut child = launch::spawn(command).map_err(Error::io("run", program))?;
    loop {
        match child.try_wait().map_err(Error::io("wait for", program))? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                return Err(Error::Program {
                    program: format!("cat (reading the data of {})", spec.name),
                    status: status.to_string(),
                    output: "it could not read all files".to_owned(),
                });
            }
            None if origin.interrupted.load(Ordering::Relaxed) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Error::Interrupted { doing: "reading the copied data" });
            }
            None => sleep(Duration::from_millis(5)),
        }
    }
}
