//! Comparisons, from the store to the printed text.

use crate::common::{Lab, counter, golden, plan, record, rich};
use report::{CompareOptions, Format, Rows, Section, compare};

const VARIANTS: [&str; 3] = ["pg13.7", "pg14.3", "pg15.0"];
pub const STEPS: [&str; 4] = ["l.i0", "l.x", "l.i1", "qr100"];

pub fn rich_lab() -> Lab {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &STEPS, 6, &[1]), 6);
    // l.x is in the plan and was never reached.
    lab.run(&["l.i0", "l.i1", "qr100"], 6, 1, &rich);
    lab.store.finish_experiment(lab.experiment).expect("an experiment");
    lab
}

#[test]
fn text_and_markdown_and_csv_stay_as_they_are() {
    let lab = rich_lab();
    let options = CompareOptions {
        sections: Some(
            [
                Section::Absolute,
                Section::Relative,
                Section::Verdicts,
                Section::Rates,
                Section::Latency,
                Section::Hardware,
                Section::Size,
                Section::Counters,
                Section::Other,
            ]
            .to_vec(),
        ),
        ..CompareOptions::default()
    };
    let found = compare(&lab.results(), &options).unwrap();
    golden("compare.txt", &found.render(Format::Text).unwrap());
    golden("compare.md", &found.render(Format::Markdown).unwrap());
    let short = CompareOptions {
        sections: Some(vec![Section::Absolute, Section::Relative, Section::Verdicts]),
        rows: Rows::Steps,
        ..CompareOptions::default()
    };
    let found = compare(&lab.results(), &short).unwrap();
    golden("steps.txt", &found.render(Format::Text).unwrap());
    golden("steps.csv", &found.render(Format::Csv).unwrap());
}

#[test]
fn json_stays_as_it_is_and_reads_back() {
    let found = rich_lab().compare();
    let json = found.render(Format::Json).unwrap();
    golden("compare.json", &json);
    let back: report::Document = serde_json::from_str(&json).unwrap();
    assert_eq!(back, found.document);
}

#[test]
fn every_step_of_the_plan_with_every_variant_and_every_key() {
    let lab = rich_lab();
    let json: serde_json::Value =
        serde_json::from_str(&lab.compare().render(Format::Json).unwrap()).unwrap();
    let steps = json["steps"].as_array().unwrap();
    let names: Vec<_> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, STEPS);
    for step in steps {
        let variants = step["variants"].as_array().unwrap();
        assert_eq!(variants.len(), VARIANTS.len());
        for variant in variants {
            for metric in
                ["o/s", "cpu/o", "dbms.cpu/o", "client.cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o"]
            {
                let absolute = variant["absolute"][metric].as_object().unwrap();
                assert!(absolute.contains_key("mean") && absolute.contains_key("values"));
                assert!(variant["relative"].as_object().unwrap().contains_key(metric));
            }
            for key in
                ["ratio", "low", "high", "p", "verdict", "further_blocks", "reason", "sentence"]
            {
                assert!(variant["relative"].as_object().unwrap().contains_key(key), "{key}");
            }
        }
    }
    assert!(steps[1]["variants"][0]["absolute"]["o/s"]["mean"].is_null(), "l.x was never reached");
    assert!(steps[0]["variants"][2]["absolute"]["cpu/o"]["mean"].is_null());
}

#[test]
fn verdicts_and_marks() {
    let found = rich_lab().compare();
    let relative =
        |step: usize, variant: usize| &found.document.steps[step].variants[variant].relative;
    assert_eq!(relative(0, 1).verdict.as_deref(), Some("regression"));
    assert!((relative(0, 1).ratio.unwrap() - 0.934).abs() < 0.003);
    assert_eq!(relative(0, 0).ratio, Some(1.0));
    assert_eq!(relative(0, 0).verdict, None);
    assert!(
        relative(3, 2).sentence.as_ref().unwrap().ends_with("regression; insert rate not held")
    );
    assert_eq!(found.regressions().len(), 6);
    let rate = found.document.steps[3].variants[2].rates.get("insert").unwrap();
    assert!(!rate.held);
    assert_eq!(found.document.steps[0].variants[2].rates.get("insert"), None);
    assert_eq!(found.document.steps[3].variants[2].failures, 18);
}

