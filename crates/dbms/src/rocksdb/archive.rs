//! Released libraries: those of RocksJava, which have the whole C interface, too.

use std::io::Cursor;

use crate::api::kind::Archive;
use crate::obtain::fetch::maven::{Artifact, CENTRAL, Layout};
use crate::obtain::unpack::{content, damaged};

/// Version, processor, SHA-256 of the archive. `steelyard fetch` prints the digest of a version
/// that is not listed.
#[rustfmt::skip]
const KNOWN: [(&str, &str, &str); 13] = [
    ("6.8.1", "x86_64", "db63ed9c8b5727016251578acdec2e564f154a117aca5af916199de4726b0cd4"),
    ("6.29.5", "x86_64", "d46a6ba23be0e8b3163c2847f3cbccc51833783aee2d7ed4995d4bbb744dbb5d"),
    ("7.0.4", "x86_64", "f5685abd74862d4bcafe4847c7d163f3bb8e07499cfd85fbf14af3f14e2b82b4"),
    ("7.2.2", "x86_64", "58f7d6dafe7a7d5fdc23efb4f84e30887f7a48331b080ba2f162fc261ec09515"),
    ("7.3.1", "x86_64", "41c3a10e25b02213dd6f84821eea96ffd3852a7aa478a70b9fa699e019d1c8c1"),
    ("7.4.5", "x86_64", "07ab2edcf0cd231b499402e572db611b4618d36d88411af57b9ed2721d31b063"),
    ("7.10.2", "x86_64", "c60cba0aa6ed994955e5e24f4bafcd147dbaf61c4204fcba90eba35b9124d0b9"),
    ("8.5.4", "x86_64", "7085d1693a6587acf6a94da79dd4e5ed8a61821654d57d121412c45d540f6dd9"),
    ("8.11.4", "x86_64", "dd4b5ec55462060e40c0583881971c37a00f4555dd0b555e830f733f6e70a3f3"),
    ("9.10.0", "x86_64", "e7952a571b1f1577b8ce226bcfa2b10d2af8027a21d4ce749740b4910e7d61bd"),
    ("10.2.1", "x86_64", "6c7ad6bbeb0b15abeac117ce2f4281244ac273b2793100917fbc5c253297de6f"),
    ("10.4.2", "x86_64", "34a9b9ab5bdb128c058363d72a83ab5d0a498a97df9cf1291f1a6e9260bb70b1"),
    ("10.10.1", "x86_64", "fda4a26cd4ea229636c5379ed41d827ce119a99c404fab94d9f863783c9ccb18"),
];

/// Where they are. The file for one processor is smaller, and in some versions the only one with a
/// library.
pub(super) fn archive() -> Archive {
    let artifact = Artifact {
        repository: CENTRAL.to_owned(),
        layout: Layout::Maven,
        group: "org/rocksdb",
        name: "rocksdbjni".to_owned(),
    };
    let classifiers = if cfg!(target_arch = "x86_64") { &["-linux64", ""][..] } else { &[""] };
    Archive { artifact, named: &[], known: &KNOWN, classifiers, tar: tar_of }
}

/// A tar archive with the library as `bin/librocksdb.so`, from a fetched jar, which is a zip file
/// with libraries for several processors.
fn tar_of(jar: &[u8]) -> Result<Vec<u8>, String> {
    let wanted = match std::env::consts::ARCH {
        "x86_64" => "librocksdbjni-linux64.so".to_owned(),
        other => format!("librocksdbjni-linux-{other}.so"),
    };
    let mut zip = zip::ZipArchive::new(Cursor::new(jar)).map_err(damaged)?;
    let library = zip.by_name(&wanted).map_err(|_| format!("it contains no {wanted}"))?;
    let bytes = content(library, 0)?;
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o755);
    let mut tar = tar::Builder::new(Vec::new());
    tar.append_data(&mut header, "bin/librocksdb.so", bytes.as_slice())
        .and_then(|()| tar.into_inner())
        .map_err(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obtain::fetch::maven::parse;

    #[test]
    fn the_table_is_well_formed() {
        for (version, _, digest) in KNOWN {
            parse(version).unwrap();
            assert!(
                digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()),
                "{version}"
            );
        }
    }

    #[test]
    fn what_is_no_jar_is_told() {
        assert!(tar_of(b"nonsense").unwrap_err().contains("damaged"));
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("other", zip::write::SimpleFileOptions::default()).unwrap();
        let jar = zip.finish().unwrap().into_inner();
        assert!(tar_of(&jar).unwrap_err().contains("contains no librocksdbjni"));
    }
}
