//! Experiments whose blocks ran on several machines.

use crate::common::{Lab, plan, record, sliced};
use report::{CompareOptions, Format};
use store::HostFact;

/// Six blocks on each machine; `ratios` has a machine's id, its type, and what 14.3 does there.
fn lab(ratios: &[(&str, &str, f64)]) -> Lab {
    lab_of(ratios, &|_, ops, _| record("l.i0", ops))
}

/// The same, with steps made from the variant's place, its throughput, and a seed.
fn lab_of(
    ratios: &[(&str, &str, f64)],
    step: &dyn Fn(usize, f64, u64) -> store::StepRecord,
) -> Lab {
    let variants = ["13.7", "14.3"];
    let blocks = 6 * ratios.len() as u32;
    let lab = Lab::new(&variants, &plan(&variants, &["l.i0"], blocks, &[1]), blocks);
    for block in 1..=blocks {
        let (id, model, ratio) = ratios[(block as usize - 1) / 6];
        let fact = |group: &str, name: &str, value: &str| HostFact {
            group: group.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let facts = [fact("cpu", "model", model), fact("system", "machine id", id)];
        lab.store.record_host(lab.experiment, &facts).unwrap();
        for place in 0..2 {
            let trial = lab.begin(place, block, 1);
            let noise = 1.0 + 0.001 * f64::from((block * 7 + place as u32 * 3) % 5);
            let ops = 1000.0 * noise * [1.0, ratio][place];
            let seed = u64::from(block) * 10 + place as u64;
            lab.store.record_step(trial, &step(place, ops, seed)).unwrap();
            lab.store.finish_trial(trial).unwrap();
        }
    }
    lab.store.finish_experiment(lab.experiment).unwrap();
    lab
}

#[test]
fn machines_that_agree_are_judged_together() {
    let compared = lab(&[("aa", "X", 0.9), ("bb", "X", 0.9), ("cc", "X", 0.9)]).compare();
    let found = compared.judged.of(0, 1).unwrap();
    assert_eq!((found.verdict, found.blocks), (judge::Verdict::Regression, 18));
    assert!((found.ratio - 0.9).abs() < 0.005, "{}", found.ratio);
    let over = &compared.judged.over_machines[&(0, 1)];
    assert!(!over.differ() && over.findings().is_empty(), "{over:?}");
    let text = compared.render(Format::Text).unwrap();
    assert!(text.contains("\nMachines\n"), "{text}");
    let (_, table) = text.split_once("\nMachines\n").unwrap();
    for machine in ["aa", "bb", "cc"] {
        let rows = table.lines().filter(|line| line.split_whitespace().nth(2) == Some(machine));
        assert_eq!(rows.count(), 1, "{text}");
    }
}

#[test]
fn what_depends_on_the_type_of_machine_is_not_averaged_away() {
    let types = [("aa", "X"), ("bb", "X"), ("cc", "X"), ("dd", "Y"), ("ee", "Y"), ("ff", "Y")];
    let ratio = |kind| if kind == "X" { 1.1 } else { 1.0 / 1.1 };
    let ratios = types.map(|(id, kind)| (id, kind, ratio(kind)));
    let compared = lab(&ratios).compare();
    let found = compared.judged.of(0, 1).unwrap();
    // Without the machines, the mean of all blocks is 1.
    assert!((found.ratio - 1.0).abs() < 0.005, "{}", found.ratio);
    assert_ne!(found.verdict, judge::Verdict::Equivalent);
    let codes: Vec<&str> = found.warnings.iter().map(|it| it.code()).collect();
    assert!(codes.contains(&"machine-types-differ"), "{codes:?}");
    let text = compared.render(Format::Text).unwrap();
    assert!(text.contains("the machines differ, so no verdict describes all of them"), "{text}");
    let (_, table) = text.split_once("\nMachines\n").unwrap();
    let marked = table.lines().filter(|line| line.split_whitespace().last() == Some("type"));
    assert_eq!(marked.count(), 6, "{text}");
}

#[test]
fn every_machine_has_a_row_of_its_own() {
    let lab = lab(&[("aa", "X", 0.9), ("bb", "X", 0.9), ("cc", "X", 0.9), ("dd", "X", 1.3)]);
    let options = CompareOptions { by: Some(report::By::Machine), ..CompareOptions::default() };
    let compared = report::compare(&lab.results(), &options).unwrap();
    let text = compared.render(Format::Text).unwrap();
    let row = |label: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(label));
        let line = line.unwrap_or_else(|| panic!("no row {label}: {text}"));
        line.split_whitespace().last().unwrap().to_owned()
    };
    assert!(row("aa").starts_with("0.90") && !row("aa").ends_with('*'), "{text}");
    assert!(row("dd").starts_with("1.3") && row("dd").ends_with('*'), "{text}");
    assert!(row("mean").starts_with("0.9"), "{text}");
    assert!(!text.contains("\nMachines\n"), "{text}");
    let one = self::lab(&[("aa", "X", 0.9)]).results();
    let error = report::compare(&one, &options).unwrap_err().to_string();
    assert!(error.contains("blocks of several machines"), "{error}");
}

/// Every machine says 0.9 by short slices, but twice as long ones say 0.99.
#[test]
fn machines_that_agree_do_not_settle_what_their_slices_leave_open() {
    let machines = [("aa", "X", 0.9), ("bb", "X", 0.9), ("cc", "X", 0.9)];
    let found = |longer: f64| {
        let step = |place: usize, ops: f64, seed: u64| {
            let mut step = sliced("l.i0", ops, seed);
            let rates = step.series.iter_mut().find(|one| one.name == "slice.o/s").unwrap();
            let long = rates.values.iter_mut().skip(3).step_by(4);
            long.for_each(|rate| *rate *= [1.0, longer][place]);
            step
        };
        lab_of(&machines, &step).compare().judged.of(0, 1).unwrap().clone()
    };
    assert_eq!(found(1.0).verdict, judge::Verdict::Regression);
    let open = found(1.1);
    assert_eq!((open.verdict, open.blocks), (judge::Verdict::Inconclusive, 18));
    assert!(open.low.unwrap() < 0.93 && open.high.unwrap() > 1.0, "{open:?}");
    assert!(open.warnings.iter().any(|warning| warning.code() == "lengths-disagree"));
}

#[test]
fn blocks_of_one_machine_are_judged_as_ever() {
    let compared = lab(&[("aa", "X", 0.9)]).compare();
    assert!(compared.judged.over_machines.is_empty());
    assert!(!compared.render(Format::Text).unwrap().contains("\nMachines\n"));
}

#[test]
fn the_default_margins_of_plans_and_verdicts_are_one() {
    assert!((plan::DEFAULT_MARGIN - judge::DEFAULT_MARGIN).abs() < f64::EPSILON);
}
