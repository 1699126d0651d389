//! Conditions that fail a gate.

use crate::common::{Lab, plan, record};
use report::{CompareOptions, Format, Gate, compare};
use store::NoteKind;

/// Costs with known truth: b needs 6% more CPU per operation, writes as much, and reads nothing, as
/// a does.
#[test]
fn costs_are_judged_and_gated() {
    let steps = ["l.i0", "qr100"];
    let lab = Lab::new(&["a", "b"], &plan(&["a", "b"], &steps, 6, &[1]), 6);
    lab.run(&steps, 6, 1, &|name, place, block| {
        let wobble = 1.0 + 0.001 * f64::from((block * 7 + place as u32 * 3) % 5);
        let mut step = record(name, 9000.0);
        let mut metric = |name: &str, value: f64| step.metrics.push((name.to_owned(), value));
        metric("dbms.cpu/o", 8.5 * wobble * [1.0, 1.06][place]);
        metric("wKB/o", 24.0 * wobble);
        metric("r/o", 0.0);
        if name == "qr100" {
            metric("query.p99", 100.0 * wobble * [1.0, 0.9][place]);
        }
        step
    });
    lab.store.finish_experiment(lab.experiment).unwrap();
    let by = |metrics: &[&str]| {
        let metrics = metrics.iter().map(|metric| (*metric).to_owned()).collect();
        compare(&lab.results(), &CompareOptions { metrics, ..CompareOptions::default() }).unwrap()
    };
    let gate = Gate::Undecided;
    assert_eq!(by(&[]).gate(gate), Vec::<String>::new(), "as fast, and 0 reads are no failure");

    let cpu = by(&["dbms.cpu/o"]);
    let reasons = cpu.gate(Gate::Regressions);
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    let said = "l.i0: b uses 6.0% more CPU per operation of the DBMS than a (95% interval +5.";
    assert!(reasons[0].starts_with(said), "{reasons:?}");
    let [metric] = &cpu.document.metrics[..] else { panic!("one metric") };
    assert_eq!((metric.better.as_str(), metric.unit.as_str()), ("less", "µs"));
    let first = &metric.comparisons[0];
    let means = &first.relative.costs;
    assert_eq!(first.relative.verdict.as_deref(), Some("regression"));
    let quotient = means.mean.unwrap() / means.base_mean.unwrap();
    assert!((quotient / first.relative.ratio.unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(cpu.document.steps[0].variants[1].relative.verdict.as_deref(), Some("equivalent"));

    let both = by(&["o/s", "dbms.cpu/o", "o/s"]);
    let ids: Vec<&str> = both.tables.iter().map(|table| table.id.as_str()).collect();
    assert!(ids.contains(&"verdicts") && ids.contains(&"verdicts.dbms.cpu/o"), "{ids:?}");
    assert_eq!(both.document.metrics.len(), 2);

    assert_eq!(by(&["wKB/o"]).gate(gate), Vec::<String>::new());
    let reads = by(&["r/o"]);
    assert_eq!(reads.gate(gate), Vec::<String>::new(), "exactly none on both sides");
    let text = reads.render(Format::Text).unwrap();
    assert!(text.contains("r/o is 0 for both: nothing to compare"), "{text}");

    // A step without such statements has no percentile of their times; one without any metric
    // fails.
    let p99 = by(&["query.p99"]);
    assert_eq!(p99.gate(gate), Vec::<String>::new());
    assert_eq!(p99.document.metrics[0].comparisons.len(), 1);
    let verdict = p99.document.metrics[0].comparisons[0].relative.verdict.as_deref();
    assert_eq!(verdict, Some("improvement"), "shorter is better");
    let lost = by(&["cs/o"]).gate(Gate::Regressions);
    assert_eq!(lost.len(), 2, "{lost:?}");
    assert!(lost[0].contains("cs/o was not measured for a and b"), "{lost:?}");
}

/// A gap must not look like a result: blocks missing from a finished run, values of some blocks, a
/// variant whose trials all failed, a rate that only the base held.
#[test]
fn what_is_missing_fails_the_gate() {
    let two = ["a", "b"];
    let gate = |lab: &Lab| lab.compare().gate(Gate::Regressions);

    let few = Lab::new(&two, &plan(&two, &["l.i0"], 6, &[1]), 6);
    few.run(&["l.i0"], 4, 1, &|name, _, block| record(name, 100.0 + f64::from(block)));
    few.store.finish_experiment(few.experiment).unwrap();
    let needs = "inconclusive; a verdict needs at least 6 blocks";
    let reasons = gate(&few);
    assert!(reasons.len() == 2 && reasons[0].ends_with(needs), "{reasons:?}");
    let said =
        "l.i0: b has only 4 of the 6 blocks in the plan: no trial of the others has a result";
    assert_eq!(reasons[1], said);

    let unknown = Lab::new(&two, &plan(&two, &["l.i0"], 6, &[1]), 6);
    unknown.run(&["l.i0"], 6, 1, &|name, place, block| {
        let mut step = record(name, 100.0 + f64::from(block));
        if (place, block) == (1, 3) {
            step.metrics.clear();
        }
        step
    });
    unknown.store.finish_experiment(unknown.experiment).unwrap();
    let reasons = gate(&unknown);
    let said = "l.i0: b could be compared in only 5 of the 6 blocks it has in common with a: the \
                others lack the metric for one of the two";
    assert!(reasons.len() == 2 && reasons[0].ends_with(needs), "{reasons:?}");
    assert_eq!(reasons[1], said);
    assert!(unknown.compare().render(Format::Text).unwrap().contains(said));

    let dead = Lab::new(&two, &plan(&two, &["l.i0"], 2, &[1]), 2);
    for block in 1..=2 {
        let base = dead.begin(0, block, 1);
        dead.store.record_step(base, &record("l.i0", 100.0)).unwrap();
        dead.store.finish_trial(base).unwrap();
        let failed = dead.begin(1, block, 1);
        dead.store.fail_trial(failed, "the server died:\nsignal 9").unwrap();
    }
    dead.store.interrupt_experiment(dead.experiment).unwrap();
    let reasons = gate(&dead);
    assert!(reasons[0].contains("not finished, 2 of its trials failed"), "{reasons:?}");
    let said = "no trial finished (2 failed, the last because: the server died: signal 9)";
    assert!(reasons[1].contains(said), "{reasons:?}");

    let steps = ["l.i0", "qr100"];
    let easier = Lab::new(&two, &plan(&two, &steps, 6, &[1]), 6);
    easier.run(&steps, 6, 1, &|name, place, _| {
        let mut step = record(name, [100.0, 150.0][place]);
        if name == "qr100" {
            step.metrics.push(("insert.held".to_owned(), [1.0, 0.0][place]));
        }
        step
    });
    easier.store.finish_experiment(easier.experiment).unwrap();
    let reasons = gate(&easier);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].contains("b did not hold its insert rate, but a did"), "{reasons:?}");
}

