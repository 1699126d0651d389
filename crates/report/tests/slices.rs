//! Steps that ran in slices: read from a store, judged by rounds and restarts, shown.
use crate::common::{Lab, plan, record, series, sliced};
use judge::{Method, Verdict};
use report::{HistoryOptions, Order, Source};

const VARIANTS: [&str; 2] = ["13.7", "14.3"];
const STEPS: [&str; 2] = ["l.i0", "l.i1"];

fn lab() -> Lab {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &STEPS, 3, &[1]), 3);
    lab.run(&STEPS, 3, 1, &|name, place, block| {
        // The machine is at another speed in every block.
        let level = [10_000.0, 9_500.0][place] * (1.0 + 0.1 * f64::from(block));
        match name {
            "l.i0" => sliced(name, level, u64::from(block) * 10 + place as u64),
            _ => record(name, level),
        }
    });
    lab
}

#[test]
fn slices_where_a_step_has_them_and_blocks_elsewhere() {
    let compared = lab().compare();
    let sliced = compared.judged.of(0, 1).unwrap();
    assert_eq!((sliced.method, sliced.blocks), (Method::Slices, 3));
    assert_eq!(sliced.verdict, Verdict::Inconclusive, "of three restarts");
    assert!((sliced.ratio - 0.95).abs() < 0.005, "{sliced:?}");
    assert!(sliced.low.unwrap() < 0.95 && sliced.high.unwrap() > 0.95);
    let few = judge::Warning::TooFewRestarts { restarts: 3 };
    assert_eq!(sliced.warnings, [few], "whatever the number of rounds");
    assert_eq!(compared.judged.of(1, 1).unwrap().method, Method::Blocks);
    let steps = &compared.document.steps;
    let slices = steps[0].variants[1].slices.as_ref().unwrap();
    assert_eq!((slices.restarts, slices.rounds), (3, 855));
    assert!((slices.set_aside - 0.05).abs() < 1e-9 && (slices.ratio - sliced.ratio).abs() < 1e-9);
    assert!(steps[0].variants[0].slices.is_none() && steps[1].variants[1].slices.is_none());
}

/// The first blocks find out how a step runs.
#[test]
fn a_step_is_judged_the_way_in_which_most_of_its_blocks_ran() {
    let judged = |slices: std::ops::RangeInclusive<u32>| {
        let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["l.i0"], 6, &[1]), 6);
        lab.run(&["l.i0"], 6, 1, &|name, place, block| {
            let (level, seed) = ([10_000.0, 9_500.0][place], u64::from(block) * 10 + place as u64);
            if slices.contains(&block) { sliced(name, level, seed) } else { record(name, level) }
        });
        let found = lab.compare().judged.of(0, 1).unwrap().clone();
        (found.method, found.blocks)
    };
    assert_eq!(judged(1..=2), (Method::Blocks, 6));
    assert_eq!(judged(2..=6), (Method::Slices, 5));
}

/// Slices of 40 ms are 5% slower and their long ones are not, so the run goes on with 320 ms. Those
/// blocks alone are judged, no block is missing, and a gate passes.
#[test]
fn blocks_whose_slices_were_too_short_are_no_gap() {
    let plan = plan(&VARIANTS, &["l.i0"], 18, &[1]).replace("blocks = 18", "budget = '1h'");
    let lab = Lab::new(&VARIANTS, &plan, 18);
    lab.run(&["l.i0"], 18, 1, &|name, place, block| {
        let seed = u64::from(block) * 10 + place as u64;
        let mut step = sliced(name, 10_000.0, seed);
        if block > 6 {
            step.metrics.retain(|(name, _)| name != "slice.ms");
            step.metrics.push(("slice.ms".to_owned(), 320.0));
            step.series[1].values.iter_mut().for_each(|length| *length *= 8.0);
        } else if place == 1 {
            let rates = step.series[0].values.iter_mut().enumerate();
            rates.filter(|(round, _)| round % 4 != 3).for_each(|(_, rate)| *rate *= 0.95);
        }
        step
    });
    lab.store.finish_experiment(lab.experiment).unwrap();
    let found = lab.compare();
    let judged = found.judged.of(0, 1).unwrap();
    assert_eq!((judged.blocks, judged.verdict), (12, Verdict::Equivalent), "{judged:?}");
    assert!(found.judged.gaps.is_empty(), "{:?}", found.judged.gaps);
    assert_eq!(found.gate(report::Gate::Undecided), Vec::<String>::new());
    // What endless slices would have more than these, by those of 40 ms, is in the interval.
    assert!(judged.high.unwrap() > 1.008, "{judged:?}");
}

