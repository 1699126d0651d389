//! Checks that the programs needed by a build exist.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::Error;

/// Programs and the Debian packages that contain them.
const PACKAGES: [(&str, &str); 14] = [
    ("cc", "gcc libc6-dev"),
    ("gcc", "gcc libc6-dev"),
    ("clang", "clang"),
    ("ccache", "ccache"),
    ("make", "make"),
    ("git", "git"),
    ("ninja", "ninja-build"),
    ("tar", "tar"),
    ("bison", "bison"),
    ("flex", "flex"),
    ("perl", "perl"),
    ("bzip2", "bzip2"),
    ("xz", "xz-utils"),
    ("zstd", "zstd"),
];

/// Checks that all `programs` are in PATH, or are paths of programs.
pub(crate) fn check(what: &str, programs: &[&str]) -> Result<(), Error> {
    let path = std::env::var("PATH").unwrap_or_default();
    let missing: Vec<&str> =
        programs.iter().copied().filter(|program| !is_there(program, &path)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let package = |program: &&str| {
        let known = PACKAGES.iter().find(|(name, _)| name == program);
        // Most have the name of their package.
        known.map_or_else(|| (*program).to_owned(), |(_, package)| (*package).to_owned())
    };
    Err(Error::Tools {
        what: what.to_owned(),
        packages: missing.iter().map(package).collect(),
        programs: missing.into_iter().map(str::to_owned).collect(),
    })
}

fn is_there(program: &str, path: &str) -> bool {
    let executable = |file: &Path| {
        file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return executable(Path::new(program));
    }
    path.split(':').any(|directory| executable(&Path::new(directory).join(program)))
}

/// The program that unpacks a tarball, by the first bytes of the file; tar itself finds and starts
/// it.
pub(crate) fn unpacker(begin: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 4] = [
        (b"\x1f\x8b", "gzip"),
        (b"BZh", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
    ];
    MAGIC.iter().find(|(magic, _)| begin.starts_with(magic)).map(|(_, program)| *program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_are_named_with_their_package() {
        check("x", &["sh", "/bin/sh"]).unwrap();
        match check("postgres", &["sh", "no-such-tool", "/no/such/tool"]).unwrap_err() {
            Error::Tools { programs, packages, .. } => {
                assert_eq!(programs, ["no-such-tool", "/no/such/tool"]);
                assert_eq!(packages[0], "no-such-tool");
            }
            other => panic!("expected Tools, found {other}"),
        }
        assert!(!is_there("sh", "/no/such/directory"));
        assert!(!is_there("/etc/passwd", ""), "not executable");
    }

    #[test]
    fn tarballs_by_their_first_bytes() {
        assert_eq!(unpacker(b"BZh91AY"), Some("bzip2"));
        assert_eq!(unpacker(b"\x1f\x8b\x08"), Some("gzip"));
        assert_eq!(unpacker(b"postgresql-15/"), None);
        assert_eq!(unpacker(b""), None);
    }
}
