//! The short form of comparisons, as printed on a terminal.

use report::{CompareOptions, Format, compare};

use crate::common::{Lab, golden, plan, record};
use crate::compare::{STEPS, rich_lab};

/// The short output for an experiment, on a terminal of the given width.
fn brief(lab: &Lab, width: usize) -> String {
    let options = CompareOptions { brief: Some(width), ..CompareOptions::default() };
    let text = compare(&lab.results(), &options).unwrap().render(Format::Text).unwrap();
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= width, "{widest} columns:\n{text}");
    text
}

#[test]
fn a_terminal_gets_a_line_for_each_comparison() {
    let text = brief(&rich_lab(), 80);
    golden("brief.txt", &text);
    let verdicts = text.lines().take_while(|line| !line.is_empty()).count();
    assert_eq!(
        verdicts,
        2 + STEPS.len() * 2,
        "title and heads, then 2 comparisons a step:\n{text}"
    );
    golden("brief-wide.txt", &brief(&rich_lab(), 100));
}

/// The first version with all steps, and others that are each slower in one of them.
fn many(versions: usize, dops: &[u32]) -> Lab {
    const ALL: [&str; 10] =
        ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"];
    let versions: Vec<String> = (0..versions).map(|number| format!("pg{number}.1")).collect();
    let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
    let lab = Lab::new(&versions, &plan(&versions, &ALL, 6, dops), 6);
    for dop in dops {
        lab.run(&ALL, 6, *dop, &|name, place, block| {
            let slower = place > 0 && ALL[(place - 1) % ALL.len()] == name;
            let chance = 1.0 + 0.001 * f64::from((block * 7 + place as u32 * 3) % 5);
            record(name, 1e4 * chance * if slower { 0.9 } else { 1.0 })
        });
    }
    lab.store.finish_experiment(lab.experiment).expect("an experiment");
    lab
}

#[test]
fn many_comparisons_get_a_cell_each() {
    for width in [80, 100] {
        let text = brief(&many(12, &[1]), width);
        golden(&format!("brief-many-{width}.txt"), &text);
        let signs = text.matches('▼').count();
        assert!(signs > 11, "a slower step of each, and the legend:\n{text}");
        assert_eq!(text.matches("relative to pg0.1").count(), 1, "one heading:\n{text}");
        let counts = "\nOf 110 comparisons: 11 regressions, 99 equivalent\nvariant ";
        assert!(text.contains(counts), "{text}");
    }
    let text = brief(&many(2, &[1, 2, 4, 8]), 80);
    assert_eq!(text.matches("equivalent\n").count(), 9 * 4, "{text}");
}

