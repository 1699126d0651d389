//! Reading the CPUs of machines from copies of `/sys`, and placing pairs on them.
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use probe::{Cpu, Pair, Pinning, Topology};
use proptest::prelude::*;

/// A uniform generator: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
fn seeded(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |bound| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(bound)) >> 64) as u64
    }
}

fn write(path: impl AsRef<Path>, text: &str) {
    std::fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    std::fs::write(path, format!("{text}\n")).unwrap();
}

/// The files of one CPU in a machine's `/sys`.
struct Entry {
    core: usize,
    socket: i32,
    siblings: String,
    third_level: Option<String>,
}

fn write_machine(sys: &Path, online: &str, cpus: &[Entry], nodes: &[&str]) {
    let directory = sys.join("devices/system/cpu");
    write(directory.join("online"), online);
    for (number, cpu) in cpus.iter().enumerate() {
        let own = directory.join(format!("cpu{number}"));
        write(own.join("topology/core_id"), &cpu.core.to_string());
        write(own.join("topology/physical_package_id"), &cpu.socket.to_string());
        write(own.join("topology/thread_siblings_list"), &cpu.siblings);
        let own_caches = [("Data", 1), ("Instruction", 1), ("Unified", 2)];
        for (index, (kind, level)) in own_caches.into_iter().enumerate() {
            let cache = own.join(format!("cache/index{index}"));
            write(cache.join("level"), &level.to_string());
            write(cache.join("type"), kind);
            write(cache.join("shared_cpu_list"), &cpu.siblings);
        }
        if let Some(list) = &cpu.third_level {
            write(own.join("cache/index3/level"), "3");
            write(own.join("cache/index3/type"), "Unified");
            write(own.join("cache/index3/shared_cpu_list"), list);
        }
    }
    for (number, list) in nodes.iter().enumerate() {
        write(sys.join(format!("devices/system/node/node{number}/cpulist")), list);
    }
}

fn distinct(topology: &Topology, by: impl Fn(&Cpu) -> Option<usize>) -> usize {
    topology.cpus().iter().filter_map(by).collect::<BTreeSet<_>>().len()
}

