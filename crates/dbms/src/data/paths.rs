//! Directories: their usual places, modes, owners, and walks through whole trees.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use crate::process::user;
use crate::{Error, ServerUser};

/// Opens a directory that steelyard writes to: environment variable `variable`; otherwise `root`
/// for root; otherwise `steelyard` under the XDG base directory `xdg` (XDG Base Directory
/// Specification) or under `~/fallback`.
///
/// # Errors
/// [`Error::Place`] if it can't be opened or written to.
pub(crate) fn open_default<T>(
    variable: &'static str,
    [root, xdg, fallback]: [&str; 3],
    open: impl FnOnce(&Path) -> Result<T, Error>,
) -> Result<T, Error> {
    let path = default_directory(variable, root, xdg, fallback);
    let opened = open(&path).and_then(|opened| {
        tempfile::tempfile_in(&path).map_err(Error::io("write to", &path))?;
        Ok(opened)
    });
    opened.map_err(|error| Error::Place { variable, source: Box::new(error) })
}

fn default_directory(variable: &str, root: &str, xdg: &str, fallback: &str) -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(path) = set(variable) {
        return path;
    }
    if geteuid().is_root() {
        return PathBuf::from(root);
    }
    set(xdg)
        .filter(|path| path.is_absolute())
        .or_else(|| set("HOME").map(|home| home.join(fallback)))
        .unwrap_or_else(std::env::temp_dir)
        .join("steelyard")
}

/// Expands `~/` at the beginning of a path to the home directory.
pub(crate) fn expand_home(path: &Path) -> PathBuf {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => Path::new(&home).join(rest),
        _ => path.to_path_buf(),
    }
}

/// Sets permission bits.
pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<(), Error> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(Error::io("set the mode of", path))
}

/// Makes `content` that of the file at `path`, at once: another process may read or write it at the
/// same time.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), Error> {
    let directory = path.parent().unwrap_or(path);
    let mut file =
        tempfile::NamedTempFile::new_in(directory).map_err(Error::io("write into", directory))?;
    io::Write::write_all(&mut file, content).map_err(Error::io("write", path))?;
    set_mode(file.path(), 0o644)?;
    file.persist(path).map_err(|error| Error::io("write", path)(error.error)).map(drop)
}

/// Creates `path` and its missing parents, each 0755 whatever the umask, so the servers' user can
/// pass.
pub(crate) fn create_directories(path: &Path) -> Result<(), Error> {
    let mut missing: Vec<&Path> =
        path.ancestors().take_while(|way| !way.as_os_str().is_empty() && !way.exists()).collect();
    missing.reverse();
    for directory in missing {
        match fs::create_dir(directory) {
            Ok(()) => set_mode(directory, 0o755)?,
            // Another process or thread was first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io("create", directory)(error)),
        }
    }
    Ok(())
}

/// Locks a file, which is created if necessary, until the guard is dropped; waits for others. The
/// kernel releases the lock even if the process is killed.
pub(crate) fn lock(path: &Path) -> Result<File, Error> {
    let open = File::options().create(true).truncate(false).write(true).open(path);
    let file = open.map_err(Error::io("open the lock", path))?;
    file.lock().map_err(Error::io("lock", path))?;
    Ok(file)
}

/// Creates a directory that only `user` can enter.
pub(crate) fn make_private(path: &Path, user: &ServerUser) -> Result<(), Error> {
    fs::create_dir(path).map_err(Error::io("create", path))?;
    set_mode(path, 0o700)?;
    hand_over(path, user)
}

/// Gives `path` itself to `user`, if that is another one.
pub(crate) fn hand_over(path: &Path, user: &ServerUser) -> Result<(), Error> {
    if user.differs() { give(path, user.uid, user.gid) } else { Ok(()) }
}

/// Checks that `path` is the current user's directory, not a link, and that nobody else may write
/// to it. In a directory such as `/tmp`, anyone could have created it first.
pub fn check_private(path: &Path) -> Result<(), Error> {
    let found = fs::symlink_metadata(path).map_err(Error::io("look at", path))?;
    let problem = if found.is_symlink() {
        "it is a symbolic link".to_owned()
    } else if !found.is_dir() {
        "it is not a directory".to_owned()
    } else if found.uid() != geteuid().as_raw() {
        format!("it belongs to user {}", user::name_of(found.uid().into()))
    } else if found.mode() & 0o022 != 0 {
        format!("others may write to it (mode {:04o})", found.mode() & 0o7777)
    } else {
        return Ok(());
    };
    Err(Error::NotPrivate { path: path.to_path_buf(), problem })
}

