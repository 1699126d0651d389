//! Paths in a plan: relative to its folder, whatever the current directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::problem::Problems;
use crate::section::printable;

/// Largest file that a plan may refer to, 1 MiB.
const MAX_FILE: u64 = 1 << 20;

/// More files than this in one directory must be a mistake.
const MAX_FILES: usize = 1000;

/// The text of the file named by the key at this path, `x_file`. A plan without a folder gives the
/// text itself, as `text_key`.
pub(crate) fn read_beside(
    p: &mut Problems,
    folder: Option<&Path>,
    file: &str,
    (path, text_key): (&str, &str),
) -> Option<String> {
    place(p, folder, file, (path, text_key), read)
}

/// The texts of the files with these extensions in the directory named by the key at this path, by
/// name. A plan without a folder gives them itself, as `text_key`.
pub(crate) fn read_all_beside(
    p: &mut Problems,
    folder: Option<&Path>,
    directory: &str,
    extensions: &[&str],
    keys: (&str, &str),
) -> BTreeMap<String, String> {
    let all = |directory: &Path, base: &str| {
        let failed = |error| cannot(directory, &error, base);
        if !fs::metadata(directory).map_err(failed)?.is_dir() {
            return Err(format!("{} is not a directory", shown(directory)));
        }
        let mut texts = BTreeMap::new();
        for entry in fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let fits =
                path.extension().is_some_and(|it| extensions.iter().any(|known| it == *known));
            let name = path.file_name().and_then(|name| name.to_str()).filter(|_| fits);
            // Editors hide their own files in this way.
            let Some(name) = name.filter(|name| !name.starts_with('.')) else { continue };
            texts.insert(name.to_owned(), read(&path, base)?);
            if texts.len() > MAX_FILES {
                let shown = shown(directory);
                return Err(format!("{shown} has more than {MAX_FILES} files; use several"));
            }
        }
        Ok(texts)
    };
    place(p, folder, directory, keys, all).unwrap_or_default()
}

/// The whole path of the file named by the key at this path.
pub(crate) fn whole_path(
    p: &mut Problems,
    folder: Option<&Path>,
    file: &str,
    keys: (&str, &str),
) -> Option<String> {
    place(p, folder, file, keys, |path, base| {
        let whole = fs::canonicalize(path).map_err(|error| cannot(path, &error, base))?;
        let unfit = || format!("{} is not a path in UTF-8", shown(path));
        whole.to_str().map(str::to_owned).ok_or_else(unfit)
    })
}

/// Reads what the key at a path names, with the directory that it is relative to.
fn place<T>(
    p: &mut Problems,
    folder: Option<&Path>,
    named: &str,
    (path, text_key): (&str, &str),
    read: impl Fn(&Path, &str) -> Result<T, String>,
) -> Option<T> {
    let key = path.rsplit('.').next().unwrap_or_default();
    // The files of options are those of the shell.
    let (folder, base) = match p.is_option(path) {
        true => (Some(Path::new(".")), "the current directory"),
        false => (folder, "the plan's folder"),
    };
    let missing = || {
        let named = printable(named);
        format!(
            "\"{named}\" cannot be read because this plan has no folder; give its text as `{text_key}`"
        )
    };
    match folder.ok_or_else(missing).and_then(|folder| read(&folder.join(named), base)) {
        Ok(found) => Some(found),
        Err(message) => {
            p.of(path, format!("`{key}`: {message}"));
            None
        }
    }
}

/// The text of a file.
fn read(path: &Path, base: &str) -> Result<String, String> {
    let failed = |error| cannot(path, &error, base);
    let meta = fs::metadata(path).map_err(failed)?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return Err(format!("{} is not a text file of at most 1 MiB", shown(path)));
    }
    match fs::read_to_string(path).map_err(failed)? {
        text if text.is_empty() => Err(format!("{} is empty", shown(path))),
        text => Ok(text),
    }
}

fn cannot(path: &Path, error: &std::io::Error, base: &str) -> String {
    format!("cannot read {}: {error}; the path is relative to {base}", shown(path))
}

/// A path for messages.
fn shown(path: &Path) -> String {
    // "./" only makes messages harder to read.
    let shown: PathBuf = path.components().filter(|c| *c != Component::CurDir).collect();
    printable(&shown.display().to_string())
}