#[test]
fn two_sockets_of_22_cores_with_two_threads() {
    let root = tempfile::tempdir().unwrap();
    let cpus: Vec<Entry> = (0..88)
        .map(|cpu| {
            let (core, socket) = (cpu % 44, cpu % 44 / 22);
            let third = ["0-21,44-65", "22-43,66-87"][socket];
            Entry {
                // Core numbers have gaps and repeat on the other socket.
                core: core % 22 + core % 22 / 6 * 2,
                socket: socket as i32,
                siblings: format!("{core},{}", core + 44),
                third_level: Some(third.to_owned()),
            }
        })
        .collect();
    write_machine(root.path(), "0-87", &cpus, &["0-21,44-65", "22-43,66-87"]);
    let all: Vec<usize> = (0..88).collect();
    let topology = Topology::read(root.path(), &all);
    assert_eq!(topology.cpus().len(), 88);
    assert_eq!(distinct(&topology, |cpu| cpu.core), 44);
    assert_eq!(distinct(&topology, |cpu| cpu.ccx), 2);
    assert_eq!(distinct(&topology, |cpu| cpu.node), 2);
    let cpu = |core, socket, ccx, node| (Some(core), Some(socket), Some(ccx), Some(node));
    let found = topology.cpus()[70];
    assert_eq!((found.core, found.socket, found.ccx, found.node), cpu(26, 1, 22, 1));
    assert_eq!(topology.possible(), Pinning::ALL);
    let free = Pinning::ALL.map(|pinning| topology.free_until(pinning));
    assert_eq!(free, [44, 22, 44, 22, 22]);

    // Without the lists of siblings, cores are known by socket and number.
    for cpu in 0..88 {
        let directory = root.path().join(format!("devices/system/cpu/cpu{cpu}/topology"));
        std::fs::remove_file(directory.join("thread_siblings_list")).unwrap();
    }
    assert_eq!(Topology::read(root.path(), &all), topology);

    // With one thread of each core of the first socket, there is nothing for smt.
    let half = Topology::read(root.path(), &(0..22).collect::<Vec<_>>());
    assert_eq!(half.free_until(Pinning::Smt), 0);
    let error = half.place(Pinning::Smt, 1, &mut seeded(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pinning smt needs a core with two hardware threads that this process may use, found 22 \
         cores with one thread each; turn SMT on, allow it more CPUs or use pinning colocated, \
         random, ccx, node or none"
    );
}

#[test]
fn several_caches_in_each_node() {
    let root = tempfile::tempdir().unwrap();
    // 96 cores without SMT, 8 to an L3 cache, 2 nodes.
    let cpus: Vec<Entry> = (0..96)
        .map(|cpu| Entry {
            core: cpu,
            socket: 0,
            siblings: cpu.to_string(),
            third_level: Some(format!("{}-{}", cpu / 8 * 8, cpu / 8 * 8 + 7)),
        })
        .collect();
    write_machine(root.path(), "0-95", &cpus, &["0-47", "48-95"]);
    let topology = Topology::read(root.path(), &(0..96).collect::<Vec<_>>());
    assert_eq!(distinct(&topology, |cpu| cpu.ccx), 12);
    let free = Pinning::ALL.map(|pinning| topology.free_until(pinning));
    assert_eq!(free, [96, 48, 0, 48, 48]);
    // One core of each cache.
    let sparse = Topology::read(root.path(), &(0..96).step_by(8).collect::<Vec<_>>());
    let error = sparse.place(Pinning::Ccx, 1, &mut seeded(1)).unwrap_err().to_string();
    assert!(error.contains("found 12 L3 caches with one usable core each"), "{error}");
    assert_eq!(sparse.possible(), [Pinning::Colocated, Pinning::Random, Pinning::Node]);
}

#[test]
fn a_virtual_machine_that_shows_little() {
    let root = tempfile::tempdir().unwrap();
    let cpus: Vec<Entry> = (0..2)
        .map(|cpu| Entry { core: 0, socket: -1, siblings: cpu.to_string(), third_level: None })
        .collect();
    write_machine(root.path(), "0-1", &cpus, &[]);
    let topology = Topology::read(root.path(), &[0, 1, 2, 3]);
    let cpu = |number| Cpu { number, core: Some(number), socket: None, ccx: None, node: None };
    assert_eq!(topology.cpus(), [cpu(0), cpu(1)]);
    assert_eq!(topology.possible(), [Pinning::Colocated, Pinning::Random]);
    let error = topology.place(Pinning::Ccx, 1, &mut seeded(1)).unwrap_err().to_string();
    assert!(error.contains("found no information about L3 caches"), "{error}");
    assert!(error.ends_with("allow it more CPUs or use pinning colocated, random or none"));
    let error = topology.place(Pinning::Node, 1, &mut seeded(1)).unwrap_err().to_string();
    assert!(error.contains("no information about NUMA nodes"), "{error}");

    let one = Topology::read(root.path(), &[1]);
    let error = one.place(Pinning::Random, 1, &mut seeded(1)).unwrap_err().to_string();
    assert!(error.contains("needs two cores that this process may use, found 1 core; "), "{error}");
    let colocated = one.place(Pinning::Colocated, 2, &mut seeded(1)).unwrap();
    assert_eq!(colocated, [Pair { client: 1, server: 1 }; 2]);
    // A machine without anything.
    let empty = tempfile::tempdir().unwrap();
    let none = Topology::read(empty.path(), &[0]);
    assert!(none.cpus().is_empty() && none.possible().is_empty());
    let error = none.place(Pinning::Colocated, 1, &mut seeded(1)).unwrap_err().to_string();
    assert!(error.contains("found no CPUs; allow it more CPUs or use pinning none"), "{error}");
}

#[test]
fn cpus_that_are_offline_are_left_out() {
    let root = tempfile::tempdir().unwrap();
    let siblings = ["0,4", "1", "2,6", "3,7", "0,4", "", "2,6", "3,7"];
    let cpus: Vec<Entry> = siblings
        .into_iter()
        .enumerate()
        .map(|(cpu, siblings)| Entry {
            core: cpu % 4,
            socket: 0,
            siblings: siblings.to_owned(),
            third_level: Some("0-4,6-7".to_owned()),
        })
        .collect();
    write_machine(root.path(), "0-4,6-7", &cpus, &["0-4,6-7"]);
    // The kernel removes these directories of a CPU that is offline.
    for directory in ["topology", "cache"] {
        let cpu = root.path().join("devices/system/cpu/cpu5");
        std::fs::remove_dir_all(cpu.join(directory)).unwrap();
    }
    let topology = Topology::read(root.path(), &(0..8).collect::<Vec<_>>());
    let numbers: Vec<usize> = topology.cpus().iter().map(|cpu| cpu.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 6, 7]);
    let free = Pinning::ALL.map(|pinning| topology.free_until(pinning));
    assert_eq!(free, [4, 2, 3, 2, 2]);
}

