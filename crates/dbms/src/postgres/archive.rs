//! Released binaries, as published by zonky from 9.6 on.

use std::io::Cursor;

use crate::api::kind::Archive;
use crate::obtain::fetch::maven::{Artifact, CENTRAL, Layout};
use crate::obtain::unpack::{content, damaged};

/// Version, processor, SHA-256 of the archive for Linux. `steelyard fetch` prints the digest of a
/// version that is not listed.
#[rustfmt::skip]
const KNOWN: [(&str, &str, &str); 21] = [
    ("9.6.24", "x86_64", "3d4bdb64d4bb0a8757f1efacfed3994aa4a0a37002d5222d7be6c3ddea95e474"),
    ("10.23.0", "x86_64", "e55e42533e1c2f135a4ef0c9e2cde634ff891dc71160483c12951fd611d8bc7c"),
    ("11.22.1", "x86_64", "89af78cc2c4dd05f7b7a665100b12cf9ec6c8d77e00e08c186e598730a0d4adf"),
    ("12.11.0", "x86_64", "003c3b034d8eefa4dc0ae54c66c2ffbd446b6aea6f2ec9567e267b1a90a4105e"),
    ("12.22.0", "x86_64", "f50ddff3308a65e2423ecfd94aefc200d7fe7e2a24d45c6aadb0a6cfbe9284c4"),
    ("13.7.0", "x86_64", "0eed366895d05b779e226143f821efe5fe365b15f873f56dc80b9d2066283339"),
    ("13.22.0", "x86_64", "df102cd31047d65cd10a3394240cda388e2b9804074d707937ac5b7c5d5d8de5"),
    ("13.23.0", "x86_64", "0713b8a6dbe13440718ea789eefca6ae562b004bc0541d9c21d20300529c1db2"),
    ("14.3.0", "x86_64", "dc1892955cf6f58946867d228f87b610c760b76a71e845028b87542ee567593e"),
    ("14.19.0", "x86_64", "8de92fe6d209f864bfae82cb881e416716d139961cc06dbe18629f150a63c71b"),
    ("14.24.0", "x86_64", "2722d05eb22c671104c9918d59d8ba9f5656898f5452a0207bb4cce21eef5dc4"),
    ("15.1.0", "x86_64", "457c2340c27161b6587b7474c58bbbdd832519874dfd3833ca37e1d24fb50b2e"),
    ("15.14.0", "x86_64", "e8a9d549630362bbf88fa3e8de95b7a6d96bfd367e75db8349e9813eef596fef"),
    ("15.19.0", "x86_64", "95f0b66fe72d4ca66c815773c44cb1196ea38552463e89a35f18114b3ed1565f"),
    ("16.10.0", "x86_64", "17a8ded28bde97fe66247387806af30ee26190fc96503c47c3eaa4fcbdcff8b6"),
    ("16.15.0", "x86_64", "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2"),
    ("17.6.0", "x86_64", "23da5a044b4fb7a5a081a45008c95749c873305328d73f86aefd56922ce1d29d"),
    ("17.11.0", "x86_64", "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d"),
    ("18.0.0", "x86_64", "5dbbdf754ddb3ae2169b7864de4b7c294ec6add47999331a64f1c6c85e862a0c"),
    ("18.1.0", "x86_64", "65d0723e0274ad3ec6230dcbdfe034af6ee096fce15a77b0f9b8be71d2702934"),
    ("18.6.0", "x86_64", "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1"),
];

/// Where they are.
pub(super) fn archive() -> Archive {
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64v8",
        "arm" => "arm32v7",
        "powerpc64" => "ppc64le",
        "x86" => "i386",
        other => other,
    };
    let artifact = Artifact {
        repository: CENTRAL.to_owned(),
        layout: Layout::Maven,
        group: "io/zonky/test/postgres",
        name: format!("embedded-postgres-binaries-{}-{processor}", std::env::consts::OS),
    };
    Archive { artifact, named: &[], known: &KNOWN, classifiers: &[""], tar: tar_of }
}

/// The tar archive in the fetched file, a zip file that contains a tar file compressed with xz.
/// Only safe Rust reads it.
fn tar_of(zip: &[u8]) -> Result<Vec<u8>, String> {
    let mut zip = zip::ZipArchive::new(Cursor::new(zip)).map_err(damaged)?;
    for i in 0..zip.len() {
        let inner = zip.by_index(i).map_err(damaged)?;
        if inner.name().is_ok_and(|name| name.ends_with(".txz")) {
            // Reads a second stream after the first, as xz does.
            return content(lzma_rust2::XzReader::new(inner, true), 0);
        }
    }
    Err("it contains no .txz file".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obtain::fetch::maven::parse;

    #[test]
    fn the_table_is_well_formed() {
        for (i, (version, processor, digest)) in KNOWN.iter().enumerate() {
            parse(version).unwrap();
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