/// A block in slices of running servers has another ratio: theirs has no work in the background.
#[test]
fn where_servers_were_frozen_other_slices_do_not_count() {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["l.i0"], 7, &[1]), 7);
    lab.run(&["l.i0"], 7, 1, &|name, place, block| {
        let level = [10_000.0, if block == 1 { 5000.0 } else { 9500.0 }][place];
        let mut step = sliced(name, level, u64::from(block) * 10 + place as u64);
        if block > 1 {
            step.metrics.push(("slice.switch_ms".to_owned(), 0.1));
        }
        step
    });
    let found = lab.compare().judged.of(0, 1).unwrap().clone();
    assert_eq!((found.method, found.blocks), (Method::Slices, 6));
    assert!((found.ratio - 0.95).abs() < 0.005, "{found:?}");
}

/// Once the third variant is decided, it drops out, and the ratio of the other two moves.
#[test]
fn servers_of_a_block_are_counted() {
    let variants = ["13.7", "14.3", "15.1"];
    let lab = Lab::new(&variants, &plan(&variants, &["l.i0"], 12, &[1]), 12);
    for block in 1..=12 {
        let servers = if block <= 6 { 3 } else { 2 };
        for place in 0..servers {
            let level = [10_000.0, if servers == 3 { 9_900.0 } else { 9_400.0 }, 9_000.0][place];
            let trial = lab.begin(place, block, 1);
            let step = sliced("l.i0", level, u64::from(block) * 10 + place as u64);
            lab.store.record_step(trial, &step).unwrap();
            lab.store.finish_trial(trial).unwrap();
        }
    }
    lab.store.finish_experiment(lab.experiment).unwrap();
    let compared = lab.compare();
    let found = compared.judged.of(0, 1).unwrap();
    assert_eq!((found.verdict, found.blocks), (Verdict::Inconclusive, 12));
    let [judge::Warning::ServersDisagree { servers: 2, fewest, more }] = found.warnings[..] else {
        panic!("{found:?}")
    };
    assert!((fewest - 0.94).abs() < 0.005 && (more - 0.99).abs() < 0.005, "{found:?}");
    assert_eq!(compared.judged.of(0, 2).unwrap().verdict, Verdict::Regression);
}

/// The gap says what is missing, why, and what to do.
#[test]
fn a_gap_says_why_blocks_are_left_out() {
    let said = |disturbed: bool| {
        let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["l.i0"], 6, &[1]), 6);
        lab.run(&["l.i0"], 6, 1, &|name, place, block| {
            let (level, seed) = ([10_000.0, 9_500.0][place], u64::from(block) * 10 + place as u64);
            let mut step = sliced(name, level, seed);
            match block {
                1 if disturbed => {
                    let rates = step.series.iter_mut().find(|one| one.name == "slice.o/s").unwrap();
                    rates.values.iter_mut().skip(5).for_each(|rate| *rate = f64::NAN);
                }
                1 => step = record(name, level),
                _ => {}
            }
            step
        });
        lab.compare().judged.gaps[0].text.clone()
    };
    let whose =
        "14.3 could be compared in only 5 of the 6 blocks it has in common with 13.7: the others ";
    let few = "have too few undisturbed rounds of slices; give the step more rows or seconds";
    assert_eq!(said(true), format!("{whose}{few}"));
    assert_eq!(said(false), format!("{whose}did not run in slices"));
}

