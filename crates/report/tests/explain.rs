//! Profiles: shares with known truth, read from the artifacts of finished trials.

use crate::common::documented::assert_is_example;
use crate::common::{Lab, counter, golden, plan, record, rich};
use report::{ExplainOptions, Format};

const VARIANTS: [&str; 2] = ["pg13.7", "pg14.3"];
const STEPS: [&str; 2] = ["l.i0", "qr100"];

/// Folded stacks of a backend that spends this many samples in each phase.
fn stacks(plan: u32, parse: u32, analyze: u32, execute: u32, palloc: u32) -> String {
    let backend = "postgres;_start;main;ServerLoop;PostgresMain";
    format!(
        "{backend};pg_plan_queries;standard_planner {plan}\n\
         {backend};[postgres];pg_parse_query;raw_parser {parse}\n\
         {backend};exec_simple_query;pg_analyze_and_rewrite;transformStmt {analyze}\n\
         {backend};[postgres];PortalRun;ExecutorRun;heap_insert {execute}\n\
         {backend};[postgres];PortalRun;ExecutorRun;palloc {palloc}\n\
         {backend};ReadyForQuery;secure_write;tcp_sendmsg_[k] 10\n\
         postgres;_start;main;CheckpointerMain;pwrite_[k] 5\n"
    )
}

/// Three blocks of both variants with a profile of l.i0 in the first two, and one of a trial that
/// failed.
fn lab() -> Lab {
    let mut text = plan(&VARIANTS, &STEPS, 3, &[1]);
    text = text.replacen("blocks = 3\n", "blocks = 3\nprofile = true\n", 1);
    let lab = Lab::new(&VARIANTS, &text, 3);
    lab.run(&STEPS, 3, 1, &|name, place, block| {
        let mut record = rich(name, place, block);
        if name == "qr100" {
            record.notes.push("no profile: the step was too short".to_owned());
        }
        let counted = [
            ("perf.task-clock/o", 0.0085),
            ("perf.page-faults/o", 0.25),
            ("perf.cpu-migrations/o", 0.0),
        ];
        for (event, value) in counted {
            record.metrics.push((event.to_owned(), value * [1.0, 1.1][place]));
        }
        record
    });
    let failed = lab.begin(1, 3, 1);
    lab.store.fail_trial(failed, "the server died").unwrap();
    let directory = report::profiles_directory(lab.store.directory(), lab.experiment);
    let step = plan::StepKey::new("l.i0", 1);
    let write = |place: usize, block: u32, trial: store::TrialId, text: &str| {
        let file = report::folded_file(&step, VARIANTS[place], block, trial);
        let path = directory.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let results = lab.results();
    for (place, variant) in results.steps[0].variants.iter().enumerate() {
        for sample in variant.samples.iter().filter(|sample| sample.block <= 2) {
            let text = match place {
                0 => stacks(20, 12, 26, 30, 2),
                _ => stacks(20, 12, 26, 30, 22),
            };
            write(place, sample.block, sample.trial, &text);
        }
    }
    write(1, 3, failed, &stacks(1000, 0, 0, 0, 0));
    lab
}

fn explained(lab: &Lab, options: &ExplainOptions) -> report::Explanation {
    report::explain(&lab.store, &lab.results(), options).unwrap()
}

#[test]
fn shares_are_those_of_the_finished_trials() {
    let lab = lab();
    let document = explained(&lab, &ExplainOptions::default()).document;
    assert_eq!(document.steps.len(), 1, "only what was profiled");
    let step = &document.steps[0];
    assert_eq!((step.key.name.as_str(), step.variants.len()), ("l.i0", 2));
    let samples: Vec<_> = step.variants.iter().map(|v| (v.samples, v.trials)).collect();
    assert_eq!(samples, [(210, 2), (250, 2)]);
    let child = |name: &str| step.children.iter().find(|child| child.function == name).unwrap();
    let percent =
        |name: &str| child(name).shares.iter().map(|s| s.unwrap() * 100.0).collect::<Vec<_>>();
    for (name, wanted) in [
        ("PortalRun", [32.0, 52.0 / 1.2]),
        ("pg_plan_queries", [20.0, 20.0 / 1.2]),
        ("pg_parse_query", [12.0, 10.0]),
        ("ReadyForQuery", [10.0, 10.0 / 1.2]),
    ] {
        for (found, wanted) in percent(name).into_iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-9, "{name}: {found} instead of {wanted}");
        }
    }
    assert_eq!(step.children[0].function, "PortalRun", "the largest comes first");
    let phases = step.variants[0].phases.as_ref().unwrap();
    assert!((phases.values().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!((phases["analyze"] - 0.26).abs() < 1e-9 && (phases["other"] - 0.10).abs() < 1e-9);
    let moved = &step.moved["pg14.3"][0];
    assert_eq!(moved.function, "palloc");
    assert!((moved.own - 44.0 / 250.0).abs() < 1e-9 && (moved.base_own - 4.0 / 210.0).abs() < 1e-9);
    assert!(moved.cpu_us.unwrap() > 1.0, "of 8.5 us and more");
    assert!((step.variants[0].events["task-clock"] - 0.0085).abs() < 1e-9);
}

#[test]
fn output_is_as_it_was() {
    let lab = lab();
    let explanation =
        explained(&lab, &ExplainOptions { functions: 4, ..ExplainOptions::default() });
    for (name, format) in [
        ("explain.txt", Format::Text),
        ("explain.md", Format::Markdown),
        ("explain.csv", Format::Csv),
    ] {
        golden(name, &explanation.render(format).unwrap());
    }
    let json = explanation.render(Format::Json).unwrap();
    assert_is_example(&json, "explain.json", "explain-json.md");
    let back: report::ExplainDocument = serde_json::from_str(&json).unwrap();
    assert_eq!(back, explanation.document);
}

/// PostgreSQL 17 spells many names of wait events differently.
#[test]
fn a_wait_with_its_newer_name_is_the_same_wait() {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["l.i0"], 3, &[1]), 3);
    lab.run(&["l.i0"], 3, 1, &|name, place, block| {
        let mut step = rich(name, place, block);
        let (spelled, time) = [("IO/WALSync", 1e9), ("IO/WalSync", 2e9)][place];
        step.counters.push(counter(metrics::WAITS, "", spelled, time));
        step.counters.push(counter(metrics::WAITS, "", "LWLock/WALWrite", time));
        step
    });
    let asked = ExplainOptions { step: Some("l.i0".to_owned()), ..ExplainOptions::default() };
    let counters = &explained(&lab, &asked).document.steps[0].counters["pg14.3"];
    let waits: Vec<(&str, f64)> = counters
        .iter()
        .filter(|shift| shift.name.starts_with("waits."))
        .map(|shift| (shift.name.as_str(), shift.ratio.unwrap().round()))
        .collect();
    assert_eq!(waits.len(), 2, "{waits:?}");
    assert!(waits.contains(&("waits.IO/WalSync", 2.0)), "{waits:?}");
    assert!(waits.contains(&("waits.LWLock/WALWrite", 2.0)), "{waits:?}");
}

