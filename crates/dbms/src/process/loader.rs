//! Programs of container images, which run with the C library and the other libraries of their
//! image.
//!
//! A program names its loader, `/lib64/ld-linux-x86-64.so.2`, and the kernel starts this machine's.
//! So the image's own loader is started instead, and told where to look for libraries (ld.so(8)).
//! This needs no privileges and no namespace, and leaves the files at paths at which profiles and
//! Callgrind find them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::FileHeader64;
use object::read::ReadCache;
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The directory with an image's files, in the directory of the image.
pub(crate) const ROOT: &str = "root";
/// Next to it, the file with facts about the image.
const FACTS: &str = "image.json";

/// Where libraries are that the configuration of the loader does not name: of Debian, Red Hat and
/// Alpine.
const USUAL: [&str; 5] = ["lib64", "usr/lib64", "lib", "usr/lib", "usr/local/lib"];

/// What is known of an image.
#[derive(Serialize, Deserialize)]
struct Facts {
    /// Directories of libraries, relative to its root.
    libraries: Vec<PathBuf>,
}

/// The loader of an image.
#[derive(Debug)]
pub(crate) struct Loader {
    /// The program, links resolved.
    pub(crate) path: PathBuf,
    /// The root of the image.
    pub(crate) root: PathBuf,
    libraries: OsString,
}

impl Loader {
    /// The loader for `program`, if that is in an image and needs one.
    pub(crate) fn of(program: &Path) -> Option<Self> {
        let root = root_of(program)?;
        let facts = fs::read(root.parent()?.join(FACTS)).ok()?;
        let facts: Facts = serde_json::from_slice(&facts).ok()?;
        let named = interpreter(program)?;
        let path = fs::canonicalize(root.join(named.strip_prefix("/").unwrap_or(&named))).ok()?;
        let libraries = facts.libraries.iter().map(|place| root.join(place));
        let libraries = std::env::join_paths(libraries).ok()?;
        Some(Self { path, root: root.to_path_buf(), libraries })
    }

    /// The words with which it runs a program.
    pub(crate) fn words(&self, program: &Path) -> Vec<OsString> {
        let option = "--library-path".into();
        vec![self.path.clone().into(), option, self.libraries.clone(), program.into()]
    }
}

/// The root of the image that a path is in.
fn root_of(path: &Path) -> Option<&Path> {
    let is_root = |above: &&Path| above.ends_with(ROOT) && above.with_file_name(FACTS).is_file();
    path.ancestors().find(is_root)
}

/// True for a path in an image.
pub(crate) fn is_in_image(path: &Path) -> bool {
    root_of(path).is_some()
}

/// The words that run a program: its path, after the loader of its image if it is in one.
pub(crate) fn words(program: &Path) -> Vec<OsString> {
    match Loader::of(program) {
        Some(loader) => loader.words(program),
        None => vec![program.into()],
    }
}

/// The loader that a program names.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let file = ReadCache::new(File::open(program).ok()?);
    let header = FileHeader64::<Endianness>::parse(&file).ok()?;
    let endian = header.endian().ok()?;
    let parts = header.program_headers(endian, &file).ok()?;
    let named = parts.iter().find_map(|part| part.interpreter(endian, &file).ok()?)?;
    Some(PathBuf::from(std::str::from_utf8(named).ok()?))
}

/// The directories of libraries of the image in `root`, relative to it: those that its loader is
/// configured for (ldconfig(8)), then the usual ones.
pub(crate) fn libraries(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut add = |place: PathBuf| {
        if !found.contains(&place) && root.join(&place).is_dir() {
            found.push(place);
        }
    };
    let mut files = vec![root.join("etc/ld.so.conf")];
    let more = fs::read_dir(root.join("etc/ld.so.conf.d")).into_iter().flatten().flatten();
    files.extend(more.map(|entry| entry.path()));
    files.sort();
    for file in files {
        let text = fs::read_to_string(file).unwrap_or_default();
        let places = text.lines().filter_map(|line| line.trim().strip_prefix('/'));
        places.map(PathBuf::from).for_each(&mut add);
    }
    let multiarch = format!("{}-linux-gnu", std::env::consts::ARCH);
    ["lib", "usr/lib"]
        .map(|place| Path::new(place).join(&multiarch))
        .into_iter()
        .for_each(&mut add);
    USUAL.into_iter().map(PathBuf::from).for_each(&mut add);
    found
}

/// Makes `directory` one of an image, whose files are in [`ROOT`].
pub(crate) fn mark(directory: &Path, libraries: &[PathBuf]) -> Result<(), Error> {
    let path = directory.join(FACTS);
    let facts = Facts { libraries: libraries.to_vec() };
    let text = serde_json::to_vec_pretty(&facts).unwrap_or_default();
    fs::write(&path, text).map_err(Error::io("write", &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image with this machine's `sh`, but for the libraries.
    fn image() -> tempfile::TempDir {
        let image = tempfile::tempdir().unwrap();
        let root = image.path().join(ROOT);
        for place in ["bin", "etc/ld.so.conf.d", "opt/own/lib", "usr/lib"] {
            fs::create_dir_all(root.join(place)).unwrap();
        }
        fs::write(root.join("etc/ld.so.conf"), "include /etc/ld.so.conf.d/*.conf\n").unwrap();
        fs::write(root.join("etc/ld.so.conf.d/own.conf"), "# own\n/opt/own/lib\n/none\n").unwrap();
        fs::copy("/bin/sh", root.join("bin/sh")).unwrap();
        image
    }

    #[test]
    fn a_program_of_an_image_gets_the_loader_of_the_image() {
        let image = image();
        let root = image.path().join(ROOT);
        let program = root.join("bin/sh");
        assert_eq!(libraries(&root), [PathBuf::from("opt/own/lib"), "usr/lib".into()]);
        assert_eq!(words(&program), std::slice::from_ref(&program), "it is no image yet");
        mark(image.path(), &libraries(&root)).unwrap();
        assert_eq!(words(&program), std::slice::from_ref(&program), "the image has no loader");
        let named = interpreter(&program).unwrap();
        let loader = root.join(named.strip_prefix("/").unwrap());
        fs::create_dir_all(loader.parent().unwrap()).unwrap();
        fs::copy(&named, &loader).unwrap();
        let paths = format!("{0}/opt/own/lib:{0}/usr/lib", root.display());
        let loader = fs::canonicalize(loader).unwrap();
        let expected: [OsString; 4] =
            [loader.into(), "--library-path".into(), paths.into(), program.clone().into()];
        assert_eq!(words(&program), expected);
        let script = root.join("bin/script");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        assert_eq!(words(&script), std::slice::from_ref(&script));
        assert_eq!(words(Path::new("/bin/sh")), ["/bin/sh"]);
    }
}
