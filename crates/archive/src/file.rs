//! The archive file: a tar file compressed with gzip.
//!
//! Its first entry, `manifest.json`, lists the others with sizes and hashes. Unpacked (`tar xzf`),
//! it is a results directory. A comment in the gzip header tells it from other files. Everything in
//! it that is not content (owners, times, order) is always the same.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::Error;
use crate::bounded::{Bounded, Left, too_large};
use crate::manifest::{Entry, Manifest};

/// The comment in the gzip header.
const COMMENT: &str = "steelyard experiment";
/// How every archive file begins (RFC 1952): deflate, a comment and nothing else, no time, default
/// level, Unix.
pub const MAGIC: &[u8; 31] = b"\x1f\x8b\x08\x10\0\0\0\0\0\x03steelyard experiment\0";

const MANIFEST: &str = "manifest.json";
/// How large a manifest may be; one of 100,000 artifacts has 20 MB.
const LARGEST_MANIFEST: u64 = 64 << 20;
/// How large an entry's headers may be; a path has 4 KB.
const LARGEST_HEADERS: u64 = 64 << 10;

/// Size and SHA-256 of a file.
pub(crate) fn describe(root: &Path, path: &str) -> Result<Entry, Error> {
    let file = root.join(path);
    let hash = || {
        let mut reader = Hashing { inner: File::open(&file)?, sum: Sha256::new() };
        let bytes = io::copy(&mut reader, &mut io::sink())?;
        Ok((bytes, reader.finish()))
    };
    let (bytes, sha256) = hash().map_err(Error::io("read", &file))?;
    Ok(Entry { path: path.to_owned(), bytes, sha256 })
}

/// Writes an archive of the files below `root` that the manifest lists.
pub(crate) fn pack(manifest: &Manifest, root: &Path, to: &Path) -> Result<(), Error> {
    let wrap = || Error::io("write", to);
    let file = File::create(to).map_err(wrap())?;
    // The level by which flate2 writes the header that MAGIC expects.
    let compressed = GzBuilder::new()
        .comment(COMMENT)
        .operating_system(3)
        .write(BufWriter::new(file), Compression::default());
    let mut tar = Builder::new(compressed);
    let text = serde_json::to_vec_pretty(manifest).unwrap_or_default();
    append(&mut tar, MANIFEST, text.len() as u64, text.as_slice()).map_err(wrap())?;
    for Entry { path, bytes, .. } in &manifest.files {
        let file = root.join(path);
        let content = File::open(&file).map_err(Error::io("read", &file))?;
        append(&mut tar, path, *bytes, content.take(*bytes)).map_err(wrap())?;
    }
    let finish = || {
        let buffered = tar.into_inner()?.finish()?;
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    };
    finish().map_err(wrap())
}

fn append<W: Write>(
    tar: &mut Builder<W>,
    path: &str,
    bytes: u64,
    content: impl Read,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_size(bytes);
    header.set_mtime(0);
    header.set_cksum();
    tar.append_data(&mut header, path, content)
}

/// True if a file begins like an archive.
pub(crate) fn is_archive(path: &Path) -> io::Result<bool> {
    let mut begin = Vec::new();
    File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut begin)?;
    Ok(begin == MAGIC)
}

