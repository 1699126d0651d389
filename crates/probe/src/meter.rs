//! Single counters, read some hundred times a second: an open file and one system call each.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use crate::device::Device;
use crate::proc::disk::{SECTOR_BYTES, parse_counters};

/// Larger than any of these files.
const ROOM: usize = 1024;

/// The CPU time of a control group. Created by [`crate::Cgroup::cpu_meter`].
#[derive(Debug)]
pub struct CpuMeter {
    file: File,
    kind: Kind,
}

/// The format of a group's CPU time file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// v1, `cpuacct.usage`: nanoseconds.
    Nanoseconds,
    /// v2, `cpu.stat`: its first line is `usage_usec N`.
    UsageLine,
}

impl CpuMeter {
    pub(crate) fn open(path: &Path, kind: Kind) -> io::Result<CpuMeter> {
        Ok(CpuMeter { file: File::open(path)?, kind })
    }

    /// CPU time of all processes that are or were in the group; `None` if it cannot be read.
    ///
    /// The kernel charges a running process at every tick and when it is switched out. A difference
    /// over a few milliseconds is therefore exact for processes that sleep at both ends, and up to
    /// a tick wrong for one that runs.
    pub fn read(&self) -> Option<Duration> {
        let mut buffer = [0; ROOM];
        let text = read_at_once(&self.file, &mut buffer)?;
        match self.kind {
            Kind::Nanoseconds => text.trim().parse().ok().map(Duration::from_nanos),
            Kind::UsageLine => {
                let usage = text.lines().next()?.strip_prefix("usage_usec ")?;
                usage.trim().parse().ok().map(Duration::from_micros)
            }
        }
    }
}

/// The bytes written to a block device.
#[derive(Debug)]
pub struct WriteMeter {
    file: File,
}

impl WriteMeter {
    /// Opens the device's counters.
    ///
    /// # Errors
    /// If `/sys` does not show them.
    pub fn open(device: &Device) -> io::Result<WriteMeter> {
        Ok(WriteMeter { file: File::open(device.directory().join("stat"))? })
    }

    /// Bytes of all writes completed since boot; `None` if they cannot be read.
    pub fn read(&self) -> Option<u64> {
        let mut buffer = [0; ROOM];
        let counters = parse_counters(read_at_once(&self.file, &mut buffer)?)?;
        Some(counters.write_sectors * SECTOR_BYTES)
    }
}

/// The text of a file that is shorter than the buffer. The kernel generates it again for every read
/// from offset 0.
fn read_at_once<'a>(file: &File, buffer: &'a mut [u8; ROOM]) -> Option<&'a str> {
    let length = file.read_at(buffer, 0).ok()?;
    std::str::from_utf8(buffer.get(..length)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(text: &str, kind: Kind) -> Option<Duration> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        CpuMeter::open(file.path(), kind).unwrap().read()
    }

    #[test]
    fn both_versions_of_control_groups_are_read() {
        assert_eq!(meter("1234567\n", Kind::Nanoseconds), Some(Duration::from_nanos(1_234_567)));
        let v2 = "usage_usec 52\nuser_usec 40\nsystem_usec 12\nnr_periods 0\n";
        assert_eq!(meter(v2, Kind::UsageLine), Some(Duration::from_micros(52)));
        assert_eq!(meter("user_usec 40\n", Kind::UsageLine), None);
        assert_eq!(meter("", Kind::Nanoseconds), None);
    }

    #[test]
    fn writes_to_a_device_are_counted() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let Some(device) = crate::block_device_of(here) else {
            return testing::skip("the sources are not on a local block device");
        };
        let meter = WriteMeter::open(&device).unwrap();
        let before = meter.read().unwrap();
        let mut file = tempfile::tempfile_in(here).unwrap();
        io::Write::write_all(&mut file, &[1; 1 << 20]).unwrap();
        file.sync_all().unwrap();
        assert!(meter.read().unwrap() >= before + (1 << 20));
    }
}
