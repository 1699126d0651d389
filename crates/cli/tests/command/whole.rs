//! One plan from the command to the tables and the page.

use serde_json::Value;

use crate::database::Database;
use crate::place::Place;
use crate::plans::{BOTH, plan};

const STEPS: [&str; 10] =
    ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"];

#[test]
fn all_steps_of_both_variants_from_one_command() {
    let place = Place::new();
    let file = place.plan(&plan(BOTH, "blocks = 2", ""));
    let ran = place.run(&[&file]);
    ran.expect(0, &["10 steps, measured in 4 trials", "trial 4/4"]);
    for part in ["--- relative to first result", "pg14.3", "qp1000", "Insert rate", "compare"] {
        assert!(ran.stdout.contains(part), "`{part}` is missing in:\n{}", ran.stdout);
    }
    let database = Database::of(&place.results());
    database.assert_sound();
    assert_eq!(database.finished().len(), 4);
    assert!(database.number("SELECT count(*) FROM setting WHERE name = 'shared_buffers'") > 0);
    assert!(database.number("SELECT count(*) FROM host_fact") > 5);
    check_metrics(&place);
    check_json(&place);
    check_tables(&place);
    check_report(&place);
    let brief = place.steelyard(&["compare", "--brief"]);
    brief.expect(0, &[]);
    let p99 = place.steelyard(&["compare", "--brief", "--metric", "p99"]);
    p99.expect(0, &[]);
    assert!(p99.stdout.starts_with("p99 relative to pg13.7: 2 blocks\n"));
    assert!(brief.stdout.starts_with("Throughput relative to pg13.7: 2 blocks\n"));
    assert!(brief.stdout.lines().all(|line| line.chars().count() <= 100), "{}", brief.stdout);
    let list = place.steelyard(&["list"]);
    list.expect(0, &[]);
    assert!(
        list.stdout.contains("1\tsmall\tinsert\tfinished\t4\tpg13.7 pg14.3"),
        "{}",
        list.stdout
    );
    // A difference between versions is not a failure unless requested.
    let gate = place.steelyard(&["compare", "--gate", "--margin", "99"]);
    assert!(matches!(gate.code, Some(0 | 1)), "{}", gate.stderr);
}

/// Every cost and response time that a run stores can be judged.
fn check_metrics(place: &Place) {
    let results = store::Store::open_read_only(&place.results()).unwrap();
    let experiment = results.latest().unwrap().unwrap().id;
    let names = results.metric_names(experiment).unwrap();
    let judged = |name: &&String| {
        name.ends_with("/o")
            || ["query.", "insert.p", "delete.p"].iter().any(|p| name.starts_with(p))
    };
    let names: Vec<String> = names.iter().filter(judged).cloned().collect();
    assert!(names.len() > 15, "{names:?}");
    let by_all =
        place.steelyard(&["compare", "--tables", "verdicts", "--metric", &names.join(",")]);
    by_all.expect(0, &[]);
    for name in &names {
        let title = format!("Verdicts: {name}\n");
        assert!(name == "o/s" || by_all.stdout.contains(&title), "{name}:\n{}", by_all.stdout);
    }
}

/// Every step with both variants: absolute, relative, interval and costs (docs/compare-json.md).
fn check_json(place: &Place) {
    let json = place.steelyard(&["compare", "--format", "json"]);
    json.expect(0, &[]);
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(document["format"], 3);
    assert_eq!(document["base"], "pg13.7");
    assert_eq!(document["finished"], true);
    let steps = document["steps"].as_array().unwrap();
    let names: Vec<_> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, STEPS);
    let on_device = probe::block_device_of(place.path()).is_some();
    for step in steps {
        let variants = step["variants"].as_array().unwrap();
        assert_eq!(variants.len(), 2, "{step}");
        for (variant, name) in variants.iter().zip(["pg13.7", "pg14.3"]) {
            let what = format!("{} of {name}", step["name"]);
            assert_eq!(variant["name"], name, "{what}");
            assert_eq!(variant["blocks"], 2, "{what}");
            let absolute = |metric: &str| variant["absolute"][metric]["mean"].as_f64();
            // Making the index takes milliseconds: on a busy machine it is over before the sampler
            // begins, and then nothing was sampled.
            let sampled = step["name"] != "l.x" || absolute("cs/o").is_some();
            for metric in ["o/s", "client.cpu/o", "cs/o"].iter().take(if sampled { 3 } else { 2 }) {
                assert!(absolute(metric).is_some_and(|v| v > 0.0), "{metric} in {what}: {variant}");
            }
            // A step of a few milliseconds can be under the kernel's tick.
            for metric in ["cpu/o", "dbms.cpu/o"] {
                let expected = absolute(metric).is_some_and(|v| v >= 0.0);
                assert_eq!(expected, sampled, "{metric} in {what}: {variant}");
            }
            for metric in ["r/o", "rKB/o", "wKB/o"] {
                let expected = on_device && sampled;
                assert_eq!(absolute(metric).is_some(), expected, "{metric} in {what}: {variant}");
            }
            let relative = &variant["relative"];
            for key in ["low", "high", "p", "verdict", "sentence", "dbms.cpu/o", "client.cpu/o"] {
                assert!(relative.get(key).is_some(), "{key} in {what}: {relative}");
            }
            for key in ["cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o"] {
                assert!(relative.get(key).is_some(), "{key} in {what}: {relative}");
            }
            let ratio = relative["ratio"].as_f64().unwrap();
            if name == "pg13.7" {
                assert!((ratio - 1.0).abs() < 1e-12, "{what}");
            } else {
                let (low, high) = (relative["low"].as_f64(), relative["high"].as_f64());
                assert!(low.unwrap() <= ratio && ratio <= high.unwrap(), "{what}: {relative}");
                assert!(relative["verdict"].is_string(), "{what}: {relative}");
            }
            if step["name"].as_str().unwrap().starts_with('q') {
                assert!(variant["rates"]["insert"]["target"].as_f64().unwrap() >= 100.0, "{what}");
                assert!(variant["latency"]["query"]["p99"].as_f64().unwrap() > 0.0, "{what}");
                assert_eq!(variant["latency"]["query"]["buckets"].as_array().unwrap().len(), 10);
            }
            assert!(variant["size"]["total"].as_f64().unwrap() > 0.0, "{what}");
        }
    }
}

