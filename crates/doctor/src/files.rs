//! Findings that are not recorded facts, because they are about limits, services or the moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statvfs::{Statvfs, statvfs};

use crate::{Finding, State};

/// All of these findings; files are below `root`.
pub(crate) fn own(root: &Path, data_dir: &Path) -> Vec<Finding> {
    let mut findings = vec![
        open_files(getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft)),
        remove_ipc(root),
        shared_memory(root),
        free_space(data_dir),
        idle_states(root),
        throttled(),
        time(),
        upgrades(root),
        clockwork(root),
        reboot(root),
    ];
    findings.extend(health(data_dir));
    findings
}

/// The text of a file without the white space around it.
fn text(file: PathBuf) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

/// Files that a process may have open.
fn open_files(most: u64) -> Finding {
    /// Fewest open files to allow. With fewer, runs fail, because RocksDB and servers with many
    /// tables keep all their files open.
    const FEWEST: u64 = 4_096;
    /// The usual limit in setups for database servers.
    const USUAL: u64 = 65_536;
    let state = match most {
        ..FEWEST => State::Fail,
        FEWEST..USUAL => State::Warn,
        _ => State::Ok,
    };
    Finding::new("open files (nofile)", state, most.to_string()).advise(
        "a server or a client that needs more ends in the middle of a run",
        "soft nofile 65536 and hard nofile 524288 for * and root in /etc/security/limits.d \
         (steelyard setup), and log in again",
    )
}

/// Checks if systemd removes shared memory when a user logs out.
fn remove_ipc(root: &Path) -> Finding {
    const NAME: &str = "RemoveIPC";
    if !root.join("run/systemd/system").exists() {
        return Finding::new(NAME, State::Ok, "systemd doesn't run here");
    }
    let mut files = vec![root.join("etc/systemd/logind.conf")];
    let more = fs::read_dir(root.join("etc/systemd/logind.conf.d"));
    let mut more: Vec<_> = more.into_iter().flatten().flatten().map(|it| it.path()).collect();
    more.sort_unstable();
    files.extend(more);
    let lines: Vec<String> = files
        .into_iter()
        .filter_map(text)
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let last = lines.iter().rev().find_map(|line| line.trim().strip_prefix("RemoveIPC="));
    let state = if last == Some("no") { State::Ok } else { State::Warn };
    Finding::new(NAME, state, last.unwrap_or("yes, by default")).advise(
        "a server's shared memory is removed when its user logs out",
        "RemoveIPC=no in /etc/systemd/logind.conf.d/steelyard.conf, then restart systemd-logind",
    )
}

/// Room in /dev/shm, where parallel queries of PostgreSQL keep their tables.
fn shared_memory(root: &Path) -> Finding {
    const NAME: &str = "/dev/shm";
    /// Containers have 64 MB.
    const LEAST: u64 = 1 << 30;
    match statvfs(&root.join("dev/shm")) {
        Err(error) => Finding::new(NAME, State::Warn, error.desc()),
        Ok(found) => {
            let (bytes, _) = room(&found);
            let state = if bytes < LEAST { State::Warn } else { State::Ok };
            Finding::new(NAME, state, format!("{:.1} GB", gigabytes(bytes)))
        }
    }
    .advise(
        "parallel queries of PostgreSQL fail when it is full",
        "mount -o remount,size=4G /dev/shm, or --shm-size of the container",
    )
}

/// Bytes of a filesystem, and those that are free.
// Casts, since the widths of these differ between platforms.
#[allow(clippy::unnecessary_cast)]
fn room(found: &Statvfs) -> (u64, u64) {
    let unit = found.fragment_size() as u64;
    (found.blocks() as u64 * unit, found.blocks_available() as u64 * unit)
}

fn gigabytes(bytes: u64) -> f64 {
    bytes as f64 / (1_u64 << 30) as f64
}

