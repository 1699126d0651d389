//! Sweeps over clients: what is printed of them, and what is on the page.

use report::Format;

use crate::common::documented::{assert_keys_explained, before_example};
use crate::common::sweeps::{CLIENTS, PINNINGS, pinned, plan, run};
use crate::common::{Lab, golden};

fn lab(variants: &[&str], blocks: u32) -> Lab {
    let lab = Lab::new(variants, &plan(variants, blocks, &CLIENTS, &pinned()), blocks);
    run(&lab, variants.len(), blocks, &CLIENTS);
    lab
}

#[test]
fn a_sweep_is_printed_over_its_clients() {
    let lab = lab(&["pg17", "patched"], 3);
    let comparison = lab.compare();
    golden("sweep.txt", &comparison.render(Format::Text).unwrap());
    golden("sweep.md", &comparison.summary(Format::Markdown).unwrap());
    golden("sweep.csv", &comparison.summary(Format::Csv).unwrap());
}

#[test]
fn the_keys_of_a_sweep_are_explained() {
    let lab = lab(&["pg17", "patched"], 3);
    let document = lab.compare().document;
    let mut sweep = document.sweeps[0].clone();
    assert_eq!((sweep.step.as_str(), sweep.lines.len()), ("select", 6));
    assert_eq!(sweep.clients, CLIENTS);
    assert_eq!(sweep.dimensions[0].values, PINNINGS);
    for point in sweep.lines.iter_mut().flat_map(|line| &mut line.points) {
        let figure = point.metrics["o/s"];
        assert!(figure.low.unwrap() < figure.mean && figure.mean < figure.high.unwrap());
        assert_eq!(point.values.len(), 3);
        let each = figure.mean / f64::from(point.clients);
        assert!((point.per_client / each - 1.0).abs() < 1e-12);
        point.metrics.retain(|name, _| name == "o/s");
    }
    let text = serde_json::to_string(&sweep).unwrap();
    assert_keys_explained(&text, &before_example("compare-json.md"), "docs/compare-json.md");
}

/// The budget of `report` for a sweep: 176 numbers of clients × 3 lines × 4 blocks are written in
/// at most three seconds.
#[test]
#[ignore = "a bound: make bench"]
fn a_large_sweep_is_written_in_time() {
    let clients: Vec<u32> = (1..=176).collect();
    let lab = Lab::new(&["pg17"], &plan(&["pg17"], 4, &clients, &pinned()), 4);
    run(&lab, 1, 4, &clients);
    let start = std::time::Instant::now();
    let html = report::html(&lab.store, &lab.results(), None);
    let took = start.elapsed();
    println!("written in {took:?}, {} KB", html.map_or(0, |html| html.len() / 1000));
    assert!(took.as_secs_f64() <= 3.0, "{took:?}");
}