#[test]
fn only_finished_trials_count() {
    let steps = ["l.i0"];
    let two = ["pg13.7", "pg14.3"];
    let lab = Lab::new(&two, &plan(&two, &steps, 7, &[1]), 7);
    lab.run(&steps, 6, 1, &|name, place, block| {
        record(name, 1000.0 - 100.0 * place as f64 + f64::from(block))
    });
    let failed = lab.begin(1, 7, 1);
    lab.store.record_step(failed, &record("l.i0", 5.0)).unwrap();
    lab.store.fail_trial(failed, "server died:\nsignal 9").unwrap();
    let running = lab.begin(0, 7, 1);
    lab.store.record_step(running, &record("l.i0", 5.0)).unwrap();

    let found = lab.compare();
    assert_eq!(found.document.steps[0].variants[1].absolute["o/s"].values.len(), 6);
    assert!(!found.document.finished);
    let text = found.render(Format::Text).unwrap();
    assert!(text.contains("server died: signal 9"), "{text}");
    assert!(text.contains("running"), "{text}");
}

#[test]
fn blocks_are_paired_by_number() {
    let steps = ["l.i0"];
    let two = ["a", "b"];
    let lab = Lab::new(&two, &plan(&two, &steps, 6, &[1]), 6);
    for block in 1..=6 {
        for place in [0, 1] {
            // The base lost block 2, the variant block 5; the machine doubles its speed with every
            // block.
            if (place, block) == (0, 2) || (place, block) == (1, 5) {
                continue;
            }
            let trial = lab.begin(place, block, 1);
            let speed = 100.0 * 2.0_f64.powi(block as i32) * [1.0, 0.9][place];
            lab.store.record_step(trial, &record("l.i0", speed)).unwrap();
            lab.store.finish_trial(trial).unwrap();
        }
    }
    let relative = &lab.compare().document.steps[0].variants[1].relative;
    assert_eq!(relative.blocks, 4);
    assert!((relative.ratio.unwrap() - 0.9).abs() < 1e-12);
    assert!(relative.high.unwrap() < 0.98);
    assert_eq!(relative.verdict.as_deref(), Some("inconclusive"));
    assert_eq!(relative.reason.as_deref(), Some("a verdict needs at least 6 blocks"));
}

#[test]
fn one_block_is_said_loudly() {
    let steps = ["l.i0"];
    let two = ["a", "b"];
    let lab = Lab::new(&two, &plan(&two, &steps, 1, &[1]), 1);
    lab.run(&steps, 1, 1, &|name, place, _| record(name, [100.0, 50.0][place]));
    let found = lab.compare();
    let variant = &found.document.steps[0].variants[1];
    assert_eq!(variant.relative.verdict.as_deref(), Some("inconclusive"));
    assert_eq!((variant.relative.low, variant.relative.high), (None, None));
    assert!(variant.warnings[0].starts_with("too few blocks: 1"), "{:?}", variant.warnings);
    let text = found.render(Format::Text).unwrap();
    assert!(text.contains("! l.i0 b: too few blocks: 1"), "{text}");
    assert!(text.contains("1 block: too few for a verdict"), "{text}");
    assert!(!text.contains("in words"), "there is nothing to say of each: {text}");
    assert!(!text.contains("slower than") && !text.contains(" 0.500"), "{text}");
    assert!(text.contains("\nb        (0.500)\n(…) the ratio of a single block"), "{text}");
    let ratios = [variant.relative.ratio, variant.relative.costs["o/s"]];
    assert_eq!(ratios, [Some(0.5); 2], "as a value, without an interval");
    assert!(text.contains("\na         100\nb        50.0\n"), "the figures stand alone: {text}");
    assert_eq!(found.gate(report::Gate::Regressions).len(), 2, "one block, and not finished");
}

#[test]
fn several_numbers_of_clients_are_told_apart() {
    let steps = ["l.i0", "qr100"];
    let two = ["a", "b"];
    let lab = Lab::new(&two, &plan(&two, &steps, 2, &[4, 1]), 2);
    for dop in [1, 4] {
        lab.run(&steps, 2, dop, &|name, _, _| record(name, 1000.0 * f64::from(dop)));
    }
    let results = lab.results();
    let order: Vec<_> =
        results.steps.iter().map(|step| (step.key.name.as_str(), step.key.dop)).collect();
    assert_eq!(order, [("l.i0", 4), ("qr100", 4), ("l.i0", 1), ("qr100", 1)]);
    let found = compare(&results, &CompareOptions::default()).unwrap();
    let text = found.render(Format::Text).unwrap();
    assert!(text.contains("variant  l.i0.4  qr100.4  l.i0.1  qr100.1\n"), "{text}");
}

