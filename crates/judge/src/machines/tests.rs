use super::*;
use crate::random::Random;
use crate::{CONFIDENCE, ENOUGH_BLOCKS, compare_at};

fn machine(name: &str, kind: &str, logs: &[f64]) -> MachineBlocks {
    MachineBlocks { machine: name.to_owned(), kind: kind.to_owned(), logs: logs.to_vec() }
}

fn judged(machines: &[MachineBlocks]) -> OverMachines {
    over_machines(machines, Margin::default(), CONFIDENCE).unwrap()
}

/// Machines of two types with these effects, each with six blocks of that noise.
fn fleet(effects: &[(&str, f64)], noise: f64) -> Vec<MachineBlocks> {
    let mut random = Random::new(5);
    let mut of = |(place, (kind, effect)): (usize, &(&str, f64))| {
        let logs: Vec<f64> = (0..6).map(|_| effect + noise * random.normal()).collect();
        machine(&format!("m{place}"), kind, &logs)
    };
    effects.iter().enumerate().map(&mut of).collect()
}

const LOGS: [f64; 7] = [-0.031, -0.024, -0.035, -0.028, -0.03, -0.027, -0.04];

#[test]
fn one_machine_is_compared_as_ever() {
    for blocks in 1..=LOGS.len() {
        for margin in [Margin::default(), Margin { asked: 0.02, noise_floor: 0.04 }] {
            for confidence in [0.95, 0.99] {
                let logs = &LOGS[..blocks];
                let variant: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
                // The same logs to the last bit.
                let logs: Vec<f64> = variant.iter().map(|ratio| ratio.ln()).collect();
                let found = over_machines(&[machine("a", "x", &logs)], margin, confidence).unwrap();
                let alone = compare_at(&vec![1.0; blocks], &variant, margin, confidence).unwrap();
                assert_eq!(found.fleet, alone);
                assert_eq!(found.machines[0].comparison, alone);
                assert_eq!(found.kinds[0].comparison, alone);
                assert_eq!((found.general, found.spread), (None, None));
            }
        }
    }
}

#[test]
fn machines_with_one_block_each_are_compared_like_blocks() {
    let machines: Vec<_> = LOGS.iter().map(|log| machine("a", "x", &[*log])).collect();
    let found = judged(&machines);
    let blocks = compare_logs(&LOGS, Margin::default(), CONFIDENCE);
    assert_eq!(found.fleet.verdict, Verdict::Regression);
    assert!((found.fleet.low.unwrap() - blocks.low.unwrap()).abs() < 1e-12);
    assert!((found.fleet.mean_log - blocks.mean_log).abs() < 1e-15);
    assert_eq!((found.fleet.blocks, found.spread), (7, None));
    assert!(found.machines.iter().all(|one| one.odd.is_none()));
}

#[test]
fn the_verdict_takes_as_many_blocks_as_on_one_machine() {
    for blocks in [1, 2, 3] {
        let logs = &[-0.05, -0.0501, -0.0499][..blocks];
        let found = judged(&[machine("a", "x", logs), machine("b", "x", logs)]);
        let enough = 2 * blocks >= ENOUGH_BLOCKS;
        assert_eq!(found.fleet.verdict == Verdict::Regression, enough, "{found:?}");
        let general = found.general.unwrap();
        assert_eq!((general.blocks, general.verdict), (2, Verdict::Inconclusive));
    }
}

#[test]
fn equal_machines_are_pooled_and_two_say_little_of_others() {
    let found = judged(&fleet(&[("x", -0.05), ("x", -0.05)], 0.005));
    assert_eq!(found.fleet.verdict, Verdict::Regression);
    let own = found.machines[0].comparison.half_width().unwrap();
    let general = found.general.as_ref().unwrap().half_width().unwrap();
    assert!(found.fleet.half_width().unwrap() < own && own < general);
    assert!(found.fleet.freedom > 6.0 && found.findings().is_empty() && !found.differ());
    let spread = found.spread.unwrap();
    assert!(spread.low <= spread.sd && spread.sd < spread.high && spread.high.is_finite());
}

#[test]
fn machines_that_differ_are_not_averaged_away() {
    let found = judged(&fleet(&[("x", 0.05), ("x", -0.05)], 0.003));
    assert!(found.differ() && (found.fleet.ratio - 1.0).abs() < 0.02, "{found:?}");
    assert_eq!((found.fleet.verdict, found.fleet.further_blocks), (Verdict::Inconclusive, None));
    assert!(matches!(found.fleet.warnings[..], [Warning::MachinesDiffer { machines: 2, .. }]));
    // Less than the margin is said, and takes nothing back.
    let little = judged(&fleet(&[("x", 0.005), ("x", -0.005)], 0.0005));
    assert_eq!(little.fleet.verdict, Verdict::Equivalent);
    assert_eq!(little.fleet.warnings.len(), 1);
}

