//! Instruction counts of known truth, from a store to print.
use crate::common::counts::{BASE, Counting, add, begin, build, options, record};
use crate::common::{Lab, golden, plan};
use report::{CountOptions, CountedVariant, Format, ReportError, Which};
use store::CountRecord;

const KINDS: [(&str, u64); 4] =
    [("insert-1", 1), ("insert-100", 100), ("range-10", 10), ("point", 0)];

/// Three versions: the second executes more, the third is the first but for a function of another
/// name.
fn three() -> Counting {
    let counting = Counting::new(&["pg13.7", "pg14.3", "pg15.0"]);
    let slower = build(|cost| match cost.0 {
        "ExecInterpExpr" => cost.4 += 82,
        "palloc" => cost.4 += 21,
        "core_yylex" => cost.4 += 11,
        "standard_planner" => cost.3 -= 140,
        _ => {}
    });
    let renamed = build(|cost| {
        if cost.0 == "ExecModifyTable" {
            cost.0 = "ExecInsert";
        }
    });
    counting.all(&KINDS, &[Some(BASE.to_vec()), Some(slower.clone()), Some(renamed)]);
    let prepared = |costs: &[_]| CountRecord {
        protocol: "prepared".to_owned(),
        place: "backend".to_owned(),
        ..record("point", 0, costs)
    };
    counting.record(0, &prepared(&BASE));
    counting.record(1, &prepared(&slower));
    counting.warn("builds-differ", "pg14.3 was compiled by gcc 13.2,\npg13.7 by gcc 12.2");
    counting.store.finish_experiment(counting.experiment).unwrap();
    counting
}

fn variant<'a>(report: &'a report::CountReport, kind: &str, name: &str) -> &'a CountedVariant {
    let kinds = report.document.counts.iter().filter(|k| k.kind == kind && k.protocol == "simple");
    kinds.flat_map(|kind| &kind.variants).find(|variant| variant.name == name).unwrap()
}

#[test]
fn printed_in_the_published_shape() {
    let report = three().report();
    golden("count.txt", &report.render(Format::Text).unwrap());
    golden("count.md", &report.render(Format::Markdown).unwrap());
    golden("count.csv", &report.render(Format::Csv).unwrap());
    let mut json = three().report_with(&CountOptions { functions: 2, ..options() });
    json.document.counts.truncate(2);
    golden("count.json", &json.render(Format::Json).unwrap());
}

#[test]
fn a_terminal_gets_a_line_for_each_count_and_the_functions_that_moved() {
    for width in [80, 100] {
        let report = three().report_with(&CountOptions { brief: Some(width), ..options() });
        let text = report.render(Format::Text).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        assert!(text.lines().count() <= 22, "{text}");
        golden(&format!("count-brief-{width}.txt"), &text);
    }
    // Of many kinds, those that moved most.
    let many = Counting::new(&["a", "b"]);
    for place in 0..40 {
        let grown = build(|cost| cost.3 += if place % 8 == 0 { 100 + place } else { 0 });
        let kind = [(&*format!("statement-{place}"), 1)];
        many.all(&kind, &[Some(BASE.to_vec()), Some(grown)]);
    }
    let brief = CountOptions { brief: Some(100), ..options() };
    let text = many.report_with(&brief).render(Format::Text).unwrap();
    assert!(text.lines().count() <= 22 && text.contains("31 more counts; all counts"), "{text}");
    for place in [0, 8, 16, 24, 32] {
        assert!(text.contains(&format!("\nstatement-{place} ")), "{text}");
    }
    // A regression is among them, however many improvements are larger.
    let worse = Counting::new(&["a", "b", "c"]);
    for place in 0..12 {
        let moved = build(|cost| cost.3 = if place == 11 { cost.3 * 11 / 10 } else { cost.3 / 2 });
        worse.all(&[(&*format!("statement-{place}"), 1)], &[Some(BASE.to_vec()), Some(moved)]);
    }
    let text = worse.report_with(&brief).render(Format::Text).unwrap();
    let line = text.lines().find(|line| line.starts_with("statement-11 ")).unwrap();
    assert!(line.ends_with("regression"), "{text}");
    assert!(text.contains("c has no count"), "{text}");
    let alone = Counting::new(&["a"]);
    alone.all(&KINDS, &[Some(BASE.to_vec())]);
    let text = alone.report_with(&brief).render(Format::Text).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Instructions per statement"));
    let head: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["kind", "a"], "{text}");
}

