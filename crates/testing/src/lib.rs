//! What the tests of all rooms share: the one way for a test to say that it cannot run here, and
//! the one to go on in another process.
//!
//! libtest has no word for a test that finds out while it runs that a tool, a right or a server is
//! missing. Such a test calls [`skip`] and returns. libtest then counts it as passed;
//! `scripts/test.sh` takes it out of that number and counts it as skipped.
//!
//! ```
//! # fn find_valgrind() -> Option<()> { Some(()) }
//! # fn a_test() {
//! let Some(valgrind) = find_valgrind() else {
//!     return testing::skip("valgrind is not installed");
//! };
//! # }
//! ```

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, thread};

/// Where a child finds what its parent gave to [`again`].
const GIVEN: &str = "STEELYARD_TEST_GIVEN";

/// The file that [`skip`] adds a line to, if the variable is set: name of the test, tab, reason.
pub const SKIPPED: &str = "STEELYARD_SKIPPED";

/// Records that the calling test, or the rest of it, cannot run here, and why. The test returns
/// after it.
///
/// # Panics
/// When the file named by [`SKIPPED`] cannot be written: a skip must not count as passed.
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

/// The calling test again, as a command that runs it in another process, for a test of what happens
/// when a process is killed or cannot reach something. There [`given`] is `path`. `before` are
/// words to put before the program, such as `["unshare", "--mount", "--"]`.
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
    command.args(words).args(["--exact", test, "--nocapture"]).env(GIVEN, path);
    command
}

/// In the process that [`again`] started: what it was given. `None` in the test itself.
pub fn given() -> Option<PathBuf> {
    env::var_os(GIVEN).map(PathBuf::from)
}
