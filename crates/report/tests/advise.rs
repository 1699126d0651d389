//! Advice, from stores to print.
use std::time::Duration;

use crate::common::golden;
use crate::common::many::{Many, Request, plan};
use plan::Plan;
use report::{Advice, AdviseOptions, Chosen, Format, ReportError, advise};

const SYSTEMS: [(&str, &str, &str); 2] = [("pg13.7", "13.7", "1GB"), ("pg14.3", "14.3", "1GB")];

/// Six blocks of two variants; trials of qr100 scatter by 1.4%, those of l.i0 by a tenth of it.
fn pilot() -> Many {
    let many = Many::new();
    many.run(
        &Request { systems: &SYSTEMS, blocks: 6, ..Request::default() },
        &|place, step, _, block| {
            let size = if step == "qr100" { 0.02 } else { 0.002 };
            let wobble = f64::from((block * 5 + place as u32 * 4) % 7) / 3.0 - 1.0;
            10_000.0 * (1.0 + size * wobble)
        },
    );
    many
}

fn wanted(text: &str) -> Plan {
    Plan::parse(text, None, "test").unwrap()
}

fn same_plan() -> Plan {
    wanted(&plan(&Request { systems: &SYSTEMS, blocks: 6, ..Request::default() }))
}

fn options(hours: u64) -> AdviseOptions {
    AdviseOptions {
        chosen: Chosen::All,
        budget: Duration::from_secs(3600 * hours),
        margin: None,
        scale_rows: false,
    }
}

fn found(many: &Many, plan: &Plan, options: &AdviseOptions) -> Advice {
    advise(&many.sources(), plan, options).unwrap()
}

#[test]
fn printed_with_the_plan_to_run() {
    let many = pilot();
    let advice = found(&many, &same_plan(), &options(8));
    golden("advise.txt", &advice.render(Format::Text).unwrap());
    golden("advise.md", &advice.render(Format::Markdown).unwrap());
    golden("advise.csv", &advice.render(Format::Csv).unwrap());
    golden("advise.json", &advice.render(Format::Json).unwrap());
    let again = wanted(&advice.document.toml);
    assert_eq!(again.to_toml(), advice.document.toml, "the text means the plan");
    assert_eq!(again.blocks, advice.document.blocks);
    let steps = &advice.document.steps;
    assert!(steps.iter().all(|step| step.decided == Some(true)), "{steps:?}");
    assert!(advice.document.time <= 8.0 * 3600.0);
}

#[test]
fn more_time_never_decides_less_and_all_of_it_fits() {
    let many = pilot();
    let mut before = (0, f64::INFINITY);
    for minutes in [30, 60, 120, 300, 600, 3000] {
        let budget = Duration::from_secs(60 * minutes);
        let document = found(&many, &same_plan(), &AdviseOptions { budget, ..options(0) }).document;
        assert!(document.time <= budget.as_secs_f64(), "{document:?}");
        let decided = document.steps.iter().filter(|step| step.decided == Some(true)).count();
        let open: f64 = document.steps.iter().filter_map(|step| step.detectable).sum();
        assert!(decided > before.0 || (decided == before.0 && (open <= before.1 || decided == 3)));
        before = (decided, open);
    }
    assert_eq!(before.0, 3, "fifty hours decide all");
}

#[test]
fn decided_steps_are_those_whose_effect_is_within_the_margin() {
    let many = pilot();
    let narrow = AdviseOptions { margin: Some(0.001), ..options(1) };
    let document = found(&many, &same_plan(), &narrow).document;
    assert!((document.margin - 0.001).abs() < 1e-12);
    for step in &document.steps {
        assert_eq!(step.decided, Some(step.detectable.unwrap() <= 0.001), "{step:?}");
        assert!(step.half_width.unwrap() < step.detectable.unwrap());
    }
    let scatter = &document.steps[2];
    assert!((0.005..0.03).contains(&scatter.between.unwrap()), "{scatter:?}");
    assert!(document.steps[1].second.is_none(), "l.x has no seconds");
    assert!(document.notes.iter().any(|note| note.contains("l.x dop=1")), "{:?}", document.notes);
}

/// The detectable effect must be confirmed among all comparisons of the plan, at any look.
#[test]
fn the_detectable_effect_counts_comparisons_and_looks() {
    let many = pilot();
    for (keys, tests) in [("", 3.0), ("restore_after = \"l.x\"", 1.0), ("max_blocks = 8", 6.0)] {
        let request =
            Request { systems: &SYSTEMS, blocks: 6, keys: (keys, ""), ..Request::default() };
        // Too little time for more than six blocks, which have looks after 6 and 8.
        let tight = AdviseOptions { budget: Duration::from_secs(720), ..options(0) };
        let document = found(&many, &wanted(&plan(&request)), &tight).document;
        assert!(tests < 6.0 || document.blocks == 6, "{}", document.blocks);
        let freedom = f64::from(document.blocks) - 1.0;
        for step in document.steps.iter().filter(|step| step.detectable.is_some()) {
            let error = step.half_width.unwrap().ln_1p() / judge::t_quantile(0.975, freedom);
            let expected = judge::detectable_effect(error, freedom, 0.05 / tests).unwrap();
            assert!((step.detectable.unwrap() / expected - 1.0).abs() < 1e-9, "{keys}: {step:?}");
        }
    }
}

