//! Small programs, compiled and run under the real Callgrind.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use probe::callgrind::{CallgrindError, Dump, Event, Profile, Valgrind, dumps};

/// A compiled program, in a directory that is removed with it.
pub struct Program {
    directory: tempfile::TempDir,
    path: PathBuf,
    valgrind: Valgrind,
}

impl Program {
    /// `None`, with the reason printed, if valgrind is missing. A missing compiler is a failure:
    /// without one, no test would be running.
    pub fn compile(name: &str, flags: &[&str]) -> Option<Self> {
        let valgrind = match Valgrind::find() {
            Ok(valgrind) => valgrind,
            Err(error @ CallgrindError::NotInstalled) => {
                testing::skip(error);
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/callgrind/programs")
            .join(name)
            .with_extension("c");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        let status =
            Command::new("cc").args(flags).arg("-o").arg(&path).arg(source).status().unwrap();
        assert!(status.success());
        Some(Self { directory, path, valgrind })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs it and returns its dumps, including one before each entry of `mark`. `name` separates
    /// the files of several runs; `more` are further options of Callgrind.
    pub fn run(&self, name: &str, more: &[&str], mark: Option<&str>) -> Vec<Dump> {
        self.run_with(name, more, mark, false)
    }

    /// Runs it with simulated caches.
    pub fn run_on_caches(&self, name: &str, mark: Option<&str>) -> Vec<Dump> {
        self.run_with(name, &[], mark, true)
    }

    fn run_with(&self, name: &str, more: &[&str], mark: Option<&str>, caches: bool) -> Vec<Dump> {
        let out = self.directory.path().join(name);
        let line = self.valgrind.command_line(&out, mark, &[], caches);
        let mut started = Command::new(&line[0]);
        started.args(&line[1..]).args(more).arg(&self.path);
        let output = started.env_clear().stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        dumps(&out).unwrap()
    }

    /// The profile of a run with one dump.
    pub fn profile(&self, name: &str, more: &[&str]) -> Profile {
        let found = self.run(name, more, None);
        assert_eq!(found.len(), 1, "{found:?}");
        Profile::read(&found[0].path, Event::Instructions).unwrap()
    }
}
