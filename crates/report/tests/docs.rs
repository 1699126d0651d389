//! The documentation of the JSON matches the program's output.

use crate::common::documented::{assert_is_example, assert_keys_explained, before_example};
use crate::common::{Lab, histogram, plan, record};
use report::Format;

/// Two versions, two blocks, one read+write step in which the second did not hold its insert rate.
fn example() -> String {
    let variants = ["pg13.7", "pg14.3"];
    let steps = ["l.i0", "l.x", "qr100"];
    let lab = Lab::new(&variants, &plan(&variants, &steps, 2, &[1]), 2);
    lab.run(&["qr100"], 2, 1, &|name, place, block| {
        let mut step = record(name, [9000.0, 8500.0][place] + 10.0 * f64::from(block));
        let metrics = [
            ("cpu/o", 0.0125),
            ("cs/o", 2.25),
            ("r/o", 0.0),
            ("rKB/o", 0.0),
            ("wKB/o", 0.5),
            ("dbms.cpu/o", 95.5),
            ("insert.target", 100.0),
            ("insert.rate", [100.0, 90.0][place]),
            ("insert.held", [1.0, 0.0][place]),
            ("stall.share", 0.0),
        ];
        step.metrics.extend(metrics.map(|(name, value)| (name.to_owned(), value)));
        step.histograms.push(histogram("query", &[(100_000, 900), (500_000, 100)]));
        if place == 1 {
            step.warnings.push(store::Warning {
                code: "rate-not-held".to_owned(),
                text: "inserts reached 90 of 100 rows/s".to_owned(),
            });
        }
        step
    });
    let mut document = lab.compare().document;
    // The first two steps were never reached; one is enough to read.
    document.steps.drain(..2);
    document.metrics[0].comparisons.drain(..2);
    document.warnings.truncate(1);
    serde_json::to_string_pretty(&document).expect("a document") + "\n"
}

#[test]
fn the_example_is_what_the_program_prints() {
    let found = example();
    assert_is_example(&found, "documented.json", "compare-json.md");
    let back: report::Document = serde_json::from_str(&found).unwrap();
    assert_eq!(serde_json::to_string_pretty(&back).unwrap() + "\n", found);
}

#[test]
fn every_key_is_explained() {
    assert_keys_explained(&example(), &before_example("compare-json.md"), "docs/compare-json.md");
}

#[test]
fn rendering_ends_with_a_line_feed() {
    let variants = ["a", "b"];
    let lab = Lab::new(&variants, &plan(&variants, &["l.i0"], 1, &[1]), 1);
    lab.run(&["l.i0"], 1, 1, &|name, _, _| record(name, 5.0));
    for format in [Format::Text, Format::Markdown, Format::Csv, Format::Json] {
        assert!(lab.compare().render(format).unwrap().ends_with('\n'), "{format:?}");
    }
}
