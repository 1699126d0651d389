//! Paths in a plan: relative to its folder, whatever the current directory.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::problem::Problems;
use crate::section::printable;

/// Largest file that a plan may refer to, 1 MiB.
const MAX_FILE: u64 = 1 << 20;

/// Prefixes of a `dbms` given by a path. A repository may also be remote.
const KINDS: [&str; 3] = ["path:", "git:", "src:"];

/// Makes the path of a `dbms` absolute if it is relative and the plan has a folder. Keeps `~/`,
/// which stands for the home directory of whoever runs the plan.
pub(crate) fn in_folder(dbms: &str, folder: Option<&Path>) -> String {
    let whole = || dbms.to_owned();
    let Some(folder) = folder else { return whole() };
    let system = dbms.find('@').map_or("", |at| &dbms[..=at]);
    let system = if system.starts_with(|c: char| c.is_ascii_alphanumeric()) && !system.contains(':')
    {
        system
    } else {
        ""
    };
    let rest = &dbms[system.len()..];
    let Some(kind) = KINDS.iter().find(|kind| rest.starts_with(**kind)) else { return whole() };
    let path = &rest[kind.len()..];
    let (path, revision) = match path.rfind('#') {
        Some(at) if *kind == "git:" => path.split_at(at),
        _ => (path, ""),
    };
    if path.is_empty() || path.starts_with("~/") || path == "~" {
        return whole();
    }
    // git takes what has a colon before its first slash for another machine, and `://` for a URL.
    let elsewhere =
        path.contains("://") || path.find(':').is_some_and(|colon| !path[..colon].contains('/'));
    if Path::new(path).is_absolute() || (*kind == "git:" && elsewhere) {
        return whole();
    }
    match std::path::absolute(folder.join(path)) {
        Ok(absolute) => format!("{system}{kind}{}{revision}", absolute.display()),
        // There is no current directory; opening the path will report that.
        Err(_) => whole(),
    }
}

/// The text of the file named by the key at this path, `x_file`. A plan without a folder gives the
/// text itself, as `text_key`.
pub(crate) fn read_beside(
    p: &mut Problems,
    folder: Option<&Path>,
    file: &str,
    (path, text_key): (&str, &str),
) -> Option<String> {
    let key = path.rsplit('.').next().unwrap_or_default();
    let read = |folder: &Path| {
        let path = folder.join(file);
        // "./" only makes messages harder to read.
        let shown: PathBuf = path.components().filter(|c| *c != Component::CurDir).collect();
        let shown = printable(&shown.display().to_string());
        let cannot = |error: std::io::Error| {
            format!("cannot read {shown}: {error}; the path is relative to the plan's folder")
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn relative_paths_are_the_plans() {
        let folder = Some(Path::new("/plans"));
        for (dbms, expected) in [
            ("postgres@git:../pg#REL_14_3", "postgres@git:/plans/../pg#REL_14_3"),
            ("git:./pg#me@{1}", "git:/plans/pg#me@{1}"),
            ("git:.#a//b", "git:/plans#a//b"),
            ("src:pg#1.tar.bz2", "src:/plans/pg#1.tar.bz2"),
            ("path:opt/pg", "path:/plans/opt/pg"),
            ("path:a@b", "path:/plans/a@b"),
            ("git:/srv/pg#x", "git:/srv/pg#x"),
            ("git:~/pg#x", "git:~/pg#x"),
            ("git:https://example.org/pg#x", "git:https://example.org/pg#x"),
            ("git:me@example.org:pg#x", "git:me@example.org:pg#x"),
            ("postgres@14.3", "postgres@14.3"),
            ("postgres://me@host/path:x", "postgres://me@host/path:x"),
            ("git:#x", "git:#x"),
        ] {
            assert_eq!(in_folder(dbms, folder), expected);
            assert_eq!(in_folder(dbms, None), dbms);
        }
    }

    proptest! {
        #[test]
        fn twice_is_once(dbms in "(postgres@)?(path|git|src):[a-z~./#:@]{0,20}|\\PC{0,20}") {
            let folder = Some(Path::new("/plans"));
            let once = in_folder(&dbms, folder);
            prop_assert_eq!(in_folder(&once, Some(Path::new("/others"))), once);
        }
    }
}
