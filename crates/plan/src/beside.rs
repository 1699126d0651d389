//! Paths in a plan: relative to its folder, whatever the current directory.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::problem::Problems;
use crate::section::printable;

/// Largest file that a plan may refer to, 1 MiB.
const MAX_FILE: u64 = 1 << 20;

/// The text of the file named by the key at this path, `x_file`. A plan without a folder gives the
/// text itself, as `text_key`.
pub(crate) fn read_beside(
    p: &mut Problems,
    folder: Option<&Path>,
    file: &str,
    (path, text_key): (&str, &str),
) -> Option<String> {
    let key = path.rsplit('.').next().unwrap_or_default();
    // The files of options are those of the shell.
    let (folder, base) = match p.is_option(path) {
        true => (Some(Path::new(".")), "the current directory"),
        false => (folder, "the plan's folder"),
    };
    let read = |folder: &Path| {
        let path = folder.join(file);
        // "./" only makes messages harder to read.
        let shown: PathBuf = path.components().filter(|c| *c != Component::CurDir).collect();
        let shown = printable(&shown.display().to_string());
        let cannot = |error: std::io::Error| {
            format!("cannot read {shown}: {error}; the path is relative to {base}")
        };
        let meta = fs::metadata(&path).map_err(cannot)?;
        if !meta.is_file() || meta.len() > MAX_FILE {
            return Err(format!("{shown} is not a text file of at most 1 MiB"));
        }
        match fs::read_to_string(&path).map_err(cannot)? {
            text if text.is_empty() => Err(format!("{shown} is empty")),
            text => Ok(text),
        }
    };
    let missing = || {
        let file = printable(file);
        format!(
            "\"{file}\" cannot be read because this plan has no folder; give its text as `{text_key}`"
        )
    };
    match folder.ok_or_else(missing).and_then(read) {
        Ok(text) => Some(text),
        Err(message) => {
            p.of(path, format!("`{key}`: {message}"));
            None
        }
    }
}
