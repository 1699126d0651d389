//! The program valgrind: where it is and how Callgrind is asked to count.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::CallgrindError;
use crate::installed::in_path;

/// An installed valgrind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Valgrind {
    /// The program.
    pub path: PathBuf,
    /// As it says itself, such as `3.19.0`.
    pub version: String,
}

impl Valgrind {
    /// The valgrind in `PATH`.
    ///
    /// # Errors
    /// [`CallgrindError::NotInstalled`] when there is none, [`CallgrindError::NotValgrind`] when it
    /// does not answer.
    pub fn find() -> Result<Self, CallgrindError> {
        Self::found(in_path("valgrind"))
    }

    fn found(path: Option<PathBuf>) -> Result<Self, CallgrindError> {
        path.map_or(Err(CallgrindError::NotInstalled), Self::at)
    }

    /// The valgrind at this path.
    ///
    /// # Errors
    /// [`CallgrindError::NotValgrind`] when it cannot be started or is something else.
    pub fn at(path: impl Into<PathBuf>) -> Result<Self, CallgrindError> {
        let path = path.into();
        let output = match Command::new(&path).arg("--version").stdin(Stdio::null()).output() {
            Ok(output) => output,
            Err(error) => {
                return Err(CallgrindError::NotValgrind { path, found: error.to_string() });
            }
        };
        let answer = String::from_utf8_lossy(&output.stdout);
        match answer.trim().strip_prefix("valgrind-") {
            Some(version) if output.status.success() => {
                Ok(Self { version: version.to_owned(), path })
            }
            _ => Err(CallgrindError::NotValgrind { path, found: format!("{:?}", answer.trim()) }),
        }
    }

    /// What stands in front of the command whose instructions are to be counted. Those of processes
    /// that it forks are counted too.
    ///
    /// `out`: the beginning of the files' names, in a directory that the program's user may write
    /// to: dumps are `OUT.PID.1`, `OUT.PID.2`…, the last one, at the end of a process, is `OUT.PID`
    /// (see [`dumps`](super::dumps)). With `dump_before`, the name of a symbol, a dump is written
    /// and counting begins anew whenever this function is entered (inner calls of a recursion
    /// apart). A forked child takes over what its parent has counted since the parent's last dump,
    /// so its first dump is not its own cost alone.
    ///
    /// Counts stay the same whatever else the machine does. To keep them the same from run to run,
    /// also give the program the same environment (its size moves the stack, and the dynamic linker
    /// reads all of it) and leave `DEBUGINFOD_URLS` out of it, with which valgrind would look for
    /// names of functions elsewhere.
    #[must_use]
    pub fn command_line(&self, out: &Path, dump_before: Option<&str>) -> Vec<OsString> {
        let mut line = vec![self.path.clone().into_os_string(), "--tool=callgrind".into()];
        line.push(files_named(out));
        line.extend(dump_before.map(|function| format!("--dump-before={function}").into()));
        line.extend(ALWAYS.iter().map(OsString::from));
        line
    }
}

/// Most are the defaults of Callgrind, and are said since the reader or the figures rely on them.
const ALWAYS: [&str; 14] = [
    "--quiet",
    "--trace-children=no",
    // Two levels are what folding needs: the outermost activation, and all others together.
    "--separate-recs=2",
    "--skip-direct-rec=no",
    // The caller's name in each function's would only have to be folded again.
    "--separate-callers=0",
    // Calls go from function to function and not through the trampolines of the dynamic linker.
    "--skip-plt=yes",
    // One file for all threads of a process, one file per dump.
    "--separate-threads=no",
    "--combine-dumps=no",
    // Costs per source line and not per instruction, both numbers and names shortened: the smallest
    // files. (Neither lines nor instructions is not possible, Callgrind then takes lines.)
    "--dump-instr=no",
    "--dump-line=yes",
    "--compress-strings=yes",
    "--compress-pos=yes",
    // Instructions alone. The simulation of caches costs time and says nothing of the host's.
    "--cache-sim=no",
    // No pipes for a debugger in the directory for temporary files; they would stay there after a
    // kill.
    "--vgdb=no",
];

/// Valgrind replaces `%p` by the pid, so other percent signs are doubled. A relative path would
/// mean the directory in which the program is started.
fn files_named(path: &Path) -> OsString {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut bytes = b"--callgrind-out-file=".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        if byte == b'%' {
            bytes.push(b'%');
        }
        bytes.push(byte);
    }
    bytes.extend_from_slice(b".%p");
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;
    use crate::installed::in_directories;

    #[test]
    fn without_a_valgrind_the_error_says_how_to_get_it() {
        let empty = tempfile::tempdir().unwrap();
        let error =
            Valgrind::found(in_directories("valgrind", empty.path().as_os_str())).unwrap_err();
        assert!(matches!(error, CallgrindError::NotInstalled));
        assert!(error.to_string().contains("install"), "{error}");
    }

    #[test]
    fn a_file_that_cannot_run_is_passed_over_and_another_program_refused() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(first.path().join("valgrind"), "no program").unwrap();
        std::os::unix::fs::symlink("/bin/echo", second.path().join("valgrind")).unwrap();
        let both = env::join_paths([first.path(), second.path()]).unwrap();
        let error = Valgrind::found(in_directories("valgrind", &both)).unwrap_err().to_string();
        assert!(error.contains(&second.path().display().to_string()), "{error}");
        let error = Valgrind::at("/nonexistent/valgrind").unwrap_err().to_string();
        assert!(error.contains("/nonexistent/valgrind"), "{error}");
    }

    #[test]
    fn the_command_line_says_what_was_asked() {
        let valgrind = Valgrind { path: "/usr/bin/valgrind".into(), version: "3.19.0".into() };
        let out = Path::new("/tmp/50%/out");
        let line = valgrind.command_line(out, None);
        assert_eq!(line[0], "/usr/bin/valgrind");
        assert_eq!(line[1], "--tool=callgrind");
        assert!(line.contains(&"--callgrind-out-file=/tmp/50%%/out.%p".into()));
        assert!(!line.iter().any(|part| part.to_string_lossy().contains("dump-before")));
        let line = valgrind.command_line(out, Some("pg_sleep"));
        assert!(line.contains(&"--dump-before=pg_sleep".into()));
    }
}