#[test]
fn signs_of_verdicts_are_explained_where_there_are_verdicts() {
    let names: Vec<String> = (0..50).map(|number| format!("v{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let lab = single(&names, &["l.i0"], &|name, place, _| record(name, 100.0 + place as f64));
    let text = brief(&lab, 80);
    assert!(text.contains("v49") && !text.contains('▼'), "{text}");
}

/// A lab of single values, as imports are.
fn single(variants: &[&str], steps: &[&str], measure: &crate::common::Measure<'_>) -> Lab {
    let lab = Lab::new(variants, "# There is no plan.\n", 1);
    lab.run(steps, 1, 1, measure);
    lab.store.finish_experiment(lab.experiment).unwrap();
    lab
}

#[test]
fn single_values_are_shown_without_intervals_and_said_once() {
    let variants = ["a", "b"];
    let lab = single(&variants, &["l.i0"], &|name, place, _| record(name, [100.0, 50.0][place]));
    for width in [80, 100] {
        let text = brief(&lab, width);
        let shown = "\
Throughput relative to a: 1 block
step  a o/s  variant    ratio
l.i0    100  b        (0.500)
(…) a ratio of fewer than 6 blocks, without an interval";
        assert!(text.starts_with(shown), "{text}");
        assert_eq!(text.matches("\n! ").count(), 1, "of one block, once: {text}");
    }
}

/// Student's t of two blocks spans from a fraction to a multiple, which says nothing.
#[test]
fn a_few_blocks_have_their_range_instead_of_an_interval() {
    let variants = ["a", "b"];
    let lab = Lab::new(&variants, &plan(&variants, &["l.i0"], 2, &[1]), 2);
    lab.run(&["l.i0"], 2, 1, &|name, place, block| {
        record(name, [[1000.0, 1000.0], [800.0, 950.0]][place][block as usize - 1])
    });
    lab.store.finish_experiment(lab.experiment).unwrap();
    let text = brief(&lab, 80);
    let shown = "\
Throughput relative to a: 2 blocks
step  a o/s  variant    ratio  range of blocks
l.i0   1000  b        (0.872)  0.800 to 0.950
(…) a ratio of fewer than 6 blocks, without an interval";
    assert!(text.starts_with(shown), "{text}");
    let full = compare(&lab.results(), &CompareOptions::default()).unwrap();
    let full = full.render(Format::Text).unwrap();
    assert!(full.contains("b is 12.8% slower than a (2 blocks): inconclusive"), "{full}");
    assert!(!full.contains("0.293") && !full.contains("95% interval −"), "{full}");
}

#[test]
fn one_variant_alone_shows_its_figures_and_what_they_are() {
    let steps = ["l.i0", "qr100", "qp100"];
    let lab = single(&["pg17"], &steps, &|name, _, _| record(name, 1234.0));
    let text = brief(&lab, 80);
    assert_eq!(
        text,
        "\
Throughput
step   pg17
l.i0   1234
qr100  1234
qp100  1234
operations/s (rows or queries): 1 block
"
    );
}

#[test]
fn long_names_leave_a_comparison_on_one_line() {
    let variants = ["sb.pg16.11.range1000.pk1.dop400", "sb.pg17.7.range1000.pk1.dop400"];
    let lab = single(&variants, &["l.i0"], &|name, place, _| record(name, [100.0, 50.0][place]));
    let text = brief(&lab, 80);
    assert_eq!(text.matches("Throughput").count(), 1, "in one part: {text}");
    assert!(text.contains("base o/s"), "{text}");
    assert!(brief(&lab, 100).contains("pk1.dop400 o/s"), "where there is room");
}

#[test]
fn costs_of_other_programs_have_their_unit() {
    let lab = single(&["a", "b"], &["sort"], &|name, place, _| {
        let mut step = record(name, [2.0, 1.0][place]);
        (step.measure.better, step.measure.unit) = (store::Better::Less, "s".to_owned());
        step
    });
    let text = brief(&lab, 80);
    assert!(text.starts_with("Costs relative to a: 1 block\n"), "{text}");
    assert!(text.contains("\nsort in s  "), "{text}");
    assert!(!text.contains("o/s"), "{text}");
}

/// Long names are cut in the middle, and sentences end between words, at any width.
#[test]
fn nothing_is_wider_than_the_terminal() {
    let variants =
        ["postgres.18.1.with.patch.one.and.more", "postgres.18.1.with.patch.two.and.more"];
    let steps = ["l.i0", "qr100"];
    let lab = Lab::new(&variants, &plan(&variants, &steps, 3, &[1]), 3);
    lab.run(&steps, 3, 1, &|name, place, block| {
        record(name, [1000.0, 900.0][place] * (1.0 + 0.01 * f64::from(block)))
    });
    for width in [64, 72, 80, 100] {
        let text = brief(&lab, width);
        let row = text.lines().find(|line| line.starts_with("l.i0 ")).unwrap();
        assert!(row.ends_with("(0.900)  0.900 to 0.900"), "a line at {width}:\n{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.contains(&"too-few-blocks:"), "whole words at {width}:\n{text}");
    }
    let text = brief(&lab, 72);
    let row = text.lines().find(|line| line.starts_with("l.i0 ")).unwrap();
    assert!(row.contains('…') && row.contains("o.and.more"), "which one is still seen:\n{text}");
}

#[test]
fn another_metric_has_a_short_form_too() {
    let options = CompareOptions {
        brief: Some(80),
        metrics: vec!["dbms.cpu/o".to_owned()],
        ..CompareOptions::default()
    };
    let found = compare(&rich_lab().results(), &options).unwrap();
    let text = found.render(Format::Text).unwrap();
    assert!(text.starts_with("dbms.cpu/o relative to pg13.7: 95% intervals, 6 blocks"), "{text}");
    assert!(text.contains("\nl.i0    8.500  pg14.3"), "{text}");
    assert!(!text.contains("Throughput"), "{text}");
}

#[test]
fn several_metrics_have_a_line_for_each_comparison_and_their_notes_once() {
    let variants = ["a", "b"];
    let lab = single(&variants, &["l.i0", "qr100"], &|name, place, _| {
        let mut step = record(name, [100.0, 50.0][place]);
        step.metrics.push(("dbms.cpu/o".to_owned(), 8.5));
        step
    });
    let metrics = ["o/s", "dbms.cpu/o"].map(str::to_owned).to_vec();
    let options = CompareOptions { brief: Some(80), metrics, ..CompareOptions::default() };
    let text = compare(&lab.results(), &options).unwrap().render(Format::Text).unwrap();
    assert_eq!(text.matches("\nl.i0 ").count(), 2, "{text}");
    assert_eq!(text.matches("(…) a ratio").count(), 1, "{text}");
    assert!(!text.contains("Legend"), "{text}");
}

/// A row of a table, such as `a, 1, 2, 1, abandoned,`, says nothing to who does not see its head.
#[test]
fn trials_without_results_are_told_in_sentences() {
    let variants = ["a", "b"];
    let lab = Lab::new(&variants, &plan(&variants, &["l.i0"], 6, &[1]), 6);
    for block in 1..=6 {
        for place in 0..2 {
            let polluted = |share: f64| format!("the hypervisor took {share}% of the CPU time");
            if place == 0 && (2..=3).contains(&block) {
                let trial = lab.begin(place, block, 1);
                let why = polluted(5.0 + f64::from(block));
                lab.store.pollute_trials(&[trial], &why).unwrap();
            }
            if place == 1 && block == 4 {
                lab.begin(place, block, 1);
                lab.store.abandon_running(lab.experiment).unwrap();
            }
            let trial = lab.begin(place, block, 1);
            lab.store.record_step(trial, &record("l.i0", 100.0 + f64::from(block))).unwrap();
            lab.store.finish_trial(trial).unwrap();
        }
    }
    lab.store.finish_experiment(lab.experiment).unwrap();
    let text = brief(&lab, 100);
    for said in [
        "\n! polluted: a: 2 trials of blocks 2, 3 were polluted: the hypervisor took 7% of the CPU time\n",
        "\n! abandoned: b: 1 trial of block 4 was abandoned\n",
    ] {
        assert!(text.contains(said), "{said}{text}");
    }
}

#[test]
fn identical_variants_show_their_ratio_and_the_noise_floor() {
    let variants = ["pg17", "pg17.aa"];
    let text = "name = \"twins\"\nblocks = 6\n[variants.pg17]\ndbms = \"postgres@17\"\n\
                [variants.\"pg17.aa\"]\ndbms = \"postgres@17\"\ntwin_of = \"pg17\"\n\
                [workload.insert]\nsteps = [\"l.i0\"]\nsecondary_indexes = 0\n";
    let lab = Lab::new(&variants, text, 6);
    lab.run(&["l.i0"], 6, 1, &|name, place, block| {
        record(name, 1000.0 + 2.0 * f64::from(block * (place as u32 + 1) % 5))
    });
    let text = brief(&lab, 80);
    let line = text.lines().find(|line| line.starts_with("A/A, identical variants: ")).unwrap();
    assert!(line.contains("l.i0 pg17.aa/pg17 1.00") && line.contains(", noise floor 0."), "{text}");
}
