//! A git repository of PostgreSQL to build from, made of the tarball that `scripts/setup.sh test`
//! fetches. Tests of other crates include this file by its path. It needs only `git`, `tar` and the
//! standard library.
//!
//! ```ignore
//! #[path = "../../../dbms/tests/common/repository.rs"]
//! mod repository;
//! let Some(repository) = repository::postgres_repository(directory) else { return };
//! let dbms = format!("git:{}#{}", repository.display(), repository::LOOP);
//! ```
//!
//! With [`CFLAGS`] and [`compiler`], the builds of [`BASE`] and [`LOOP`] are the same for all
//! tests. Each is built once into the usual cache, because the commits' names depend only on the
//! tarball.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tag of the commit that is PostgreSQL as released.
pub const BASE: &str = "base";
/// Tag of the commit after it: [`FUNCTION`] adds 1000 numbers each time it is called.
pub const LOOP: &str = "loop";
/// Tag of the commit of [`fake_repository`], which does not compile: [`BROKEN_FILE`] ends in the
/// middle.
pub const BROKEN: &str = "broken";
/// The function with the loop. It is called once for each INSERT, UPDATE or DELETE without
/// RETURNING, however many rows there are.
pub const FUNCTION: &str = "ExecModifyTable";
/// The file that is broken, among the first to be compiled.
pub const BROKEN_FILE: &str = "src/port/pg_strong_random.c";
/// Flags that compile fast.
pub const CFLAGS: &str = "-O0 -g0 -w";

/// The compiler for tests, through ccache if available.
pub fn compiler() -> &'static str {
    let there = Command::new("ccache").arg("--version").output().is_ok();
    if there { "ccache cc" } else { "cc" }
}

/// Creates the repository in `directory/postgres`; `None`, with the reason reported, if there is no
/// tarball.
pub fn postgres_repository(directory: &Path) -> Option<PathBuf> {
    let Some(tarball) = tarball() else {
        testing::skip(format_args!(
            "no source of PostgreSQL in {}; scripts/setup.sh test fetches it",
            sources().display()
        ));
        return None;
    };
    let tree = directory.join("postgres");
    fs::create_dir(&tree).unwrap();
    // Half of the files, which a server does not need.
    let tar = Command::new("tar")
        .args(["--extract", "--strip-components=1", "--no-same-owner", "--exclude=*.po"])
        .args(["*/doc/*", "*/contrib/*", "*/src/test/*"].map(|path| format!("--exclude={path}")))
        .arg("--file")
        .arg(&tarball)
        .current_dir(&tree)
        .status()
        .unwrap();
    assert!(tar.success(), "{} cannot be unpacked", tarball.display());
    git(&tree, &["init", "--quiet", "--initial-branch=main"]);
    commit(&tree, "PostgreSQL as released", BASE);
    edit(&tree, "src/backend/executor/nodeModifyTable.c", |text| {
        let at = text.find(&format!("\n{FUNCTION}(PlanState *pstate)\n")).unwrap();
        let first = "CHECK_FOR_INTERRUPTS();\n";
        let at = at + text[at..].find(first).unwrap() + first.len();
        text.insert_str(
            at,
            "\n\t{\n\t\tvolatile int sum = 0;\n\n\t\tfor (int i = 0; i < 1000; i++)\n\t\t\tsum += i;\n\t}\n",
        );
    });
    commit(&tree, "Add 1000 numbers whenever rows are changed", LOOP);
    Some(tree)
}

/// A repository that is not PostgreSQL, but builds with the same commands and fails in the same
/// places, within a second. Like PostgreSQL's, its configure refuses block sizes, and
/// [`BROKEN_FILE`] of the commit [`BROKEN`] does not compile.
pub fn fake_repository(tree: &Path) {
    let configure = "#!/bin/sh\n\
        case \"$*\" in *--with-blocksize=7*) echo 'configure: error: Invalid block size' >&2; exit 1;; esac\n\
        sleep 1\n";
    let files = [
        ("configure", configure),
        ("src/Makefile.global", "with_llvm = no\n"),
        ("src/backend/Makefile", "install:\n"),
        ("src/backend/parser/gram.c", ""),
        ("src/port/Makefile", "all: pg_strong_random.o\n"),
        (BROKEN_FILE, "int broken(void) { return 1 +\n"),
    ];
    for (file, text) in files {
        let path = tree.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::set_permissions(tree.join("configure"), fs::Permissions::from_mode(0o755)).unwrap();
    git(tree, &["init", "--quiet", "--initial-branch=main"]);
    commit(tree, "Leave a function unfinished", BROKEN);
}

/// The tarball fetched by setup, if any.
pub fn tarball() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(sources())
        .ok()?
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".orig.tar."))
        .filter(|path| path.extension().is_none_or(|end| end != "asc"))
        .collect();
    found.sort();
    found.pop()
}

fn sources() -> PathBuf {
    // Next to the workspace's own target directory, whichever is in use.
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/sources")
}

fn edit(tree: &Path, file: &str, change: impl FnOnce(&mut String)) {
    let path = tree.join(file);
    let mut text = fs::read_to_string(&path).unwrap();
    change(&mut text);
    fs::write(&path, text).unwrap();
}

/// Commits everything, even ignored files, always with the same author, and tags it.
fn commit(tree: &Path, message: &str, tag: &str) {
    git(tree, &["add", "--all", "--force"]);
    git(tree, &["commit", "--quiet", "--message", message]);
    git(tree, &["tag", tag]);
}

fn git(tree: &Path, arguments: &[&str]) {
    let options = ["core.autocrlf=false", "core.compression=1", "gc.auto=0", "core.fsync=none"];
    let status = Command::new("git")
        .args(options.iter().flat_map(|option| ["-c", option]))
        .args(arguments)
        .current_dir(tree)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_WORK_TREE")
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "steelyard")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "test@example.org")))
        .envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "2024-01-02T03:04:05Z")))
        .status()
        .unwrap();
    assert!(status.success(), "git {arguments:?}");
}
