//! Where programs lie in memory.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use super::proc;
use crate::data::copy::drop_file;

/// The files from which the processes of a server execute: its program, and libraries.
///
/// How fast they run also depends on which pages of physical memory hold them. The addresses of the
/// pages decide which instructions compete for the same lines of a cache, and the number of
/// adjacent ones how many entries of the TLB they take. The kernel keeps the pages from one server
/// to the next, so all trials of a build would have the same luck, and no interval could show it.
#[derive(Debug, Default)]
pub struct Programs(BTreeSet<PathBuf>);

impl Programs {
    /// Those of a process and all below it.
    pub fn of(root: u32) -> Programs {
        let maps = |pid: u32| fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let files = |pid: u32| {
            let maps = maps(pid);
            maps.lines().filter_map(executed).map(PathBuf::from).collect::<Vec<_>>()
        };
        Programs(proc::tree(root).into_iter().flat_map(files).collect())
    }

    /// Adds others.
    pub fn extend(&mut self, others: Programs) {
        self.0.extend(others.0);
    }

    /// Has the kernel read the files again, into other pages. Those that a process uses stay where
    /// they are, such as the C library's.
    pub fn place_anew(&self) {
        for path in &self.0 {
            // A server may have removed its file, or seen it at another path.
            let _ = File::open(path).and_then(|file| read_again(&file));
        }
    }
}

/// The file that a line of `/proc/PID/maps` maps for execution (proc(5)).
fn executed(line: &str) -> Option<&str> {
    let (range, rest) = line.split_once(' ')?;
    let permissions = rest.split(' ').next()?;
    let path = &rest[rest.find('/')?..];
    (range.contains('-') && permissions.contains('x')).then_some(path)
}

fn read_again(mut file: &File) -> io::Result<()> {
    // Only pages that are on storage can be dropped.
    file.sync_data()?;
    drop_file(file);
    io::copy(&mut file, &mut io::sink()).map(drop)
}

#[cfg(test)]
mod tests {
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
        let found: Vec<&str> = lines.into_iter().filter_map(executed).collect();
        assert_eq!(found, ["/opt/my pg/bin/postgres"]);
        let own = Programs::of(std::process::id());
        assert!(own.0.contains(&std::env::current_exe().unwrap()), "{own:?}");
        own.place_anew();
    }
}