#[test]
fn this_machine_is_read() {
    let topology = Topology::here().unwrap();
    let count = std::thread::available_parallelism().unwrap().get();
    // A control group's limit can make it less.
    assert!(topology.cpus().len() >= count);
    assert!(topology.possible().contains(&Pinning::Colocated));
}

#[test]
fn pinnings_have_names() {
    for pinning in Pinning::ALL {
        assert_eq!(Pinning::named(pinning.name()), Some(pinning));
        assert_eq!(pinning.to_string(), pinning.name());
    }
    assert_eq!(Pinning::named("none"), None);
}

/// A machine by its numbers of nodes, caches in each, cores in each, threads in each.
fn regular(nodes: usize, caches: usize, cores: usize, threads: usize) -> Topology {
    let all = nodes * caches * cores;
    let cpu = |number| {
        let core = number % all;
        let ccx = core / cores;
        let node = ccx / caches;
        Cpu {
            number,
            core: Some(core),
            socket: Some(node),
            ccx: Some(ccx * cores),
            node: Some(node),
        }
    };
    Topology::new((0..all * threads).map(cpu).collect())
}

fn any_regular() -> impl Strategy<Value = Topology> {
    (1_usize..=4, 1_usize..=8, 1_usize..=8, 1_usize..=2)
        .prop_map(|(nodes, caches, cores, threads)| regular(nodes, caches, cores, threads))
}

/// The same without some of the CPUs, and with up to 4 threads to a core.
fn any_irregular() -> impl Strategy<Value = Topology> {
    let sizes = (1_usize..=3, 1_usize..=3, 1_usize..=4, 1_usize..=4);
    (sizes, any::<u64>()).prop_map(|((nodes, caches, cores, threads), seed)| {
        let mut below = seeded(seed);
        let whole = regular(nodes, caches, cores, threads);
        Topology::new(whole.cpus().iter().copied().filter(|_| below(3) > 0).collect())
    })
}

fn any_pinning() -> impl Strategy<Value = Pinning> {
    prop::sample::select(Pinning::ALL.to_vec())
}

/// True if the two CPUs of a pair are where the pinning wants them.
fn is_kept(topology: &Topology, pinning: Pinning, pair: Pair) -> bool {
    let of = |number| *topology.cpus().iter().find(|cpu| cpu.number == number).unwrap();
    let (client, server) = (of(pair.client), of(pair.server));
    let cores = client.core != server.core;
    match pinning {
        Pinning::Colocated => client == server,
        Pinning::Random => cores,
        Pinning::Smt => !cores && client != server,
        Pinning::Ccx => cores && client.ccx == server.ccx,
        Pinning::Node => cores && client.node == server.node,
    }
}

/// How many pairs are on each core.
fn per_core(topology: &Topology, pairs: &[Pair]) -> BTreeMap<Option<usize>, usize> {
    let core = |number| topology.cpus().iter().find(|cpu| cpu.number == number).unwrap().core;
    let mut counts = BTreeMap::new();
    for pair in pairs {
        for core in BTreeSet::from([core(pair.client), core(pair.server)]) {
            *counts.entry(core).or_insert(0) += 1;
        }
    }
    counts
}

/// The number of pairs on each CPU of the groups that can have pairs.
fn per_cpu(topology: &Topology, pinning: Pinning, pairs: &[Pair]) -> BTreeMap<usize, usize> {
    let possible = |cpu: &&Cpu| {
        let peers: Vec<Cpu> = topology
            .cpus()
            .iter()
            .copied()
            .filter(|other| match pinning {
                Pinning::Ccx => other.ccx == cpu.ccx,
                Pinning::Node => other.node == cpu.node,
                _ => true,
            })
            .collect();
        Topology::new(peers).free_until(pinning) > 0
    };
    let cpus = topology.cpus().iter().filter(possible).map(|cpu| cpu.number);
    let mut counts: BTreeMap<usize, usize> = cpus.map(|cpu| (cpu, 0)).collect();
    for pair in pairs {
        *counts.get_mut(&pair.client).unwrap() += 1;
        if pinning != Pinning::Colocated {
            *counts.get_mut(&pair.server).unwrap() += 1;
        }
    }
    counts
}

