//! Which machine something ran on, from the facts recorded with it.

use std::collections::{BTreeMap, BTreeSet};

use store::{HostFact, Trial, TrialId, TrialState, Warning};

/// Facts that distinguish types of machines and their storage, with a name for each. Not the name
/// of the device, which may be another after a reboot.
const TYPE: [(&str, &str, &str); 5] = [
    ("cpu", "cores", "cores"),
    ("cpu", "threads", "threads"),
    ("storage", "model", "storage"),
    ("storage", "size", "size of storage"),
    ("storage", "file system", "filesystem"),
];
/// With fewer trials than this, a variance says too little about a machine.
pub(crate) const ENOUGH_TRIALS: usize = 3;
/// How many machines a warning names.
const NAMED: usize = 3;
/// Digits of an id that are shown.
const DIGITS: usize = 8;

/// A machine as it was at some time.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Machine {
    /// Model of the processor.
    model: Option<String>,
    /// The other facts that make its type, in the order of [`TYPE`].
    facts: [Option<String>; TYPE.len()],
    /// A hash of the installation's id; different for two machines of one type.
    id: Option<String>,
    /// Its name among the machines that ran the same plan, which tells cloned ones apart.
    node: Option<String>,
    /// Release and build of the kernel.
    kernel: [Option<String>; 2],
}

impl Machine {
    /// Reads it from recorded facts. What they don't say is unknown.
    pub fn of(facts: &[HostFact]) -> Self {
        let fact = |group: &str, name: &str| {
            let found = facts.iter().find(|fact| fact.group == group && fact.name == name)?;
            (!found.value.starts_with("unknown")).then(|| found.value.clone())
        };
        Self {
            model: fact("cpu", "model"),
            facts: TYPE.map(|(group, name, _)| fact(group, name)),
            id: fact("system", "machine id"),
            node: fact("system", "node"),
            kernel: ["kernel", "kernel build"].map(|name| fact("system", name)),
        }
    }

    /// The differences from `other`, for people; empty if no known fact differs. Results from two
    /// machines that differ must not be paired.
    pub fn differs_from(&self, other: &Self) -> Vec<String> {
        let differ = |one: &Option<String>, other: &Option<String>| {
            one.as_ref()
                .zip(other.as_ref())
                .filter(|(one, other)| one != other)
                .map(|(one, other)| (one.clone(), other.clone()))
        };
        let mut found = Vec::new();
        // That a submission's machines are several is meant.
        let named = self.node.is_some() && other.node.is_some();
        if let Some((one, other)) = differ(&self.id, &other.id).filter(|_| !named) {
            found.push(format!("id {} instead of {}", short(&one), short(&other)));
        }
        let mut say = |name: &str, pair: Option<(String, String)>| {
            found.extend(pair.map(|(one, other)| format!("{name} {one} instead of {other}")));
        };
        say("processor", differ(&self.model, &other.model));
        for ((.., name), (one, other)) in TYPE.iter().zip(self.facts.iter().zip(&other.facts)) {
            say(name, differ(one, other));
        }
        let [release, build] = [0, 1].map(|at| differ(&self.kernel[at], &other.kernel[at]));
        let release = release.map(|(one, other)| (format!("kernel {one}"), other));
        match (release, build) {
            (Some((one, other)), _) => found.push(format!("{one} instead of {other}")),
            (None, Some(_)) => {
                let release = self.kernel[0].clone().unwrap_or_default();
                found.push(format!("another build of kernel {release}"));
            }
            (None, None) => {}
        }
        found
    }

    /// Its type: the model of its processor.
    pub(crate) fn model(&self) -> &str {
        self.model.as_deref().unwrap_or("unknown machine")
    }

    /// Its name alone: type, id and kernel.
    pub(crate) fn name(&self) -> String {
        let kernel = self.kernel[0].as_ref().map(|release| format!(", kernel {release}"));
        let known = self.node.clone().unwrap_or_else(|| self.short_id());
        format!("{} ({known}{})", self.model(), kernel.unwrap_or_default())
    }

    fn short_id(&self) -> String {
        self.id.as_ref().map_or("id unknown".to_owned(), |id| format!("id {}", short(id)))
    }

    fn is_of_type(&self, other: &Self) -> bool {
        (&self.model, &self.facts) == (&other.model, &other.facts)
    }
}