/// Reads an archive to its end and checks everything in it. With a directory, its files are written
/// there. It ends as soon as more than `largest` bytes come out of it.
///
/// # Errors
/// [`Error::NotAnArchive`], [`Error::Damaged`], [`Error::Newer`], [`Error::Older`],
/// [`Error::TooLarge`]; or if a file cannot be written.
pub(crate) fn read(
    path: &Path,
    name: &str,
    largest: u64,
    into: Option<&Path>,
) -> Result<Manifest, Error> {
    let archive = File::open(path).map_err(Error::io("read", path))?;
    let mut archive = BufReader::new(archive);
    check_begin(&mut archive, path, name)?;
    let damaged = |problem: String| Error::Damaged { name: name.to_owned(), problem };
    let left = Left::new(largest);
    let broken = |error: io::Error| match left.is_used_up() {
        true => too_large(name, largest),
        false => damaged(format!("it cannot be unpacked ({error})")),
    };
    let long = || damaged(format!("an entry's headers have more than {LARGEST_HEADERS} bytes"));
    let unpacked = flate2::bufread::GzDecoder::new(MAGIC.chain(archive));
    let mut tar = tar::Archive::new(Bounded::new(unpacked, &left));
    let mut entries = tar.entries().map_err(broken)?;
    let mut next = |wanted: &str| -> Result<tar::Entry<'_, _>, Error> {
        let entry = left.at_most(LARGEST_HEADERS, || entries.next()).ok_or_else(long)?;
        let entry = entry.ok_or_else(|| damaged(format!("`{wanted}` is missing")))?;
        let entry = entry.map_err(broken)?;
        let found = entry.path_bytes();
        if found != wanted.as_bytes() || entry.header().entry_type() != EntryType::Regular {
            let found = String::from_utf8_lossy(&found).into_owned();
            return Err(damaged(format!("expected the file `{wanted}`, found `{found}`")));
        }
        drop(found);
        Ok(entry)
    };
    let mut text = Vec::new();
    next(MANIFEST)?.take(LARGEST_MANIFEST).read_to_end(&mut text).map_err(broken)?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .or_else(|error| newer_manifest(&text).ok_or(error))
        .map_err(|error| damaged(format!("its manifest cannot be read ({error})")))?;
    manifest.check(name)?;
    for Entry { path, bytes, sha256 } in &manifest.files {
        let entry = next(path)?;
        let mut entry = Hashing { inner: entry, sum: Sha256::new() };
        let copied = match into {
            None => io::copy(&mut entry, &mut io::sink()).map_err(broken)?,
            Some(into) => unpack(&mut entry, &into.join(path), broken)?,
        };
        let sum = entry.finish();
        if copied != *bytes || sum != *sha256 {
            return Err(damaged(format!(
                "expected `{path}` with {bytes} bytes and SHA-256 {sha256}, found {copied} bytes and {sum}"
            )));
        }
    }
    if let Some(more) = left.at_most(LARGEST_HEADERS, || entries.next()).ok_or_else(long)? {
        let more = more.map_err(broken)?;
        let found = String::from_utf8_lossy(&more.path_bytes()).into_owned();
        return Err(damaged(format!("it also has `{found}`, which its manifest does not list")));
    }
    // The checksum is behind the last entry.
    let mut rest = tar.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(broken)?;
    let mut after = Vec::new();
    rest.into_inner().into_inner().take(1).read_to_end(&mut after).map_err(broken)?;
    if !after.is_empty() {
        return Err(damaged("something follows its end".to_owned()));
    }
    Ok(manifest)
}

/// Reads the part of a newer format's manifest that all formats share.
fn newer_manifest(text: &[u8]) -> Option<Manifest> {
    let value: serde_json::Value = serde_json::from_slice(text).ok()?;
    let number = |key: &str| value.get(key)?.as_u64()?.try_into().ok();
    let format = number("format").filter(|format| *format > crate::FORMAT)?;
    let steelyard = value.get("steelyard")?.as_str()?.to_owned();
    Some(Manifest {
        format,
        schema: number("schema").unwrap_or_default(),
        steelyard,
        content: String::new(),
        experiment: crate::Summary {
            number: 0,
            name: String::new(),
            workload: String::new(),
            state: String::new(),
            purpose: String::new(),
            trials: 0,
            variants: Vec::new(),
            seed: 0,
            created_ms: 0,
            ended_ms: None,
        },
        files: Vec::new(),
    })
}

/// Reads the beginning, which is compared as a whole, so a change in it is found too.
fn check_begin(archive: &mut impl Read, path: &Path, name: &str) -> Result<(), Error> {
    let mut begin = Vec::new();
    let length = MAGIC.len() as u64;
    archive.take(length).read_to_end(&mut begin).map_err(Error::io("read", path))?;
    if begin == MAGIC {
        return Ok(());
    }
    let found = match begin.as_slice() {
        [] => "an empty file".to_owned(),
        begin if MAGIC.starts_with(begin) => "only the beginning of one".to_owned(),
        [0x1f, 0x8b, ..] => "another file compressed with gzip".to_owned(),
        begin => {
            format!("a file that begins with `{}`", begin[..begin.len().min(8)].escape_ascii())
        }
    };
    Err(Error::NotAnArchive { name: name.to_owned(), found })
}