/// b is slower in both steps, which is noted of one.
#[test]
fn a_gate_may_let_pass_what_somebody_has_seen_to() {
    let steps = ["l.i0", "l.x"];
    let lab = Lab::new(&["a", "b"], &plan(&["a", "b"], &steps, 6, &[1]), 6);
    lab.run(&steps, 6, 1, &|name, place, block| {
        let chance = 1.0 + 0.001 * f64::from((block * 7 + place as u32 * 3) % 5);
        record(name, [1000.0, 900.0][place] * chance)
    });
    lab.store.finish_experiment(lab.experiment).unwrap();
    let note = |kind, step: &str, variant: &str, at_ms| store::Note {
        step: Some(step.to_owned()),
        dop: None,
        variant: Some(variant.to_owned()),
        kind,
        text: "bug 17".to_owned(),
        by: "eve".to_owned(),
        at_ms,
    };
    let add = |note| lab.store.note(lab.experiment, &note).unwrap();
    let failing = || {
        let found = lab.compare();
        [Gate::Unnoted, Gate::Regressions].map(|gate| found.gate(gate).len())
    };
    assert_eq!(failing(), [2, 2]);
    add(note(NoteKind::Expected, "l.i0", "a", 1));
    add(note(NoteKind::Expected, "l.i1", "b", 1));
    assert_eq!(failing(), [2, 2], "these are about something else");
    add(note(NoteKind::Bug, "l.i0", "b", 1_656_432_000_000));
    assert_eq!(failing(), [1, 2]);
    let text = lab.compare().render(Format::Text).unwrap();
    assert!(text.contains("noted") && text.contains("bug: bug 17 (eve, 2022-06-28)"), "{text}");
    let verdicts = lab.compare().document;
    let b = &verdicts.steps[0].variants[1];
    assert_eq!(b.relative.verdict.as_deref(), Some("regression"), "a note changes no verdict");
    add(note(NoteKind::Withdrawn, "l.i0", "b", 1_656_432_000_001));
    assert_eq!(failing(), [2, 2]);
}
