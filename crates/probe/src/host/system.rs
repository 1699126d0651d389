//! Memory, the operating system and the kernel's settings.

use std::path::Path;

use super::facts::Facts;
use crate::files::read_trimmed;
use crate::proc::memory::parse_meminfo;

/// Kernel settings that affect the measurements of a database, by sysctl name.
const SETTINGS: &[&str] = &[
    "vm.dirty_background_bytes",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_ratio",
    "vm.dirty_writeback_centisecs",
    "vm.nr_hugepages",
    "vm.overcommit_memory",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
    "kernel.numa_balancing",
    "kernel.kptr_restrict",
    "kernel.perf_event_paranoid",
    "kernel.randomize_va_space",
    "kernel.sched_autogroup_enabled",
];

pub(super) fn add(facts: &mut Facts) {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = parse_meminfo(&text);
    let size = |kib: Option<u64>| kib.map(readable);
    let why = "/proc/meminfo does not say";
    facts.add_or("memory", "total", size(memory.total_kb), why);
    facts.add_or("memory", "swap", size(memory.swap_total_kb), why);
    facts.add_or("memory", "huge pages", memory.huge_pages.map(|n| n.to_string()), why);
    for (name, file) in [("THP", "enabled"), ("THP defrag", "defrag")] {
        let chosen = read_trimmed(Path::new("/sys/kernel/mm/transparent_hugepage").join(file))
            .map(|text| chosen(&text).to_owned());
        facts.add_or("memory", name, chosen, "this kernel has no transparent huge pages");
    }

    let release = read_trimmed("/proc/sys/kernel/osrelease");
    facts.add_or("system", "kernel", release, "/proc/sys/kernel/osrelease cannot be read");
    let build = read_trimmed("/proc/sys/kernel/version");
    facts.add_or("system", "kernel build", build, "/proc/sys/kernel/version cannot be read");
    facts.add("system", "architecture", std::env::consts::ARCH);
    facts.add_or("system", "distribution", distribution(), "no os-release file");
    facts.add("system", "virtualisation", virtualisation());
    let clocks = Path::new("/sys/devices/system/clocksource/clocksource0");
    facts.add_file("system", "clock source", clocks.join("current_clocksource"));
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    facts.add("system", "cgroups", cgroup_version(&mounts));
    facts.add_file("system", "boot options", "/proc/cmdline");
    if let Some(options) = facts.list.last_mut() {
        options.value = without_identities(&options.value);
    }
    for setting in SETTINGS {
        let path = format!("/proc/sys/{}", setting.replace('.', "/"));
        facts.add_file("kernel", setting, path);
    }
}

/// The value in force in a file of the kernel that lists them: `madvise` in `always [madvise]
/// never`; the whole text of another file.
pub fn chosen(text: &str) -> &str {
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text, |(inside, _)| inside)
}

fn distribution() -> Option<String> {
    let text = read_trimmed("/etc/os-release").or_else(|| read_trimmed("/usr/lib/os-release"))?;
    text.lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map(|name| name.trim_matches('"').to_owned())
}

/// The product's name, the hypervisor and the container, if visible.
fn virtualisation() -> String {
    let mut parts = Vec::new();
    let id = Path::new("/sys/class/dmi/id");
    for file in ["sys_vendor", "product_name"] {
        if let Some(name) = read_trimmed(id.join(file)).filter(|name| !name.is_empty()) {
            parts.push(name);
        }
    }
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let virtual_machine = flags
        .lines()
        .filter(|line| line.starts_with("flags"))
        .any(|line| line.split_ascii_whitespace().any(|flag| flag == "hypervisor"));
    match read_trimmed("/sys/hypervisor/type").filter(|name| !name.is_empty()) {
        Some(kind) => parts.push(format!("virtual machine on {kind}")),
        None if virtual_machine => parts.push("virtual machine".to_owned()),
        None => parts.push("no hypervisor seen".to_owned()),
    }
    if ["/.dockerenv", "/run/.containerenv"].iter().any(|path| Path::new(path).exists()) {
        parts.push("in a container".to_owned());
    }
    parts.join(", ")
}

fn cgroup_version(mountinfo: &str) -> String {
    let mounts = crate::proc::mounts::parse(mountinfo);
    let has = |kind: &str| mounts.iter().any(|mount| mount.fs_type == kind);
    match (has("cgroup"), has("cgroup2")) {
        (true, true) => "v1 and v2 (hybrid)",
        (true, false) => "v1",
        (false, true) => "v2",
        (false, false) => "unknown: none mounted",
    }
    .to_owned()
}

/// Boot options that affect how the machine runs. All others (addresses, names, disk ids, an
/// installer's options) are private.
const BOOT_OPTIONS: &[&str] = &[
    "clocksource",
    "cpuidle",
    "default_hugepagesz",
    "hugepages",
    "hugepagesz",
    "idle",
    "intel_idle",
    "intel_iommu",
    "intel_pstate",
    "amd_pstate",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "maxcpus",
    "mem",
    "mitigations",
    "nohz_full",
    "nokaslr",
    "nosmt",
    "notsc",
    "nr_cpus",
    "numa_balancing",
    "pci",
    "pcie_aspm",
    "preempt",
    "processor",
    "psi",
    "rcu_nocbs",
    "spectre_v2",
    "transparent_hugepage",
    "tsc",
];

fn without_identities(options: &str) -> String {
    let kept: Vec<&str> = options
        .split_ascii_whitespace()
        .filter(|option| {
            let name = option.split(['=', '.']).next().unwrap_or(option);
            BOOT_OPTIONS.contains(&name)
        })
        .collect();
    if kept.is_empty() {
        return "none that matter".to_owned();
    }
    kept.join(" ")
}

/// KiB in readable form: `23.5 GB`, `512 MB`, `0 KB`, in steps of 1024.
fn readable(kib: u64) -> String {
    const MIB: f64 = 1024.0;
    let value = kib as f64;
    if value >= MIB * MIB {
        format!("{:.1} GB", value / (MIB * MIB))
    } else if value >= MIB {
        format!("{:.0} MB", value / MIB)
    } else {
        format!("{kib} KB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_value_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen("never"), "never");
    }

    #[test]
    fn boot_options_that_identify_are_left_out() {
        let text = "BOOT_IMAGE=/vmlinuz root=UUID=1-2 ro ip=10.0.0.1::::box mitigations=off intel_idle.max_cstate=1";
        assert_eq!(without_identities(text), "mitigations=off intel_idle.max_cstate=1");
        assert_eq!(without_identities("quiet splash"), "none that matter");
    }

    #[test]
    fn cgroup_versions_are_distinguished() {
        let v2 = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let v1 = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        assert_eq!(cgroup_version(v2), "v2");
        assert_eq!(cgroup_version(v1), "v1");
        assert_eq!(cgroup_version(&format!("{v1}{v2}")), "v1 and v2 (hybrid)");
        assert!(cgroup_version("").starts_with("unknown: "));
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(readable(24_684_092), "23.5 GB");
        assert_eq!(readable(524_288), "512 MB");
        assert_eq!(readable(0), "0 KB");
    }
}