#[test]
fn steps_are_told_apart_by_labels_and_may_be_better_with_less() {
    let two = ["a", "b"];
    let lab = Lab::new(&two, &plan(&two, &["l.i0"], 6, &[1]), 6);
    lab.run(&["free", "colocated"], 6, 1, &|pinning, place, block| {
        let mut step = record("probe", 100.0 + 10.0 * place as f64 + f64::from(block % 3));
        step.key.labels = [("pinning".to_owned(), pinning.to_owned())].into();
        if pinning == "colocated" {
            step.measure.better = store::Better::Less;
        }
        step
    });
    let results = lab.results();
    let labels: Vec<_> = results.steps.iter().map(|step| results.step_label(step)).collect();
    assert_eq!(labels, ["l.i0", "probe{pinning=free}", "probe{pinning=colocated}"]);
    let found = compare(&results, &CompareOptions::default()).unwrap();
    let steps = &found.document.steps;
    let relative = |step: usize| &steps[step].variants[1].relative;
    assert_eq!(relative(1).verdict.as_deref(), Some("improvement"));
    assert_eq!(relative(2).verdict.as_deref(), Some("regression"));
    assert_eq!((relative(1).ratio, relative(1).low), (relative(2).ratio, relative(2).low));
    assert!(relative(1).sentence.as_ref().unwrap().starts_with("b is 9.9% faster than a"));
    assert!(relative(2).sentence.as_ref().unwrap().starts_with("b takes 9.9% more than a"));
    assert_eq!((steps[1].better.as_str(), steps[2].better.as_str()), ("more", "less"));
    assert_eq!(steps[2].key.labels["pinning"], "colocated");
    assert_eq!(found.regressions().len(), 1);
    let text = found.render(Format::Text).unwrap();
    assert!(text.contains("; for probe{pinning=colocated}, more is a regression\n"), "{text}");
}

#[test]
fn another_base_and_margin() {
    let lab = rich_lab();
    let results = lab.results();
    let options = CompareOptions {
        base: Some("pg14.3".to_owned()),
        margin: Some(0.5),
        ..CompareOptions::default()
    };
    let found = compare(&results, &options).unwrap();
    let first = &found.document.steps[0].variants[0].relative;
    assert!((first.ratio.unwrap() - 1.0 / 0.934).abs() < 0.003);
    assert_eq!(first.verdict.as_deref(), Some("equivalent"));
    assert_eq!(found.tables[0].rows[0].label, "pg14.3", "the base comes first");

    let wrong = CompareOptions { base: Some("pg99".to_owned()), ..CompareOptions::default() };
    let error = compare(&results, &wrong).unwrap_err().to_string();
    assert!(error.contains("pg13.7, pg14.3, pg15.0") && error.contains("pg99"), "{error}");
    let wrong = CompareOptions { margin: Some(2.0), ..CompareOptions::default() };
    assert!(compare(&results, &wrong).is_err());
}

#[test]
fn which_experiment() {
    let lab = rich_lab();
    assert!(report::load(&lab.store, report::Which::Named("load-regression")).is_ok());
    assert!(report::load(&lab.store, report::Which::Named("1")).is_ok());
    let error = report::load(&lab.store, report::Which::Named("loading")).unwrap_err().to_string();
    assert!(error.contains("loading") && error.contains("load-regression"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let store = store::Store::open(empty.path()).unwrap();
    let error = report::load(&store, report::Which::Latest).unwrap_err().to_string();
    assert!(error.contains("steelyard run"), "{error}");
}

#[test]
fn an_experiment_without_any_result() {
    let two = ["a", "b"];
    let lab = Lab::new(&two, &plan(&two, &["l.i0"], 6, &[1]), 6);
    let found = lab.compare();
    assert_eq!(found.document.steps.len(), 1);
    assert_eq!(found.document.steps[0].variants[1].relative.ratio, None);
    let text = found.render(Format::Text).unwrap();
    assert!(text.contains("a and b have no result: never run: inconclusive"), "{text}");
    assert_eq!(found.gate(report::Gate::Regressions).len(), 2, "and it is not finished");
}

#[test]
fn a_warning_about_one_comparison_names_it_and_others_stand_once() {
    let steps = ["l.i0", "l.i1"];
    let two = ["a", "b"];
    let lab = Lab::new(&two, &plan(&two, &steps, 15, &[1]), 15);
    // Darwin's maize, as log ratios in thousandths: Student's t says 0.050, the sign-flip test
    // 0.053.
    let maize =
        [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];
    lab.run(&steps, 15, 1, &|name, place, block| {
        let d: f64 =
            if place == 1 && name == "l.i1" { maize[block as usize - 1] / 1000.0 } else { 0.0 };
        record(name, 1000.0 * d.exp())
    });
    let notes = &lab.compare().tables[2].notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("! l.i1 b: the interval excludes 1"), "{notes:?}");

    let lab = Lab::new(&two, &plan(&two, &steps, 3, &[1]), 3);
    lab.run(&steps, 3, 1, &|name, _, block| record(name, 1000.0 + f64::from(block)));
    let notes = &lab.compare().tables[2].notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("! too few blocks: 3"), "{notes:?}");
}

