//! A git repository of PostgreSQL to build from, made of the tarball that `scripts/setup.sh
//! validate` fetches. Tests of other crates include this file by its path.
//!
//! ```ignore
//! #[path = "../../../dbms/tests/common/repository.rs"]
//! mod repository;
//! let repository = repository::postgres_repository(directory);
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

use testing::repository::unpack;

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
/// The source of the program of [`small_repository`].
pub const SMALL_PROGRAM: &str = "src/backend/postgres.c";
/// Who commits.
const EMAIL: &str = "test@example.org";
/// Flags that compile fast.
pub const CFLAGS: &str = "-O0 -g0 -w";

/// The compiler for tests, through ccache if available.
pub fn compiler() -> &'static str {
    let there = Command::new("ccache").arg("--version").output().is_ok();
    if there { "ccache cc" } else { "cc" }
}

/// Creates the repository in `directory/postgres`.
pub fn postgres_repository(directory: &Path) -> PathBuf {
    let tarball = tarball();
    let tree = directory.join("postgres");
    fs::create_dir(&tree).unwrap();
    unpack(&tarball, &tree).unwrap();
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
    tree
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
    begin(tree, &files);
    commit(tree, "Leave a function unfinished", BROKEN);
}

/// A repository that is not PostgreSQL, but has the commits of [`postgres_repository`] and builds
/// with the same commands within a second: a program with [`FUNCTION`] that says its version.
pub fn small_repository(tree: &Path) {
    let makefile = "bin = $(DESTDIR)/usr/local/pgsql/bin\n\
        install:\n\
        \tmkdir -p $(bin) $(DESTDIR)/usr/local/pgsql/share\n\
        \tcc -O0 -fno-omit-frame-pointer -o $(bin)/postgres postgres.c\n\
        \tcp $(bin)/postgres $(bin)/initdb\n\
        \techo x > $(DESTDIR)/usr/local/pgsql/share/postgres.bki\n";
    let program = format!(
        "#include <stdio.h>\nint {FUNCTION}(void) {{ return 1; }}\n\
         int main(void) {{ {FUNCTION}(); puts(\"postgres (PostgreSQL) 15.8\"); return 0; }}\n"
    );
    let files = [
        ("configure", "#!/bin/sh\n"),
        ("src/Makefile.global", "with_llvm = no\n"),
        ("src/backend/Makefile", makefile),
        ("src/backend/parser/gram.c", ""),
        (SMALL_PROGRAM, &program),
    ];
    begin(tree, &files);
    commit(tree, "Say a version", BASE);
    edit(tree, SMALL_PROGRAM, |text| {
        let loops = "{ volatile int i; for (i = 0; i < 1000; i++); return 1; }";
        *text = text.replacen("{ return 1; }", loops, 1);
    });
    commit(tree, "Add a loop", LOOP);
}

/// A tree of these files, of which nothing is committed yet.
fn begin(tree: &Path, files: &[(&str, &str)]) {
    for (file, text) in files {
        let path = tree.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::set_permissions(tree.join("configure"), fs::Permissions::from_mode(0o755)).unwrap();
    git(tree, &["init", "--quiet", "--initial-branch=main"]);
}

/// The tarball fetched by setup.
pub fn tarball() -> PathBuf {
    // Next to the workspace's own target directory, whichever is in use.
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/sources");
    let found = testing::repository::tarball(&sources);
    found.unwrap_or_else(|| {
        panic!("no source in {}; run scripts/setup.sh validate", sources.display())
    })
}

fn edit(tree: &Path, file: &str, change: impl FnOnce(&mut String)) {
    let path = tree.join(file);
    let mut text = fs::read_to_string(&path).unwrap();
    change(&mut text);
    fs::write(&path, text).unwrap();
}

/// Commits everything and tags it.
fn commit(tree: &Path, message: &str, tag: &str) {
    testing::repository::commit(tree, EMAIL, message).unwrap();
    git(tree, &["tag", tag]);
}

fn git(tree: &Path, arguments: &[&str]) {
    testing::repository::git(tree, EMAIL, arguments).unwrap();
}
