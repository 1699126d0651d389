//! Rules over the facts that are recorded with every experiment.

use std::path::{Path, PathBuf};

use probe::Fact;

use crate::files::own;
use crate::{Finding, Fix, State};

/// A rule over one fact.
struct Rule {
    /// Group and name of the fact ([`probe::host_facts`]).
    fact: (&'static str, &'static str),
    /// Its name here.
    name: &'static str,
    /// The state of a value that is known. It gets all facts, too.
    judge: fn(&str, &All<'_>) -> State,
    /// The text after the value, such as ` KB`.
    unit: &'static str,
    why: &'static str,
    mend: &'static str,
    /// The file to write and the value, if that is safe; `*` stands for every CPU, `DEVICE` for the
    /// device of the data.
    fix: Option<(&'static str, &'static str)>,
}

/// All facts.
struct All<'a>(&'a [Fact]);

impl All<'_> {
    fn get(&self, group: &str, name: &str) -> Option<&str> {
        let fact = self.0.iter().find(|fact| fact.group == group && fact.name == name)?;
        Some(fact.value.as_str()).filter(|value| !value.starts_with("unknown: "))
    }

    fn number(&self, group: &str, name: &str) -> Option<f64> {
        self.get(group, name)?.split(' ').next()?.replace(',', "").parse().ok()
    }
}

fn warn_unless(well: bool) -> State {
    if well { State::Ok } else { State::Warn }
}

fn fail_unless(well: bool) -> State {
    if well { State::Ok } else { State::Fail }
}

const SYS: &str = "/proc/sys";

