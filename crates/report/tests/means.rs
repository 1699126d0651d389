//! The geometric mean over many steps.

use crate::common::{Lab, plan, record};
use report::{CompareOptions, Format, Section, compare};

const VARIANTS: [&str; 2] = ["pg13.7", "pg14.3"];
const STEPS: [&str; 6] = ["qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"];
const BLOCKS: u32 = 8;

/// A step of the second variant takes `1.25` times as long if its name has an `r`. In even blocks
/// all of its steps are a little slower, in odd blocks a little faster.
fn rate(name: &str, place: usize, block: u32) -> f64 {
    let first = 100.0 * (1.0 + STEPS.iter().position(|step| *step == name).unwrap() as f64);
    let slower = if name.contains('r') { 0.8 } else { 1.0 };
    let chance = if block.is_multiple_of(2) { 0.99 } else { 1.0 / 0.99 };
    if place == 0 { first } else { first * slower * chance }
}

/// The cells of the second variant's row; `None` without the table.
fn row(steps: &[&str], lacks: impl Fn(&str, u32) -> bool) -> Option<Vec<String>> {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, steps, BLOCKS, &[1]), BLOCKS);
    lab.run(steps, BLOCKS, 1, &|name, place, block| {
        let mut record = record(name, rate(name, place, block));
        if place == 1 && lacks(name, block) {
            record.metrics.clear();
        }
        record
    });
    let sections = Some(vec![Section::Verdicts]);
    let options = CompareOptions { sections, ..CompareOptions::default() };
    let found = compare(&lab.results(), &options).unwrap();
    let text = found.render(Format::Text).unwrap();
    let (_, table) = text.split_once("Geometric means over steps")?;
    let row = table.lines().find(|line| line.contains("pg14.3 "))?;
    Some(row.split_whitespace().map(str::to_owned).collect())
}

#[test]
fn all_steps_have_the_same_weight() {
    let row = row(&STEPS, |_, _| false).unwrap();
    // The sixth root of 0.8 · 0.8 · 0.8 is that of 0.512.
    let mean = 0.512_f64.powf(1.0 / 6.0);
    let rate = 100.0 * 720.0_f64.powf(1.0 / 6.0);
    let rates = [rate, mean * rate].map(|rate| format!("{rate:.0}"));
    assert_eq!(row[..5], ["queries,", "dop", "1", "6", "pg14.3"], "{row:?}");
    assert_eq!(row[5..7], rates, "{row:?}");
    assert_eq!(row[7], format!("{mean:.3}"), "{row:?}");
    // Logarithms of ±0.01005 in eight blocks: Student's t with 7 degrees of freedom is 2.365.
    let half = 2.3646 * 0.010_050_3 * (8.0_f64 / 7.0).sqrt() / 8.0_f64.sqrt();
    let ends = [(-half).exp(), half.exp()].map(|end| format!("{:.3}", mean * end));
    assert_eq!(row[8..], ends, "{row:?}");
}

#[test]
fn a_block_without_one_of_the_steps_does_not_count() {
    let whole = row(&STEPS, |_, _| false).unwrap();
    let row = row(&STEPS, |name, block| name == "qp500" && block == 3).unwrap();
    // Of seven blocks, four are slower.
    let mean = 0.512_f64.powf(1.0 / 6.0) * 0.99_f64.powf(1.0 / 7.0);
    assert_eq!(row[7], format!("{mean:.3}"), "{row:?}");
    assert_ne!(row[7..], whole[7..]);
}

#[test]
fn a_step_that_a_variant_lacks_is_in_no_figure_of_its_row() {
    let row = row(&STEPS, |name, _| name == "qp1000").unwrap();
    assert_eq!(row[3..6], ["5", "of", "6"], "{row:?}");
    // 100, 200, 300, 400, 500; three of them 0.8 times as fast.
    let rate = 100.0 * 120.0_f64.powf(0.2);
    let mean = 0.512_f64.powf(0.2);
    assert_eq!(row[7], format!("{rate:.0}"), "{row:?}");
    assert_eq!(row[9], format!("{mean:.3}"), "{row:?}");
}

#[test]
fn few_steps_speak_for_themselves() {
    assert_eq!(row(&STEPS[..4], |_, _| false), None);
}
