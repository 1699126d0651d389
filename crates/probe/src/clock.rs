//! The clock rate of the CPUs, if the kernel reports it.

use std::path::Path;

use crate::files::Held;

/// Rates are read from at most this many CPUs, evenly spread, because some kernels take a few
/// milliseconds for each.
const CPUS: usize = 8;

/// The files with the clock rates of some CPUs, kept open.
pub(crate) struct Clocks {
    files: Vec<Held>,
}

impl Clocks {
    /// Empty if the kernel has no frequency scaling, as in most virtual machines.
    pub(crate) fn open() -> Clocks {
        Clocks::under(Path::new("/sys/devices/system/cpu"))
    }

    /// As [`Clocks::open`], of another `/sys/devices/system/cpu`.
    pub(crate) fn under(cpus: &Path) -> Clocks {
        let mut paths: Vec<_> = std::fs::read_dir(cpus)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path().join("cpufreq/scaling_cur_freq"))
            .filter(|path| path.is_file())
            .collect();
        paths.sort();
        let every = paths.len().div_ceil(CPUS).max(1);
        Clocks { files: paths.into_iter().step_by(every).map(Held::new).collect() }
    }

    /// The current mean rate, in MHz; `None` if unknown.
    pub(crate) fn mean_mhz(&mut self, buffer: &mut Vec<u8>) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0);
        for file in &mut self.files {
            let khz = file.read(buffer).ok().and_then(|text| text.trim().parse::<f64>().ok());
            if let Some(khz) = khz.filter(|khz| khz.is_finite() && *khz > 0.0) {
                sum += khz / 1000.0;
                count += 1;
            }
        }
        (count > 0).then(|| sum / f64::from(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_some_cpus_is_read() {
        let root = tempfile::tempdir().unwrap();
        for cpu in 0..20 {
            let directory = root.path().join(format!("cpu{cpu}/cpufreq"));
            std::fs::create_dir_all(&directory).unwrap();
            // The kernel says so of a CPU that is offline.
            let text = if cpu == 0 { "<unknown>\n" } else { "2500000\n" };
            std::fs::write(directory.join("scaling_cur_freq"), text).unwrap();
        }
        let mut clocks = Clocks::under(root.path());
        assert_eq!(clocks.files.len(), 7);
        assert_eq!(clocks.mean_mhz(&mut Vec::new()), Some(2500.0));
    }

    #[test]
    fn unknown_where_not_exposed() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("cpu0")).unwrap();
        assert_eq!(Clocks::under(root.path()).mean_mhz(&mut Vec::new()), None);
    }
}