/// Free space for data.
fn free_space(data_dir: &Path) -> Finding {
    const NAME: &str = "free space";
    let Some((existing, found)) =
        data_dir.ancestors().find_map(|path| Some((path, statvfs(path).ok()?)))
    else {
        return Finding::new(NAME, State::Unknown, "the data directory has no filesystem");
    };
    let (all, free) = room(&found);
    let share = free as f64 / all.max(1) as f64;
    let state = match gigabytes(free) {
        few if few < 2.0 => State::Fail,
        few if few < 20.0 || share < 0.1 => State::Warn,
        _ => State::Ok,
    };
    let said =
        format!("{:.1} GB ({:.0}%) at {}", gigabytes(free), 100.0 * share, existing.display());
    Finding::new(NAME, state, said).advise(
        "a full disk ends a run, and SSDs get slow when they are nearly full",
        "free some space, or name another directory: --data-dir",
    )
}

/// Idle states that take long to leave.
fn idle_states(root: &Path) -> Finding {
    const NAME: &str = "idle states";
    /// Waking up from deeper ones takes as long as a query.
    const MOST_US: u64 = 20;
    let directory = root.join("sys/devices/system/cpu/cpu0/cpuidle");
    let states = fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path());
    let mut deep: Vec<(u64, String)> = states
        .filter(|state| text(state.join("disable")).as_deref() != Some("1"))
        .filter_map(|state| {
            Some((text(state.join("latency"))?.parse().ok()?, text(state.join("name"))?))
        })
        .collect();
    if deep.is_empty() {
        return Finding::new(NAME, State::Unknown, "this kernel shows none")
            .advise("how long a core takes to wake up is not known", "");
    }
    deep.sort_unstable();
    let words: Vec<String> = deep.iter().map(|(us, name)| format!("{name} {us} µs")).collect();
    let deepest = deep.last().map_or(0, |(us, _)| *us);
    let state = if deepest > MOST_US { State::Warn } else { State::Ok };
    Finding::new(NAME, state, words.join(", ")).advise(
        "a query that finds its core asleep waits that long, and more so with few clients",
        "cpupower idle-set -D 20, or processor.max_cstate=1 in the boot options",
    )
}

/// Checks if the clock of a core was ever throttled by heat or power.
fn throttled() -> Finding {
    let Some(counts) = probe::throttle_counts() else {
        return Finding::new("throttling", State::Unknown, "this machine doesn't count it");
    };
    let state = if counts.core > 0 { State::Warn } else { State::Ok };
    Finding::new("throttling", state, format!("{} times since boot", counts.core)).advise(
        "the clock falls when a core is too hot",
        "better cooling, or a lower clock that can be held",
    )
}

/// Checks if the clock is synchronized (adjtimex(2)).
fn time() -> Finding {
    let known =
        Command::new("timedatectl").args(["show", "-p", "NTPSynchronized", "--value"]).output();
    let said = known.ok().filter(|it| it.status.success());
    match said.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned()).as_deref() {
        Some("yes") => Finding::new("time", State::Ok, "synchronized"),
        Some("no") => Finding::new("time", State::Warn, "not synchronized"),
        _ => Finding::new("time", State::Unknown, "timedatectl doesn't say"),
    }
    .advise(
        "times in results of several machines don't fit together",
        "run chrony or systemd-timesyncd",
    )
}

