//! How often the CPUs slowed down because of heat, if `/sys` says.

use std::path::Path;

use crate::files::read_number;

/// Thermal throttling events since boot, summed over CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Throttle {
    /// Events of single cores.
    pub core: u64,
    /// Events of whole packages, as each CPU of the package counted them.
    pub package: u64,
}

/// Thermal throttling events since boot; `None` where the kernel does not expose them (most virtual
/// machines and non-x86 machines).
pub fn throttle_counts() -> Option<Throttle> {
    counts_under(Path::new("/sys/devices/system/cpu"))
}

fn counts_under(cpus: &Path) -> Option<Throttle> {
    let mut sum = None;
    for entry in std::fs::read_dir(cpus).ok()?.flatten() {
        let directory = entry.path().join("thermal_throttle");
        let core = read_number(directory.join("core_throttle_count"));
        let package = read_number(directory.join("package_throttle_count"));
        if core.is_none() && package.is_none() {
            continue;
        }
        let sum: &mut Throttle = sum.get_or_insert_default();
        sum.core += core.unwrap_or(0);
        sum.package += package.unwrap_or(0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_cpus() {
        let root = tempfile::tempdir().unwrap();
        for cpu in 0..2 {
            let directory = root.path().join(format!("cpu{cpu}/thermal_throttle"));
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join("core_throttle_count"), "3\n").unwrap();
            std::fs::write(directory.join("package_throttle_count"), "5\n").unwrap();
        }
        std::fs::create_dir(root.path().join("cpufreq")).unwrap();
        let expected = Throttle { core: 6, package: 10 };
        assert_eq!(counts_under(root.path()), Some(expected));
    }

    #[test]
    fn unknown_where_not_exposed() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("cpu0")).unwrap();
        assert_eq!(counts_under(root.path()), None);
    }
}
