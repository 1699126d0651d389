//! The processors: model, topology, frequency control, vulnerabilities and mitigations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::facts::Facts;
use crate::files::read_trimmed;

pub(super) fn add(facts: &mut Facts, sys: &Path, proc: &Path) {
    let text = read_trimmed(proc.join("cpuinfo")).unwrap_or_default();
    let cpus = sys.join("devices/system/cpu");
    // Arm prints numbers of the implementer and the part instead of a name.
    let model =
        value_of(&text, "model name").or_else(|| value_of(&text, "cpu model")).or_else(|| {
            let implementer = value_of(&text, "CPU implementer")?;
            Some(format!("implementer {implementer} part {}", value_of(&text, "CPU part")?))
        });
    facts.add_or("cpu", "model", model, "/proc/cpuinfo names none");
    facts.add_or("cpu", "microcode", value_of(&text, "microcode"), "/proc/cpuinfo has none");
    let topology = Topology::read(&cpus);
    let why = "/sys/devices/system/cpu shows no topology";
    let count = |number: usize| (number > 0).then(|| number.to_string());
    facts.add_or("cpu", "sockets", count(topology.sockets.len()), why);
    facts.add_or("cpu", "cores", count(topology.cores.len()), why);
    facts.add_or("cpu", "threads", count(topology.threads), why);
    let usable = std::thread::available_parallelism().ok().map(|n| n.to_string());
    facts.add_or("cpu", "usable by this process", usable, "the kernel does not say");
    let smt = read_trimmed(cpus.join("smt/control"));
    facts.add_or("cpu", "SMT", smt, "this kernel does not say");
    let nodes = read_trimmed(sys.join("devices/system/node/online"));
    facts.add_or("cpu", "NUMA nodes", nodes, "/sys/devices/system/node is missing");

    let no_driver = "no frequency driver (usual in virtual machines)";
    let driver = read_trimmed(cpus.join("cpu0/cpufreq/scaling_driver"));
    facts.add_or("cpu", "frequency driver", driver, no_driver);
    let governors = distinct(&cpus, "cpufreq/scaling_governor");
    facts.add_or("cpu", "frequency governor", governors, no_driver);
    let highest = distinct(&cpus, "cpufreq/cpuinfo_max_freq");
    facts.add_or("cpu", "highest frequency, kHz", highest, no_driver);
    facts.add_or("cpu", "boost", boost(&cpus), no_driver);
    let idle = read_trimmed(cpus.join("cpuidle/current_driver"));
    facts.add_or("cpu", "idle driver", idle, "this kernel does not say");
    facts.add_file_if_there("cpu", "isolated", cpus.join("isolated"));
    facts.add("cpu", "vulnerabilities", vulnerabilities(&cpus.join("vulnerabilities")));
}

/// Everything by which a C library chooses functions for this processor: its model, its features
/// and its cache.
pub fn processor() -> Vec<String> {
    features(&read_trimmed("/proc/cpuinfo").unwrap_or_default())
}

fn features(text: &str) -> Vec<String> {
    let keys = ["model name", "CPU implementer", "CPU part", "cache size", "flags", "Features"];
    let known = keys.iter().filter_map(|key| value_of(text, key));
    std::iter::once(std::env::consts::ARCH.to_owned()).chain(known).collect()
}

/// Turbo or boost, which each driver names differently.
fn boost(cpus: &Path) -> Option<String> {
    if let Some(off) = read_trimmed(cpus.join("intel_pstate/no_turbo")) {
        return Some(if off == "1" { "off" } else { "on" }.to_owned());
    }
    let on = read_trimmed(cpus.join("cpufreq/boost"))?;
    Some(if on == "1" { "on" } else { "off" }.to_owned())
}