fn check_tables(place: &Place) {
    for format in ["text", "markdown", "csv"] {
        let table = place.steelyard(&["compare", "--format", format]);
        table.expect(0, &[]);
        for part in ["pg14.3", "qr1000", "dbms.cpu/o", "256us"] {
            assert!(
                table.stdout.contains(part),
                "`{part}` is missing in {format}:\n{}",
                table.stdout
            );
        }
    }
    let turned = place
        .steelyard(&["compare", "--rows", "steps", "--base", "pg14.3", "--tables", "relative"]);
    turned.expect(0, &[]);
    assert!(turned.stdout.contains("pg13.7"), "{}", turned.stdout);
    let stranger = place.steelyard(&["compare", "--base", "pg99"]);
    stranger.expect(2, &["pg99", "pg13.7"]);
    place.steelyard(&["compare", "--experiment", "nobody"]).expect(2, &["nobody"]);
}

fn check_report(place: &Place) {
    let path = place.path().join("r.html");
    let report = place.steelyard(&["report", "-o", path.to_str().unwrap()]);
    if !report::has_page() {
        testing::skip("built without the page; make build builds it");
        report.expect(2, &["make build"]);
        return;
    }
    report.expect(0, &[]);
    assert!(report.stdout.contains("r.html"), "{}", report.stdout);
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.len() > 10_000 && page.contains("pg14.3") && page.contains("qp1000"));
    let nowhere = place.steelyard(&["report", "-o", "missing/r.html"]);
    nowhere.expect(nowhere.code.filter(|code| *code > 1).unwrap(), &["into the directory missing"]);
}

#[test]
fn the_plan_of_the_short_form_means_the_same() {
    let place = Place::new();
    let short = [
        "insert",
        "-v",
        "old=postgres@13.7",
        "-v",
        "postgres@14.3",
        "-c",
        "fsync=off",
        "--rows",
        "2k",
        "--steps",
        "l.i0,l.x,qr100",
        "--seconds",
        "1",
        "--blocks",
        "1",
        "--seed",
        "3",
    ];
    let written = place.run(&[&short[..], &["--write-plan"]].concat());
    written.expect(0, &[]);
    assert!(!place.results().exists(), "nothing is run");
    let file = place.plan(&written.stdout);
    let again = place.run(&[&file, "--write-plan"]);
    assert_eq!(again.stdout, written.stdout);
    place.run(&short).expect(0, &["trial 2/2"]);
    place.run(&[&file, "--quiet"]).expect(0, &[]);
    let database = Database::of(&place.results());
    let plans = database.texts("SELECT plan FROM experiment");
    assert_eq!(plans.len(), 2);
    let meaning = |text: &str| plan::Plan::parse(text, None, "stored").unwrap();
    assert_eq!(meaning(&plans[0]), meaning(&plans[1]));
    assert_eq!(meaning(&plans[0]), meaning(&written.stdout));
    let order = |experiment: i64| {
        database.texts(&format!(
            "SELECT v.name FROM trial t JOIN variant v ON v.id = t.variant_id \
             WHERE t.experiment_id = {experiment} GROUP BY v.id ORDER BY min(t.id)"
        ))
    };
    // A trial that a hypervisor took time from is repeated, with another attempt.
    assert_eq!(order(1), order(2), "the seed makes the same order");
    assert_eq!(order(1).len(), 2);
}