fn unpack(
    entry: &mut impl Read,
    to: &Path,
    broken: impl Fn(io::Error) -> Error,
) -> Result<u64, Error> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
    }
    let mut file = File::create_new(to).map_err(Error::io("create", to))?;
    let mut buffer = vec![0; 1 << 16];
    let mut copied = 0;
    loop {
        let read = entry.read(&mut buffer).map_err(&broken)?;
        let Some(chunk) = buffer.get(..read).filter(|chunk| !chunk.is_empty()) else {
            return Ok(copied);
        };
        file.write_all(chunk).map_err(Error::io("write", to))?;
        copied += read as u64;
    }
}

/// Hashes what is read through it.
struct Hashing<R> {
    inner: R,
    sum: Sha256,
}

impl<R> Hashing<R> {
    fn finish(self) -> String {
        self.sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.sum.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of a results directory whose only other file has 8 MB of zeros, with an entry's
    /// header changed by `spoil`.
    fn bomb(folder: &Path, claimed: u64, spoil: impl FnOnce(&mut Builder<Vec<u8>>)) -> Vec<u8> {
        let zeros = vec![0; 8 << 20];
        fs::write(folder.join("zeros"), &zeros).unwrap();
        let whole = describe(folder, "zeros").unwrap();
        let file = |path: &str, bytes| Entry { path: path.to_owned(), bytes, ..whole.clone() };
        let manifest = serde_json::json!({
            "format": crate::FORMAT, "schema": store::Store::schema(), "steelyard": "0.1.0",
            "content": whole.sha256, "files": [file(store::DATABASE, claimed)],
            "experiment": newer_manifest(br#"{"format": 99, "steelyard": "1"}"#).unwrap().experiment,
        });
        let mut tar = Builder::new(Vec::new());
        let text = manifest.to_string();
        append(&mut tar, MANIFEST, text.len() as u64, text.as_bytes()).unwrap();
        spoil(&mut tar);
        append(&mut tar, store::DATABASE, zeros.len() as u64, &*zeros).unwrap();
        let mut packed = GzBuilder::new()
            .comment(COMMENT)
            .operating_system(3)
            .write(Vec::new(), Compression::default());
        packed.write_all(&tar.into_inner().unwrap()).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn what_unpacks_to_more_than_the_limit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, into) = (folder.path().join("bomb"), folder.path().join("into"));
        let read = |bytes: Vec<u8>, largest| {
            fs::write(&file, bytes).unwrap();
            read(&file, "x.steelyard", largest, Some(&into))
        };
        // Whatever the manifest claims.
        for claimed in [8 << 20, 1] {
            let bytes = bomb(folder.path(), claimed, |_| ());
            assert!(bytes.len() < 100_000);
            let error = read(bytes, 1 << 20).unwrap_err();
            assert!(matches!(error, Error::TooLarge { .. }) && error.is_request(), "{error}");
            let error = error.to_string();
            for part in ["x.steelyard", "more than 0.001 GB", "STEELYARD_LARGEST_IMPORT"] {
                assert!(error.contains(part), "{error}");
            }
            // It ended there.
            let written = fs::metadata(into.join(store::DATABASE)).unwrap().len();
            assert!(written < 1 << 20, "{written}");
            fs::remove_dir_all(&into).unwrap();
        }
        assert!(read(bomb(folder.path(), 8 << 20, |_| ()), 9 << 20).is_ok());
        fs::remove_dir_all(&into).unwrap();
        // A name of 4 MB would be read into memory.
        let long = bomb(folder.path(), 8 << 20, |tar| {
            let mut header = Header::new_gnu();
            header.set_entry_type(EntryType::GNULongName);
            header.set_size(4 << 20);
            header.as_old_mut().name[..13].copy_from_slice(b"././@LongLink");
            header.set_cksum();
            tar.append(&header, &*vec![b'x'; 4 << 20]).unwrap();
        });
        let error = read(long, 1 << 30).unwrap_err().to_string();
        assert!(error.contains("headers have more than 65536 bytes"), "{error}");
    }
}