#[rustfmt::skip] // A table.
const RULES: &[Rule] = &[
    Rule { fact: ("cpu", "frequency governor"), name: "governor", unit: "",
        judge: |v, _| warn_unless(v == "performance"),
        why: "the clock follows the load, and short steps begin slow",
        mend: "cpupower frequency-set -g performance",
        fix: Some(("/sys/devices/system/cpu/*/cpufreq/scaling_governor", "performance")) },
    Rule { fact: ("cpu", "frequency driver"), name: "frequency driver", unit: "",
        judge: |_, _| State::Ok, why: "the host decides the clock, unseen", mend: "", fix: None },
    Rule { fact: ("cpu", "boost"), name: "boost", unit: "",
        judge: |v, _| warn_unless(v == "off"),
        why: "the clock depends on heat and on how many cores are busy",
        mend: "echo 0 > /sys/devices/system/cpu/cpufreq/boost, or 1 into intel_pstate/no_turbo",
        fix: None },
    Rule { fact: ("cpu", "SMT"), name: "SMT", unit: "",
        judge: |v, _| warn_unless(v != "on"),
        why: "two threads of a core slow each other down; which ones meet is chance",
        mend: "echo off > /sys/devices/system/cpu/smt/control, or one vCPU per core in a cloud",
        fix: None },
    Rule { fact: ("cpu", "idle driver"), name: "idle driver", unit: "",
        judge: |_, _| State::Ok, why: "how deeply cores sleep is not known", mend: "", fix: None },
    Rule { fact: ("system", "clock source"), name: "clock source", unit: "",
        judge: |v, _| fail_unless(!["hpet", "acpi_pm", "jiffies"].contains(&v)),
        why: "reading the clock is slow, and every operation does it",
        mend: "find out in the kernel's log why it gave up tsc", fix: None },
    Rule { fact: ("memory", "THP"), name: "transparent huge pages", unit: "",
        judge: |v, _| warn_unless(v != "always"),
        why: "the kernel assembles huge pages in the background, and memory use grows",
        mend: "madvise, also in the boot options: transparent_hugepage=madvise",
        fix: Some(("/sys/kernel/mm/transparent_hugepage/enabled", "madvise")) },
    Rule { fact: ("kernel", "vm.swappiness"), name: "swappiness", unit: "",
        judge: |v, all| warn_unless(
            v.parse().is_ok_and(|n: u32| n <= 10)
                || all.get("memory", "swap").is_some_and(|swap| swap.starts_with("0 "))),
        why: "a server's memory may be swapped out in favor of the page cache",
        mend: "vm.swappiness = 1 in /etc/sysctl.d, or no swap",
        fix: Some(("/proc/sys/vm/swappiness", "1")) },
    Rule { fact: ("memory", "swap"), name: "swap", unit: "",
        judge: |_, _| State::Ok, why: "", mend: "", fix: None },
    Rule { fact: ("kernel", "vm.overcommit_memory"), name: "memory overcommit", unit: "",
        judge: |v, _| warn_unless(v != "2"),
        why: "with 2, memory is refused while there is enough of it",
        mend: "vm.overcommit_memory = 0 in /etc/sysctl.d", fix: None },
    Rule { fact: ("kernel", "vm.dirty_ratio"), name: "dirty pages", unit: "% of memory",
        judge: dirty,
        why: "gigabytes of writes pile up in memory, then all writers stall at once",
        mend: "vm.dirty_bytes = 1073741824 and vm.dirty_background_bytes = 268435456", fix: None },
    Rule { fact: ("kernel", "kernel.numa_balancing"), name: "NUMA balancing", unit: "",
        judge: |v, all| warn_unless(v == "0" || all.get("cpu", "NUMA nodes") == Some("0")),
        why: "the kernel moves pages between nodes while it is measured",
        mend: "kernel.numa_balancing = 0 in /etc/sysctl.d",
        fix: Some(("/proc/sys/kernel/numa_balancing", "0")) },
    Rule { fact: ("kernel", "kernel.sched_autogroup_enabled"), name: "autogroup", unit: "",
        judge: |v, _| warn_unless(v == "0"),
        why: "CPU time is shared by session: a server and its clients are one group or two",
        mend: "kernel.sched_autogroup_enabled = 0 in /etc/sysctl.d",
        fix: Some(("/proc/sys/kernel/sched_autogroup_enabled", "0")) },
    Rule { fact: ("kernel", "kernel.perf_event_paranoid"), name: "perf_event_paranoid", unit: "",
        judge: |v, _| warn_unless(v.parse().is_ok_and(|n: i32| n <= 1) || is_root()),
        why: "profiles of a server need it at 1 or less, or root",
        mend: "kernel.perf_event_paranoid = 1 in /etc/sysctl.d",
        fix: Some(("/proc/sys/kernel/perf_event_paranoid", "1")) },
    Rule { fact: ("kernel", "kernel.kptr_restrict"), name: "kptr_restrict", unit: "",
        judge: |v, _| warn_unless(v == "0" || (v == "1" && is_root())),
        why: "profiles show addresses instead of the kernel's functions",
        mend: "kernel.kptr_restrict = 0 in /etc/sysctl.d",
        fix: Some(("/proc/sys/kernel/kptr_restrict", "0")) },
    Rule { fact: ("system", "cgroups"), name: "control groups", unit: "",
        judge: |_, _| State::Ok,
        why: "without control groups, memory_limit can't be used and CPU time is less exact",
        mend: "mount cgroup2", fix: None },
    Rule { fact: ("system", "virtualisation"), name: "hypervisor", unit: "",
        judge: |v, _| warn_unless(v.contains("no hypervisor")),
        why: "neighbors take CPU, cache and storage, unseen but for steal",
        mend: "compare within one run, in several blocks; never with another day's", fix: None },
    Rule { fact: ("cpu", "vulnerabilities"), name: "mitigations", unit: "",
        judge: |_, _| State::Ok, why: "", mend: "", fix: None },
    Rule { fact: ("system", "boot options"), name: "boot options", unit: "",
        judge: |_, _| State::Ok, why: "", mend: "", fix: None },
    Rule { fact: ("storage", "file system"), name: "filesystem", unit: "",
        judge: |v, _| warn_unless(["ext4", "xfs", "btrfs", "f2fs", "zfs"].contains(&v)),
        why: "this is not the storage that a server would be used with",
        mend: "name a directory on a local disk: --data-dir", fix: None },
    Rule { fact: ("storage", "mount options"), name: "mount options", unit: "",
        judge: |v, _| warn_unless(v.split(',').any(|it| it == "noatime" || it == "relatime")),
        why: "each read also writes the time of access", mend: "mount with noatime", fix: None },
    Rule { fact: ("storage", "device"), name: "device", unit: "",
        judge: |_, _| State::Ok, why: "reads and writes of the storage can't be counted",
        mend: "", fix: None },
    Rule { fact: ("storage", "scheduler"), name: "I/O scheduler", unit: "",
        judge: |v, _| warn_unless(["none", "mq-deadline", "kyber", "noop", "deadline"]
            .contains(&probe::chosen(v))),
        why: "it delays requests to be fair among processes",
        mend: "none for NVMe, mq-deadline for others",
        fix: None },
    Rule { fact: ("storage", "read_ahead_kb"), name: "readahead", unit: " KB",
        judge: |v, _| warn_unless(v.parse().is_ok_and(|kb: u32| kb <= 512)),
        why: "mapped files read that much for each page: RocksDB 7.3.1 with mmap reads 5 MB for a \
              value of 400 bytes at 8 MB, and gets 67 times fewer",
        mend: "blockdev --setra 256 DEVICE, and a udev rule to keep it",
        fix: Some(("/sys/block/DEVICE/queue/read_ahead_kb", "128")) },
    Rule { fact: ("storage", "write_cache"), name: "write cache", unit: "",
        judge: |_, _| State::Ok, why: "", mend: "", fix: None },
    Rule { fact: ("storage", "discard_max_bytes"), name: "discard", unit: " bytes at most",
        judge: |v, _| warn_unless(v != "0"),
        why: "an SSD that isn't told what is free gets slower with each run",
        mend: "a device that supports discard, mounted with discard, or fstrim between runs",
        fix: None },
];