#[test]
fn any_function_can_be_the_parent_and_any_variant_the_base() {
    let lab = lab();
    let options = ExplainOptions {
        step: Some("l.i0".to_owned()),
        parent: Some("PortalRun".to_owned()),
        base: Some("pg14.3".to_owned()),
        ..ExplainOptions::default()
    };
    let step = explained(&lab, &options).document.steps.remove(0);
    assert_eq!(step.variants[0].name, "pg14.3");
    assert_eq!(step.variants[0].phases, None);
    let functions: Vec<_> = step.children.iter().map(|child| child.function.as_str()).collect();
    assert_eq!(functions, ["ExecutorRun"]);
    assert_eq!(step.moved.keys().collect::<Vec<_>>(), ["pg13.7"]);
}

#[test]
fn what_is_not_there_is_said() {
    let lab = lab();
    let results = lab.results();
    let asked =
        |step: &str| ExplainOptions { step: Some(step.to_owned()), ..ExplainOptions::default() };
    let unprofiled = report::explain(&lab.store, &results, &asked("qr100")).unwrap();
    let step = &unprofiled.document.steps[0];
    assert_eq!((step.variants[0].samples, step.children.len()), (0, 0));
    assert!(step.variants[1].costs.contains_key("o/s") && !step.conclusion.is_empty());
    let printed = unprofiled.render(Format::Text).unwrap();
    assert!(printed.contains("no profile: the step was too short"), "{printed}");
    let error = report::explain(&lab.store, &results, &asked("l.i9")).unwrap_err();
    assert!(error.to_string().contains("l.i0, qr100"), "{error}");
    let bare = Lab::new(&VARIANTS, &plan(&VARIANTS, &STEPS, 1, &[1]), 1);
    bare.run(&STEPS, 1, 1, &rich);
    let error =
        report::explain(&bare.store, &bare.results(), &ExplainOptions::default()).unwrap_err();
    assert!(error.to_string().contains("--profile"), "{error}");
}

