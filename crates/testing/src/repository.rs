//! Git repositories of PostgreSQL, made of the source that `scripts/setup.sh validate` fetches.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// The newest tarball of PostgreSQL 15 in a directory.
pub fn tarball(sources: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(sources).ok()?.flatten();
    let fits = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        let of = |name: &str| name.starts_with("postgresql-15") && name.contains(".orig.tar.");
        name.is_some_and(|name| of(&name) && !name.ends_with(".asc"))
    };
    entries.map(|entry| entry.path()).filter(fits).max()
}

/// Unpacks the files from which a server is built, half of all, into `tree`, which must exist.
///
/// # Errors
/// When tar can't be run or fails.
pub fn unpack(tarball: &Path, tree: &Path) -> io::Result<()> {
    let status = Command::new("tar")
        .args(["--extract", "--strip-components=1", "--no-same-owner", "--exclude=*.po"])
        .args(["*/doc/*", "*/contrib/*", "*/src/test/*"].map(|path| format!("--exclude={path}")))
        .arg("--file")
        .arg(tarball)
        .current_dir(tree)
        .status()?;
    let failed = || io::Error::other(format!("{} cannot be unpacked", tarball.display()));
    if status.success() { Ok(()) } else { Err(failed()) }
}

/// Runs git, always as the same author at the same time: commits have the same names everywhere
/// and are built once. Returns what it printed.
///
/// # Errors
/// When git can't be run or fails.
pub fn git(tree: &Path, email: &str, arguments: &[&str]) -> io::Result<String> {
    let options = ["core.autocrlf=false", "core.compression=1", "gc.auto=0", "core.fsync=none"];
    let output = Command::new("git")
        .args(options.iter().flat_map(|option| ["-c", option]))
        .args(arguments)
        .current_dir(tree)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_WORK_TREE")
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "steelyard")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, email)))
        .envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "2024-01-02T03:04:05Z")))
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("git {arguments:?} failed: {said}")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Commits everything, even files that a .gitignore leaves out.
///
/// # Errors
/// As [`git`].
pub fn commit(tree: &Path, email: &str, message: &str) -> io::Result<()> {
    git(tree, email, &["add", "--all", "--force"])?;
    git(tree, email, &["commit", "--quiet", "--message", message])?;
    Ok(())
}
