use judge::{Method, Verdict, Warning};
use store::{StepId, TrialId};

use super::*;

/// Rates around `level` that a fixed rule disturbs, in rounds of 40 ms of which every fourth
/// has 80 ms.
fn slices(level: f64, rounds: usize, phase: usize) -> Slices {
    let noise = |round: usize| 1.0 + 0.01 * (((round * 7919 + phase) % 101) as f64 / 50.0 - 1.0);
    Slices {
        length_ms: 40.0,
        rates: (0..rounds).map(|round| level * noise(round)).collect(),
        lengths: (0..rounds).map(|round| if round % 4 == 3 { 80.0 } else { 40.0 }).collect(),
        reasons: vec![0.0; rounds],
        servers: 2,
    }
}

fn step(blocks: Vec<Option<Slices>>) -> VariantStep {
    let sample = |(place, slices): (usize, Option<Slices>)| Sample {
        block: place as u32 + 1,
        trial: TrialId(1),
        step: StepId(1),
        started_ms: 0,
        values: Vec::new(),
        slices,
    };
    VariantStep {
        lengthens: true,
        samples: blocks.into_iter().enumerate().map(sample).collect(),
        ..VariantStep::default()
    }
}

fn compared(base: &VariantStep, variant: &VariantStep) -> Option<judge::Comparison> {
    let found = compare(base, variant, Margin::default(), &Looks::new(&[3]));
    found.map(|found| found.expect("slices that can be compared"))
}

#[test]
fn a_restart_without_operations_is_not_left_out() {
    let base = step([1, 2, 3].map(|seed| Some(slices(1000.0, 200, seed))).to_vec());
    let dead = Slices { rates: vec![0.0; 200], ..slices(1000.0, 200, 5) };
    let variant =
        step(vec![Some(slices(1000.0, 200, 4)), Some(dead), Some(slices(1000.0, 200, 6))]);
    let found = compare(&base, &variant, Margin::default(), &Looks::new(&[3])).unwrap();
    assert_eq!(found, Err((2, JudgeError::Idle { side: judge::Side::Variant })));
}

#[test]
fn restarts_are_the_blocks_that_both_have() {
    let base = step(vec![
        Some(slices(1000.0, 200, 1)),
        Some(slices(1100.0, 200, 2)),
        Some(slices(1050.0, 200, 3)),
        None,
    ]);
    let variant = step(vec![
        Some(slices(900.0, 200, 4)),
        Some(slices(990.0, 200, 5)),
        None,
        Some(slices(990.0, 200, 6)),
    ]);
    let found = compared(&base, &variant).unwrap();
    assert_eq!((found.method, found.blocks), (Method::Slices, 2));
    assert!((found.ratio - 0.9).abs() < 0.003, "{found:?}");
    let slicing = slicing(&base, &variant).unwrap();
    assert_eq!((slicing.restarts, slicing.rounds), (2, 400));
    assert!((slicing.length_ms - 40.0).abs() < 1e-12 && slicing.set_aside == 0.0);
    let (chosen, longer) = (slicing.by_chosen.unwrap(), slicing.by_longer.unwrap());
    assert!((chosen - 0.9).abs() < 0.005 && (longer - 0.9).abs() < 0.005);
    assert_eq!(compared(&base, &step(vec![None; 4])), None);
    assert_eq!(compared(&base, &step(Vec::new())), None);
}

#[test]
fn one_restart_decides_nothing() {
    let base = step(vec![Some(slices(1000.0, 200, 1))]);
    let variant = step(vec![Some(slices(900.0, 200, 2))]);
    let found = compared(&base, &variant).unwrap();
    assert_eq!((found.verdict, found.low), (Verdict::Inconclusive, None));
    assert_eq!(found.warnings, [Warning::OneRestart]);
    let slicing = slicing(&base, &variant).unwrap();
    assert!(slicing.within > 0.0 && slicing.between.is_none(), "what it says of itself is shown");
}

#[test]
fn a_variant_that_stalls_is_slower() {
    let stalling = |phase: usize| {
        let mut slices = slices(1000.0, 200, phase);
        slices.rates.iter_mut().step_by(2).for_each(|rate| *rate = 0.0);
        Some(slices)
    };
    let base = step((1..7).map(|phase| Some(slices(1000.0, 200, phase))).collect());
    let found = compared(&base, &step((7..13).map(stalling).collect())).unwrap();
    assert_eq!(found.verdict, Verdict::Regression);
    assert!((found.ratio - 0.5).abs() < 0.01, "{found:?}");
    assert!(found.warnings.iter().any(|warning| warning.code() == "stalled"), "{found:?}");
}

