//! A build with configure and make.

use std::ffi::OsString;
use std::path::Path;

use crate::obtain::build::work::words;
use crate::{BuildOptions, Error};

/// The prefix of all builds, PostgreSQL's own default. Nothing is installed there. A server looks
/// for its files relative to its own location (make_relative_path in src/port/path.c), so a build
/// can be anywhere, and two builds do not differ in their paths.
pub(super) const PREFIX: &str = "/usr/local/pgsql";

/// Parts that all others include or link come first, as in PostgreSQL's own makefile. With several
/// jobs, later makefiles rely on it.
const PREPARED: [(&str, &str); 3] =
    [("src/backend", "generated-headers"), ("src/common", "all"), ("src/port", "all")];

/// Parts that a server and initdb need, in build order; parts that a version does not have are
/// skipped. Programs, libraries and headers for clients and contrib are not built.
const INSTALLED: [&str; 13] = [
    "src/timezone",
    "src/backend",
    CATALOG,
    "src/backend/utils/mb/conversion_procs",
    "src/backend/snowball",
    "src/interfaces/libpq",
    "src/backend/replication/libpqwalreceiver",
    "src/backend/replication/pgoutput",
    "src/backend/jit/llvm",
    "src/pl",
    "src/bin/initdb",
    "src/bin/pg_ctl",
    "src/bin/pg_config",
];

/// From 17 on, this installs what initdb reads; before that, the makefile here installs nothing.
const CATALOG: &str = "src/include/catalog";

/// Libraries that configure requires by default but no benchmark needs. Without them there are
/// fewer packages to install, and builds on two machines differ in fewer ways.
const LEFT_OUT: [&str; 3] = ["readline", "zlib", "icu"];

/// The arguments of configure. `script` is its text: options that a version does not have are not
/// passed.
pub(super) fn configure_arguments(script: &str, options: &BuildOptions) -> Vec<OsString> {
    let mut arguments = vec![
        format!("--prefix={PREFIX}"),
        format!("CC={}", options.compiler),
        format!("CFLAGS={}", options.cflags),
    ];
    for library in LEFT_OUT {
        let (without, with) = (format!("--without-{library}"), format!("--with-{library}"));
        let asked_for =
            options.configure.iter().any(|option| option.split('=').next() == Some(&*with));
        // Its help lists `--without-…` for what is on by default.
        if script.contains(&without) && !asked_for {
            arguments.push(without);
        }
    }
    arguments.extend(options.configure.iter().cloned());
    arguments.into_iter().map(OsString::from).collect()
}

/// Make targets by directory of `tree`, which is configured.
pub(super) fn targets(tree: &Path) -> Result<Vec<(&'static str, &'static str)>, Error> {
    let read = |file: &str| {
        let path = tree.join(file);
        std::fs::read_to_string(&path).map_err(Error::io("read", &path))
    };
    let with_llvm = read("src/Makefile.global")?.lines().any(|line| {
        line.split_once('=')
            .is_some_and(|(key, value)| key.trim() == "with_llvm" && value.trim() == "yes")
    });
    let catalog = tree.join(CATALOG).join("Makefile");
    let installs_catalog = std::fs::read_to_string(catalog)
        .is_ok_and(|text| text.lines().any(|line| line.starts_with("install:")));
    // Before 11, every makefile generated its own headers.
    let makes_headers = read("src/backend/Makefile")?.contains("\ngenerated-headers:");
    Ok(PREPARED
        .into_iter()
        .chain(INSTALLED.into_iter().map(|directory| (directory, "install")))
        .filter(|(directory, _)| tree.join(directory).join("Makefile").is_file())
        .filter(|(directory, _)| installs_catalog || *directory != CATALOG)
        .filter(|(directory, _)| with_llvm || !directory.ends_with("/llvm"))
        .filter(|(_, target)| makes_headers || *target != "generated-headers")
        .collect())
}

/// make for `target` in `directory`, with as many jobs as there are CPUs.
pub(super) fn make(directory: &str, target: &str, destination: &Path) -> Vec<OsString> {
    let mut destdir = OsString::from("DESTDIR=");
    destdir.push(destination);
    // Programs find libpq next to themselves, and not another one installed in the prefix.
    let rpath = "rpathdir=$$ORIGIN/../lib";
    words!["make", jobs(), "-s", "-C", directory, target, destdir, rpath].to_vec()
}

/// As many jobs as there are CPUs.
pub(super) fn jobs() -> String {
    format!("-j{}", std::thread::available_parallelism().map_or(1, usize::from))
}

/// Programs that make needs for the tree. If it lacks the files that bison, flex and perl generate,
/// it needs these too.
pub(super) fn generators(tree: &Path) -> &'static [&'static str] {
    let made = tree.join("src/backend/parser/gram.c").is_file();
    if made { &[] } else { &["bison", "flex", "perl"] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configure_gets_only_known_options() {
        let script = "  --without-readline      do not use GNU Readline\n  --without-zlib\n  --with-icu   build with ICU\n";
        let of = |options: &BuildOptions| -> Vec<String> {
            let arguments = configure_arguments(script, options);
            arguments.into_iter().map(|a| a.into_string().unwrap()).collect()
        };
        assert_eq!(
            of(&BuildOptions::default()),
            [
                "--prefix=/usr/local/pgsql",
                "CC=cc",
                "CFLAGS=-O2 -fno-omit-frame-pointer -g",
                "--without-readline",
                "--without-zlib"
            ]
        );
        let configure = vec!["--with-zlib".to_owned(), "--enable-cassert".to_owned()];
        let asked = of(&BuildOptions { configure, ..BuildOptions::default() });
        assert_eq!(&asked[3..], ["--without-readline", "--with-zlib", "--enable-cassert"]);
    }

    #[test]
    fn targets_that_a_version_has() {
        let tree = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = tree.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("src/Makefile.global", "with_llvm\t= no\n");
        write("src/backend/Makefile", "all: postgres\n");
        write("src/backend/jit/llvm/Makefile", "");
        write("src/port/Makefile", "");
        write("src/bin/initdb/Makefile", "");
        write("src/include/catalog/Makefile", "reformat-dat-files:\n");
        let rest = [("src/port", "all"), ("src/backend", "install"), ("src/bin/initdb", "install")];
        assert_eq!(targets(tree.path()).unwrap(), rest);
        write("src/Makefile.global", "with_llvm\t= yes\n");
        write("src/backend/Makefile", "all: postgres\ngenerated-headers: x\n");
        write("src/include/catalog/Makefile", "install: all installdirs\n");
        let with = targets(tree.path()).unwrap();
        assert_eq!(with[0], ("src/backend", "generated-headers"));
        assert_eq!(with[3], (CATALOG, "install"));
        assert_eq!(with[4], ("src/backend/jit/llvm", "install"));
        assert_eq!(generators(tree.path()), ["bison", "flex", "perl"]);
    }
}
