//! Control groups: exact CPU time of a group of processes and a limit on its memory.
//!
//! v1 hosts get one directory per hierarchy (cpuacct, memory), v2 hosts a single one, and hybrid
//! hosts the directories they need of both. `cpu.stat` of v2 needs no controller, so CPU time is
//! exact wherever a group can be created.

mod error;
mod layout;
mod reading;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use error::CgroupError;
pub use layout::Layout;

use crate::files::{Held, read_trimmed};
use crate::meter::{self, CpuMeter};
use crate::split::Split;

/// How long [`Cgroup::remove`] waits for processes that are just ending, and in which steps.
const REMOVE_PATIENCE: Duration = Duration::from_secs(15);
const REMOVE_STEP: Duration = Duration::from_millis(10);

/// CPU time of a group since it was created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Time in user mode, in µs.
    pub user_us: u64,
    /// Time in the kernel, in µs.
    pub system_us: u64,
}

/// A control group of steelyard's own. Dropping it removes its directories if no process is left in
/// them.
#[derive(Debug)]
pub struct Cgroup {
    directories: Vec<PathBuf>,
    memory: Option<MemoryFiles>,
    cpu: Mutex<CpuReader>,
    /// A `cgroup.subtree_control` in which the memory controller was enabled for this group.
    enabled: Option<PathBuf>,
}

#[derive(Debug)]
struct MemoryFiles {
    current: Mutex<Held>,
    stat: PathBuf,
    oom: PathBuf,
}

#[derive(Debug)]
struct CpuReader {
    files: CpuFiles,
    split: Split,
    buffer: Vec<u8>,
}

#[derive(Debug)]
enum CpuFiles {
    V1 { usage: Held, stat: Held },
    V2 { stat: Held },
}

impl Cgroup {
    /// Creates a group below this process's own (in v2 above it, if its own group's processes
    /// prevent a memory controller). `memory_limit`, in bytes, includes page cache. The group gets
    /// no swap beyond it, so a limited server cannot trade disk reads for swapping. If needed, the
    /// memory controller is enabled in a `cgroup.subtree_control`, and disabled again when the
    /// group is removed. A killed run leaves it enabled, which changes nothing for others.
    ///
    /// # Errors
    /// If there is no hierarchy, no permission to create groups, no memory controller for the
    /// limit, or already a group of that name. Nothing is left behind then.
    pub fn create(name: &str, memory_limit: Option<u64>) -> Result<Cgroup, CgroupError> {
        Cgroup::create_in(&Layout::of_this_process()?, name, memory_limit)
    }

    /// Like [`Cgroup::create`], in hierarchies of the caller's choice.
    ///
    /// # Errors
    /// As for [`Cgroup::create`].
    pub fn create_in(
        layout: &Layout,
        name: &str,
        memory_limit: Option<u64>,
    ) -> Result<Cgroup, CgroupError> {
        check_name(name)?;
        let mut made = Made::default();
        let v1_cpu = layout.v1_with("cpuacct");
        let v1_memory = layout.v1_with("memory");
        let mut memory = None;
        if let Some(hierarchy) = v1_memory {
            let directory = hierarchy.own.join(name);
            match made.directory(&directory) {
                Ok(()) => {
                    let (current, oom) = ("memory.usage_in_bytes", "memory.oom_control");
                    memory = Some(MemoryFiles::of(&directory, current, oom));
                }
                // Without a limit the memory figures are a bonus.
                Err(CgroupError::Denied { .. }) if memory_limit.is_none() => {}
                Err(error) => return Err(error),
            }
        }
        let files = if let Some(hierarchy) = v1_cpu {
            let directory = hierarchy.own.join(name);
            // cpuacct and memory may be mounted together.
            if !made.directories.contains(&directory) {
                made.directory(&directory)?;
            }
            CpuFiles::V1 {
                usage: Held::new(directory.join("cpuacct.usage")),
                stat: Held::new(directory.join("cpuacct.stat")),
            }
        } else {
            let hierarchy = layout.v2.as_ref().ok_or(CgroupError::NoHierarchy)?;
            // A controller that v1 uses is not available on v2.
            let wants_memory = memory_limit.is_some() && memory.is_none();
            let directory = made.v2_group(hierarchy, name, wants_memory)?;
            if memory.is_none() && directory.join("memory.current").exists() {
                memory = Some(MemoryFiles::of(&directory, "memory.current", "memory.events"));
            }
            CpuFiles::V2 { stat: Held::new(directory.join("cpu.stat")) }
        };
        if let Some(limit) = memory_limit {
            let Some(stat) = memory.as_ref().map(|files| &files.stat) else {
                let own = v1_cpu.or(layout.v2.as_ref());
                return Err(CgroupError::NoMemoryController {
                    path: own.map(|h| h.own.clone()).unwrap_or_default(),
                });
            };
            set_memory_limit(stat.parent().unwrap_or(Path::new("/")), limit)?;
        }
        let (directories, enabled) = made.keep();
        Ok(Cgroup {
            directories,
            memory,
            enabled,
            cpu: Mutex::new(CpuReader { files, split: Split::default(), buffer: Vec::new() }),
        })
    }