/// Checks if upgrades are installed by themselves, even while something is measured.
fn upgrades(root: &Path) -> Finding {
    let enabled = fs::read_dir(root.join("etc/apt/apt.conf.d"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|file| text(file.path()))
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .any(|line| line.contains("Unattended-Upgrade \"1\""));
    let runs = root.join("run/systemd/system").exists();
    // `steelyard setup` adds this to the two services that timers start.
    let waits = ["apt-daily", "apt-daily-upgrade"].iter().all(|unit| {
        let file = format!("etc/systemd/system/{unit}.service.d/steelyard.conf");
        text(root.join(file)).is_some_and(|text| text.contains("ExecCondition="))
    });
    let (state, said) = match (enabled && runs, waits) {
        (true, false) => (State::Warn, "installed by themselves"),
        (true, true) => (State::Ok, "not while steelyard runs"),
        _ => (State::Ok, "not by themselves"),
    };
    Finding::new("upgrades", state, said).advise(
        "an upgrade takes CPU and storage, and may restart services in the middle of a run",
        "steelyard setup makes them wait, or until the next boot: systemctl stop apt-daily.timer \
         apt-daily-upgrade.timer",
    )
}

/// Finds scheduled jobs: cron starts them in the middle of a run, systemd mostly once a day.
fn clockwork(root: &Path) -> Finding {
    let names = |directory: &str| -> Vec<String> {
        let files = fs::read_dir(root.join(directory)).into_iter().flatten().flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names
    };
    let cron = ["run/crond.pid", "run/cron.pid"].iter().any(|file| root.join(file).exists());
    let places = ["etc/cron.d", "etc/cron.hourly", "var/spool/cron/crontabs", "var/spool/cron"];
    let mut jobs: Vec<String> = places.into_iter().filter(|_| cron).flat_map(names).collect();
    jobs.retain(|name| name != "crontabs");
    let systemd = root.join("run/systemd/system").exists();
    let timers = names("etc/systemd/system/timers.target.wants");
    let timers = if systemd { timers } else { Vec::new() };
    let mut said = Vec::new();
    for (what, names) in [("cron", &jobs), ("timers", &timers)] {
        if !names.is_empty() {
            said.push(format!("{what}: {}", names.join(", ")));
        }
    }
    let state = if jobs.is_empty() { State::Ok } else { State::Warn };
    let said = if said.is_empty() { "nothing".to_owned() } else { said.join("; ") };
    Finding::new("started by the clock", state, said).advise(
        "a job takes CPU and storage in the middle of a run",
        "while you measure: systemctl stop cron",
    )
}

/// Checks if a new kernel or library waits for a reboot.
fn reboot(root: &Path) -> Finding {
    let pending = ["run/reboot-required", "var/run/reboot-required"];
    let pending = pending.iter().any(|file| root.join(file).exists());
    let (state, said) =
        if pending { (State::Warn, "pending") } else { (State::Ok, "none pending") };
    Finding::new("reboot", state, said)
        .advise("after the next reboot, this is another machine", "reboot before you measure")
}

/// The health that an NVMe device reports, where `nvme` is installed and may be used.
fn health(data_dir: &Path) -> Option<Finding> {
    let device = probe::block_device_of(data_dir)?.name;
    let controller = device.starts_with("nvme").then_some(&device)?;
    let said = Command::new("nvme")
        .args(["smart-log", "--output-format=normal", &format!("/dev/{controller}")])
        .output();
    let text = match said {
        Ok(said) if said.status.success() => String::from_utf8_lossy(&said.stdout).into_owned(),
        _ => {
            let found = "nvme smart-log is not installed or not allowed";
            return Some(Finding::new("device health", State::Unknown, found));
        }
    };
    Some(smart(&text))
}

/// The health in the output of `nvme smart-log`.
fn smart(text: &str) -> Finding {
    let value = |name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name))?;
        let digits = line.split_once(':')?.1.trim();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits.get(..end)?.parse::<u64>().ok()
    };
    let (used, warning) = (value("percentage_used"), value("critical_warning"));
    let state = match (used, warning) {
        (Some(used), Some(0)) if used < 80 => State::Ok,
        (None, _) | (_, None) => State::Unknown,
        _ => State::Warn,
    };
    let said = used.map_or("it doesn't say".to_owned(), |used| format!("{used}% of its life used"));
    Finding::new("device health", state, said)
        .advise("a worn device is slow and uneven", "use another device")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(file: PathBuf, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn too_few_open_files_fail() {
        let of = |most| open_files(most).state;
        assert_eq!([of(1_024), of(8_192), of(1 << 20)], [State::Fail, State::Warn, State::Ok]);
    }

    #[test]
    fn the_last_setting_of_logind_counts() {
        let root = tempfile::tempdir().unwrap();
        let of = || remove_ipc(root.path());
        assert_eq!(of().state, State::Ok, "without systemd");
        fs::create_dir_all(root.path().join("run/systemd/system")).unwrap();
        assert_eq!((of().state, &*of().found), (State::Warn, "yes, by default"));
        write(root.path().join("etc/systemd/logind.conf"), "[Login]\n#RemoveIPC=yes\n");
        assert_eq!(of().state, State::Warn, "a comment");
        write(root.path().join("etc/systemd/logind.conf.d/a.conf"), "[Login]\nRemoveIPC=no\n");
        assert_eq!(of().state, State::Ok);
        write(root.path().join("etc/systemd/logind.conf.d/b.conf"), "RemoveIPC=yes\n");
        assert_eq!((of().state, &*of().found), (State::Warn, "yes"));
    }

    #[test]
    fn deep_idle_states_are_named() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(idle_states(root.path()).state, State::Unknown);
        let states = root.path().join("sys/devices/system/cpu/cpu0/cpuidle");
        for (state, name, latency, off) in
            [("state0", "POLL", "0", "0"), ("state1", "C1", "2", "0"), ("state2", "C6", "133", "0")]
        {
            write(states.join(state).join("name"), name);
            write(states.join(state).join("latency"), latency);
            write(states.join(state).join("disable"), off);
        }
        let found = idle_states(root.path());
        assert_eq!((found.state, &*found.found), (State::Warn, "POLL 0 µs, C1 2 µs, C6 133 µs"));
        write(states.join("state2/disable"), "1");
        assert_eq!(idle_states(root.path()).state, State::Ok);
    }

    #[test]
    fn jobs_of_cron_count_where_cron_runs() {
        let root = tempfile::tempdir().unwrap();
        write(root.path().join("etc/cron.d/sysstat"), "5-55/10 * * * * root sa1\n");
        write(root.path().join("etc/cron.d/.placeholder"), "");
        assert_eq!(
            (clockwork(root.path()).state, &*clockwork(root.path()).found),
            (State::Ok, "nothing")
        );
        write(root.path().join("run/crond.pid"), "1");
        write(root.path().join("run/systemd/system/x"), "");
        write(root.path().join("etc/systemd/system/timers.target.wants/fstrim.timer"), "");
        let found = clockwork(root.path());
        assert_eq!(found.state, State::Warn);
        assert_eq!(found.found, "cron: sysstat; timers: fstrim.timer");
    }

    #[test]
    fn upgrades_count_where_something_starts_them() {
        let root = tempfile::tempdir().unwrap();
        let line = "APT::Periodic::Unattended-Upgrade \"1\";\n";
        write(root.path().join("etc/apt/apt.conf.d/20auto-upgrades"), line);
        assert_eq!(upgrades(root.path()).state, State::Ok);
        fs::create_dir_all(root.path().join("run/systemd/system")).unwrap();
        assert_eq!(upgrades(root.path()).state, State::Warn);
        let units = root.path().join("etc/systemd/system");
        let condition = "[Service]\nExecCondition=/bin/true\n";
        write(units.join("apt-daily.service.d/steelyard.conf"), condition);
        assert_eq!(upgrades(root.path()).state, State::Warn, "one of two");
        write(units.join("apt-daily-upgrade.service.d/steelyard.conf"), condition);
        assert_eq!(upgrades(root.path()).state, State::Ok);
        assert_eq!(reboot(root.path()).state, State::Ok);
        write(root.path().join("run/reboot-required"), "");
        assert_eq!(reboot(root.path()).state, State::Warn);
    }

    #[test]
    fn health_is_read() {
        let text = "critical_warning\t\t\t: 0\ntemperature : 40\npercentage_used\t: 3%\n";
        assert_eq!((smart(text).state, &*smart(text).found), (State::Ok, "3% of its life used"));
        assert_eq!(smart(&text.replace("3%", "97%")).state, State::Warn);
        assert_eq!(smart(&text.replace(": 0", ": 4")).state, State::Warn);
        assert_eq!(smart("nothing").state, State::Unknown);
    }
}
