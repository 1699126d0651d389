//! Helpers for the tests of all crates: to report that a test cannot run here, to continue a test
//! in another process, and to make repositories of PostgreSQL.
//!
//! libtest has no way to skip a test that finds, while running, that a tool, permission or server
//! is missing. Such a test calls [`skip`] and returns. libtest then counts it as passed;
//! `scripts/test.sh` subtracts it from that number and counts it as skipped.
//!
//! ```
//! # fn find_valgrind() -> Option<()> { Some(()) }
//! # fn a_test() {
//! let Some(valgrind) = find_valgrind() else {
//!     return testing::skip("valgrind is not installed");
//! };
//! # }
//! ```

#[cfg(test)]
mod circles;
#[cfg(test)]
mod lists;
pub mod repository;

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, thread};

/// The variable in which a child finds the argument of [`again`].
const GIVEN: &str = "STEELYARD_TEST_GIVEN";

/// If this variable is set, the file that [`skip`] adds a line to: name of the test, tab, reason.
pub const SKIPPED: &str = "STEELYARD_SKIPPED";

/// Records that the calling test, or the rest of it, cannot run here, and why. The test then
/// returns.
///
/// # Panics
/// If the file named by [`SKIPPED`] cannot be written: a skip must not count as passed.
pub fn skip(reason: impl Display) {
    // libtest runs every test in a thread with the test's name.
    let line = format!("{}\t{reason}", thread::current().name().unwrap_or("?")).replace('\n', " ");
    eprintln!("skipped: {line}");
    if let Some(path) = env::var_os(SKIPPED) {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        assert!(written.is_ok(), "cannot add to {}: {written:?}", path.display());
    }
}

/// A new directory for the calling test that every user may enter, also the one that servers run
/// as. It is below `TMPDIR`, otherwise below `/var/tmp`: `/tmp` is in memory on many machines, and
/// no device is known there.
///
/// # Panics
/// If it cannot be made.
pub fn directory() -> tempfile::TempDir {
    let place = env::var_os("TMPDIR").unwrap_or_else(|| "/var/tmp".into());
    let made = tempfile::Builder::new().prefix("steelyard-test-").tempdir_in(&place);
    let open = |made: tempfile::TempDir| {
        fs::set_permissions(made.path(), fs::Permissions::from_mode(0o755)).map(|()| made)
    };
    made.and_then(open).unwrap_or_else(|error| panic!("{}: {error}", place.display()))
}

/// A command that runs the calling test again in another process, to test what happens when a
/// process is killed or cannot reach something, or how much a process needs by itself. There,
/// [`given`] is `path`. `before` are words to put before the program, such as `["unshare",
/// "--mount", "--"]`.
///
/// # Panics
/// Outside a test.
pub fn again(before: &[&str], path: &Path) -> Command {
    let program = env::current_exe().map(OsString::from);
    let mut words = before.iter().map(OsString::from).chain(program);
    let mut command = Command::new(words.next().unwrap_or_default());
    let thread = thread::current();
    let test = thread.name().filter(|name| *name != "main");
    let Some(test) = test else { panic!("expected the thread of a test") };
    // With a single thread, its name would come before what it prints.
    command.args(words).args(["--exact", test, "--nocapture", "--include-ignored"]);
    command.args(["--test-threads", "2"]);
    command.env(GIVEN, path);
    command
}

/// The argument for the process started by [`again`]. `None` in the test itself.
pub fn given() -> Option<PathBuf> {
    env::var_os(GIVEN).map(PathBuf::from)
}

/// This many bytes that don't compress (xorshift64).
pub fn noise(length: usize) -> Vec<u8> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| next().to_le_bytes()).collect();
    bytes.truncate(length);
    bytes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by it")]

    use std::fs;

    use super::*;

    #[test]
    fn a_job_whose_shell_is_killed_has_failed_and_the_others_go_on() {
        let directory = tempfile::tempdir().unwrap();
        let script = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::write(&path, text).unwrap();
            format!("{name} sh {}\n", path.display())
        };
        let jobs = [
            script("killed", "kill -9 $PPID\n"),
            script("bad", "exit 3\n"),
            script(
                "tests",
                "echo 'test result: FAILED. 5 passed; 2 failed; 0 ignored'; exit 101\n",
            ),
            script("good", ":\n"),
        ];
        let list = directory.path().join("jobs");
        fs::write(&list, jobs.concat()).unwrap();
        let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/test.sh");
        let output = Command::new(runs).arg("jobs").arg(&list).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("\nfailed: killed: it did not come to its end"), "{said}");
        let last = said.lines().last().unwrap();
        assert!(last.starts_with("6 passed, 4 failed, 0 skipped"), "{said}");
    }
}