#[test]
fn what_is_not_counted_fails_the_gate() {
    let whole = three().report();
    let mut reasons = whole.gate(true);
    assert_eq!(reasons.pop().as_deref(), Some("point (prepared): pg15.0 has no count"));
    assert_eq!(reasons, whole.regressions());
    let counting = Counting::new(&["a", "b"]);
    counting.record(0, &record("point", 0, &BASE));
    let reasons = counting.report().gate(false);
    assert_eq!(reasons, ["the count is not finished: run it again", "b has no count"]);
    counting.record(1, &record("other", 0, &BASE));
    let reasons = counting.report().gate(false);
    assert_eq!(reasons[1..], ["point (simple): b has no count", "other (simple): a has no count"]);
}

#[test]
fn an_added_loop_is_the_first_row() {
    let counting = Counting::new(&["a", "b"]);
    let looped = build(|cost| {
        if cost.0 == "exprType" {
            cost.3 += 120;
        }
    });
    counting.all(&KINDS, &[Some(BASE.to_vec()), Some(looped)]);
    let report = counting.report_with(&CountOptions { every_kind: true, ..options() });
    for (kind, rows) in KINDS {
        let found = variant(&report, kind, "b");
        let all: u64 = BASE.iter().map(|cost| cost.3 + rows.max(1) * cost.4).sum();
        let ratio = (all + 120) as f64 / all as f64;
        assert!((found.relative.unwrap() - ratio).abs() < 1e-6, "{kind}");
        assert_eq!(found.certain, Some(true), "{kind}");
        let moved: Vec<_> = found
            .functions
            .iter()
            .filter(|function| function.difference.unwrap().own.abs() > 1e-9)
            .map(|function| (function.name.as_str(), function.difference.unwrap().own))
            .collect();
        assert_eq!(moved, [("exprType", 120.0)], "{kind}: the loop alone moved");
        let phases: Vec<_> = found
            .phases
            .iter()
            .filter(|phase| phase.difference != Some(0.0))
            .map(|phase| (phase.name.as_str(), phase.difference.unwrap()))
            .collect();
        assert_eq!(phases, [("analyze", 120.0)], "{kind}");
    }
    let text = report.render(Format::Text).unwrap();
    let table = text.split("Functions of insert-100").nth(1).unwrap();
    let first = table.lines().skip_while(|line| !line.starts_with("function ")).nth(1).unwrap();
    assert!(first.starts_with("exprType "), "{first}");
    let said = &report.document.sentences[0].sentence;
    assert!(said.contains("100% of the difference is in analyze; exprType grew most"), "{said}");
    assert_eq!(variant(&report, "insert-100", "b").verdict.as_deref(), Some("equivalent"));
    assert_eq!(report.regressions().len(), 0, "under the margin of 2%");
    let strict = counting.report_with(&CountOptions { margin: Some(0.001), ..options() });
    assert_eq!(strict.regressions().len(), 3, "{:?}", strict.regressions());
}

#[test]
fn half_a_percent_is_told_from_nothing() {
    let half = |repeats: f64| {
        let counting = Counting::new(&["a", "b"]);
        let mut one = record("point", 0, &BASE);
        one.phases.clear();
        one.total = 50_000_000;
        one.counts = vec![50_000_000, 50_000_150];
        counting.record(0, &one);
        one.total = 50_250_000;
        one.counts = vec![50_250_000, (50_250_000.0 * (1.0 + repeats)) as u64];
        counting.record(1, &one);
        let report = counting.report();
        let found = variant(&report, "point", "b");
        let open = |strict| {
            let mut reasons = report.gate(strict);
            reasons.retain(|reason| reason.contains("inconclusive"));
            reasons
        };
        let gates = [open(false), open(true)];
        let (ratio, certain) = (found.relative.unwrap(), found.certain.unwrap());
        (ratio, certain, report.render(Format::Text).unwrap(), gates)
    };
    let (ratio, certain, text, gates) = half(0.000_003);
    assert!(gates.iter().all(Vec::is_empty), "{gates:?}");
    assert!((ratio - 1.005).abs() < 1e-7 && certain);
    assert!(
        text.contains("1.0050") && text.contains("+0.50%") && text.contains("0.002%"),
        "{text}"
    );
    let (_, certain, text, gates) = half(0.006);
    assert_eq!(gates, [vec![], vec!["point (simple): b is inconclusive".to_owned()]]);
    assert!(!certain, "no better than it repeats");
    // By 3.8%, which is more than the margin: nothing is known.
    assert!(text.contains("  inconclusive") && !text.contains("  same"), "{text}");
    assert!(text.contains("not known well enough"), "{text}");
}