/// That nothing differs would say something, but nothing ran.
#[test]
fn what_did_not_run_has_no_differences() {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["qr100"], 1, &[1]), 1);
    let asked = ExplainOptions { step: Some("qr100".to_owned()), ..ExplainOptions::default() };
    let found = report::explain(&lab.store, &lab.results(), &asked).unwrap();
    let text = found.render(Format::Text).unwrap();
    assert!(text.contains("throughput can't be compared"), "{text}");
    assert!(!text.contains("nothing differs"), "{text}");
}

#[test]
fn flamegraphs_are_drawn_beside_the_stacks_and_into_the_page() {
    let lab = lab();
    let results = lab.results();
    assert_eq!(report::draw_flamegraphs(&lab.store, &results).unwrap(), 3);
    let directory =
        report::profiles_directory(lab.store.directory(), lab.experiment).join("l.i0.dop1");
    for (file, part) in [
        ("pg13.7.svg", "heap_insert (60 samples"),
        ("pg14.3.svg", "palloc (44 samples"),
        ("pg13.7-pg14.3.diff.svg", "palloc (44 samples"),
    ] {
        let svg = std::fs::read_to_string(directory.join(file)).unwrap();
        assert!(svg.contains(part), "`{part}` is missing in {file}");
    }
    if !report::has_page() {
        return testing::skip("built without the page; make build builds it");
    }
    let html = report::html(&lab.store, &results, None, "0.1.0").unwrap();
    assert!(html.contains("\"profiles\":[{\"step\":\"l.i0\""));
    assert!(html.contains("Percentage of samples for children of PostgresMain: l.i0"));
}

#[test]
fn counts_are_pointed_to_where_they_would_tell_more() {
    let command = "steelyard count --plan-of 1".to_owned();
    let pointed = |grown: f64, lost: f64| {
        let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["l.i0"], 6, &[1]), 6);
        lab.run(&["l.i0"], 6, 1, &|name, place, block| {
            let chance = 1.0 + 0.001 * f64::from((block * 7 + place as u32 * 3) % 5);
            let mut step = record(name, 1e4 * chance * [1.0, lost][place]);
            step.metrics.push(("dbms.cpu/o".to_owned(), 8.5 * [1.0, grown][place] / chance));
            step
        });
        let options = ExplainOptions {
            step: Some("l.i0".to_owned()),
            counting: Some(command.clone()),
            ..ExplainOptions::default()
        };
        explained(&lab, &options).render(Format::Text).unwrap().contains(&command)
    };
    assert!(pointed(1.1, 0.9), "what needs more CPU can be found in the code");
    assert!(pointed(1.0, 1.0), "nothing is certain yet");
    assert!(!pointed(1.0, 0.9), "what waits has no more instructions");
}

/// An insert stream at a fixed rate: what it makes is told as that.
#[test]
fn a_fixed_rate_is_no_cause_and_no_finding() {
    let said = |step: &str| {
        let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["l.i0", "l.x", "qr100"], 6, &[1]), 6);
        lab.run(&["l.i0", "l.x", "qr100"], 6, 1, &|name, place, block| {
            let chance = 1.0 + 0.001 * f64::from((block * 7 + place as u32 * 3) % 5);
            let mut step = record(name, 1e4 * chance * [1.0, 0.8][place]);
            step.metrics.push(("insert.target".to_owned(), 100.0));
            step.metrics.push(("insert.held".to_owned(), 1.0));
            step.metrics.push(("wKB/o".to_owned(), 24.0 * [1.0, 1.2][place] * chance));
            step
        });
        let asked = ExplainOptions { step: Some(step.to_owned()), ..ExplainOptions::default() };
        explained(&lab, &asked).document.steps[0].conclusion["pg14.3"].clone()
    };
    let given = said("l.i0");
    assert!(
        given.contains("throughput is given, since its inserts come at a fixed rate"),
        "{given}"
    );
    let beside = said("qr100");
    let effect = "an effect of throughput and no cause, may explain wKB/o";
    assert!(beside.contains("throughput down") && beside.contains(effect), "{beside}");
}
