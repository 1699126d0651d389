//! Shared libraries that a server needs: those that came with it, and those that are missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::launch;

/// Beginnings of libraries' names and Debian's packages that contain them.
const PACKAGES: [(&str, &str); 14] = [
    ("libaio.so.1", "libaio1"),
    ("libcrypt.so.1", "libcrypt1"),
    ("libcrypto.so.1.1", "libssl1.1"),
    ("libssl.so.1.1", "libssl1.1"),
    ("libcrypto.so.3", "libssl3"),
    ("libssl.so.3", "libssl3"),
    ("libncurses.so.5", "libncurses5"),
    ("libtinfo.so.5", "libtinfo5"),
    ("libnuma.so.1", "libnuma1"),
    ("libpcre2-8.so.0", "libpcre2-8-0"),
    ("libsnappy.so.1", "libsnappy1v5"),
    ("liblz4.so.1", "liblz4-1"),
    ("libsystemd.so.0", "libsystemd0"),
    ("liburing.so.2", "liburing2"),
];

/// Directories with libraries in the installation at `base`. The machine's own are found anyway.
pub(super) fn beside(base: &Path) -> Vec<PathBuf> {
    if [Path::new("/usr"), Path::new("/usr/local"), Path::new("/")].contains(&base) {
        return Vec::new();
    }
    let multiarch = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    let places = ["lib", "libs", "lib/private", &multiarch].map(|place| base.join(place));
    let has_some = |place: &PathBuf| {
        fs::read_dir(place).is_ok_and(|entries| {
            entries.flatten().any(|it| it.file_name().to_string_lossy().contains(".so"))
        })
    };
    places.into_iter().filter(has_some).collect()
}

/// The libraries that the program of `command` needs and this machine lacks.
pub(super) fn missing(mut command: Command) -> Vec<String> {
    // As ldd does: the loader then lists the libraries and does not run the program (ld.so(8)).
    command.env("LD_TRACE_LOADED_OBJECTS", "1");
    not_found(&launch::run(command, "listing its libraries", None).unwrap_or_default())
}

fn not_found(listed: &str) -> Vec<String> {
    let lines = listed.lines().filter_map(|line| line.trim().split_once(" => not found"));
    lines.map(|(name, _)| name.to_owned()).collect()
}

/// Says what to do about missing libraries.
pub(super) fn explain(missing: &[String]) -> String {
    let packages: BTreeSet<&str> = missing.iter().filter_map(|name| package(name)).collect();
    let names = missing.join(", ");
    if packages.is_empty() {
        return format!(
            "its server needs {names}, which this machine does not have; install the packages that contain them"
        );
    }
    format!(
        "its server needs {names}, which this machine does not have; install the packages that \
         contain them (Debian: apt-get install {})",
        packages.into_iter().collect::<Vec<_>>().join(" ")
    )
}

/// Debian's package that contains a library.
fn package(library: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(name, _)| library == *name).map(|(_, package)| *package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_libraries_are_named_with_their_packages() {
        let listed = "\tlinux-vdso.so.1 (0x00007f)\n\tlibaio.so.1 => not found\n\tlibssl.so.1.1 => not found\n\
                      \tlibcrypto.so.1.1 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n";
        let missing = not_found(listed);
        assert_eq!(missing, ["libaio.so.1", "libssl.so.1.1", "libcrypto.so.1.1"]);
        let text = explain(&missing);
        assert!(
            text.contains("libaio.so.1") && text.contains("install libaio1 libssl1.1)"),
            "{text}"
        );
        assert!(explain(&["libx.so".to_owned()]).contains("libx.so"));
        assert!(not_found("").is_empty());
    }

    #[test]
    fn only_what_came_with_a_server_is_added() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("lib/plugin")).unwrap();
        assert!(beside(directory.path()).is_empty());
        fs::write(directory.path().join("lib/libaio.so.1"), "").unwrap();
        assert_eq!(beside(directory.path()), [directory.path().join("lib")]);
        assert!(beside(Path::new("/usr")).is_empty());
    }
}