#[test]
fn twins_are_compared_among_themselves_and_make_verdicts_of_noisy_steps_careful() {
    let names = ["pg13.7", "pg14.3", "pg13.7.aa", "pg14.3.aa"];
    let text = plan(&names[..2], &STEPS, 6, &[1]);
    let with_twins = plan::Plan::parse(&text, None, "test").unwrap().with_twins().to_toml();
    let lab = Lab::new(&names, &with_twins, 6);
    lab.run(&["l.i0", "l.i1"], 6, 1, &|step, place, block| {
        let noise = if step == "l.i0" { 0.001 } else { 0.08 };
        let of_block = if (block + place as u32 / 2).is_multiple_of(2) { 1.0 + noise } else { 1.0 };
        let of_variant = if place % 2 == 1 { 0.95 } else { 1.0 };
        record(step, 100_000.0 * of_block * of_variant)
    });
    lab.store.finish_experiment(lab.experiment).unwrap();
    let found = lab.compare();

    let twins = found.document.twins.as_ref().expect("there are twins");
    assert_eq!((twins.comparisons, twins.false_alarms), (4, 0), "{twins:?}");
    let pair = &twins.pairs[0];
    assert_eq!((pair.variant.as_str(), pair.twin.as_str()), ("pg13.7", "pg13.7.aa"));
    let floors = &twins.noise_floors;
    assert!(floors[0].unwrap() < 0.02 && floors[2].unwrap() > 0.02, "{floors:?}");
    assert_eq!(floors[1], None, "l.x has no results");

    // The twins are in the absolute tables, and neither judged nor gated.
    let step = &found.document.steps[0];
    assert_eq!(step.variants[2].twin_of.as_deref(), Some("pg13.7"));
    assert_eq!(step.variants[2].relative.verdict, None);
    assert_eq!(step.variants[1].relative.verdict.as_deref(), Some("regression"));
    let noisy = &found.document.steps[2].variants[1];
    assert!(noisy.warnings.iter().any(|text| text.starts_with("identical variants")), "{noisy:?}");
    assert_eq!(noisy.relative.verdict.as_deref(), Some("inconclusive"), "5% is no more than noise");
    assert_eq!(noisy.relative.confirmed, Some(false));
    let reasons = found.gate(report::Gate::Undecided);
    assert!(reasons.iter().all(|reason| !reason.contains(".aa")), "{reasons:?}");
    let text = found.render(Format::Text).unwrap();
    assert!(text.contains("0 false alarms in 4 comparisons: 0.0%"), "{text}");
    // The legend names the edges by which it was judged.
    let outside = 1.0 + floors[2].unwrap();
    let edges = format!(
        "l.i1: a regression or improvement is outside {:.3} to {outside:.3}, because identical variants differ by so much",
        1.0 / outside
    );
    assert!(text.contains(&edges), "{edges}\n{text}");
    assert_eq!(text.matches(": a regression or improvement is outside ").count(), 1, "{text}");
}

