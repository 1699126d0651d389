//! An installation on this machine: what it is and how it was built.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::{Error, Installation};

/// Describes the installation in `path`, the directory above `bin`.
pub(super) fn obtain(path: &Path) -> Result<Installation, Error> {
    let root = fs::canonicalize(path).map_err(|error| Error::Installation {
        path: path.to_path_buf(),
        problem: error.to_string(),
    })?;
    describe(&root, format!("path:{}", root.display()))
}

/// Describes the installation in `root`, which came from `source`.
pub(super) fn describe(root: &Path, source: String) -> Result<Installation, Error> {
    let bin_dir = root.join("bin");
    let postgres = bin_dir.join("postgres");
    for program in [&postgres, &bin_dir.join("initdb")] {
        if !program.is_file() {
            return Err(Error::Installation {
                path: root.to_path_buf(),
                problem: format!("there is no {}", program.display()),
            });
        }
    }
    let banner = say(&postgres, "--version")?;
    let version = version_in(&banner)
        .ok_or_else(|| Error::Installation {
            path: root.to_path_buf(),
            problem: format!("`postgres --version` says {banner:?}, which holds no version"),
        })?
        .to_owned();
    let mut build = BTreeMap::from([
        ("postgres --version".to_owned(), banner),
        ("sha256 of bin/postgres".to_owned(), hash_file(&postgres)?),
    ]);
    if let Some(compiler) = compiled_by(&postgres)? {
        build.insert("version()".to_owned(), compiler);
    }
    let pg_config = bin_dir.join("pg_config");
    if pg_config.is_file() {
        for key in ["--configure", "--cc", "--cflags"] {
            if let Ok(value) = say(&pg_config, key) {
                build.insert(format!("pg_config {key}"), value);
            }
        }
    }
    Ok(Installation { dbms: "postgres".to_owned(), version, source, bin_dir: Some(bin_dir), build })
}

/// `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)` → `15.14`.
fn version_in(banner: &str) -> Option<&str> {
    banner.split_ascii_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

fn say(program: &Path, argument: &str) -> Result<String, Error> {
    let output = Command::new(program).arg(argument).output().map_err(Error::io("run", program))?;
    if !output.status.success() {
        return Err(Error::Program {
            program: format!("{} {argument}", program.display()),
            status: output.status.to_string(),
            output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

pub(super) fn hash_file(path: &Path) -> Result<String, Error> {
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let mut hash = Sha256::new();
    std::io::copy(&mut file, &mut HashWriter(&mut hash)).map_err(Error::io("read", path))?;
    Ok(hex(&hash.finalize()))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.0.update(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What `select version()` would say: PG_VERSION_STR stands in the binary as one text.
fn compiled_by(postgres: &Path) -> Result<Option<String>, Error> {
    let bytes = fs::read(postgres).map_err(Error::io("read", postgres))?;
    Ok(find_version_text(&bytes))
}

fn find_version_text(bytes: &[u8]) -> Option<String> {
    const BEGIN: &[u8] = b"PostgreSQL ";
    const INSIDE: &str = ", compiled by ";
    bytes
        .windows(BEGIN.len())
        .enumerate()
        .filter(|(_, window)| *window == BEGIN)
        .filter_map(|(at, _)| {
            let text = bytes.get(at..bytes.len().min(at + 400))?.split(|byte| *byte == 0).next()?;
            std::str::from_utf8(text).ok()
        })
        .find(|text| text.contains(INSIDE))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_versions() {
        assert_eq!(
            version_in("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)"),
            Some("15.14")
        );
        assert_eq!(version_in("postgres (PostgreSQL) 19devel"), Some("19devel"));
        assert_eq!(version_in("postgres"), None);
    }

    #[test]
    fn finds_the_version_text_in_a_binary() {
        let binary =
            b"\0PostgreSQL JDBC\0x\0PostgreSQL 13.7 on x86_64, compiled by gcc 10, 64-bit\0more";
        assert_eq!(
            find_version_text(binary).as_deref(),
            Some("PostgreSQL 13.7 on x86_64, compiled by gcc 10, 64-bit")
        );
        assert_eq!(find_version_text(b"nothing"), None);
    }

    #[test]
    fn a_directory_without_postgres_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let error = obtain(directory.path()).unwrap_err().to_string();
        assert!(error.contains("bin/postgres"), "{error}");
        assert!(obtain(Path::new("/no/such/place")).is_err());
    }
}
