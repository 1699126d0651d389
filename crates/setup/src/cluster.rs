//! Text that makes a small Slurm cluster of machines to measure on.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::check::Error;

/// The names of the files, as [`Cluster::files`] has them.
const SLURM: &str = "slurm.conf";
const CGROUP: &str = "cgroup.conf";
const PROLOG: &str = "prolog.sh";
const NODE: &str = "node.sh";
const ALL: &str = "all.sh";

const SLURM_CONF: &str = include_str!("cluster/slurm.conf");
const CGROUP_CONF: &str = include_str!("cluster/cgroup.conf");
const PROLOG_SH: &str = include_str!("cluster/prolog.sh");
const NODE_SH: &str = include_str!("cluster/node.sh");
const ALL_SH: &str = include_str!("cluster/all.sh");

/// A Slurm cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The machine of the controller, which measures nothing unless it is a node, too.
    controller: String,
    /// The lines of the nodes in slurm.conf.
    nodes: Vec<String>,
    names: Vec<String>,
    partition: String,
    steelyard: String,
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterFile {
    /// Its name.
    pub name: &'static str,
    /// Its content.
    pub text: String,
    /// True if it is a script.
    pub runs: bool,
    /// What it is for.
    pub what: &'static str,
}

impl Cluster {
    /// A cluster with a controller, `NAME` or `NAME(ADDRESS)`, and machines as `slurmd -C` prints
    /// them, a line beginning with `NodeName=` for each. A line may also have `NodeAddr=` and
    /// `Feature=`. Other lines, such as `UpTime=`, are left out. Measurements run in `partition`;
    /// `steelyard` is where the command is on each machine.
    ///
    /// # Errors
    /// If there is no node, two have the same name, a line can't be one, or a name or path could
    /// not be one.
    pub fn new(
        controller: &str,
        nodes: &str,
        partition: &str,
        steelyard: &str,
    ) -> Result<Self, Error> {
        let lines = nodes.lines().map(str::trim).filter(|line| line.starts_with(NODE_NAME));
        let (mut names, mut all, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
        for line in lines {
            let mut words = line.split_whitespace();
            let name = words.next().and_then(|it| it.strip_prefix(NODE_NAME)).unwrap_or_default();
            check(
                "--nodes",
                name,
                is_name,
                "a line such as `NodeName=n1 CPUs=8 RealMemory=16000`",
            )?;
            let setting = |word: &str| {
                let (key, value) = word.split_once('=').unwrap_or_default();
                key.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && !key.is_empty()
                    && !value.is_empty()
                    && value
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b".,:-_()[]/".contains(&byte))
            };
            for word in words {
                check("--nodes", word, setting, "settings of a node, such as `CPUs=8`")?;
            }
            if !known.insert(name) {
                return Err(wrong("--nodes", "each machine once", name));
            }
            names.push(name.to_owned());
            all.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        if all.is_empty() {
            let expected =
                "lines that `slurmd -C` prints on each machine, beginning with NodeName=";
            return Err(wrong("--nodes", expected, "none"));
        }
        let place = |text: &str| match text.split_once('(') {
            Some((name, address)) => {
                let address = address.strip_suffix(')').unwrap_or_default();
                is_name(name) && is_name(address)
            }
            None => is_name(text),
        };
        check("--controller", controller, place, "a host name such as head, or head(10.0.0.1)")?;
        check("--partition", partition, is_name, "a name such as bench")?;
        let path = |text: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte);
            text.starts_with('/') && text.bytes().all(plain)
        };
        check("--steelyard", steelyard, path, "a path such as /usr/local/bin/steelyard")?;
        Ok(Self {
            controller: controller.to_owned(),
            nodes: all,
            names,
            partition: partition.to_owned(),
            steelyard: steelyard.to_owned(),
        })
    }

    /// All files, in the order in which to read them.
    pub fn files(&self) -> Vec<ClusterFile> {
        let controller = self.controller.split('(').next().unwrap_or_default();
        let mut nodes = String::new();
        for node in &self.nodes {
            // Writing to a String does not fail.
            let _ = writeln!(nodes, "{node} State=UNKNOWN");
        }
        let filled = |text: &str| {
            text.replace("@CONTROLLER@", &self.controller)
                .replace("@HEAD@", controller)
                .replace("@PARTITION@", &self.partition)
                .replace("@STEELYARD@", &self.steelyard)
                .replace("@MACHINES@", &self.names.join(" "))
                .replace("@NODES@\n", &nodes)
        };
        let file = |name, text, runs, what| ClusterFile { name, text: filled(text), runs, what };
        vec![
            file(SLURM, SLURM_CONF, false, "the cluster, the same on all machines"),
            file(CGROUP, CGROUP_CONF, false, "gives each job its CPUs"),
            file(PROLOG, PROLOG_SH, true, "takes machines that are not fit out of service"),
            file(NODE, NODE_SH, true, "sets up the machine it runs on, and keeps what is there"),
            file(ALL, ALL_SH, true, "runs node.sh on all machines, through ssh"),
        ]
    }
}

