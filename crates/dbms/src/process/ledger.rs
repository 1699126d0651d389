//! A record of everything steelyard starts, written before it is started. The next steelyard can
//! then end and remove what a killed one left: by pid with start time and by recorded directories,
//! never by name.
//!
//! One JSON file per entry, replaced atomically. An entry belongs to the process that opened it.
//! While that process lives, nobody else touches it.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::data::paths;
use crate::process::freeze;
use crate::process::ipc::{self, IpcObjects};
use crate::process::network::link::Link;
use crate::process::proc::{self, ProcessId, wait_until};

/// The file that marks a directory as steelyard's. It contains the id of the entry that owns it.
pub const MARKER: &str = ".steelyard-owned";

/// How long a process gets after SIGQUIT, and again after SIGKILL, when a sweep ends it.
const SWEEP_LIMIT: Duration = Duration::from_secs(10);

/// The directory of entries.
#[derive(Clone, Debug)]
pub struct Ledger {
    directory: PathBuf,
}

/// The content of an entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Version of this format: 1.
    pub format: u32,
    /// The entry's own name.
    pub id: String,
    /// The name of the started program, for people: the variant's name.
    pub name: String,
    /// The steelyard that started it.
    pub owner: ProcessId,
    /// Name of its machine: several may share the directory, as with home directories on a network.
    #[serde(default)]
    pub host: String,
    /// The started process, once there is one.
    pub process: Option<ProcessId>,
    /// The program that process runs, symbolic links resolved.
    pub program: Option<PathBuf>,
    /// The directory in which it and its children run.
    pub work_directory: Option<PathBuf>,
    /// Directories to remove; only those that carry the marker of this entry are.
    pub directories: Vec<PathBuf>,
    /// Control groups to remove.
    pub cgroups: Vec<PathBuf>,
    /// Shared memory and semaphores that a killed server cannot remove itself.
    pub ipc: IpcObjects,
    /// The interface to remove, through which a server in its own network namespace is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
}

/// The findings and actions of a sweep for one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Name of the started program.
    pub name: String,
    /// Processes that were still running and were ended.
    pub ended: Vec<u32>,
    /// Directories that were removed.
    pub removed: Vec<PathBuf>,
    /// The cleanups that failed, in words. Such an entry is kept for the next sweep.
    pub problems: Vec<String>,
}

impl Ledger {
    /// The ledger in its usual place: the environment variable `STEELYARD_STATE`; otherwise, as
    /// root, `/var/lib/steelyard/ledger`; otherwise `$XDG_STATE_HOME/steelyard` or
    /// `~/.local/state/steelyard`.
    ///
    /// # Errors
    /// [`Error::Place`] if the directory cannot be created or written to.
    pub fn open_default() -> Result<Self, Error> {
        let usual = ["/var/lib/steelyard/ledger", "XDG_STATE_HOME", ".local/state"];
        paths::open_default("STEELYARD_STATE", usual, |path| Self::open(path))
    }

    /// The ledger in `directory`, which is created (mode 0700) if it does not exist.
    ///
    /// # Errors
    /// [`Error::Io`] if the directory cannot be created.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, Error> {
        let directory = directory.as_ref();
        if !directory.is_dir() {
            fs::create_dir_all(directory)
                .map_err(Error::io("create the ledger directory", directory))?;
            paths::set_mode(directory, 0o700)?;
        }
        let directory = fs::canonicalize(directory)
            .map_err(Error::io("resolve the ledger directory", directory))?;
        Ok(Self { directory })
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Opens an entry of this process for something called `name`, with nothing recorded yet, and
    /// writes it.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written.
    pub fn enter(&self, name: &str) -> Result<Entry, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let pid = std::process::id();
        let id = format!("{nanos:x}-{pid}-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let owner = ProcessId::of(pid)
            .ok_or_else(|| Error::answer("this process in /proc", "none; is /proc mounted?"))?;
        let record = Record {
            format: 1,
            id: id.clone(),
            name: name.to_owned(),
            owner,
            host: proc::host_name(),
            process: None,
            program: None,
            work_directory: None,
            directories: Vec::new(),
            cgroups: Vec::new(),
            ipc: IpcObjects::default(),
            link: None,
        };
        let entry = Entry { path: self.directory.join(format!("{id}.json")), record };
        entry.write()?;
        Ok(entry)
    }

