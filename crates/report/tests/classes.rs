//! Verdicts on each class of statements.

use report::{By, CompareOptions, Format, ReportError, compare};
use store::StepRecord;

use crate::common::{Lab, histogram, plan, record, series};

/// Three classes, of which the second takes half of the time and is 20% slower in `b`.
fn mixed(_: &str, place: usize, block: u32) -> StepRecord {
    let wobble = 1.0 + 0.002 * f64::from((block * 7 + place as u32 * 3) % 5);
    let slower = if place == 1 { 1.2 } else { 1.0 };
    let mut step = record("qr100", 1_000.0);
    // All of them together, as of a mix.
    step.metrics.push(("query.mean".to_owned(), 200.0 * wobble));
    step.metrics.push(("query.p99".to_owned(), 400.0 * wobble));
    let second = (300_000.0 * slower) as u64;
    let all = [(100_000, 1_000), (second, 1_000), (1_000_000, 200)];
    step.histograms.push(histogram("query", &all));
    for (class, text, us, count) in [
        ("q1", "select ?", 100.0, 1_000),
        ("q2", "update t set a = ?", 300.0 * slower, 1_000),
        ("q3", "commit", 1_000.0, 200),
    ] {
        step.metrics.push((format!("{class}.mean"), us * wobble));
        step.metrics.push((format!("{class}.p99"), 2.0 * us * wobble));
        step.histograms.push(histogram(class, &[((1_000.0 * us) as u64, count)]));
        let mut rates = series(&format!("tp.{class}"), "throughput", vec![100.0; 10]);
        rates.label = text.to_owned();
        step.series.push(rates);
    }
    step
}

fn lab(measure: impl Fn(&str, usize, u32) -> StepRecord) -> Lab {
    let lab = Lab::new(&["a", "b"], &plan(&["a", "b"], &["qr100"], 6, &[1]), 6);
    lab.run(&["qr100"], 6, 1, &measure);
    lab
}

fn by_class(lab: &Lab, metrics: &[&str]) -> Result<report::Comparison, ReportError> {
    let metrics = metrics.iter().map(|it| (*it).to_owned()).collect();
    compare(&lab.results(), &CompareOptions { by: Some(By::Class), metrics, ..Default::default() })
}

#[test]
fn each_class_has_a_row_and_a_verdict() {
    let found = by_class(&lab(mixed), &[]).unwrap();
    let text = found.render(Format::Csv).unwrap();
    let [table] = &found.tables[..] else { panic!("{text}") };
    let place = |name: &str| table.columns.iter().position(|it| it == name).unwrap() - 1;
    let shown = ["share", "verdict", "text"].map(place);
    let rows: Vec<(&str, [&str; 3])> = table
        .rows
        .iter()
        .map(|row| (row.label.as_str(), shown.map(|column| row.cells[column].as_str())))
        .collect();
    let expected = [
        ("q2", ["50.0%", "regression", "update t set a = ?"]),
        ("q3", ["33.3%", "equivalent", "commit"]),
        ("q1", ["16.7%", "equivalent", "select ?"]),
    ];
    assert_eq!(rows, expected, "{text}");
    assert_eq!(found.regressions().len(), 1, "{:?}", found.regressions());
    let judged: Vec<&str> = found.document.metrics.iter().map(|it| it.metric.as_str()).collect();
    assert_eq!(judged, ["q1.mean", "q2.mean", "q3.mean"]);
}

#[test]
fn other_response_times_may_be_judged() {
    let lab = lab(mixed);
    let found = by_class(&lab, &["p99", "mean"]).unwrap();
    let ids: Vec<&str> = found.tables.iter().map(|table| table.id.as_str()).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.iter().any(|id| id.contains("p99")), "{ids:?}");
    let error = by_class(&lab, &["dbms.cpu/o"]).unwrap_err().to_string();
    assert!(error.contains("dbms.cpu/o") && error.contains("p99"), "{error}");
}

#[test]
fn one_class_has_no_table_of_classes() {
    let one = |name: &str, place: usize, block: u32| {
        let mut step = mixed(name, place, block);
        step.metrics.retain(|(name, _)| !name.starts_with("q1.") && !name.starts_with("q2."));
        step
    };
    let error = by_class(&lab(one), &[]).unwrap_err();
    assert!(matches!(error, ReportError::OneClass(_)), "{error}");
}