/// The operations of whole steps say 0.9, because the machine was slower while the variant had the
/// load; neighboring slices say 0.95.
#[test]
fn one_ratio_wherever_it_is_shown() {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["l.i0"], 3, &[1]), 3);
    lab.run(&["l.i0"], 3, 1, &|name, place, block| {
        let mut step =
            sliced(name, [10_000.0, 9_500.0][place], u64::from(block) * 10 + place as u64);
        step.metrics.retain(|(name, _)| name != "o/s");
        step.metrics.push(("o/s".to_owned(), [10_000.0, 9_000.0][place]));
        step.metrics.push(("dbms.cpu/o".to_owned(), 8.5));
        step
    });
    lab.store.finish_experiment(lab.experiment).unwrap();
    let compared = lab.compare();
    let ratio = compared.judged.of(0, 1).unwrap().ratio;
    assert!((ratio - 0.95).abs() < 0.005, "{ratio}");
    let variant = &compared.document.steps[0].variants[1];
    assert_eq!(variant.relative.ratio, Some(ratio));
    assert_eq!(variant.relative.costs["o/s"], Some(ratio));
    assert!((variant.slices.as_ref().unwrap().ratio - ratio).abs() < 1e-12);
    let text = compared.render(report::Format::Text).unwrap();
    assert!(
        text.contains("l.i0 14.3: the absolute figures give 0.900, and not 0.948; the ratio is"),
        "{text}"
    );
    assert_eq!(text.matches("the absolute figures give").count(), 1, "{text}");
    assert!(text.contains("geometric means over 3 blocks\n"), "{text}");
    let csv = compared.render(report::Format::Csv).unwrap();
    let of_hardware = csv
        .lines()
        .find(|line| line.starts_with("hardware.l.i0.relative,") && line.contains(",14.3,o/s,"));
    assert!(of_hardware.unwrap().ends_with(&format!(",{ratio:.3}")), "{csv}");
    let asked = report::ExplainOptions { step: Some("l.i0".to_owned()), ..Default::default() };
    let explained = report::explain(&lab.store, &lab.results(), &asked).unwrap();
    let again = explained.render(report::Format::Csv).unwrap();
    assert!(again.contains(of_hardware.unwrap()), "{again}");
    let text = explained.render(report::Format::Text).unwrap();
    assert!(text.contains(&format!("throughput × {ratio:.3} in 3 blocks")), "{text}");
    assert!(text.contains("the absolute figures give 0.900, and not 0.948"), "{text}");
    let source = Source { store: &lab.store, directory: "here".to_owned(), machine: None };
    let options = HistoryOptions { order: Some(Order::Version), ..HistoryOptions::default() };
    let history = report::history(&[source], &options).unwrap().document;
    let point = &history.lines[0].steps[0].points[1];
    assert!((point.relative.unwrap() - ratio).abs() < 1e-12, "{point:?}");
    assert_eq!(point.trials, [9_000.0; 3], "absolute figures stay what they are");
}

#[test]
fn what_stands_behind_a_ratio_is_shown() {
    let text = lab().compare().render(report::Format::Text).unwrap();
    let (_, table) = text.split_once("Pairing by slices").unwrap();
    let table = table.split("\n\n").next().unwrap();
    let lines: Vec<&str> = table.lines().filter(|line| line.starts_with("l.i")).collect();
    assert_eq!(lines.len(), 1, "only what ran in slices:\n{table}");
    let cells: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(cells[..6], ["l.i0", "14.3", "40", "3", "855", "5.0%"], "{table}");
    assert!(cells[6].starts_with("0.9"), "{table}");
    assert_eq!(cells.len(), 11);
}