/// Misses of caches, which repeat less well, beside instructions.
#[test]
fn other_events_stand_beside_instructions() {
    let counting = Counting::new(&["a", "b"]);
    let slower = build(|cost| cost.4 += u64::from(cost.0 == "heap_insert") * 48);
    counting.all(&[("insert", 100)], &[Some(BASE.to_vec()), Some(slower)]);
    let misses = |each: u64, scatter: u64| CountRecord {
        event: "L1 misses".to_owned(),
        total: each * 100,
        counts: vec![each * 100, each * 100 + scatter],
        phases: Vec::new(),
        functions: Vec::new(),
        ..record("insert", 100, &BASE)
    };
    counting.record(0, &misses(400, 1));
    counting.record(1, &misses(1200, 4_000));
    let report = counting.report();
    let json: serde_json::Value =
        serde_json::from_str(&report.render(Format::Json).unwrap()).unwrap();
    assert_eq!(
        (json["event"].as_str(), json["counts"].as_array().unwrap().len()),
        (Some("instructions"), 1)
    );
    assert_eq!(json["events"][0]["event"], "L1 misses");
    let text = report.render(Format::Text).unwrap();
    assert!(text.contains("Events per statement: simple protocol, backend"), "{text}");
    let row = text.lines().find(|line| line.contains("L1 misses") && line.contains("400")).unwrap();
    assert!(row.contains("1220") && row.contains("3.0500") && row.ends_with("regression"), "{row}");
    let gated = report.regressions();
    assert!(gated.len() == 1 && gated[0].contains("more instructions"), "{gated:?}");

    let of_misses = CountOptions { event: Some("l1 MISSES".to_owned()), ..options() };
    let report = counting.report_with(&of_misses);
    let gated = report.regressions();
    assert!(gated.len() == 1 && gated[0].contains("205.0% more L1 misses"), "{gated:?}");
    let text = report.render(Format::Text).unwrap();
    assert!(text.contains("has 205.0% more L1 misses per row of insert than a"), "{text}");
    assert!(text.contains("L1 misses: simple protocol, backend"), "{text}");
    let brief = CountOptions { brief: Some(100), ..options() };
    let text = counting.report_with(&brief).render(Format::Text).unwrap();
    assert!(text.contains("L1 misses") && text.contains("heap_insert"), "{text}");
    // The base has none of an event: there is no ratio, but a regression.
    let calls = |each: u64| CountRecord {
        event: "system calls".to_owned(),
        total: each * 100,
        counts: vec![each * 100; 2],
        ..misses(0, 0)
    };
    counting.record(0, &calls(0));
    counting.record(1, &calls(40));
    let of_calls = CountOptions { event: Some("system calls".to_owned()), ..options() };
    let report = counting.report_with(&of_calls);
    let gated = report.regressions();
    assert!(gated.len() == 1 && gated[0].contains("has more system calls than a"), "{gated:?}");
    let text = report.render(Format::Text).unwrap();
    let verdicts = text.split("Verdicts: ").nth(1).unwrap();
    assert!(verdicts.lines().any(|line| line.ends_with("  regression")), "{text}");
    let unknown = CountOptions { event: Some("page faults".to_owned()), ..options() };
    let error =
        report::count(&counting.store, counting.experiment, &unknown).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("instructions, L1 misses"), "{error}");
}

#[test]
fn no_count_is_dropped_for_being_far_off() {
    let counting = Counting::new(&["a", "b"]);
    let mut one = record("point", 0, &BASE);
    one.phases.clear();
    one.counts = vec![one.total; 2];
    counting.record(0, &one);
    // Two that agree, and three others: 0.4% more is not a difference.
    let of = |part: f64| (one.total as f64 * (1.0 + part)) as u64;
    let counts = vec![of(0.004), of(0.004), of(0.0), of(0.008), of(-0.002)];
    counting.record(1, &CountRecord { total: counts[0], counts, ..one.clone() });
    let report = counting.report();
    let found = variant(&report, "point", "b");
    assert_eq!((found.certain, found.counts.len()), (Some(false), 5));
    assert!((found.spread - 0.01).abs() < 1e-4, "{}", found.spread);
    let text = report.render(Format::Text).unwrap();
    assert!(text.contains("1.00% of 5"), "{text}");
}