#[test]
fn a_load_that_ran_once_is_shown_and_neither_judged_nor_gated() {
    let names = ["pg13.7", "pg14.3"];
    let steps = ["l.i0", "l.x", "qr100"];
    let text = format!("restore_after = \"l.x\"\n{}", plan(&names, &steps, 6, &[1]));
    let lab = Lab::new(&names, &text, 6);
    for place in 0..2 {
        let trial = lab.begin(place, 0, 1);
        for (ordinal, step) in (0..).zip(["l.i0", "l.x"]) {
            let mut record = record(step, 100_000.0 * (1.0 - 0.1 * place as f64));
            record.ordinal = ordinal;
            lab.store.record_step(trial, &record).unwrap();
        }
        lab.store.finish_trial(trial).unwrap();
    }
    lab.run(&["qr100"], 6, 1, &|step, _, block| record(step, 9000.0 + f64::from(block)));
    lab.store.finish_experiment(lab.experiment).unwrap();
    let found = lab.compare();

    let load = &found.document.steps[0];
    assert!(load.loaded_once && !found.document.steps[2].loaded_once);
    assert_eq!(load.variants[1].relative.verdict, None);
    assert!((load.variants[1].relative.ratio.unwrap() - 0.9).abs() < 1e-12);
    assert_eq!(found.gate(report::Gate::Undecided), Vec::<String>::new());
    let text = found.render(Format::Text).unwrap();
    assert!(
        text.contains("l.i0, l.x: part of the load, which the plan runs once per variant"),
        "{text}"
    );
    assert!(text.contains("(0.900)"), "marked, because one value is no difference: {text}");
    assert!(!text.contains("too few blocks"), "{text}");
}

/// The data of a server that is already running can't be copied, so every trial loads.
#[test]
fn what_only_prepares_is_shown_and_neither_judged_nor_gated_where_every_trial_loads() {
    let names = ["pg13.7", "pg14.3"];
    let attached =
        |name: &str| format!("[variants.\"{name}\"]\ndbms = \"postgres://me@{name}/x\"\n");
    let variants: String = names.into_iter().map(attached).collect();
    let text = format!("blocks = 6\n{variants}[workload.insert]\nsteps = [\"qr100\"]\n");
    let lab = Lab::new(&names, &text, 6);
    lab.run(&["l.i0", "l.x", "qr100"], 6, 1, &|step, place, block| {
        let slower = if step == "qr100" { 0.0 } else { 5000.0 * place as f64 };
        record(step, 9000.0 - slower + f64::from(block))
    });
    lab.store.finish_experiment(lab.experiment).unwrap();
    let found = lab.compare();
    let verdicts =
        found.document.steps.iter().map(|step| step.variants[1].relative.verdict.as_deref());
    let verdicts: Vec<_> = verdicts.collect();
    assert_eq!(verdicts, [None, None, Some("equivalent")]);
    assert!(found.document.steps.iter().all(|step| !step.loaded_once));
    assert_eq!(found.gate(report::Gate::Undecided), Vec::<String>::new());
    let text = found.render(Format::Text).unwrap();
    assert!(text.contains("l.i0, l.x: only prepares for others; without a verdict"), "{text}");
}

/// Whoever divides two absolute figures gets the relative one, in tables and in JSON, however
/// skewed the blocks are.
#[test]
fn absolute_figures_divide_to_relative_ones() {
    let steps = ["l.i0", "qr100"];
    let lab = Lab::new(&["a", "b"], &plan(&["a", "b"], &steps, 5, &[1]), 5);
    lab.run(&steps, 5, 1, &|name, place, block| {
        let skew = [1.0, 3.0, 0.2, 1.1, 7.0][(block as usize + 2 * place) % 5];
        let mut step = record(name, 12_345.0 * skew);
        // Medians would say 8.5 against 8.5, pairs 1.37.
        step.metrics.push(("dbms.cpu/o".to_owned(), 8.5 * [1.0, skew][place]));
        step
    });
    lab.store.finish_experiment(lab.experiment).unwrap();
    let found = lab.compare();
    let mut divided = 0;
    for step in &found.document.steps {
        let [base, variant] = &step.variants[..] else { panic!("two variants") };
        for (base, variant, ratio) in [
            (&base.absolute["o/s"], &variant.absolute["o/s"], variant.relative.costs["o/s"]),
            (
                &base.absolute["dbms.cpu/o"],
                &variant.absolute["dbms.cpu/o"],
                variant.relative.costs["dbms.cpu/o"],
            ),
        ] {
            let quotient = variant.mean.unwrap() / base.mean.unwrap();
            assert!((quotient / ratio.unwrap() - 1.0).abs() < 1e-9, "{quotient} {ratio:?}");
        }
        let judged = variant.relative.ratio.unwrap();
        assert!((judged / variant.relative.costs["o/s"].unwrap() - 1.0).abs() < 1e-9);
    }
    for id in ["throughput", "hardware.l.i0", "hardware.qr100"] {
        let table = |part: &str| {
            let wanted = format!("{id}.{part}");
            found.tables.iter().find(|table| table.id == wanted).unwrap()
        };
        let (absolute, relative) = (table("absolute"), table("relative"));
        for (place, ratio) in relative.rows[0].cells.iter().enumerate() {
            let value = |row: usize| absolute.rows[row].cells[place].parse::<f64>();
            let (Ok(ratio), Ok(base), Ok(variant)) = (ratio.parse::<f64>(), value(0), value(1))
            else {
                continue;
            };
            assert!(
                (variant / base - ratio).abs() < 0.002,
                "{id}: {variant} / {base} is not {ratio}"
            );
            divided += 1;
        }
    }
    assert_eq!(divided, 2 + 2 * 2, "o/s twice, dbms.cpu/o and o/s of each step");
}

