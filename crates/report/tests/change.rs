//! Changes of a system's source, counted in different experiments, and run at the same time.

use crate::common::counts::{BASE, Counting, build, options};
use crate::common::{Lab, plan, record};
use report::{
    ChangeFound, ChangeRun, Comparison, CountReport, CountedIn, JudgedChange, ReportError,
    count_between,
};

const KINDS: [(&str, u64); 2] = [("insert-100", 100), ("point", 0)];

/// A count of one variant.
fn counted(name: &str, parse: u64) -> Counting {
    let counting = Counting::new(&[name]);
    let costs = build(|cost| cost.3 += if cost.0 == "standard_planner" { parse } else { 0 });
    counting.all(&KINDS, &[Some(costs)]);
    counting.warn("no-calls", "said of both");
    counting.warn("builds-differ", "said of others");
    counting.store.finish_experiment(counting.experiment).unwrap();
    counting
}

fn of<'a>(counting: &'a Counting, variant: &'a str) -> CountedIn<'a> {
    CountedIn { store: &counting.store, experiment: counting.experiment, variant }
}

fn between(parse: u64) -> CountReport {
    let (before, after) = (counted("a", 0), counted("b", parse));
    count_between([of(&before, "a"), of(&after, "b")], &options()).unwrap()
}

#[test]
fn counts_of_two_experiments_are_those_of_one() {
    let apart = between(300);
    let one = Counting::new(&["a", "b"]);
    let slower = build(|cost| cost.3 += if cost.0 == "standard_planner" { 300 } else { 0 });
    one.all(&KINDS, &[Some(BASE.to_vec()), Some(slower)]);
    one.store.finish_experiment(one.experiment).unwrap();
    let together = one.report().document;
    assert_eq!(apart.document.counts, together.counts);
    assert_eq!((apart.document.base.as_str(), apart.document.finished), ("a", true));
    assert_eq!(apart.document.warnings.len(), 1, "each once");
    assert_eq!(apart.gate(false), one.report().gate(false));

    let (before, after) = (counted("a", 0), Counting::new(&["b"]));
    let unknown = count_between([of(&before, "x"), of(&before, "a")], &options()).unwrap_err();
    assert!(matches!(unknown, ReportError::UnknownBase { .. }), "{unknown}");
    let lacking = count_between([of(&before, "a"), of(&after, "b")], &options()).unwrap();
    assert!(!lacking.gate(false).is_empty(), "b has no counts");
    let open = Counting::new(&["a"]);
    open.all(&KINDS, &[Some(BASE.to_vec())]);
    let after = counted("b", 0);
    let open = count_between([of(&open, "a"), of(&after, "b")], &options()).unwrap();
    assert!(!open.document.finished && !open.gate(false).is_empty(), "the base is not finished");
}

/// A run in which b reaches this share of a's throughput.
fn run(blocks: u32, level: impl Fn(u32) -> f64) -> Box<Comparison> {
    let names = ["a", "b"];
    let lab = Lab::new(&names, &plan(&names, &["l.i0"], 6, &[1]), 6);
    lab.run(&["l.i0"], blocks, 1, &|name, place, block| {
        let wobble = 1.0 + 0.001 * f64::from((block * 7 + place as u32 * 3) % 5);
        record(name, 9000.0 * wobble * if place == 1 { level(block) } else { 1.0 })
    });
    lab.store.finish_experiment(lab.experiment).unwrap();
    Box::new(lab.compare())
}

fn change(run: ChangeRun) -> JudgedChange {
    let [name, base, head] = ["gate", "0123", "4567"].map(str::to_owned);
    let found = ChangeFound::Counted(Box::new(between(0)), run);
    JudgedChange { name, base, head, margin: 0.005, found }
}

fn line(change: &JudgedChange) -> String {
    let comment = change.comment().unwrap();
    comment.lines().nth(1).unwrap().to_owned()
}

#[test]
fn a_regression_in_time_does_not_pass() {
    let slower = change(ChangeRun::Compared(run(6, |_| 0.93)));
    assert_eq!(line(&slower), "**steelyard gate: 2 fine; throughput: 1 regression**");
    let [reason] = &slower.reasons(false)[..] else { panic!("{:?}", slower.reasons(false)) };
    assert!(reason.starts_with("l.i0: b is 7.0% slower than a"), "{reason}");
    let comment = slower.comment().unwrap();
    assert!(comment.contains("\n- l.i0: b is 7.0% slower than a"), "{comment}");
    assert!(comment.contains(". In throughput, l.i0: b is 7.0% slower than a"), "{comment}");
    assert!(comment.contains("and run at the same time, margin 2.0%."), "{comment}");
    let junit = slower.junit(false);
    assert!(junit.contains("name=\"l.i0 (throughput)\"><failure"), "{junit}");
    assert!(junit.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{junit}");

    let same = change(ChangeRun::Compared(run(6, |_| 1.0)));
    assert_eq!(line(&same), "**steelyard gate: 2 fine; throughput: 1 fine**");
    assert!(same.reasons(true).is_empty(), "{:?}", same.reasons(true));
}

#[test]
fn what_is_undecided_passes_unless_it_may_not() {
    let scattered = |block: u32| [0.91, 1.08, 0.95, 1.03, 0.99, 1.1][block as usize - 1];
    let open = change(ChangeRun::Compared(run(6, scattered)));
    assert_eq!(line(&open), "**steelyard gate: 2 fine; throughput: 1 inconclusive**");
    assert!(open.reasons(false).is_empty() && open.reasons(true).len() == 1);
    assert!(
        open.junit(false).contains("failures=\"0\" errors=\"0\" skipped=\"1\""),
        "{}",
        open.junit(false)
    );
}

#[test]
fn what_is_missing_in_a_run_does_not_pass() {
    let few = change(ChangeRun::Compared(run(4, |_| 1.0)));
    let reasons = few.reasons(false);
    assert!(!reasons.is_empty());
    let not_judged = format!("{} not judged**", reasons.len());
    assert!(line(&few).ends_with(&not_judged), "{} {reasons:?}", line(&few));
    let errors = format!("errors=\"{}\"", reasons.len());
    assert!(few.junit(false).contains(&errors), "{} {reasons:?}", few.junit(false));

    let dead = change(ChangeRun::Failed("the server said: @all <b>".to_owned()));
    assert_eq!(line(&dead), "**steelyard gate: 2 fine; throughput: not judged**");
    assert_eq!(dead.reasons(false), ["they can't be run: the server said: @all <b>"]);
    assert!(!dead.comment().unwrap().contains("server said"), "the author may choose that");
    assert!(dead.junit(false).contains("errors=\"1\"") && dead.junit(false).contains("&lt;b&gt;"));
}