#[test]
fn the_same_build_twice_is_the_same() {
    let counting = Counting::new(&["a", "a.again"]);
    counting.all(&KINDS, &[Some(BASE.to_vec()), Some(BASE.to_vec())]);
    // A path that is longer by a character.
    let mut nearly = record("insert-5", 5, &BASE);
    counting.record(0, &nearly);
    nearly.total += 4;
    nearly.phases[4].total += 4;
    nearly.counts = vec![nearly.total; 2];
    counting.record(1, &nearly);
    let report = counting.report();
    for kind in &report.document.counts {
        assert_eq!(kind.variants[1].verdict.as_deref(), Some("same"), "{}", kind.kind);
    }
    let text = report.render(Format::Text).unwrap();
    assert_eq!(text.matches(" 0.00% ").count(), KINDS.len() + 1, "{text}");
    assert!(text.contains("no kind moved") && !text.contains("Functions of"), "{text}");
    assert!(text.contains("a.again - executes as many instructions as a:"), "{text}");
    assert!(report.regressions().is_empty());
}

#[test]
fn what_one_build_alone_has_is_shown_so() {
    let counting = Counting::new(&["a", "b"]);
    let other = build(|cost| {
        if cost.0 == "heap_insert" {
            cost.0 = "heap_multi_insert";
            cost.4 -= 100;
        }
    });
    let mut lacking = BASE.to_vec();
    lacking.retain(|cost| cost.0 != "create_plan");
    counting.all(&[("insert-100", 100)], &[Some(BASE.to_vec()), Some(other)]);
    counting.all(&[("point", 0)], &[Some(BASE.to_vec()), Some(lacking)]);
    let report = counting.report_with(&CountOptions { every_kind: true, ..options() });
    let names = |kind: &str| -> Vec<(String, bool, bool)> {
        let all = &variant(&report, kind, "b").functions;
        let one_sided = all.iter().filter(|f| f.base.is_none() || f.variant.is_none());
        one_sided.map(|f| (f.name.clone(), f.base.is_some(), f.variant.is_some())).collect()
    };
    assert_eq!(
        names("insert-100"),
        [("heap_insert".to_owned(), true, false), ("heap_multi_insert".to_owned(), false, true)]
    );
    assert_eq!(names("point"), [("create_plan".to_owned(), true, false)]);
    let text = report.render(Format::Text).unwrap();
    assert!(text.contains("insert-100, point: – 1 not executed in b\n"), "{text}");
    let said = &report.document.sentences[0].sentence;
    assert_eq!(
        said,
        "b executes 6.9% fewer instructions per statement of point than a; 100% of the difference is in plan; create_plan shrank most"
    );
}

#[test]
fn a_lone_variant_shows_what_it_costs() {
    let counting = Counting::new(&["a"]);
    counting.all(&KINDS, &[Some(BASE.to_vec())]);
    let report = counting.report();
    assert!(report.document.sentences.is_empty());
    let text = report.render(Format::Text).unwrap();
    assert!(!text.contains("relative to first") && !text.contains("Verdicts"), "{text}");
    let table = text.split("Functions of insert-1, a").nth(1).unwrap();
    let first = table.lines().skip_while(|line| !line.starts_with("function ")).nth(1).unwrap();
    assert!(first.starts_with("standard_planner"), "{first}");
}

#[test]
fn what_was_not_counted_is_not_compared() {
    let counting = Counting::new(&["a", "b", "c"]);
    counting.record(0, &record("point", 0, &BASE));
    counting.record(1, &record("insert-1", 1, &BASE));
    // The same statements in another process.
    let elsewhere = CountRecord { place: "engine".to_owned(), ..record("point", 0, &BASE) };
    counting.record(1, &elsewhere);
    let report = counting.report();
    assert!(report.document.counts.iter().flat_map(|k| &k.variants).all(|v| v.relative.is_none()));
    assert_eq!(report.document.sentences.len(), 1, "c has no count at all");
    assert_eq!(report.document.sentences[0].sentence, "b has no kind in common with a");
    report.render(Format::Text).unwrap();
}