    /// All readable entries of any owner, to find out if another run is active.
    ///
    /// # Errors
    /// [`Error::Io`] if the directory cannot be read.
    pub fn records(&self) -> Result<Vec<Record>, Error> {
        let listing =
            fs::read_dir(&self.directory).map_err(Error::io("read the ledger", &self.directory))?;
        let mut records: Vec<Record> = listing
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok())
            .collect();
        records.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(records)
    }

    /// Ends and removes what dead owners have left. `remove_cgroups` is called with an entry's
    /// control groups after its processes are gone. Safe to call from several processes at once.
    ///
    /// # Errors
    /// [`Error::Io`] if the ledger itself cannot be read or locked; problems with a single entry
    /// are in [`Swept::problems`].
    pub fn sweep(&self, remove_cgroups: &dyn Fn(&[PathBuf])) -> Result<Vec<Swept>, Error> {
        let _lock = paths::lock(&self.directory.join("sweep.lock"))?;
        let (mut swept, host) = (Vec::new(), proc::host_name());
        // What runs on other machines can't be seen from here.
        let dead = |record: &Record| record.host == host && !record.owner.alive();
        for record in self.records()?.into_iter().filter(dead) {
            let found = clean(&record, remove_cgroups);
            if found.problems.is_empty() {
                let path = self.directory.join(format!("{}.json", record.id));
                fs::remove_file(&path).map_err(Error::io("remove the ledger entry", &path))?;
            }
            swept.push(found);
        }
        self.remove_unfinished();
        Ok(swept)
    }

    /// Removes a replacement of an entry that a killed owner was writing.
    fn remove_unfinished(&self) {
        let Ok(listing) = fs::read_dir(&self.directory) else {
            return;
        };
        for path in listing.flatten().map(|entry| entry.path()) {
            // The id, and so the file's name, contains the owner's pid.
            let owner = path.file_name().and_then(|name| {
                name.to_str()?.strip_suffix(".new")?.split('-').nth(1)?.parse().ok()
            });
            // The owner may be on another machine, and writes for no longer than this.
            let age = fs::metadata(&path).and_then(|it| it.modified()).ok();
            let age = age.and_then(|at| at.elapsed().ok());
            let left = age.is_some_and(|age| age > Duration::from_secs(60));
            if left && owner.is_some_and(|pid| ProcessId::of(pid).is_none()) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// An open entry. A recording method returns once its data is on disk. If dropped without
/// [`Entry::remove`], the entry stays, and the first sweep after the end of this process cleans up.
#[derive(Debug)]
pub struct Entry {
    path: PathBuf,
    record: Record,
}

impl Entry {
    /// The entry's content.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Changes the entry and writes it.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written.
    pub fn update(&mut self, change: impl FnOnce(&mut Record)) -> Result<(), Error> {
        change(&mut self.record);
        self.write()
    }

    /// Records `directory`, creates it with mode `mode` (and its parents) and marks it as this
    /// entry's own. It may already exist if it is empty.
    ///
    /// # Errors
    /// [`Error::DirectoryInUse`] if it is not empty, [`Error::Io`].
    pub fn make_directory(&mut self, directory: &Path, mode: u32) -> Result<(), Error> {
        match fs::read_dir(directory) {
            Ok(mut listing) => {
                paths::check_private(directory)?;
                if listing.next().is_some() {
                    return Err(Error::DirectoryInUse { path: directory.to_path_buf() });
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("read", directory)(error)),
        }
        let absolute = std::path::absolute(directory).map_err(Error::io("resolve", directory))?;
        self.update(|record| record.directories.push(absolute.clone()))?;
        paths::create_directories(&absolute)?;
        paths::set_mode(&absolute, mode)?;
        let marker = absolute.join(MARKER);
        fs::write(&marker, &self.record.id).map_err(Error::io("write", &marker))
    }

    /// Removes this entry's network interface and directories, and closes it. Its processes must be
    /// gone.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::Program`] if something cannot be removed; the entry stays then.
    pub fn remove(self) -> Result<(), Error> {
        self.record.link.as_ref().map_or(Ok(()), Link::remove)?;
        for directory in &self.record.directories {
            remove_owned(directory, &self.record.id)?;
        }
        fs::remove_file(&self.path).map_err(Error::io("remove the ledger entry", &self.path))
    }

    fn write(&self) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(&self.record)
            .map_err(|error| Error::answer("a ledger entry that can be written", error))?;
        let temporary = self.path.with_extension("new");
        let mut file =
            File::create(&temporary).map_err(Error::io("write the ledger entry", &temporary))?;
        file.write_all(&text).map_err(Error::io("write the ledger entry", &temporary))?;
        file.sync_data().map_err(Error::io("flush the ledger entry", &temporary))?;
        fs::rename(&temporary, &self.path)
            .map_err(Error::io("replace the ledger entry", &self.path))
    }
}

/// An entry that is removed on drop, unless it was taken out. If that fails, it stays in the ledger
/// for the next sweep.
#[derive(Debug)]
pub(crate) struct Remains(pub(crate) Option<Entry>);

impl Remains {
    /// Changes the entry, if there is one, and writes it.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut Record)) -> Result<(), Error> {
        self.0.as_mut().map_or(Ok(()), |entry| entry.update(change))
    }

    /// Like [`Entry::make_directory`], for a directory that everyone may enter.
    pub(crate) fn make_directory(&mut self, directory: &Path) -> Result<(), Error> {
        self.0.as_mut().map_or(Ok(()), |entry| entry.make_directory(directory, 0o711))
    }

    /// Removes its network interface, which is of no use once the server is gone.
    pub(crate) fn disconnect(&mut self) -> Result<(), Error> {
        let Some(link) = self.0.as_ref().and_then(|entry| entry.record.link.as_ref()) else {
            return Ok(());
        };
        link.remove()?;
        self.update(|record| record.link = None)
    }

    /// Removes it now.
    pub(crate) fn discard(mut self) -> Result<(), Error> {
        self.0.take().map_or(Ok(()), Entry::remove)
    }
}

impl Drop for Remains {
    fn drop(&mut self) {
        if let Some(entry) = self.0.take() {
            let _ = entry.remove();
        }
    }
}

/// Running processes of an entry: the recorded one, and any that run its program in its directory.
pub(crate) fn processes(record: &Record) -> Vec<ProcessId> {
    let mut found: Vec<ProcessId> =
        record.process.iter().filter(|process| process.alive()).cloned().collect();
    if let (Some(directory), Some(program)) = (&record.work_directory, &record.program) {
        ipc::add_new(&mut found, &proc::running_in(directory, program));
    }
    found
}

/// Kills every process of an entry with `SIGKILL` and waits. Returns those that still exist.
pub(crate) fn kill_all(record: &Record, limit: Duration) -> Vec<u32> {
    wait_until(limit, || {
        let left = processes(record);
        for process in &left {
            let _ = process.signal(libc::SIGKILL);
        }
        left.is_empty()
    });
    processes(record).iter().map(|process| process.pid).collect()
}

fn clean(record: &Record, remove_cgroups: &dyn Fn(&[PathBuf])) -> Swept {
    let mut swept = Swept { name: record.name.clone(), ..Swept::default() };
    if record.format != 1 {
        swept.problems.push(format!(
            "entry {} has format {}, written by another version of steelyard",
            record.id, record.format
        ));
        return swept;
    }
    if record.owner.boot_id == proc::boot_id() {
        let running = processes(record);
        swept.ended = running.iter().map(|process| process.pid).collect();
        let mut shared = record.ipc.clone();
        for process in &running {
            shared.add(&ipc::of_process(process.pid));
        }
        for process in &running {
            let _ = process.signal(libc::SIGQUIT);
        }
        // Some may be stopped or frozen, and would not notice it.
        freeze::thaw(&record.cgroups, &running);
        if !wait_until(SWEEP_LIMIT, || processes(record).is_empty()) {
            let left = kill_all(record, SWEEP_LIMIT);
            if !left.is_empty() {
                swept.problems.push(format!("processes {left:?} survive SIGKILL"));
                return swept;
            }
        }
        shared.remove();
    }
    remove_cgroups(&record.cgroups);
    if let Some(Err(error)) = record.link.as_ref().map(Link::remove) {
        swept.problems.push(error.to_string());
    }
    for directory in &record.directories {
        match remove_owned(directory, &record.id) {
            Ok(true) => swept.removed.push(directory.clone()),
            Ok(false) => {}
            Err(error) => swept.problems.push(error.to_string()),
        }
    }
    swept
}

/// Removes `directory` if it carries the marker of entry `id`, or is empty (created but not yet
/// marked). Returns true if something was removed.
fn remove_owned(directory: &Path, id: &str) -> Result<bool, Error> {
    match fs::read_to_string(directory.join(MARKER)) {
        Ok(marker) if marker == id => {
            remove_marker_last(directory, id).map_err(Error::io("remove", directory))?;
            Ok(true)
        }
        _ => Ok(fs::remove_dir(directory).is_ok()),
    }
}

/// Removes a directory so that it keeps its marker as long as anything else is in it: whoever is
/// killed meanwhile, or fails because a process still writes there, leaves what another can remove.
fn remove_marker_last(directory: &Path, id: &str) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let removed = match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path()),
            false if entry.file_name() == MARKER => Ok(()),
            false => fs::remove_file(entry.path()),
        };
        // Whoever writes there may have removed it.
        removed.or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
    }
    let marker = directory.join(MARKER);
    fs::remove_file(&marker)?;
    fs::remove_dir(directory).inspect_err(|_| {
        // Something came meanwhile.
        let _ = fs::write(&marker, id);
    })
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