/// Names for machines in tables, in the same order, and as short as possible: by type, by name or
/// id if there are several machines of one type, and by kernel if a machine had several. A machine
/// without an id is taken for the only one of its type that has an id; if there are several, it is
/// a machine of its own.
pub(crate) fn names(machines: &[Machine]) -> Vec<String> {
    let of_type = |machine: &Machine| -> Vec<&Machine> {
        machines.iter().filter(|other| other.is_of_type(machine)).collect()
    };
    let name = |machine: &Machine| {
        let namesakes = || machines.iter().filter(|other| other.model == machine.model);
        let telling = TYPE.iter().zip(&machine.facts).enumerate().filter_map(|(at, it)| {
            let ((.., name), fact) = it;
            let differs = namesakes().any(|other| other.facts[at] != *fact);
            Some(format!("{name} {}", fact.as_ref().filter(|_| differs)?))
        });
        let mut parts: Vec<String> = telling.collect();
        let mut alike = of_type(machine);
        // The name that a person gave it says more than an id.
        if several(&alike, |other| other.node.as_ref()) {
            parts.push(machine.node.clone().unwrap_or_else(|| "name unknown".to_owned()));
            alike.retain(|other| other.node == machine.node);
        }
        if several(&alike, |other| other.id.as_ref()) {
            parts.push(machine.short_id());
            alike.retain(|other| other.id == machine.id);
        }
        let known = |place: usize| machine.kernel[place].as_deref().unwrap_or("unknown");
        if several(&alike, |other| other.kernel[0].as_ref()) {
            parts.push(format!("kernel {}", known(0)));
            alike.retain(|other| other.kernel[0] == machine.kernel[0]);
        }
        if several(&alike, |other| other.kernel[1].as_ref()) {
            parts.push(format!("kernel build {}", known(1)));
        }
        match parts.is_empty() {
            true => machine.model().to_owned(),
            false => format!("{} ({})", machine.model(), parts.join(", ")),
        }
    };
    machines.iter().map(name).collect()
}

/// True if machines have more than one known value of a fact.
fn several<'a>(machines: &[&'a Machine], fact: impl Fn(&'a Machine) -> Option<&'a String>) -> bool {
    machines.iter().filter_map(|machine| fact(machine)).collect::<BTreeSet<_>>().len() > 1
}

/// The warning about an experiment whose results are of several machines, or of several states of
/// one, as after it was resumed.
pub(crate) fn changed(
    hosts: &[(Vec<HostFact>, Vec<TrialId>)],
    trials: &[Trial],
) -> Option<Warning> {
    let mut found: Vec<(Machine, BTreeSet<u32>)> = Vec::new();
    for (facts, ran) in hosts {
        let results = trials.iter().filter(|trial| trial.state == TrialState::Finished);
        let blocks: BTreeSet<u32> =
            results.filter(|trial| ran.contains(&trial.id)).map(|trial| trial.block).collect();
        if blocks.is_empty() {
            continue;
        }
        let machine = Machine::of(facts);
        match found.iter_mut().find(|(known, _)| machine.differs_from(known).is_empty()) {
            Some((_, known)) => known.extend(blocks),
            None => found.push((machine, blocks)),
        }
    }
    let (first, rest) = found.split_first().filter(|(_, rest)| !rest.is_empty())?;
    if found.len() > NAMED {
        let text = format!("the blocks ran on {} machines, or states of them", found.len());
        return Some(Warning::new("machine-changed", text));
    }
    let mut parts = vec![format!("{} on {}", blocks(&first.1), first.0.name())];
    parts.extend(rest.iter().map(|(machine, ran)| {
        format!("{} on another: {}", blocks(ran), machine.differs_from(&first.0).join(", "))
    }));
    let mut text = format!("not all ran on one machine and storage: {}", parts.join("; "));
    let all: usize = found.iter().map(|(_, blocks)| blocks.len()).sum();
    let distinct: BTreeSet<&u32> = found.iter().flat_map(|(_, blocks)| blocks).collect();
    text.push_str(match all == distinct.len() {
        true => ". Each block is of one, so its ratios are; what they depend on may differ",
        false => ". A block of several compares machines, not variants",
    });
    Some(Warning::new("machine-changed", text))
}

/// The machine of each block, as its name or id and its type, if there are several machines: two
/// whose names or ids are known and differ, not one in two states. Empty if the blocks are of one
/// machine, or a block is of several.
pub(crate) fn of_blocks(
    hosts: &[(Vec<HostFact>, Vec<TrialId>)],
    trials: &[Trial],
) -> BTreeMap<u32, (String, String)> {
    let mut found = BTreeMap::new();
    for (facts, ran) in hosts {
        let finished = |trial: &&Trial| trial.state == TrialState::Finished && trial.block > 0;
        let counted = trials.iter().filter(finished).filter(|trial| ran.contains(&trial.id));
        let mut counted = counted.peekable();
        if counted.peek().is_none() {
            continue;
        }
        let machine = Machine::of(facts);
        let Some(id) = machine.node.clone().or_else(|| machine.id.clone()) else {
            return BTreeMap::new();
        };
        let named = (id, machine.model().to_owned());
        for trial in counted {
            let known = found.entry(trial.block).or_insert_with(|| named.clone());
            if *known != named {
                return BTreeMap::new();
            }
        }
    }
    let names: BTreeSet<&String> = found.values().map(|(name, _)| name).collect();
    if names.len() > 1 { found } else { BTreeMap::new() }
}

