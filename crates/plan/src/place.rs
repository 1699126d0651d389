//! Paths in a plan: relative to its folder, whatever the directory in which the command runs.

use std::path::Path;

/// What a `dbms` begins with that names something by its path. A repository may also be somewhere else.
const KINDS: [&str; 3] = ["path:", "git:", "src:"];

/// The same `dbms` with its path absolute, where it is relative and the plan has a folder. `~/` is left to stand for the home
/// directory of whoever runs the plan.
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
        // There is no current directory; whoever opens the path will say so.
        Err(_) => whole(),
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
