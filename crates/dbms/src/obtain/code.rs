//! Whether two installations have the same code.

use std::path::Path;

use object::{Object, ObjectSection, SectionFlags};

use crate::data::{hash, paths};
use crate::obtain::installed::{DESCRIPTION, KEY};
use crate::{Error, Installation};

/// Files with the facts about a build.
const OURS: [&str; 2] = [DESCRIPTION, KEY];

/// The hash of everything in an installation that a run can depend on: of programs and libraries
/// the sections that are loaded into memory, of other files the bytes. Not part of it are debug
/// information, build ids and what else compilers note about themselves. Installations with equal
/// hashes perform alike. Lines that moved in a source file may change code that contains their
/// numbers.
///
/// # Errors
/// [`Error::Unsupported`] for a running server; [`Error::Io`].
pub(crate) fn code_hash(installation: &Installation) -> Result<String, Error> {
    let programs = installation.programs()?;
    let root = programs.parent().unwrap_or(programs);
    let mut texts = Vec::new();
    paths::walk(root, &mut |path, metadata| {
        let name = path.strip_prefix(root).unwrap_or(path);
        let ours = OURS.iter().any(|file| name == Path::new(file));
        if metadata.is_symlink() {
            let target = std::fs::read_link(path).map_err(Error::io("read", path))?;
            texts.extend([name.display().to_string(), target.display().to_string()]);
        } else if metadata.is_file() && !ours {
            let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
            texts.extend([name.display().to_string(), of_file(&bytes)]);
        }
        Ok(())
    })?;
    Ok(hash::of_texts(texts))
}

/// What tells one build of a program from another: its build id, or the hash of its bytes.
///
/// # Errors
/// [`Error::Io`].
pub fn program_id(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    let file = object::File::parse(&*bytes).ok();
    let id = file.as_ref().and_then(|file| file.build_id().ok().flatten());
    Ok(id.map_or_else(|| hash::of(&bytes), hash::hex))
}

fn of_file(bytes: &[u8]) -> String {
    loaded(bytes).unwrap_or_else(|| hash::of(bytes))
}

/// The hash of the sections of an ELF file that are loaded; `None` if it is none, or has none.
fn loaded(bytes: &[u8]) -> Option<String> {
    let file = object::File::parse(bytes).ok()?;
    let mut texts = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, sh_type } = section.flags() else { return None };
        if sh_flags.0 & object::elf::SHF_ALLOC.0 == 0 || sh_type == object::elf::SHT_NOTE {
            continue;
        }
        let name = section.name().ok()?;
        let content = hash::of(section.uncompressed_data().ok()?.as_ref());
        let place = format!("{:x} {:x}", section.address(), section.size());
        texts.extend([name.to_owned(), place, content]);
    }
    (!texts.is_empty()).then(|| hash::of_texts(texts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    /// Compiles a program into a new installation, with an own build id and these flags.
    fn built(root: &Path, program: &str, id: &str, flags: &[&str]) -> Installation {
        let bin = root.join("bin");
        fs::create_dir_all(&bin).unwrap();
        let source = root.join("program.c");
        fs::write(&source, program).unwrap();
        let status = Command::new("cc")
            .args(flags)
            .arg(format!("-Wl,--build-id=0x{id}"))
            .arg("-o")
            .arg(bin.join("program"))
            .arg(&source)
            .status()
            .unwrap();
        assert!(status.success());
        fs::remove_file(source).unwrap();
        fs::write(root.join(DESCRIPTION), id).unwrap();
        Installation { bin_dir: Some(bin), ..Installation::of("postgres", "1") }
    }

    #[test]
    fn build_ids_and_debug_information_are_not_code() {
        let directory = tempfile::tempdir().unwrap();
        let mut number = 0;
        let mut hash = |program: &str, id: &str, flags: &[&str]| {
            number += 1;
            let root = directory.path().join(number.to_string());
            fs::create_dir(&root).unwrap();
            code_hash(&built(&root, program, id, flags)).unwrap()
        };
        let program = "int main(void) { return 1; }\n";
        let first = hash(program, "1111", &[]);
        assert_eq!(first, hash(program, "2222", &[]));
        assert_eq!(first, hash(program, "1111", &["-g"]));
        assert_eq!(first, hash("/* said */ int main(void) { return 1; }\n", "1111", &["-g"]));
        assert_ne!(first, hash("int main(void) { return 2; }\n", "1111", &[]));
        let text = "const char *text = \"a\"; int main(void) { return text[0]; }\n";
        assert_ne!(hash(text, "1", &[]), hash(&text.replace("\"a\"", "\"b\""), "1", &[]));
    }

    #[test]
    fn builds_of_a_program_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let program = "int main(void) { return 1; }\n";
        let path = directory.path().join("bin/program");
        let id = |flags: &[&str]| {
            built(directory.path(), program, "1234", flags);
            program_id(&path).unwrap()
        };
        assert_eq!(id(&[]), "1234");
        assert_eq!(id(&["-Wl,--build-id=none"]).len(), 4, "the one given last counts");
        fs::write(directory.path().join("text"), "no program").unwrap();
        assert_eq!(program_id(&directory.path().join("text")).unwrap().len(), 64);
    }

    #[test]
    fn other_files_count_whole() {
        let directory = tempfile::tempdir().unwrap();
        let installation = built(directory.path(), "int main(void) { return 1; }\n", "1", &[]);
        let share = directory.path().join("share");
        fs::create_dir(&share).unwrap();
        fs::write(share.join("catalog"), "one").unwrap();
        let before = code_hash(&installation).unwrap();
        fs::write(share.join("catalog"), "two").unwrap();
        assert_ne!(before, code_hash(&installation).unwrap());
        let running = Installation { bin_dir: None, ..installation };
        assert!(matches!(code_hash(&running), Err(Error::Unsupported { .. })));
    }
}
