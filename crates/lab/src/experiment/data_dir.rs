//! The directory for servers' data.

use std::fs;
use std::path::{Path, PathBuf};

use dbms::ServerUser;
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

use crate::error::Error;
use crate::options::{Options, default_data_dir};

/// The directory for servers' data, and the parts of it that we created and must remove.
#[derive(Default)]
pub struct DataDir {
    /// Directories that were made for it, the outermost first.
    made: Vec<PathBuf>,
}

impl Drop for DataDir {
    /// Removes the directories we created that are empty; another run may be using the rest.
    fn drop(&mut self) {
        for path in self.made.iter().rev() {
            if fs::remove_dir(path).is_err() {
                return;
            }
        }
    }
}

/// Creates the directory for servers' data so that others can traverse but not list it, whatever
/// the umask. The default one is in a place where anyone could create it first, so we must own it.
/// One named with --data-dir is used as it is. `user`, who runs servers there, must be able to
/// enter it.
pub fn make_data_dir(options: &Options, user: Option<&ServerUser>) -> Result<DataDir, Error> {
    let path = &options.data_dir;
    let made = make_directory(path, *path == default_data_dir())?;
    tempfile::tempdir_in(path).map_err(|source| Error::DataDir { path: path.clone(), source })?;
    if let Some(user) = user {
        user.check_reach(path)?;
    }
    Ok(made)
}

/// Asks the filesystem to spread the servers' directories over the disk (chattr(1), attribute T).
///
/// An ext4 filesystem without a journal avoids inodes that were freed within the last minutes and
/// checks each of them, so copying a data directory next to ones just removed took 1.1 s instead of
/// 0.06 s. This is a hint: filesystems without the attribute refuse it.
fn spread(directory: &Path) {
    if let Ok(directory) = fs::File::open(directory)
        && let Ok(flags) = ioctl_getflags(&directory)
    {
        let _ = ioctl_setflags(&directory, flags | IFlags::TOPDIR);
    }
}

/// Makes it; `shared_place`: where anyone can make it first.
fn make_directory(path: &Path, shared_place: bool) -> Result<DataDir, Error> {
    use std::os::unix::fs::PermissionsExt;
    let io = |source| Error::DataDir { path: path.to_owned(), source };
    let mut data = DataDir::default();
    if shared_place && path.symlink_metadata().is_ok() {
        dbms::check_private(path)?;
        data.made.push(path.to_owned());
        return Ok(data);
    }
    if path.is_dir() {
        return Ok(data);
    }
    if path.exists() {
        return Err(io(std::io::ErrorKind::NotADirectory.into()));
    }
    let mut missing: Vec<&Path> = path.ancestors().take_while(|way| !way.exists()).collect();
    missing.reverse();
    for directory in missing {
        let result = fs::create_dir(directory)
            .and_then(|()| fs::set_permissions(directory, fs::Permissions::from_mode(0o711)));
        match result {
            Ok(()) => {
                spread(directory);
                data.made.push(directory.to_owned());
            }
            // Another run was first.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                if shared_place && directory == path {
                    dbms::check_private(path)?;
                }
            }
            Err(error) => return Err(io(error)),
        }
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_directory_made_by_someone_else_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("data");
        let _other = make_directory(&path, true).unwrap();
        let data = make_directory(&path, true).unwrap();
        drop(data);
        assert!(!path.exists(), "what is ours is taken, and removed at the end");
        std::os::unix::fs::symlink(place.path(), &path).unwrap();
        let refused = |part: &str| {
            let Err(error) = make_directory(&path, true) else { panic!("expected: {part}") };
            let text = error.to_string();
            assert!(text.contains(part) && text.contains("--data-dir"), "{text}");
            assert!(error.is_request());
        };
        refused("symbolic link");
        make_directory(&path, false).unwrap();
        if !nix::unistd::geteuid().is_root() {
            return testing::skip("not root, so no directory can be given away");
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).unwrap();
        refused("belongs to user");
    }
}
