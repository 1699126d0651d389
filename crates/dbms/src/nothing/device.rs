//! A block device that can only be read.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, SFlag, mknod};

use crate::data::paths;
use crate::process::identity;
use crate::{Error, ServerUser};

/// The number of the block device at `path`.
pub(super) fn number(path: &Path) -> Result<u64, Error> {
    let found = std::fs::metadata(path).map_err(Error::io("look at", path))?;
    if !found.file_type().is_block_device() {
        let problem = "it is not a block device; name one, such as lsblk -p lists";
        return Err(Error::reference(&path.display().to_string(), problem));
    }
    Ok(found.rdev())
}

/// Finds where the device, or one of its partitions, is mounted.
pub(super) fn mounted_at(path: &Path) -> Option<String> {
    let device = std::fs::canonicalize(path).ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let of = |line: &str| {
        let mut words = line.split(' ');
        let (source, place) = (words.next()?, words.next()?);
        let source = std::fs::canonicalize(source).ok()?;
        // /dev/sda1 is a partition of /dev/sda, /dev/nvme0n1p1 of /dev/nvme0n1.
        let rest = source.to_str()?.strip_prefix(device.to_str()?)?;
        let part = rest.strip_prefix('p').unwrap_or(rest);
        part.chars().all(|c| c.is_ascii_digit()).then(|| place.to_owned())
    };
    mounts.lines().find_map(of)
}

/// Another node of the device at `path` in `directory`, which `user` may read and nobody may write:
/// the kernel then stops every program from writing to the device, whatever its options.
pub(super) fn for_reading(
    path: &Path,
    directory: &Path,
    user: &ServerUser,
) -> Result<PathBuf, Error> {
    let node = directory.join("device");
    let made = mknod(&node, SFlag::S_IFBLK, Mode::S_IRUSR, number(path)?);
    made.map_err(|error| match error {
        nix::Error::EPERM => Error::unsupported(
            format!("reading {} as a user other than root", path.display()),
            "run as root, or name a directory on the device",
        ),
        other => Error::io("make a node of the device in", directory)(other.into()),
    })?;
    // It stays root's, since its owner could give it another mode.
    paths::give(&node, 0, user.gid)?;
    paths::set_mode(&node, 0o440)?;
    // A file system that is mounted with `nodev` refuses here and not in the middle of a step.
    let opened = identity::as_user(user, || {
        std::fs::File::open(&node).map_err(Error::io("read the device through", &node))
    });
    opened.map(|_| node)
}