/// Nothing is known of the costs of l.i1, and only the CPU of l.i0.
#[test]
fn what_is_not_known_has_no_column_and_no_table_where_people_read() {
    let two = ["a", "b"];
    let lab = Lab::new(&two, &plan(&two, &["l.i0", "l.i1"], 6, &[1]), 6);
    lab.run(&["l.i0", "l.i1"], 6, 1, &|name, _, block| {
        let mut step = record(name, 1000.0 + f64::from(block));
        if name == "l.i0" {
            step.metrics.push(("dbms.cpu/o".to_owned(), 8.5));
        }
        step
    });
    let rendered = |sections: &[Section], format: Format| {
        let sections = Some(sections.to_vec());
        let options = CompareOptions { sections, ..CompareOptions::default() };
        compare(&lab.results(), &options).unwrap().render(format).unwrap()
    };
    let text = rendered(&[Section::Hardware], Format::Text);
    assert!(text.contains("\nvariant  dbms.cpu/o   o/s\na             8.500  1003\n"), "{text}");
    let markdown = rendered(&[Section::Hardware], Format::Markdown);
    assert!(markdown.contains("\n| variant | dbms.cpu/o | o/s |\n"), "{markdown}");
    let csv = rendered(&[Section::Hardware], Format::Csv);
    assert!(csv.contains("hardware.l.i0.absolute,l.i0,absolute,a,rKB/o,–\n"), "{csv}");
    for format in [text, markdown, csv] {
        assert!(!format.contains("l.i1"), "only its throughput is known: {format}");
    }

    let asked = [Section::Absolute, Section::Latency, Section::Counters];
    let text = rendered(&asked, Format::Text);
    let (_, said) = text.split_once("\n\n").unwrap();
    assert_eq!(
        said,
        "! latency: no response times were recorded\n\
         ! counters: no counter of the DBMS was recorded, or none changed\n"
    );
    assert_eq!(rendered(&[Section::Size], Format::Text), "! size: no sizes were recorded\n");
    let all = lab.compare().render(Format::Text).unwrap();
    assert!(!all.contains("! latency"), "it was not asked for: {all}");
}

/// PostgreSQL 17 spells many names of wait events differently.
#[test]
fn a_wait_with_its_newer_name_has_one_row() {
    let two = ["16.11", "17.7"];
    let lab = Lab::new(&two, &plan(&two, &["l.i0"], 1, &[1]), 1);
    lab.run(&["l.i0"], 1, 1, &|name, place, _| {
        let mut step = record(name, 1000.0);
        let spelled = ["IO/WALSync", "IO/WalSync"][place];
        step.counters.push(counter(metrics::WAITS, "", spelled, [100.0, 200.0][place]));
        step.counters.push(counter(metrics::WAITS, "", "CPU", 50.0));
        // Names of other counters stay distinct if they differ in case.
        step.counters.push(counter("pg_stat_io", "", ["Reads", "reads"][place], 7.0));
        step
    });
    let sections = Some(vec![Section::Counters]);
    let options = CompareOptions { sections, ..CompareOptions::default() };
    let text = compare(&lab.results(), &options).unwrap().render(Format::Text).unwrap();
    assert!(text.contains("\nIO/WalSync    100   200\n") && !text.contains("WALSync"), "{text}");
    assert!(text.contains("\nReads        7     –\nreads        –     7\n"), "{text}");
}