/// Dirty pages may grow to a few gigabytes at most.
fn dirty(ratio: &str, all: &All<'_>) -> State {
    /// 4 GiB in bytes: what a fast disk writes in a few seconds.
    const MOST: f64 = 4.0 * (1_u64 << 30) as f64;
    if all.number("kernel", "vm.dirty_bytes").is_some_and(|bytes| bytes > 0.0 && bytes <= MOST) {
        return State::Ok;
    }
    let memory = all.get("memory", "total").and_then(bytes);
    let share: Option<f64> = ratio.parse().ok();
    match memory.zip(share) {
        Some((memory, percent)) => warn_unless(memory * percent / 100.0 <= MOST),
        None => State::Unknown,
    }
}

/// `15.6 GB` in bytes, as `probe` writes it: 15.6 × 2^30.
fn bytes(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let shift = match unit {
        "KB" => 10,
        "MB" => 20,
        "GB" => 30,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * (1_u64 << shift) as f64)
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Checks how the machine is set up, for data in `data_dir`.
pub fn settings(data_dir: &Path) -> Vec<Finding> {
    let facts = probe::host_facts(data_dir);
    let mut findings = judged(&facts, Path::new("/"));
    findings.extend(own(Path::new("/"), data_dir));
    findings
}

fn judged(facts: &[Fact], root: &Path) -> Vec<Finding> {
    let all = All(facts);
    let judge = |rule: &Rule| {
        let (group, name) = rule.fact;
        let Some(fact) = facts.iter().find(|fact| fact.group == group && fact.name == name) else {
            let found = "this machine doesn't say";
            return Finding::new(rule.name, State::Unknown, found).advise(rule.why, "");
        };
        if let Some(reason) = fact.value.strip_prefix("unknown: ") {
            return Finding::new(rule.name, State::Unknown, reason).advise(rule.why, "");
        }
        let state = (rule.judge)(&fact.value, &all);
        let found = format!("{}{}", fact.value, rule.unit);
        let device = all.get("storage", "device");
        let mend = rule.mend.replace("DEVICE", &format!("/dev/{}", device.unwrap_or("DEVICE")));
        let mut finding = Finding::new(rule.name, state, found).advise(rule.why, &mend);
        if let (State::Warn | State::Fail, Some((file, value))) = (state, rule.fix) {
            let files = files_of(file, device, root);
            finding.fix = (!files.is_empty()).then(|| Fix { files, value: value.to_owned() });
        }
        finding
    };
    RULES.iter().map(judge).collect()
}

/// The files that exist of a rule's, below `root`.
fn files_of(file: &str, device: Option<&str>, root: &Path) -> Vec<PathBuf> {
    debug_assert!(file.starts_with("/sys") || file.starts_with(SYS));
    let file = file.replace("DEVICE", device.unwrap_or("none"));
    let below = |path: &str| root.join(path.trim_start_matches('/'));
    let Some((before, after)) = file.split_once("/*/") else {
        return Some(below(&file)).filter(|file| file.exists()).into_iter().collect();
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(below(before))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join(after))
        .filter(|file| file.exists())
        .collect();
    files.sort_unstable();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(of: &[(&str, &str, &str)]) -> Vec<Fact> {
        let fact = |(group, name, value): &(&str, &str, &str)| {
            let [group, name, value] = [group, name, value].map(|text| (*text).to_owned());
            Fact { group, name, value }
        };
        of.iter().map(fact).collect()
    }

    fn state(of: &[(&str, &str, &str)], name: &str) -> State {
        let found = judged(&facts(of), Path::new("/nonexistent"));
        found.into_iter().find(|finding| finding.name == name).unwrap().state
    }

    #[test]
    fn what_spoils_results_is_found() {
        for (group, fact, name, bad, good) in [
            ("cpu", "frequency governor", "governor", "powersave", "performance"),
            ("cpu", "frequency governor", "governor", "performance, powersave", "performance"),
            ("cpu", "boost", "boost", "on", "off"),
            ("cpu", "SMT", "SMT", "on", "notsupported"),
            ("memory", "THP", "transparent huge pages", "always", "madvise"),
            ("kernel", "vm.swappiness", "swappiness", "60", "1"),
            ("kernel", "vm.overcommit_memory", "memory overcommit", "2", "0"),
            ("storage", "file system", "filesystem", "tmpfs", "xfs"),
            ("storage", "read_ahead_kb", "readahead", "8192", "128"),
            ("storage", "scheduler", "I/O scheduler", "mq-deadline [bfq] none", "[none] bfq"),
            ("storage", "discard_max_bytes", "discard", "0", "2147450880"),
            ("system", "virtualisation", "hypervisor", "virtual machine", "no hypervisor seen"),
        ] {
            assert_eq!(state(&[(group, fact, bad)], name), State::Warn, "{name} {bad}");
            assert_eq!(state(&[(group, fact, good)], name), State::Ok, "{name} {good}");
        }
        assert_eq!(state(&[("system", "clock source", "hpet")], "clock source"), State::Fail);
        assert_eq!(state(&[("system", "clock source", "tsc")], "clock source"), State::Ok);
    }

    #[test]
    fn dirty_pages_are_judged_by_the_size_of_memory() {
        let of = |total, ratio, bytes| {
            let facts = [
                ("memory", "total", total),
                ("kernel", "vm.dirty_ratio", ratio),
                ("kernel", "vm.dirty_bytes", bytes),
            ];
            state(&facts, "dirty pages")
        };
        assert_eq!(of("15.6 GB", "20", "0"), State::Ok);
        assert_eq!(of("251.6 GB", "20", "0"), State::Warn);
        assert_eq!(of("251.6 GB", "0", "1073741824"), State::Ok);
        assert_eq!(of("much", "20", "0"), State::Unknown);
    }

    #[test]
    fn what_cannot_be_seen_is_neither_good_nor_bad() {
        let unknown = [("cpu", "frequency governor", "unknown: no frequency driver")];
        let finding = judged(&facts(&unknown), Path::new("/")).remove(0);
        assert_eq!((finding.state, &*finding.found), (State::Unknown, "no frequency driver"));
        assert!(!finding.why.is_empty() && finding.mend.is_empty() && finding.fix.is_none());
        assert_eq!(state(&[], "boost"), State::Unknown);
    }

    #[test]
    fn fixes_name_files_that_exist() {
        let root = tempfile::tempdir().unwrap();
        for cpu in ["cpu0", "cpu1", "cpuidle"] {
            let directory = root.path().join("sys/devices/system/cpu").join(cpu);
            std::fs::create_dir_all(directory.join("cpufreq")).unwrap();
            if cpu != "cpuidle" {
                std::fs::write(directory.join("cpufreq/scaling_governor"), "powersave").unwrap();
            }
        }
        let found = judged(&facts(&[("cpu", "frequency governor", "powersave")]), root.path());
        let fix = found[0].fix.clone().unwrap();
        assert_eq!((fix.files.len(), &*fix.value), (2, "performance"));
        let undo = root.path().join("undo.sh");
        crate::mend(&found, &undo, |_, _| ()).unwrap();
        assert_eq!(std::fs::read_to_string(&fix.files[1]).unwrap(), "performance");
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(bytes("2 GB"), Some(2_147_483_648.0));
        assert_eq!(bytes("2 apples"), None);
    }
}
