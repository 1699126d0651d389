//! Reading a process's files, once or repeatedly through open files.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit};
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

use super::TreeError;
use crate::files::{Held, read_once};
use crate::proc::task::{self, PidStat, TaskIo};

/// Divisor of the limit on open files that gives the share for trees; the rest is for the driver.
const SHARE_OF_FILES: u64 = 8;
/// Open files per process.
const FILES_PER_PROCESS: u64 = 4;

/// The files of one process. Opening a file in `/proc` costs as much as reading it, so they are
/// kept open if the limit on open files allows it.
#[derive(Debug)]
pub(crate) struct ProcessFiles {
    pid: u32,
    held: Option<[Held; FILES_PER_PROCESS as usize]>,
}

impl ProcessFiles {
    pub(crate) fn new(pid: u32, keep_open: bool) -> ProcessFiles {
        let names = [
            "stat".to_owned(),
            "io".to_owned(),
            "status".to_owned(),
            format!("task/{pid}/children"),
        ];
        ProcessFiles {
            pid,
            held: keep_open.then(|| names.map(|name| Held::new(format!("/proc/{pid}/{name}")))),
        }
    }

    /// `None` if there is no such process (anymore).
    pub(crate) fn stat(&mut self, buffer: &mut Vec<u8>) -> Result<Option<PidStat>, TreeError> {
        let text = match &mut self.held {
            Some([stat, ..]) => stat.read(buffer),
            None => read_once(format!("/proc/{}/stat", self.pid), buffer),
        };
        parsed_stat(self.pid, text)
    }

    /// `None` if the kernel denies it, or there is no such process (anymore).
    pub(crate) fn io(&mut self, buffer: &mut Vec<u8>) -> Option<TaskIo> {
        let text = match &mut self.held {
            Some([_, io, ..]) => io.read(buffer),
            None => read_once(format!("/proc/{}/io", self.pid), buffer),
        };
        task::parse_io(&text.ok()?)
    }

    pub(crate) fn status(&mut self, buffer: &mut Vec<u8>) -> Option<task::Status> {
        let text = match &mut self.held {
            Some([_, _, status, _]) => status.read(buffer),
            None => read_once(format!("/proc/{}/status", self.pid), buffer),
        };
        Some(task::parse_status(&text.ok()?))
    }

    /// The children the process's threads started; none if it is gone.
    pub(crate) fn children(&mut self, threads: Option<u32>, buffer: &mut Vec<u8>) -> Vec<u32> {
        let pid = self.pid;
        let mut children = Vec::new();
        let mut add = |text: io::Result<Cow<str>>| {
            let text = text.unwrap_or_default();
            children
                .extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        };
        match &mut self.held {
            Some([.., of_only_thread]) if threads == Some(1) => add(of_only_thread.read(buffer)),
            None if threads == Some(1) => {
                add(read_once(format!("/proc/{pid}/task/{pid}/children"), buffer))
            }
            _ => {
                for tid in thread_ids(pid) {
                    add(read_once(format!("/proc/{pid}/task/{tid}/children"), buffer));
                }
            }
        }
        children
    }
}

/// How many processes a tree may keep files open of.
pub(crate) fn processes_to_keep_open() -> usize {
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(soft, _)| soft);
    usize::try_from(limit / SHARE_OF_FILES / FILES_PER_PROCESS).unwrap_or(usize::MAX)
}

/// Context switches of one thread.
pub(crate) fn thread_switches(pid: u32, tid: u32, buffer: &mut Vec<u8>) -> Option<u64> {
    let text = read_once(format!("/proc/{pid}/task/{tid}/status"), buffer).ok()?;
    Some(task::parse_status(&text).switches)
}

/// CPU time of a process with all its threads, including ended ones, in ns; `None` if there is no
/// such process.
pub(crate) fn cpu_clock_ns(pid: u32) -> Option<u64> {
    let clock = clock_getcpuclockid(Pid::from_raw(i32::try_from(pid).ok()?)).ok()?;
    let time = clock.now().ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec()).ok()?)
}

/// The unit of times in `/proc/PID/stat` and `/proc/stat`; 100 on all common machines.
pub(crate) fn ticks_per_second() -> u64 {
    nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK)
        .ok()
        .flatten()
        .and_then(|ticks| u64::try_from(ticks).ok())
        .filter(|ticks| *ticks > 0)
        .unwrap_or(100)
}

/// `None` if there is no such process.
pub(crate) fn read_stat(pid: u32, buffer: &mut Vec<u8>) -> Result<Option<PidStat>, TreeError> {
    parsed_stat(pid, read_once(format!("/proc/{pid}/stat"), buffer))
}

fn parsed_stat(pid: u32, text: io::Result<Cow<str>>) -> Result<Option<PidStat>, TreeError> {
    let source = match text {
        Ok(text) => match task::parse_stat(&text) {
            Some(stat) => return Ok(Some(stat)),
            None => io::Error::new(io::ErrorKind::InvalidData, "not in the form proc(5) describes"),
        },
        Err(error) if is_gone(&error) => return Ok(None),
        Err(error) => error,
    };
    let path = format!("/proc/{pid}/stat");
    Err(TreeError::Proc { path, source })
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::ESRCH as i32)
}

/// Current threads of a process; none if it is gone.
pub(crate) fn thread_ids(pid: u32) -> Vec<u32> {
    numbers_in(&format!("/proc/{pid}/task"))
}

fn numbers_in(directory: &str) -> Vec<u32> {
    std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Children of every process of the system, for kernels without the list.
pub(crate) fn all_children(buffer: &mut Vec<u8>) -> Result<HashMap<u32, Vec<u32>>, TreeError> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in numbers_in("/proc") {
        if let Some(stat) = read_stat(pid, buffer)? {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    Ok(children)
}
