//! The HTML page: its data, and that it is written whole.

use crate::common::{Lab, counter, counts, plan, record, rich, series};

const VARIANTS: [&str; 3] = ["pg13.7", "pg14.3", "pg15.0"];
const STEPS: [&str; 3] = ["l.i0", "l.i1", "qr100"];

pub(crate) fn data(html: &str) -> serde_json::Value {
    let tag = r#"<script type="application/json" id="steelyard-data">"#;
    let start = html.find(tag).expect("the data's element") + tag.len();
    let end = start + html[start..].find("</script>").expect("its end");
    serde_json::from_str(&html[start..end]).expect("valid JSON")
}

#[test]
fn the_page_holds_everything() {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &STEPS, 2, &[1]), 2);
    lab.run(&STEPS, 2, 1, &rich);
    let results = lab.results();
    if !report::has_page() {
        let error = report::html(&lab.store, &results, None, "0.1.0").unwrap_err().to_string();
        assert!(error.contains("make build"), "{error}");
        return testing::skip("built without the page; make build builds it");
    }
    let page = data(&report::html(&lab.store, &results, None, "0.1.0 (abc)").unwrap());
    assert_eq!(page["format"], 1);
    assert_eq!(page["writer"], "0.1.0 (abc)");
    assert_eq!(page["experiment"]["seed"], "42");
    assert_eq!(page["experiment"]["started"], "2022-06-28T16:00:00Z");
    assert_eq!(page["variants"][1]["settings"][0]["value"], "131072 × 8kB");
    assert_eq!(page["host"][0]["value"], "Example <CPU> 8");
    let step = &page["steps"][2];
    assert_eq!((step["name"].as_str(), step["unit"].as_str()), (Some("qr100"), Some("queries")));
    assert_eq!(step["class"], "query");
    assert_eq!(step["rates"]["insert"], 100);
    assert_eq!(step["throughput"].as_array().unwrap().len(), 3);
    let verdicts: Vec<_> = step["relative"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["variant"].as_u64().unwrap())
        .collect();
    assert_eq!(verdicts, [1, 2], "every variant but the base");
    assert_eq!(step["latency"].as_array().unwrap().len(), 6, "two classes, three variants");
    let points = step["percentiles"][0]["points"].as_array().unwrap();
    assert_eq!(points.last().unwrap()[0], 100.0);
    assert_eq!(step["trials"].as_array().unwrap().len(), 6);
    let told: Vec<_> = step["why"]["conclusions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|said| said.as_str().unwrap().split(':').next().unwrap())
        .collect();
    assert_eq!(told, ["pg13.7 to pg14.3", "pg13.7 to pg15.0"], "in the order of the plan");
    let rows = step["why"]["tables"].as_array().unwrap().iter().map(|t| t["rows"].as_array());
    assert!(rows.map(|rows| rows.unwrap().len()).all(|rows| (1..=8).contains(&rows)));
    let trial = &page["steps"][0]["trials"][2];
    assert_eq!((trial["variant"].as_u64(), trial["block"].as_u64()), (Some(1), Some(1)));
    assert_eq!(trial["stalls"], serde_json::json!([[4, 5]]));
    assert_eq!(trial["series"]["cpu.us"][0], 41.24);
    assert_eq!(page["catalog"]["cpu.us"]["group"], "cpu");
    let ids: Vec<_> =
        page["tables"].as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap()).collect();
    for id in [
        "throughput.absolute",
        "throughput.relative",
        "verdicts",
        "hardware.l.i0.absolute",
        "size.l.i0",
    ] {
        assert!(ids.contains(&id), "{id} in {ids:?}");
    }
    let codes: Vec<_> =
        page["warnings"].as_array().unwrap().iter().map(|w| w["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"rate-not-held") && codes.contains(&"too-few-blocks"), "{codes:?}");
}

/// The page draws the blocks where they are too few for an interval, and has the confidence of an
/// interval in the words of the sentences.
#[test]
fn few_blocks_are_points_on_the_page() {
    if !report::has_page() {
        return testing::skip("built without the page; make build builds it");
    }
    let relative = |blocks: u32| {
        let variants = ["a", "b"];
        let lab = Lab::new(&variants, &plan(&variants, &["l.i0"], blocks, &[1]), blocks);
        lab.run(&["l.i0"], blocks, 1, &|name, place, block| {
            record(name, [1000.0, 900.0 + 10.0 * f64::from(block)][place])
        });
        let page = data(&report::html(&lab.store, &lab.results(), None, "0.1.0").unwrap());
        page["steps"][0]["relative"][0].clone()
    };
    let few = relative(2);
    assert_eq!((&few["low"], &few["level"]), (&serde_json::Value::Null, &"".into()));
    assert_eq!(few["each"], serde_json::json!([0.91, 0.92]));
    let enough = relative(6);
    assert_eq!((&enough["each"], &enough["level"]), (&serde_json::Value::Null, &"95%".into()));
    assert!(enough["low"].is_f64(), "{enough}");
}

/// The directory's latest count is on the page of its latest run, and on a page of its own without
/// a run.
#[test]
fn counts_are_on_the_page() {
    let two = ["a", "b"];
    let lab = Lab::new(&two, &plan(&two, &["l.i0"], 1, &[1]), 1);
    let count = |name: &str, own: u64| {
        let experiment = counts::begin(&lab.store, "a");
        for (place, variant) in two.iter().enumerate() {
            let costs = counts::build(|cost| cost.3 += own * place as u64);
            let id = counts::add(&lab.store, experiment, variant);
            let mut record = counts::record(name, 10, &costs);
            record.functions.push(store::CountFunction {
                name: "rare".to_owned(),
                object: "postgres".to_owned(),
                own: 1,
                inclusive: 1,
                calls: 1,
            });
            lab.store.record_count(id, &record).unwrap();
        }
        experiment
    };
    count("old", 1);
    let latest = count("point", 50);
    counts::begin(&lab.store, "a"); // has nothing yet
    if !report::has_page() {
        return testing::skip("built without the page; make build builds it");
    }
    let check = |results: &report::Results| {
        let page = data(&report::html(&lab.store, results, None, "0.1.0").unwrap());
        let counts = &page["counts"];
        assert_eq!(counts["variants"], serde_json::json!(two));
        let kinds = counts["kinds"].as_array().unwrap();
        assert_eq!((kinds.len(), kinds[0]["kind"].as_str()), (1, Some("point")));
        assert_eq!(kinds[0]["left_out"], 1, "a function of one instruction");
        let [base, changed] = [&kinds[0]["counts"][0], &kinds[0]["counts"][1]];
        assert_eq!((base["relative"].as_f64(), base["verdict"].as_str()), (None, None));
        let ratio = changed["total"].as_f64().unwrap() / base["total"].as_f64().unwrap();
        assert!((changed["relative"].as_f64().unwrap() - ratio).abs() < 1e-7);
        let ids = changed["functions"]["id"].as_array().unwrap();
        let name =
            |id: &serde_json::Value| counts["functions"][id.as_u64().unwrap() as usize][0].clone();
        let names: Vec<_> = ids.iter().map(name).collect();
        assert_eq!(names.len(), counts::BASE.len());
        assert_eq!(names[0], "base_yyparse");
        for column in ["own", "inclusive", "calls"] {
            assert_eq!(changed["functions"][column].as_array().unwrap().len(), names.len());
        }
        let stored = lab.store.counts(latest).unwrap();
        assert_eq!(base["phases"][0][1].as_u64(), Some(stored[0].1.phases[0].total));
        page
    };
    // The run has no trial yet; it is a run all the same.
    check(&lab.results());
    let alone = report::load(&lab.store, report::Which::LatestOrCount).unwrap();
    assert_eq!(alone.experiment.id, lab.experiment);
    let only = tempfile::tempdir().unwrap();
    let store = store::Store::open(only.path()).unwrap();
    assert!(matches!(
        report::load(&store, report::Which::LatestOrCount),
        Err(report::ReportError::NoExperiment)
    ));
    let experiment = counts::begin(&store, "a");
    let variant = counts::add(&store, experiment, "a");
    store.record_count(variant, &counts::record("point", 0, &counts::BASE)).unwrap();
    let results = report::load(&store, report::Which::LatestOrCount).unwrap();
    let page = data(&report::html(&store, &results, None, "0.1.0").unwrap());
    assert_eq!(page["steps"], serde_json::json!([]));
    assert_eq!(page["counts"]["kinds"][0]["kind"], "point");
}

/// The budget of `report`: 40 steps × 6 variants × 300 s are written in at most three seconds.
#[test]
#[ignore = "a bound: make bench"]
fn a_large_report_is_written_in_time() {
    let six = ["a", "b", "c", "d", "e", "f"];
    let steps = ["l.i0", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000"];
    let dops = [1, 2, 4, 8, 16];
    let lab = Lab::new(&six, &plan(&six, &steps, 1, &dops), 1);
    for dop in dops {
        lab.run(&steps, 1, dop, &|name, place, _| {
            let mut step = rich(name, place % 3, 1);
            // As many counters as PostgreSQL 18 has for two tables.
            step.counters = (0..400)
                .map(|n| {
                    counter("pg_stat_io", &format!("object {}", n / 10), &format!("n{n}"), 7.0)
                })
                .collect();
            step.series = (0..30)
                .map(|n| {
                    let group = if n < 2 { "throughput" } else { "cpu" };
                    let value = |s: u32| f64::from(s * 7919 % 1009) * 1.234_567;
                    series(&format!("s.{n}"), group, (0..300).map(value).collect())
                })
                .collect();
            step
        });
    }
    let start = std::time::Instant::now();
    let results = lab.results();
    let loaded = start.elapsed();
    let html = report::html(&lab.store, &results, None, "0.1.0");
    let took = start.elapsed();
    println!(
        "loaded in {loaded:?}, written in {took:?}, {} MB",
        html.map_or(0, |h| h.len() / 1_000_000)
    );
    assert!(took.as_secs_f64() <= 3.0, "{took:?}");
}

/// The budget of `compare`: 100,000 stored step results in at most a second.
#[test]
#[ignore = "a bound: make bench"]
fn a_hundred_thousand_results_are_compared_in_time() {
    let two = ["a", "b"];
    let steps =
        ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"];
    let lab = Lab::new(&two, &plan(&two, &steps, 5000, &[1]), 5000);
    lab.run(&steps, 5000, 1, &|name, place, block| {
        let mut step = record(name, 1000.0 - 50.0 * place as f64 + f64::from(block * 7919 % 13));
        for metric in [
            "cpu/o",
            "cs/o",
            "r/o",
            "rKB/o",
            "wKB/o",
            "dbms.cpu/o",
            "client.cpu/o",
            "seconds",
            "stall.count",
            "stall.share",
            "errors",
        ] {
            step.metrics.push((metric.to_owned(), 1.5));
        }
        step
    });
    let start = std::time::Instant::now();
    let text = lab.compare().render(report::Format::Text).unwrap();
    let took = start.elapsed();
    println!("{took:?}");
    assert!(text.contains("details-left-out"));
    assert!(took.as_secs_f64() <= 1.0, "{took:?}");
}

#[test]
fn slices_are_not_drawn_over_seconds() {
    let steps = ["l.i0"];
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &steps, 2, &[1]), 2);
    lab.run(&steps, 2, 1, &|name, place, block| {
        let mut step = rich(name, place, block);
        step.series.push(series("slice.o/s", metrics::SLICES, vec![1.0; 300]));
        step
    });
    if !report::has_page() {
        return testing::skip("built without the page; make build builds it");
    }
    let page = data(&report::html(&lab.store, &lab.results(), None, "0.1.0").unwrap());
    assert!(page["catalog"]["tp.insert"].is_object(), "{}", page["catalog"]);
    assert!(page["catalog"]["slice.o/s"].is_null(), "{}", page["catalog"]);
    assert!(page["steps"][0]["trials"][0]["series"]["slice.o/s"].is_null());
}
