//! The archives of released binaries as they were when they were first tried. A published checksum comes from the same
//! place as the archive; these don't.

use semver::Version;
use sha2::{Digest as _, Sha256};

use super::local::hex;
use crate::Error;

/// Version, processor, SHA-256 of the archive for Linux. `steelyard fetch` prints the digest of a version that is not here.
const KNOWN: [(&str, &str, &str); 0] = [];

/// The digest of an archive.
pub(super) struct Digest {
    /// SHA-256 in hexadecimal digits.
    pub(super) sha256: String,
    /// Whether it was compared with the table.
    pub(super) known: bool,
}

/// Compares an archive of `version` for this machine with the table.
///
/// # Errors
/// [`Error::Digest`] if the table has another digest.
pub(super) fn check(version: &Version, archive: &[u8]) -> Result<Digest, Error> {
    check_against(&KNOWN, version, archive)
}

fn check_against(
    known: &[(&str, &str, &'static str)],
    version: &Version,
    archive: &[u8],
) -> Result<Digest, Error> {
    let sha256 = hex(&Sha256::digest(archive));
    let name = version.to_string();
    let expected = known
        .iter()
        .find(|(version, processor, _)| *version == name && *processor == std::env::consts::ARCH);
    match expected {
        Some((_, _, expected)) if *expected != sha256 => {
            Err(Error::Digest { version: name, expected, found: sha256 })
        }
        expected => Ok(Digest { sha256, known: expected.is_some() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_digest_is_an_error_that_says_so() {
        const ARCH: &str = std::env::consts::ARCH;
        // SHA-256 of "abc" (FIPS 180-4, examples).
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let known = [("13.7.0", ARCH, abc)];
        let check = |version: (u64, u64), bytes| {
            check_against(&known, &Version::new(version.0, version.1, 0), bytes)
        };
        assert!(check((13, 7), b"abc").unwrap().known);
        let error = check((13, 7), b"abd").err().unwrap();
        for part in ["13.7", abc, "expected", "Nothing was unpacked"] {
            assert!(error.to_string().contains(part), "{error}");
        }
        let unknown = check((13, 8), b"abc").unwrap();
        assert!(!unknown.known);
        assert_eq!(unknown.sha256, abc);
    }

    #[test]
    fn the_table_is_well_formed() {
        for (i, (version, processor, digest)) in KNOWN.iter().enumerate() {
            Version::parse(version).unwrap();
            assert!(
                digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()),
                "{version}"
            );
            let same = |(v, p, _): &&(&str, &str, &str)| (v, p) == (version, processor);
            assert_eq!(
                KNOWN.iter().position(|one| same(&one)),
                Some(i),
                "{version} is twice there"
            );
        }
    }
}