/// Makes every directory under `root` 0755, every file 0755 if anyone may execute it and 0644 if
/// not. An unprivileged user can then run what root unpacked. Symbolic links are left alone.
pub(crate) fn open_up(root: &Path) -> Result<(), Error> {
    walk(root, &mut |path, metadata| {
        if metadata.is_symlink() {
            return Ok(());
        }
        set_mode(path, open_mode(metadata.is_dir() || metadata.mode() & 0o111 != 0))
    })
}

/// The mode for files that everyone can read and only the owner can write.
pub(crate) fn open_mode(executable: bool) -> u32 {
    if executable { 0o755 } else { 0o644 }
}

/// Flushes every file and directory under `root` to storage.
pub(crate) fn sync_tree(root: &Path) -> Result<(), Error> {
    walk(root, &mut |path, metadata| {
        if metadata.is_file() || metadata.is_dir() {
            let file = File::open(path).map_err(Error::io("open", path))?;
            file.sync_all().map_err(Error::io("flush", path))?;
        }
        Ok(())
    })
}

/// Gives `path` itself to a user.
pub(crate) fn give(path: &Path, uid: u32, gid: u32) -> Result<(), Error> {
    std::os::unix::fs::lchown(path, Some(uid), Some(gid))
        .map_err(Error::io("change the owner of", path))
}

/// Visits `root` and everything below it in order of names, a directory before its content.
pub(crate) fn walk(
    root: &Path,
    visit: &mut dyn FnMut(&Path, &fs::Metadata) -> Result<(), Error>,
) -> Result<(), Error> {
    let metadata = fs::symlink_metadata(root).map_err(Error::io("look at", root))?;
    visit(root, &metadata)?;
    if metadata.is_dir() {
        let paths = |listing: fs::ReadDir| listing.map(|entry| Ok(entry?.path())).collect();
        let mut entries: Vec<PathBuf> =
            fs::read_dir(root).and_then(paths).map_err(Error::io("read", root))?;
        entries.sort();
        for entry in entries {
            walk(&entry, visit)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_home_directory() {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        assert_eq!(expand_home(Path::new("~/src/postgres")), home.join("src/postgres"));
        assert_eq!(expand_home(Path::new("a/~/b")), Path::new("a/~/b"));
        assert_eq!(expand_home(Path::new("~other/b")), Path::new("~other/b"));
    }

    #[test]
    fn makes_directories_that_others_can_enter() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("a/b");
        create_directories(&inner).unwrap();
        create_directories(&inner).unwrap();
        for made in [&inner, &directory.path().join("a")] {
            assert_eq!(fs::metadata(made).unwrap().mode() & 0o777, 0o755);
        }
        fs::write(directory.path().join("file"), "x").unwrap();
        assert!(create_directories(&directory.path().join("file/b")).is_err());
    }

    #[test]
    fn a_directory_made_by_someone_else_is_not_private() {
        let directory = tempfile::tempdir().unwrap();
        let (own, link) = (directory.path().join("own"), directory.path().join("link"));
        fs::create_dir(&own).unwrap();
        set_mode(&own, 0o711).unwrap();
        check_private(&own).unwrap();
        let refused = |path: &Path, part: &str| {
            let error = check_private(path).unwrap_err();
            assert!(matches!(error, Error::NotPrivate { .. }), "{error}");
            assert!(error.to_string().contains(part), "{error}");
            assert!(error.to_string().contains("remove it") && error.is_request(), "{error}");
        };
        std::os::unix::fs::symlink(&own, &link).unwrap();
        refused(&link, "symbolic link");
        set_mode(&own, 0o777).unwrap();
        refused(&own, "0777");
        fs::write(directory.path().join("file"), "x").unwrap();
        refused(&directory.path().join("file"), "not a directory");
        if !geteuid().is_root() {
            return testing::skip("not root, so no directory can be given away");
        }
        set_mode(&own, 0o711).unwrap();
        give(&own, 65_534, 65_534).unwrap();
        refused(&own, "belongs to user");
    }

    #[test]
    fn opens_up_privately_unpacked_files() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("program");
        fs::write(&file, "x").unwrap();
        set_mode(&file, 0o700).unwrap();
        fs::write(directory.path().join("data"), "x").unwrap();
        set_mode(&directory.path().join("data"), 0o600).unwrap();
        open_up(directory.path()).unwrap();
        assert_eq!(fs::metadata(directory.path()).unwrap().mode() & 0o777, 0o755);
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o755);
        assert_eq!(fs::metadata(directory.path().join("data")).unwrap().mode() & 0o777, 0o644);
    }
}