#[test]
fn many_kinds_are_rows() {
    let counting = Counting::new(&["a", "b"]);
    let kinds: Vec<String> = (0..14).map(|n| format!("statement-{n}")).collect();
    for kind in &kinds {
        counting.record(0, &record(kind, 2, &BASE));
        counting.record(1, &record(kind, 2, &BASE));
    }
    let text = counting.report().render(Format::Text).unwrap();
    assert!(text.contains("\nkind              a      b\nstatement-0 "), "{text}");
}

#[test]
fn another_base_and_wrong_requests() {
    let counting = three();
    let other =
        counting.report_with(&CountOptions { base: Some("pg14.3".to_owned()), ..options() });
    let found = variant(&other, "insert-100", "pg13.7");
    assert_eq!(found.verdict.as_deref(), Some("improvement"));
    assert!(other.document.sentences[0].sentence.contains("fewer instructions"));
    let error = |store, id, options: &CountOptions| {
        report::count(store, id, options).map(|_| ()).unwrap_err()
    };
    let base = CountOptions { base: Some("pg9".to_owned()), ..options() };
    let found = error(&counting.store, counting.experiment, &base);
    assert!(matches!(found, ReportError::UnknownBase { .. }), "{found}");
    let margin = CountOptions { margin: Some(2.0), ..options() };
    let found = error(&counting.store, counting.experiment, &margin);
    assert!(matches!(found, ReportError::BadMargin { .. }), "{found}");
    let empty = begin(&counting.store, "a");
    add(&counting.store, empty, "a");
    let found = error(&counting.store, empty, &options());
    assert!(matches!(found, ReportError::NoCounts { .. }), "{found}");
}

#[test]
fn runs_and_counts_are_asked_for_apart() {
    let variants = ["a", "b"];
    let lab = Lab::new(&variants, &plan(&variants, &["l.i0"], 1, &[1]), 1);
    lab.run(&["l.i0"], 1, 1, &|name, _, _| crate::common::record(name, 5.0));
    let count = begin(&lab.store, "a");
    let variant = add(&lab.store, count, "a");
    lab.store.record_count(variant, &record("point", 0, &BASE)).unwrap();
    assert_eq!(lab.results().experiment.id, lab.experiment, "the latest run, not the count");
    for which in [Which::Id(count), Which::Named("insert-costs"), Which::Named("2")] {
        let error = report::load(&lab.store, which).unwrap_err();
        assert!(matches!(error, ReportError::NotARun { .. }), "{error}");
    }
    let error = report::load(&lab.store, Which::Named("none")).unwrap_err();
    match error {
        ReportError::UnknownExperiment { known, .. } => assert_eq!(known, ["load-regression"]),
        other => panic!("{other}"),
    }
    let run = report::count(&lab.store, lab.experiment, &options());
    assert!(matches!(run, Err(ReportError::NoCounts { .. })));
}

/// 10 kinds × 2 protocols × 6 variants with 1500 functions each, from the store to JSON.
#[test]
#[ignore = "a bound: make bench"]
fn a_large_count_is_laid_out_at_once() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let counting = Counting::new(&names);
    for (protocol, kind) in ["simple", "prepared"].iter().flat_map(|p| (0..10).map(move |k| (p, k)))
    {
        for place in 0..names.len() {
            let mut large = record(&format!("insert-{kind}"), kind + 1, &BASE);
            large.protocol = (*protocol).to_owned();
            large.functions.extend((0..1500u64).map(|n| store::CountFunction {
                name: format!("function{n}"),
                object: "postgres".to_owned(),
                own: 100 * (n % 97) + place as u64,
                inclusive: 100 * n,
                calls: n,
            }));
            counting.record(place, &large);
        }
    }
    let begin = std::time::Instant::now();
    let report = counting.report();
    let text = report.render(Format::Text).unwrap();
    let took = begin.elapsed();
    println!("120 counts with 1500 functions each: read and laid out in {took:?}");
    assert!(text.contains("insert-9"), "{text}");
    assert!(took.as_secs_f64() < 1.0, "{took:?}");
}
