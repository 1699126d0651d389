//! Where client threads and the processes that serve them run.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use super::{Cpu, Topology};

/// How a client thread and the process that serves it are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pinning {
    /// Both on the same logical CPU.
    Colocated,
    /// Each on a core of its own, anywhere on the machine.
    Random,
    /// On two hardware threads of one core.
    Smt,
    /// On two cores that share an L3 cache.
    Ccx,
    /// On two cores of one NUMA node.
    Node,
}

/// The CPUs of a client thread and of the process that serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The client thread's CPU.
    pub client: usize,
    /// The server process's CPU.
    pub server: usize,
}

/// The machine cannot do a pinning with any number of clients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("pinning {pinning} needs {}, found {found}; {}", .pinning.needs(), remedy(*.pinning, .possible))]
pub struct Impossible {
    /// The pinning.
    pub pinning: Pinning,
    /// The machine's CPUs, in words.
    pub found: String,
    /// The pinnings that the machine can do.
    pub possible: Vec<Pinning>,
}

impl Pinning {
    /// All of them.
    pub const ALL: [Pinning; 5] =
        [Pinning::Colocated, Pinning::Random, Pinning::Smt, Pinning::Ccx, Pinning::Node];

    /// Its name in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Pinning::Colocated => "colocated",
            Pinning::Random => "random",
            Pinning::Smt => "smt",
            Pinning::Ccx => "ccx",
            Pinning::Node => "node",
        }
    }

    /// The pinning of this name.
    pub fn named(name: &str) -> Option<Pinning> {
        Pinning::ALL.into_iter().find(|pinning| pinning.name() == name)
    }

    fn needs(self) -> &'static str {
        match self {
            Pinning::Colocated => "a CPU that this process may use",
            Pinning::Random => "two cores that this process may use",
            Pinning::Smt => "a core with two hardware threads that this process may use",
            Pinning::Ccx => "two cores that share an L3 cache and that this process may use",
            Pinning::Node => "two cores of one NUMA node that this process may use",
        }
    }
}

impl fmt::Display for Pinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn remedy(pinning: Pinning, possible: &[Pinning]) -> String {
    let names: Vec<&str> = possible.iter().map(|pinning| pinning.name()).collect();
    let first = if pinning == Pinning::Smt { "turn SMT on, " } else { "" };
    match names.as_slice() {
        [] => format!("{first}allow it more CPUs or use pinning none"),
        names => format!("{first}allow it more CPUs or use pinning {} or none", names.join(", ")),
    }
}

impl Topology {
    /// Draws the CPUs of `clients` pairs. `below` returns a uniform number below its argument; the
    /// same numbers give the same pairs.
    ///
    /// No core has members of two pairs while the pinning could use a free core instead; after
    /// that, idle hardware threads of used cores are filled. When all are used, it starts over, so
    /// any number of clients is spread evenly.
    ///
    /// # Errors
    /// If the machine cannot do the pinning.
    pub fn place(
        &self,
        pinning: Pinning,
        clients: usize,
        below: &mut dyn FnMut(u64) -> u64,
    ) -> Result<Vec<Pair>, Impossible> {
        if self.free_until(pinning) == 0 {
            return Err(Impossible {
                pinning,
                found: self.found(pinning),
                possible: self.possible(),
            });
        }
        let mut groups: Vec<Group> = self.groups(pinning).into_iter().map(Group::new).collect();
        let mut pairs = Vec::with_capacity(clients);
        while pairs.len() < clients {
            let mut round: Vec<Ranked> =
                groups.iter_mut().flat_map(|group| group.round(pinning, below)).collect();
            shuffle(&mut round, below);
            round.sort_by_key(|ranked| ranked.rank);
            pairs.extend(round.iter().map(|ranked| ranked.pair).take(clients - pairs.len()));
        }
        Ok(pairs)
    }

    /// The largest number of clients with which no core has members of two pairs; 0 if the machine
    /// cannot do the pinning.
    pub fn free_until(&self, pinning: Pinning) -> usize {
        let pairs = |cores: Vec<Vec<usize>>| match pinning {
            Pinning::Colocated => cores.len(),
            Pinning::Smt => cores.iter().filter(|threads| threads.len() > 1).count(),
            Pinning::Random | Pinning::Ccx | Pinning::Node => cores.len() / 2,
        };
        self.groups(pinning).into_iter().map(pairs).sum()
    }

    /// The pinnings that the machine can do.
    pub fn possible(&self) -> Vec<Pinning> {
        Pinning::ALL.into_iter().filter(|pinning| self.free_until(*pinning) > 0).collect()
    }

    /// The groups that a pair must not leave, each as cores, each as numbers of CPUs. A CPU whose
    /// core is unknown counts as a core.
    fn groups(&self, pinning: Pinning) -> Vec<Vec<Vec<usize>>> {
        let groups = match pinning {
            Pinning::Colocated | Pinning::Random | Pinning::Smt => self.grouped(|_| Some(0)),
            Pinning::Ccx => self.grouped(|cpu| cpu.ccx),
            Pinning::Node => self.grouped(|cpu| cpu.node),
        };
        groups.into_iter().map(|group| cores(&group)).collect()
    }