/// Numbers of blocks for people: `blocks 1 to 3, 5`.
fn blocks(numbers: &BTreeSet<u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers.iter().filter(|number| **number > 0) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let shown = runs.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    let word = match &runs[..] {
        [] => "",
        [(first, last)] if first == last => "block ",
        _ => "blocks ",
    };
    let load = if numbers.contains(&0) { "the load" } else { "" };
    let and = if load.is_empty() || runs.is_empty() { "" } else { " and " };
    format!("{load}{and}{word}{shown}")
}

fn short(id: &str) -> String {
    id.chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(model: &str, cores: &str, id: &str, kernel: &str) -> Machine {
        let fact = |group: &str, name: &str, value: &str| HostFact {
            group: group.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        };
        Machine::of(&[
            fact("cpu", "model", model),
            fact("cpu", "cores", cores),
            fact("storage", "model", "unknown: there is no device"),
            fact("storage", "file system", "ext4"),
            fact("system", "machine id", if id.is_empty() { "unknown: none" } else { id }),
            fact("system", "kernel", kernel),
        ])
    }

    #[test]
    fn machines_of_one_type_are_told_apart() {
        let one = machine("A", "8", "11111111aa", "6.1");
        let other = machine("A", "8", "22222222bb", "6.1");
        let old = machine("A", "8", "", "5.10");
        let wide = machine("A", "16", "33333333cc", "6.1");
        assert_eq!(names(&[one.clone(), other.clone()]), ["A (id 11111111)", "A (id 22222222)"]);
        // Results from before there were ids.
        assert_eq!(names(&[old.clone(), old.clone()]), ["A", "A"]);
        assert_eq!(
            names(&[old.clone(), one.clone()]),
            ["A (kernel 5.10)", "A (kernel 6.1)"],
            "one machine or two"
        );
        assert_eq!(
            names(&[old, one.clone(), other]),
            ["A (id unknown)", "A (id 11111111)", "A (id 22222222)"]
        );
        assert_eq!(names(&[one.clone(), wide]), ["A (cores 8)", "A (cores 16)"]);
        // Results from two kernels are not of one machine.
        let updated = machine("A", "8", "11111111aa", "6.6");
        assert_eq!(names(&[one.clone(), updated.clone()]), ["A (kernel 6.1)", "A (kernel 6.6)"]);
        let other = machine("A", "8", "22222222bb", "6.1");
        assert_eq!(
            names(&[one, updated, other]),
            ["A (id 11111111, kernel 6.1)", "A (id 11111111, kernel 6.6)", "A (id 22222222)"]
        );
        assert_eq!(names(&[Machine::default()]), ["unknown machine"]);
    }

    #[test]
    fn blocks_are_shown_as_ranges() {
        let shown = |numbers: &[u32]| blocks(&numbers.iter().copied().collect());
        assert_eq!(shown(&[2]), "block 2");
        assert_eq!(shown(&[1, 2, 3, 5, 7, 8]), "blocks 1 to 3, 5, 7, 8");
        assert_eq!(shown(&[0]), "the load");
        assert_eq!(shown(&[0, 1]), "the load and block 1");
    }

    #[test]
    fn what_differs_is_said() {
        let one = machine("A", "8", "11111111aa", "6.1");
        let says = |other: &Machine| one.differs_from(other).join("; ");
        assert_eq!(says(&one), "");
        assert_eq!(says(&Machine::default()), "", "what is unknown is no difference");
        assert_eq!(
            says(&machine("A", "8", "22222222bb", "6.1")),
            "id 11111111 instead of 22222222"
        );
        assert_eq!(
            says(&machine("B", "16", "11111111aa", "6.6")),
            "processor A instead of B; cores 8 instead of 16; kernel 6.1 instead of 6.6"
        );
        let mut other = one.clone();
        other.facts[4] = Some("tmpfs".to_owned());
        assert_eq!(says(&other), "filesystem ext4 instead of tmpfs");
        assert_eq!(names(&[one.clone(), other]), ["A (filesystem ext4)", "A (filesystem tmpfs)"]);
        assert_eq!(one.name(), "A (id 11111111, kernel 6.1)");
    }
}