const NODE_NAME: &str = "NodeName=";

fn check(
    option: &'static str,
    found: &str,
    is: impl Fn(&str) -> bool,
    expected: &'static str,
) -> Result<(), Error> {
    if is(found) { Ok(()) } else { Err(wrong(option, expected, found)) }
}

fn wrong(option: &'static str, expected: &'static str, found: &str) -> Error {
    Error::Value { option, expected, found: found.to_owned() }
}

/// True for what can be a host, an address or a partition.
fn is_name(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    first && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: &str = "NodeName=n1 CPUs=8 RealMemory=16000\nUpTime=0-01:02:03\n\
                         NodeName=n2 CPUs=4  RealMemory=8000 Feature=epyc\n";

    fn text(cluster: &Cluster, name: &str) -> String {
        cluster.files().into_iter().find(|file| file.name == name).unwrap().text
    }

    #[test]
    fn the_files_name_the_machines() {
        let cluster = Cluster::new("head(10.0.0.1)", NODES, "bench", "/opt/steelyard").unwrap();
        let conf = text(&cluster, SLURM);
        for line in [
            "SlurmctldHost=head(10.0.0.1)",
            "NodeName=n1 CPUs=8 RealMemory=16000 State=UNKNOWN",
            "NodeName=n2 CPUs=4 RealMemory=8000 Feature=epyc State=UNKNOWN",
            "PartitionName=bench Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE MaxTime=INFINITE",
        ] {
            assert!(conf.lines().any(|it| it == line), "{line}:\n{conf}");
        }
        assert!(text(&cluster, ALL).contains("head=\"head\"\nmachines=\"n1 n2\"\n"));
        assert!(text(&cluster, PROLOG).contains("/opt/steelyard doctor --quick"));
        for file in cluster.files() {
            let filled = !file.text.split_whitespace().any(|word| word.matches('@').count() > 1);
            assert!(filled || file.name == ALL, "{}", file.text);
        }
    }

    #[test]
    fn what_could_break_a_file_is_refused() {
        let new = |head: &str, nodes: &str| Cluster::new(head, nodes, "bench", "/opt/steelyard");
        assert!(new("head", NODES).is_ok());
        for (head, nodes, said) in [
            ("head", "UpTime=1\n", "--nodes: expected lines that `slurmd -C` prints"),
            ("head", "NodeName=n1 CPUs=8;reboot", "--nodes: expected settings"),
            ("head", "NodeName= CPUs=8", "--nodes: expected a line"),
            ("head", "NodeName=a CPUs=1\nNodeName=a CPUs=1", "each machine once"),
            ("a b", NODES, "--controller"),
            ("head(", NODES, "--controller"),
        ] {
            let error = new(head, nodes).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(Cluster::new("h", NODES, "a b", "/x").is_err());
        assert!(Cluster::new("h", NODES, "a", "x").is_err());
    }
}
