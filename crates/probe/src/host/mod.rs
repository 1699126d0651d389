//! Facts about the machine, recorded with every experiment and trial. They contain no host name,
//! serial numbers or users, because results are published. A hash tells two machines of one type
//! apart.

mod cpu;
mod facts;
mod identity;
mod storage;
mod system;

use std::path::Path;

pub use cpu::processor;
pub use facts::Fact;
pub use system::chosen;

use facts::Facts;

/// Facts about the machine with `data_dir`: CPU, memory, system, kernel settings, storage. Facts
/// that only some machines have (such as a driver's boost switch) are present only there. All
/// others are always present, if need be as `unknown: reason`.
pub fn host_facts(data_dir: &Path) -> Vec<Fact> {
    let mut facts = Facts::default();
    cpu::add(&mut facts, Path::new("/sys"), Path::new("/proc"));
    system::add(&mut facts);
    identity::add(&mut facts, Path::new("/"));
    storage::add(&mut facts, data_dir);
    facts.list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::read_trimmed;

    #[test]
    fn facts_are_there_and_named_once() {
        let facts = host_facts(Path::new("."));
        for (group, name) in [
            ("cpu", "model"),
            ("cpu", "cores"),
            ("cpu", "vulnerabilities"),
            ("memory", "total"),
            ("system", "kernel"),
            ("system", "cgroups"),
            ("system", "machine id"),
            ("storage", "file system"),
            ("storage", "device"),
            ("kernel", "vm.swappiness"),
        ] {
            let found: Vec<&Fact> =
                facts.iter().filter(|f| f.group == group && f.name == name).collect();
            assert_eq!(found.len(), 1, "{group} {name}");
            assert!(!found[0].value.is_empty(), "{group} {name}");
        }
        let mut names: Vec<(&str, &str)> =
            facts.iter().map(|f| (f.group.as_str(), f.name.as_str())).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn no_fact_holds_the_host_name() {
        let name = read_trimmed("/proc/sys/kernel/hostname").unwrap_or_default();
        // Names like "vm" are part of other words.
        if name.len() < 6 {
            return;
        }
        for fact in host_facts(Path::new("/tmp")) {
            assert!(!fact.value.contains(&name), "{fact:?}");
        }
    }

    #[test]
    fn unknown_facts_are_reported() {
        let facts = host_facts(Path::new("/proc"));
        let device = facts.iter().find(|f| f.name == "device").unwrap();
        assert!(device.value.starts_with("unknown: "), "{device:?}");
    }
}
