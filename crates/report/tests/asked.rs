//! Only the tables and metrics that were asked for.

use report::{CompareOptions, Format, Section, Which, compare};
use store::{NewExperiment, Purpose};

use crate::common::{Lab, plan, record};
use crate::compare::rich_lab;

#[test]
fn a_kind_of_table_that_was_asked_for_comes_alone() {
    let sections = Some(vec![Section::Relative]);
    let options = CompareOptions { sections, ..CompareOptions::default() };
    let found = compare(&rich_lab().results(), &options).unwrap();
    let ids: Vec<&str> = found.shown().iter().map(|table| table.id.as_str()).collect();
    assert_eq!(ids, ["throughput.relative"]);
    let text = found.render(Format::Text).unwrap();
    assert!(!text.contains("Verdicts") && !text.contains("--- absolute"), "{text}");
}

/// `run` prints into a file in the order of `compare`.
#[test]
fn a_summary_has_the_order_of_the_whole() {
    let comparison = rich_lab().compare();
    let (whole, summary) = (comparison.render(Format::Text), comparison.summary(Format::Text));
    for text in [whole.unwrap(), summary.unwrap()] {
        let place = |title: &str| text.find(title).unwrap_or_else(|| panic!("{title}: {text}"));
        assert!(place("Throughput") < place("\nVerdicts\n"), "{text}");
    }
}

#[test]
fn a_note_that_steps_share_is_printed_once_with_all_of_them() {
    let text = rich_lab().compare().render(Format::Text).unwrap();
    let lacking: Vec<&str> = text.lines().filter(|line| line.contains("not be measured")).collect();
    assert_eq!(lacking.len(), 1, "{text}");
    assert!(lacking[0].starts_with("l.i0, l.i1, qr100: – could not be measured: "), "{lacking:?}");
}

#[test]
fn an_unknown_metric_is_answered_with_those_that_were_measured() {
    let metrics = vec!["list".to_owned()];
    let options = CompareOptions { metrics, ..CompareOptions::default() };
    let told = compare(&rich_lab().results(), &options).unwrap_err().to_string();
    let (_, known) = told.split_once("available are ").unwrap();
    let known: Vec<&str> = known.split(", ").collect();
    for name in ["o/s", "dbms.cpu/o", "wKB/o"] {
        assert!(known.contains(&name), "{name}: {told}");
    }
    assert!(!told.contains("perf.") && !known.contains(&"dbms.rss"), "{told}");
}

/// A run that was interrupted in its first trial hides no results.
#[test]
fn the_latest_run_is_one_with_results() {
    let lab = rich_lab();
    let latest = || report::load(&lab.store, Which::Latest).unwrap().experiment.id;
    let known = lab.store.experiment(lab.experiment).unwrap();
    let again = NewExperiment {
        purpose: Purpose::Run,
        name: known.name,
        workload: known.workload,
        base: known.base,
        seed: 1,
        blocks: known.blocks,
        margin: known.margin,
        plan: known.plan,
        steelyard: known.steelyard,
        created_ms: known.created_ms + 1,
    };
    let empty = lab.store.begin_experiment(&again).unwrap();
    assert_eq!(latest(), lab.experiment);
    let named = empty.0.to_string();
    let named = report::load(&lab.store, Which::Named(&named)).unwrap();
    assert_eq!(named.experiment.id, empty, "where it is asked for");
}

/// One variant never gets a verdict, however many blocks it has.
#[test]
fn one_variant_is_not_told_that_its_blocks_are_too_few() {
    let lab = Lab::new(&["a"], &plan(&["a"], &["l.i0"], 1, &[1]), 1);
    lab.run(&["l.i0"], 1, 1, &|name, _, _| record(name, 100.0));
    let text = lab.compare().render(Format::Text).unwrap();
    assert!(!text.contains("Verdicts") && !text.contains("too few"), "{text}");
    let sections = Some(vec![Section::Verdicts]);
    let options = CompareOptions { sections, ..CompareOptions::default() };
    let asked = compare(&lab.results(), &options).unwrap().render(Format::Text).unwrap();
    assert_eq!(asked, "! verdicts: no step has results of two variants to compare\n");
}