#[test]
fn rows_grow_only_when_they_may() {
    let many = pilot();
    let rows = |advice: &Advice| wanted(&advice.document.toml).workload.rows()[0];
    let kept = found(&many, &same_plan(), &options(8));
    assert_eq!(rows(&kept), 100_000);
    assert!(kept.document.notes.iter().any(|note| note.contains("--scale-rows")));
    let may = AdviseOptions { scale_rows: true, margin: Some(0.0002), ..options(300) };
    let grown = found(&many, &same_plan(), &may);
    assert!(rows(&grown) >= 100_000 && rows(&grown) % 100_000 == 0);
    let now = grown.document.steps[0].seconds_now.unwrap();
    let factor = rows(&grown) as f64 / 100_000.0;
    assert!((grown.document.steps[0].seconds.unwrap() - now * factor).abs() < 1e-9);
}

#[test]
fn other_sizes_serve_where_the_same_is_not_stored() {
    let many = pilot();
    let request = Request { systems: &SYSTEMS, rows: 400_000, ..Request::default() };
    let document = found(&many, &wanted(&plan(&request)), &options(8)).document;
    assert!(document.notes[0].contains("different number of rows"), "{:?}", document.notes);
    assert!((document.steps[0].seconds_now.unwrap() - 48.0).abs() < 1e-9, "four times 12 s");
}

#[test]
fn a_load_that_runs_once_is_paid_once_and_not_judged() {
    let many = pilot();
    let request =
        Request { systems: &SYSTEMS, keys: ("restore_after = \"l.x\"", ""), ..Request::default() };
    let kept = found(&many, &wanted(&plan(&request)), &options(1)).document;
    let loaded = found(&many, &same_plan(), &options(1)).document;
    assert!(kept.steps[0].decided.is_none() && kept.steps[2].decided.is_some());
    assert!(kept.blocks > loaded.blocks || kept.time < loaded.time, "{kept:?}");
    assert!(kept.notes.iter().any(|note| note.contains("restore_after")));
}

#[test]
fn what_cannot_be_advised_on() {
    let empty = Many::new();
    let error = |many: &Many, plan: &Plan, options: &AdviseOptions| {
        advise(&many.sources(), plan, options).map(|_| ()).unwrap_err()
    };
    let pilot_first = error(&empty, &same_plan(), &options(8));
    let said =
        "(l.i0 dop=1, l.x dop=1, qr100 dop=1), found no finished trial; run a pilot of 3 blocks";
    assert!(pilot_first.to_string().contains(said), "{pilot_first}");
    let many = pilot();
    let other = Request { systems: &SYSTEMS, keys: ("", "partitions = 4"), ..Request::default() };
    let other = error(&many, &wanted(&plan(&other)), &options(8));
    let said = "found experiment 1 nightly, with other workloads or other settings of it; run";
    assert!(other.to_string().contains(said), "{other}");
    let more = Request { systems: &SYSTEMS, dops: &[4], ..Request::default() };
    let other = error(&many, &wanted(&plan(&more)), &options(8)).to_string();
    assert!(other.contains("(l.i0 dop=4, l.x dop=4"), "{other}");
    assert!(other.contains("found only l.i0 dop=1, l.x dop=1, qr100 dop=1; run"), "{other}");
    let one = Many::new();
    one.run(&Request { systems: &SYSTEMS, blocks: 1, ..Request::default() }, &|_, _, _, _| 1e4);
    let single = error(&one, &same_plan(), &options(8)).to_string();
    assert!(single.contains("no two trials of one variant in experiment 1 nightly"), "{single}");
    let short = AdviseOptions { budget: Duration::from_secs(60), ..options(0) };
    let short = error(&many, &same_plan(), &short).to_string();
    assert!(short.contains("for two blocks, found 1m"), "{short}");
    let margin = AdviseOptions { margin: Some(2.0), ..options(8) };
    assert!(matches!(error(&many, &same_plan(), &margin), ReportError::BadMargin { .. }));
    // Two to five blocks are better than none; a note says that they are few.
    let tight = AdviseOptions { budget: Duration::from_secs(500), ..options(0) };
    let tight = found(&many, &same_plan(), &tight).document;
    assert!((2..6).contains(&tight.blocks), "{}", tight.blocks);
    assert!(tight.notes.iter().any(|note| note.contains("too few blocks")), "{:?}", tight.notes);
}

/// Steps of one name stay apart, and trials of several experiments count together.
#[test]
fn every_step_of_several_experiments_has_a_block() {
    let many = Many::new();
    for (day, name) in [(0, "monday"), (1, "tuesday")] {
        let dops = &[1, 4];
        let request =
            Request { name, day, systems: &SYSTEMS, dops, blocks: 2, ..Request::default() };
        many.run(&request, &|_, _, dop, block| 1e4 + f64::from(dop * 100 + block));
    }
    let asked = Request { systems: &SYSTEMS, dops: &[1, 4], ..Request::default() };
    let advice = found(&many, &wanted(&plan(&asked)), &options(8));
    let text = advice.render(Format::Text).unwrap();
    assert!(text.contains("experiments 1 monday, 2 tuesday"), "{text}");
    for dop in [1, 4] {
        for step in ["l.i0", "l.x", "qr100"] {
            let heading = format!("\n{step} dop={dop}: decided");
            let (_, block) = text.split_once(&heading).expect(&heading);
            let block = block.split("\n\n").next().unwrap();
            assert!(block.lines().count() == 3 && block.contains("from 8 trials"), "{text}");
        }
    }
    assert!(
        text.lines()
            .take_while(|line| *line != "The plan")
            .all(|line| { line.starts_with("! ") || line.chars().count() <= 100 })
    );
}