/// A regular machine with an odd number of CPUs to a group leaves one of them out of each round.
fn has_odd_groups(topology: &Topology, pinning: Pinning) -> bool {
    let group = |cpu: &Cpu| match pinning {
        Pinning::Colocated | Pinning::Smt => return false,
        Pinning::Random => Some(0),
        Pinning::Ccx => cpu.ccx,
        Pinning::Node => cpu.node,
    } == group_of_first(topology, pinning);
    topology.cpus().iter().filter(|cpu| group(cpu)).count() % 2 == 1
}

fn group_of_first(topology: &Topology, pinning: Pinning) -> Option<usize> {
    let first = topology.cpus()[0];
    match pinning {
        Pinning::Ccx => first.ccx,
        Pinning::Node => first.node,
        _ => Some(0),
    }
}

proptest! {
    #[test]
    fn pairs_are_where_the_pinning_wants_them(
        topology in prop_oneof![any_regular(), any_irregular()],
        pinning in any_pinning(), clients in 0_usize..300, seed in any::<u64>(),
    ) {
        let free = topology.free_until(pinning);
        prop_assert_eq!(free > 0, topology.possible().contains(&pinning));
        let placed = topology.place(pinning, clients, &mut seeded(seed));
        if free == 0 {
            let error = placed.unwrap_err();
            prop_assert_eq!(error.pinning, pinning);
            prop_assert!(!error.possible.contains(&pinning));
            return Ok(());
        }
        let pairs = placed.unwrap();
        prop_assert_eq!(pairs.len(), clients);
        for pair in &pairs {
            prop_assert!(is_kept(&topology, pinning, *pair), "{:?} {:?}", pinning, pair);
        }
        prop_assert_eq!(&topology.place(pinning, clients, &mut seeded(seed)).unwrap(), &pairs);
        // More clients don't move the first ones.
        let more = topology.place(pinning, free, &mut seeded(seed)).unwrap();
        prop_assert!(pairs.iter().zip(&more).all(|(a, b)| a == b));
    }

    #[test]
    fn cores_are_shared_only_when_none_are_free(
        topology in prop_oneof![any_regular(), any_irregular()],
        pinning in any_pinning(), seed in any::<u64>(),
    ) {
        let free = topology.free_until(pinning);
        prop_assume!(free > 0);
        let pairs = topology.place(pinning, free + 1, &mut seeded(seed)).unwrap();
        let most = |pairs: &[Pair]| per_core(&topology, pairs).into_values().max();
        prop_assert_eq!(most(&pairs[..free]), Some(1));
        prop_assert_eq!(most(&pairs), Some(2));
    }

    #[test]
    fn all_cpus_are_used_evenly(
        topology in any_regular(),
        pinning in any_pinning(), clients in 1_usize..300, seed in any::<u64>(),
    ) {
        prop_assume!(topology.free_until(pinning) > 0);
        let pairs = topology.place(pinning, clients, &mut seeded(seed)).unwrap();
        let counts = per_cpu(&topology, pinning, &pairs);
        let (least, most) = (counts.values().min().unwrap(), counts.values().max().unwrap());
        // A CPU that a round left out begins the next.
        let allowed = if has_odd_groups(&topology, pinning) { 2 } else { 1 };
        prop_assert!(most - least <= allowed, "{:?} {:?}", pinning, counts);
    }
}

/// Chi-square of counts whose expectations are equal.
fn chi_square<'a>(counts: impl ExactSizeIterator<Item = &'a u32>) -> f64 {
    let counts: Vec<f64> = counts.map(|count| f64::from(*count)).collect();
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    counts.iter().map(|count| (count - mean).powi(2) / mean).sum()
}

#[test]
fn every_pair_is_equally_likely() {
    let topology = regular(2, 2, 3, 2);
    for pinning in Pinning::ALL {
        let mut counts: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for client in 0..24 {
            for server in 0..24 {
                if is_kept(&topology, pinning, Pair { client, server }) {
                    counts.insert((client, server), 0);
                }
            }
        }
        let kinds = counts.len();
        let mut below = seeded(pinning as u64);
        for place in 0..20 * kinds {
            let pairs = topology.place(pinning, 2, &mut below).unwrap();
            // The second pair, too, is any of them.
            let pair = pairs[place % 2];
            *counts.get_mut(&(pair.client, pair.server)).unwrap() += 1;
        }
        // Chi-square with n degrees of freedom: 4 standard deviations above its mean.
        let degrees = kinds as f64 - 1.0;
        let chi = chi_square(counts.values());
        let limit = degrees + 4.0 * (2.0 * degrees).sqrt() + 4.0;
        assert!(chi < limit, "{pinning}: {chi} of {limit}");
    }
}