    /// The reason why a pinning is impossible.
    fn found(&self, pinning: Pinning) -> String {
        let number = |count: usize, what: &str| {
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        let cores = cores(&self.cpus);
        let none = match pinning {
            Pinning::Ccx => "no information about L3 caches in /sys (usual in virtual machines)",
            Pinning::Node => "no information about NUMA nodes in /sys",
            Pinning::Smt if self.cpus.iter().any(|cpu| cpu.core.is_none()) => {
                "no information about cores in /sys"
            }
            _ => "no CPUs",
        };
        let count = self.groups(pinning).len();
        match pinning {
            _ if self.cpus.is_empty() => "no CPUs".to_owned(),
            Pinning::Colocated | Pinning::Random => number(cores.len(), "core"),
            Pinning::Smt if self.cpus.iter().all(|cpu| cpu.core.is_some()) => {
                format!("{} with one thread each", number(cores.len(), "core"))
            }
            Pinning::Ccx if count > 0 => {
                format!("{} with one usable core each", number(count, "L3 cache"))
            }
            Pinning::Node if count > 0 => {
                format!("{} with one usable core each", number(count, "NUMA node"))
            }
            _ => none.to_owned(),
        }
    }
}

/// The numbers of the CPUs of each core.
fn cores(cpus: &[Cpu]) -> Vec<Vec<usize>> {
    let mut cores: BTreeMap<(bool, usize), Vec<usize>> = BTreeMap::new();
    for cpu in cpus {
        // Known cores have lower keys, so that the two kinds never meet.
        let key = cpu.core.map_or((true, cpu.number), |core| (false, core));
        cores.entry(key).or_default().push(cpu.number);
    }
    cores.into_values().collect()
}

/// A pair and its rank in its round: pairs on unused cores have rank 0 and come first.
struct Ranked {
    pair: Pair,
    rank: usize,
}

/// A hardware thread in the order of drawing.
struct Thread {
    cpu: usize,
    /// Index of its core in the group.
    core: usize,
    /// How many threads of its core come before it.
    rank: usize,
}

/// Cores among which pairs are drawn.
struct Group {
    cores: Vec<Vec<usize>>,
    /// The rest of the last round: it comes first in the next.
    deck: VecDeque<Thread>,
}

impl Group {
    fn new(cores: Vec<Vec<usize>>) -> Group {
        Group { cores, deck: VecDeque::new() }
    }

    /// Forms pairs until all threads of the group are used, except those that cannot be paired.
    fn round(&mut self, pinning: Pinning, below: &mut dyn FnMut(u64) -> u64) -> Vec<Ranked> {
        for threads in &mut self.cores {
            shuffle(threads, below);
        }
        match pinning {
            Pinning::Colocated => {
                self.deal(below);
                let both = |thread: Thread| Ranked::new(thread.cpu, thread.cpu, thread.rank);
                self.deck.drain(..).map(both).collect()
            }
            Pinning::Smt => {
                let of_core = |threads: &Vec<usize>| {
                    let pairs: Vec<_> = threads.as_chunks().0.to_vec();
                    pairs.into_iter().enumerate()
                };
                let ranked = |(rank, [client, server]): (usize, [usize; 2])| {
                    Ranked::new(client, server, rank)
                };
                self.cores.iter().flat_map(of_core).map(ranked).collect()
            }
            Pinning::Random | Pinning::Ccx | Pinning::Node => {
                self.deal(below);
                std::iter::from_fn(|| self.two_cores()).collect()
            }
        }
    }

    /// Puts all threads on the deck: one of each core in random order, then a second of each, ….
    fn deal(&mut self, below: &mut dyn FnMut(u64) -> u64) {
        // More than one is left only where a single core has more threads than all others.
        self.deck.truncate(1);
        self.deck.iter_mut().for_each(|thread| thread.rank = 0);
        let most = self.cores.iter().map(Vec::len).max().unwrap_or(0);
        for rank in 0..most {
            let thread = |(core, threads): (usize, &Vec<usize>)| {
                Some(Thread { cpu: *threads.get(rank)?, core, rank })
            };
            let mut pass: Vec<Thread> = self.cores.iter().enumerate().filter_map(thread).collect();
            shuffle(&mut pass, below);
            self.deck.extend(pass);
        }
    }

    /// Takes the next thread and the next one on another core.
    fn two_cores(&mut self) -> Option<Ranked> {
        let core = self.deck.front()?.core;
        let place = self.deck.iter().position(|thread| thread.core != core)?;
        let (server, client) = (self.deck.remove(place)?, self.deck.pop_front()?);
        Some(Ranked::new(client.cpu, server.cpu, client.rank + server.rank))
    }
}

impl Ranked {
    fn new(client: usize, server: usize, rank: usize) -> Ranked {
        Ranked { pair: Pair { client, server }, rank }
    }
}

/// Fisher and Yates' shuffle, in Durstenfeld's form ("Algorithm 235: Random permutation", 1964).
fn shuffle<T>(values: &mut [T], below: &mut dyn FnMut(u64) -> u64) {
    for last in (1..values.len()).rev() {
        // A generator that breaks its promise must not panic here.
        let other = usize::try_from(below(last as u64 + 1)).map_or(last, |other| other.min(last));
        values.swap(last, other);
    }
}