/// The page has the rounds and their results, but not the seconds that all servers shared.
#[test]
fn the_page_shows_rounds_and_the_ratio_after_each_restart() {
    let lab = lab();
    let results = lab.results();
    if !report::has_page() {
        return testing::skip("built without the page; make build builds it");
    }
    let page = crate::page::data(&report::html(&lab.store, &results, None, "0.1.0").unwrap());
    let [sliced, plain] = [&page["steps"][0], &page["steps"][1]];
    assert_eq!(sliced["trials"], serde_json::json!([]));
    assert_eq!((plain["trials"].as_array().unwrap().len(), plain.get("slices")), (6, None));
    let slices = &sliced["slices"];
    assert_eq!((slices["length_ms"].as_f64(), slices["shorter"].as_u64()), (Some(40.0), Some(0)));
    assert_eq!(slices["rounds_per_point"], 1);
    let restarts = slices["restarts"].as_array().unwrap();
    assert_eq!(restarts.len(), 3);
    assert_eq!(restarts[0]["length"], 15, "300 rounds of 40 ms, every fourth of 80 ms");
    let rates = restarts[0]["rates"][1].as_array().unwrap();
    assert_eq!((rates.len(), rates.iter().filter(|rate| rate.is_null()).count()), (300, 15));
    assert_eq!(restarts[0]["aside"].as_array().unwrap().len(), 30);
    assert_eq!(restarts[0]["aside"][1], serde_json::json!([0, 1, 1, 1]));
    assert!(page["slice_reasons"][1].as_str().unwrap().starts_with("set aside: "));
    let running = slices["running"].as_array().unwrap();
    assert_eq!((running.len(), running[0]["variant"].as_u64()), (1, Some(1)));
    let after = running[0]["restarts"].as_array().unwrap();
    let intervals: Vec<bool> = after.iter().map(|one| one["low"].is_number()).collect();
    assert_eq!(intervals, [false, true, true]);
    let judged = &sliced["relative"][0];
    let last = after[2]["ratio"].as_f64().unwrap();
    assert!((last - judged["ratio"].as_f64().unwrap()).abs() < 1e-5, "{after:?}");
    let own: Vec<f64> = serde_json::from_value(judged["each"].clone()).unwrap();
    let mean = own.iter().map(|ratio| ratio.ln()).sum::<f64>() / own.len() as f64;
    assert!(judged["low"].is_null() && own.len() == 3, "{judged}");
    assert!((mean.exp() - last).abs() < 1e-4, "the blocks behind it: {judged}");
}

/// A step that runs in turns after slices that don't count: of their block it has seconds that all
/// servers shared.
#[test]
fn seconds_of_a_shared_load_are_not_on_the_page() {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["l.i0"], 2, &[1]), 2);
    lab.run(&["l.i0"], 2, 1, &|name, _, block| {
        let mut step = record(name, 100.0);
        step.series.push(series("lat.insert", "latency", vec![900.0; 4]));
        step.series.push(series("dbms.us", "dbms", vec![400.0; 4]));
        if block == 2 {
            step.series.push(series("tp.insert", "throughput", vec![100.0; 4]));
        }
        step
    });
    if !report::has_page() {
        return testing::skip("built without the page; make build builds it");
    }
    let page = crate::page::data(&report::html(&lab.store, &lab.results(), None, "0.1.0").unwrap());
    let trials = page["steps"][0]["trials"].as_array().unwrap();
    let blocks: Vec<_> = trials.iter().map(|trial| trial["block"].as_u64().unwrap()).collect();
    assert_eq!(blocks, [2, 2]);
    assert_eq!(trials[0]["series"].as_object().unwrap().len(), 3);
}

#[test]
fn nothing_is_shown_where_nothing_ran_in_slices() {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["l.i0"], 2, &[1]), 2);
    lab.run(&["l.i0"], 2, 1, &|name, _, _| record(name, 100.0));
    let text = lab.compare().render(report::Format::Text).unwrap();
    assert!(!text.contains("Pairing by slices"), "{text}");
}

/// 132 rows per second were shown for two statements in 0.76 s.
#[test]
fn a_rate_of_few_statements_says_how_many_were_due() {
    let shown = |due: f64| {
        let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &["l.i0", "qr100"], 2, &[1]), 2);
        lab.run(&["l.i0", "qr100"], 2, 1, &|name, place, block| {
            let mut step = record(name, 1000.0 + f64::from(block));
            if name == "qr100" {
                let mut metric = |name: &str, value| step.metrics.push((name.to_owned(), value));
                metric("insert.rate", 100.0);
                metric("insert.target", 100.0);
                metric("insert.held", 1.0);
                metric("insert.due", if (place, block) == (1, 2) { due } else { 40.0 });
            }
            step
        });
        let text = lab.compare().render(report::Format::Text).unwrap();
        text.split_once("Insert rate").unwrap().1.to_owned()
    };
    let many = shown(20.0);
    assert!(!many.contains('~'), "{many}");
    let few = shown(2.0);
    let said =
        "~ fewer than 20 insert statements were due in a block (2 in qr100), so one more or less";
    for part in ["\n14.3      100~\n", "\n13.7       100\n", said] {
        assert!(few.contains(part), "{part:?} in {few}");
    }
}
