//! Where programs lie in memory.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::proc;
use crate::data::copy::drop_file;

/// The files from which the processes of servers execute: programs and libraries.
///
/// How fast they run also depends on which pages of physical memory hold them. The addresses of the
/// pages decide which instructions compete for the same lines of a cache, and the number of
/// adjacent ones how many entries of the TLB they take. The kernel keeps the pages from one server
/// to the next, so all trials of a build would have the same luck, and no interval could show it.
#[derive(Debug)]
pub struct Programs(BTreeSet<(u64, PathBuf)>);

impl Programs {
    /// Those of these processes and all below them.
    pub fn of(roots: impl IntoIterator<Item = u32>) -> Programs {
        let maps = |pid: u32| fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let files = |pid| maps(pid).lines().filter_map(executed).collect::<Vec<_>>();
        Programs(roots.into_iter().flat_map(proc::tree).flat_map(files).collect())
    }

    /// Has the kernel read the files again, each as a whole. They then lie in large adjacent pieces
    /// where the kernel has such for files, alike for all builds, and are scattered anew where it
    /// has not. What another process uses stays where it is, such as the C library.
    pub fn place_anew(&self) {
        for (inode, path) in &self.0 {
            // A file that is gone needs no place.
            let _ = read_again(*inode, path);
        }
    }
}

/// The file that a line of `/proc/PID/maps` maps for execution, and its inode (proc(5)).
fn executed(line: &str) -> Option<(u64, PathBuf)> {
    let mut fields = line.split_ascii_whitespace();
    let permissions = fields.nth(1)?;
    let inode = fields.nth(2)?.parse().ok()?;
    let path = &line[line.find('/')?..];
    permissions.contains('x').then(|| (inode, path.into()))
}

fn read_again(inode: u64, path: &Path) -> io::Result<()> {
    // The path is the word of another user's process: whatever else it leads to is left alone.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.ino() == inode {
        drop_file(&file);
        io::copy(&mut file.take(metadata.len()), &mut io::sink())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn programs_are_what_is_mapped_for_execution() {
        let lines = [
            "55d0c0a00000-55d0c0b00000 r-xp 00100000 fe:00 131 /opt/my pg/bin/postgres",
            "55d0c0b00000-55d0c0c00000 r--p 00200000 fe:00 131 /opt/my pg/bin/postgres",
            "7f0000000000-7f0000001000 rw-s 00000000 00:01 7 /dev/shm/PostgreSQL.1",
            "7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0 [vdso]",
            "7f0000001000-7f0000002000 r-xp 00000000 00:00 0 ",
            "",
        ];
        let found: Vec<_> = lines.into_iter().filter_map(executed).collect();
        assert_eq!(found, [(131, "/opt/my pg/bin/postgres".into())]);
        let own = Programs::of([std::process::id()]);
        let program = std::env::current_exe().unwrap();
        assert!(own.0.iter().any(|(_, path)| *path == program), "{own:?}");
    }

    /// Bytes that this thread has had read from storage (proc(5)). Other tests read, too.
    fn read_from_storage() -> u64 {
        let io = fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = io.lines().find_map(|line| line.strip_prefix("read_bytes: "));
        line.unwrap().parse().unwrap()
    }

    #[test]
    fn files_are_read_from_storage_again() {
        const SIZE: usize = 4 << 20;
        // TMPFS_MAGIC (statfs(2)).
        const TMPFS: i64 = 0x0102_1994;
        // Beside this program, which lies on storage.
        let program = std::env::current_exe().unwrap();
        let mut file = tempfile::NamedTempFile::new_in(program.parent().unwrap()).unwrap();
        file.write_all(&vec![1; SIZE]).unwrap();
        file.as_file().sync_all().unwrap();
        if rustix::fs::fstatfs(file.as_file()).unwrap().f_type == TMPFS {
            return testing::skip("the directory of tests is in memory, not on storage");
        }
        let (inode, path) = (file.as_file().metadata().unwrap().ino(), file.path().to_owned());
        let placed = |inode| {
            let before = read_from_storage();
            Programs([(inode, path.clone())].into()).place_anew();
            read_from_storage() - before
        };
        assert!(placed(inode) >= SIZE as u64);
        // Another file in its place stays.
        assert!(placed(inode + 1) < SIZE as u64);
    }
}