#[test]
fn a_machine_that_lies_is_named() {
    let mut effects = vec![("x", 0.0); 12];
    effects[4] = ("x", -0.1);
    let found = judged(&fleet(&effects, 0.01));
    let [Finding::Machine(one)] = found.findings()[..] else { panic!("{found:?}") };
    assert_eq!(one.machine, "m4");
    assert!((one.odd.unwrap().others - 1.0).abs() < 0.01 && one.comparison.ratio < 0.92);
    assert_eq!(found.fleet.verdict, Verdict::Inconclusive);
    let codes: Vec<&str> = found.fleet.warnings.iter().map(Warning::code).collect();
    assert_eq!(codes, ["machines-differ", "odd-machines"]);
}

#[test]
fn a_type_that_differs_is_named_and_not_its_machines() {
    let effects = [("old", 0.0), ("new", -0.05)].map(|kind| [kind; 5]).concat();
    let found = judged(&fleet(&effects, 0.01));
    let named: Vec<&str> = found
        .findings()
        .iter()
        .map(|one| match one {
            Finding::Kind(one) => one.kind.as_str(),
            Finding::Machine(one) => panic!("{one:?}"),
        })
        .collect();
    assert_eq!(named, ["new", "old"], "with two types, both differ from the other");
    let verdicts: Vec<Verdict> = found.kinds.iter().map(|one| one.comparison.verdict).collect();
    assert_eq!(verdicts, [Verdict::Regression, Verdict::Equivalent]);
    let codes: Vec<&str> = found.fleet.warnings.iter().map(Warning::code).collect();
    assert_eq!(codes, ["machines-differ", "machine-types-differ"]);
    // A machine that lies among them is found by its like.
    let mut effects = effects;
    effects[2].1 = -0.2;
    let found = judged(&fleet(&effects, 0.01));
    assert!(
        found
            .findings()
            .iter()
            .any(|one| matches!(one, Finding::Machine(one) if one.machine == "m2"))
    );
}

/// A single machine never makes its type differ.
#[test]
fn one_machine_is_not_its_type() {
    let mut effects = vec![("x", 0.0); 10];
    effects.extend([("y", 0.0), ("y", -0.1), ("z", 0.0)]);
    let found = judged(&fleet(&effects, 0.01));
    let [Finding::Machine(one)] = found.findings()[..] else { panic!("{found:?}") };
    assert_eq!(one.machine, "m11");
    assert_eq!(found.kinds[2].odd, None, "of one machine, nobody knows");
}

#[test]
fn without_any_noise() {
    let same = [0.0; 3];
    let found =
        judged(&[machine("a", "x", &same), machine("b", "y", &same), machine("c", "y", &same)]);
    assert_eq!((found.fleet.verdict, &found.fleet.warnings[..]), (Verdict::Equivalent, &[][..]));
    let MachineSpread { sd, low, high, p } = found.spread.unwrap();
    assert_eq!((sd, low), (0.0, 0.0));
    assert!(high < 1e-9 && p > 0.99 && found.findings().is_empty());
    let slower = [-0.05; 3];
    let found = judged(&[machine("a", "x", &same), machine("b", "x", &slower)]);
    assert!(found.differ() && (found.spread.unwrap().sd - 0.035).abs() < 0.001, "{found:?}");
    let last = machine("d", "x", &slower);
    let found = judged(
        &["a", "b", "c"]
            .map(|name| machine(name, "x", &same))
            .into_iter()
            .chain([last])
            .collect::<Vec<_>>(),
    );
    assert!(matches!(found.findings()[..], [Finding::Machine(one)] if one.machine == "d"));
}

#[test]
fn what_cannot_be_compared() {
    let of = |machines: &[MachineBlocks]| over_machines(machines, Margin::default(), CONFIDENCE);
    assert_eq!(of(&[]), Err(JudgeError::NoBlocks));
    let fine = machine("a", "x", &[0.0, 0.1]);
    assert_eq!(of(&[fine.clone(), machine("b", "x", &[])]), Err(JudgeError::NoBlocks));
    let infinite = machine("b", "x", &[0.0, f64::INFINITY]);
    let value = f64::INFINITY;
    assert_eq!(
        of(&[fine.clone(), infinite]),
        Err(JudgeError::NotFinite { machine: 2, block: 2, value })
    );
    assert!(of(&[machine("a", "x", &[f64::NAN])]).is_err());
    assert!(over_machines(&[fine], Margin::default(), 1.0).is_err());
}