/// Which vulnerabilities are mitigated, and how: mitigations make system calls and switches
/// expensive.
fn vulnerabilities(directory: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return "unknown: this kernel does not list them".to_owned();
    };
    let mut listed: BTreeMap<String, String> = BTreeMap::new();
    let mut unaffected = 0;
    for entry in entries.flatten() {
        let state = read_trimmed(entry.path()).unwrap_or_else(|| "unknown".to_owned());
        if state == "Not affected" {
            unaffected += 1;
        } else {
            listed.insert(entry.file_name().to_string_lossy().into_owned(), state);
        }
    }
    let mut parts: Vec<String> =
        listed.iter().map(|(name, state)| format!("{name}: {state}")).collect();
    parts.push(format!("not affected: {unaffected}"));
    parts.join("; ")
}

/// The distinct values of a file of all CPUs, like `performance` or `performance, powersave`.
fn distinct(cpus: &Path, file: &str) -> Option<String> {
    let values: BTreeSet<String> =
        numbered(cpus).filter_map(|directory| read_trimmed(directory.join(file))).collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(", "))
}

/// The directories `cpu0`, `cpu1`, ….
fn numbered(cpus: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    std::fs::read_dir(cpus).into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name();
        let number = name.to_str()?.strip_prefix("cpu")?;
        number.parse::<u32>().is_ok().then(|| entry.path())
    })
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Topology {
    sockets: BTreeSet<String>,
    /// Socket and core, because core numbers are unique only within a socket.
    cores: BTreeSet<(String, String)>,
    threads: usize,
}

impl Topology {
    /// Offline CPUs have no topology and are not counted.
    fn read(cpus: &Path) -> Topology {
        let mut topology = Topology::default();
        for directory in numbered(cpus) {
            let value = |file: &str| read_trimmed(directory.join("topology").join(file));
            if let (Some(socket), Some(core)) = (value("physical_package_id"), value("core_id")) {
                topology.threads += 1;
                topology.cores.insert((socket.clone(), core));
                topology.sockets.insert(socket);
            }
        }
        topology
    }
}

/// The first value of a `key : value` line.
fn value_of(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_tell_processors_of_one_model_apart() {
        let of = |flags: &str| features(&format!("model name\t: Example\nflags\t\t: {flags}\n"));
        assert_eq!(of("sse2 avx2")[1..], ["Example", "sse2 avx2"]);
        assert_ne!(of("sse2 avx2"), of("sse2"));
        assert!(processor().len() > 1, "{:?}", processor());
    }

    fn write(path: std::path::PathBuf, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_machine_of_two_sockets_with_smt() {
        let root = tempfile::tempdir().unwrap();
        let (sys, proc) = (root.path().join("sys"), root.path().join("proc"));
        let cpus = sys.join("devices/system/cpu");
        for cpu in 0..8 {
            let directory = cpus.join(format!("cpu{cpu}"));
            write(directory.join("topology/physical_package_id"), &format!("{}\n", cpu / 4));
            write(directory.join("topology/core_id"), &format!("{}\n", cpu % 2));
            let governor = if cpu == 0 { "powersave" } else { "performance" };
            write(directory.join("cpufreq/scaling_governor"), governor);
        }
        write(cpus.join("intel_pstate/no_turbo"), "1\n");
        write(cpus.join("vulnerabilities/meltdown"), "Mitigation: PTI\n");
        write(cpus.join("vulnerabilities/tsx"), "Not affected\n");
        write(proc.join("cpuinfo"), "processor\t: 0\nmodel name\t: Example 9000\n");
        let mut facts = Facts::default();
        add(&mut facts, &sys, &proc);
        let value = |name: &str| {
            let fact = facts.list.iter().find(|fact| fact.name == name).unwrap();
            fact.value.clone()
        };
        assert_eq!(value("model"), "Example 9000");
        assert_eq!(
            (value("sockets"), value("cores"), value("threads")),
            ("2".into(), "4".into(), "8".into())
        );
        assert_eq!(value("frequency governor"), "performance, powersave");
        assert_eq!(value("boost"), "off");
        assert_eq!(value("vulnerabilities"), "meltdown: Mitigation: PTI; not affected: 1");
        assert!(value("SMT").starts_with("unknown: "));
    }
}
