//! Variants of other experiments beside those of one.

use crate::common::{Lab, plan, record};
use report::{CompareOptions, Comparison, Format, ReportError, Which};
use store::{HostFact, StepRecord};

const STEPS: [&str; 2] = ["l.i0", "l.x"];

fn figures(name: &str, rate: f64, place: usize, block: u32) -> StepRecord {
    let chance = 1.0 + 0.001 * f64::from((block * 7 + place as u32 * 3) % 5);
    record(name, rate * chance)
}

/// An experiment of 15 and 16 in six blocks, and then one of 15 and 17 in `blocks`, where all
/// is 10% slower.
fn lab(second: &str, blocks: u32) -> Lab {
    let mut lab = Lab::new(&["15", "16"], &plan(&["15", "16"], &STEPS, 6, &[1]), 6);
    lab.run(&STEPS, 6, 1, &|name, place, block| {
        figures(name, [1000.0, 900.0][place], place, block)
    });
    lab.store.finish_experiment(lab.experiment).unwrap();
    lab.begin_another(&["15", "17"], second, blocks);
    lab.run(&STEPS, blocks, 1, &|name, place, block| {
        figures(name, [900.0, 450.0][place], place, block)
    });
    lab
}

fn same() -> String {
    plan(&["15", "17"], &STEPS, 6, &[1])
}

fn compare(lab: &Lab, with: &[&str], base: Option<&str>) -> Result<Comparison, ReportError> {
    let mut results = report::load(&lab.store, Which::Latest)?;
    let with: Vec<String> = with.iter().map(|it| (*it).to_owned()).collect();
    report::join(&lab.store, &mut results, &with)?;
    let base = base.map(str::to_owned);
    report::compare(&results, &CompareOptions { base, ..CompareOptions::default() })
}

fn has(comparison: &Comparison, code: &str) -> bool {
    comparison.document.warnings.iter().any(|warning| warning.code == code)
}

#[test]
fn another_experiment_changes_nothing_and_gets_no_verdict() {
    // With more blocks than the other.
    let lab = lab(&same(), 8);
    let alone = compare(&lab, &[], None).unwrap();
    let beside = compare(&lab, &["1"], None).unwrap();
    assert_eq!(beside.document.variants, ["15", "17", "1:15", "1:16"]);
    for (step, joined) in alone.document.steps.iter().zip(&beside.document.steps) {
        for (one, same) in step.variants.iter().zip(&joined.variants) {
            let [one, same] = [one, same].map(|it| serde_json::to_value(it).unwrap());
            assert_eq!(one, same);
        }
        let figures = |name: &str| joined.variants.iter().find(|it| it.name == name).unwrap();
        for (name, ratio) in [("1:15", 10.0 / 9.0), ("1:16", 1.0)] {
            let found = &figures(name).relative;
            let close = (found.ratio.unwrap() / ratio - 1.0).abs() < 0.003;
            assert!(close && found.low.is_none() && found.high.is_none(), "{name}: {found:?}");
            assert_eq!(found.verdict.as_deref(), Some("inconclusive"));
            let sentence = found.sentence.clone().unwrap_or_default();
            assert!(sentence.contains("were not interleaved (experiments 1 and 2)"), "{sentence}");
        }
        assert_eq!(figures("17").relative.verdict.as_deref(), Some("regression"));
    }
    assert!(has(&beside, "not-interleaved"));
    assert!(!has(&beside, "other-machine") && !has(&beside, "other-pairing"));
    let text = beside.render(Format::Text).unwrap();
    for part in ["(1.111)", "(1.000)", "the ratio to another experiment"] {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
    assert!(!text.contains("the ratio of a single block"), "{text}");
    // Nor with one of them as the base, nor among themselves.
    for base in ["1:15", "previous"] {
        let by_other = compare(&lab, &["1:15", "1:16"], Some(base)).unwrap();
        let verdicts = by_other.document.steps.iter().flat_map(|step| &step.variants);
        let decided = verdicts.filter(|it| {
            let verdict = it.relative.verdict.as_deref();
            verdict.is_some_and(|it| it != "inconclusive")
        });
        let decided: Vec<&str> = decided.map(|it| it.name.as_str()).collect();
        let own = if base == "previous" { vec!["17", "17"] } else { vec![] };
        assert_eq!(decided, own, "{base}");
    }
}

#[test]
fn what_was_paired_otherwise_is_not_even_related() {
    let pairing = |plan: &str| plan.replace("blocks = 6\n", "blocks = 6\npairing = \"auto\"\n");
    let turns = lab(&pairing(&same()), 6);
    let found = compare(&turns, &["1:16"], None).unwrap();
    assert!(has(&found, "other-pairing"));
    for step in &found.document.steps {
        let other = &step.variants[2];
        assert_eq!((other.name.as_str(), other.relative.ratio), ("1:16", None));
        let sentence = other.relative.sentence.clone().unwrap_or_default();
        assert!(sentence.contains("ran in turns in experiment 2 and in blocks in experiment 1"));
        assert!(other.absolute.contains_key("o/s"), "its own figure is shown");
    }
}

#[test]
fn another_machine_is_told_and_other_workloads_are_refused() {
    let mut lab = lab(&same(), 6);
    let fact = |name: &str, value: &str| HostFact {
        group: "cpu".to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
    };
    lab.store.record_host(lab.experiment, &[fact("model", "Other 9"), fact("cores", "2")]).unwrap();
    let found = compare(&lab, &["1:16"], None).unwrap();
    assert!(has(&found, "other-machine"));
    let refused = |lab: &Lab, asked: &str| compare(lab, &[asked], None).unwrap_err().to_string();
    assert!(refused(&lab, "1:14").contains("its variants are 15, 16"));
    assert!(refused(&lab, "2:15").contains("which is of this one"));
    assert!(refused(&lab, "9:15").contains("no experiment `9`"));
    let larger = format!("{}rows = 7777\n", same());
    lab.begin_another(&["15", "17"], &larger, 1);
    lab.run(&STEPS, 1, 1, &|name, place, block| figures(name, 1000.0, place, block));
    assert!(refused(&lab, "1:16").contains("has another workload"));
}
