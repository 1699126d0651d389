//! The whole-disk device that contains a path, and its counters.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::files::Held;
use crate::proc::disk::{DiskCounters, parse_counters, parse_diskstats};
use crate::proc::mounts::{self, Mount};

/// A whole block device: a disk, not a partition; device-mapper and RAID devices as they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Device {
    /// The kernel's name, like `nvme0n1`.
    pub name: String,
    /// Major device number.
    pub major: u32,
    /// Minor device number.
    pub minor: u32,
}

impl Device {
    /// The device's directory below `/sys/dev/block`.
    pub(crate) fn directory(&self) -> PathBuf {
        PathBuf::from(format!("/sys/dev/block/{}:{}", self.major, self.minor))
    }
}

/// The whole-disk device that backs a path (if the path does not exist yet, the device of its
/// nearest existing ancestor). A partition gives its disk; a dm or md device gives itself. `None`
/// if there is no local block device: tmpfs, network file systems, ZFS, an overlay whose upper
/// directory is not visible.
pub fn block_device_of(path: &Path) -> Option<Device> {
    let text = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mounts = mounts::parse(&text);
    let mut path = nearest_existing(path)?;
    if let Ok(found) = path.metadata()
        && found.file_type().is_block_device()
    {
        return device_of_number(found.rdev(), Path::new("/sys"));
    }
    // An overlay's upper directory may itself be on an overlay; four levels are plenty.
    for _ in 0..4 {
        let mount = mounts::mount_of(&mounts, &path)?;
        if mount.fs_type != "overlay" {
            return device_of_mount(mount, Path::new("/sys"));
        }
        let upper =
            mount.super_options.split(',').find_map(|option| option.strip_prefix("upperdir="))?;
        path = Path::new(upper).canonicalize().ok()?;
    }
    None
}

/// The path without links, or that of its nearest ancestor that exists.
pub(crate) fn nearest_existing(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    absolute.ancestors().find_map(|ancestor| ancestor.canonicalize().ok())
}

fn device_of_mount(mount: &Mount, sys: &Path) -> Option<Device> {
    if mount.major != 0 {
        return whole_disk(mount.major, mount.minor, sys);
    }
    // btrfs and others show a fictitious device number; their source names the real device.
    if !mount.source.starts_with("/dev/") {
        return None;
    }
    device_of_number(std::fs::metadata(&mount.source).ok()?.rdev(), sys)
}

fn device_of_number(number: u64, sys: &Path) -> Option<Device> {
    let major = u32::try_from(nix::sys::stat::major(number)).ok()?;
    let minor = u32::try_from(nix::sys::stat::minor(number)).ok()?;
    whole_disk(major, minor, sys)
}

fn whole_disk(major: u32, minor: u32, sys: &Path) -> Option<Device> {
    let mut directory = sys.join(format!("dev/block/{major}:{minor}")).canonicalize().ok()?;
    if directory.join("partition").exists() {
        directory.pop();
    }
    let numbers = std::fs::read_to_string(directory.join("dev")).ok()?;
    let (major, minor) = numbers.trim().split_once(':')?;
    Some(Device {
        // The kernel writes / of a device name as ! in paths.
        name: directory.file_name()?.to_str()?.replace('!', "/"),
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

/// Reads a device's counters repeatedly.
#[derive(Debug)]
pub(crate) struct DeviceReader {
    device: Device,
    own: Held,
    all: Held,
}

impl DeviceReader {
    pub(crate) fn new(device: Device) -> DeviceReader {
        DeviceReader {
            own: Held::new(device.directory().join("stat")),
            all: Held::new("/proc/diskstats"),
            device,
        }
    }

    pub(crate) fn read(&mut self, buffer: &mut Vec<u8>) -> Option<DiskCounters> {
        if let Ok(text) = self.own.read(buffer)
            && let Some(counters) = parse_counters(&text)
        {
            return Some(counters);
        }
        let text = self.all.read(buffer).ok()?;
        parse_diskstats(&text, self.device.major, self.device.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_gives_its_disk() {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("devices/pci/block/nvme0n1");
        let partition = disk.join("nvme0n1p2");
        std::fs::create_dir_all(&partition).unwrap();
        std::fs::create_dir_all(sys.path().join("dev/block")).unwrap();
        std::fs::write(disk.join("dev"), "259:0\n").unwrap();
        std::fs::write(partition.join("dev"), "259:2\n").unwrap();
        std::fs::write(partition.join("partition"), "2\n").unwrap();
        for (number, target) in [("259:0", &disk), ("259:2", &partition)] {
            let link = sys.path().join("dev/block").join(number);
            std::os::unix::fs::symlink(target, link).unwrap();
        }
        let expected = Device { name: "nvme0n1".to_owned(), major: 259, minor: 0 };
        assert_eq!(whole_disk(259, 2, sys.path()).as_ref(), Some(&expected));
        assert_eq!(whole_disk(259, 0, sys.path()).as_ref(), Some(&expected));
        assert_eq!(whole_disk(8, 0, sys.path()), None);
    }

    #[test]
    fn proc_is_on_no_device() {
        assert_eq!(block_device_of(Path::new("/proc/self")), None);
    }

    #[test]
    fn a_path_that_does_not_exist_yet_is_where_its_parent_is() {
        let directory = std::env::current_dir().unwrap();
        let later = directory.join("not/here/yet");
        assert_eq!(block_device_of(&later), block_device_of(&directory));
    }

    #[test]
    fn a_found_device_has_counters() {
        let Some(device) = block_device_of(Path::new(env!("CARGO_MANIFEST_DIR"))) else {
            return testing::skip("the sources are not on a local block device");
        };
        let counters = DeviceReader::new(device).read(&mut Vec::new()).unwrap();
        assert!(counters.reads > 0);
    }
}
