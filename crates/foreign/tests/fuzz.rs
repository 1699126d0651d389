//! Arbitrary, mutated and truncated text: it causes no panic, and no incomplete test is read.

use std::sync::LazyLock;

use foreign::{Format, Reading, Test};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::fixtures::{WORDS, format_of, names, text};

/// All outputs with their formats and, if they can be read, what is in them.
static ALL: LazyLock<Vec<(Format, String, Option<Reading>)>> = LazyLock::new(|| {
    let read = |name: String| {
        let (format, text) = (format_of(&name), text(&name));
        let reading = format.read(&text).ok();
        (format, text, reading)
    };
    names().into_iter().map(read).collect()
});

fn formats() -> Vec<Format> {
    let more = ["json:/jobs/0/read/iops", r"regex:tps = (?P<value>\S*)"];
    WORDS.iter().chain(&more).map(|word| word.parse().unwrap()).collect()
}

/// Every reader takes every text, and what it takes is usable.
fn any_reader_survives(text: &str) -> Result<(), TestCaseError> {
    Format::detect(text);
    for format in formats() {
        match format.read(text) {
            Ok(reading) => {
                prop_assert!(!reading.tests.is_empty() || !reading.columns.is_empty());
                for test in &reading.tests {
                    usable(test, text)?;
                }
                let values = reading.columns.iter().flat_map(|column| &column.values);
                prop_assert!(values.into_iter().all(|value| value.is_finite()));
            }
            Err(error) => {
                prop_assert!(error.to_string().len() < 2000, "{}", error);
            }
        }
    }
    Ok(())
}

fn usable(test: &Test, text: &str) -> Result<(), TestCaseError> {
    prop_assert!(test.value.is_finite() && test.value > 0.0, "{:?}", test);
    prop_assert!(test.metrics.iter().all(|metric| metric.value.is_finite()), "{:?}", test);
    prop_assert!(test.seconds.is_none_or(f64::is_finite), "{:?}", test);
    prop_assert!((1..=text.split_inclusive('\n').count()).contains(&test.line), "{:?}", test);
    for interval in &test.series {
        prop_assert!(interval.value.is_finite() && interval.seconds.is_finite(), "{:?}", test);
    }
    Ok(())
}

/// An output that is cut anywhere gives an error, or the first of its tests, whole.
fn a_part_gives_whole_tests_or_none(place: usize, cut: usize) -> Result<(), TestCaseError> {
    let (format, text, whole) = &ALL[place % ALL.len()];
    let mut cut = cut % (text.len() + 1);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    let Some(whole) = whole else { return Ok(()) };
    let Ok(part) = format.read(&text[..cut]) else { return Ok(()) };
    prop_assert!(part.tests.len() <= whole.tests.len());
    let alone = part.tests.len() == 1 && whole.tests.len() > 1;
    for (mut part, mut whole) in part.tests.into_iter().zip(whole.tests.clone()) {
        if alone {
            // Progress of db_bench belongs to a test only if there is one.
            (part.series, whole.series) = (Vec::new(), Vec::new());
        }
        // A later table adds metrics to figures of an earlier one.
        if matches!(format, Format::Table) && whole.metrics.starts_with(&part.metrics) {
            part.metrics.clone_from(&whole.metrics);
        }
        // go names the package only if there are several.
        prop_assert_eq!(part, whole, "cut at {}:\n{}", cut, &text[..cut]);
    }
    for (part, whole) in part.columns.iter().zip(&whole.columns) {
        prop_assert!(whole.values.starts_with(&part.values), "cut at {}", cut);
    }
    Ok(())
}

/// A text with a part of an output replaced by something else, or moved, or taken twice.
fn mutated(place: usize, from: usize, length: usize, with: &str, kind: u8) -> String {
    let (_, text, _) = &ALL[place % ALL.len()];
    let bound = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let from = bound(from % (text.len() + 1));
    let to = bound(from + length).max(from);
    match kind % 4 {
        0 => format!("{}{with}{}", &text[..from], &text[to..]),
        1 => format!("{}{}{}", &text[..to], &text[from..to], &text[to..]),
        2 => format!("{}{with}{}", &text[from..], &text[..from]),
        _ => text.lines().filter(|line| !line.contains(with)).collect::<Vec<_>>().join("\n"),
    }
}

fn pieces() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        "[0-9.eE+-]{1,20}",
        Just("1e400".to_owned()),
        Just("NaN".to_owned()),
        Just("\t".to_owned()),
        Just("\r\n".to_owned()),
        Just("18446744073709551616".to_owned()),
        Just("-0".to_owned()),
    ]
}

fn run(cases: u32) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let lines = proptest::collection::vec("[ -~µ\t\r]{0,60}", 0..12);
    runner.run(&lines, |lines| any_reader_survives(&lines.join("\n"))).unwrap();
    let cuts = (any::<usize>(), any::<usize>());
    runner.run(&cuts, |(place, cut)| a_part_gives_whole_tests_or_none(place, cut)).unwrap();
    let changes = (any::<usize>(), any::<usize>(), 0..200_usize, pieces(), any::<u8>());
    runner
        .run(&changes, |(place, from, length, with, kind)| {
            any_reader_survives(&mutated(place, from, length, &with, kind))
        })
        .unwrap();
}

#[test]
fn no_text_is_too_strange() {
    run(150);
}

#[test]
fn no_cut_makes_a_result_of_a_test_that_was_not_complete() {
    for place in 0..ALL.len() {
        // Every byte of the end, where the figures are; every hundredth of the rest.
        let length = ALL[place].1.len();
        let places = (0..length).step_by(101).chain(length.saturating_sub(400)..=length);
        for cut in places {
            a_part_gives_whole_tests_or_none(place, cut).unwrap();
        }
    }
}

/// By hand, before a release: `cargo test -p steelyard-foreign -- --ignored` (`FUZZ_MINUTES`, 10).
#[test]
#[ignore = "takes minutes"]
fn no_text_is_too_strange_for_minutes() {
    let minutes = std::env::var("FUZZ_MINUTES").ok().and_then(|text| text.parse().ok());
    let end = std::time::Duration::from_secs(60 * minutes.unwrap_or(10));
    let start = std::time::Instant::now();
    let mut rounds = 0_u32;
    while start.elapsed() < end {
        run(1000);
        rounds += 1;
    }
    println!("{rounds} rounds of 3 × 1000 texts");
}