/// A checkpoint in a few slices belongs to what a server does, and nothing is said about it.
#[test]
fn frozen_slices_are_judged_by_all_that_was_done() {
    let frozen = |phases: std::ops::Range<usize>, slow: usize, rate: fn(usize) -> f64| {
        let one = |phase: usize| {
            let mut slices = slices(1000.0, 200, phase);
            slices.rates.iter_mut().take(slow).for_each(|rate| *rate = 0.0);
            Some(slices)
        };
        let mut step = step(phases.clone().map(one).collect());
        let names = [&metrics::OPS, &metrics::SLICE_SWITCH_MS];
        step.metrics = names.map(|metric| metric.name.to_owned()).into();
        for (sample, phase) in step.samples.iter_mut().zip(phases) {
            sample.values = vec![rate(phase), 0.3];
        }
        step
    };
    let base = frozen(1..7, 0, |_| 1000.0);
    let slower = |phases| frozen(phases, 60, |phase| 690.0 + phase as f64);
    let found = compared(&base, &slower(7..13)).unwrap();
    assert_eq!((found.verdict, found.warnings), (Verdict::Regression, vec![]));
    assert!((found.ratio - 0.6995).abs() < 1e-4, "{}", found.ratio);
    let few = compared(&base, &slower(7..12)).unwrap();
    assert_eq!(few.verdict, Verdict::Inconclusive);
    assert_eq!(few.warnings, [Warning::TooFewRestarts { restarts: 5 }]);
    let same = compared(&base, &frozen(7..13, 0, |_| 1001.0)).unwrap();
    assert_eq!(same.verdict, Verdict::Inconclusive);
    assert_eq!(same.warnings, [Warning::TooFewFrozen { restarts: 6 }]);
}

#[test]
fn shorter_rounds_than_chosen_are_left_out() {
    let base = slices(1000.0, 200, 1);
    let mut variant = slices(1000.0, 200, 2);
    let mut short = base.clone();
    for round in (0..200).step_by(2) {
        short.lengths[round] = 10.0;
        variant.rates[round] = 500.0;
    }
    let found = compared(&step(vec![Some(short)]), &step(vec![Some(variant)])).unwrap();
    assert!((found.ratio - 1.0).abs() < 0.005, "{found:?}");
}

#[test]
fn rounds_that_never_came_are_not_set_aside() {
    let mut base = slices(1000.0, 200, 1);
    let mut variant = slices(1000.0, 200, 2);
    for round in 150..200 {
        variant.rates[round] = f64::NAN;
        variant.reasons[round] = 3.0;
    }
    for round in 0..60 {
        base.rates[round] = f64::NAN;
        base.reasons[round] = 1.0;
    }
    let (base, variant) = (step(vec![Some(base)]), step(vec![Some(variant)]));
    let slicing = slicing(&base, &variant).unwrap();
    assert_eq!(slicing.rounds, 90);
    assert!((slicing.set_aside - 0.4).abs() < 1e-12);
    let warnings = compared(&base, &variant).unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.code() == "much-set-aside"));
}

#[test]
fn a_stall_is_compared_although_it_took_the_other_slices_of_its_rounds() {
    let mut base = slices(1000.0, 200, 1);
    let mut variant = slices(1000.0, 200, 2);
    // Every fiftieth round the variant stalls for five rounds, and the base has no slices in
    // them.
    for round in (0..200).filter(|round| round % 50 < 5) {
        variant.rates[round] = 0.0;
        (base.rates[round], base.reasons[round]) = (f64::NAN, 3.0);
    }
    // If neither ran, nothing is compared.
    for slices in [&mut base, &mut variant] {
        (slices.rates[100], slices.reasons[100]) = (f64::NAN, 3.0);
    }
    let found = restart(&base, &variant, None).unwrap().all;
    assert_eq!(found.pairs, 199);
    let lost = found.tails_log + found.mean_log;
    assert!((lost - 0.9_f64.ln()).abs() < 0.01, "{found:?}");
    assert!(found.mean_log.abs() < 0.01, "{found:?}");
}

#[test]
fn a_second_length_that_disagrees_leaves_no_verdict() {
    let longer = |more: f64| {
        let of = |phase: usize| {
            let mut slices = slices(950.0, 400, phase);
            slices.rates.iter_mut().skip(3).step_by(4).for_each(|rate| *rate *= more);
            Some(slices)
        };
        let base = step((1..7).map(|phase| Some(slices(1000.0, 400, phase))).collect());
        compared(&base, &step((7..13).map(of).collect())).unwrap()
    };
    let same = longer(1.0);
    assert_eq!((same.verdict, &same.warnings[..]), (Verdict::Regression, &[][..]));
    let found = longer(1.04);
    assert_eq!(found.verdict, Verdict::Inconclusive);
    assert!(found.low.unwrap() < 0.96 && found.high.unwrap() > 1.01, "{found:?}");
    let disagree = |warning: &Warning| match *warning {
        Warning::LengthsDisagree { short, long } => short < 0.955 && long > 0.98,
        _ => false,
    };
    assert!(found.warnings.iter().any(disagree), "{found:?}");
}

#[test]
fn too_few_rounds_say_nothing() {
    let (base, variant) = (slices(1000.0, 5, 1), slices(1000.0, 5, 2));
    assert_eq!(compared(&step(vec![Some(base)]), &step(vec![Some(variant)])), None);
}
