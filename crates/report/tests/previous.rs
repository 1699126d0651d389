//! Each version against the one before it.

use crate::common::{Lab, plan, record};
use report::{CompareOptions, Format, ReportError};

const VARIANTS: [&str; 3] = ["15", "16", "17"];
const STEPS: [&str; 1] = ["l.i0"];

/// 16 is 10% slower than 15, 17 as fast as 16.
fn lab() -> Lab {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &STEPS, 6, &[1]), 6);
    lab.run(&STEPS, 6, 1, &|name, place, block| {
        let chance = 1.0 + 0.001 * f64::from((block * 7 + place as u32 * 3) % 5);
        record(name, [1000.0, 900.0, 900.0][place] * chance)
    });
    lab
}

#[test]
fn each_version_is_compared_with_the_one_before() {
    let lab = lab();
    let compare = |base: &str| {
        let options = CompareOptions { base: Some(base.to_owned()), ..CompareOptions::default() };
        report::compare(&lab.results(), &options)
    };
    let found = compare("previous").unwrap();
    let ratio = |place: usize| found.judged.of(0, place).map(|it| (it.ratio * 100.0).round());
    assert_eq!([0, 1, 2].map(ratio), [None, Some(90.0), Some(100.0)]);
    assert_eq!(found.document.base, "the previous variant");
    let printed = found.render(Format::Text).unwrap();
    for part in [
        "value of the variant / value of the previous variant",
        "--- relative to previous\n",
        "16 is 10.0% slower than 15",
        "17 is as fast as 16",
    ] {
        assert!(printed.contains(part), "`{part}` is missing in:\n{printed}");
    }
    let by_first = compare("15").unwrap();
    assert!((by_first.judged.of(0, 2).unwrap().ratio - 0.9).abs() < 0.002);
    assert!(matches!(compare("14"), Err(ReportError::UnknownBase { .. })));
}
