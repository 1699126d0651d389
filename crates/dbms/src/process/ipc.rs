//! The remains of a killed server: System V shared memory, files of POSIX shared memory, and the
//! System V semaphores of old Postgres versions. `/proc/PID/maps` lists a process's mappings
//! (proc(5)); semaphores know the last process that used them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::proc::wait_until;

/// The mark that Postgres leaves in the last semaphore of each of its sets (PGSemaMagic in
/// sysv_sema.c).
const POSTGRES_MARK: i32 = 537;

/// Such objects of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpcObjects {
    /// System V segments: id and key.
    pub segments: Vec<(i32, i32)>,
    /// POSIX shared memory: file name under `/dev/shm` and inode.
    pub files: Vec<(String, u64)>,
    /// Sets of System V semaphores (PostgreSQL before 10).
    #[serde(default)]
    pub semaphores: Vec<SemaphoreSet>,
}

/// A set of System V semaphores that carries the mark of one postmaster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SemaphoreSet {
    /// Its id.
    pub id: i32,
    /// The number of the marked semaphore, the last one.
    pub last: i32,
    /// The process that marked it.
    pub marked_by: u32,
}

impl SemaphoreSet {
    /// Does the set still carry that process's mark? The system reuses ids.
    fn carries_mark(&self) -> bool {
        // SAFETY: GETVAL and GETPID take no further argument and only read.
        let (value, pid) = unsafe {
            (
                libc::semctl(self.id, self.last, libc::GETVAL),
                libc::semctl(self.id, self.last, libc::GETPID),
            )
        };
        value == POSTGRES_MARK && u32::try_from(pid) == Ok(self.marked_by)
    }
}

impl IpcObjects {
    /// Adds everything in `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        add_new(&mut self.segments, &other.segments);
        add_new(&mut self.files, &other.files);
        add_new(&mut self.semaphores, &other.semaphores);
    }

    /// Removes what still exists and nobody uses. The system reuses ids and names. A segment must
    /// therefore have the recorded key and no attached process, and a file the recorded inode.
    pub(crate) fn remove(&self) {
        for &(id, key) in &self.segments {
            // While a process ends, its program is no longer seen in /proc, but its memory is still
            // there.
            let attached = || attached(id, key);
            wait_until(Duration::from_secs(2), || attached() != Some(true));
            if attached() == Some(false) {
                // SAFETY: IPC_RMID takes no buffer.
                unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
            }
        }
        for set in self.semaphores.iter().filter(|set| set.carries_mark()) {
            // SAFETY: IPC_RMID takes no further argument.
            unsafe { libc::semctl(set.id, 0, libc::IPC_RMID) };
        }
        for (name, inode) in &self.files {
            let path = format!("/dev/shm/{name}");
            if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.ino() == *inode) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// True if a process has this segment attached; `None` if the segment does not exist.
fn attached(id: i32, key: i32) -> Option<bool> {
    // SAFETY: shmid_ds is plain data, for which all zero bytes are a value.
    let mut state: libc::shmid_ds = unsafe { std::mem::zeroed() };
    // SAFETY: state is a valid shmid_ds to write to.
    let known = unsafe { libc::shmctl(id, libc::IPC_STAT, &raw mut state) } == 0;
    #[cfg(target_env = "musl")]
    #[allow(deprecated, reason = "libc will rename it")]
    let its_key = state.shm_perm.__ipc_perm_key;
    #[cfg(not(target_env = "musl"))]
    let its_key = state.shm_perm.__key;
    (known && its_key == key).then_some(state.shm_nattch != 0)
}

/// Adds what is not there yet.
pub(crate) fn add_new<T: Clone + PartialEq>(to: &mut Vec<T>, more: &[T]) {
    for item in more {
        if !to.contains(item) {
            to.push(item.clone());
        }
    }
}

/// The shared memory that process `pid` has mapped, and the semaphores it has marked.
pub(crate) fn of_process(pid: u32) -> IpcObjects {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let semaphores = fs::read_to_string("/proc/sysvipc/sem").unwrap_or_default();
    IpcObjects { semaphores: sets_of(&semaphores, pid), ..parse(&maps) }
}

/// The semaphore sets marked by `pid`, from a list whose columns begin with key, id, permissions,
/// number of semaphores (sysvipc(7)).
fn sets_of(list: &str, pid: u32) -> Vec<SemaphoreSet> {
    list.lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            let id = fields.next()?.parse().ok()?;
            let count: i32 = fields.nth(1)?.parse().ok()?;
            Some(SemaphoreSet { id, last: count - 1, marked_by: pid })
        })
        .filter(SemaphoreSet::carries_mark)
        .collect()
}

/// Reads a maps file: `address perms offset device inode path`; for System V segments the inode is
/// the segment's id and the path is `/SYSV` with the key in hexadecimal (Linux, ipc/shm.c).
fn parse(maps: &str) -> IpcObjects {
    let mut found = IpcObjects::default();
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace().skip(4);
        let (Some(inode), Some(path)) = (fields.next(), fields.next()) else { continue };
        if let Some(key) = path.strip_prefix("/SYSV") {
            if let (Ok(id), Ok(key)) = (inode.parse(), u32::from_str_radix(key, 16)) {
                add_new(&mut found.segments, &[(id, key.cast_signed())]);
            }
        } else if let Some(name) = path.strip_prefix("/dev/shm/")
            && let Ok(inode) = inode.parse()
            && !name.contains('/')
        {
            add_new(&mut found.files, &[(name.to_owned(), inode)]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_mappings_of_a_postmaster() {
        let maps = "\
7f1c40000000-7f1c48a00000 rw-s 00000000 00:01 1035 /dev/zero (deleted)
7f1c50000000-7f1c50001000 rw-s 00000000 00:01 32771 /SYSV0052e2c1 (deleted)
7f1c50001000-7f1c50008000 rw-s 00000000 00:1a 42 /dev/shm/PostgreSQL.1804289383
7f1c50009000-7f1c5000a000 r--p 00000000 fe:00 99 /usr/lib/libz.so
7f1c5000b000-7f1c5000c000 rw-p 00000000 00:00 0
";
        let found = parse(maps);
        assert_eq!(found.segments, [(32771, 0x0052_e2c1)]);
        assert_eq!(found.files, [("PostgreSQL.1804289383".to_owned(), 42)]);
    }

    #[test]
    fn removes_only_the_very_file_that_was_recorded() {
        let name = format!("steelyard-test-{}", std::process::id());
        let path = format!("/dev/shm/{name}");
        if fs::write(&path, "x").is_err() {
            return testing::skip("/dev/shm is not writable");
        }
        let inode = fs::metadata(&path).unwrap().ino();
        IpcObjects { files: vec![(name.clone(), inode + 1)], ..Default::default() }.remove();
        assert!(fs::exists(&path).unwrap());
        IpcObjects { files: vec![(name, inode)], ..Default::default() }.remove();
        assert!(!fs::exists(&path).unwrap());
    }
}
