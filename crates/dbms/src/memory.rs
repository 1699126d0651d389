//! Shared memory that outlives a server which is killed before it can remove it: System V segments and the files
//! of POSIX shared memory. What a process has mapped stands in `/proc/PID/maps` (proc(5)).

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

/// Shared memory of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedMemory {
    /// System V segments: id and key.
    pub segments: Vec<(i32, i32)>,
    /// POSIX shared memory: file name under `/dev/shm` and inode.
    pub files: Vec<(String, u64)>,
}

impl SharedMemory {
    /// Takes over what `other` holds.
    pub(crate) fn add(&mut self, other: &Self) {
        for segment in &other.segments {
            if !self.segments.contains(segment) {
                self.segments.push(*segment);
            }
        }
        for file in &other.files {
            if !self.files.contains(file) {
                self.files.push(file.clone());
            }
        }
    }

    /// Removes what is still there of it and in nobody's use. Ids and names are used again by the system, so a
    /// segment must have the recorded key and no process attached, a file the recorded inode.
    pub(crate) fn remove(&self) {
        for &(id, key) in &self.segments {
            // SAFETY: shmid_ds is plain data, for which all zero bytes are a value.
            let mut state: libc::shmid_ds = unsafe { std::mem::zeroed() };
            // SAFETY: state is a valid shmid_ds to write to.
            let known = unsafe { libc::shmctl(id, libc::IPC_STAT, &raw mut state) } == 0;
            if known && state.shm_nattch == 0 && state.shm_perm.__key == key {
                // SAFETY: IPC_RMID takes no buffer.
                unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
            }
        }
        for (name, inode) in &self.files {
            let path = format!("/dev/shm/{name}");
            if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.ino() == *inode) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// What process `pid` has mapped of shared memory.
pub(crate) fn of_process(pid: u32) -> SharedMemory {
    fs::read_to_string(format!("/proc/{pid}/maps")).map(|maps| parse(&maps)).unwrap_or_default()
}

/// Reads a maps file: `address perms offset device inode path`; for System V segments the inode is the segment's
/// id and the path is `/SYSV` with the key in hexadecimal (Linux, ipc/shm.c).
fn parse(maps: &str) -> SharedMemory {
    let mut found = SharedMemory::default();
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace().skip(4);
        let (Some(inode), Some(path)) = (fields.next(), fields.next()) else { continue };
        if let Some(key) = path.strip_prefix("/SYSV") {
            if let (Ok(id), Ok(key)) = (inode.parse(), u32::from_str_radix(key, 16)) {
                found.add(&SharedMemory {
                    segments: vec![(id, key.cast_signed())],
                    files: Vec::new(),
                });
            }
        } else if let Some(name) = path.strip_prefix("/dev/shm/")
            && let Ok(inode) = inode.parse()
            && !name.contains('/')
        {
            found
                .add(&SharedMemory { segments: Vec::new(), files: vec![(name.to_owned(), inode)] });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_postmaster_has_mapped() {
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
            eprintln!("skipped: /dev/shm is not writable");
            return;
        }
        let inode = fs::metadata(&path).unwrap().ino();
        SharedMemory { segments: Vec::new(), files: vec![(name.clone(), inode + 1)] }.remove();
        assert!(fs::exists(&path).unwrap());
        SharedMemory { segments: Vec::new(), files: vec![(name, inode)] }.remove();
        assert!(!fs::exists(&path).unwrap());
    }
}
