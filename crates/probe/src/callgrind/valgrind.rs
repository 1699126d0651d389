//! The program valgrind: where it is, and how to make Callgrind count.

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
    /// As it reports it, such as `3.19.0`.
    pub version: String,
}

impl Valgrind {
    /// The valgrind in `PATH`.
    ///
    /// # Errors
    /// [`CallgrindError::NotInstalled`] if there is none, [`CallgrindError::NotValgrind`] if it
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
    /// [`CallgrindError::NotValgrind`] if it cannot be started or is something else.
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

    /// The words to put before the command whose instructions should be counted. Processes that it
    /// forks are counted too.
    ///
    /// `out` is the beginning of the files' names, in a directory that the program's user may write
    /// to. Dumps are `OUT.PID.1`, `OUT.PID.2`…; the last one, at the end of a process, is `OUT.PID`
    /// (see [`dumps`](super::dumps)). With `dump_before`, the name of a symbol, a dump is written
    /// and counting starts again whenever this function is entered (except inner calls of a
    /// recursion). A forked child inherits what its parent has counted since the parent's last
    /// dump, so its first dump includes more than its own cost.
    ///
    /// Counts do not depend on what else the machine does. To keep them the same from run to run,
    /// also give the program the same environment: its size moves the stack, and the dynamic linker
    /// reads all of it. Leave out `DEBUGINFOD_URLS`, with which valgrind would look elsewhere for
    /// names of functions.
    ///
    /// With `only_in`, names of functions or patterns such as `api_*`, only what happens within
    /// them is counted, in every thread for itself. None of them may call another, and
    /// `dump_before` must not be one of them: Callgrind then counts nothing.
    ///
    /// With `caches`, all [events](super::Event) are counted, on caches of the same size on every
    /// machine: 32 KiB for instructions and 32 KiB for data, each with 8 ways, and 1 MiB with 16
    /// ways as the last level, which is about what one core of a current server has to itself.
    /// Otherwise, only instructions are counted.
    #[must_use]
    pub fn command_line(
        &self,
        out: &Path,
        dump_before: Option<&str>,
        only_in: &[&str],
        caches: bool,
    ) -> Vec<OsString> {
        let mut line = vec![self.path.clone().into_os_string(), "--tool=callgrind".into()];
        line.push(files_named(out));
        line.extend(dump_before.map(|function| format!("--dump-before={function}").into()));
        line.extend(only_in.iter().map(|name| format!("--toggle-collect={name}").into()));
        let simulated: &[&str] = if caches { &CACHES } else { &["--cache-sim=no"] };
        line.extend(ALWAYS.iter().chain(simulated).map(OsString::from));
        line
    }
}

/// Most are Callgrind's defaults, given explicitly because the reader or the figures rely on them.
const ALWAYS: [&str; 13] = [
    "--quiet",
    "--trace-children=no",
    // Folding needs two levels: the outermost activation, and all others together.
    "--separate-recs=2",
    "--skip-direct-rec=no",
    // The caller's name in each function's name would only have to be folded again.
    "--separate-callers=0",
    // Calls go from function to function, not through the trampolines of the dynamic linker.
    "--skip-plt=yes",
    // One file for all threads of a process, one file per dump.
    "--separate-threads=no",
    "--combine-dumps=no",
    // Costs per source line and not per instruction, with numbers and names compressed, give the
    // smallest files. (With neither lines nor instructions, Callgrind uses lines.)
    "--dump-instr=no",
    "--dump-line=yes",
    "--compress-strings=yes",
    "--compress-pos=yes",
    // No pipes for a debugger in the temporary directory, where they would remain after a kill.
    "--vgdb=no",
];

/// A fixed size, so that counts of two machines can be compared.
const CACHES: [&str; 6] = [
    "--cache-sim=yes",
    "--I1=32768,8,64",
    "--D1=32768,8,64",
    "--LL=1048576,16,64",
    "--branch-sim=yes",
    // Their number; their times are not read.
    "--collect-systime=yes",
];

/// Valgrind replaces `%p` by the pid, so other percent signs are doubled. A relative path would be
/// relative to the directory in which the program is started.
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
    fn the_command_line_has_the_requested_options() {
        let valgrind = Valgrind { path: "/usr/bin/valgrind".into(), version: "3.19.0".into() };
        let out = Path::new("/tmp/50%/out");
        let line = valgrind.command_line(out, None, &[], false);
        assert_eq!(line[0], "/usr/bin/valgrind");
        assert_eq!(line[1], "--tool=callgrind");
        assert!(line.contains(&"--callgrind-out-file=/tmp/50%%/out.%p".into()));
        assert!(!line.iter().any(|part| part.to_string_lossy().contains("dump-before")));
        assert!(!line.iter().any(|part| part.to_string_lossy().contains("toggle-collect")));
        assert!(line.contains(&"--cache-sim=no".into()));
        let line = valgrind.command_line(out, Some("pg_sleep"), &["api_*"], true);
        assert!(
            line.contains(&"--cache-sim=yes".into()) && !line.contains(&"--cache-sim=no".into())
        );
        assert!(line.contains(&"--dump-before=pg_sleep".into()));
        assert!(line.contains(&"--toggle-collect=api_*".into()));
    }
}
