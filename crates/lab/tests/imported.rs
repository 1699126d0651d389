//! Where the tests of imported files belong.

use foreign::{Format, Reading};
use lab::{Finished, ImportError, arrange};

fn go(lines: &str) -> Reading {
    Format::Go.read(&format!("{lines}PASS\n")).unwrap()
}

fn file(name: &str, reading: Reading) -> Finished {
    Finished {
        file: name.to_owned(),
        variant: "a".to_owned(),
        dop: None,
        block: None,
        step: None,
        written_ms: 0,
        reading,
    }
}

#[test]
fn one_name_cannot_stand_for_two_units() {
    let times = file("times", go("BenchmarkA \t 10\t 5 ns/op\n"));
    let rates = file("rates", go("BenchmarkA \t 10\t 5 MB/s\n"));
    let error = arrange(&[times, rates]).unwrap_err();
    assert!(matches!(&error, ImportError::OtherUnit { line: 1, .. }), "{error}");
    assert!(error.to_string().contains("is in MB/s here, and in ns/op"), "{error}");
}

#[test]
fn one_name_cannot_be_given_to_several_tests() {
    let two = || go("BenchmarkA \t 10\t 5 ns/op\nBenchmarkB \t 10\t 5 ns/op\n");
    let named = Finished { step: Some("s".to_owned()), ..file("two", two()) };
    let error = arrange(&[named]).unwrap_err();
    assert!(
        matches!(&error, ImportError::SeveralSteps { found, .. } if found.len() == 2),
        "{error}"
    );
    // Repeats of one test are no other test.
    let repeats = go("BenchmarkA \t 10\t 5 ns/op\nBenchmarkA \t 10\t 6 ns/op\n");
    let named = Finished { step: Some("s".to_owned()), ..file("repeats", repeats) };
    assert!(arrange(&[named]).is_ok());
}

#[test]
fn a_given_block_has_a_step_once() {
    let repeats = || go("BenchmarkA-2 \t 10\t 5 ns/op\nBenchmarkA-2 \t 10\t 6 ns/op\n");
    let error = arrange(&[Finished { block: Some(3), ..file("repeats", repeats()) }]).unwrap_err();
    assert!(matches!(&error, ImportError::Twice { block: 3, line: 2, dop: 2, .. }), "{error}");
    let error = arrange(&[Finished { dop: Some(1), ..file("repeats", repeats()) }]).unwrap_err();
    assert!(matches!(&error, ImportError::OtherDop { wanted: 1, found: 2, .. }), "{error}");
}