    /// Gives the group a directory in a hierarchy that can freeze its processes, unless it has one
    /// or neither is possible here: in v2, otherwise in v1's freezer. Call it before processes join
    /// the group.
    pub fn make_freezable(&mut self) {
        const FILES: [&str; 2] = ["cgroup.freeze", "freezer.state"];
        let freezes = |directory: &Path| FILES.iter().any(|file| directory.join(file).exists());
        if self.directories.iter().any(|directory| freezes(directory)) {
            return;
        }
        let name = self.directories.first().and_then(|directory| directory.file_name());
        let (Some(name), Ok(layout)) = (name, Layout::of_this_process()) else { return };
        let v2 = layout.v2.iter().flat_map(layout::Hierarchy::candidates);
        let v1 = layout.v1_with("freezer").map(|hierarchy| hierarchy.own.clone());
        for directory in v2.chain(v1).map(|parent| parent.join(name)) {
            if std::fs::create_dir(&directory).is_err() {
                continue;
            }
            if freezes(&directory) {
                self.directories.push(directory);
                return;
            }
            let _ = std::fs::remove_dir(&directory);
        }
    }

    /// The files into which a process writes `0` to join the group: one per v1 hierarchy, one for
    /// v2. Children start in their parent's group.
    pub fn procs_files(&self) -> Vec<PathBuf> {
        self.directories.iter().map(|directory| directory.join("cgroup.procs")).collect()
    }

    /// The group's directories, to record for [`remove_directories`] after a killed run.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// CPU time of all processes that are or were in the group. The sum is exact; its split into
    /// user and system is as good as the kernel's.
    ///
    /// # Errors
    /// If the group's files cannot be read or understood.
    pub fn cpu(&self) -> Result<CpuTime, CgroupError> {
        let mut reader = self.cpu.lock().unwrap_or_else(PoisonError::into_inner);
        let CpuReader { files, split, buffer } = &mut *reader;
        let (total_us, user, system) = match files {
            CpuFiles::V2 { stat } => read_parsed(
                stat,
                buffer,
                "usage_usec, user_usec and system_usec",
                reading::parse_cpu_stat,
            )?,
            CpuFiles::V1 { usage, stat } => {
                let nanoseconds = read_parsed(usage, buffer, "nanoseconds", |text| {
                    text.trim().parse::<u64>().ok()
                })?;
                let (user, system) = read_parsed(
                    stat,
                    buffer,
                    "user and system ticks",
                    reading::parse_cpuacct_stat,
                )?;
                (nanoseconds / 1000, user, system)
            }
        };
        let (user_us, system_us) = split.advance(total_us, user, system);
        Ok(CpuTime { user_us, system_us })
    }

