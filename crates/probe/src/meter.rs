//! Single counters, read some hundred times a second: an open file and one system call each.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use crate::device::Device;
use crate::proc::disk::{SECTOR_BYTES, parse_counters};
use crate::processes::ticks_per_second;

/// Larger than any of these files.
const ROOM: usize = 1024;

/// The CPU time of a control group. Created by [`crate::Cgroup::cpu_meter`].
#[derive(Debug)]
pub struct CpuMeter {
    file: File,
    format: CpuFormat,
}

/// The format of a group's CPU time file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CpuFormat {
    /// v1, `cpuacct.usage`: nanoseconds.
    Nanoseconds,
    /// v2, `cpu.stat`: its first line is `usage_usec N`.
    UsageLine,
}

impl CpuMeter {
    pub(crate) fn open(path: &Path, format: CpuFormat) -> io::Result<CpuMeter> {
        Ok(CpuMeter { file: File::open(path)?, format })
    }

    /// CPU time of all processes that are or were in the group; `None` if it cannot be read.
    ///
    /// The kernel charges a running process at every tick and when it is switched out. A difference
    /// over a few milliseconds is therefore exact if the processes sleep at both ends, and wrong by
    /// up to a tick if one runs.
    pub fn read(&self) -> Option<Duration> {
        let mut buffer = [0; ROOM];
        let text = read_at_once(&self.file, &mut buffer)?;
        match self.format {
            CpuFormat::Nanoseconds => text.trim().parse().ok().map(Duration::from_nanos),
            CpuFormat::UsageLine => {
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

/// How long processes ran and how long they waited for a CPU although they could have run.
#[derive(Debug)]
pub struct WaitMeter {
    files: Vec<File>,
}

/// The readings of a [`WaitMeter`]: both only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waited {
    /// Time on a CPU.
    pub ran: Duration,
    /// Time on a run queue.
    pub waited: Duration,
}

impl WaitMeter {
    /// Watches these processes: the first two numbers of `/proc/PID/schedstat`, in nanoseconds
    /// (Documentation/scheduler/sched-stats.rst of Linux).
    ///
    /// # Errors
    /// When one of them is gone, or the kernel does not show it.
    pub fn open(pids: &[u32]) -> io::Result<WaitMeter> {
        let open = |pid: &u32| File::open(format!("/proc/{pid}/schedstat"));
        Ok(WaitMeter { files: pids.iter().map(open).collect::<io::Result<_>>()? })
    }

    /// Watches the threads of this process whose names begin like this.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn of_threads(name: &str) -> io::Result<WaitMeter> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir("/proc/self/task")? {
            let thread = entry?.path();
            // One that has no name any more has just ended.
            let named = std::fs::read_to_string(thread.join("comm")).unwrap_or_default();
            if named.starts_with(name) {
                files.push(File::open(thread.join("schedstat"))?);
            }
        }
        Ok(WaitMeter { files })
    }

    /// The sums over all of them; `None` if one cannot be read.
    pub fn read(&self) -> Option<Waited> {
        let mut sum = Waited::default();
        for file in &self.files {
            let mut buffer = [0; ROOM];
            let mut numbers = read_at_once(file, &mut buffer)?.split_ascii_whitespace();
            let mut next = || numbers.next()?.parse().ok().map(Duration::from_nanos);
            sum.ran += next()?;
            sum.waited += next()?;
        }
        Some(sum)
    }
}

/// The CPU time that a hypervisor has taken.
#[derive(Debug)]
pub struct StealMeter {
    file: File,
    cpus: Vec<usize>,
    text: Vec<u8>,
}

/// More than a line of `/proc/stat` about one CPU has.
const LINE: usize = 256;

impl StealMeter {
    /// Watches these CPUs.
    ///
    /// # Errors
    /// When `/proc/stat` cannot be opened.
    pub fn open(cpus: &[usize]) -> io::Result<StealMeter> {
        let lines = cpus.iter().max().map_or(0, |cpu| cpu + 2);
        let file = File::open("/proc/stat")?;
        Ok(StealMeter { file, cpus: cpus.to_vec(), text: vec![0; lines * LINE] })
    }

    /// The time taken from all of them since boot, to a tick of `USER_HZ` each, which is a
    /// hundredth of a second; `None` if it cannot be read.
    pub fn read(&mut self) -> Option<Duration> {
        let length = self.file.read_at(&mut self.text, 0).ok()?;
        let text = std::str::from_utf8(self.text.get(..length)?).ok()?;
        let ticks = self.cpus.iter().map(|cpu| stolen(text, *cpu)).sum::<Option<u64>>()?;
        Some(Duration::from_secs_f64(ticks as f64 / ticks_per_second() as f64))
    }
}

/// The eighth number of a CPU's line of `/proc/stat`.
fn stolen(text: &str, cpu: usize) -> Option<u64> {
    let name = format!("cpu{cpu}");
    let mut lines = text.lines().map(str::split_ascii_whitespace);
    let mut words = lines.find_map(|mut words| (words.next()? == name).then_some(words))?;
    words.nth(7)?.parse().ok()
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

    fn meter(text: &str, format: CpuFormat) -> Option<Duration> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        CpuMeter::open(file.path(), format).unwrap().read()
    }

    #[test]
    fn both_versions_of_control_groups_are_read() {
        assert_eq!(
            meter("1234567\n", CpuFormat::Nanoseconds),
            Some(Duration::from_nanos(1_234_567))
        );
        let v2 = "usage_usec 52\nuser_usec 40\nsystem_usec 12\nnr_periods 0\n";
        assert_eq!(meter(v2, CpuFormat::UsageLine), Some(Duration::from_micros(52)));
        assert_eq!(meter("user_usec 40\n", CpuFormat::UsageLine), None);
        assert_eq!(meter("", CpuFormat::Nanoseconds), None);
    }

    #[test]
    fn a_process_that_runs_is_seen_to() {
        assert!(WaitMeter::open(&[u32::MAX]).is_err());
        let busy = std::thread::Builder::new().name("wait-meter-busy".to_owned());
        let work = || {
            let meter = WaitMeter::of_threads("wait-meter-busy").unwrap();
            let before = meter.read().unwrap();
            let begin = crate::this_thread_us();
            while crate::this_thread_us() - begin < 30_000 {}
            (before, meter.read().unwrap())
        };
        let (before, after) = busy.spawn(work).unwrap().join().unwrap();
        // Booked at every tick at the latest.
        let ran = after.ran - before.ran;
        assert!(ran >= Duration::from_millis(15) && after.waited >= before.waited, "{ran:?}");
    }

    #[test]
    fn what_is_stolen_is_told_by_cpu() {
        let text = "cpu  9 0 0 0 0 0 0 7\ncpu0 1 0 0 0 0 0 0 3 0 0\ncpu12 1 0 0 0 0 0 0 4 0 0\n";
        assert_eq!((stolen(text, 0), stolen(text, 12), stolen(text, 1)), (Some(3), Some(4), None));
        let mut meter = StealMeter::open(&[0]).unwrap();
        assert!(meter.read().is_some());
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
