//! The commands of a build with Meson and ninja.

use std::ffi::OsString;
use std::path::Path;

use super::make::{PREFIX, jobs};
use crate::BuildOptions;
use crate::obtain::build::work::words;

/// Programs that it needs for any tree, because it regenerates all generated files.
pub(super) const PROGRAMS: [&str; 6] = ["meson", "ninja", "python3", "bison", "flex", "perl"];

/// The options of `meson setup` without the directories, as recorded with a build.
pub(super) fn options(options: &BuildOptions) -> Vec<String> {
    let mut all: Vec<String> = [
        // No flags of its own, and no libraries that happen to be installed.
        "--buildtype=plain",
        "--auto-features=disabled",
        "--wrap-mode=nodownload",
        "--libdir=lib",
        // Programs find libpq next to themselves, and not another one installed in the prefix.
        "-Drpath=false",
        "-Dc_link_args=-Wl,-rpath,$ORIGIN/../lib",
    ]
    .map(str::to_owned)
    .to_vec();
    all.push(format!("--prefix={PREFIX}"));
    all.push(format!("-Dc_args={}", options.cflags));
    all.extend(options.configure.iter().cloned());
    all
}

/// `meson setup` of `tree` in `build`.
pub(super) fn setup(given: &BuildOptions, tree: &Path, build: &Path) -> Vec<OsString> {
    // The compiler can be set only by the environment.
    let mut words = words!["env", format!("CC={}", given.compiler), "meson", "setup"].to_vec();
    words.extend(options(given).into_iter().map(OsString::from));
    words.extend([build.into(), tree.into()]);
    words
}

/// Compiles everything, with as many jobs as there are CPUs, and installs it below `destination`.
pub(super) fn steps(build: &Path, destination: &Path) -> [Vec<OsString>; 2] {
    let (quiet, destdir) = ("--quiet", "--destdir");
    [
        words!["ninja", jobs(), "-C", build].to_vec(),
        words!["meson", "install", "--no-rebuild", quiet, destdir, destination, "-C", build]
            .to_vec(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meson_gets_the_same_prefix_and_flags_as_configure() {
        let given = BuildOptions {
            configure: vec!["-Dcassert=true".to_owned()],
            compiler: "ccache cc".to_owned(),
            ..BuildOptions::default()
        };
        let words = setup(&given, Path::new("/w/tree"), Path::new("/w/build"));
        let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words[..4], ["env", "CC=ccache cc", "meson", "setup"]);
        assert_eq!(words[words.len() - 3..], ["-Dcassert=true", "/w/build", "/w/tree"]);
        assert!(words.contains(&"--prefix=/usr/local/pgsql"));
        assert!(words.contains(&"-Dc_args=-O2 -fno-omit-frame-pointer -g"));
        let [ninja, install] = steps(Path::new("/w/build"), Path::new("/w/installed"));
        assert_eq!(ninja[0], "ninja");
        assert_eq!(install[4..], ["--destdir", "/w/installed", "-C", "/w/build"]);
    }
}