    /// A cheap reading of the sum alone, for hundreds of readings a second; see [`CpuMeter::read`]
    /// for its precision.
    ///
    /// # Errors
    /// If the group's file cannot be opened.
    pub fn cpu_meter(&self) -> Result<CpuMeter, CgroupError> {
        let reader = self.cpu.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, format) = match &reader.files {
            CpuFiles::V1 { usage, .. } => (usage.path(), meter::CpuFormat::Nanoseconds),
            CpuFiles::V2 { stat } => (stat.path(), meter::CpuFormat::UsageLine),
        };
        CpuMeter::open(file, format).map_err(CgroupError::file("open", file))
    }

    /// Memory charged to the group in bytes, page cache included; `None` if the group has no memory
    /// controller.
    pub fn memory_current(&self) -> Option<u64> {
        let files = self.memory.as_ref()?;
        let mut held = files.current.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = Vec::new();
        held.read(&mut buffer).ok()?.trim().parse().ok()
    }

    /// Number of the group's processes that the kernel killed because of the memory limit; `None`
    /// if unknown.
    pub fn oom_kills(&self) -> Option<u64> {
        let text = std::fs::read_to_string(&self.memory.as_ref()?.oom).ok()?;
        reading::keyed(&text, "oom_kill")
    }

    /// Processes in the group now.
    pub fn pids(&self) -> Vec<u32> {
        let mut pids: Vec<u32> = self.directories.iter().flat_map(|d| pids_in(d)).collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    /// Removes the group. Waits at most 2 s for processes that are just ending.
    ///
    /// # Errors
    /// [`CgroupError::Busy`] if processes stay in it (it is tried once more when dropped).
    pub fn remove(mut self) -> Result<(), CgroupError> {
        self.remove_within(REMOVE_PATIENCE)
    }

    fn remove_within(&mut self, patience: Duration) -> Result<(), CgroupError> {
        let directories = std::mem::take(&mut self.directories);
        let deadline = Instant::now() + patience;
        let mut failed = None;
        for directory in directories {
            if let Err(error) = remove_directory(&directory, deadline) {
                failed.get_or_insert(error);
                self.directories.push(directory);
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(control) = self.enabled.take() {
            // Refused while another run's group uses it, which then takes it back.
            let _ = std::fs::write(control, "-memory");
        }
        Ok(())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        if !self.directories.is_empty() {
            let _ = self.remove_within(REMOVE_STEP * 5);
        }
    }
}

/// Removes group directories that a killed run recorded. Skips those that are gone, still have
/// processes, or are not control groups. The caller ends the processes.
pub fn remove_directories(directories: &[PathBuf]) {
    let deadline = Instant::now() + REMOVE_PATIENCE;
    for directory in directories {
        if directory.join("cgroup.procs").exists() {
            let _ = remove_directory(directory, deadline);
        }
    }
}

impl MemoryFiles {
    /// The files of the group in `directory`; two of them have names that depend on the version.
    fn of(directory: &Path, current: &str, oom: &str) -> MemoryFiles {
        MemoryFiles {
            current: Mutex::new(Held::new(directory.join(current))),
            stat: directory.join("memory.stat"),
            oom: directory.join(oom),
        }
    }
}

/// The parts of an unfinished group, removed again if creating it fails.
#[derive(Debug, Default)]
struct Made {
    directories: Vec<PathBuf>,
    enabled: Option<PathBuf>,
}

impl Made {
    fn directory(&mut self, directory: &Path) -> Result<(), CgroupError> {
        std::fs::create_dir(directory).map_err(|source| {
            let path = directory.to_path_buf();
            match source.kind() {
                io::ErrorKind::AlreadyExists => CgroupError::Exists { path },
                _ => CgroupError::Denied { path, source },
            }
        })?;
        self.directories.push(directory.to_path_buf());
        Ok(())
    }

    /// Creates the group in the lowest directory where it can have what is required. A group with
    /// processes cannot delegate controllers (only the root can), so the search goes upward.
    fn v2_group(
        &mut self,
        hierarchy: &layout::Hierarchy,
        name: &str,
        wants_memory: bool,
    ) -> Result<PathBuf, CgroupError> {
        let candidates = hierarchy.candidates();
        // First where the controller is already delegated, then where that can be arranged.
        for parent in &candidates {
            if has_word(&parent.join("cgroup.subtree_control"), "memory") {
                match self.directory(&parent.join(name)) {
                    Ok(()) => return Ok(parent.join(name)),
                    Err(CgroupError::Denied { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        if wants_memory {
            for parent in &candidates {
                let control = parent.join("cgroup.subtree_control");
                if has_word(&parent.join("cgroup.controllers"), "memory")
                    && std::fs::write(&control, "+memory").is_ok()
                {
                    self.enabled = Some(control);
                    self.directory(&parent.join(name))?;
                    return Ok(parent.join(name));
                }
            }
            return Err(CgroupError::NoMemoryController { path: hierarchy.own.clone() });
        }
        let mut first = None;
        for parent in &candidates {
            match self.directory(&parent.join(name)) {
                Ok(()) => return Ok(parent.join(name)),
                Err(error) => {
                    first.get_or_insert(error);
                }
            }
        }
        Err(first.unwrap_or(CgroupError::NoHierarchy))
    }

    fn keep(mut self) -> (Vec<PathBuf>, Option<PathBuf>) {
        (std::mem::take(&mut self.directories), self.enabled.take())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for directory in &self.directories {
            let _ = std::fs::remove_dir(directory);
        }
        if let Some(control) = self.enabled.take() {
            let _ = std::fs::write(control, "-memory");
        }
    }
}

/// Sets the limit of the group in `directory`, in the files of its version.
fn set_memory_limit(directory: &Path, limit: u64) -> Result<(), CgroupError> {
    let write = |file: &str, value: u64| {
        let path = directory.join(file);
        let failed = CgroupError::file(format!("write {value} to"), &path);
        std::fs::write(&path, value.to_string()).map_err(failed)
    };
    if directory.join("memory.max").exists() {
        write("memory.max", limit)?;
        // It does not exist without swap accounting.
        if directory.join("memory.swap.max").exists() {
            write("memory.swap.max", 0)?;
        }
    } else {
        write("memory.limit_in_bytes", limit)?;
        if directory.join("memory.memsw.limit_in_bytes").exists() {
            write("memory.memsw.limit_in_bytes", limit)?;
        }
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), CgroupError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > 200 || name.starts_with('.') || !name.chars().all(fits) {
        return Err(CgroupError::BadName { name: name.to_owned() });
    }
    Ok(())
}

fn has_word(path: &Path, word: &str) -> bool {
    read_trimmed(path).is_some_and(|text| text.split_ascii_whitespace().any(|w| w == word))
}

fn pids_in(directory: &Path) -> Vec<u32> {
    std::fs::read_to_string(directory.join("cgroup.procs"))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect()
}

fn remove_directory(directory: &Path, deadline: Instant) -> Result<(), CgroupError> {
    loop {
        let source = match std::fs::remove_dir(directory) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => error,
        };
        let busy = source.kind() == io::ErrorKind::ResourceBusy;
        if !busy || Instant::now() >= deadline {
            let path = directory.to_path_buf();
            let pids = pids_in(directory);
            return Err(if busy && !pids.is_empty() {
                CgroupError::Busy { path, pids }
            } else {
                CgroupError::File { action: "remove".to_owned(), path, source }
            });
        }
        std::thread::sleep(REMOVE_STEP);
    }
}

fn read_parsed<T>(
    file: &mut Held,
    buffer: &mut Vec<u8>,
    expected: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, CgroupError> {
    let text = file.read(buffer).map_err(CgroupError::file("read", file.path()))?;
    parse(&text).ok_or_else(|| CgroupError::Unreadable {
        expected,
        path: file.path().to_path_buf(),
        found: text.chars().take(100).collect(),
    })
}
